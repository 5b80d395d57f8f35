# Comparing rows of packed codes (c/codes.h).
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "c/codes.h" nogil:
    enum:
        CODES_LANES
    ctypedef uint64_t lanes_u64
    ctypedef void (*count_tile_t)(int width, const uint64_t *queries, Py_ssize_t n_queries,
                                  const uint32_t *limits, const lanes_u64 *tile,
                                  Py_ssize_t n_groups, Py_ssize_t n_words, uint32_t *counts,
                                  Py_ssize_t stride) noexcept nogil
    ctypedef struct codes_loops:
        count_tile_t count_tile
        count_tile_t count_tile_vpopcntdq
        uint32_t (*count_pair)(int width, const lanes_u64 *a, const lanes_u64 *b,
                               Py_ssize_t n) noexcept nogil
        Py_ssize_t (*select)(const uint32_t *counts, Py_ssize_t n, uint32_t limit,
                             uint32_t *selected) noexcept nogil
    const codes_loops *codes_at(int level)
    int field_width(int bits)
    Py_ssize_t words_of_row(Py_ssize_t n_codes, int bits)
    void widen_row(const uint8_t *codes, Py_ssize_t n_codes, int bits, Py_ssize_t step,
                   uint64_t *words)

cdef const codes_loops *loops
cdef count_tile_t count_tile

# Queries that are compared with a tile at once, so that their counts stay in the first cache.
cdef enum:
    QUERIES_TOGETHER = 32

# What a comparison of all pairs works with: queries, and a tile of other rows.
cdef struct tiles_t:
    int width                # of a code's field, in bits
    int bits                 # of a code
    Py_ssize_t n_codes       # of a row
    Py_ssize_t n_words       # of a row
    Py_ssize_t max_queries
    Py_ssize_t max_rows      # of a tile
    uint64_t *queries        # max_queries * n_words
    uint64_t *tile           # max_rows * n_words
    uint32_t *limits         # one for each query
    uint32_t *counts         # QUERIES_TOGETHER * max_rows
    uint32_t *selected       # max_rows

cdef int open_tiles(tiles_t *tiles, Py_ssize_t n_codes, int bits) except -1
cdef void close_tiles(tiles_t *tiles) noexcept nogil
cdef void put_queries(tiles_t *tiles, const uint8_t *codes, Py_ssize_t row_bytes,
                      Py_ssize_t n_rows) noexcept nogil
cdef void put_tile(tiles_t *tiles, const uint8_t *codes, Py_ssize_t row_bytes,
                   Py_ssize_t n_rows) noexcept nogil
cdef void count_tiles(tiles_t *tiles, Py_ssize_t first, Py_ssize_t n_queries,
                      Py_ssize_t n_rows) noexcept nogil
