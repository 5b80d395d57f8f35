# Bands of rows of packed codes: hashes, and comparison of two rows (c/codes/codes.h).
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from sparsemaps._loops.levels cimport Scratch


cdef extern from "c/random/random.h" nogil:
    uint64_t mix64(uint64_t x)


cdef inline uint64_t bits_at(const uint8_t *row, Py_ssize_t bit, Py_ssize_t n_bits) noexcept nogil:
    """Return up to 56 bits of a row, from `bit` on."""
    cdef uint64_t word = load_word(row + bit // 8, (bit % 8 + n_bits + 7) // 8)
    return word >> bit % 8 & ((<uint64_t>1 << n_bits) - 1)


cdef inline bint same_bits(const uint8_t *a, const uint8_t *b, Py_ssize_t bit,
                           Py_ssize_t n_bits) noexcept nogil:
    cdef Py_ssize_t last = bit + n_bits, some
    while bit < last:
        some = min(last - bit, <Py_ssize_t>56)
        if bits_at(a, bit, some) != bits_at(b, bit, some):
            return False
        bit += some
    return True


cdef inline uint64_t hash_bits(const uint8_t *row, Py_ssize_t bit, Py_ssize_t n_bits,
                               uint64_t key) noexcept nogil:
    cdef uint64_t hashed = key
    cdef uint64_t step = 0x9e3779b97f4a7c15U  # so that zero words change the hash too
    cdef Py_ssize_t n_hashed = 0, some
    if bit % 8 == 0:
        while n_hashed + 64 <= n_bits:
            hashed = mix64(hashed ^ load_word(row + (bit + n_hashed) // 8, 8)) + step
            n_hashed += 64
    while n_hashed < n_bits:
        some = min(n_bits - n_hashed, <Py_ssize_t>56)
        hashed = mix64(hashed ^ bits_at(row, bit + n_hashed, some)) + step
        n_hashed += some
    return hashed


# Two rows of codes, unpacked into words.
cdef struct compared_t:
    int width
    int bits
    Py_ssize_t n_codes
    Py_ssize_t n_vectors
    uint64_t *a
    uint64_t *b


cdef inline int open_pair(compared_t *pair, Scratch scratch, Py_ssize_t n_codes,
                          int bits) except -1:
    cdef Py_ssize_t n_bytes
    pair.width = field_width(bits)
    pair.bits = bits
    pair.n_codes = n_codes
    pair.n_vectors = (words_of_row(n_codes, bits) + CODES_LANES - 1) // CODES_LANES
    n_bytes = pair.n_vectors * CODES_LANES * sizeof(uint64_t)
    pair.a = <uint64_t *>scratch.take_zeros(n_bytes)
    pair.b = <uint64_t *>scratch.take_zeros(n_bytes)
    return 0


cdef inline uint32_t differing_codes(compared_t *pair, const uint8_t *b) noexcept nogil:
    """Count the codes in which `b` differs from the row in `pair.a`."""
    widen_row(b, pair.n_codes, pair.bits, 1, pair.b)
    return loops.count_pair(pair.width, <lanes_u64 *>pair.a, <lanes_u64 *>pair.b, pair.n_vectors)
