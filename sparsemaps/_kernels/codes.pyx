# Packed codes: small integers one behind the other in a string of bits, lowest bit first, as
# np.packbits(..., bitorder="little") lays bits out.
#
# Packing and unpacking: O(codes). Comparing all pairs of rows: O(words) a pair, 64 bits a word.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from sparsemaps._kernels.code_output cimport code_output, code_output_t, put_codes, put_no_codes
from sparsemaps._kernels.levels cimport level

cdef extern from "c/aligned.h" nogil:
    void *aligned(size_t size)
    void release_aligned(void *memory)

cdef extern from "c/codes.h" nogil:
    enum:
        CODES_LANES
        CODES_HAMMING
    ctypedef uint64_t lanes_u64
    ctypedef struct codes_loops:
        void (*count_rows)(int bits, const uint64_t *rows, Py_ssize_t n_rows,
                           const lanes_u64 *others, Py_ssize_t n_words,
                           lanes_u64 *counts) noexcept nogil
    const codes_loops *codes_at(int level)
    uint64_t load_word(const uint8_t *bytes, Py_ssize_t n)

cdef const codes_loops *loops = codes_at(level)

HAMMING = CODES_HAMMING

# Rows that are compared with CODES_LANES others before the next ones come.
cdef enum:
    CODES_TILE = 64


def write(const int32_t[:, ::1] codes, int bits, int layout, out):
    """Write each row's codes (code_output.pxd); a row whose first code is negative has none."""
    cdef Py_ssize_t n_rows = codes.shape[0], n = codes.shape[1], row, first, j
    cdef int64_t some[64]
    cdef code_output_t output = code_output(layout, out, n, bits)
    with nogil:
        for row in range(n_rows):
            if codes[row, 0] < 0:
                put_no_codes(&output, row)
                continue
            for first in range(0, n, 64):
                for j in range(min(n - first, <Py_ssize_t>64)):
                    some[j] = codes[row, first + j]
                put_codes(&output, row, first, some, 64)


def unpack(const uint8_t[:, ::1] codes, int bits, int32_t[:, ::1] out):
    """The codes of each row, `bits` bits each."""
    cdef Py_ssize_t row, j, byte
    cdef uint64_t waiting
    cdef int n_waiting
    cdef uint64_t mask = (<uint64_t>1 << bits) - 1
    with nogil:
        for row in range(out.shape[0]):
            waiting = 0
            n_waiting = 0
            byte = 0
            for j in range(out.shape[1]):
                while n_waiting < bits:
                    waiting |= <uint64_t>codes[row, byte] << n_waiting
                    n_waiting += 8
                    byte += 1
                out[row, j] = <int32_t>(waiting & mask)
                waiting >>= bits
                n_waiting -= bits


cdef inline uint64_t word_of(const uint8_t[:, ::1] codes, Py_ssize_t row, Py_ssize_t w,
                             Py_ssize_t n_bits) noexcept nogil:
    """64 bits of a row as a word; what is beyond its `n_bits` bits is 0."""
    cdef Py_ssize_t left = n_bits - 64 * w
    cdef uint64_t word = load_word(&codes[row, 8 * w], (left + 7) // 8)
    if left < 64:
        word &= (<uint64_t>1 << left) - 1
    return word


def count_pairs(const uint8_t[:, ::1] a, const uint8_t[:, ::1] b, int bits, Py_ssize_t n_bits,
                int32_t surplus, int32_t[:, ::1] out):
    """For all pairs of rows, how many codes agree in their first `n_bits` bits, less `surplus`; or
    how many bits differ, for HAMMING."""
    cdef Py_ssize_t n_words = (n_bits + 63) // 64, first = 0, other, n_rows, n_others, i, w, lane
    cdef uint64_t *rows = <uint64_t *>aligned(CODES_TILE * n_words * sizeof(uint64_t))
    cdef uint64_t *others = <uint64_t *>aligned(CODES_LANES * n_words * sizeof(uint64_t))
    cdef uint64_t *counts = <uint64_t *>aligned(CODES_TILE * CODES_LANES * sizeof(uint64_t))
    try:
        if rows == NULL or others == NULL or counts == NULL:
            raise MemoryError
        with nogil:
            while first < a.shape[0]:
                n_rows = min(a.shape[0] - first, <Py_ssize_t>CODES_TILE)
                for i in range(n_rows):
                    for w in range(n_words):
                        rows[i * n_words + w] = word_of(a, first + i, w, n_bits)
                other = 0
                while other < b.shape[0]:
                    n_others = min(b.shape[0] - other, <Py_ssize_t>CODES_LANES)
                    for lane in range(CODES_LANES):
                        for w in range(n_words):
                            others[w * CODES_LANES + lane] = word_of(
                                b, other + min(lane, n_others - 1), w, n_bits)
                    loops.count_rows(bits, rows, n_rows, <lanes_u64 *>others, n_words,
                                     <lanes_u64 *>counts)
                    for i in range(n_rows):
                        for lane in range(n_others):
                            out[first + i, other + lane] = (
                                <int32_t>counts[i * CODES_LANES + lane] - surplus)
                    other += CODES_LANES
                first += CODES_TILE
    finally:
        release_aligned(rows)
        release_aligned(others)
        release_aligned(counts)
