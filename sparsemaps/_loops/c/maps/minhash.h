/* Fast similarity sketching of a set (Dahlgaard, Knudsen & Thorup 2017): each of k bins keeps one
 * member, and two sets agree in a bin with probability equal to their Jaccard similarity.
 *
 * In round t, each member falls into one bin with a value. A bin that was empty before the round
 * keeps the member with the least value. Rounds stop once no bin is empty. */
#ifndef SPARSEMAPS_MINHASH_H
#define SPARSEMAPS_MINHASH_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "marked_bins.h"

/* Members hashed at once; largest set whose starts are kept between rounds. */
enum { MEMBERS_TILE = 512, MEMBERS_KEPT = 16384 };

typedef struct {
    uint64_t starts[MEMBERS_KEPT]; /* starts of the members' words */
    uint64_t values[MEMBERS_TILE];
    uint32_t numbers[MEMBERS_TILE];  /* bin of each value */
    uint32_t hits[MEMBERS_TILE];     /* members that may change their bin */
    uint32_t open[MARKED_BINS / 32]; /* bitmask of the bins that the round may still fill */
    uint64_t *bins;                  /* k values */
    uint32_t *filled;                /* k + 1: bins filled in this round */
    int knows_open;                  /* whether `open` is in use for this row */
} minhash_scratch;

typedef struct {
    /* Choose the member that each of k bins keeps, from n > 0 columns of `itemsize` 4 or 8
     * bytes. */
    void (*sample)(const void *columns, size_t itemsize, ptrdiff_t n, uint64_t key, uint64_t k,
                   minhash_scratch *scratch, int64_t *samples);
    /* Hash each of the k samples to `bits` bits. Each bin has a hash function of its own, so that
     * different samples agree by chance independently in each bin. */
    void (*codes)(const int64_t *samples, ptrdiff_t k, uint64_t key, int bits, int64_t *codes);
} minhash_loops;

DECLARE_TABLES(minhash)

#endif
