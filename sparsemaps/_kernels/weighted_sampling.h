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

#include <stddef.h>
#include "random.h"

enum { TILE = 64 }; /* samples handled together */

/* What is smaller has probability 2^-41; it keeps |t| below 745 * 2^20 < 2^31. */
#define SMALLEST_R 0x1p-20f

typedef struct {
    uint64_t column;
    float log_weight;
    int32_t row;      /* whose state to update */
    uint32_t position; /* what to remember of the entry */
} icws_entry;

typedef struct {
    float least[TILE];      /* ln a of the best entry so far */
    int32_t position[TILE]; /* its position */
    int32_t t[TILE];
} icws_state;

typedef struct {
    float r[TILE], inverse_r[TILE], beta[TILE], q[TILE];
} icws_parameters;

INLINE void icws_draw(uint64_t key, uint64_t column, uint64_t first_sample,
                      icws_parameters *restrict p)
{
    uint32_t u[4][TILE], v[TILE];
    const uint64_t start = column_start(key, column);
    for (int j = 0; j < TILE; j++) {
        uint64_t a = word(start, 2 * (first_sample + (uint64_t)j));
        uint64_t b = word(start, 2 * (first_sample + (uint64_t)j) + 1);
        u[0][j] = (uint32_t)(a >> 32);
        u[1][j] = (uint32_t)a & UINT32_C(0xffffff00);
        u[2][j] = (uint32_t)(b >> 32);
        u[3][j] = (uint32_t)b & UINT32_C(0xffffff00);
        /* The upper 24 bits of each half make a uniform; of the four bytes left, three make beta:
         * two are in u[0] and u[2] (below their 24 bits), the third is the lowest of a. */
        v[j] = ((uint32_t)(a >> 32) & 0xff) << 16 | ((uint32_t)(b >> 32) & 0xff) << 8
               | ((uint32_t)a & 0xff);
    }
    for (int j = 0; j < TILE; j++) {
        float r = -log_f32(open_uniform(u[0][j]) * open_uniform(u[1][j]));
        float c = -log_f32(open_uniform(u[2][j]) * open_uniform(u[3][j]));
        float beta = (float)(int32_t)v[j] * 0x1p-24f;
        r = r < SMALLEST_R ? SMALLEST_R : r;
        p->r[j] = r;
        p->inverse_r[j] = 1.0f / r;
        p->beta[j] = beta;
        p->q[j] = log_f32(c) + r * (beta - 1.0f);
    }
}

INLINE void icws_update(const icws_parameters *restrict p, float log_weight, int32_t position,
                        icws_state *restrict state)
{
    for (int j = 0; j < TILE; j++) {
        float z = log_weight * p->inverse_r[j] + p->beta[j];
        int32_t t = (int32_t)z; /* towards zero; floor has no vector form before SSE4.1 */
        t -= (float)t > z;
        float log_a = p->q[j] - p->r[j] * (float)t;
        int better = log_a < state->least[j];
        state->least[j] = better ? log_a : state->least[j];
        state->position[j] = better ? position : state->position[j];
        state->t[j] = better ? t : state->t[j];
    }
}

/* Update the states of the entries' rows. Entries of one column must be neighbours: they share one
 * draw of the parameters. Among equal a the first entry stays. */
CLONES static void icws_tile(uint64_t key, uint64_t first_sample, const icws_entry *entries,
                             ptrdiff_t n, icws_state *states)
{
    icws_parameters p;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (i == 0 || entries[i].column != entries[i - 1].column)
            icws_draw(key, entries[i].column, first_sample, &p);
        icws_update(&p, entries[i].log_weight, (int32_t)entries[i].position,
                    &states[entries[i].row]);
    }
}

#endif
