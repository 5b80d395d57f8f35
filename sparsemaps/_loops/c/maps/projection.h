/* Random projections: entries as functions of (key, column, component), and sums of them.
 *
 * A tile of components of a few columns is made at once. All draws are float32, in float64 sums
 * too, by single IEEE operations in a written order. */
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

/* PROJECTION_QUANTILES draws from a distribution by its quantiles at the middles of so many equal
 * parts of (0, 1). Its table has them in order, the first and the last one twice; other
 * distributions have no table. */
enum { PROJECTION_PARTS = 1 << 16 };

/* Components handled together. Of a word come two of them: normal ones one after the other, others
 * one in each half of the tile. Of a word of Rademacher vectors come all. */
enum { PROJECTION_HALF = 32, PROJECTION_TILE = 2 * PROJECTION_HALF };

/* Random signs are so cheap that each row makes its own, for so many entries at a time. */
enum { PROJECTION_SIGNS = 256 };

/* Columns that are drawn at a time: a tile of them stays in a cache, the first one where rows have
 * several entries of so few columns, or else the second one. */
enum { PROJECTION_FEW_BYTES = 1 << 15, PROJECTION_COLUMN_BYTES = 1 << 19 };

typedef struct {
    int distribution;
    const float *quantiles;
    void *columns;  /* scratch for PROJECTION_COLUMN_BYTES, or for all columns if that is less */
    uint32_t *next; /* scratch for the next entry of each row */
} projection_t;

typedef struct {
    /* The first n components of one column, a multiple of PROJECTION_TILE. */
    void (*draw)(int distribution, const float *quantiles, uint64_t start, ptrdiff_t n, float *out);
    /* Add value * component of each entry of a group, which are row after row, to its row's sums,
     * PROJECTION_TILE of them. */
    void (*add)(const projection_t *projection, uint64_t tile, const group_t *group,
                ptrdiff_t n_rows, void *sums);
    /* Where the words of the columns of n entries start. */
    void (*sign_starts)(uint64_t key, const csr_block *rows, int64_t first, ptrdiff_t n,
                        uint64_t *starts);
    /* Add n entries of a row, at most PROJECTION_SIGNS, with the signs of their columns' tile. */
    void (*add_signs)(const uint64_t *starts, ptrdiff_t n, uint64_t tile, const void *values,
                      void *sums);
    /* Replace each of a row's n sums, at most PROJECTION_TILE, that is 0 or not a number by 1 or -1:
     * the sign of the row's projection on a normal vector of this key, of component `first` or one
     * of the next; if that is 0 too, the sign of its first entry's part in it. A row of zeros keeps
     * its sums. */
    void (*settle)(uint64_t key, const csr_block *rows, ptrdiff_t row, uint64_t first, void *sums,
                   ptrdiff_t n);
    /* Codes of n projections, at most 64: bit j is 1 where number j is not negative. */
    uint64_t (*bits)(const void *projections, ptrdiff_t n);
    /* The same as values, one or -one. */
    void (*values)(const void *projections, ptrdiff_t n, double one, void *out);
} projection_loops;

DECLARE_TABLES_OF_VALUES(projection)

#endif
