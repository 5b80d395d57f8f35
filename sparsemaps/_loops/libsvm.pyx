# LIBSVM text: lines to arrays, rows to lines.
#
# Input: a buffer of whole lines; or CSR arrays, of which the rows that `indptr` delimits are
# written. Output: arrays; or bytes, every number with the fewest digits that read back as itself.
# Cost: O(bytes).
# References: c/read_decimal.h, c/write_decimal.h.
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from cpython.exc cimport PyErr_CheckSignals

from decimal import Decimal

import numpy as np

from sparsemaps._loops.arrays cimport (FLOATS, INTEGERS, array_of, array_t, csr_block, csr_of,
                                       indices_from, integer_at, values_from)
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level

cdef extern from "c/text/powers_of_ten.h" nogil:
    enum:
        SMALLEST_POWER
        LARGEST_POWER
    ctypedef struct wide_t:
        uint64_t high
        uint64_t low

cdef extern from "c/text/read_decimal.h" nogil:
    int between_floats(double value)

cdef extern from "c/text/write_decimal.h" nogil:
    enum:
        LONGEST_NUMBER
    char *write_integer(char *out, uint64_t n)
    char *write_i64(char *out, int64_t n)
    char *write_f64(char *out, double x, const wide_t *powers)

cdef extern from "c/text/entries.h" nogil:
    enum:
        WRITE_F32
        WRITE_F64
        WRITE_I64
    ctypedef char *(*write_entries)(const void *values, const void *indices, Py_ssize_t n,
                                    uint64_t first_index, const wide_t *powers,
                                    char *out) noexcept nogil
    ctypedef struct entries_loops:
        write_entries write[3][2]
    const entries_loops *entries_at(int level)

cdef extern from "c/text/libsvm.h" nogil:
    enum:
        NO_ERROR
        BAD_LABEL
        BAD_INDEX
        BAD_VALUE
        BAD_QID
        NOT_ASCENDING
        INDEX_TOO_LARGE
    ctypedef int (*slow_number)(const char *text, const char *end, int to_float,
                                double *value) except -1 nogil
    ctypedef struct svm_text:
        int multilabel
        int to_float
        const wide_t *powers
        slow_number slow
        double *labels
        double *values
        int64_t *label_ends
        int64_t *entry_ends
        int64_t *indices
        int64_t *qids
        int64_t n_rows
        int64_t n_labels
        int64_t n_entries
        int64_t n_qids
        int64_t smallest
        int64_t largest
        int error
        const char *wrong
        const char *wrong_end
    ctypedef struct libsvm_loops:
        int64_t (*count_char)(const char *p, int64_t n, char c) noexcept nogil
        int (*read_lines)(svm_text *text, const char *p, const char *end) except? 0 nogil
    const libsvm_loops *libsvm_at(int level)

cdef const libsvm_loops *loops = libsvm_at(level)
cdef const entries_loops *entry_loops = entries_at(level)

ERRORS = {
    BAD_LABEL: "expected a number as label",
    BAD_INDEX: "expected index:value with an index of at least 0",
    BAD_VALUE: "expected index:value with a number as value",
    BAD_QID: "expected qid: and an integer",
    NOT_ASCENDING: "indices must be sorted and unique, but this one is not above the one before",
    INDEX_TOO_LARGE: "indices must be below 2**63",
}


# ---- powers of ten -------------------------------------------------------------------------------


def _normalized(numerator, denominator, round_up):
    """The leading 128 bits of a positive ratio."""
    shift = 128 - numerator.bit_length() + denominator.bit_length()
    for shift in (shift, shift - 1):
        quotient, rest = divmod(numerator << max(shift, 0), denominator << max(-shift, 0))
        if quotient.bit_length() <= 128:
            break
    if round_up and rest:
        quotient += 1
    return quotient >> 64, quotient & (2**64 - 1)


def _powers(round_up):
    """10^q to 128 bits; the exponent is known from q. `round_up`: always, or if q < 0 only."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), np.uint64)
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        ratio = (10**q, 1) if q >= 0 else (1, 10**-q)
        table[q - SMALLEST_POWER] = _normalized(*ratio, round_up or q < 0)
    return table


# Filled on import (some milliseconds), read-only since.
cdef wide_t TO_READ[685]
cdef wide_t TO_WRITE[685]


cdef fill(wide_t *powers, const uint64_t[:, ::1] table):
    cdef Py_ssize_t i
    for i in range(table.shape[0]):
        powers[i].high = table[i, 0]
        powers[i].low = table[i, 1]


fill(TO_READ, _powers(round_up=False))
fill(TO_WRITE, _powers(round_up=True))


# ---- reading -------------------------------------------------------------------------------------


def _nearest_float32(text, value):
    """The float32 nearest to a decimal which, as the double `value`, lies between two of them."""
    decimal, double = Decimal(text.decode()), Decimal(value)  # both exact, whatever their length
    with np.errstate(all="ignore"):
        near = np.float32(value)  # of the two, the even one
        away = np.float32("-inf" if float(near) > value else "inf")
        other = np.nextafter(near, away, dtype=np.float32)
    if decimal == double:
        return near
    return max(near, other) if decimal > double else min(near, other)


cdef int slow(const char *text, const char *end, int to_float, double *value) except -1 nogil:
    """The number as Python's float reads it, but for its underscores."""
    with gil:
        PyErr_CheckSignals()  # such numbers are slow
        token = text[:end - text]
        try:
            if b"_" in token:
                return 0
            value[0] = float(token)
        except ValueError:
            return 0
        if to_float and between_floats(value[0]):
            value[0] = _nearest_float32(token, value[0])
        return 1


