#include "sample_codes.h"

#include "random.h"

static void draw_keys(uint64_t key, uint64_t first, ptrdiff_t n, int t_bits,
                      uint64_t *restrict keys)
{
    const uint64_t n_words = t_bits > 0 ? SAMPLE_KEYS : SAMPLE_KEYS / 2;
    for (uint64_t c = 0; c < n_words; c++)
        for (ptrdiff_t j = 0; j < n; j++)
            *keys++ = word(key, SAMPLE_KEYS * (first + (uint64_t)j) + c);
}

/* Return the lowest `bits` bits of the upper half of a hash. Its three key words have stride n. */
INLINE uint64_t hash_bits(const uint64_t *keys, ptrdiff_t n, uint64_t x, int bits)
{
    const uint64_t key[3] = {keys[0], keys[n], keys[2 * n]};
    return pair_multiply(key, x) >> 32 & ((UINT64_C(1) << bits) - 1);
}

/* For a given column, different t* yield different words. */
INLINE uint64_t pair_word(uint64_t mixed, int64_t t)
{
    return mixed + (uint64_t)t * UINT64_C(0x9e3779b97f4a7c15);
}

INLINE void codes_of_row(const uint64_t *restrict keys, ptrdiff_t n, const uint64_t *restrict mixed,
                         const int64_t *restrict t, int bits, int t_bits, int64_t *restrict out)
{
    const uint64_t *pair_keys = keys + SAMPLE_KEYS / 2 * n;
    for (ptrdiff_t j = 0; j < n; j++) {
        uint64_t code = hash_bits(keys + j, n, mixed[j], bits);
        if (t_bits > 0) {
            code |= hash_bits(pair_keys + j, n, pair_word(mixed[j], t[j]), t_bits) << bits;
        }
        out[j] = (int64_t)code;
    }
}

static void codes(const uint64_t *keys, ptrdiff_t n_rows, ptrdiff_t n, const uint64_t *mixed,
                  const int64_t *t, int bits, int t_bits, int64_t *out)
{
    for (ptrdiff_t i = 0; i < n_rows * n; i += n) {
        if (t_bits > 0)
            codes_of_row(keys, n, mixed + i, t + i, bits, t_bits, out + i);
        else
            codes_of_row(keys, n, mixed + i, t + i, bits, 0, out + i);
    }
}

static void codes_of_pairs(const uint64_t *restrict keys, ptrdiff_t n,
                           const uint64_t *restrict columns, const int64_t *restrict t, int bits,
                           int64_t *restrict out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = (int64_t)hash_bits(keys + j, n, pair_word(mix64(columns[j]), t[j]), bits);
}

const sample_codes_loops TABLE(sample_codes)[] = {{
    .keys = draw_keys,
    .codes = codes,
    .codes_of_pairs = codes_of_pairs,
}};
