/* The inner loops of consistent weighted sampling (Ioffe 2010), for one tile of samples.
 *
 * For sample j, an entry of column i and weight w has
 *
 *     t = floor(ln w / r + beta),   ln a = ln c - r (t - beta) - r = q - r t,   q = ln c + r (beta - 1)
 *
 * with r, c ~ Gamma(2, 1) and beta ~ U(0, 1) functions of (key, i, j), and the sample is the entry
 * of least a. Everything is float32: an error of 2^-24 in ln w moves the weight by as little as
 * that, and two equal weights still agree in all samples. */
#ifndef SPARSEMAPS_WEIGHTED_SAMPLING_H
#define SPARSEMAPS_WEIGHTED_SAMPLING_H

#include "groups.h"

enum { ICWS_TILE = 16 }; /* samples handled together */

typedef struct {
    float least[ICWS_TILE];      /* ln a of the best entry so far */
    int32_t position[ICWS_TILE]; /* of the best entry, by group_t.positions; -1 before the first */
    int32_t t[ICWS_TILE];
} icws_state;

typedef struct {
    /* Set the states of n rows before their first entry. */
    void (*reset)(icws_state *states, ptrdiff_t n);
    /* Update the states of a group's rows by its entries. Of equal a the first entry stays. */
    void (*add)(uint64_t first_sample, const group_t *group, icws_state *states);
} weighted_sampling_loops;

DECLARE_TABLES(weighted_sampling)

#endif
