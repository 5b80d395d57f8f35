/* Fast similarity sketching of a set (Dahlgaard, Knudsen & Thorup 2017): each of k bins keeps one
 * member, and two sets agree in a bin with the probability of their Jaccard similarity.
 *
 * In round t each member goes to one bin, with a value; a bin that was empty before the round keeps
 * the member of least value. The rounds end after the first one that leaves no bin empty. */
#ifndef SPARSEMAPS_MINHASH_H
#define SPARSEMAPS_MINHASH_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "marked_bins.h"

/* Members that are hashed at once; those whose starts are kept from one round to the next. */
enum { MEMBERS_TILE = 512, MEMBERS_KEPT = 16384 };

typedef struct {
    uint64_t starts[MEMBERS_KEPT]; /* where the words of members start */
    uint64_t values[MEMBERS_TILE];
    uint32_t numbers[MEMBERS_TILE];  /* a bin for each value */
    uint32_t hits[MEMBERS_TILE];     /* members that may change their bin */
    uint32_t open[MARKED_BINS / 32]; /* a bit for each bin that a round may still fill */
    uint64_t *bins;                  /* k */
    uint32_t *filled;                /* k + 1: bins that the round fills */
    int knows_open;                  /* whether the row has the bits */
} minhash_scratch;

typedef struct {
    /* For each of k bins the member that it keeps, of n > 0 columns of `itemsize` 4 or 8 bytes. */
    void (*sample)(const void *columns, size_t itemsize, ptrdiff_t n, uint64_t key, uint64_t k,
                   minhash_scratch *scratch, int64_t *samples);
    /* For each sample, `bits` bits of a hash of it. Each of the k has another hash, so that samples
     * that differ agree by chance independently. */
    void (*codes)(const int64_t *samples, ptrdiff_t k, uint64_t key, int bits, int64_t *codes);
} minhash_loops;

DECLARE_TABLES(minhash)

#endif
