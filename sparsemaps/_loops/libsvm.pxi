# LIBSVM text: lines to arrays, rows to lines.
#
# Input: a buffer of whole lines; or CSR arrays, in which `indptr` delimits the rows to write.
# Output: arrays; or bytes, in which every number has the fewest digits that read back as itself.
# Cost: O(bytes).
# References: c/text/read_decimal.h, c/text/libsvm_write.c.
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint64_t

from sparsemaps._loops.arrays cimport (FLOATS, INTEGERS, array_of, array_t, csr_block, csr_of,
                                       integer_at)
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level

from decimal import Decimal


cdef extern from "c/text/powers_of_ten.h" nogil:
    enum:
        SMALLEST_POWER, LARGEST_POWER
    ctypedef struct wide_t:
        uint64_t high, low
    wide_t powers_of_ten[1]

cdef extern from "c/text/libsvm_write.h" nogil:
    enum:
        LONGEST_NUMBER
    ctypedef struct line_heads:
        const double *labels
        const int64_t *label_ends
        const int64_t *qids
    ctypedef struct libsvm_write_loops:
        char *(*rows)(const csr_block *rows, bint is_whole, const line_heads *heads,
                      uint64_t first_index, char *out) noexcept nogil
        char *(*codes)(const int32_t *codes, Py_ssize_t n_rows, Py_ssize_t n, int bits,
                       double value, const line_heads *heads, uint64_t first_index,
                       char *out) noexcept nogil
    const libsvm_write_loops *libsvm_write_at(int)

cdef extern from "c/text/libsvm_read.h" nogil:
    enum:
        NO_ERROR, BAD_LABEL, BAD_INDEX, BAD_VALUE, BAD_QID, NOT_ASCENDING, INDEX_TOO_LARGE
    ctypedef int (*slow_number)(const char *text, const char *end, int to_float,
                                double *value) except -1 nogil
    ctypedef struct svm_text:
        int multilabel, to_float
        slow_number slow
        double *labels
        double *values
        int64_t *label_ends
        int64_t *entry_ends
        int64_t *indices
        int64_t *qids
        int64_t n_rows, n_labels, n_entries, n_qids
        int64_t smallest, largest
        int error
        const char *wrong
        const char *wrong_end
    ctypedef struct libsvm_read_loops:
        int64_t (*count_char)(const char *p, int64_t n, char c) noexcept nogil
        int (*read_lines)(svm_text *text, const char *p, const char *end) except? 0 nogil
    const libsvm_read_loops *libsvm_read_at(int)

cdef const libsvm_read_loops *read_loops = libsvm_read_at(level)
cdef const libsvm_write_loops *write_loops = libsvm_write_at(level)

ERRORS = {
    BAD_LABEL: "expected a number as label",
    BAD_INDEX: "expected index:value with an index of at least 0",
    BAD_VALUE: "expected index:value with a number as value",
    BAD_QID: "expected qid: and an integer",
    NOT_ASCENDING: "indices must be sorted and unique, but this one is not above the one before",
    INDEX_TOO_LARGE: "indices must be below 2**63",
}


# ---- powers of ten -------------------------------------------------------------------------------


