# Groups of rows that share the random numbers of their columns (c/rows/groups.h), one group after
# the other. A kernel has the form
#
#     open_groups(&groups, scratch, ...)
#     while next_group(&groups):             # rows groups.start to groups.stop
#         for each tile of components:
#             initialise the sums of groups.n_rows rows
#             while next_part(&groups):      # once, unless a single row is very long
#                 add groups.group to the sums
#             write the results
from libc.stdint cimport int64_t, uint32_t, uint64_t

from sparsemaps._loops.arrays cimport csr_block
from sparsemaps._loops.levels cimport Scratch, level


cdef extern from "c/rows/groups.h" nogil:
    enum:
        GROUP_BATCH
        GROUP_ENTRY_BITS
        GROUP_ENTRIES
        GROUP_ROWS
        GROUP_TABLE_COLUMNS
    ctypedef struct group_t:  # the fields that drivers use
        uint32_t *positions
        uint32_t *batch_ends
        uint32_t *slots
        uint32_t *row_starts
        float *logarithms
        double power
        uint64_t **words
        uint32_t *numbers
        uint32_t *table
    ctypedef struct groups_loops:
        void (*gather_row)(const void *values, const void *indices, int64_t start, int64_t stop,
                           int64_t first, uint64_t key, bint is_signed,
                           group_t *group) noexcept nogil
        void (*gather_rows)(const void *values, const void *indices, const int64_t *indptr,
                            Py_ssize_t n_rows, uint64_t key, bint is_signed,
                            group_t *group) noexcept nogil
    const groups_loops *groups_at(int, size_t value_size, size_t index_size)


cdef struct groups_t:
    group_t group          # data gathered from rows `start` to `stop`
    Py_ssize_t start
    Py_ssize_t stop
    Py_ssize_t n_rows      # stop - start
    void *sums             # memory for one tile of the rows' sums
    # Private to the functions below.
    const groups_loops *loops
    const csr_block *rows
    uint64_t key
    bint is_signed
    Py_ssize_t max_rows    # per group
    int64_t next_entry     # first entry that `next_part` has not delivered yet


cdef inline bint fits(const csr_block *rows, bint is_signed) noexcept nogil:
    """Return whether every column fits into 64 bits together with the position of an entry."""
    cdef uint64_t seen = 0
    cdef int64_t i
    if rows.index_size == sizeof(int64_t):
        for i in range(rows.indptr[0], rows.indptr[rows.n_rows]):
            seen |= (<const uint64_t *>rows.indices)[i]
    return seen >> (64 - GROUP_ENTRY_BITS - is_signed) == 0


cdef inline int open_groups(groups_t *groups, Scratch scratch, const csr_block *rows, uint64_t key,
                            bint is_signed, size_t row_bytes, double power=0,
                            bint in_batches=True) except -1:
    """Prepare for the first group. A tile of a row's sums takes `row_bytes`. With a `power`, groups
    contain the logarithms of values to that power. Entries are in batch order or in row order.
    Memory is taken from `scratch`."""
    cdef group_t *group = &groups.group
    cdef int64_t n = min(rows.indptr[rows.n_rows] - rows.indptr[0], <int64_t>GROUP_ENTRIES)
    cdef bint fit
    groups.loops = groups_at(level, rows.value_size, rows.index_size)
    groups.rows = rows
    groups.key = key
    groups.is_signed = is_signed
    groups.start = groups.stop = groups.n_rows = 0
    groups.max_rows = 1
    with nogil:
        fit = fits(rows, is_signed)
    if fit:
        groups.max_rows = min(GROUP_ROWS, rows.n_rows)
    group.words[0] = <uint64_t *>scratch.take(n * sizeof(uint64_t))
    group.words[1] = <uint64_t *>scratch.take(n * sizeof(uint64_t))
    group.positions = <uint32_t *>scratch.take(n * sizeof(uint32_t))
    group.slots = <uint32_t *>scratch.take((n + 1) * sizeof(uint32_t))
    if in_batches:
        group.batch_ends = <uint32_t *>scratch.take((n // GROUP_BATCH + 1) * sizeof(uint32_t))
    else:
        group.batch_ends = NULL
        group.row_starts = <uint32_t *>scratch.take(groups.max_rows * sizeof(uint32_t))
    group.power = power
    group.logarithms = <float *>scratch.take(n * sizeof(float)) if power != 0 else NULL
    groups.sums = scratch.take(groups.max_rows * row_bytes)
    if groups.max_rows > 1:  # a single row is already in order
        group.numbers = <uint32_t *>scratch.take(n * sizeof(uint32_t))
        group.table = <uint32_t *>scratch.take(min(8 * n, <int64_t>GROUP_TABLE_COLUMNS)
                                               * sizeof(uint32_t))
    return 0


cdef inline bint next_group(groups_t *groups) noexcept nogil:
    """Advance to the next rows that form a group. Return False at the end. A single row may have
    more than GROUP_ENTRIES."""
    cdef const csr_block *rows = groups.rows
    cdef const int64_t *indptr = rows.indptr
    cdef int64_t first
    groups.start = groups.stop
    if groups.start == rows.n_rows:
        return False
    first = groups.next_entry = indptr[groups.start]
    groups.stop += 1
    while (groups.stop < rows.n_rows and groups.stop - groups.start < groups.max_rows
           and indptr[groups.stop + 1] - first <= GROUP_ENTRIES):
        groups.stop += 1
    groups.n_rows = groups.stop - groups.start
    if groups.n_rows > 1:
        groups.loops.gather_rows(rows.values, rows.indices, indptr + groups.start,
                                 groups.n_rows, groups.key, groups.is_signed, &groups.group)
    elif indptr[groups.stop] - first <= GROUP_ENTRIES:
        groups.loops.gather_row(rows.values, rows.indices, first, indptr[groups.stop], first,
                                groups.key, groups.is_signed, &groups.group)
    return True


cdef inline bint next_part(groups_t *groups) noexcept nogil:
    """Load the next part of the rows' entries into `group`. Return False after the last part, and
    start over with the next call. There is only one part unless a row has more than
    GROUP_ENTRIES."""
    cdef const csr_block *rows = groups.rows
    cdef int64_t first = rows.indptr[groups.start], last = rows.indptr[groups.stop], stop
    if groups.next_entry == last:
        groups.next_entry = first
        return False
    stop = min(groups.next_entry + GROUP_ENTRIES, last)
    if last - first > GROUP_ENTRIES:
        groups.loops.gather_row(rows.values, rows.indices, groups.next_entry, stop, first,
                                groups.key, groups.is_signed, &groups.group)
    groups.next_entry = stop
    return True
