# Checks of CSR arrays, and dense rows as CSR. Other kernels rely on these checks.
#
# Input: arrays of any content. Output: whether they are sound and allowed; if not, the caller finds
# where and why. Cost: one pass, without branches on the values.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sparsemaps._kernels.emit cimport EMIT_SLACK, compact
from sparsemaps._kernels.levels cimport level
from sparsemaps._kernels.scratch cimport Scratch, borrow_scratch, give_back_scratch
from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs, sort_words
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "c/rows.h" nogil:
    enum:
        ROWS_OUT_OF_RANGE
        ROWS_NOT_CANONICAL
        ROWS_NOT_FINITE
        ROWS_NEGATIVE
        ROWS_ZERO
    ctypedef struct rows_loops:
        int (*faults_f32_i32)(const float *values, const int32_t *indices, Py_ssize_t n,
                              uint64_t n_columns) noexcept nogil
        int (*faults_f32_i64)(const float *values, const int64_t *indices, Py_ssize_t n,
                              uint64_t n_columns) noexcept nogil
        int (*faults_f64_i32)(const double *values, const int32_t *indices, Py_ssize_t n,
                              uint64_t n_columns) noexcept nogil
        int (*faults_f64_i64)(const double *values, const int64_t *indices, Py_ssize_t n,
                              uint64_t n_columns) noexcept nogil
        uint64_t (*largest_i32)(const int32_t *indices, Py_ssize_t n) noexcept nogil
        uint64_t (*largest_i64)(const int64_t *indices, Py_ssize_t n) noexcept nogil
        Py_ssize_t (*descents_i32)(const int32_t *indices, Py_ssize_t n) noexcept nogil
        Py_ssize_t (*descents_i64)(const int64_t *indices, Py_ssize_t n) noexcept nogil
    const rows_loops *rows_at(int level)

cdef const rows_loops *loops = rows_at(level)

SLACK = EMIT_SLACK

# What `check_rows` may find.
OUT_OF_RANGE = ROWS_OUT_OF_RANGE
NOT_CANONICAL = ROWS_NOT_CANONICAL
NOT_FINITE = ROWS_NOT_FINITE
NEGATIVE = ROWS_NEGATIVE
ZERO = ROWS_ZERO


def check_indptr(const index_t[::1] indptr, int64_t n_stored):
    """Index of the first entry of `indptr` that is not sound, or -1.

    Sound: starts at 0, never decreases, never exceeds `n_stored`.
    """
    cdef Py_ssize_t i, wrong = -1
    cdef int64_t before = 0
    with nogil:
        for i in range(indptr.shape[0]):
            if indptr[i] < before or indptr[i] > n_stored or (i == 0 and indptr[i] != 0):
                wrong = i
                break
            before = indptr[i]
    return wrong


cdef inline int faults(const value_t *values, const index_t *indices, Py_ssize_t n,
                       uint64_t n_columns) noexcept nogil:
    if value_t is float and index_t is int32_t:
        return loops.faults_f32_i32(values, indices, n, n_columns)
    elif value_t is float:
        return loops.faults_f32_i64(values, indices, n, n_columns)
    elif index_t is int32_t:
        return loops.faults_f64_i32(values, indices, n, n_columns)
    else:
        return loops.faults_f64_i64(values, indices, n, n_columns)


cdef inline uint64_t largest(const index_t *indices, Py_ssize_t n) noexcept nogil:
    if index_t is int32_t:
        return loops.largest_i32(indices, n)
    else:
        return loops.largest_i64(indices, n)


cdef inline Py_ssize_t descents(const index_t *indices, Py_ssize_t n) noexcept nogil:
    if index_t is int32_t:
        return loops.descents_i32(indices, n)
    else:
        return loops.descents_i64(indices, n)


cdef enum:
    CHECKED_TOGETHER = 1 << 10  # entries, so that each is fetched from memory once


def check_rows(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
               uint64_t n_columns):
    """What is found in the rows that `indptr` delimits, as a sum of the flags above."""
    cdef Py_ssize_t first = indptr[0], last = indptr[indptr.shape[0] - 1], row, start, n
    cdef Py_ssize_t n_descents = 0, allowed = 0
    cdef bint before
    cdef int found = 0
    if first == last:
        return 0
    with nogil:
        start = first
        while start < last:
            n = min(last - start, <Py_ssize_t>CHECKED_TOGETHER)
            before = start > first  # an entry whose column this part's first one must exceed
            found |= faults(&values[start], &indices[start], n, n_columns)
            n_descents += descents(&indices[start - before], n + before)
            start += n
        # Between the last entry of one row and the first of the next, columns may descend.
        for row in range(1, indptr.shape[0] - 1):
            if first < indptr[row] < last and indptr[row] != indptr[row - 1]:
                allowed += indices[indptr[row]] <= indices[indptr[row] - 1]
        if n_descents != allowed:
            found |= ROWS_NOT_CANONICAL
    return found


cdef enum:
    SORTED_TOGETHER = 1 << 15  # entries, so that what is made of them stays in the cache


cdef struct sorting_t:  # memory for the entries of some rows
    pair_t *pairs     # twice as many as entries; or words in their place
    void *values      # as they were before
    int64_t *places   # of each row, where its next entry goes
    uint32_t *rows    # of each entry


