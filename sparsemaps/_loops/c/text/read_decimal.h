/* Decimal text to floating point, correctly rounded.
 *
 * For a decimal w * 10^q with w below 2^53 and |q| <= 22, one exact product or quotient suffices
 * (Clinger, "How to read floating point numbers accurately", PLDI 1990). Others are rounded from
 * the 128-bit product of w and a power of ten (Eisel and Lemire: D. Lemire, "Number parsing at a
 * gigabyte per second", Software: Practice and Experience 51, 2021); its 128 bits always suffice
 * (N. Mushtaq and D. Lemire, "Fast number parsing without fallback", the same 53, 2023). Decimals
 * whose digits do not fit in w are left to the caller. Eight digits are read at a time, in one
 * 64-bit word. */
#ifndef SPARSEMAPS_READ_DECIMAL_H
#define SPARSEMAPS_READ_DECIMAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "powers_of_ten.h"
#include "simd.h"

#if defined(__SSE4_1__)
#include <immintrin.h>
#endif

#define EVERY_BYTE_OF_FOUR UINT64_C(0x000000ff000000ff)

/* Return the bits of the double nearest to w * 10^q. w must not be 0. */
static inline uint64_t decimal_to_double(uint64_t w, int64_t q)
{
    const uint64_t infinity = UINT64_C(0x7ff0000000000000);
    if (q < SMALLEST_POWER)
        return 0;
    if (q > 308)
        return infinity;
    int zeros = __builtin_clzll(w);
    wide_t power = powers_of_ten[q - SMALLEST_POWER];
    wide_t product = multiply(w << zeros, power.high);
    if ((product.high & 0x1ff) == 0x1ff) { /* lower bits could carry into those that count */
        wide_t more = multiply(w << zeros, power.low);
        product.low += more.high;
        product.high += product.low < more.high;
    }
    int upper = (int)(product.high >> 63);
    uint64_t mantissa = product.high >> (upper + 9);
    int64_t exponent = ((q * 217706) >> 16) + 63 + upper - zeros + 1023;
    if (exponent <= 0) { /* subnormal */
        if (exponent <= -63)
            return 0;
        mantissa >>= 1 - exponent;
        mantissa += mantissa & 1;
        return mantissa >> 1; /* 2^52 is the smallest normal number, and becomes exponent 1 */
    }
    if (product.low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1
        && mantissa << (upper + 9) == product.high)
        mantissa &= ~UINT64_C(1); /* halfway between two: round to even */
    mantissa += mantissa & 1;
    mantissa >>= 1;
    if (mantissa >> 53) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent >= 2047)
        return infinity;
    return (mantissa & ~(UINT64_C(1) << 52)) | (uint64_t)exponent << 52;
}

static const double EXACT_POWERS[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

INLINE int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EIGHT_AT_A_TIME 1
#else
#define EIGHT_AT_A_TIME 0
#endif

/* Return the number whose digits are the bytes of a word, the first in the lowest byte. */
INLINE uint64_t number_of_digits(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8); /* tens and ones, in every other byte */
    return ((digits & EVERY_BYTE_OF_FOUR) * (100 + (UINT64_C(1000000) << 32))
            + ((digits >> 16) & EVERY_BYTE_OF_FOUR) * (1 + (UINT64_C(10000) << 32)))
           >> 32;
}

/* Return the number given by n <= 8 digits at p. Eight bytes must be readable. */
INLINE uint64_t digits_at(const char *p, ptrdiff_t n)
{
#if EIGHT_AT_A_TIME
    uint64_t digits;
    memcpy(&digits, p, sizeof digits);
    digits ^= EVERY_BYTE(0x30);
    /* Pad with leading zeros. In two shifts, as a shift by 64 is undefined. */
    return number_of_digits(digits << (32 - 4 * n) << (32 - 4 * n));
#else
    uint64_t w = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        w = 10 * w + (uint64_t)(p[i] - '0');
    return w;
#endif
}

/* Return the number given by 8 to 16 digits at p. 16 bytes must be readable. */
INLINE uint64_t sixteen_digits_at(const char *p, ptrdiff_t n)
{
#if defined(__SSE4_1__)
    /* Starting at n, these shuffle n bytes to the end, after zeros. */
    static const int8_t places[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
                                      -1, -1, -1, -1, -1, 0,  1,  2,  3,  4,  5,
                                      6,  7,  8,  9,  10, 11, 12, 13, 14, 15};
    __m128i digits = _mm_sub_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set1_epi8('0'));
    digits = _mm_shuffle_epi8(digits, _mm_loadu_si128((const __m128i *)(places + n)));
    digits = _mm_maddubs_epi16(digits, _mm_set1_epi16(10 + (1 << 8))); /* numbers of 2 digits */
    digits = _mm_madd_epi16(digits, _mm_set1_epi32(100 + (1 << 16)));  /* of 4 */
    digits = _mm_packus_epi32(digits, digits);
    digits = _mm_madd_epi16(digits, _mm_set1_epi32(10000 + (1 << 16))); /* of 8 */
    uint64_t halves = (uint64_t)_mm_cvtsi128_si64(digits);
    return (halves & UINT32_MAX) * TENS[8] + (halves >> 32);
