/* Samples of a multiset: a value is so many whole levels, a row the set of its pairs (column, level),
 * and each of k bins keeps one of them. Two rows agree in a bin with probability sum min / sum max of
 * their levels.
 *
 * A member of the set, a pair, has a random word, and its bin and value in each round are functions
 * of that word. In the first round, and in some more, each member goes to one bin; a bin that was
 * empty before the round keeps the member of least value. Then all members compete for each bin that
 * is still empty. Members differ in nothing but their words. Hence the member that a bin keeps of
 * the union of two sets is any of them alike, and the sets agree where it is one that both have.
 *
 * Most levels of a heavy column have no chance, so their words are not computed. The levels of a
 * column from 2^b to 2^(b + 1), a block, have exponential times of rate 1, from which their values
 * in the first round follow. The first times come in ascending order from one stream of the block,
 * each with its level, up to a limit beyond which nothing wins a bin. Exponential times have no
 * memory: the time of a level that has none below LEVEL_TIME is LEVEL_TIME and another one, which
 * follows from the level's own word.
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
    LEVEL_BITS = 4,      /* lower levels than 2^LEVEL_BITS are in no block */
    LEVELS_TILE = 512,   /* members that are hashed together */
    LEVELS_KEPT = 8192,  /* members of a row, up to which their words are kept */
    LEVELS_MORE = 16,    /* members that are written at once, at most */
    LEVEL_STREAMS = 4096 /* of blocks, that are read together */
};

/* Streams of blocks, each at the time of its last point. */
typedef struct {
    uint64_t words[LEVEL_STREAMS];   /* of the next point */
    uint64_t starts[LEVEL_STREAMS];  /* where the words of the points after it start */
    uint64_t columns[LEVEL_STREAMS]; /* where the words of its column start */
    uint64_t ids[LEVEL_STREAMS];
    double times[LEVEL_STREAMS];
    uint64_t counts[LEVEL_STREAMS]; /* levels of the column in the row */
    uint64_t bits[LEVEL_STREAMS];   /* the first level of the block is 2^bits */
    uint32_t left[LEVEL_STREAMS];   /* those whose last point is below the limit */
} level_streams;

/* Memory of a row of up to n entries; m = max(n, LEVELS_KEPT) + LEVELS_MORE. Arrays of a tile begin
 * at multiples of 64 bytes, as the memory does. */
typedef struct {
    double weights[LEVELS_TILE];
    uint64_t values[LEVELS_TILE];
    uint64_t products[LEVELS_TILE]; /* the bin of each value is the upper half, */
    uint32_t numbers[LEVELS_TILE];  /* or this */
    uint32_t hits[LEVELS_TILE];
    uint64_t tile_starts[LEVELS_TILE], tile_ids[LEVELS_TILE];
    uint32_t tile_members[LEVELS_TILE];
    uint32_t empty[MARKED_BINS / 32]; /* a bit for each bin that was empty before the round */
    level_streams streams;
    uint64_t *starts;  /* m: the words of level 0 of each entry, then those of other members */
    uint64_t *ids;     /* m: 2^(LEVEL_BITS + 1) * position of the entry + level, if that is low */
    uint32_t *members; /* m: the levels of members, where they are high */
    uint32_t *counts;  /* n: levels of an entry */
    uint64_t *heavy;   /* n: entries that have levels in blocks */
    uint64_t *bins;    /* k */
    uint32_t *high;    /* k: the level in a bin, where it is in a block */
} level_scratch;

typedef struct {
    uint64_t key;
    int is_signed;
    double power;
    double resolution;
    uint64_t k;
} level_map;

typedef struct {
    /* Sample row `row`: the column and the level for each of the k bins. Returns the number of entries
     * that have levels: 0 if there is no sample, -1 if an entry has 2^31 levels or more, or the row
     * more than 2^34. */
    ptrdiff_t (*sample_row)(const csr_block *rows, ptrdiff_t row, const level_map *map,
                            level_scratch *scratch, uint64_t *columns, int64_t *levels);
} level_sampling_loops;

DECLARE_TABLES(level_sampling)

#endif