cdef inline void put(const sorting_t *s, index_t column, uint64_t position, value_t *values,
                     index_t *indices) noexcept nogil:
    """Put the entry that was at `position` to the others of its row."""
    cdef int64_t place = s.places[s.rows[position]]
    s.places[s.rows[position]] += 1
    indices[place] = column
    values[place] = (<const value_t *>s.values)[position]


cdef void sort_rows(value_t *values, index_t *indices, const int64_t *indptr, Py_ssize_t n_rows,
                    int bits, const sorting_t *s) noexcept nogil:
    """Sort the entries of each row by their columns, which are of so many bits: all rows' entries
    by column, and then row by row in that order."""
    cdef Py_ssize_t first = indptr[0], n = indptr[n_rows] - first, row, i
    cdef int position_bits = bit_length(n)
    cdef uint64_t mask = (<uint64_t>1 << position_bits) - 1
    cdef uint64_t *words = <uint64_t *>s.pairs
    cdef const pair_t *pairs
    memcpy(s.values, values + first, n * sizeof(value_t))
    for row in range(n_rows):
        s.places[row] = indptr[row]
        for i in range(indptr[row] - first, indptr[row + 1] - first):
            s.rows[i] = <uint32_t>row
    if bits + position_bits <= 64:
        for i in range(n):
            words[i] = <uint64_t>indices[first + i] << position_bits | <uint64_t>i
        words = sort_words(words, words + n, n, position_bits, bits)
        for i in range(n):
            put(s, <index_t>(words[i] >> position_bits), words[i] & mask, values, indices)
    else:
        for i in range(n):
            s.pairs[i].key = <uint64_t>indices[first + i]
            s.pairs[i].payload = <uint64_t>i
        pairs = sort_pairs(s.pairs, s.pairs + n, n, bits)
        for i in range(n):
            put(s, <index_t>pairs[i].key, pairs[i].payload, values, indices)


cdef inline bint reverse_if_falling(value_t *values, index_t *indices,
                                    Py_ssize_t n) noexcept nogil:
    """Whether the columns of a row ascend, if need be after they were reversed, as those of
    products of sparse matrices must be."""
    cdef Py_ssize_t i = 1
    while i < n and indices[i - 1] < indices[i]:
        i += 1
    if i >= n:
        return True
    for i in range(1, n):
        if indices[i - 1] <= indices[i]:
            return False
    for i in range(n // 2):
        indices[i], indices[n - 1 - i] = indices[n - 1 - i], indices[i]
        values[i], values[n - 1 - i] = values[n - 1 - i], values[i]
    return True


cdef Py_ssize_t sum_duplicates(value_t *values, index_t *indices, int64_t *indptr,
                               Py_ssize_t n_rows) noexcept nogil:
    """Sum entries of the same column, which stand side by side, in their order."""
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


def canonical(value_t[::1] values, index_t[::1] indices, int64_t[::1] indptr):
    """Have the columns of the rows that `indptr` delimits ascend, one entry for each, in place.

    Entries of the same column are summed in the order in which they are stored. `indptr` starts at
    0; the arrays are private. Returns how many entries are left.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, row, stop, n, longest = 0
    cdef int bits = bit_length(largest(&indices[0], indices.shape[0]))
    cdef bint sorted_
    cdef sorting_t s
    cdef Scratch scratch
    for row in range(n_rows):
        longest = max(longest, indptr[row + 1] - indptr[row])
    n = max(longest, min(SORTED_TOGETHER, indptr[n_rows]))
    scratch = borrow_scratch(n * (2 * sizeof(pair_t) + sizeof(value_t) + sizeof(uint32_t))
                             + (n_rows + 1) * sizeof(int64_t))
    s.pairs = <pair_t *>scratch.memory
    s.values = s.pairs + 2 * n
    s.places = <int64_t *>(<value_t *>s.values + n + n % 2)
    s.rows = <uint32_t *>(s.places + n_rows)
    with nogil:
        row = 0
        while row < n_rows:
            stop = row
            sorted_ = True
            while stop < n_rows and (stop == row or indptr[stop + 1] - indptr[row] <= n):
                if not reverse_if_falling(&values[0] + indptr[stop], &indices[0] + indptr[stop],
                                          indptr[stop + 1] - indptr[stop]):
                    sorted_ = False
                stop += 1
            if not sorted_:
                sort_rows(&values[0], &indices[0], &indptr[row], stop - row, bits, &s)
            row = stop
        n = sum_duplicates(&values[0], &indices[0], &indptr[0], n_rows)
    give_back_scratch(scratch)
    return n


def compress(const value_t[:, ::1] rows, value_t[::1] values, int32_t[::1] columns,
             int64_t[::1] indptr):
    """Dense rows as CSR: what is not zero. `values` and `columns` have SLACK more places than
    there are numbers in `rows`, and are as long as `indptr` says in the end."""
    cdef Py_ssize_t row, n = 0
    with nogil:
        indptr[0] = 0
        for row in range(rows.shape[0]):
            if rows.shape[1] > 0:
                n += compact(&rows[row, 0], rows.shape[1], &values[n], &columns[n])
            indptr[row + 1] = n
