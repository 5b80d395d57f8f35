# Packed codes: small integers packed contiguously into a bit string, lowest bit first, like
# np.packbits(..., bitorder="little").
#
# Input: rows of packed codes, `n_codes` of `bits` bits each. Output: packed codes, numbers, or
# counts of differing codes. Cost: O(codes) for packing and unpacking; O(words) per pair for all
# pairs of rows, with 64 bits a word.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from sparsemaps._loops.code_output cimport (AS_COLUMNS, AS_NUMBERS, AS_PACKED, code_output,
                                            code_output_at, code_output_loops, code_output_t)
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level

# Layouts of codes (code_output.pxd).
PACKED, NUMBERS, ONE_HOT_COLUMNS = AS_PACKED, AS_NUMBERS, AS_COLUMNS

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
    uint64_t load_word(const uint8_t *bytes, Py_ssize_t n)
    void prefetch_row(const uint8_t *row, Py_ssize_t n_bytes)
    void read_page(const uint8_t *byte)
    void widen_row(const uint8_t *codes, Py_ssize_t n_codes, int bits, Py_ssize_t step,
                   uint64_t *words)

cdef extern from "c/base/cpu.h" nogil:
    bint machine_has_vpopcntdq()

cdef const codes_loops *loops = codes_at(level)
cdef const code_output_loops *output_loops = code_output_at(level)

cdef count_tile_t count = loops.count_tile
if machine_has_vpopcntdq() and loops.count_tile_vpopcntdq != NULL:
    count = loops.count_tile_vpopcntdq


def write(const int32_t[:, ::1] codes, int bits, int layout, out):
    """Write each row's codes (code_output.pxd). A row whose first code is negative has none."""
    cdef Py_ssize_t n_rows = codes.shape[0], n = codes.shape[1], row, first, j
    cdef int64_t some[64]
    cdef code_output_t output = code_output(layout, out, n, bits)
    with nogil:
        for row in range(n_rows):
            if codes[row, 0] < 0:
                output_loops.put_none(&output, row)
                continue
            for first in range(0, n, 64):
                for j in range(min(n - first, <Py_ssize_t>64)):
                    some[j] = codes[row, first + j]
                output_loops.put(&output, row, first, some, 64)


def unpack(const uint8_t[:, ::1] codes, int bits, int32_t[:, ::1] out):
    """Write the codes of each row, `bits` bits each, to `out`."""
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


# All pairs of a query and a row, one tile of rows at a time. A kernel has the form
#
#     open_tiles(&tiles, scratch, queries, rows, n_codes, bits)
#     while next_tile(&tiles):             # queries from tiles.query on, rows from tiles.row on
#         count_tile(&tiles)               # tiles.limits may be set before
#         for q in range(tiles.n_queries):
#             read the counts of the tile's rows at counts_of(&tiles, q)
cdef enum:
    QUERIES_TOGETHER = 32    # so that their counts stay in the first-level cache

cdef struct tiles_t:
    Py_ssize_t query         # first of the queries that are compared with the tile
    Py_ssize_t n_queries     # at most QUERIES_TOGETHER
    Py_ssize_t row           # first row of the tile
    Py_ssize_t n_rows
    uint32_t *limits         # per query: counts above it need not be exact; initially no limit
    uint32_t *selected       # room for row numbers of a tile
    # Private to the functions below.
    int width                # of a field, in bits
    int bits                 # of a code
    Py_ssize_t n_codes       # per row
    Py_ssize_t n_words       # per row
    const uint8_t *packed_queries
    const uint8_t *packed_rows
    Py_ssize_t n_bytes       # per packed row
    Py_ssize_t n_all_queries
    Py_ssize_t n_all_rows
    Py_ssize_t start         # first of the unpacked queries
    Py_ssize_t stop
    Py_ssize_t max_queries
    Py_ssize_t max_rows
    uint64_t *queries        # max_queries * n_words
    uint64_t *tile           # max_rows * n_words
    uint32_t *counts         # QUERIES_TOGETHER * max_rows

cdef inline uint32_t *counts_of(tiles_t *tiles, Py_ssize_t q) noexcept nogil:
    """Return the counts of differing codes between query q of the tile and each row of the tile."""
    return tiles.counts + q * tiles.max_rows


# Sizes of a tile and of the unpacked queries, in words. Together they fit in the second-level
# cache.
cdef enum:
    TILE_WORDS = 4096
    QUERY_WORDS = 8192


