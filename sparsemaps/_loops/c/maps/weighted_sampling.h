/* Inner loops of consistent weighted sampling (Ioffe 2010), for one tile of samples.
 *
 * For sample j, an entry in column i with weight w has
 *
 *     t = floor(ln w / r + beta),   ln a = ln c - r (t - beta) - r = q - r t,   q = ln c + r (beta - 1)
 *
 * where r, c ~ Gamma(2, 1) and beta ~ U(0, 1) are functions of (key, i, j). The sample is the entry
 * with the least a. All arithmetic is float32: an error of 2^-24 in ln w changes the weight by the
 * same relative amount, and equal weights still agree in all samples. */
#ifndef SPARSEMAPS_WEIGHTED_SAMPLING_H
#define SPARSEMAPS_WEIGHTED_SAMPLING_H

#include "groups.h"

enum { ICWS_TILE = 16 }; /* samples per tile */

typedef struct {
    float least[ICWS_TILE];      /* ln a of the best entry so far */
    int32_t position[ICWS_TILE]; /* position of the best entry (group_t.positions); -1 initially */
    int32_t t[ICWS_TILE];
} icws_state;

typedef struct {
    /* Initialise the states of n rows. */
    void (*reset)(icws_state *states, ptrdiff_t n);
    /* Update the states of a group's rows with its entries. On ties in a, the first entry wins. */
    void (*add)(uint64_t first_sample, const group_t *group, icws_state *states);
} weighted_sampling_loops;

DECLARE_TABLES(weighted_sampling)

#endif
