# Random projections: inner products of rows with random vectors that nobody stores.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key;
# the distribution of the vectors' entries.
# Output: projection j of each row. Entries are added in the order of their columns.
# Cost: O(entries * projections). The random numbers of a column are made once for the rows of a
# group and a tile of projections, so the more rows share their columns the cheaper they are.
# Reference: Box & Muller 1958 for the normal distribution.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "projection.h" nogil:
    enum:
        TILE
        NORMAL_ "NORMAL"
        CAUCHY_ "CAUCHY"
        LAPLACE_ "LAPLACE"
        RADEMACHER_ "RADEMACHER"
    ctypedef struct projection_entry:
        uint64_t start
        double value
        int64_t row
    uint64_t column_start(uint64_t key, uint64_t column)
    uint64_t word(uint64_t start, uint64_t counter)
    void draw_tiles(int distribution, uint64_t start, uint64_t n_tiles, float *draws)
    void project_tile_f32(int distribution, uint64_t tile, const projection_entry *entries,
                          Py_ssize_t n, float *sums)
    void project_tile_f64(int distribution, uint64_t tile, const projection_entry *entries,
                          Py_ssize_t n, double *sums)

NORMAL, CAUCHY, LAPLACE, RADEMACHER = NORMAL_, CAUCHY_, LAPLACE_, RADEMACHER_

# A group of rows is projected together: few enough that their sums stay in the cache.
cdef enum:
    GROUP_ROWS = 256
    GROUP_ENTRIES = 32768


cdef struct scratch_t:
    projection_entry *entries  # GROUP_ENTRIES
    pair_t *pairs              # 2 * GROUP_ENTRIES
    void *sums                 # (GROUP_ROWS, TILE)


cdef int allocate(scratch_t *scratch, size_t itemsize) except -1:
    scratch.entries = <projection_entry *>malloc(GROUP_ENTRIES * sizeof(projection_entry))
    scratch.pairs = <pair_t *>malloc(2 * GROUP_ENTRIES * sizeof(pair_t))
    scratch.sums = malloc(GROUP_ROWS * TILE * itemsize)
    if scratch.entries == NULL or scratch.pairs == NULL or scratch.sums == NULL:
        release(scratch)
        raise MemoryError
    return 0


cdef void release(scratch_t *scratch) noexcept:
    free(scratch.entries)
    free(scratch.pairs)
    free(scratch.sums)


cdef Py_ssize_t gather_by_column(const value_t *values, const index_t *indices,
                                 const int64_t *indptr, Py_ssize_t n_rows, uint64_t key,
                                 scratch_t *scratch) noexcept nogil:
    """Entries of a whole group in the order of columns, those of one column in that of rows."""
    cdef Py_ssize_t n = 0, row, i
    cdef uint64_t seen = 0
    cdef pair_t *pairs = scratch.pairs
    for row in range(n_rows):
        for i in range(indptr[row], indptr[row + 1]):
            pairs[n].key = <uint64_t>indices[i]
            pairs[n].payload = <uint64_t>row << 32 | <uint64_t>(i - indptr[0])
            seen |= pairs[n].key
            n += 1
    if n_rows > 1:
        pairs = sort_pairs(pairs, pairs + n, n, bit_length(seen))
    for i in range(n):
        scratch.entries[i].start = column_start(key, pairs[i].key)
        scratch.entries[i].row = <int64_t>(pairs[i].payload >> 32)
        scratch.entries[i].value = values[indptr[0] + <uint32_t>pairs[i].payload]
    return n


cdef void add_tile(int distribution, Py_ssize_t tile, Py_ssize_t n, const scratch_t *scratch,
                   value_t *sums) noexcept nogil:
    if value_t is float:
        project_tile_f32(distribution, tile, scratch.entries, n, sums)
    else:
        project_tile_f64(distribution, tile, scratch.entries, n, sums)


cdef void add_long_row(const value_t *values, const index_t *indices, const int64_t *indptr,
                       uint64_t key, int distribution, Py_ssize_t tile, scratch_t *scratch,
                       value_t *sums) noexcept nogil:
    """One tile of a row whose entries exceed the scratch, in runs that do not."""
    cdef int64_t ends[2]
    cdef Py_ssize_t n
    ends[0] = indptr[0]
    while ends[0] < indptr[1]:
        ends[1] = min(ends[0] + GROUP_ENTRIES, indptr[1])
        n = gather_by_column(values, indices, ends, 1, key, scratch)
        add_tile(distribution, tile, n, scratch, sums)
        ends[0] = ends[1]


cdef Py_ssize_t group_end(const int64_t[::1] indptr, Py_ssize_t row) noexcept nogil:
    """End of the group that starts with `row`."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, stop = row + 1
    while (stop < n_rows and stop - row < GROUP_ROWS
           and indptr[stop + 1] - indptr[row] <= GROUP_ENTRIES):
        stop += 1
    return stop


def project(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
            uint64_t key, int distribution, value_t[:, ::1] out):
    """Write the projections of each row to its row of `out`."""
    cdef Py_ssize_t n_rows = out.shape[0], n_projections = out.shape[1], first, width
    cdef Py_ssize_t start = 0, stop, row, n = 0
    cdef bint long_row
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    cdef value_t *sums
    cdef scratch_t scratch
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    allocate(&scratch, sizeof(value_t))
    sums = <value_t *>scratch.sums
    with nogil:
        while start < n_rows:
            stop = group_end(indptr, start)
            long_row = indptr[stop] - indptr[start] > GROUP_ENTRIES
            if not long_row:
                n = gather_by_column(value, index, &indptr[start], stop - start, key, &scratch)
            first = 0
            while first < n_projections:
                memset(sums, 0, (stop - start) * TILE * sizeof(value_t))
                if long_row:
                    add_long_row(value, index, &indptr[start], key, distribution, first // TILE,
                                 &scratch, sums)
                else:
                    add_tile(distribution, first // TILE, n, &scratch, sums)
                width = min(n_projections - first, <Py_ssize_t>TILE)
                for row in range(start, stop):
                    memcpy(&out[row, first], sums + (row - start) * TILE, width * sizeof(value_t))
                first += TILE
            start = stop
    release(&scratch)


def draw(uint64_t key, int distribution, uint64_t column, float[::1] out):
    """The entries of one column, a whole number of tiles of them."""
    draw_tiles(distribution, column_start(key, column), out.shape[0] // TILE, &out[0])


def random_words(uint64_t key, uint64_t[::1] out):
    """Words of the key's own, one for each component."""
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = word(column_start(key, 0), j)
