/* Dart minhash (Christiani 2020): all samples of a row from one set of random points.
 *
 * Above each column lies a Poisson process of rate 1 in the plane of weight and rank; each point,
 * a dart, has a random bucket. Of the darts below a row's weights (dart weight < entry's weight),
 * the one of least rank in bucket j is the row's sample j. Two rows have the same one with
 * probability sum min / sum max.
 *
 * A column's process is cut along the weight at powers of four: part m has the weights from 4^m to
 * 4^(m + 1), and its darts come in the order of ranks, each a function of (column, m, its number).
 * So a row looks at the darts up to a limit of rank, and in lower parts seldom finds one. Weights
 * and ranks are relative to a power of four near the row's largest weight, so that nothing leaves
 * the range of numbers; that changes no dart. */
#ifndef SPARSEMAPS_DART_MINHASH_H
#define SPARSEMAPS_DART_MINHASH_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

/* Parts of an entry that are looked at: those below have 4^-24 of its darts. */
enum { DART_PARTS = 24 };
/* Entries that are looked at together, and the largest number of parts with darts they have. */
enum { DART_ENTRIES = 512, DART_MAX_PARTS = DART_ENTRIES * DART_PARTS };

/* The dart of least rank in a bucket so far. */
typedef struct {
    double rank;
    int64_t
        source; /* DART_SOURCES * position of the entry + how far its part is below the highest */
    int64_t number; /* in its part */
} dart_t;

/* Parts whose next dart may be below the limit of rank. */
typedef struct {
    uint64_t starts[DART_MAX_PARTS]; /* of their words */
    double ranks[DART_MAX_PARTS];    /* of the last dart */
    double means[DART_MAX_PARTS];    /* of the difference of two ranks */
    double scales[DART_MAX_PARTS];   /* least weight of a dart */
    double weights[DART_MAX_PARTS];  /* of the entry */
    int64_t sources[DART_MAX_PARTS];
} dart_parts;

typedef struct {
    /* Sample a row of n entries, whose weights are values of at least 0 to a power: the columns of
     * the samples, and t that numbers the darts of a column, into arrays of n_buckets. `weights` are
     * the values, and written over; `parts` and `buckets` (n_buckets) are scratch. Returns 0 where
     * no value is above 0. */
    int (*sample_row)(double *weights, const uint64_t *columns, ptrdiff_t n, double power,
                      uint64_t key, ptrdiff_t n_buckets, dart_parts *parts, dart_t *buckets,
                      uint64_t *out_columns, int64_t *out_t);
} dart_minhash_loops;

DECLARE_TABLES(dart_minhash)

#endif
