/* Floating point to decimal text: the fewest digits that read back as the same number, and of those
 * decimals the nearest. `shortest` is Schubfach (R. Giulietti, "The Schubfach way to render
 * doubles", 2020). */
#ifndef SPARSEMAPS_WRITE_DECIMAL_H
#define SPARSEMAPS_WRITE_DECIMAL_H

#include <stdint.h>
#include <string.h>

#include "powers_of_ten.h"

INLINE int64_t floor_log10_pow2(int64_t e) /* of 2^e, |e| <= 1650 */
{
    return (e * 1262611) >> 22;
}

INLINE int64_t floor_log2_pow10(int64_t e) /* of 10^e, |e| <= 1233 */
{
    return (e * 1741647) >> 19;
}

INLINE uint64_t round_to_odd(wide_t power, uint64_t c)
{
    wide_t x = multiply(power.low, c), y = multiply(power.high, c);
    uint64_t middle = y.low + x.high;
    return (y.high + (middle < y.low)) | (middle > 1);
}

/* The shortest decimal *digits * 10^k within half a unit of c * 2^q, and of those the nearest.
 * `closer`: the next smaller number is at half the distance (c is a power of two). Returns k. */
static inline int64_t shortest(uint64_t c, int64_t q, int closer, const wide_t *powers,
                               uint64_t *digits)
{
    int even = !(c & 1);
    int64_t k = closer ? (q * 1262611 - 524031) >> 22 : floor_log10_pow2(q);
    int64_t h = q + floor_log2_pow10(-k) + 1;
    wide_t power = powers[-k - SMALLEST_POWER];
    uint64_t low = round_to_odd(power, (4 * c - 2 + (uint64_t)closer) << h) + !even;
    uint64_t v = round_to_odd(power, (4 * c) << h);
    uint64_t high = round_to_odd(power, (4 * c + 2) << h) - !even;
    uint64_t s = v / 4;
    if (s >= 10) {
        uint64_t tens = s / 10;
        int down = low <= 40 * tens, up = 40 * tens + 40 <= high;
        if (down != up) {
            *digits = tens + (uint64_t)up;
            return k + 1;
        }
    }
    int down = low <= 4 * s, up = 4 * s + 4 <= high;
    if (down != up)
        *digits = s + (uint64_t)up;
    else
        *digits = s + (v > 4 * s + 2 || (v == 4 * s + 2 && (s & 1)));
    return k;
}

static const char TWO_DIGITS[201] = "00010203040506070809101112131415161718192021222324"
                                    "25262728293031323334353637383940414243444546474849"
                                    "50515253545556575859606162636465666768697071727374"
                                    "75767778798081828384858687888990919293949596979899";

static inline char *write_integer(char *out, uint64_t n)
{
    char buffer[20], *p = buffer + 20;
    while (n >= 100) {
        p -= 2;
        memcpy(p, TWO_DIGITS + 2 * (n % 100), 2);
        n /= 100;
    }
    if (n >= 10) {
        p -= 2;
        memcpy(p, TWO_DIGITS + 2 * n, 2);
    } else {
        *--p = (char)('0' + n);
    }
    memcpy(out, p, (size_t)(buffer + 20 - p));
    return out + (buffer + 20 - p);
}

/* digits * 10^k as C's %g writes it: plain if 1e-4 <= x < 1e16. */
static inline char *write_digits(char *out, uint64_t digits, int64_t k)
{
    char text[20];
    while (digits % 10 == 0) {
        digits /= 10;
        k++;
    }
    int64_t n = write_integer(text, digits) - text;
    int64_t point = n + k; /* places before the point */
    if (point < -3 || point > 16) {
        *out++ = text[0];
        if (n > 1) {
            *out++ = '.';
            memcpy(out, text + 1, (size_t)(n - 1));
            out += n - 1;
        }
        int64_t exponent = point - 1;
        *out++ = 'e';
        *out++ = exponent < 0 ? '-' : '+';
        exponent = exponent < 0 ? -exponent : exponent;
        if (exponent < 10)
            *out++ = '0';
        return write_integer(out, (uint64_t)exponent);
    }
    if (point <= 0) {
        memcpy(out, "0.000", 5);
        out += 2 - point;
        memcpy(out, text, (size_t)n);
        return out + n;
    }
    if (point >= n) {
        memcpy(out, text, (size_t)n);
        memset(out + n, '0', (size_t)(point - n));
        return out + point;
    }
    memcpy(out, text, (size_t)point);
    out[point] = '.';
    memcpy(out + point + 1, text + point, (size_t)(n - point));
    return out + n + 1;
}

static inline char *write_special(char *out, int negative, int nan)
{
    if (negative && !nan)
        *out++ = '-';
    memcpy(out, nan ? "nan" : "inf", 3);
    return out + 3;
}

enum { LONGEST_NUMBER = 26 };

static inline char *write_f64(char *out, double x, const wide_t *powers)
{
    uint64_t bits, digits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t fraction = bits & UINT64_C(0x000fffffffffffff);
    int64_t exponent = (int64_t)(bits >> 52) & 2047;
    if (exponent == 2047)
        return write_special(out, (int)(bits >> 63), fraction != 0);
    if (bits >> 63) {
        *out++ = '-';
        x = -x;
    }
    if (x < 1e15 && x == (double)(int64_t)x)
        return write_integer(out, (uint64_t)x);
    uint64_t c = exponent ? fraction | UINT64_C(1) << 52 : fraction;
    int64_t k = shortest(c, (exponent ? exponent : 1) - 1075, fraction == 0 && exponent > 1, powers,
                         &digits);
    return write_digits(out, digits, k);
}

static inline char *write_f32(char *out, float x, const wide_t *powers)
{
    uint32_t bits;
    uint64_t digits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t fraction = bits & UINT32_C(0x007fffff);
    int64_t exponent = (int64_t)(bits >> 23) & 255;
    if (exponent == 255)
        return write_special(out, (int)(bits >> 31), fraction != 0);
    if (bits >> 31) {
        *out++ = '-';
        x = -x;
    }
    if (x < 0x1p24f && x == (float)(int32_t)x)
        return write_integer(out, (uint64_t)x);
    uint64_t c = exponent ? fraction | UINT64_C(1) << 23 : fraction;
    int64_t k = shortest(c, (exponent ? exponent : 1) - 150, fraction == 0 && exponent > 1, powers,
                         &digits);
    return write_digits(out, digits, k);
}

#endif
