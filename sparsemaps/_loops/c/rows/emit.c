#include "emit.h"

#include <string.h>

enum { EMIT_AT_ONCE = 256 };

#if defined(__AVX512VL__)
/* Use AVX-512's compress instruction, which no compiler generates from the portable loop. */
#include <immintrin.h>

static ptrdiff_t compact_f32(const void *any_numbers, ptrdiff_t n, void *any_values,
                             int32_t *positions)
{
    const float *numbers = any_numbers;
    float *values = any_values;
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

static ptrdiff_t compact_f64(const void *any_numbers, ptrdiff_t n, void *any_values,
                             int32_t *positions)
{
    const double *numbers = any_numbers;
    double *values = any_values;
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

#define TEMPLATE "emit_compact.template.h"
#include "each_value.h"

#endif

#define TEMPLATE "emit_rows.template.h"
#include "each_entry.h"

#define LOOPS(TYPES)                                                                               \
    {.sums = sums_##TYPES,                                                                         \
     .scaled = scaled_##TYPES,                                                                     \
     .entries = entries_##TYPES,                                                                   \
     .slots = slots_##TYPES}
const emit_loops TABLE(emit)[] = OF_EACH_ENTRY(LOOPS);

#define COMPACT_LOOPS(TYPE) {.compact = compact_##TYPE}
const compact_loops TABLE(compact)[] = OF_EACH_VALUE(COMPACT_LOOPS);
