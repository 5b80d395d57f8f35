/* Bins of a sketch of a set. Each bin keeps the member with the least value. */
#ifndef SPARSEMAPS_BINS_H
#define SPARSEMAPS_BINS_H

#include "marked_bins.h"
#include "simd.h"

#define EMPTY UINT64_MAX
#define STEP UINT64_C(0x9e3779b97f4a7c15) /* between successive words of a column, as in random.h */

INLINE uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Return the mask of bits below the least power of two above n. No position equals the mask, so no
 * filled bin looks EMPTY. */
static uint64_t position_mask(ptrdiff_t n)
{
    uint64_t mask = 1;
    while (mask <= (uint64_t)n)
        mask <<= 1;
    return mask - 1;
}

/* Multiply the upper half of a word by k: the upper half of the result is the bin, the lower half
 * the fraction within the bin. */
INLINE uint64_t bin_and_fraction(uint64_t word, uint64_t k)
{
    return (word >> 32) * k;
}

static ptrdiff_t count_empty(const uint64_t *bins, ptrdiff_t k)
{
    ptrdiff_t total = 0;
    for (ptrdiff_t j = 0; j < k; j++)
        total += bins[j] == EMPTY;
    return total;
}

/* Set a bit for each of k <= MARKED_BINS bins whose highest bit is set, as in EMPTY. Return the
 * number of bits set. */
static ptrdiff_t mark_bins(const uint64_t *bins, uint64_t k, uint32_t *restrict marks)
{
    enum { LANES = REGISTER_BYTES / 8 };
    ptrdiff_t total = 0;
    uint64_t j = 0;
    memset(marks, 0, MARKED_BINS / 8);
    for (; j + LANES <= k; j += LANES) {
        register_u64 some;
        memcpy(&some, bins + j, sizeof some);
        marks[j / 32] |= (uint32_t)register_bits_f64(some) << j % 32;
    }
    for (; j < k; j++)
        marks[j / 32] |= (uint32_t)(bins[j] >> 63) << j % 32;
    for (int i = 0; i < MARKED_BINS / 32; i++)
        total += __builtin_popcount(marks[i]);
    return total;
}

#if defined(__AVX512F__)
/* Positions of the first 16 members, for loops that process 16 at a time. */
#define FIRST_POSITIONS _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

/* Write the chosen positions, and advance to the next 16. Return how many were written. */
INLINE int write_positions(uint32_t *out, __mmask16 chosen, __m512i *position)
{
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32(chosen, *position));
    *position = _mm512_add_epi32(*position, _mm512_set1_epi32(16));
    return __builtin_popcount(chosen);
}
#endif

/* Find which of n members fall into a marked bin. Return their number. */
static ptrdiff_t find_marked(const uint32_t *restrict numbers, ptrdiff_t n,
                             const uint32_t *restrict marks, uint32_t *restrict hits)
{
    ptrdiff_t n_hits = 0, i = 0;
#if defined(__AVX512F__)
    const __m512i known = _mm512_loadu_si512(marks), one = _mm512_set1_epi32(1);
    __m512i position = FIRST_POSITIONS;
    for (; i + 16 <= n; i += 16) {
        const __m512i bin = _mm512_loadu_si512(numbers + i);
        const __m512i words = _mm512_permutexvar_epi32(_mm512_srli_epi32(bin, 5), known);
        const __mmask16 hit = _mm512_test_epi32_mask(words, _mm512_rolv_epi32(one, bin));
        n_hits += write_positions(hits + n_hits, hit, &position);
    }
#endif
    for (; i < n; i++) {
        hits[n_hits] = (uint32_t)i;
        n_hits += marks[numbers[i] / 32] >> numbers[i] % 32 & 1;
    }
    return n_hits;
}

/* Return the largest value in any bin. A member whose value is not below it cannot change a bin. */
static uint64_t largest_value(const uint64_t *bins, ptrdiff_t k)
{
    uint64_t largest = 0;
    for (ptrdiff_t j = 0; j < k; j++)
        largest = bins[j] > largest ? bins[j] : largest;
    return largest;
}

/* Find which of n members have a value below a bound. Return their number. */
static ptrdiff_t find_below(const uint64_t *restrict values, ptrdiff_t n, uint64_t bound,
                            uint32_t *restrict below)
{
    ptrdiff_t n_below = 0, i = 0;
#if defined(__AVX512F__)
    const __m512i bounds = _mm512_set1_epi64((long long)bound);
    __m512i position = FIRST_POSITIONS;
    for (const ptrdiff_t whole = n - n % 16; i < whole; i += 16) {
        __m512i low = _mm512_loadu_si512(values + i), high = _mm512_loadu_si512(values + i + 8);
        unsigned some = _mm512_cmplt_epu64_mask(low, bounds)
                        | (unsigned)_mm512_cmplt_epu64_mask(high, bounds) << 8;
        n_below += write_positions(below + n_below, (__mmask16)some, &position);
    }
#endif
    for (; i < n; i++) {
        below[n_below] = (uint32_t)i;
        n_below += values[i] < bound;
    }
    return n_below;
}

/* Find which of n numbers exceed a bound. Return how many do. */
static inline ptrdiff_t find_above(const uint32_t *restrict numbers, ptrdiff_t n, uint32_t bound,
                                   uint32_t *restrict above)
{
    ptrdiff_t n_above = 0, i = 0;
#if defined(__AVX512F__)
    const __m512i bounds = _mm512_set1_epi32((int)bound);
    __m512i position = FIRST_POSITIONS;
    for (; i + 16 <= n; i += 16) {
        const __mmask16 some = _mm512_cmpgt_epu32_mask(_mm512_loadu_si512(numbers + i), bounds);
        n_above += write_positions(above + n_above, some, &position);
    }
#endif
    for (; i < n; i++) {
        above[n_above] = (uint32_t)i;
        n_above += numbers[i] > bound;
    }
    return n_above;
}

#endif
