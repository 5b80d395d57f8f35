# Comparing rows of packed codes (c/codes.h).
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from sparsemaps._loops.scratch cimport Scratch

cdef extern from "c/codes/codes.h" nogil:
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

# All pairs of a query and a row, a tile of rows at a time. A kernel reads
#
#     open_tiles(&tiles, scratch, queries, rows, n_codes, bits)
#     while next_tile(&tiles):             # queries from tiles.query on, rows from tiles.row on
#         count_tile(&tiles)               # tiles.limits may be set before
#         for q in range(tiles.n_queries):
#             read the counts of the tile's rows at counts_of(&tiles, q)
cdef enum:
    QUERIES_TOGETHER = 32    # so that their counts stay in the first cache

cdef struct tiles_t:
    Py_ssize_t query         # the first query of those that are compared with the tile
    Py_ssize_t n_queries     # at most QUERIES_TOGETHER
    Py_ssize_t row           # the first row of the tile
    Py_ssize_t n_rows
    uint32_t *limits         # of each query: counts above it need not be exact; none at first
    uint32_t *selected       # room for the numbers of a tile's rows
    # For the functions below alone.
    int width                # of a code's field, in bits
    int bits                 # of a code
    Py_ssize_t n_codes       # of a row
    Py_ssize_t n_words       # of a row
    const uint8_t *packed_queries
    const uint8_t *packed_rows
    Py_ssize_t n_bytes       # of a packed row
    Py_ssize_t n_all_queries
    Py_ssize_t n_all_rows
    Py_ssize_t start         # the queries whose words are at hand
    Py_ssize_t stop
    Py_ssize_t max_queries
    Py_ssize_t max_rows
    uint64_t *queries        # max_queries * n_words
    uint64_t *tile           # max_rows * n_words
    uint32_t *counts         # QUERIES_TOGETHER * max_rows

cdef int open_tiles(tiles_t *tiles, Scratch scratch, const uint8_t[:, ::1] queries,
                    const uint8_t[:, ::1] rows, Py_ssize_t n_codes, int bits) except -1
cdef bint next_tile(tiles_t *tiles) noexcept nogil
cdef void count_tile(tiles_t *tiles) noexcept nogil

cdef inline uint32_t *counts_of(tiles_t *tiles, Py_ssize_t q) noexcept nogil:
    """How many codes differ between the q-th of the queries and each row of the tile."""
    return tiles.counts + q * tiles.max_rows
