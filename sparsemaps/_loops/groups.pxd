# Groups of rows that share the random numbers of their columns (c/groups.h), one after the other.
# A kernel reads
#
#     scratch = open_groups(&groups, ...)
#     while next_group(&groups, ...):             # rows groups.start to groups.stop
#         for each tile of components:
#             set the sums of groups.n_rows rows
#             while next_part(&groups, ...):      # a single one, unless one row is very long
#                 add groups.group to the sums
#             write what the sums are
#     give_back_scratch(scratch)
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uintptr_t

from sparsemaps._loops.levels cimport level
from sparsemaps._loops.scratch cimport Scratch, borrow_scratch
from sparsemaps._loops.types cimport index_t, value_t

cdef extern from "c/rows/groups.h" nogil:
    enum:
        GROUP_BATCH
        GROUP_ENTRY_BITS
        GROUP_ENTRIES
        GROUP_ROWS
        GROUP_TABLE_COLUMNS
    ctypedef struct group_t:
        Py_ssize_t n_columns
        Py_ssize_t n_entries
        uint64_t *starts
        uint32_t *positions
        uint32_t *batch_ends
        uint32_t *slots
        float *logarithms
        uint64_t **words
        uint32_t *numbers
        uint32_t *table
    ctypedef struct groups_loops:
        void (*gather_row_f32_i32)(
            const float *values, const int32_t *indices, int64_t start, int64_t stop,
            int64_t first, uint64_t key, bint is_signed, group_t *group) noexcept nogil
        void (*gather_row_f32_i64)(
            const float *values, const int64_t *indices, int64_t start, int64_t stop,
            int64_t first, uint64_t key, bint is_signed, group_t *group) noexcept nogil
        void (*gather_row_f64_i32)(
            const double *values, const int32_t *indices, int64_t start, int64_t stop,
            int64_t first, uint64_t key, bint is_signed, group_t *group) noexcept nogil
        void (*gather_row_f64_i64)(
            const double *values, const int64_t *indices, int64_t start, int64_t stop,
            int64_t first, uint64_t key, bint is_signed, group_t *group) noexcept nogil
        void (*gather_rows_f32_i32)(
            const float *values, const int32_t *indices, const int64_t *indptr, Py_ssize_t n_rows,
            uint64_t key, bint is_signed, group_t *group) noexcept nogil
        void (*gather_rows_f32_i64)(
            const float *values, const int64_t *indices, const int64_t *indptr, Py_ssize_t n_rows,
            uint64_t key, bint is_signed, group_t *group) noexcept nogil
        void (*gather_rows_f64_i32)(
            const double *values, const int32_t *indices, const int64_t *indptr, Py_ssize_t n_rows,
            uint64_t key, bint is_signed, group_t *group) noexcept nogil
        void (*gather_rows_f64_i64)(
            const double *values, const int64_t *indices, const int64_t *indptr, Py_ssize_t n_rows,
            uint64_t key, bint is_signed, group_t *group) noexcept nogil
    const groups_loops *groups_at(int level)


cdef struct groups_t:
    group_t group          # what is gathered of rows `start` to `stop`
    Py_ssize_t start
    Py_ssize_t stop
    Py_ssize_t n_rows      # stop - start
    char *sums             # memory for a tile of their sums, aligned to 64 bytes
    const groups_loops *loops
    uint64_t key
    bint is_signed
    Py_ssize_t max_rows    # of a group
    int64_t next_entry     # of the first entry that `next_part` has not handed out


cdef inline Py_ssize_t rows_together(const index_t *indices, int64_t first, int64_t last,
                                     bint is_signed) noexcept nogil:
    """How many rows a group may have, such that an entry's number fits beside a column."""
    cdef uint64_t seen = 0
    cdef int64_t i
    if index_t is int64_t:
        for i in range(first, last):
            seen |= <uint64_t>indices[i]
    return GROUP_ROWS if seen >> (64 - GROUP_ENTRY_BITS - is_signed) == 0 else 1


cdef inline uintptr_t part_of(uintptr_t *memory, size_t size) noexcept:
    """The next `size` bytes from `memory` on, of which whole cache lines are taken."""
    cdef uintptr_t part = memory[0]
    memory[0] += (size + 63) // 64 * 64
    return part


