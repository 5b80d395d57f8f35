# Checks of CSR arrays, and conversion of dense rows to CSR. Other kernels rely on these checks.
#
# Input: arrays of any content. Output: whether they are valid; if not, the caller finds out where
# and why. Cost: one pass, without branches on the values.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sparsemaps._loops.arrays cimport (ANY_SIZE, FLOATS, INTEGERS, array_of, array_t, csr_block,
                                       csr_of, index_at, indices_from, integer_at, values_from)
from sparsemaps._loops.emit cimport EMIT_SLACK, compact_at, compact_loops
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level
from sparsemaps._loops.sort cimport bit_length, pair_t, sort_pairs, sort_words
from sparsemaps._loops.types cimport index_t, value_t

cdef extern from "c/rows/rows.h" nogil:
    enum:
        ROWS_OUT_OF_RANGE
        ROWS_NOT_CANONICAL
        ROWS_NOT_FINITE
        ROWS_NEGATIVE
        ROWS_ZERO
        ROWS_EXTREME
        ROWS_UNSORTED
        ROWS_ASCENDING
        ROWS_DESCENDING
    const double ROWS_TINY, ROWS_LARGE_F32, ROWS_LARGE_F64
    ctypedef struct rows_loops:
        int (*faults)(const void *values, const void *indices, Py_ssize_t n,
                      uint64_t n_columns) noexcept nogil
        void (*reverse)(const void *values, const void *indices, Py_ssize_t n, void *out_values,
                        void *out_indices) noexcept nogil
        Py_ssize_t (*nonzeros)(const void *values, const void *indices, Py_ssize_t n,
                               void *out_values, void *out_indices) noexcept nogil
        uint64_t (*largest)(const void *indices, Py_ssize_t n) noexcept nogil
        Py_ssize_t (*descents)(const void *indices, Py_ssize_t n) noexcept nogil
        int (*order)(const void *indices, Py_ssize_t n) noexcept nogil
    const rows_loops *rows_at(int level, size_t value_size, size_t index_size)

SLACK = EMIT_SLACK

# Flags returned by `check_rows`.
OUT_OF_RANGE = ROWS_OUT_OF_RANGE
NOT_CANONICAL = ROWS_NOT_CANONICAL
NOT_FINITE = ROWS_NOT_FINITE
NEGATIVE = ROWS_NEGATIVE
ZERO = ROWS_ZERO
EXTREME = ROWS_EXTREME

# By item size: values are extreme below the first number, and from the second one on.
EXTREMES = {4: (ROWS_TINY, ROWS_LARGE_F32), 8: (ROWS_TINY, ROWS_LARGE_F64)}


def check_indptr(indptr, int64_t n_stored):
    """Return the index of the first invalid entry of `indptr`, or -1.

    It must start at 0, never decrease, and never exceed `n_stored`.
    """
    cdef array_t array = array_of(indptr, INTEGERS, ANY_SIZE, 1, False)
    cdef Py_ssize_t i, wrong = -1
    cdef int64_t start, before = 0
    with nogil:
        for i in range(array.shape[0]):
            start = integer_at(&array, i)
            if start < before or start > n_stored or (i == 0 and start != 0):
                wrong = i
                break
            before = start
    return wrong


cdef enum:
    CHECKED_TOGETHER = 1 << 10  # entries per step, so that each is loaded from memory once


