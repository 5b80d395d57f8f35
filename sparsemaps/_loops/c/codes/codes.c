#include "codes.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { QUERIES = 4 }; /* compared at once with a part of a row group, which stays in registers */

/* Vectors of the machine's own width. Longer ones would be spilled to memory. */
#if defined(__AVX512BW__)
enum { PART_BYTES = 64 };
#elif defined(__AVX2__)
enum { PART_BYTES = 32 };
#else
enum { PART_BYTES = 16 };
#endif
enum { PART_LANES = PART_BYTES / 8, PARTS = LANE_BYTES / PART_BYTES };

typedef uint8_t part_u8 __attribute__((vector_size(PART_BYTES), may_alias));
typedef uint16_t part_u16 __attribute__((vector_size(PART_BYTES), may_alias));
typedef uint32_t part_u32 __attribute__((vector_size(PART_BYTES), may_alias));
typedef uint64_t part_u64 __attribute__((vector_size(PART_BYTES), may_alias));

/* ---- what the instruction sets do in their own ways ---------------------------------------- */

#if defined(__AVX512BW__)

/* Count the bits of each byte, by table lookups of its two nibbles. */
INLINE part_u64 bits_by_byte(part_u64 x)
{
    const __m512i table =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    part_u64 low = x & EVERY_BYTE(0x0f), high = x >> 4 & EVERY_BYTE(0x0f);
    return (part_u64)_mm512_add_epi8(_mm512_shuffle_epi8(table, (__m512i)low),
                                     _mm512_shuffle_epi8(table, (__m512i)high));
}

INLINE part_u64 sum_of_bytes(part_u64 x)
{
    return (part_u64)_mm512_sad_epu8((__m512i)x, _mm512_setzero_si512());
}

INLINE part_u64 fields_not_zero(int width, part_u64 x)
{
    if (width == 8)
        return (part_u64)_mm512_min_epu8((__m512i)x, _mm512_set1_epi8(1));
    if (width == 16)
        return (part_u64)_mm512_min_epu16((__m512i)x, _mm512_set1_epi16(1));
    return (part_u64)_mm512_min_epu32((__m512i)x, _mm512_set1_epi32(1));
}

INLINE int any_at_most(part_u64 x, uint64_t limit)
{
    return _mm512_cmple_epu64_mask((__m512i)x, _mm512_set1_epi64((int64_t)limit)) != 0;
}

#else

#if defined(__AVX2__)
INLINE part_u64 bits_by_byte(part_u64 x)
{
    const __m256i table =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    part_u64 low = x & EVERY_BYTE(0x0f), high = x >> 4 & EVERY_BYTE(0x0f);
    return (part_u64)_mm256_add_epi8(_mm256_shuffle_epi8(table, (__m256i)low),
                                     _mm256_shuffle_epi8(table, (__m256i)high));
}

INLINE part_u64 sum_of_bytes(part_u64 x)
{
    return (part_u64)_mm256_sad_epu8((__m256i)x, _mm256_setzero_si256());
}
#else
INLINE part_u64 bits_by_byte(part_u64 x)
{
    x = x - ((x >> 1) & EVERY_BYTE(0x55));
    x = (x & EVERY_BYTE(0x33)) + ((x >> 2) & EVERY_BYTE(0x33));
    return (x + (x >> 4)) & EVERY_BYTE(0x0f);
}

INLINE part_u64 sum_of_bytes(part_u64 x)
{
    const uint64_t pairs = UINT64_C(0x00ff00ff00ff00ff);
    x = (x & pairs) + ((x >> 8) & pairs);
    x = x + (x >> 16);
    return (x + (x >> 32)) & 0xffff;
}
#endif

/* Vector comparisons yield -1 for true. */
INLINE part_u64 fields_not_zero(int width, part_u64 x)
{
    if (width == 8)
        return (part_u64)((part_u8)x != 0) & EVERY_BYTE(1);
    if (width == 16)
        return (part_u64)((part_u16)x != 0) & UINT64_C(0x0001000100010001);
    return (part_u64)((part_u32)x != 0) & UINT64_C(0x0000000100000001);
}

INLINE int any_at_most(part_u64 x, uint64_t limit)
{
    int any = 0;
    for (int lane = 0; lane < PART_LANES; lane++)
        any |= x[lane] <= limit;
    return any;
}

#endif

INLINE void store_counts(part_u64 totals, uint32_t *counts)
{
    for (int lane = 0; lane < PART_LANES; lane++)
        counts[lane] = (uint32_t)totals[lane];
}

/* ---- counting ------------------------------------------------------------------------------ */

#define NAME(function) function##_by_byte
#define TARGET
#define POPCOUNT(x) bits_by_byte(x)
#define ADD_UP(parts) sum_of_bytes(parts)
#include "codes_count.template.h"

#if defined(__AVX512BW__)
#define NAME(function) function##_vpopcntdq
#define TARGET __attribute__((target("avx512vpopcntdq")))
#define POPCOUNT(x) ((lanes_u64)_mm512_popcnt_epi64((__m512i)(x)))
#define ADD_UP(parts) (parts)
#include "codes_count.template.h"
#define VPOPCNTDQ count_tile_vpopcntdq
#else
#define VPOPCNTDQ NULL
#endif

INLINE uint32_t count_parts(int width, const part_u64 *a, const part_u64 *b, ptrdiff_t n)
{
    part_u64 total = {0};
    uint64_t sum = 0;
    for (ptrdiff_t first = 0; first < n; first += CODES_RUN) {
        ptrdiff_t stop = n - first < CODES_RUN ? n : first + CODES_RUN;
        part_u64 parts = {0};
        for (ptrdiff_t v = first; v < stop; v++)
            parts += differing_by_byte(width, a[v] ^ b[v]);
        total += sum_of_bytes(parts);
    }
    for (int lane = 0; lane < PART_LANES; lane++)
        sum += total[lane];
    return (uint32_t)sum;
}

static uint32_t count_pair(int width, const lanes_u64 *a, const lanes_u64 *b, ptrdiff_t n)
{
    const part_u64 *x = (const part_u64 *)a, *y = (const part_u64 *)b;
    switch (width) {
    case 1:
        return count_parts(1, x, y, n * PARTS);
    case 2:
        return count_parts(2, x, y, n * PARTS);
    case 4:
        return count_parts(4, x, y, n * PARTS);
    case 8:
        return count_parts(8, x, y, n * PARTS);
    case 16:
        return count_parts(16, x, y, n * PARTS);
    default:
        return count_parts(32, x, y, n * PARTS);
    }
}

static ptrdiff_t select(const uint32_t *counts, ptrdiff_t n, uint32_t limit, uint32_t *selected)
{
    enum { TOGETHER = 64 };
    ptrdiff_t n_selected = 0;
    for (ptrdiff_t first = 0; first < n; first += TOGETHER) {
        ptrdiff_t stop = n - first < TOGETHER ? n : first + TOGETHER;
        uint32_t any = 0;
        for (ptrdiff_t i = first; i < stop; i++)
            any |= counts[i] < limit;
        if (!any)
            continue;
        for (ptrdiff_t i = first; i < stop; i++) {
            selected[n_selected] = (uint32_t)i;
            n_selected += counts[i] < limit;
        }
    }
    return n_selected;
}

const codes_loops TABLE(codes)[] = {{
    .count_tile = count_tile_by_byte,
    .count_tile_vpopcntdq = VPOPCNTDQ,
    .count_pair = count_pair,
    .select = select,
}};