def count_line_ends(const unsigned char[::1] text):
    """How many line ends are in `text`."""
    cdef int64_t n = 0
    if text.shape[0] > 0:
        with nogil:
            n = loops.count_char(<const char *>&text[0], text.shape[0], b"\n")
    return n


def parse(const unsigned char[::1] text, bint multilabel, bint to_float, arrays=None):
    """Arrays of the lines in `text`; those of an earlier call are written over if long enough.

    Returns [labels, label_ends, values, indices, entry_ends, qids], their lengths, the number of
    line ends, the smallest index or 2**63 - 1 and the largest or -1, and None or the error: (offset
    of the token at fault, the token, what was expected).
    """
    cdef svm_text t
    cdef const char *p = NULL
    cdef int64_t n = text.shape[0], rows = 1, entries = 1, labels
    if n > 0:
        p = <const char *>&text[0]
        with nogil:
            rows += loops.count_char(p, n, b"\n")
            entries += loops.count_char(p, n, b":")
    labels = rows + (loops.count_char(p, n, b",") if multilabel and n > 0 else 0)
    needed = (labels, rows, entries, entries, rows, rows)
    if arrays is None or any([len(array) < size for array, size in zip(arrays, needed)]):
        types = (np.float64, np.int64, np.float64, np.int64, np.int64, np.int64)
        arrays = [np.empty(size, type_) for size, type_ in zip(needed, types)]
    cdef double[::1] label_view = arrays[0], value_view = arrays[2]
    cdef int64_t[::1] label_ends = arrays[1], indices = arrays[3], entry_ends = arrays[4]
    cdef int64_t[::1] qids = arrays[5]
    t.multilabel, t.to_float = multilabel, to_float
    t.powers, t.slow = TO_READ, slow
    t.labels, t.values = &label_view[0], &value_view[0]
    t.label_ends, t.entry_ends = &label_ends[0], &entry_ends[0]
    t.indices, t.qids = &indices[0], &qids[0]
    t.n_rows = t.n_labels = t.n_entries = t.n_qids = 0
    t.smallest, t.largest = INT64_MAX, -1
    t.error = NO_ERROR
    with nogil:
        loops.read_lines(&t, p, p + n)
    error = None
    if t.error != NO_ERROR:
        error = (t.wrong - p, t.wrong[:t.wrong_end - t.wrong], ERRORS[t.error])
    lengths = (t.n_labels, t.n_rows, t.n_entries, t.n_entries, t.n_rows, t.n_qids)
    return arrays, lengths, rows - 1, (t.smallest, t.largest), error


# ---- writing -------------------------------------------------------------------------------------


cdef inline char *end_line(char *out, bint has_entries) noexcept nogil:
    """A line that has entries has no blank at its end."""
    if has_entries:
        out -= 1
    out[0] = b"\n"
    return out + 1


cdef check_ends(name, const array_t *ends, int64_t low, int64_t high):
    """Ends of rows, each at least as large as the one before, from `low` to `high`."""
    cdef Py_ssize_t i
    cdef int64_t before = low, end
    for i in range(ends.shape[0]):
        end = integer_at(ends, i)
        if not before <= end <= high:
            raise ValueError(f"{name} must not fall and stay from {low} to {high}, "
                             f"got {end} at {i}")
        before = end


# Labels and numbers of qid of rows.
cdef struct heads_t:
    const double *labels
    Py_ssize_t n_labels
    const int64_t *label_ends
    const int64_t *qids   # NULL where there are none