def check_rows(values, indices, indptr, uint64_t n_columns):
    """Return the combined flags (see above) of the rows that `indptr` delimits."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef int64_t first = rows.indptr[0], last = rows.indptr[rows.n_rows], start, n
    cdef Py_ssize_t n_descents = 0, allowed = 0, row
    cdef const rows_loops *loops = rows_at(level, rows.value_size, rows.index_size)
    cdef bint before
    cdef int flags = 0
    if first == last:
        return 0
    with nogil:
        start = first
        while start < last:
            n = min(last - start, <int64_t>CHECKED_TOGETHER)
            before = start > first  # include the last entry before, to compare columns across steps
            flags |= loops.faults(values_from(&rows, start), indices_from(&rows, start), n,
                                  n_columns)
            n_descents += loops.descents(indices_from(&rows, start - before), n + before)
            start += n
        # Columns may descend from the last entry of a row to the first of the next.
        for row in range(1, rows.n_rows):
            start = rows.indptr[row]
            if first < start < last and start != rows.indptr[row - 1]:
                allowed += index_at(&rows, start) <= index_at(&rows, start - 1)
        if n_descents != allowed:
            flags |= ROWS_NOT_CANONICAL
    return flags


cdef enum:
    SORTED_TOGETHER = 1 << 10  # entries per step, so that they stay in the nearest cache


cdef struct sorting_t:  # scratch for the entries of some rows
    pair_t *pairs     # two per entry; or words in their place
    void *values      # the entries in their stored order
    void *indices
    int64_t *places   # of each row: where its next entry goes
    uint32_t *rows    # of each entry
    const rows_loops *loops


cdef inline void put(const sorting_t *s, index_t column, uint64_t position, value_t *values,
                     index_t *indices) noexcept nogil:
    """Append the entry at `position` to its row."""
    cdef int64_t place = s.places[s.rows[position]]
    s.places[s.rows[position]] += 1
    indices[place] = column
    values[place] = (<const value_t *>s.values)[position]


cdef void sort_rows(value_t *values, index_t *indices, const int64_t *indptr, Py_ssize_t n_rows,
                    const sorting_t *s) noexcept nogil:
    """Sort the entries of each row by column: sort the entries of all rows by column, then
    distribute them to their rows in that order."""
    cdef Py_ssize_t first = indptr[0], n = indptr[n_rows] - first, row, i
    cdef const index_t *stored = <const index_t *>s.indices
    cdef int bits = bit_length(s.loops.largest(stored, n)), position_bits = bit_length(n)
    cdef uint64_t mask = (<uint64_t>1 << position_bits) - 1
    cdef uint64_t *words = <uint64_t *>s.pairs
    cdef const pair_t *pairs
    for row in range(n_rows):
        s.places[row] = indptr[row]
        for i in range(indptr[row] - first, indptr[row + 1] - first):
            s.rows[i] = <uint32_t>row
    if bits + position_bits <= 64:
        for i in range(n):
            words[i] = <uint64_t>stored[i] << position_bits | <uint64_t>i
        words = sort_words(words, words + n, n, position_bits, bits)
        for i in range(n):
            put(s, <index_t>(words[i] >> position_bits), words[i] & mask, values, indices)
    else:
        for i in range(n):
            s.pairs[i].key = <uint64_t>stored[i]
            s.pairs[i].payload = <uint64_t>i
        pairs = sort_pairs(s.pairs, s.pairs + n, n, bits)
        for i in range(n):
            put(s, <index_t>pairs[i].key, pairs[i].payload, values, indices)


cdef bint arrange_rows(value_t *values, index_t *indices, const int64_t *indptr,
                       Py_ssize_t n_rows, const sorting_t *s) noexcept nogil:
    """Write rows with ascending columns. Return whether a row has duplicate columns."""
    cdef Py_ssize_t row, start, n
    cdef const value_t *stored_values = <const value_t *>s.values
    cdef const index_t *stored_indices = <const index_t *>s.indices
    cdef int order
    cdef bint twice = False
    for row in range(n_rows):
        start, n = indptr[row] - indptr[0], indptr[row + 1] - indptr[row]
        order = s.loops.order(stored_indices + start, n)
        if order == ROWS_UNSORTED:
            break
        # Products of sparse matrices have rows in descending order.
        if order == ROWS_DESCENDING:
            s.loops.reverse(stored_values + start, stored_indices + start, n,
                            values + indptr[row], indices + indptr[row])
        else:
            memcpy(values + indptr[row], stored_values + start, n * sizeof(value_t))
            memcpy(indices + indptr[row], stored_indices + start, n * sizeof(index_t))
    else:
        return False
    sort_rows(values, indices, indptr, n_rows, s)
    for row in range(n_rows):
        n = indptr[row + 1] - indptr[row]
        twice |= s.loops.order(indices + indptr[row], n) != ROWS_ASCENDING
    return twice


cdef Py_ssize_t sum_duplicates(value_t *values, index_t *indices, int64_t *indptr,
                               Py_ssize_t n_rows) noexcept nogil:
    """Sum adjacent entries with the same column, in order."""
    cdef Py_ssize_t row, i = indptr[0], n = i, start, stop
    for row in range(n_rows):
        start, stop = n, indptr[row + 1]
        while i < stop:
            if n > start and indices[n - 1] == indices[i]:
                values[n - 1] += values[i]
            else:
                indices[n] = indices[i]
                values[n] = values[i]
                n += 1
            i += 1
        indptr[row + 1] = n
    return n


def canonical(const value_t[::1] values, const index_t[::1] indices, int64_t[::1] indptr,
              value_t[::1] out_values, index_t[::1] out_indices):
    """Write the rows that `indptr` delimits with ascending columns and without duplicates.

    Entries with the same column are summed in their stored order. `indptr` is overwritten: it
    delimits the written rows, starting at 0. If another thread changes the input during the call,
    each written entry has some state of an input entry, with an arbitrary column. Return the number
    of entries written.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, first = indptr[0], row, stop, n, longest = 0
    cdef bint twice = False
    cdef sorting_t s
    cdef Scratch scratch = borrow_scratch()
    with nogil:
        for row in range(n_rows):
            longest = max(longest, indptr[row + 1] - indptr[row])
            indptr[row] -= first
        indptr[n_rows] -= first
    n = max(longest, min(SORTED_TOGETHER, indptr[n_rows]))
    s.loops = rows_at(level, sizeof(value_t), sizeof(index_t))
    s.pairs = <pair_t *>scratch.take(2 * n * sizeof(pair_t))
    s.places = <int64_t *>scratch.take(n_rows * sizeof(int64_t))
    s.values = scratch.take(n * sizeof(value_t))
    s.indices = scratch.take(n * sizeof(index_t))
    s.rows = <uint32_t *>scratch.take(n * sizeof(uint32_t))
    with nogil:
        row = 0
        while row < n_rows:
            stop = row + 1
            while stop < n_rows and indptr[stop + 1] - indptr[row] <= n:
                stop += 1
            memcpy(s.values, &values[first + indptr[row]],
                   (indptr[stop] - indptr[row]) * sizeof(value_t))
            memcpy(s.indices, &indices[first + indptr[row]],
                   (indptr[stop] - indptr[row]) * sizeof(index_t))
            twice |= arrange_rows(&out_values[0], &out_indices[0], &indptr[row], stop - row, &s)
            row = stop
        n = indptr[n_rows]
        if twice:
            n = sum_duplicates(&out_values[0], &out_indices[0], &indptr[0], n_rows)
    give_back_scratch(scratch)
    return n


