/* The positions of the bytes of a text that are not digits. Between two of them is a number, whose
 * length is then known before it is read.
 *
 * Reference: G. Langdale and D. Lemire, "Parsing gigabytes of JSON per second", The VLDB Journal 28,
 * 2019, whose two stages these are. */
#ifndef SPARSEMAPS_SEPARATORS_H
#define SPARSEMAPS_SEPARATORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

/* Bytes that are looked at together, and those whose separators are held at a time. */
enum { SEPARATORS_STEP = 64, SEPARATORS_WINDOW = 4096 };

typedef struct {
    const char *start, *stop; /* the separators of [start, stop) are held */
    const uint32_t *next;     /* the next one */
    const uint32_t *last;     /* beyond the last one */
    uint32_t offsets[SEPARATORS_WINDOW + SEPARATORS_STEP];
} separators_t;

/* Which of 64 bytes are no digits, the first as the lowest bit. */
INLINE uint64_t separators_of(const char *p)
{
#if defined(__AVX512BW__)
    __m512i digits = _mm512_sub_epi8(_mm512_loadu_si512(p), _mm512_set1_epi8('0'));
    return _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
#elif defined(__AVX2__)
    uint64_t marks = 0;
    for (int i = 0; i < 64; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(p + i));
        __m256i digits = _mm256_sub_epi8(bytes, _mm256_set1_epi8('0'));
        __m256i above = _mm256_cmpeq_epi8(_mm256_max_epu8(digits, _mm256_set1_epi8(10)), digits);
        marks |= (uint64_t)(uint32_t)_mm256_movemask_epi8(above) << i;
    }
    return marks;
#elif defined(__SSE2__)
    uint64_t marks = 0;
    for (int i = 0; i < 64; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(p + i));
        __m128i digits = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
        __m128i above = _mm_cmpeq_epi8(_mm_max_epu8(digits, _mm_set1_epi8(10)), digits);
        marks |= (uint64_t)(uint32_t)_mm_movemask_epi8(above) << i;
    }
    return marks;
#else
    uint64_t marks = 0;
    for (int i = 0; i < 64; i++)
        marks |= (uint64_t)((unsigned char)(p[i] - '0') > 9) << i;
    return marks;
#endif
}

/* Hold the separators from p on, of a window or up to `end`. */
static inline void find_separators(separators_t *separators, const char *p, const char *end)
{
    int64_t n = 0;
    ptrdiff_t size = end - p < SEPARATORS_WINDOW ? end - p : SEPARATORS_WINDOW;
    for (ptrdiff_t first = 0; first < size; first += SEPARATORS_STEP) {
        char last[SEPARATORS_STEP];
        const char *here = p + first;
        if (size - first < SEPARATORS_STEP) {
            memset(last, '0', sizeof last);
            memcpy(last, here, (size_t)(size - first));
            here = last;
        }
        uint64_t marks = separators_of(here);
        int n_marks = __builtin_popcountll(marks);
        for (int i = 0; i < n_marks; i += 8) { /* eight without a branch; some too many */
            for (int j = 0; j < 8; j++) {
                int bit = __builtin_ctzll(marks | UINT64_C(1) << 63);
                separators->offsets[n + i + j] = (uint32_t)(first + bit);
                marks &= marks - 1;
            }
        }
        n += n_marks;
    }
    separators->start = p;
    separators->stop = p + size;
    separators->next = separators->offsets;
    separators->last = separators->offsets + n;
}

/* Nothing is held yet. */
static inline void forget_separators(separators_t *separators, const char *p)
{
    separators->start = separators->stop = p;
    separators->next = separators->last = separators->offsets;
}

/* Make `next` the first separator from p on; p never goes back. Returns whether n of them from there
 * on are held. */
INLINE int hold_separators(separators_t *separators, const char *p, const char *end, int n)
{
    while (separators->next < separators->last && separators->start + *separators->next < p)
        separators->next++;
    if (separators->last - separators->next < n && separators->stop < end)
        find_separators(separators, p, end);
    return separators->last - separators->next >= n;
}

#endif
