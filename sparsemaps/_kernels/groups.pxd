# Groups of rows that share the random numbers of their columns: what a column needs is made once
# for all rows of a group and a tile of components. Whatever the groups are, each row's entries are
# taken in ascending order of their columns.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from sparsemaps._kernels.signed cimport column_of
from sparsemaps._kernels.sort cimport bit_length, sort_words
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "aligned.h" nogil:
    void *aligned(size_t size)
    void release_aligned(void *memory)

cdef extern from "groups.h" nogil:
    enum:
        BATCH
    ctypedef struct group_t:
        Py_ssize_t n_columns
        uint64_t *starts
        uint32_t *positions
        uint32_t *ends
        uint32_t *places
        void *values
        void *sums
    uint64_t column_start(uint64_t key, uint64_t column)

cdef enum:
    ENTRY_BITS = 18
    GROUP_ENTRIES = 1 << ENTRY_BITS  # bounds the memory
    GROUP_ROWS = 4096                # few enough that a tile of all rows' sums stays in the cache
    TABLE_COLUMNS = 1 << 18          # up to so many columns may be numbered by a table


# What is done with groups, for each tile of components.
cdef struct work_t:
    uint64_t key
    bint signed_             # whether columns are those of signed.pxd
    Py_ssize_t n_tiles
    size_t row_bytes         # of a row's sums, a multiple of 64
    const void *initial      # a row's sums to begin with; NULL for zeros
    # Makes of the values that were gathered what `add` takes; NULL for nothing.
    void (*prepare)(const void *task, const group_t *group) noexcept nogil
    # Adds the tile's part of the group's entries to the group's sums.
    void (*add)(const void *task, Py_ssize_t tile, const group_t *group) noexcept nogil
    # Takes up a row's sums; positions count from entry `first`.
    void (*emit)(const void *task, Py_ssize_t tile, Py_ssize_t row, int64_t first,
                 const void *sums) noexcept nogil
    const void *task


cdef struct scratch_t:
    group_t group
    uint64_t *words     # columns and entries, to be sorted: 2 * GROUP_ENTRIES
    uint32_t *numbers   # of each entry's column among the group's; in the place of the sums
    uint32_t *table     # of a column; TABLE_COLUMNS, all zeros between uses


