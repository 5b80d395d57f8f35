/* Vector types of all loops: of 64 bytes, and of a register.
 *
 * Arrays of single numbers do not stay in registers, vectors do. GCC and clang split vectors of 64
 * bytes where the machine's are shorter, and every element is computed by the same operations. */
#ifndef SPARSEMAPS_VECTORS_H
#define SPARSEMAPS_VECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Small functions must become part of the loops that call them, or they would be computed one
 * number at a time. */
#define INLINE static inline __attribute__((always_inline))

/* And larger ones need the registers for themselves. */
#define NOT_INLINE __attribute__((noinline))

/* Four numbers, which begin at a multiple of their size or anywhere. */
typedef double four_f64 __attribute__((vector_size(32), may_alias));
typedef double four_f64_anywhere __attribute__((vector_size(32), aligned(8), may_alias));

/* A word of eight bytes that are the same. */
#define EVERY_BYTE(BYTE) (UINT64_C(0x0101010101010101) * (BYTE))

/* Two words of 32 bits that stand side by side, as one: the first is the lower half. And back. */
INLINE uint64_t lower_half_first(uint64_t bits)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bits : bits >> 32 | bits << 32;
}

#define LANE_BYTES 64

typedef double lanes_f64 __attribute__((vector_size(LANE_BYTES), may_alias));
typedef int64_t lanes_i64 __attribute__((vector_size(LANE_BYTES), may_alias));
typedef uint64_t lanes_u64 __attribute__((vector_size(LANE_BYTES), may_alias));

/* Numbers of 32 bits, as many as there are of 64 bits in LANE_BYTES. */
typedef float half_lanes_f32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));
typedef int32_t half_lanes_i32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));
typedef uint32_t half_lanes_u32 __attribute__((vector_size(LANE_BYTES / 2), may_alias));

/* Vectors as wide as the registers of the level. GCC keeps longer ones in memory instead of several
 * registers, so that sums in them cost ten times as much. Longer ones are for codes, which are laid
 * out in memory in this way, and for hashes, whose products need several registers at a time. */
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

/* The same at any address. */
typedef float register_f32_anywhere
    __attribute__((vector_size(REGISTER_BYTES), aligned(4), may_alias));
typedef double register_f64_anywhere
    __attribute__((vector_size(REGISTER_BYTES), aligned(8), may_alias));

#define LANES_CONVERT(LANES, x) __builtin_convertvector(x, LANES)

/* The bits of vectors as those of another type of the same size: a cast, for GCC and clang. */
#define LANES_BITS(LANES, x) ((LANES)(x))

#endif
