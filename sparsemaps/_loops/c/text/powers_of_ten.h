/* Powers of ten to 128 bits, for reading and writing decimals. */
#ifndef SPARSEMAPS_POWERS_OF_TEN_H
#define SPARSEMAPS_POWERS_OF_TEN_H

#include <stdint.h>

#include "vectors.h"

/* Positive powers up to LARGEST_EXACT_POWER are exact in 128 bits. */
enum { SMALLEST_POWER = -342, LARGEST_EXACT_POWER = 55, LARGEST_POWER = 342 };

typedef struct {
    uint64_t high, low;
} wide_t;

/* The leading 128 bits of 10^q, from q = SMALLEST_POWER on, rounded up for q < 0, else down.
 * libsvm.pxi fills the table on import. */
extern wide_t powers_of_ten[LARGEST_POWER - SMALLEST_POWER + 1];

/* 10^q as integers. All are exact as doubles, too. */
static const uint64_t TENS[18] = {1e0, 1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,
                                  1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17};

INLINE wide_t multiply(uint64_t a, uint64_t b)
{
    wide_t product;
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 uint128;
    uint128 whole = (uint128)a * b;
    product.high = (uint64_t)(whole >> 64);
    product.low = (uint64_t)whole;
#else
    uint64_t a0 = a & UINT32_MAX, a1 = a >> 32, b0 = b & UINT32_MAX, b1 = b >> 32;
    uint64_t low = a0 * b0, middle = a1 * b0 + (low >> 32), other = a0 * b1 + (middle & UINT32_MAX);
    product.high = a1 * b1 + (middle >> 32) + (other >> 32);
    product.low = (other << 32) | (low & UINT32_MAX);
#endif
    return product;
}

#endif
