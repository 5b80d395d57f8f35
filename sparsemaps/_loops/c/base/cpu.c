#include "cpu.h"

#include "levels.h"

int widest_built_level(void)
{
#if defined(SPARSEMAPS_X86_LEVELS)
    return AVX512;
#else
    return BASELINE;
#endif
}

#if defined(SPARSEMAPS_X86_LEVELS)
#include <stdint.h>
#if defined(_WIN32)
#include <intrin.h>
static inline void cpuid(uint32_t leaf, uint32_t out[4])
{
    __cpuidex((int *)out, (int)leaf, 0);
}
#else
#include <cpuid.h>
static inline void cpuid(uint32_t leaf, uint32_t out[4])
{
    __cpuid_count(leaf, 0, out[0], out[1], out[2], out[3]);
}
#endif

/* Return the register sets that the operating system saves (XCR0). */
static inline uint32_t saved_registers(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

int machine_level(void)
{
    const uint32_t popcnt = 1u << 23, osxsave = 1u << 27;         /* leaf 1, ecx */
    const uint32_t bmi = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8; /* leaf 7, ebx */
    const uint32_t avx512f = 1u << 16, avx512dq = 1u << 17, avx512cd = 1u << 28;
    const uint32_t avx512bw = 1u << 30, avx512vl = 1u << 31;
    const uint32_t for_avx2 = bmi | avx2 | bmi2;
    const uint32_t for_avx512 = avx512f | avx512dq | avx512cd | avx512bw | avx512vl;
    const uint32_t ymm = 0x6, zmm = 0xe6;
    uint32_t first[4], seventh[4], saved;
    cpuid(0, first);
    if (first[0] < 7)
        return BASELINE;
    cpuid(1, first);
    cpuid(7, seventh);
    if (!(first[2] & popcnt) || !(first[2] & osxsave) || (seventh[1] & for_avx2) != for_avx2)
        return BASELINE;
    saved = saved_registers();
    if ((saved & ymm) != ymm)
        return BASELINE;
    return (seventh[1] & for_avx512) == for_avx512 && (saved & zmm) == zmm ? AVX512 : AVX2;
}

int machine_has_vpopcntdq(void)
{
    uint32_t seventh[4];
    if (machine_level() != AVX512)
        return 0;
    cpuid(7, seventh);
    return seventh[2] >> 14 & 1;
}

#else
int machine_level(void)
{
    return BASELINE;
}

int machine_has_vpopcntdq(void)
{
    return 0;
}
#endif
