#include "libsvm_write.h"

#include <string.h>

/* ---- numbers --------------------------------------------------------------------------------- */

/* Find the fewest digits that read back as the same number, and among those the nearest decimal.
 * `shortest` is Schubfach (R. Giulietti, "The Schubfach way to render doubles", 2020). */

/* Return floor(x / 2^bits) for x >= -2^32. `>>` of a negative number is implementation-defined. */
INLINE int64_t floor_shift(int64_t x, int bits)
{
    const int64_t up = INT64_C(1) << 32;
    return ((x + up) >> bits) - (up >> bits);
}

INLINE int64_t floor_log10_pow2(int64_t e) /* of 2^e, |e| <= 1650 */
{
    return floor_shift(e * 1262611, 22);
}

INLINE int64_t floor_log2_pow10(int64_t e) /* of 10^e, |e| <= 1233 */
{
    return floor_shift(e * 1741647, 19);
}

INLINE uint64_t round_to_odd(wide_t power, uint64_t c)
{
    wide_t x = multiply(power.low, c), y = multiply(power.high, c);
    uint64_t middle = y.low + x.high;
    return (y.high + (middle < y.low)) | (middle > 1);
}

/* Find the shortest decimal *digits * 10^k within half a unit of c * 2^q, and among those the
 * nearest. `closer`: the next smaller number is at half the distance (c is a power of two). Return
 * k. */
static inline int64_t shortest(uint64_t c, int64_t q, int closer, uint64_t *digits)
{
    int even = !(c & 1);
    int64_t k = closer ? floor_shift(q * 1262611 - 524031, 22) : floor_log10_pow2(q);
    int64_t h = q + floor_log2_pow10(-k) + 1;
    wide_t power = powers_of_ten[-k - SMALLEST_POWER];
    power.low += -k > LARGEST_EXACT_POWER; /* rounded up */
    uint64_t low = round_to_odd(power, (4 * c - 2 + (uint64_t)closer) << h) + !even;
    uint64_t v = round_to_odd(power, (4 * c) << h);
    uint64_t high = round_to_odd(power, (4 * c + 2) << h) - !even;
    uint64_t s = v / 4, tens = s / 10;
    /* Which of two neighbouring decimals lie within the interval? Try one digit less first. The
     * case is unpredictable, so all are computed without branches. */
    uint64_t down = low <= 40 * tens, up = 40 * tens + 40 <= high;
    uint64_t fewer = (down ^ up) & (s >= 10);
    uint64_t of_fewer = tens + up;
    down = low <= 4 * s;
    up = 4 * s + 4 <= high;
    uint64_t nearer = (v > 4 * s + 2) | ((v == 4 * s + 2) & s & 1);
    uint64_t one = down ^ up;
    uint64_t of_all = s + ((one & up) | (~one & nearer));
    *digits = of_all ^ ((of_all ^ of_fewer) & (0 - fewer));
    return k + (int64_t)fewer;
}

/* Return the eight digits of n < 10^8 in the bytes of a word, the first in the lowest. */
INLINE uint64_t digits_of(uint64_t n)
{
    uint64_t fours = n / 10000 | (n % 10000) << 32;
    uint64_t hundreds = (fours * 5243 >> 19) & UINT64_C(0x0000007f0000007f);
    uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);
    return tens | (twos - 10 * tens) << 8;
}

/* Write digits as characters, starting with the lowest byte. */
INLINE void store_eight(char *out, uint64_t digits)
{
    digits |= UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    digits = __builtin_bswap64(digits);
#endif
    memcpy(out, &digits, sizeof digits);
}

static inline char *write_integer(char *out, uint64_t n)
{
    if (n >= TENS[8]) {
        out = write_integer(out, n / TENS[8]);
        store_eight(out, digits_of(n % TENS[8]));
        return out + 8;
    }
    uint64_t digits = digits_of(n);
    int zeros = __builtin_ctzll(digits | UINT64_C(1) << 56) / 8; /* leading ones; 0 keeps one */
    store_eight(out, digits >> (8 * zeros));
    return out + (8 - zeros);
}

/* Count the digits of n, 0 < n < 10^17. */
INLINE int count_digits(uint64_t n)
{
    int fewest = ((64 - __builtin_clzll(n)) * 1233) >> 12; /* or one less */
    return fewest + (n >= TENS[fewest]);
}

