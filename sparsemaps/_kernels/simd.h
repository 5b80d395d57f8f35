/* Run-time choice of vector width.
 *
 * A wheel is built for the oldest x86-64, whose 128-bit vectors lose most of the speed of the
 * loops here. CLONES before a function compiles it for AVX-512, AVX2 and that baseline, and the
 * dynamic loader takes the widest that the machine has. Every clone does the same IEEE operations
 * in the same order (no contraction, no reassociation), so they agree bit for bit.
 * Empty where compiler or C library have no such mechanism, and where the build already names a
 * machine (-march=native). */
#ifndef SPARSEMAPS_SIMD_H
#define SPARSEMAPS_SIMD_H

#if defined(SPARSEMAPS_CLONES) && !defined(__AVX2__)
#define CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONES
#endif

/* What a clone calls must become part of it, or it would stay at the baseline's width. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#elif defined(_MSC_VER)
#define INLINE static __forceinline
#else
#define INLINE static inline
#endif

#endif