def without_zeros(values, indices, indptr, out_values, out_indices, int64_t[::1] out_indptr):
    """Write the non-zero entries of the rows that `indptr` delimits. The outputs must have room for
    all entries. `out_indptr` delimits the written rows, starting at 0. Return the number of entries
    written."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t out = array_of(out_values, FLOATS, rows.value_size, 1, True)
    cdef array_t places = array_of(out_indices, INTEGERS, rows.index_size, 1, True)
    cdef const rows_loops *loops = rows_at(level, rows.value_size, rows.index_size)
    cdef int64_t first = rows.indptr[0], start
    cdef Py_ssize_t row, n = 0, most = rows.indptr[rows.n_rows] - first
    if min(out.shape[0], places.shape[0]) < most or out_indptr.shape[0] != rows.n_rows + 1:
        raise ValueError("the output is too short for the rows")
    with nogil:
        out_indptr[0] = 0
        for row in range(rows.n_rows):
            start = rows.indptr[row]
            n += loops.nonzeros(values_from(&rows, start), indices_from(&rows, start),
                                rows.indptr[row + 1] - start, out.data + n * out.size,
                                places.data + n * places.size)
            out_indptr[row + 1] = n
    return n


def compress(rows, values, columns, int64_t[::1] indptr):
    """Convert dense rows to CSR without zeros. `values` and `columns` must have room for SLACK more
    items than `rows` has. `indptr` gives their final length."""
    cdef array_t dense = array_of(rows, FLOATS, ANY_SIZE, 2, False)
    cdef array_t out = array_of(values, FLOATS, dense.size, 1, True)
    cdef array_t places = array_of(columns, INTEGERS, sizeof(int32_t), 1, True)
    cdef Py_ssize_t row, n = 0, width = dense.shape[1]
    cdef const compact_loops *loops = compact_at(level, dense.size)
    if min(out.shape[0], places.shape[0]) < dense.shape[0] * width + EMIT_SLACK:
        raise ValueError("the output is too short for the rows")
    with nogil:
        indptr[0] = 0
        for row in range(dense.shape[0]):
            if width > 0:
                n += loops.compact(dense.data + row * width * dense.size, width,
                                   out.data + n * out.size, <int32_t *>places.data + n)
            indptr[row + 1] = n


# Exact kernels: sums over shared columns, and functions of them.
include "gram.pxi"
include "functions.pxi"