cdef fill_powers():
    """Fill the table of 10^q to 128 bits. The exponent follows from q. Takes some milliseconds."""
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        size = 10**abs(q)
        n_bits = size.bit_length()
        if q < 0:  # the quotient has 128 bits: `size` is not a power of two
            power = -(-(1 << 127 + n_bits) // size)
        else:
            power = (size << 128) >> n_bits
        powers_of_ten[q - SMALLEST_POWER].high = power >> 64
        powers_of_ten[q - SMALLEST_POWER].low = power & (2**64 - 1)


fill_powers()


# ---- reading -------------------------------------------------------------------------------------


def _nearest_float32(text, value):
    """Return the float32 nearest to a decimal that, as the double `value`, lies halfway between two
    of them."""
    decimal, double = Decimal(text.decode()), Decimal(value)  # both exact, whatever their length
    with np.errstate(all="ignore"):
        near = np.float32(value)  # of the two, the even one
        away = np.float32("-inf" if float(near) > value else "inf")
        other = np.nextafter(near, away, dtype=np.float32)
    if decimal == double:
        return near
    return max(near, other) if decimal > double else min(near, other)


cdef int slow(const char *text, const char *end, int to_float, double *value) except -1 nogil:
    """Parse a number like Python's float, but without underscores, or like C's strtod for
    hexadecimal digits; or round it to the nearest float32."""
    with gil:
        PyErr_CheckSignals()  # such numbers are slow
        token = text[:end - text]
        is_hexadecimal = token.lstrip(b"+-")[:2].lower() == b"0x"
        if to_float:
            if not is_hexadecimal:  # hexadecimal numbers are short, and exact in *value
                value[0] = _nearest_float32(token, value[0])
            return 1
        try:
            if b"_" in token:
                return 0
            value[0] = float.fromhex(token.decode("ascii")) if is_hexadecimal else float(token)
        except (ValueError, OverflowError):
            return 0
        return 1


def count_line_ends(const unsigned char[::1] text):
    """Count the line ends in `text`."""
    cdef int64_t n = 0
    if text.shape[0] > 0:
        with nogil:
            n = read_loops.count_char(<const char *>&text[0], text.shape[0], b"\n")
    return n


def parse(const unsigned char[::1] text, bint multilabel, bint to_float):
    """Parse the lines of `text` into arrays.

    Return (labels, label_ends, values, indices, entry_ends, qids, the number of line ends, the
    smallest index or 2**63 - 1, the largest or -1), and None or the error: (offset of the invalid
    token, the token, what was expected).
    """
    cdef svm_text t
    cdef const char *p = NULL
    cdef int64_t n = text.shape[0], rows = 1, entries = 1, commas = 0
    if n > 0:
        p = <const char *>&text[0]
        with nogil:
            rows += read_loops.count_char(p, n, b"\n")
            entries += read_loops.count_char(p, n, b":")
            if multilabel:
                commas = read_loops.count_char(p, n, b",")
    types = (np.float64, np.int64, np.float64, np.int64, np.int64, np.int64)
    room = (rows + commas, rows, entries, entries, rows, rows)
    arrays = [np.empty(size, type_) for size, type_ in zip(room, types)]
    cdef double[::1] label_view = arrays[0], value_view = arrays[2]
    cdef int64_t[::1] label_ends = arrays[1], indices = arrays[3], entry_ends = arrays[4]
    cdef int64_t[::1] qids = arrays[5]
    t.multilabel, t.to_float = multilabel, to_float
    t.slow = slow
    t.labels, t.values = &label_view[0], &value_view[0]
    t.label_ends, t.entry_ends = &label_ends[0], &entry_ends[0]
    t.indices, t.qids = &indices[0], &qids[0]
    t.n_rows = t.n_labels = t.n_entries = t.n_qids = 0
    t.smallest, t.largest = INT64_MAX, -1
    t.error = NO_ERROR
    with nogil:
        read_loops.read_lines(&t, p, p + n)
    error = None
    if t.error != NO_ERROR:
        error = (t.wrong - p, t.wrong[:t.wrong_end - t.wrong], ERRORS[t.error])
    lengths = (t.n_labels, t.n_rows, t.n_entries, t.n_entries, t.n_rows, t.n_qids)
    filled = [array[:length] for array, length in zip(arrays, lengths)]
    return (*filled, rows - 1, t.smallest, t.largest), error


# ---- writing -------------------------------------------------------------------------------------


cdef check_ends(name, const array_t *ends, int64_t low, int64_t high):
    """Check that the ends of rows never decrease and stay within [low, high]."""
    cdef Py_ssize_t i
    cdef int64_t before = low, end
    with nogil:
        for i in range(ends.shape[0]):
            end = integer_at(ends, i)
            if not before <= end <= high:
                with gil:
                    raise ValueError(f"{name} must not fall and stay from {low} to {high}, "
                                     f"got {end} at {i}")
            before = end


cdef line_heads heads_of(Py_ssize_t n_rows, labels, label_ends, qids) except *:
    """Return the labels and qids of the lines, after checking that there are enough for every
    row."""
    cdef array_t label = array_of(labels, FLOATS, sizeof(double), 1, False)
    cdef array_t ends = array_of(label_ends, INTEGERS, sizeof(int64_t), 1, False)
    cdef array_t qid = array_of(qids, INTEGERS, sizeof(int64_t), 1, False)
    check_ends("label_ends", &ends, 0, label.shape[0])
    if ends.shape[0] != n_rows or (qid.shape[0] > 0 and qid.shape[0] != n_rows):
        raise ValueError(f"expected labels and qids of {n_rows} rows, got {ends.shape[0]} "
                         f"and {qid.shape[0]}")
    cdef line_heads heads
    heads.labels, heads.label_ends = <const double *>label.data, <const int64_t *>ends.data
    heads.qids = NULL
    if qid.shape[0] > 0:
        heads.qids = <const int64_t *>qid.data
    return heads


def format_rows(values, indices, indptr, labels, label_ends, qids, int64_t first_index):
    """Format the rows that `indptr` delimits as bytes. `qids` may be empty, and so may the labels
    of a row. Values are float32, float64 or int64.

    `indptr` and `label_ends` must be copies that nobody else can change: they are checked first,
    and determine the size of the memory.
    """
    cdef bint is_whole = values.dtype.kind == "i"
    cdef array_t ends = array_of(indptr, INTEGERS, sizeof(int64_t), 1, False)
    check_ends("indptr", &ends, 0, min(len(values), len(indices)))
    cdef csr_block rows = csr_of(values, indices, indptr, INTEGERS if is_whole else FLOATS)
    cdef line_heads heads = heads_of(rows.n_rows, labels, label_ends, qids)
    if is_whole and rows.value_size != sizeof(int64_t):
        raise ValueError(f"values must be float32, float64 or int64, got {values.dtype}")
    cdef size_t longest = (rows.n_rows * (LONGEST_NUMBER + 8)
                           + len(labels) * (LONGEST_NUMBER + 1)
                           + (rows.indptr[rows.n_rows] - rows.indptr[0]) * (2 * LONGEST_NUMBER))
    cdef Scratch scratch = borrow_scratch()
    cdef char *begin = <char *>scratch.take(longest)
    cdef char *end
    with nogil:
        end = write_loops.rows(&rows, is_whole, &heads, <uint64_t>first_index, begin)
    text = begin[:end - begin]
    give_back_scratch(scratch)
    return text


def format_codes(codes, int bits, double value, labels, label_ends, qids, int64_t first_index):
    """Format rows of one-hot features as bytes: for code j of a row, `value` at j 2^bits + code. A
    row whose first code is negative has no features. Labels and qids are as in `format_rows`."""
    cdef array_t array = array_of(codes, INTEGERS, sizeof(int32_t), 2, False)
    cdef Py_ssize_t n_rows = array.shape[0], n = array.shape[1]
    cdef line_heads heads = heads_of(n_rows, labels, label_ends, qids)
    cdef size_t longest = (len(labels) * (LONGEST_NUMBER + 1)
                           + n_rows * (LONGEST_NUMBER + 8 + n * (2 * LONGEST_NUMBER)))
    cdef Scratch scratch = borrow_scratch()
    cdef char *begin = <char *>scratch.take(longest)
    cdef char *end
    with nogil:
        end = write_loops.codes(<const int32_t *>array.data, n_rows, n, bits, value, &heads,
                                <uint64_t>first_index, begin)
    text = begin[:end - begin]
    give_back_scratch(scratch)
    return text