cdef inline size_t lay_out(groups_t *groups, uintptr_t memory, size_t n_entries, size_t n_rows,
                           size_t row_bytes, bint logarithms) noexcept:
    """Put the arrays of groups of at most so many entries and rows into `memory`; returns how
    many bytes they take."""
    cdef group_t *group = &groups.group
    cdef uintptr_t end = memory
    cdef size_t n_columns = min(8 * n_entries, <size_t>GROUP_TABLE_COLUMNS)
    group.words[0] = <uint64_t *>part_of(&end, n_entries * sizeof(uint64_t))
    group.words[1] = <uint64_t *>part_of(&end, n_entries * sizeof(uint64_t))
    group.positions = <uint32_t *>part_of(&end, n_entries * sizeof(uint32_t))
    group.slots = <uint32_t *>part_of(&end, n_entries * sizeof(uint32_t))
    group.batch_ends = <uint32_t *>part_of(&end, (n_entries // GROUP_BATCH + 1) * sizeof(uint32_t))
    group.logarithms = NULL
    if logarithms:
        group.logarithms = <float *>part_of(&end, n_entries * sizeof(float))
    groups.sums = <char *>part_of(&end, n_rows * row_bytes)
    if n_rows > 1:  # a row alone is in order
        group.numbers = <uint32_t *>part_of(&end, n_entries * sizeof(uint32_t))
        group.table = <uint32_t *>part_of(&end, n_columns * sizeof(uint32_t))
    return end - memory


cdef inline Scratch open_groups(groups_t *groups, const value_t *values, const index_t *indices,
                                const int64_t *indptr, Py_ssize_t n_rows, uint64_t key,
                                bint is_signed, size_t row_bytes, bint logarithms):
    """Before the first group of the rows that `indptr` delimits; a tile of a row's sums takes
    `row_bytes`. Returns the scratch that `groups` uses."""
    cdef int64_t n_entries = indptr[n_rows] - indptr[0]
    cdef Scratch scratch
    groups.loops = groups_at(level)
    groups.key = key
    groups.is_signed = is_signed
    groups.start = groups.stop = groups.n_rows = 0
    groups.max_rows = min(rows_together(indices, indptr[0], indptr[n_rows], is_signed), n_rows)
    n_entries = min(n_entries, <int64_t>GROUP_ENTRIES)
    scratch = borrow_scratch(
        lay_out(groups, 0, n_entries, groups.max_rows, row_bytes, logarithms))
    lay_out(groups, <uintptr_t>scratch.memory, n_entries, groups.max_rows, row_bytes, logarithms)
    return scratch


cdef inline void gather_row(groups_t *groups, const value_t *values, const index_t *indices,
                            int64_t start, int64_t stop, int64_t first) noexcept nogil:
    if value_t is float and index_t is int32_t:
        groups.loops.gather_row_f32_i32(values, indices, start, stop, first, groups.key,
                                        groups.is_signed, &groups.group)
    elif value_t is float:
        groups.loops.gather_row_f32_i64(values, indices, start, stop, first, groups.key,
                                        groups.is_signed, &groups.group)
    elif index_t is int32_t:
        groups.loops.gather_row_f64_i32(values, indices, start, stop, first, groups.key,
                                        groups.is_signed, &groups.group)
    else:
        groups.loops.gather_row_f64_i64(values, indices, start, stop, first, groups.key,
                                        groups.is_signed, &groups.group)


cdef inline void gather_rows(groups_t *groups, const value_t *values, const index_t *indices,
                             const int64_t *indptr) noexcept nogil:
    if value_t is float and index_t is int32_t:
        groups.loops.gather_rows_f32_i32(values, indices, indptr, groups.n_rows, groups.key,
                                         groups.is_signed, &groups.group)
    elif value_t is float:
        groups.loops.gather_rows_f32_i64(values, indices, indptr, groups.n_rows, groups.key,
                                         groups.is_signed, &groups.group)
    elif index_t is int32_t:
        groups.loops.gather_rows_f64_i32(values, indices, indptr, groups.n_rows, groups.key,
                                         groups.is_signed, &groups.group)
    else:
        groups.loops.gather_rows_f64_i64(values, indices, indptr, groups.n_rows, groups.key,
                                         groups.is_signed, &groups.group)


cdef inline bint next_group(groups_t *groups, const value_t *values, const index_t *indices,
                            const int64_t *indptr, Py_ssize_t n_rows) noexcept nogil:
    """Go on to the next rows that make a group; False after the last ones. One row alone may have
    more than GROUP_ENTRIES."""
    cdef int64_t first
    groups.start = groups.stop
    if groups.start == n_rows:
        return False
    first = groups.next_entry = indptr[groups.start]
    groups.stop += 1
    while (groups.stop < n_rows and groups.stop - groups.start < groups.max_rows
           and indptr[groups.stop + 1] - first <= GROUP_ENTRIES):
        groups.stop += 1
    groups.n_rows = groups.stop - groups.start
    if groups.n_rows > 1:
        gather_rows(groups, values, indices, &indptr[groups.start])
    elif indptr[groups.stop] - first <= GROUP_ENTRIES:
        gather_row(groups, values, indices, first, indptr[groups.stop], first)
    return True


cdef inline bint next_part(groups_t *groups, const value_t *values, const index_t *indices,
                           const int64_t *indptr) noexcept nogil:
    """Have the next part of the rows' entries in `group`; False after the last part, and then from
    the beginning again. There is one part, unless a row has more than GROUP_ENTRIES."""
    cdef int64_t first = indptr[groups.start], last = indptr[groups.stop], stop
    if groups.next_entry == last:
        groups.next_entry = first
        return False
    stop = min(groups.next_entry + GROUP_ENTRIES, last)
    if last - first > GROUP_ENTRIES:
        gather_row(groups, values, indices, groups.next_entry, stop, first)
    groups.next_entry = stop
    return True
