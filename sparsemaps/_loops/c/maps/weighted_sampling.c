#include "weighted_sampling.h"

#include <math.h>

#include "random.h"
#include "simd.h"

/* Smaller values have probability 2^-41. The bound keeps |t| below 745 * 2^20 < 2^31. */
static const float smallest_r = 0x1p-20f;

/* Parameters of a batch of columns, ICWS_TILE per column. */
typedef struct {
    float r[GROUP_BATCH * ICWS_TILE], inverse_r[GROUP_BATCH * ICWS_TILE];
    float beta[GROUP_BATCH * ICWS_TILE], q[GROUP_BATCH * ICWS_TILE];
} icws_parameters;

/* Draw the parameters of n columns. */
INLINE void draw(const uint64_t *restrict starts, int n, uint64_t first_sample,
                 icws_parameters *restrict p)
{
    uint32_t u[4][GROUP_BATCH * ICWS_TILE], v[GROUP_BATCH * ICWS_TILE];
    for (int c = 0; c < n; c++) {
        for (int j = 0; j < ICWS_TILE; j++) {
            const int i = ICWS_TILE * c + j;
            uint64_t a = word(starts[c], 2 * (first_sample + (uint64_t)j));
            uint64_t b = word(starts[c], 2 * (first_sample + (uint64_t)j) + 1);
            u[0][i] = (uint32_t)(a >> 32);
            u[1][i] = (uint32_t)a & UINT32_C(0xffffff00);
            u[2][i] = (uint32_t)(b >> 32);
            u[3][i] = (uint32_t)b & UINT32_C(0xffffff00);
            /* The upper 24 bits of each half make a uniform. Three of the four remaining bytes make
             * beta: the lowest bytes of u[0] and u[2], and the lowest byte of a. */
            v[i] = ((uint32_t)(a >> 32) & 0xff) << 16 | ((uint32_t)(b >> 32) & 0xff) << 8
                   | ((uint32_t)a & 0xff);
        }
    }
    for (int i = 0; i < ICWS_TILE * n; i++) {
        float r = -log_f32(open_uniform(u[0][i]) * open_uniform(u[1][i]));
        float c = -log_f32(open_uniform(u[2][i]) * open_uniform(u[3][i]));
        float beta = (float)(int32_t)v[i] * 0x1p-24f;
        r = r < smallest_r ? smallest_r : r;
        p->r[i] = r;
        p->inverse_r[i] = 1.0f / r;
        p->beta[i] = beta;
        p->q[i] = log_f32(c) + r * (beta - 1.0f);
    }
}

static void reset(icws_state *states, ptrdiff_t n)
{
    for (ptrdiff_t row = 0; row < n; row++) {
        for (int j = 0; j < ICWS_TILE; j++) {
            states[row].least[j] = INFINITY;
            states[row].position[j] = -1;
            states[row].t[j] = 0;
        }
    }
}

static void add(uint64_t first_sample, const group_t *group, icws_state *states)
{
    enum { N = ICWS_TILE * sizeof(float) / sizeof(register_f32) };
    const uint32_t *slots = group->slots, *ends = group->batch_ends;
    const float *logarithms = group->logarithms;
    _Alignas(64) icws_parameters p;
    uint32_t i = 0;
    for (ptrdiff_t first = 0; first < group->n_columns; first += GROUP_BATCH) {
        const ptrdiff_t left = group->n_columns - first;
        const uint32_t end = *ends++;
        const uint32_t *positions = group->positions + first;
        draw(group->starts + first, left < GROUP_BATCH ? (int)left : GROUP_BATCH, first_sample, &p);
        while (i < end) {
            const uint32_t row = slots[i] / GROUP_BATCH;
            icws_state *state = states + row;
            register_f32 *least_of_row = (register_f32 *)state->least, least[N];
            register_i32 *position_of_row = (register_i32 *)state->position, position[N];
            register_i32 *t_of_row = (register_i32 *)state->t, t[N];
            for (int v = 0; v < N; v++) {
                least[v] = least_of_row[v];
                position[v] = position_of_row[v];
                t[v] = t_of_row[v];
            }
            do {
                const int c = (int)(slots[i] % GROUP_BATCH);
                const int32_t here = (int32_t)positions[c];
                const register_f32 *r = (const register_f32 *)(p.r + ICWS_TILE * c);
                const register_f32 *inverse_r = (const register_f32 *)(p.inverse_r + ICWS_TILE * c);
                const register_f32 *beta = (const register_f32 *)(p.beta + ICWS_TILE * c);
                const register_f32 *q = (const register_f32 *)(p.q + ICWS_TILE * c);
                for (int v = 0; v < N; v++) {
                    register_f32 z = logarithms[i] * inverse_r[v] + beta[v];
                    register_f32 floor = register_floor_f32(z);
                    register_f32 log_a = q[v] - r[v] * floor;
                    register_mask better = register_less_f32(log_a, least[v]);
                    least[v] = register_choose_f32(better, log_a, least[v]);
                    position[v] =
                        register_choose_i32(better, (register_i32){0} + here, position[v]);
                    t[v] = register_choose_i32(better, LANES_CONVERT(register_i32, floor), t[v]);
                }
                i++;
            } while (i < end && slots[i] / GROUP_BATCH == row);
            for (int v = 0; v < N; v++) {
                least_of_row[v] = least[v];
                position_of_row[v] = position[v];
                t_of_row[v] = t[v];
            }
        }
    }
}

const weighted_sampling_loops TABLE(weighted_sampling)[] = {{.reset = reset, .add = add}};