/* Write digits * 10^k like C's %g, without an exponent if 1e-4 <= x < 1e16; 0 < digits < 10^17. */
static inline char *write_digits(char *out, uint64_t digits, int64_t k)
{
    /* Always write 17 digits with trailing zeros: the same few stores for every number. */
    int n = 16 + (digits >= TENS[16]);
    if (digits < TENS[15])
        n = count_digits(digits);
    int64_t point = n + k; /* digits before the point */
    digits = n == 17 ? digits : n == 16 ? 10 * digits : digits * TENS[17 - n];
    uint64_t first = digits / TENS[16], rest = digits % TENS[16];
    uint64_t high = digits_of(rest / TENS[8]), low = digits_of(rest % TENS[8]);
    n = low ? 17 - __builtin_clzll(low) / 8 : high ? 9 - __builtin_clzll(high) / 8 : 1;
    if (-3 <= point && point <= 0) {
        memcpy(out, "0.00000", 8);
        out += 2 - point;
    }
    out[0] = (char)('0' + first);
    store_eight(out + 1, high);
    store_eight(out + 9, low);
    if (-3 <= point && point <= 0)
        return out + n;
    if (n <= point && point <= 16)
        return out + point;
    int64_t places = 0 < point && point <= 16 ? point : 1; /* before the point, as written */
    uint64_t behind[2];
    memcpy(behind, out + places, sizeof behind);
    memcpy(out + places + 1, behind, sizeof behind);
    out[places] = '.';
    out += n > 1 ? n + 1 : 1;
    if (places == point)
        return out;
    int64_t exponent = point - 1;
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    exponent = exponent < 0 ? -exponent : exponent;
    if (exponent < 10)
        *out++ = '0';
    return write_integer(out, (uint64_t)exponent);
}

/* Write n / 10^8, which must not be an integer. */
static inline char *write_places(char *out, uint64_t n)
{
    uint64_t places = digits_of(n % TENS[8]);
    out = write_integer(out, n / TENS[8]);
    *out++ = '.';
    store_eight(out, places);
    return out + 8 - __builtin_clzll(places) / 8;
}

/* A number to be written, and its notation. */
enum { SHORTEST, INTEGER, PLACES, INFINITE, NOT_A_NUMBER };

typedef struct {
    uint64_t digits; /* of an INTEGER; times 10^-8 for PLACES, 10^exponent for SHORTEST */
    int32_t exponent;
    uint8_t kind, negative;
} decimal_t;

static inline decimal_t decimal_of_i64(int64_t n)
{
    decimal_t decimal = {.kind = INTEGER, .negative = n < 0};
    decimal.digits = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    return decimal;
}

static inline decimal_t decimal_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t fraction = bits & UINT64_C(0x000fffffffffffff);
    int64_t exponent = (int64_t)(bits >> 52) & 2047;
    decimal_t decimal = {.kind = SHORTEST, .negative = (uint8_t)(bits >> 63)};
    if (exponent == 2047) {
        decimal.kind = fraction ? NOT_A_NUMBER : INFINITE;
        return decimal;
    }
    x = x < 0 ? -x : x;
    if (x < 1e15 && x == (double)(int64_t)x) {
        decimal.kind = INTEGER;
        decimal.digits = (uint64_t)x;
        return decimal;
    }
    if (1e-4 <= x && x < 1e7) {
        /* Most data have few decimal places. The quotient is correctly rounded, so the decimal
         * reads back as x. No other decimal of up to 15 digits does, so it is the shortest. */
        double product = x * 1e8;
        uint64_t hundred_millionths = (uint64_t)(product + 0.5);
        double rounded = (double)hundred_millionths;
        /* A cheap comparison first: it rejects almost all other data without a division. */
        double error = product - rounded;
        if (error * error <= 1e-30 * product * product && rounded / 1e8 == x) {
            decimal.kind = PLACES;
            decimal.digits = hundred_millionths;
            return decimal;
        }
    }
    uint64_t c = exponent ? fraction | UINT64_C(1) << 52 : fraction;
    decimal.exponent = (int32_t)shortest(c, (exponent ? exponent : 1) - 1075,
                                         fraction == 0 && exponent > 1, &decimal.digits);
    return decimal;
}

