from libc.stdint cimport uint64_t

cdef extern from "c/rows/sort.h" nogil:
    ctypedef struct pair_t:
        uint64_t key
        uint64_t payload
    pair_t *sort_pairs(pair_t *pairs, pair_t *scratch, size_t n, int bits)
    uint64_t *sort_words(uint64_t *words, uint64_t *scratch, size_t n, int lowest, int bits)
    int bit_length(uint64_t value)
