#include "emit.h"

#include <string.h>

enum { EMIT_AT_ONCE = 256 };

#if defined(__AVX512VL__)
/* AVX-512 has an instruction for this, which no compiler makes of the portable loop. */
#include <immintrin.h>

static ptrdiff_t compact_f32(const float *numbers, ptrdiff_t n, float *values, int32_t *positions)
{
    const __m512i step = _mm512_set1_epi32(16);
    __m512i position = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i += 16) {
        __mmask16 within = n - i >= 16 ? 0xffff : (__mmask16)((1u << (n - i)) - 1);
        __m512 number = _mm512_maskz_loadu_ps(within, numbers + i);
        __mmask16 kept = _mm512_cmp_ps_mask(number, _mm512_setzero_ps(), _CMP_NEQ_UQ);
        _mm512_storeu_ps(values + n_out, _mm512_maskz_compress_ps(kept, number));
        _mm512_storeu_si512(positions + n_out, _mm512_maskz_compress_epi32(kept, position));
        position = _mm512_add_epi32(position, step);
        n_out += __builtin_popcount(kept);
    }
    return n_out;
}

static ptrdiff_t compact_f64(const double *numbers, ptrdiff_t n, double *values, int32_t *positions)
{
    const __m256i step = _mm256_set1_epi32(8);
    __m256i position = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i += 8) {
        __mmask8 within = n - i >= 8 ? 0xff : (__mmask8)((1u << (n - i)) - 1);
        __m512d number = _mm512_maskz_loadu_pd(within, numbers + i);
        __mmask8 kept = _mm512_cmp_pd_mask(number, _mm512_setzero_pd(), _CMP_NEQ_UQ);
        _mm512_storeu_pd(values + n_out, _mm512_maskz_compress_pd(kept, number));
        _mm256_storeu_si256((__m256i *)(positions + n_out),
                            _mm256_maskz_compress_epi32(kept, position));
        position = _mm256_add_epi32(position, step);
        n_out += __builtin_popcount(kept);
    }
    return n_out;
}

#else

#define NAME(function) function##_f32
#define VALUE float
#define BITS uint32_t
#include "emit_compact.template.h"

#define NAME(function) function##_f64
#define VALUE double
#define BITS uint64_t
#include "emit_compact.template.h"

#endif

#define NAME(function) function##_f32_i32
#define VALUE float
#define INDEX int32_t
#define COMPACT compact_f32
#include "emit_rows.template.h"

#define NAME(function) function##_f32_i64
#define VALUE float
#define INDEX int64_t
#define COMPACT compact_f32
#include "emit_rows.template.h"

#define NAME(function) function##_f64_i32
#define VALUE double
#define INDEX int32_t
#define COMPACT compact_f64
#include "emit_rows.template.h"

#define NAME(function) function##_f64_i64
#define VALUE double
#define INDEX int64_t
#define COMPACT compact_f64
#include "emit_rows.template.h"

const emit_loops TABLE(emit) = {
    .compact_f32 = compact_f32,
    .compact_f64 = compact_f64,
    .sums_f32_i32 = sums_f32_i32,
    .sums_f32_i64 = sums_f32_i64,
    .sums_f64_i32 = sums_f64_i32,
    .sums_f64_i64 = sums_f64_i64,
    .entries_f32_i32 = entries_f32_i32,
    .entries_f32_i64 = entries_f32_i64,
    .entries_f64_i32 = entries_f64_i32,
    .entries_f64_i64 = entries_f64_i64,
    .slots_f32_i32 = slots_f32_i32,
    .slots_f32_i64 = slots_f32_i64,
    .slots_f64_i32 = slots_f64_i32,
    .slots_f64_i64 = slots_f64_i64,
};