static inline decimal_t decimal_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t fraction = bits & UINT32_C(0x007fffff);
    int64_t exponent = (int64_t)(bits >> 23) & 255;
    decimal_t decimal = {.kind = SHORTEST, .negative = (uint8_t)(bits >> 31)};
    if (exponent == 255) {
        decimal.kind = fraction ? NOT_A_NUMBER : INFINITE;
        return decimal;
    }
    x = x < 0 ? -x : x;
    if (x < 0x1p24f && x == (float)(int32_t)x) {
        decimal.kind = INTEGER;
        decimal.digits = (uint64_t)x;
        return decimal;
    }
    uint64_t c = exponent ? fraction | UINT64_C(1) << 23 : fraction;
    decimal.exponent = (int32_t)shortest(c, (exponent ? exponent : 1) - 150,
                                         fraction == 0 && exponent > 1, &decimal.digits);
    return decimal;
}

static inline char *write_decimal(char *out, decimal_t x)
{
    if (x.negative && x.kind != NOT_A_NUMBER)
        *out++ = '-';
    if (x.kind == SHORTEST)
        return write_digits(out, x.digits, x.exponent);
    if (x.kind == INTEGER)
        return write_integer(out, x.digits);
    if (x.kind == PLACES)
        return write_places(out, x.digits);
    memcpy(out, x.kind == INFINITE ? "inf" : "nan", 3);
    return out + 3;
}

/* ---- entries --------------------------------------------------------------------------------- */

#define TEMPLATE "entries.template.h"
#include "each_entry.h"

/* Also for int64_t values. */
#define TEMPLATE "entries.template.h"
#define OF_VALUE(name) name##_i64
#define NAME(name) OF_INDEX(name##_i64)
#define VALUE int64_t
#include "each_index.h"

/* Write "index:value " for n entries, with `first_index` added to each index. Return the end. */
typedef char *(*write_entries)(const void *values, const void *indices, ptrdiff_t n,
                               uint64_t first_index, char *out);

static const write_entries writers[3][2] = {
    {write_f32_i32, write_f32_i64},
    {write_f64_i32, write_f64_i64},
    {write_i64_i32, write_i64_i64},
};

/* ---- lines ----------------------------------------------------------------------------------- */

/* Write labels, qid if there are any, and a blank. */
static char *start_line(const line_heads *heads, ptrdiff_t row, char *out)
{
    const int64_t first = row > 0 ? heads->label_ends[row - 1] : 0;
    for (int64_t label = first; label < heads->label_ends[row]; label++) {
        if (label > first)
            *out++ = ',';
        out = write_decimal(out, decimal_of_f64(heads->labels[label]));
    }
    if (heads->qids) {
        memcpy(out, " qid:", 5);
        out = write_decimal(out + 5, decimal_of_i64(heads->qids[row]));
    }
    *out++ = ' ';
    return out;
}

/* Remove the trailing blank of a line that has entries. */
static char *end_line(char *out, int has_entries)
{
    out -= has_entries;
    *out++ = '\n';
    return out;
}

static char *write_rows(const csr_block *rows, int is_whole, const line_heads *heads,
                        uint64_t first_index, char *out)
{
    const int type = is_whole ? 2 : rows->value_size == sizeof(double);
    const write_entries write = writers[type][rows->index_size == sizeof(int64_t)];
    for (ptrdiff_t row = 0; row < rows->n_rows; row++) {
        const int64_t start = rows->indptr[row], n = rows->indptr[row + 1] - start;
        out = start_line(heads, row, out);
        if (n > 0)
            out = write(values_from(rows, start), indices_from(rows, start), n, first_index, out);
        out = end_line(out, n > 0);
    }
    return out;
}

static char *write_codes(const int32_t *codes, ptrdiff_t n_rows, ptrdiff_t n, int bits,
                         double value, const line_heads *heads, uint64_t first_index, char *out)
{
    char one[LONGEST_NUMBER + 2] = ":";
    char *end = write_decimal(one + 1, decimal_of_f64(value));
    *end++ = ' ';
    const size_t length = (size_t)(end - one);
    /* There is room for two longest numbers per code, so all of `one` fits after its index. */
    for (ptrdiff_t row = 0; row < n_rows; row++, codes += n) {
        const int has_entries = n > 0 && codes[0] >= 0;
        out = start_line(heads, row, out);
        for (ptrdiff_t j = 0; j < (has_entries ? n : 0); j++) {
            out = write_integer(out, ((uint64_t)j << bits) + (uint64_t)codes[j] + first_index);
            memcpy(out, one, sizeof one);
            out += length;
        }
        out = end_line(out, has_entries);
    }
    return out;
}

const libsvm_write_loops TABLE(libsvm_write)[] = {{
    .rows = write_rows,
    .codes = write_codes,
}};
