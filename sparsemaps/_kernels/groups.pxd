# A group of rows whose entries are taken in the order of columns: what a column needs is then made
# once for all rows that have it.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "random.h" nogil:
    uint64_t column_start(uint64_t key, uint64_t column)

cdef enum:
    GROUP_ROWS = 512  # few enough that a tile of all rows' sums stays in the cache
    GROUP_ENTRIES = 65536


# Entries in the order of columns, those of one column in that of rows.
cdef struct group_t:
    Py_ssize_t n_columns
    uint64_t *starts  # of each column's words
    int64_t *ends     # of each column's entries
    uint32_t *rows    # of each entry
    void *values
    size_t itemsize   # of a value
    pair_t *pairs     # to sort them: 2 * GROUP_ENTRIES
    void *sums        # (GROUP_ROWS, tile)


# Adds the tile that begins with component `first` of the group's entries to the group's sums.
ctypedef void (*add_tile_t)(const void *task, Py_ssize_t first,
                            const group_t *group) noexcept nogil


cdef inline int open_group(group_t *group, size_t itemsize, size_t sums_bytes) except -1:
    group.starts = <uint64_t *>malloc(GROUP_ENTRIES * sizeof(uint64_t))
    group.ends = <int64_t *>malloc(GROUP_ENTRIES * sizeof(int64_t))
    group.rows = <uint32_t *>malloc(GROUP_ENTRIES * sizeof(uint32_t))
    group.values = malloc(GROUP_ENTRIES * itemsize)
    group.itemsize = itemsize
    group.pairs = <pair_t *>malloc(2 * GROUP_ENTRIES * sizeof(pair_t))
    group.sums = malloc(GROUP_ROWS * sums_bytes)
    if (group.starts == NULL or group.ends == NULL or group.rows == NULL or group.values == NULL
            or group.pairs == NULL or group.sums == NULL):
        close_group(group)
        raise MemoryError
    return 0


cdef inline void close_group(group_t *group) noexcept:
    free(group.starts)
    free(group.ends)
    free(group.rows)
    free(group.values)
    free(group.pairs)
    free(group.sums)


cdef inline void gather_by_column(const value_t *values, const index_t *indices,
                                  const int64_t *indptr, Py_ssize_t n_rows, uint64_t key,
                                  group_t *group) noexcept nogil:
    """Take up the entries of n_rows rows, at most GROUP_ENTRIES."""
    cdef Py_ssize_t n = 0, row, i
    cdef uint64_t seen = 0
    cdef pair_t *pairs = group.pairs
    cdef value_t *into = <value_t *>group.values
    for row in range(n_rows):
        for i in range(indptr[row], indptr[row + 1]):
            pairs[n].key = <uint64_t>indices[i]
            pairs[n].payload = <uint64_t>row << 32 | <uint64_t>(i - indptr[0])
            seen |= pairs[n].key
            n += 1
    if n_rows > 1:
        pairs = sort_pairs(pairs, pairs + n, n, bit_length(seen))
    group.n_columns = 0
    for i in range(n):
        if i == 0 or pairs[i].key != pairs[i - 1].key:
            group.starts[group.n_columns] = column_start(key, pairs[i].key)
            group.n_columns += 1
        group.ends[group.n_columns - 1] = i + 1
        group.rows[i] = <uint32_t>(pairs[i].payload >> 32)
        into[i] = values[indptr[0] + <uint32_t>pairs[i].payload]


cdef inline Py_ssize_t group_end(const int64_t[::1] indptr, Py_ssize_t row) noexcept nogil:
    """End of the group that starts with `row`; one row alone may have more than GROUP_ENTRIES."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, stop = row + 1
    while (stop < n_rows and stop - row < GROUP_ROWS
           and indptr[stop + 1] - indptr[row] <= GROUP_ENTRIES):
        stop += 1
    return stop


cdef inline bint fits(const int64_t *indptr, Py_ssize_t n_rows) noexcept nogil:
    """Whether rows can be gathered as a whole: all groups but those of one long row can."""
    return indptr[n_rows] - indptr[0] <= GROUP_ENTRIES


cdef inline void add_rows(const value_t *values, const index_t *indices, const int64_t *indptr,
                          Py_ssize_t n_rows, uint64_t key, add_tile_t add, const void *task,
                          Py_ssize_t first, group_t *group) noexcept nogil:
    """Add a tile of n_rows rows, which are gathered if they fit; a longer one is, run by run."""
    cdef int64_t ends[2]
    if fits(indptr, n_rows):
        add(task, first, group)
        return
    ends[0] = indptr[0]
    while ends[0] < indptr[1]:
        ends[1] = min(ends[0] + GROUP_ENTRIES, indptr[1])
        gather_by_column(values, indices, ends, 1, key, group)
        add(task, first, group)
        ends[0] = ends[1]
