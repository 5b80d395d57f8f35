#include "random_binning.h"

#include "random.h"
#include "vectors.h"

/* The parameters of one column. */
typedef struct {
    double inverse_pitch[BINNING_TILE], shift[BINNING_TILE];
    uint64_t salt[BINNING_TILE], at_zero[BINNING_TILE];
} binning_parameters;

INLINE void draw(uint64_t start, uint64_t first_grid, double gamma, const double *inverse_pitches,
                 binning_parameters *restrict p)
{
    uint64_t first[BINNING_TILE];
    for (int j = 0; j < BINNING_TILE; j++) {
        uint64_t counter = 3 * (first_grid + (uint64_t)j);
        uint64_t second = word(start, counter + 1);
        first[j] = word(start, counter);
        p->salt[j] = word(start, counter + 2);
        p->at_zero[j] = mix64(p->salt[j] - 1);
        p->shift[j] = ((double)(int32_t)(second >> 33) + 0.5) * 0x1p-31;
    }
    if (inverse_pitches) {
        for (int j = 0; j < BINNING_TILE; j++)
            p->inverse_pitch[j] = gamma * inverse_pitches[first[j] >> (64 - BINNING_PITCH_BITS)];
        return;
    }
    for (int j = 0; j < BINNING_TILE; j++) {
        float u = open_uniform((uint32_t)(first[j] >> 32)), v = open_uniform((uint32_t)first[j]);
        p->inverse_pitch[j] = gamma / (double)-log_f32(u * v);
    }
}

INLINE void add_entry(const binning_parameters *restrict p, double x, uint64_t *restrict sums)
{
    const double largest = 0x1p51, to_integer = 0x1.8p52, scaled = x * 0x1p-64;
    for (int j = 0; j < BINNING_TILE; j++) {
        double z = x * p->inverse_pitch[j] - p->shift[j];
        double bin = (z + to_integer) - to_integer; /* round to nearest */
        bin -= bin > z ? 1.0 : 0.0;
        uint64_t number = double_to_bits(bin + to_integer) - UINT64_C(0x4338000000000000);
        /* Larger numbers have no fraction. Their bits distinguish them, scaled to avoid
         * overflow. */
        double far = scaled * (p->inverse_pitch[j] * 0x1p-64);
        number = z < largest && z > -largest ? number : double_to_bits(far);
        sums[j] += mix64(p->salt[j] + number) - p->at_zero[j];
    }
}

static void take_codes(uint64_t first_grid, uint64_t grid_words, int bits, const uint64_t *sums,
                       int64_t *codes)
{
    for (int j = 0; j < BINNING_TILE; j++)
        codes[j] =
            (int64_t)(mix64(sums[j] + word(grid_words, first_grid + (uint64_t)j)) >> (64 - bits));
}

#define TEMPLATE "random_binning.template.h"
#include "each_value.h"

#define LOOPS(TYPE) {.add = add_##TYPE, .codes = take_codes}
const random_binning_loops TABLE(random_binning)[] = OF_EACH_VALUE(LOOPS);
