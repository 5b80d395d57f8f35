/* Random projections: random entries as functions of (key, column, component), and weighted sums of
 * them.
 *
 * Tiles of components are drawn for several columns at once. All draws are float32, even for
 * float64 sums, by single IEEE operations in a fixed order. */
#ifndef SPARSEMAPS_PROJECTION_H
#define SPARSEMAPS_PROJECTION_H

#include "csr_block.h"
#include "groups.h"

enum {
    PROJECTION_NORMAL,
    PROJECTION_CAUCHY,
    PROJECTION_LAPLACE,
    PROJECTION_RADEMACHER,
    PROJECTION_QUANTILES
};

/* PROJECTION_QUANTILES draws from any distribution, given its quantiles at the midpoints of
 * PROJECTION_PARTS equal parts of (0, 1). The table lists them in order, with the first and the
 * last one repeated. Other distributions need no table. */
enum { PROJECTION_PARTS = 1 << 16 };

/* Components per tile. A word yields two components: adjacent ones for normals, one in each half of
 * the tile for others. For Rademacher vectors, one word yields the whole tile. */
enum { PROJECTION_HALF = 32, PROJECTION_TILE = 2 * PROJECTION_HALF };

/* Random signs are cheap, so each row computes its own, for this many entries at a time. */
enum { PROJECTION_SIGNS = 256 };

/* Memory for the columns that are drawn at a time. A tile fits in the first-level cache if rows
 * have several entries in that few columns, or else in the second-level cache. */
enum { PROJECTION_FEW_BYTES = 1 << 15, PROJECTION_COLUMN_BYTES = 1 << 19 };

typedef struct {
    int distribution;
    const float *quantiles;
    void *columns;  /* scratch of PROJECTION_COLUMN_BYTES, or enough for all columns if less */
    uint32_t *next; /* scratch: the next entry of each row */
} projection_t;

/* How the signs of projections are decided. */
typedef struct {
    uint64_t zeros_key;
    int distribution;
    ptrdiff_t width;   /* of blocks of orthogonal vectors, a power of two; 0 for other vectors */
    uint8_t *doubtful; /* of each row, set to 1; NULL if rows are not checked */
    double largest;    /* size of a value, if rows are checked */
} signs_t;

typedef struct {
    /* Draw the first n components of one column, n a multiple of PROJECTION_TILE. */
    void (*draw)(int distribution, const float *quantiles, uint64_t start, ptrdiff_t n, float *out);
    /* Add value * component, for each entry of a group in row order, to the PROJECTION_TILE sums of
     * its row. */
    void (*add)(const projection_t *projection, uint64_t tile, const group_t *group,
                ptrdiff_t n_rows, void *sums);
    /* Compute the starts of the words of n entries' columns. */
    void (*sign_starts)(uint64_t key, const csr_block *rows, int64_t first, ptrdiff_t n,
                        uint64_t *starts);
    /* Add n entries of a row, at most PROJECTION_SIGNS, with the signs of their columns in this
     * tile. */
    void (*add_signs)(const uint64_t *starts, ptrdiff_t n, uint64_t tile, const void *values,
                      void *sums);
    /* Replace every sum of a row, of n <= PROJECTION_TILE, that is 0 or NaN by 1 or -1: the sign of
     * the row's projection onto the normal vector with the key of `signs` and component `first` + j,
     * or, if that is 0 too, the sign of its first entry's term. A row of zeros is left unchanged.
     * If rows are checked, and float32 may have rounded a sign away, mark the row as doubtful
     * instead. */
    void (*settle)(const signs_t *signs, const csr_block *rows, ptrdiff_t row, uint64_t first,
                   void *sums, ptrdiff_t n);
    /* Return the largest size of n float32 values. */
    double (*largest)(const float *values, ptrdiff_t n);
    /* Return the codes of n <= 64 projections as a bitmask: bit j is 1 if projection j is >= 0. */
    uint64_t (*bits)(const void *projections, ptrdiff_t n);
    /* Write the same codes as values, `one` or -`one`. */
    void (*values)(const void *projections, ptrdiff_t n, double one, void *out);
} projection_loops;

DECLARE_TABLES_OF_VALUES(projection)

#endif
