#include "minhash.h"

#include "random.h"
#include "simd.h"

/* A bin holds, from the top: a bit that is set while the round may still change it; a value; the
 * position of the member in the row, which decides between equal values. Rows are in the order of
 * their columns, so that it is the lower column that wins, whatever the order of the input; of n
 * members two have equal values with a probability of about n^3 / 2^64. */
#define OPEN (UINT64_C(1) << 63)
#define EMPTY UINT64_MAX
#define STEP                                                                                       \
    UINT64_C(0x9e3779b97f4a7c15) /* from one word of a column to the next, as in random.h */

enum { SHORT = 128 }; /* rounds of fewer members are hashed several at once */

INLINE uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* All ones below the least power of two above n: no position is all ones, so no bin looks empty. */
static uint64_t position_mask(ptrdiff_t n)
{
    uint64_t mask = 1;
    while (mask <= (uint64_t)n)
        mask <<= 1;
    return mask - 1;
}

static void column_starts(const void *columns, int itemsize, ptrdiff_t first, ptrdiff_t n,
                          uint64_t key, uint64_t *restrict starts)
{
    const int32_t *narrow = (const int32_t *)columns + first;
    const int64_t *wide = (const int64_t *)columns + first;
    if (itemsize == 4)
        for (ptrdiff_t i = 0; i < n; i++)
            starts[i] = column_start(key, (uint64_t)narrow[i]);
    else
        for (ptrdiff_t i = 0; i < n; i++)
            starts[i] = column_start(key, (uint64_t)wide[i]);
}

/* Bins and values of n members of a round. A word's upper half, times k, has the bin as its upper
 * half and, as its lower half, where the word lies within the bin; the word's lower half makes that
 * value longer. */
static void hash_members(const uint64_t *restrict starts, ptrdiff_t n, uint64_t round, uint64_t k,
                         uint64_t mask, const uint64_t *restrict positions,
                         uint32_t *restrict numbers, uint64_t *restrict values)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t word = mix64(starts[i] + (round + 1) * STEP);
        uint64_t product = (word >> 32) * k;
        uint64_t value = (product << 32 | (word & UINT32_MAX)) >> 1;
        numbers[i] = (uint32_t)(product >> 32);
        values[i] = (value & ~mask) | positions[i];
    }
}

/* The first round, in which all bins are empty. */
static void fill_bins(const uint32_t *restrict numbers, const uint64_t *restrict values,
                      ptrdiff_t n, uint64_t *restrict bins)
{
    for (ptrdiff_t i = 0; i < n; i++)
        bins[numbers[i]] = smaller(bins[numbers[i]], values[i]);
}

static ptrdiff_t count_empty(const uint64_t *bins, ptrdiff_t k)
{
    ptrdiff_t total = 0;
    for (ptrdiff_t j = 0; j < k; j++)
        total += bins[j] == EMPTY;
    return total;
}

/* Which members go to a bin that is OPEN; returns how many. */
static ptrdiff_t find_hits(const uint32_t *restrict numbers, ptrdiff_t n,
                           const uint64_t *restrict bins, uint32_t *restrict hits)
{
    ptrdiff_t n_hits = 0, i = 0;
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    /* The upper halves of 16 bins at a time, of which the sign is OPEN. */
    const int *upper_halves = (const int *)bins + 1;
    __m512i position = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (; i + 16 <= n; i += 16) {
        __m512i bin = _mm512_loadu_si512(numbers + i);
        __mmask16 open = _mm512_movepi32_mask(_mm512_i32gather_epi32(bin, upper_halves, 8));
        _mm512_storeu_si512(hits + n_hits, _mm512_maskz_compress_epi32(open, position));
        position = _mm512_add_epi32(position, _mm512_set1_epi32(16));
        n_hits += __builtin_popcount(open);
    }
#endif
    for (; i < n; i++) {
        hits[n_hits] = (uint32_t)i;
        n_hits += (ptrdiff_t)(bins[numbers[i]] >> 63);
    }
    return n_hits;
}

/* A later round: members that go to a bin which was empty before it. `n_filled` bins were filled in
 * this round already; returns how many there are now. */
static ptrdiff_t fill_empty_bins(const uint32_t *restrict numbers, const uint64_t *restrict values,
                                 ptrdiff_t n, uint64_t *restrict bins, uint32_t *restrict filled,
                                 ptrdiff_t n_filled, uint32_t *restrict hits)
{
    const ptrdiff_t n_hits = find_hits(numbers, n, bins, hits);
    for (ptrdiff_t h = 0; h < n_hits; h++) {
        uint32_t bin = numbers[hits[h]];
        uint64_t before = bins[bin];
        filled[n_filled] = bin;
        n_filled += before == EMPTY;
        bins[bin] = smaller(before, values[hits[h]] | OPEN);
    }
    return n_filled;
}

INLINE void close_bins(const uint32_t *filled, ptrdiff_t n_filled, uint64_t *bins)
{
    for (ptrdiff_t f = 0; f < n_filled; f++)
        bins[filled[f]] &= ~OPEN;
}

/* The rounds before round k of a short set: copies of its starts, each a round further, have as
 * many rounds hashed at once. Returns how many bins are left empty. */
