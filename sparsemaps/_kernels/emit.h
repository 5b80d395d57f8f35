/* What is not zero among a run of sums, moved together: no branch on hashed places.
 *
 * The portable loop writes every sum, and the next one over it if it was zero. AVX-512 has an
 * instruction for it, which no compiler makes of that loop; both give the same. */
#ifndef SPARSEMAPS_EMIT_H
#define SPARSEMAPS_EMIT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "simd.h"

/* EMIT_SLACK: how far beyond the run the outputs may be written. */
enum { EMIT_RUN = 256, EMIT_SLACK = 16 };

#define DEFINE_COMPACT(NAME, VALUE, BITS)                                                          \
    static ptrdiff_t NAME(const VALUE *sums, ptrdiff_t n, VALUE *values, int32_t *places)          \
    {                                                                                              \
        ptrdiff_t n_out = 0;                                                                       \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            BITS bits; /* a comparison of floats would take a branch for NaN */                    \
            memcpy(&bits, &sums[i], sizeof bits);                                                  \
            values[n_out] = sums[i];                                                               \
            places[n_out] = (int32_t)i;                                                            \
            n_out += (BITS)(bits << 1) != 0;                                                       \
        }                                                                                          \
        return n_out;                                                                              \
    }

DEFINE_COMPACT(compact_f32_portable, float, uint32_t)
DEFINE_COMPACT(compact_f64_portable, double, uint64_t)

#if defined(SPARSEMAPS_CLONES)
#include <immintrin.h>

__attribute__((target("avx512f,avx512vl,popcnt"))) static ptrdiff_t
compact_f32_avx512(const float *sums, ptrdiff_t n, float *values, int32_t *places)
{
    const __m512i step = _mm512_set1_epi32(16);
    __m512i place = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i += 16) {
        __mmask16 within = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 sum = _mm512_maskz_loadu_ps(within, sums + i);
        __mmask16 kept = _mm512_cmp_ps_mask(sum, _mm512_setzero_ps(), _CMP_NEQ_UQ);
        _mm512_storeu_ps(values + n_out, _mm512_maskz_compress_ps(kept, sum));
        _mm512_storeu_si512(places + n_out, _mm512_maskz_compress_epi32(kept, place));
        place = _mm512_add_epi32(place, step);
        n_out += __builtin_popcount(kept);
    }
    return n_out;
}

__attribute__((target("avx512f,avx512vl,popcnt"))) static ptrdiff_t
compact_f64_avx512(const double *sums, ptrdiff_t n, double *values, int32_t *places)
{
    const __m256i step = _mm256_set1_epi32(8);
    __m256i place = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i += 8) {
        __mmask8 within = n - i >= 8 ? 0xff : (__mmask8)((1u << (n - i)) - 1);
        __m512d sum = _mm512_maskz_loadu_pd(within, sums + i);
        __mmask8 kept = _mm512_cmp_pd_mask(sum, _mm512_setzero_pd(), _CMP_NEQ_UQ);
        _mm512_storeu_pd(values + n_out, _mm512_maskz_compress_pd(kept, sum));
        _mm256_storeu_si256((__m256i *)(places + n_out), _mm256_maskz_compress_epi32(kept, place));
        place = _mm256_add_epi32(place, step);
        n_out += __builtin_popcount(kept);
    }
    return n_out;
}

static inline ptrdiff_t compact_f32(const float *sums, ptrdiff_t n, float *values, int32_t *places)
{
    return __builtin_cpu_supports("avx512vl") ? compact_f32_avx512(sums, n, values, places)
                                              : compact_f32_portable(sums, n, values, places);
}

static inline ptrdiff_t compact_f64(const double *sums, ptrdiff_t n, double *values,
                                    int32_t *places)
{
    return __builtin_cpu_supports("avx512vl") ? compact_f64_avx512(sums, n, values, places)
                                              : compact_f64_portable(sums, n, values, places);
}

#else
#define compact_f32 compact_f32_portable
#define compact_f64 compact_f64_portable
#endif

#endif
