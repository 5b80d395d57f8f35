/* Vector types for all loops: one of 64 bytes, and one of the width of a register.
 *
 * Vectors stay in registers; arrays of scalars do not. GCC and clang split a 64-byte vector if the
 * machine's vectors are shorter. Every lane goes through the same operations either way. */
#ifndef SPARSEMAPS_VECTORS_H
#define SPARSEMAPS_VECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Small functions must be inlined into the loops that call them; otherwise those loops are not
 * vectorised. */
#define INLINE static inline __attribute__((always_inline))

/* Larger functions need all registers for themselves. */
#define NOT_INLINE __attribute__((noinline))

/* Four doubles, aligned to their size or (anywhere) unaligned. */
typedef double four_f64 __attribute__((vector_size(32), may_alias));
typedef double four_f64_anywhere __attribute__((vector_size(32), aligned(8), may_alias));

/* A 64-bit word with every byte equal to BYTE. */
#define EVERY_BYTE(BYTE) (UINT64_C(0x0101010101010101) * (BYTE))

/* Convert two adjacent 32-bit words to one 64-bit word with the first in its lower half, or
 * back. */
INLINE uint64_t lower_half_first(uint64_t bits)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bits : bits >> 32 | bits << 32;
}

#define LANE_BYTES 64

typedef double lanes_f64 __attribute__((vector_size(LANE_BYTES), may_alias));
typedef int64_t lanes_i64 __attribute__((vector_size(LANE_BYTES), may_alias));
typedef uint64_t lanes_u64 __attribute__((vector_size(LANE_BYTES), may_alias));

/* 32-bit lanes, as many as there are 64-bit lanes in LANE_BYTES. */
typedef float half_lanes_f32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));
typedef int32_t half_lanes_i32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));
typedef uint32_t half_lanes_u32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));

/* Vectors as wide as the registers of the level. GCC keeps longer vectors in memory instead of in
 * several registers, which makes sums in them ten times slower. Longer vectors are used only for
 * codes, which have this layout in memory, and for hashes, whose products need several registers at
 * a time. */
#if defined(__AVX512F__)
#define REGISTER_BYTES 64
#elif defined(__AVX2__)
#define REGISTER_BYTES 32
#else
#define REGISTER_BYTES 16
#endif

typedef float register_f32 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef double register_f64 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef int32_t register_i32 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef int64_t register_i64 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef uint32_t register_u32 __attribute__((vector_size(REGISTER_BYTES), may_alias));
typedef uint64_t register_u64 __attribute__((vector_size(REGISTER_BYTES), may_alias));

/* The same types, unaligned. */
typedef float register_f32_anywhere
    __attribute__((vector_size(REGISTER_BYTES), aligned(4), may_alias));
typedef double register_f64_anywhere
    __attribute__((vector_size(REGISTER_BYTES), aligned(8), may_alias));

#define LANES_CONVERT(LANES, x) __builtin_convertvector(x, LANES)

/* Reinterpret the bits of a vector as another type of the same size: in GCC and clang, a cast. */
#define LANES_BITS(LANES, x) ((LANES)(x))

#endif