static ptrdiff_t short_rounds(const void *columns, int itemsize, ptrdiff_t n, uint64_t key,
                              uint64_t k, minhash_scratch *s)
{
    const ptrdiff_t together = SHORT / n;
    const uint64_t mask = position_mask(n);
    ptrdiff_t n_empty = (ptrdiff_t)k;
    column_starts(columns, itemsize, 0, n, key, s->starts);
    for (ptrdiff_t copy = 0; copy < together; copy++)
        for (ptrdiff_t i = 0; i < n; i++) {
            s->starts[copy * n + i] = s->starts[i] + (uint64_t)copy * STEP;
            s->positions[copy * n + i] = (uint64_t)i;
        }
    for (uint64_t round = 0; round < k && n_empty > 0; round += (uint64_t)together) {
        hash_members(s->starts, together * n, round, k, mask, s->positions, s->numbers, s->values);
        for (ptrdiff_t r = 0; r < together && round + (uint64_t)r < k && n_empty > 0; r++) {
            ptrdiff_t n_filled = fill_empty_bins(s->numbers + r * n, s->values + r * n, n, s->bins,
                                                 s->filled, 0, s->hits);
            close_bins(s->filled, n_filled, s->bins);
            n_empty -= n_filled;
        }
    }
    return n_empty;
}

/* The starts of a tile of members, from the scratch if they are kept there. */
INLINE const uint64_t *tile_starts(const void *columns, int itemsize, ptrdiff_t first, ptrdiff_t n,
                                   ptrdiff_t n_members, uint64_t key, int again, minhash_scratch *s)
{
    uint64_t *starts = n_members <= MEMBERS_KEPT ? s->starts + first : s->starts;
    if (!again || n_members > MEMBERS_KEPT)
        column_starts(columns, itemsize, first, n, key, starts);
    return starts;
}

/* The same for a longer set. */
static ptrdiff_t long_rounds(const void *columns, int itemsize, ptrdiff_t n, uint64_t key,
                             uint64_t k, minhash_scratch *s)
{
    const uint64_t mask = position_mask(n);
    ptrdiff_t n_empty = (ptrdiff_t)k;
    for (uint64_t round = 0; round < k && n_empty > 0; round++) {
        ptrdiff_t n_filled = 0;
        for (ptrdiff_t first = 0; first < n; first += MEMBERS_TILE) {
            ptrdiff_t count = n - first < MEMBERS_TILE ? n - first : MEMBERS_TILE;
            const uint64_t *starts =
                tile_starts(columns, itemsize, first, count, n, key, round > 0, s);
            for (ptrdiff_t i = 0; i < count; i++)
                s->positions[i] = (uint64_t)(first + i);
            hash_members(starts, count, round, k, mask, s->positions, s->numbers, s->values);
            if (round == 0)
                fill_bins(s->numbers, s->values, count, s->bins);
            else
                n_filled = fill_empty_bins(s->numbers, s->values, count, s->bins, s->filled,
                                           n_filled, s->hits);
        }
        close_bins(s->filled, n_filled, s->bins);
        n_empty = round == 0 ? count_empty(s->bins, (ptrdiff_t)k) : n_empty - n_filled;
    }
    return n_empty;
}

/* Rounds k + j: all members go to bin j. */
static void last_rounds(const void *columns, int itemsize, ptrdiff_t n, uint64_t key, uint64_t k,
                        minhash_scratch *s)
{
    const uint64_t mask = position_mask(n);
    for (ptrdiff_t first = 0; first < n; first += MEMBERS_TILE) {
        ptrdiff_t count = n - first < MEMBERS_TILE ? n - first : MEMBERS_TILE;
        column_starts(columns, itemsize, first, count, key, s->starts);
        for (uint64_t j = 0; j < k; j++) {
            if (!(s->bins[j] & OPEN))
                continue;
            for (ptrdiff_t i = 0; i < count; i++) {
                uint64_t value = mix64(s->starts[i] + (k + j + 1) * STEP) >> 1;
                value = (value & ~mask) | (uint64_t)(first + i);
                s->bins[j] = smaller(s->bins[j], value | OPEN);
            }
        }
    }
}

static void sample(const void *columns, int itemsize, ptrdiff_t n, uint64_t key, uint64_t k,
                   minhash_scratch *s, int64_t *samples)
{
    const uint64_t mask = position_mask(n);
    ptrdiff_t n_empty;
    memset(s->bins, 0xff, k * sizeof(uint64_t));
    if (n <= SHORT)
        n_empty = short_rounds(columns, itemsize, n, key, k, s);
    else
        n_empty = long_rounds(columns, itemsize, n, key, k, s);
    if (n_empty > 0)
        last_rounds(columns, itemsize, n, key, k, s);
    for (uint64_t j = 0; j < k; j++) {
        uint64_t position = s->bins[j] & mask;
        samples[j] = itemsize == 4 ? ((const int32_t *)columns)[position]
                                   : ((const int64_t *)columns)[position];
    }
}

static void codes(const int64_t *restrict samples, ptrdiff_t k, uint64_t key, int bits,
                  int64_t *restrict out)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (ptrdiff_t j = 0; j < k; j++)
        out[j] = (int64_t)(column_start(key + (uint64_t)j * STEP, (uint64_t)samples[j]) & mask);
}

static int any_zero_f32(const float *values, ptrdiff_t n)
{
    int found = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        found |= values[i] == 0;
    return found;
}

static int any_zero_f64(const double *values, ptrdiff_t n)
{
    int found = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        found |= values[i] == 0;
    return found;
}

const minhash_loops TABLE(minhash) = {
    .sample = sample,
    .codes = codes,
    .any_zero_f32 = any_zero_f32,
    .any_zero_f64 = any_zero_f64,
};