cdef heads_t heads_of(Py_ssize_t n_rows, labels, label_ends, qids) except *:
    """Labels and numbers of qid, which are there for every row."""
    cdef array_t label = array_of(labels, FLOATS, sizeof(double), 1, False)
    cdef array_t ends = array_of(label_ends, INTEGERS, sizeof(int64_t), 1, False)
    cdef array_t qid = array_of(qids, INTEGERS, sizeof(int64_t), 1, False)
    check_ends("label_ends", &ends, 0, label.shape[0])
    if ends.shape[0] != n_rows or (qid.shape[0] > 0 and qid.shape[0] != n_rows):
        raise ValueError(f"expected labels and qids of {n_rows} rows, got {ends.shape[0]} "
                         f"and {qid.shape[0]}")
    cdef heads_t heads
    heads.labels, heads.n_labels = <const double *>label.data, label.shape[0]
    heads.label_ends = <const int64_t *>ends.data
    heads.qids = NULL
    if qid.shape[0] > 0:
        heads.qids = <const int64_t *>qid.data
    return heads


cdef inline char *start_line(char *out, const heads_t *heads, Py_ssize_t row) noexcept nogil:
    """Labels, the number of qid unless there are none, and a blank."""
    cdef int64_t first = heads.label_ends[row - 1] if row > 0 else 0, label
    for label in range(first, heads.label_ends[row]):
        if label > first:
            out[0] = b","
            out += 1
        out = write_f64(out, heads.labels[label], TO_WRITE)
    if heads.qids != NULL:
        out[0], out[1], out[2], out[3], out[4] = b" ", b"q", b"i", b"d", b":"
        out = write_i64(out + 5, heads.qids[row])
    out[0] = b" "
    return out + 1


def format_rows(values, indices, indptr, labels, label_ends, qids, int64_t first_index):
    """Bytes of the rows that `indptr` delimits; qids may be empty, labels of a row too. Values are
    float32, float64 or int64.

    `indptr` and `label_ends` must be copies that nobody else can change: what they say is checked
    first, and sizes the memory."""
    cdef bint is_whole = values.dtype.kind == "i"
    cdef array_t ends = array_of(indptr, INTEGERS, sizeof(int64_t), 1, False)
    check_ends("indptr", &ends, 0, min(len(values), len(indices)))
    cdef csr_block rows = csr_of(values, indices, indptr, INTEGERS if is_whole else FLOATS)
    cdef heads_t heads = heads_of(rows.n_rows, labels, label_ends, qids)
    cdef int64_t row, start = rows.indptr[0], stop
    if is_whole and rows.value_size != sizeof(int64_t):
        raise ValueError(f"values must be float32, float64 or int64, got {values.dtype}")
    cdef size_t longest = (rows.n_rows * (LONGEST_NUMBER + 8)
                           + heads.n_labels * (LONGEST_NUMBER + 1)
                           + (rows.indptr[rows.n_rows] - start) * (2 * LONGEST_NUMBER))
    cdef Scratch scratch = borrow_scratch()
    cdef char *begin = <char *>scratch.take(longest)
    cdef char *out = begin
    cdef write_entries write = entry_loops.write[
        WRITE_I64 if is_whole else WRITE_F64 if rows.value_size == sizeof(double) else WRITE_F32
    ][rows.index_size == sizeof(int64_t)]
    with nogil:
        for row in range(rows.n_rows):
            stop = rows.indptr[row + 1]
            out = start_line(out, &heads, row)
            if start < stop:
                out = write(values_from(&rows, start), indices_from(&rows, start), stop - start,
                            <uint64_t>first_index, TO_WRITE, out)
            out = end_line(out, start < stop)
            start = stop
    text = begin[:out - begin]
    give_back_scratch(scratch)
    return text


def format_codes(const int32_t[:, ::1] codes, int bits, double value, labels, label_ends, qids,
                 int64_t first_index):
    """Bytes of rows of one-hot features: for code j of a row `value` at j 2^bits + code. A row
    whose first code is negative has none. Labels and qids as in `format_rows`."""
    cdef Py_ssize_t n_rows = codes.shape[0], n = codes.shape[1], row, j
    cdef char one[LONGEST_NUMBER + 2]
    cdef size_t length
    cdef heads_t heads = heads_of(n_rows, labels, label_ends, qids)
    cdef size_t longest = (heads.n_labels * (LONGEST_NUMBER + 1)
                           + n_rows * (LONGEST_NUMBER + 8 + n * (2 * LONGEST_NUMBER)))
    cdef Scratch scratch = borrow_scratch()
    cdef char *begin = <char *>scratch.take(longest)
    cdef char *out = begin
    cdef bint filled
    one[0] = b":"
    length = write_f64(one + 1, value, TO_WRITE) - one
    one[length] = b" "
    length += 1
    with nogil:
        for row in range(n_rows):
            out = start_line(out, &heads, row)
            filled = n > 0 and codes[row, 0] >= 0
            if filled:
                for j in range(n):
                    out = write_integer(out, (<uint64_t>j << bits) + <uint64_t>codes[row, j]
                                        + <uint64_t>first_index)
                    memcpy(out, one, length)
                    out += length
            out = end_line(out, filled)
    text = begin[:out - begin]
    give_back_scratch(scratch)
    return text
