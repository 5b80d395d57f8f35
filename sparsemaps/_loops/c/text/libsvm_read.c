#include "libsvm_read.h"

#include <string.h>

#include "read_decimal.h"
#include "separators.h"
#include "text_simd.h"

INLINE int is_blank(char c)
{
    return c == ' ' || ((unsigned char)(c - '\t') <= '\r' - '\t' && c != '\n');
}

INLINE const char *token_end(const char *p, const char *end)
{
    while (p < end && !is_blank(*p) && *p != '\n' && *p != '#')
        p++;
    return p;
}

static inline int fail(svm_text *text, int error, const char *from, const char *end)
{
    text->error = error;
    text->wrong = from;
    text->wrong_end = token_end(from, end);
    return 0;
}

/* Parse all of [p, stop) as a number. */
static inline int whole_number(const svm_text *text, const char *p, const char *stop, int to_float,
                               double *value)
{
    const char *read = read_decimal(p, stop, value);
    if (read != stop && text->slow(p, stop, 0, value) != 1)
        return 0;
    return !(to_float && between_floats(*value)) || text->slow(p, stop, 1, value) == 1;
}

/* Read a number followed by a blank, `#`, line end, or `also`. Return its end, or NULL. */
INLINE const char *number(const svm_text *text, const char *p, const char *end, char also,
                          int to_float, double *value)
{
    const char *stop = read_decimal(p, end, value);
    if (stop
        && (stop == end || *stop == ' ' || *stop == '\n' || *stop == also || is_blank(*stop)
            || *stop == '#')
        && !(to_float && between_floats(*value)))
        return stop;
    stop = p;
    while (stop < end && !is_blank(*stop) && *stop != '\n' && *stop != '#' && *stop != also)
        stop++;
    return stop > p && whole_number(text, p, stop, to_float, value) ? stop : NULL;
}

/* Read an integer in [-2^63, 2^63) into *value. Return its end, or NULL. */
static inline const char *integer(const char *p, const char *end, int64_t *value)
{
    uint64_t n = 0;
    int negative = p < end && *p == '-';
    p += p < end && (*p == '-' || *p == '+');
    const char *first = p;
    uint64_t largest = UINT64_C(9223372036854775807) + (uint64_t)negative;
    for (; p < end && is_digit(*p); p++) {
        if (n > (largest - (uint64_t)(*p - '0')) / 10)
            return NULL;
        n = 10 * n + (uint64_t)(*p - '0');
    }
    *value = (int64_t)(negative ? 0 - n : n);
    return p > first ? p : NULL;
}

static inline const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

/* Read the label or labels at p. */
static inline const char *read_labels(svm_text *text, const char *p, const char *end)
{
    const char also = text->multilabel ? ',' : ' '; /* the terminator of a single label */
    if (text->multilabel && memchr(p, ':', (size_t)(token_end(p, end) - p)))
        return p; /* no labels: the token is the first entry */
    for (;; p++) {
        const char *stop = number(text, p, end, also, 0, &text->labels[text->n_labels]);
        if (!stop)
            return fail(text, BAD_LABEL, p, end), NULL;
        text->n_labels++;
        p = stop;
        if (p == end || *p != ',')
            return p;
    }
}

/* Read one entry in any notation. Return its end, or NULL. */
static const char *read_entry(svm_text *text, const char *p, const char *end, int64_t *index,
                              double *value)
{
    uint64_t digits = 0;
    const char *colon = read_digits(p, end, &digits);
    *index = (int64_t)digits;
    if (colon == p || colon - p > 18 || colon == end || *colon != ':') { /* not plain digits */
        colon = integer(p, end, index);
        if (!colon || colon == end || *colon != ':') {
            colon = p + (p < end && (*p == '-' || *p == '+'));
            const char *first = colon;
            while (colon < end && is_digit(*colon))
                colon++;
            int too_large = colon > first && colon < end && *colon == ':';
            return fail(text, too_large ? INDEX_TOO_LARGE : BAD_INDEX, p, end), NULL;
        }
    }
    if (*index < 0)
        return fail(text, BAD_INDEX, p, end), NULL;
    /* LIBSVM's own programs accept blanks before a value. */
    const char *first = skip_blanks(colon + 1, end);
    const char *stop = number(text, first, end, ' ', text->to_float, value);
    if (!stop)
        return fail(text, BAD_VALUE, p, end), NULL;
    return stop;
}

/* Bytes that must be readable from the start of an entry with plain digits, and the most separators
 * that it can have: colon, sign, point and blank. */
enum { LONGEST_PLAIN = 48, PLAIN_SEPARATORS = 4 };

/* Read one entry index:[-]digits[.digits] at p, where LONGEST_PLAIN bytes are readable. `next` has
 * the offsets of the next separators, relative to `start`. Return the end and advance `next`, or
 * return NULL for any other notation. */
