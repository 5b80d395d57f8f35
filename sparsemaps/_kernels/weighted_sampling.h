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

#include "groups.h"

enum { TILE = 16 }; /* samples handled together */

/* What is smaller has probability 2^-41; it keeps |t| below 745 * 2^20 < 2^31. */
#define SMALLEST_R 0x1p-20f

typedef struct {
    float least[TILE];      /* ln a of the best entry so far */
    int32_t position[TILE]; /* of its column's, group_t.positions */
    int32_t t[TILE];
} icws_state;

typedef struct {
    float r[BATCH * TILE], inverse_r[BATCH * TILE], beta[BATCH * TILE], q[BATCH * TILE];
} icws_parameters;

/* The parameters of n columns, TILE of each one behind the other. */
INLINE void icws_draw(const uint64_t *restrict starts, int n, uint64_t first_sample,
                      icws_parameters *restrict p)
{
    uint32_t u[4][BATCH * TILE], v[BATCH * TILE];
    for (int c = 0; c < n; c++) {
        for (int j = 0; j < TILE; j++) {
            const int i = TILE * c + j;
            uint64_t a = word(starts[c], 2 * (first_sample + (uint64_t)j));
            uint64_t b = word(starts[c], 2 * (first_sample + (uint64_t)j) + 1);
            u[0][i] = (uint32_t)(a >> 32);
            u[1][i] = (uint32_t)a & UINT32_C(0xffffff00);
            u[2][i] = (uint32_t)(b >> 32);
            u[3][i] = (uint32_t)b & UINT32_C(0xffffff00);
            /* The upper 24 bits of each half make a uniform; of the four bytes left, three make
             * beta: two are in u[0] and u[2] (below their 24 bits), the third is the lowest of a. */
            v[i] = ((uint32_t)(a >> 32) & 0xff) << 16 | ((uint32_t)(b >> 32) & 0xff) << 8
                   | ((uint32_t)a & 0xff);
        }
    }
    for (int i = 0; i < TILE * n; i++) {
        float r = -log_f32(open_uniform(u[0][i]) * open_uniform(u[1][i]));
        float c = -log_f32(open_uniform(u[2][i]) * open_uniform(u[3][i]));
        float beta = (float)(int32_t)v[i] * 0x1p-24f;
        r = r < SMALLEST_R ? SMALLEST_R : r;
        p->r[i] = r;
        p->inverse_r[i] = 1.0f / r;
        p->beta[i] = beta;
        p->q[i] = log_f32(c) + r * (beta - 1.0f);
    }
}

/* Update the states of a group's rows; `log_weights` are the entries'. Among equal a the first
 * entry stays. */
CLONES static void icws_tile(uint64_t first_sample, const group_t *group, const float *log_weights)
{
    enum { N = TILE * sizeof(float) / sizeof(lanes_f32) };
    const uint32_t *places = group->places, *ends = group->ends;
    _Alignas(64) icws_parameters p;
    uint32_t i = 0;
    for (ptrdiff_t first = 0; first < group->n_columns; first += BATCH) {
        int n = group->n_columns - first < BATCH ? (int)(group->n_columns - first) : BATCH;
        const uint32_t end = *ends++;
        icws_draw(group->starts + first, n, first_sample, &p);
        while (i < end) {
            const uint32_t row = places[i] / BATCH;
            icws_state *state = (icws_state *)group->sums + row;
            lanes_f32 least[N];
            lanes_i32 position[N], t[N];
            memcpy(least, state->least, sizeof least);
            memcpy(position, state->position, sizeof position);
            memcpy(t, state->t, sizeof t);
            do {
                const int c = (int)(places[i] % BATCH);
                const int32_t here = (int32_t)group->positions[first + c];
                const lanes_f32 *r = (const lanes_f32 *)(p.r + TILE * c);
                const lanes_f32 *inverse_r = (const lanes_f32 *)(p.inverse_r + TILE * c);
                const lanes_f32 *beta = (const lanes_f32 *)(p.beta + TILE * c);
                const lanes_f32 *q = (const lanes_f32 *)(p.q + TILE * c);
                for (int v = 0; v < N; v++) {
                    lanes_f32 z = log_weights[i] * inverse_r[v] + beta[v];
                    lanes_i32 floor = LANES_CONVERT(lanes_i32, z); /* towards zero, as yet */
                    floor += LANES_LESS(z, LANES_CONVERT(lanes_f32, floor));
                    lanes_f32 log_a = q[v] - r[v] * LANES_CONVERT(lanes_f32, floor);
                    lanes_i32 better = LANES_LESS(log_a, least[v]);
                    least[v] = lanes_choose_f32(better, log_a, least[v]);
                    position[v] = lanes_choose_i32(better, (lanes_i32){0} + here, position[v]);
                    t[v] = lanes_choose_i32(better, floor, t[v]);
                }
                i++;
            } while (i < end && places[i] / BATCH == row);
            memcpy(state->least, least, sizeof least);
            memcpy(state->position, position, sizeof position);
            memcpy(state->t, t, sizeof t);
        }
    }
}

#endif