cdef inline int open_scratch(scratch_t *scratch, size_t row_bytes) except -1:
    cdef group_t *group = &scratch.group
    # Memory that is not written to is not there: most groups have far fewer columns than entries.
    scratch.words = <uint64_t *>malloc(2 * GROUP_ENTRIES * sizeof(uint64_t))
    scratch.table = <uint32_t *>calloc(TABLE_COLUMNS, sizeof(uint32_t))
    group.positions = <uint32_t *>malloc(GROUP_ENTRIES * sizeof(uint32_t))
    group.ends = <uint32_t *>malloc((GROUP_ENTRIES // BATCH) * sizeof(uint32_t))
    group.places = <uint32_t *>malloc(GROUP_ENTRIES * sizeof(uint32_t))
    group.sums = aligned(max(GROUP_ROWS * row_bytes, GROUP_ENTRIES * sizeof(uint32_t)))
    scratch.numbers = <uint32_t *>group.sums
    if (scratch.words == NULL or scratch.table == NULL or group.positions == NULL
            or group.ends == NULL or group.places == NULL or group.sums == NULL):
        close_scratch(scratch)
        raise MemoryError
    return 0


cdef inline void close_scratch(scratch_t *scratch) noexcept:
    cdef group_t *group = &scratch.group
    free(scratch.words)
    free(scratch.table)
    free(group.positions)
    free(group.ends)
    free(group.places)
    release_aligned(group.sums)


cdef inline void add_column(uint64_t column, int64_t position, const work_t *work,
                            group_t *group) noexcept nogil:
    group.starts[group.n_columns] = column_start(work.key, column)
    group.positions[group.n_columns] = <uint32_t>position
    group.n_columns += 1


cdef inline void number_by_table(const value_t *values, const index_t *indices, int64_t start,
                                 int64_t stop, int64_t first, uint64_t largest,
                                 const work_t *work, scratch_t *scratch) noexcept nogil:
    """Number the columns, which are at most `largest`."""
    cdef group_t *group = &scratch.group
    cdef uint32_t *table = scratch.table
    cdef uint64_t column
    cdef int64_t i
    group.starts = scratch.words
    group.values = scratch.words + GROUP_ENTRIES
    for i in range(start, stop):
        if values[i] != 0:
            table[column_of(values, indices, i, work.signed_)] = <uint32_t>(i - start) + 1
    for column in range(largest + 1):
        if table[column]:
            add_column(column, start - first + table[column] - 1, work, group)
            table[column] = <uint32_t>(group.n_columns - 1)
    for i in range(start, stop):
        scratch.numbers[i - start] = table[column_of(values, indices, i, work.signed_)]
    memset(table, 0, (largest + 1) * sizeof(uint32_t))


cdef inline void number_by_sorting(const value_t *values, const index_t *indices, int64_t start,
                                   int64_t stop, int64_t first, int bits, const work_t *work,
                                   scratch_t *scratch) noexcept nogil:
    """Number the columns, which have so many bits that an entry's number fits beside."""
    cdef group_t *group = &scratch.group
    cdef uint64_t *words = scratch.words
    cdef uint64_t column = 0
    cdef uint32_t entry
    cdef Py_ssize_t n = 0, k
    cdef int64_t i
    for i in range(start, stop):
        if values[i] != 0:
            column = column_of(values, indices, i, work.signed_)
            words[n] = column << ENTRY_BITS | <uint64_t>(i - start)
            n += 1
    words = sort_words(words, words + GROUP_ENTRIES, n, ENTRY_BITS, bits)
    group.starts = words  # in the place of what has been read
    group.values = scratch.words + GROUP_ENTRIES if words == scratch.words else scratch.words
    for k in range(n):
        entry = words[k] & (GROUP_ENTRIES - 1)
        if k == 0 or words[k] >> ENTRY_BITS != column:
            column = words[k] >> ENTRY_BITS
            add_column(column, start - first + entry, work, group)
        scratch.numbers[entry] = <uint32_t>(group.n_columns - 1)


cdef inline void gather_row(const value_t *values, const index_t *indices, int64_t start,
                            int64_t stop, int64_t first, const work_t *work,
                            scratch_t *scratch) noexcept nogil:
    """Take up the entries of a single row, which are in order; sums stay as they are."""
    cdef group_t *group = &scratch.group
    cdef value_t *into = <value_t *>(scratch.words + GROUP_ENTRIES)
    cdef int64_t i
    group.starts = scratch.words
    group.values = into
    for i in range(start, stop):
        if values[i] != 0:
            into[group.n_columns] = values[i]
            group.places[group.n_columns] = <uint32_t>(group.n_columns % BATCH)
            group.ends[group.n_columns // BATCH] = <uint32_t>group.n_columns + 1
            add_column(column_of(values, indices, i, work.signed_), i - first, work, group)


cdef inline void gather_rows(const value_t *values, const index_t *indices, const int64_t *indptr,
                             Py_ssize_t n_rows, int64_t first, const work_t *work,
                             scratch_t *scratch) noexcept nogil:
    """Take up the entries of several rows, batch by batch, and row after row within one: a row's
    entries stand side by side, so that its sums are read and written once for all."""
    cdef group_t *group = &scratch.group
    cdef value_t *into
    cdef int64_t start = indptr[0], stop = indptr[n_rows], i
    cdef uint64_t largest = 0
    cdef uint32_t number, place, here, total = 0
    cdef Py_ssize_t row, batch, n_batches
    for i in range(start, stop):
        largest = max(largest, column_of(values, indices, i, work.signed_))
    if largest < TABLE_COLUMNS and <int64_t>largest < 8 * (stop - start):
        number_by_table(values, indices, start, stop, first, largest, work, scratch)
    else:
        number_by_sorting(values, indices, start, stop, first, bit_length(largest), work, scratch)
    into = <value_t *>group.values
    n_batches = (group.n_columns + BATCH - 1) // BATCH
    memset(group.ends, 0, n_batches * sizeof(uint32_t))
    for i in range(start, stop):
        if values[i] != 0:
            group.ends[scratch.numbers[i - start] // BATCH] += 1
    for batch in range(n_batches):
        here = group.ends[batch]
        group.ends[batch] = total
        total += here
    for row in range(n_rows):
        for i in range(indptr[row], indptr[row + 1]):
            if values[i] != 0:
                number = scratch.numbers[i - start]
                place = group.ends[number // BATCH]
                group.ends[number // BATCH] = place + 1
                group.places[place] = BATCH * <uint32_t>row + number % BATCH
                into[place] = values[i]


cdef inline void gather(const value_t *values, const index_t *indices, const int64_t *indptr,
                        Py_ssize_t n_rows, int64_t first, const work_t *work,
                        scratch_t *scratch) noexcept nogil:
    """Take up the entries of n_rows rows, at most GROUP_ENTRIES; zeros count nothing."""
    scratch.group.n_columns = 0
    if n_rows == 1:
        gather_row(values, indices, indptr[0], indptr[1], first, work, scratch)
    else:
        gather_rows(values, indices, indptr, n_rows, first, work, scratch)
    if work.prepare != NULL:
        work.prepare(work.task, &scratch.group)


cdef inline Py_ssize_t most_rows(const index_t *indices, int64_t first, int64_t last,
                                 bint signed_) noexcept nogil:
    """How many rows a group may have, such that an entry's number fits beside a column."""
    cdef uint64_t seen = 0
    cdef int64_t i
    for i in range(first, last):
        seen |= <uint64_t>indices[i]
    return GROUP_ROWS if bit_length(seen) + signed_ + ENTRY_BITS <= 64 else 1


cdef inline Py_ssize_t group_end(const int64_t[::1] indptr, Py_ssize_t row,
                                 Py_ssize_t n_most) noexcept nogil:
    """End of the group that starts with `row`; one row alone may have more than GROUP_ENTRIES."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, stop = row + 1
    while (stop < n_rows and stop - row < n_most
           and indptr[stop + 1] - indptr[row] <= GROUP_ENTRIES):
        stop += 1
    return stop


cdef inline void add_group(const value_t *values, const index_t *indices, const int64_t *indptr,
                           Py_ssize_t n_rows, Py_ssize_t tile, const work_t *work,
                           scratch_t *scratch) noexcept nogil:
    """Add a tile of a group that is gathered, or of a row too long for that, run by run."""
    cdef int64_t ends[2]
    if indptr[n_rows] - indptr[0] <= GROUP_ENTRIES:
        work.add(work.task, tile, &scratch.group)
        return
    ends[0] = indptr[0]
    while ends[0] < indptr[1]:
        ends[1] = min(ends[0] + GROUP_ENTRIES, indptr[1])
        gather(values, indices, ends, 1, indptr[0], work, scratch)
        work.add(work.task, tile, &scratch.group)
        ends[0] = ends[1]


cdef inline int for_each_group(const value_t[::1] values, const index_t[::1] indices,
                               const int64_t[::1] indptr, const work_t *work) except -1:
    """Do the work on all rows that `indptr` delimits."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, start = 0, stop, row, tile, n_most
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    cdef char *sums
    cdef scratch_t scratch
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    open_scratch(&scratch, work.row_bytes)
    sums = <char *>scratch.group.sums
    with nogil:
        n_most = most_rows(index, indptr[0], indptr[n_rows], work.signed_)
        while start < n_rows:
            stop = group_end(indptr, start, n_most)
            if indptr[stop] - indptr[start] <= GROUP_ENTRIES:
                gather(value, index, &indptr[start], stop - start, indptr[start], work, &scratch)
            for tile in range(work.n_tiles):
                if work.initial == NULL:
                    memset(sums, 0, (stop - start) * work.row_bytes)
                else:
                    for row in range(stop - start):
                        memcpy(sums + row * work.row_bytes, work.initial, work.row_bytes)
                add_group(value, index, &indptr[start], stop - start, tile, work, &scratch)
                for row in range(start, stop):
                    work.emit(work.task, tile, row, indptr[start],
                              sums + (row - start) * work.row_bytes)
            start = stop
    close_scratch(&scratch)
    return 0