#else
    return digits_at(p, 8) * TENS[n - 8] + digits_at(p + 8, n - 8);
#endif
}

/* Append n <= 24 digits at p to w, modulo 2^64. Bytes must be readable in whole groups of eight,
 * and 16 of them if there are more than eight digits. */
INLINE uint64_t append_digits(uint64_t w, const char *p, ptrdiff_t n)
{
    if (n > 8) {
        ptrdiff_t first = n < 16 ? n : 16;
        w = w * TENS[first] + sixteen_digits_at(p, first);
        n -= first;
        p += 16;
    }
    return w * TENS[n] + digits_at(p, n);
}

/* Append the digits at p to *w, modulo 2^64. Return their end. */
INLINE const char *read_digits(const char *p, const char *end, uint64_t *w)
{
#if EIGHT_AT_A_TIME
    while (end - p >= 8) {
        uint64_t digits, others;
        memcpy(&digits, p, sizeof digits);
        digits ^= EVERY_BYTE(0x30);
        /* This sets the top bit of the first byte above 9; carries beyond that byte do not
         * matter. */
        others = (digits | (digits + EVERY_BYTE(0x76))) & EVERY_BYTE(0x80);
        const int n = others ? __builtin_ctzll(others) / 8 : 8;
        *w = *w * TENS[n] + number_of_digits(digits << (32 - 4 * n) << (32 - 4 * n));
        p += n;
        if (n < 8)
            return p;
    }
#endif
    for (; p < end && is_digit(*p); p++)
        *w = 10 * *w + (uint64_t)(*p - '0');
    return p;
}

/* Return w / 10^q, 0 <= q <= 22. With 16 decimals or more, whether w is below 2^53 is
 * unpredictable, so it is not tested. */
INLINE double divide_by_power(uint64_t w, ptrdiff_t q)
{
    if (q < 16 && w >> 53 == 0) { /* w and the power are exact: one rounding */
        const double value = (double)(int64_t)w;
        return q > 0 ? value / EXACT_POWERS[q] : value;
    }
    if (w == 0)
        return 0.0;
    const uint64_t bits = decimal_to_double(w, -q);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Read [sign] digits [. digits] [e [sign] digits] at p. Return its end, or NULL if the text is not
 * such a number or has more than 19 digits. */
static inline const char *read_decimal(const char *p, const char *end, double *value)
{
    uint64_t w = 0;
    int64_t q = 0;
    int negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    const char *first = p;
    for (; p < end && is_digit(*p); p++) /* mostly one or two */
        w = 10 * w + (uint64_t)(*p - '0');
    int64_t n_digits = p - first;
    if (p < end && *p == '.') {
        const char *fraction = ++p;
        p = read_digits(p, end, &w);
        q = fraction - p;
        n_digits -= q;
    }
    if (n_digits == 0)
        return NULL;
    if (n_digits > 19) { /* w may have overflowed, unless there are leading zeros */
        const char *digit = first;
        while (digit < p && (*digit == '0' || *digit == '.'))
            n_digits -= *digit++ == '0';
        if (n_digits > 19)
            return NULL;
    }
    if (p < end && (*p | 0x20) == 'e') {
        int64_t exponent = 0;
        int below = ++p < end && *p == '-';
        p += p < end && (*p == '-' || *p == '+');
        if (p == end || !is_digit(*p))
            return NULL;
        for (; p < end && is_digit(*p); p++)
            exponent = exponent < 100000 ? 10 * exponent + (*p - '0') : exponent;
        q += below ? -exponent : exponent;
    }
    double result = 0.0;
    if (w >> 53 == 0 && q >= -22 && q <= 22) { /* both exact, so one rounding */
        result =
            q < 0 ? (double)(int64_t)w / EXACT_POWERS[-q] : (double)(int64_t)w * EXACT_POWERS[q];
    } else if (w != 0) {
        const uint64_t bits = decimal_to_double(w, q);
        memcpy(&result, &bits, sizeof result);
    }
    *value = negative ? -result : result;
    return p;
}

/* Return whether `value` lies exactly halfway between two adjacent floats, so that rounding a
 * decimal to double and then to float32 could round twice. */
static inline int between_floats(double value)
{
    float near = (float)value;
    double rest = value - (double)near, other = (double)near + 2 * rest;
    if (near - near != 0.0f) /* infinite, from half a unit beyond the largest float on */
        return value == 0x1.ffffffp127 || value == -0x1.ffffffp127;
    if (rest == 0.0)
        return 0;
    float far = (float)other;
    uint32_t near_bits, far_bits;
    memcpy(&near_bits, &near, sizeof near);
    memcpy(&far_bits, &far, sizeof far);
    near_bits &= UINT32_C(0x7fffffff);
    far_bits &= UINT32_C(0x7fffffff);
    return (double)far == other && (near_bits - far_bits == 1 || far_bits - near_bits == 1);
}

#endif
