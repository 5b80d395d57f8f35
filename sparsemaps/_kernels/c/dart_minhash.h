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

#include "levels.h"
#include "random.h"

/* Parts of an entry that are looked at: those below have 4^-24 of its darts. */
enum { DART_PARTS = 24 };
/* Below the row's largest weight; entries beyond have 4^-64 of its darts. */
enum { DART_LOWEST_PART = 64 };
/* Words of one dart. */
enum { DART_WORDS = 3 };

typedef struct {
    double rank;
    int64_t position; /* of the entry, -1 for none */
    int64_t part;
    int64_t number;
} dart_t;

INLINE uint64_t part_start(uint64_t start, int64_t part)
{
    return start + (uint64_t)part * UINT64_C(0xd1342543de82ef95);
}

INLINE uint64_t dart_word(uint64_t part, uint64_t number, uint64_t which)
{
    return word(part, DART_WORDS * number + which);
}

/* An exponential of rate 1 from 64 bits: exact where it is small, as for the rare darts of low
 * parts, of 24 bits elsewhere. */
INLINE double exponential(uint64_t bits)
{
    if (bits >> 52 == 0) {
        double v = ((double)bits + 0.5) * 0x1p-64;
        return v * (1.0 + v * (0.5 + v * (1.0 / 3.0)));
    }
    return (double)-log_f32((float)(int32_t)((~bits >> 40) | 1) * 0x1p-24f);
}

/* The darts of a part below `weight` and `limit`, each to its bucket; all relative. `scale` is the
 * part's least weight, 4^m. */
INLINE void throw_darts(uint64_t part, double scale, double weight, double limit,
                        uint64_t n_buckets, int64_t position, int64_t number_of_part,
                        dart_t *buckets)
{
    const double mean = 1.0 / (3.0 * scale);
    double rank = 0;
    for (uint64_t number = 0;; number++) {
        rank += mean * exponential(dart_word(part, number, 0));
        if (!(rank < limit))
            return;
        double at = scale * (1.0 + 3.0 * ((double)(dart_word(part, number, 1) >> 11) * 0x1p-53));
        if (at >= weight)
            continue;
        dart_t *bucket = buckets + hash_bucket(dart_word(part, number, 2), n_buckets);
        if (rank < bucket->rank) {
            bucket->rank = rank;
            bucket->position = position;
            bucket->part = number_of_part;
            bucket->number = (int64_t)number;
        }
    }
}

/* The part that a positive normal number lies in: half its binary exponent, rounded down. */
INLINE int part_of(double weight)
{
    int exponent = (int)(double_to_bits(weight) >> 52) - 1023;
    return exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2);
}

typedef struct {
    /* Which of an entry's parts may have a dart below the limit, as bits. An exponential is at least
     * its 64 bits as a fraction, so that most parts are done with here. */
    uint32_t (*parts_with_darts)(uint64_t start, int64_t part, const uint64_t *limits);
} dart_minhash_loops;

DECLARE_TABLES(dart_minhash)

#endif
