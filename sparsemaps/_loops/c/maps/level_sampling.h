/* Samples of a multiset. A value is rounded to a number of whole levels, a row is the set of its
 * pairs (column, level), and each of k bins keeps one pair. Two rows agree in a bin with
 * probability sum min / sum max of their levels.
 *
 * A member of the set, a pair, has a random word that determines its bin and value in each round.
 * In the first rounds, each member falls into one bin, and a bin that was empty before the round
 * keeps the member with the least value. After these rounds, all members compete for each bin that
 * is still empty. Members differ only in their words. By symmetry, the member that a bin keeps of
 * the union of two sets is uniformly distributed, and the sets agree in the bin if both have that
 * member.
 *
 * Most levels of a heavy column cannot win, so their words are never computed. The levels of a
 * column from 2^b to 2^(b + 1) - 1 form a block. Each has an exponential time of rate 1, which
 * determines its value in the first round. One stream per block yields the smallest times in
 * ascending order, each with its level, up to a limit beyond which no time wins a bin. Exponential
 * times are memoryless: if a level has no time below LEVEL_TIME in the stream, its time is
 * LEVEL_TIME plus another exponential, which comes from the word of the level itself.
 *
 * Reference: Dahlgaard, Knudsen & Thorup, "Fast similarity sketching", FOCS 2017, for the rounds;
 * Haveliwala et al. 2000 for levels. */
#ifndef SPARSEMAPS_LEVEL_SAMPLING_H
#define SPARSEMAPS_LEVEL_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

#include "csr_block.h"
#include "levels.h"
#include "marked_bins.h"

enum {
    LEVEL_BITS = 4,      /* levels below 2^LEVEL_BITS belong to no block */
    LEVELS_TILE = 512,   /* members hashed at a time */
    LEVELS_KEPT = 8192,  /* most members of a row whose words are kept */
    LEVELS_MORE = 16,    /* most members written at a time */
    LEVEL_STREAMS = 4096 /* of blocks, read at a time */
};

/* Streams of blocks, each at the time of its latest point. */
typedef struct {
    uint64_t words[LEVEL_STREAMS];   /* of the next point */
    uint64_t starts[LEVEL_STREAMS];  /* start of the words of the points after it */
    uint64_t columns[LEVEL_STREAMS]; /* start of the words of the column */
    uint64_t ids[LEVEL_STREAMS];
    double times[LEVEL_STREAMS];
    uint64_t counts[LEVEL_STREAMS]; /* levels of the column in the row */
    uint64_t bits[LEVEL_STREAMS];   /* the first level of the block is 2^bits */
    uint32_t left[LEVEL_STREAMS];   /* streams whose latest point is below the limit */
} level_streams;

/* Scratch memory for a row of up to n entries; m = max(n, LEVELS_KEPT) + LEVELS_MORE. The struct
 * and its arrays of LEVELS_TILE items are aligned to 64 bytes. */
typedef struct {
    double weights[LEVELS_TILE];
    uint64_t values[LEVELS_TILE];
    uint64_t products[LEVELS_TILE]; /* the bin of each value is in the upper half */
    uint32_t numbers[LEVELS_TILE];  /* alternatively, the bin */
    uint32_t hits[LEVELS_TILE];
    uint64_t tile_starts[LEVELS_TILE], tile_ids[LEVELS_TILE];
    uint32_t tile_members[LEVELS_TILE];
    uint32_t empty[MARKED_BINS / 32]; /* bitmask of the bins that were empty before the round */
    level_streams streams;
    uint64_t *starts;  /* m: words of level 0 of each entry, then of other members */
    uint64_t *ids;     /* m: 2^(LEVEL_BITS + 1) * position of the entry + level, if low */
    uint32_t *members; /* m: levels of members, if high */
    uint32_t *counts;  /* n: number of levels per entry */
    uint64_t *heavy;   /* n: entries with levels in blocks */
    uint64_t *bins;    /* k values */
    uint32_t *high;    /* k: the level in a bin, if it is in a block */
} level_scratch;

typedef struct {
    uint64_t key;
    int is_signed;
    double power;
    double resolution;
    uint64_t k;
} level_map;

typedef struct {
    /* Sample a row: the column and the level for each of the k bins. Return the number of entries
     * that have levels: 0 if there is no sample, -1 if an entry has 2^31 levels or more or the row
     * more than 2^34. */
    ptrdiff_t (*sample_row)(const csr_block *rows, ptrdiff_t row, const level_map *map,
                            level_scratch *scratch, uint64_t *columns, int64_t *levels);
} level_sampling_loops;

DECLARE_TABLES(level_sampling)

#endif