INLINE const char *read_plain_entry(const svm_text *text, const char *p, const char *start,
                                    const uint32_t **next, int64_t *index, double *value)
{
    const uint32_t *offset = *next;
    const char *colon = start + *offset++, *first = colon + 1, *stop = start + *offset++;
    if (*colon != ':' || colon == p || colon - p > 8)
        return NULL;
    int negative = stop == first && *stop == '-';
    if (negative) {
        first++;
        stop = start + *offset++;
    }
    ptrdiff_t whole = stop - first, fraction = 0;
    if (whole > 8)
        return NULL;
    uint64_t digits = digits_at(first, whole);
    if (*stop == '.') {
        const char *point = stop;
        stop = start + *offset++;
        fraction = stop - point - 1;
        if (whole + fraction > 19)
            return NULL;
        digits = append_digits(digits, point + 1, fraction);
    }
    if (whole + fraction == 0 || (*stop != ' ' && *stop != '\n'))
        return NULL;
    const double size = divide_by_power(digits, fraction);
    if (text->to_float && between_floats(size))
        return NULL;
    *value = negative ? -size : size;
    *index = (int64_t)digits_at(p, colon - p);
    *next = offset;
    return stop;
}

/* Read entries index:digit at p, as in binary data, as long as their separators are held and
 * columns ascend from *before. Return the end: after a blank or at a line end. Not inlined, because
 * the loop for other data would have fewer registers. */
static __attribute__((noinline)) const char *
read_binary_entries(separators_t *separators, const char *p, const char *end, int64_t *before,
                    int64_t *restrict indices, double *restrict values, int64_t *n)
{
    const char *start = separators->start;
    const uint32_t *next = separators->next, *last = separators->last;
    int64_t n_here = *n, column = *before;
    while (last - next >= 2 && end - p >= LONGEST_PLAIN) {
        const char *colon = start + next[0], *stop = start + next[1];
        if (stop - colon != 2 || *colon != ':' || colon == p || colon - p > 8
            || (*stop != ' ' && *stop != '\n'))
            break;
        const int64_t index = (int64_t)digits_at(p, colon - p);
        if (index <= column)
            break;
        indices[n_here] = column = index;
        values[n_here++] = colon[1] - '0';
        next += 2;
        p = stop;
        if (*stop == '\n')
            break;
        p++;
    }
    separators->next = next;
    *before = column;
    *n = n_here;
    return p;
}

/* Read the entries of a line from p on. */
static const char *read_entries(svm_text *text, separators_t *separators, const char *p,
                                const char *end)
{
    int64_t before = -1, n = text->n_entries, index;
    int64_t *restrict indices = text->indices;
    double *restrict values = text->values;
    double value;
    for (;;) {
        p = skip_blanks(p, end);
        if (p == end || *p == '\n' || *p == '#') {
            if (n > text->n_entries) { /* columns ascend */
                int64_t first = indices[text->n_entries];
                text->smallest = first < text->smallest ? first : text->smallest;
                text->largest = before > text->largest ? before : text->largest;
            }
            text->n_entries = n;
            return p;
        }
        const char *stop = NULL;
        if (end - p >= LONGEST_PLAIN && hold_separators(separators, p, end, PLAIN_SEPARATORS)) {
            const uint32_t *next = separators->next;
            /* Tested before the call, since other entries would pay for it. */
            if (next[1] - next[0] == 2 && separators->start[next[1]] == ' ') {
                stop = read_binary_entries(separators, p, end, &before, indices, values, &n);
                if (stop > p) {
                    p = stop;
                    continue;
                }
            }
            stop = read_plain_entry(text, p, separators->start, &separators->next, &index, &value);
        }
        if (!stop)
            stop = read_entry(text, p, end, &index, &value);
        if (!stop)
            return NULL;
        if (index <= before)
            return fail(text, NOT_ASCENDING, p, end), NULL;
        indices[n] = before = index;
        values[n++] = value;
        p = stop;
    }
}

/* Read all lines of [p, end). Return 1, or 0 after an error. */
static int read_lines(svm_text *text, const char *p, const char *end)
{
    separators_t separators;
    forget_separators(&separators, p);
    while (p < end) {
        p = skip_blanks(p, end);
        if (p < end && *p != '\n' && *p != '#') {
            p = read_labels(text, p, end);
            if (!p)
                return 0;
            p = skip_blanks(p, end);
            if (end - p >= 3 && memcmp(p, "qid", 3) == 0) {
                const char *stop = NULL;
                if (end - p > 4 && p[3] == ':')
                    stop = integer(p + 4, end, &text->qids[text->n_qids]);
                if (!stop || stop != token_end(p, end))
                    return fail(text, BAD_QID, p, end);
                text->n_qids++;
                p = stop;
            }
            p = read_entries(text, &separators, p, end);
            if (!p)
                return 0;
            text->label_ends[text->n_rows] = text->n_labels;
            text->entry_ends[text->n_rows++] = text->n_entries;
        }
        if (p < end && *p == '#') {
            p = memchr(p, '\n', (size_t)(end - p));
            if (!p)
                return 1;
        }
        p += p < end;
    }
    return 1;
}

static int64_t count_char(const char *p, int64_t n, char c)
{
    int64_t total = 0, i = 0;
    for (; n - i >= BYTES_AT_ONCE; i += BYTES_AT_ONCE) {
        const register_u8 equal = (register_u8)(load_bytes(p + i) == (uint8_t)c);
        total += __builtin_popcountll(highest_bits(equal));
    }
    for (; i < n; i++)
        total += p[i] == c;
    return total;
}

const libsvm_read_loops TABLE(libsvm_read)[] = {{
    .count_char = count_char,
    .read_lines = read_lines,
}};