cdef int open_tiles(tiles_t *tiles, Scratch scratch, const uint8_t[:, ::1] queries,
                    const uint8_t[:, ::1] rows, Py_ssize_t n_codes, int bits) except -1:
    memset(tiles, 0, sizeof(tiles_t))
    if queries.shape[0] == 0 or rows.shape[0] == 0:
        return 0
    if n_codes < 1 or n_codes * bits > 8 * rows.shape[1] or queries.shape[1] != rows.shape[1]:
        raise ValueError(
            f"rows of {rows.shape[1]} bytes do not hold {n_codes} codes of {bits} bits")
    tiles.packed_queries = &queries[0, 0]
    tiles.packed_rows = &rows[0, 0]
    tiles.n_bytes = rows.shape[1]
    tiles.n_all_queries = queries.shape[0]
    tiles.n_all_rows = rows.shape[0]
    tiles.row = rows.shape[0]  # past the last tile, so that the first queries are loaded next
    tiles.width = field_width(bits)
    tiles.bits = bits
    tiles.n_codes = n_codes
    tiles.n_words = words_of_row(n_codes, bits)
    tiles.max_rows = max(CODES_LANES, min(256, TILE_WORDS // tiles.n_words)
                         // CODES_LANES * CODES_LANES)
    tiles.max_queries = max(4, min(256, QUERY_WORDS // tiles.n_words))
    tiles.queries = <uint64_t *>scratch.take(tiles.max_queries * tiles.n_words * sizeof(uint64_t))
    tiles.tile = <uint64_t *>scratch.take_zeros(tiles.max_rows * tiles.n_words * sizeof(uint64_t))
    tiles.limits = <uint32_t *>scratch.take(QUERIES_TOGETHER * sizeof(uint32_t))
    tiles.counts = <uint32_t *>scratch.take(QUERIES_TOGETHER * tiles.max_rows * sizeof(uint32_t))
    tiles.selected = <uint32_t *>scratch.take(tiles.max_rows * sizeof(uint32_t))
    memset(tiles.limits, 0xff, QUERIES_TOGETHER * sizeof(uint32_t))
    return 0


cdef bint next_tile(tiles_t *tiles) noexcept nogil:
    """Advance to the next queries and rows. Return False at the end."""
    cdef Py_ssize_t i, group
    tiles.query += tiles.n_queries
    if tiles.query == tiles.stop:  # all unpacked queries were compared with this tile
        tiles.row += tiles.n_rows
        if tiles.row >= tiles.n_all_rows:  # it was the last one
            if tiles.stop == tiles.n_all_queries:
                return False
            tiles.start = tiles.stop
            tiles.stop = min(tiles.start + tiles.max_queries, tiles.n_all_queries)
            tiles.row = 0
            for i in range(tiles.stop - tiles.start):
                widen_row(tiles.packed_queries + (tiles.start + i) * tiles.n_bytes, tiles.n_codes,
                          tiles.bits, 1, tiles.queries + i * tiles.n_words)
        tiles.n_rows = min(tiles.n_all_rows - tiles.row, tiles.max_rows)
        for i in range(tiles.n_rows):
            group = i // CODES_LANES * CODES_LANES
            widen_row(tiles.packed_rows + (tiles.row + i) * tiles.n_bytes, tiles.n_codes,
                      tiles.bits, CODES_LANES, tiles.tile + group * tiles.n_words + (i - group))
        tiles.query = tiles.start
    tiles.n_queries = min(tiles.stop - tiles.query, <Py_ssize_t>QUERIES_TOGETHER)
    return True


cdef void count_tile(tiles_t *tiles) noexcept nogil:
    count(tiles.width, tiles.queries + (tiles.query - tiles.start) * tiles.n_words,
          tiles.n_queries, tiles.limits, <lanes_u64 *>tiles.tile,
          (tiles.n_rows + CODES_LANES - 1) // CODES_LANES, tiles.n_words, tiles.counts,
          tiles.max_rows)


def count_pairs(const uint8_t[:, ::1] a, const uint8_t[:, ::1] b, int bits, Py_ssize_t n_codes,
                bint agreeing, int32_t[:, :] out):
    """Count, for all pairs of rows, how many of the first `n_codes` codes agree, or differ.

    Each row of `out` must be contiguous.
    """
    cdef Py_ssize_t q, row
    cdef const uint32_t *counts
    cdef int32_t *to
    cdef tiles_t tiles
    cdef Scratch scratch = borrow_scratch()
    open_tiles(&tiles, scratch, a, b, n_codes, bits)
    with nogil:
        while next_tile(&tiles):
            count_tile(&tiles)
            for q in range(tiles.n_queries):
                counts = counts_of(&tiles, q)
                to = &out[tiles.query + q, tiles.row]
                for row in range(tiles.n_rows):
                    to[row] = <int32_t>(n_codes - counts[row] if agreeing else counts[row])
    give_back_scratch(scratch)


# Search in codes.
include "bands.pxi"
include "neighbors.pxi"
include "band_tables.pxi"

# Models trained on codes.
include "linear.pxi"
