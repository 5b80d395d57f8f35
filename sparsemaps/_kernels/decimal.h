/* Decimal text to floating point, correctly rounded, and back, shortest.
 *
 * Both need powers of ten to 128 bits, which the caller makes once (see libsvm.pyx) and hands in:
 * `ceiling` rounded up, `floor` rounded as the reader wants it, for exponents from -342 to 342.
 *
 * Reference: D. Lemire, "Number parsing at a gigabyte per second", 2021; R. Giulietti, "The
 * Schubfach way to render doubles", 2020. */
#ifndef SPARSEMAPS_DECIMAL_H
#define SPARSEMAPS_DECIMAL_H

#include <stdint.h>
#include <string.h>

#include "simd.h"

#define EVERY_BYTE(BYTE) (UINT64_C(0x0101010101010101) * (BYTE))
#define EVERY_BYTE_OF_FOUR UINT64_C(0x000000ff000000ff)

enum { SMALLEST_POWER = -342, LARGEST_POWER = 342 };

typedef struct {
    uint64_t high, low;
} wide_t;

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

INLINE int leading_zeros(uint64_t x)
{
#if defined(__GNUC__)
    return __builtin_clzll(x);
#else
    int n = 0;
    for (; !(x >> 63); x <<= 1)
        n++;
    return n;
#endif
}

/* ---- reading ----------------------------------------------------------------------------- */

/* w * 10^q as the nearest double, into *bits; 0 where 128 bits do not decide. w is not 0. */
static inline int decimal_to_double(uint64_t w, int64_t q, const wide_t *powers, uint64_t *bits)
{
    if (q < SMALLEST_POWER) {
        *bits = 0;
        return 1;
    }
    if (q > 308) {
        *bits = UINT64_C(0x7ff0000000000000);
        return 1;
    }
    int zeros = leading_zeros(w);
    wide_t power = powers[q - SMALLEST_POWER];
    wide_t product = multiply(w << zeros, power.high);
    if ((product.high & 0x1ff) == 0x1ff) { /* the bits below could carry into those that count */
        wide_t more = multiply(w << zeros, power.low);
        product.low += more.high;
        product.high += product.low < more.high;
        if (product.low == UINT64_MAX && (q < -27 || q > 55))
            return 0;
    }
    int upper = (int)(product.high >> 63);
    uint64_t mantissa = product.high >> (upper + 9);
    int64_t exponent = ((q * 217706) >> 16) + 63 + upper - zeros + 1023;
    if (exponent <= 0) { /* subnormal */
        if (exponent <= -63) {
            *bits = 0;
            return 1;
        }
        mantissa >>= 1 - exponent;
        mantissa += mantissa & 1;
        *bits = mantissa >> 1; /* 2^52 is the smallest normal number, with its exponent 1 */
        return 1;
    }
    if (product.low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1
        && mantissa << (upper + 9) == product.high)
        mantissa &= ~UINT64_C(1); /* exactly between two: to even */
    mantissa += mantissa & 1;
    mantissa >>= 1;
    if (mantissa >> 53) {
        mantissa >>= 1;
        exponent++;
    }
    if (exponent >= 2047)
        *bits = UINT64_C(0x7ff0000000000000);
    else
        *bits = (mantissa & ~(UINT64_C(1) << 52)) | (uint64_t)exponent << 52;
    return 1;
}

static const double EXACT_POWERS[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                        1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                        1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

INLINE int is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static const uint64_t SMALL_POWERS[9] = {1,      10,      100,      1000,     10000,
                                         100000, 1000000, 10000000, 100000000};

#if defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define EIGHT_AT_A_TIME 1
#else
#define EIGHT_AT_A_TIME 0
#endif

/* Append the digits at p, of which eight bytes can be read, to *w; returns how many there are, up
 * to eight. No branch depends on that. */
INLINE int eight_digits(const char *p, uint64_t *w)
{
#if EIGHT_AT_A_TIME
    uint64_t digits, others;
    memcpy(&digits, p, sizeof digits);
    digits ^= EVERY_BYTE(0x30);
    /* The top bit of the first byte above 9 is set; what it carries on does not matter. */
    others = (digits | (digits + EVERY_BYTE(0x76))) & EVERY_BYTE(0x80);
    int n = others ? __builtin_ctzll(others) / 8 : 8;
    digits = digits << (32 - 4 * n) << (32 - 4 * n); /* zeros lead; a shift by 64 is undefined */
    digits = digits * 10 + (digits >> 8); /* tens and ones, in every other byte */
    digits = ((digits & EVERY_BYTE_OF_FOUR) * (100 + (UINT64_C(1000000) << 32))
              + ((digits >> 16) & EVERY_BYTE_OF_FOUR) * (1 + (UINT64_C(10000) << 32)))
             >> 32;
    *w = *w * SMALL_POWERS[n] + digits;
    return n;
#else
    int n = 0;
    for (; n < 8 && is_digit(p[n]); n++)
        *w = 10 * *w + (uint64_t)(p[n] - '0');
    return n;
#endif
}

/* Append the digits at p to *w, modulo 2^64. Returns where they end. */
INLINE const char *read_digits(const char *p, const char *end, uint64_t *w)
{
    while (end - p >= 8) {
        int n = eight_digits(p, w);
        p += n;
        if (n < 8)
            return p;
    }
    for (; p < end && is_digit(*p); p++)
        *w = 10 * *w + (uint64_t)(*p - '0');
    return p;
}

enum { LONGEST_PLAIN = 48 };

/* Read [-] digits [. digits], up to 7 and 19 in all; NULL where it is anything else, which is then
 * for `read_decimal`. LONGEST_PLAIN bytes can be read from p on. */
INLINE const char *read_plain(const char *p, const wide_t *powers, double *value)
{
    uint64_t w = 0;
    int negative = *p == '-', fraction = 0;
    p += negative;
    int whole = eight_digits(p, &w);
    p += whole;
    if (*p == '.') {
        int n;
        p++;
        do {
            n = eight_digits(p, &w);
            p += n;
            fraction += n;
        } while (n == 8 && fraction < 24);
    }
    int digits = whole + fraction;
    if (digits == 0 || digits > 19 || whole == 8 || (*p | 0x20) == 'e')
        return NULL;
    double result;
    if (w >> 53 == 0) { /* w and the power are exact: one rounding */
        result = (double)(int64_t)w / EXACT_POWERS[fraction];
    } else {
        uint64_t bits;
        if (!decimal_to_double(w, -fraction, powers, &bits))
            return NULL;
        memcpy(&result, &bits, sizeof result);
    }
    *value = negative ? -result : result;
    return p;
}

/* Read [sign] digits [. digits] [e [sign] digits] from p on. Returns where it stopped, or NULL if
 * there is no such number or it takes more than this to round it. */
static inline const char *read_decimal(const char *p, const char *end, const wide_t *powers,
                                       double *value)
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
    if (n_digits > 19) { /* w may have overflowed, unless zeros lead */
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
        result = q < 0 ? (double)(int64_t)w / EXACT_POWERS[-q]
                       : (double)(int64_t)w * EXACT_POWERS[q];
    } else if (w != 0) {
        uint64_t bits;
        if (!decimal_to_double(w, q, powers, &bits))
            return NULL;
        memcpy(&result, &bits, sizeof result);
    }
    *value = negative ? -result : result;
    return p;
}

/* Whether `value` lies exactly between two neighbouring floats, so that rounding a decimal
 * to it first and to float32 then could round twice. */
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

/* ---- writing ----------------------------------------------------------------------------- */

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
