/* Vectors of bytes and of 32-bit words for texts (simd.h). */
#ifndef SPARSEMAPS_TEXT_SIMD_H
#define SPARSEMAPS_TEXT_SIMD_H

#include "simd.h"

#if defined(__SSE2__) && !defined(__AVX2__)
#include <emmintrin.h>
#endif

enum { BYTES_AT_ONCE = REGISTER_BYTES, HASHES_AT_ONCE = REGISTER_BYTES / 4 };

typedef uint8_t register_u8 __attribute__((vector_size(REGISTER_BYTES), may_alias));

INLINE register_u8 load_bytes(const void *bytes)
{
    register_u8 loaded;
    memcpy(&loaded, bytes, sizeof loaded);
    return loaded;
}

INLINE register_u32 load_words(const uint32_t *words)
{
    register_u32 loaded;
    memcpy(&loaded, words, sizeof loaded);
    return loaded;
}

/* Return the highest bit of each byte as a bitmask, the first byte in the lowest bit. */
INLINE uint64_t highest_bits(register_u8 bytes)
{
#if defined(__AVX512F__)
    return _mm512_movepi8_mask((__m512i)bytes);
#elif defined(__AVX2__)
    return (uint32_t)_mm256_movemask_epi8((__m256i)bytes);
#elif defined(__SSE2__)
    return (uint32_t)_mm_movemask_epi8((__m128i)bytes);
#elif defined(__aarch64__)
    const uint8x16_t places = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vandq_u8((uint8x16_t)(bytes > 127), places);
    return vaddv_u8(vget_low_u8(bits)) | (uint64_t)vaddv_u8(vget_high_u8(bits)) << 8;
#else
    uint64_t bits = 0;
    for (size_t l = 0; l < sizeof bytes; l++)
        bits |= (uint64_t)(bytes[l] >> 7) << l;
    return bits;
#endif
}

/* Do the same for 64 bytes. */
INLINE uint64_t highest_bits_of_64(const uint8_t *bytes)
{
    uint64_t bits = 0;
    for (int l = 0; l < 64; l += BYTES_AT_ONCE)
        bits |= highest_bits(load_bytes(bytes + l)) << l;
    return bits;
}

/* Gather four bytes at each position as a little-endian number. */
INLINE register_u32 gather_words(const uint8_t *bytes, register_u32 places)
{
#if defined(__AVX512F__)
    return (register_u32)_mm512_i32gather_epi32((__m512i)places, bytes, 1);
#elif defined(__AVX2__)
    return (register_u32)_mm256_i32gather_epi32((const int *)bytes, (__m256i)places, 1);
#else
    uint32_t words[HASHES_AT_ONCE];
    register_u32 gathered;
    for (int l = 0; l < HASHES_AT_ONCE; l++)
        memcpy(words + l, bytes + places[l], sizeof *words);
    memcpy(&gathered, words, sizeof gathered);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    gathered =
        gathered >> 24 | (gathered >> 8 & 0xff00) | (gathered << 8 & 0xff0000) | gathered << 24;
#endif
    return gathered;
#endif
}

/* Return a bitmask of the words that differ. */
INLINE uint64_t differing(register_u32 words, register_u32 others)
{
#if defined(__AVX512F__)
    return _mm512_cmpneq_epi32_mask((__m512i)words, (__m512i)others);
#else
    uint64_t bits = 0;
    for (int l = 0; l < HASHES_AT_ONCE; l++)
        bits |= (uint64_t)(words[l] != others[l]) << l;
    return bits;
#endif
}

/* Write the words whose bit is set contiguously. Return their number. Up to a register of memory
 * after them may be overwritten. */
INLINE int64_t store_chosen(uint32_t *out, register_u32 words, uint64_t bits)
{
#if defined(__AVX512F__)
    _mm512_storeu_si512(out, _mm512_maskz_compress_epi32((__mmask16)bits, (__m512i)words));
    return __builtin_popcount((__mmask16)bits);
#else
    int64_t n = 0;
    for (int l = 0; l < HASHES_AT_ONCE; l++) {
        out[n] = words[l];
        n += bits >> l & 1;
    }
    return n;
#endif
}

/* Return the bits of x selected by the mask, packed. */
INLINE uint64_t extract_bits(uint64_t x, uint64_t mask)
{
#if defined(__BMI2__)
    return _pext_u64(x, mask);
#else
    uint64_t extracted = 0;
    if (mask == UINT64_MAX)
        return x;
    for (int n = 0; mask; n++, mask &= mask - 1)
        extracted |= (x >> __builtin_ctzll(mask) & 1) << n;
    return extracted;
#endif
}

#endif
