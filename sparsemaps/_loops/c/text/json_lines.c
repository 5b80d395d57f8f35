#include "json_lines.h"

#include "text_simd.h"

/* Returned instead of the next position if a line is left to Python. */
enum { LEFT = -1 };

enum {
    LEVELS = 32,       /* nesting of arrays and objects */
    WHOLE_DIGITS = 18, /* of a number: so it is finite, and fits in 64 bits */
    MORE_DIGITS = 99,  /* after the decimal point */
    POWER_DIGITS = 2
};

/* Load up to a register of bytes, padded with zeros after the end. */
INLINE register_u8 load_up_to(const uint8_t *bytes, ptrdiff_t n)
{
    register_u8 loaded = {0};
    if (n >= BYTES_AT_ONCE)
        return load_bytes(bytes);
    memcpy(&loaded, bytes, (size_t)(n > 0 ? n : 0));
    return loaded;
}

/* Return a bitmask of the bytes that are invalid after the three bytes before them. */
INLINE uint64_t wrong_bytes(register_u8 here, register_u8 before, register_u8 second,
                            register_u8 third)
{
    const register_u8 is_more = (register_u8)((here & 0xc0) == 0x80);
    const register_u8 needs_more = (register_u8)(before >= 0xc0) | (register_u8)(second >= 0xe0)
                                   | (register_u8)(third >= 0xf0);
    const register_u8 never = (register_u8)((here & 0xfe) == 0xc0) | (register_u8)(here >= 0xf5);
    /* Overlong forms, surrogates, and code points above U+10FFFF. */
    const register_u8 low = (register_u8)(here < 0xa0), lowest = (register_u8)(here < 0x90);
    const register_u8 range =
        ((register_u8)(before == 0xe0) & low) | ((register_u8)(before == 0xed) & ~low)
        | ((register_u8)(before == 0xf0) & lowest) | ((register_u8)(before == 0xf4) & ~lowest);
    return highest_bits((is_more ^ needs_more) | never | range);
}

static int is_utf8(const uint8_t *bytes, ptrdiff_t n)
{
    enum { BEFORE = 3 };
    uint8_t edge[BEFORE + BYTES_AT_ONCE] = {0};
    uint64_t open = 0; /* bitmask of the high bits of the previous bytes */
    for (ptrdiff_t i = 0; i <= n; i += BYTES_AT_ONCE) {
        const register_u8 here = load_up_to(bytes + i, n - i);
        const uint64_t high = highest_bits(here);
        const uint8_t *at = bytes + i;
        if (!high && !(open >> (BYTES_AT_ONCE - BEFORE)))
            continue;
        open = high;
        if (i == 0 || n - i < BYTES_AT_ONCE) {
            memset(edge, 0, BEFORE);
            if (i)
                memcpy(edge, at - BEFORE, BEFORE);
            memcpy(edge + BEFORE, &here, sizeof here);
            at = edge + BEFORE;
        }
        if (wrong_bytes(here, load_bytes(at - 1), load_bytes(at - 2), load_bytes(at - 3)))
            return 0;
    }
    return 1;
}

INLINE ptrdiff_t skip_blanks(const uint8_t *lines, ptrdiff_t at)
{
    while (lines[at] == ' ' || lines[at] == '\t' || lines[at] == '\r')
        at++;
    return at;
}

/* Return the number given by four hexadecimal digits, or -1 if they are not. */
static int32_t hexadecimal(const uint8_t *digits)
{
    int32_t number = 0;
    for (int i = 0; i < 4; i++) {
        const int32_t c = digits[i], letter = (c | 0x20) - 'a';
        const int32_t digit = c >= '0' && c <= '9'        ? c - '0'
                              : letter >= 0 && letter < 6 ? letter + 10
                                                          : -1;
        if (digit < 0)
            return -1;
        number = number << 4 | digit;
    }
    return number;
}

/* Write a character as UTF-8. Return the end. */
INLINE uint8_t *put_utf8(uint8_t *out, int32_t character)
{
    if (character < 0x80) {
        *out++ = (uint8_t)character;
        return out;
    }
    if (character < 0x800) {
        *out++ = (uint8_t)(0xc0 | character >> 6);
    } else {
        if (character < 0x10000) {
            *out++ = (uint8_t)(0xe0 | character >> 12);
        } else {
            *out++ = (uint8_t)(0xf0 | character >> 18);
            *out++ = (uint8_t)(0x80 | (character >> 12 & 0x3f));
        }
        *out++ = (uint8_t)(0x80 | (character >> 6 & 0x3f));
    }
    *out++ = (uint8_t)(0x80 | (character & 0x3f));
    return out;
}

/* The meaning of a character after a backslash; 0 if it has none or needs more characters. */
static const uint8_t escaped[256] = {
    ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
    ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
};

/* Read a \u escape at `at`, and append its character to *out. */
static ptrdiff_t read_escape(const uint8_t *lines, ptrdiff_t at, uint8_t **out)
{
    int32_t character, low;
    if (lines[at + 1] != 'u')
        return LEFT;
    at += 2;
    character = hexadecimal(lines + at);
    if (character < 0)
        return LEFT;
    at += 4;
    if (character >= 0xd800 && character < 0xe000) {
        if (character >= 0xdc00 || lines[at] != '\\' || lines[at + 1] != 'u')
            return LEFT;
        low = hexadecimal(lines + at + 2);
        if (low < 0xdc00 || low >= 0xe000)
            return LEFT;
        at += 6;
        character = 0x10000 + ((character - 0xd800) << 10) + (low - 0xdc00);
    }
    *out = put_utf8(*out, character);
    return at;
}

/* Read a string from after its opening quote, and append it to *out_end. */
static ptrdiff_t read_string(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, uint8_t **out_end)
{
    uint8_t *out = *out_end;
    for (;;) {
        const register_u8 here = load_up_to(lines + at, n - at);
        const register_u8 is_end =
            (register_u8)(here == '"') | (register_u8)(here == '\\') | (register_u8)(here < 0x20);
        const uint64_t ends = highest_bits(is_end);
        memcpy(out, &here, sizeof here);
        if (!ends) {
            at += BYTES_AT_ONCE;
            out += BYTES_AT_ONCE;
            continue;
        }
        at += __builtin_ctzll(ends);
        out += __builtin_ctzll(ends);
        if (lines[at] == '\\') {
            const uint8_t character = escaped[lines[at + 1]];
            *out = character;
            if (character) {
                at += 2;
                out++;
                continue;
            }
            at = read_escape(lines, at, &out);
            if (at == LEFT)
                return LEFT;
            continue;
        }
        if (lines[at] != '"')
            return LEFT;
        *out_end = out;
        return at + 1;
    }
}

INLINE ptrdiff_t skip_digits(const uint8_t *lines, ptrdiff_t at, ptrdiff_t most)
{
    const ptrdiff_t start = at;
    while (lines[at] >= '0' && lines[at] <= '9')
        at++;
    return at == start || at - start > most ? LEFT : at;
}

static ptrdiff_t skip_number(const uint8_t *lines, ptrdiff_t at)
{
    at += lines[at] == '-';
    if (lines[at] == '0' && lines[at + 1] >= '0' && lines[at + 1] <= '9')
        return LEFT;
    at = skip_digits(lines, at, WHOLE_DIGITS);
    if (at != LEFT && lines[at] == '.')
        at = skip_digits(lines, at + 1, MORE_DIGITS);
    if (at != LEFT && (lines[at] | 0x20) == 'e') {
        at++;
        at += lines[at] == '-' || lines[at] == '+';
        at = skip_digits(lines, at, POWER_DIGITS);
    }
    return at;
}

INLINE ptrdiff_t skip_word(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, const char *word,
                           ptrdiff_t length)
{
    return n - at >= length && !memcmp(lines + at, word, (size_t)length) ? at + length : LEFT;
}

/* Read a name and the colon after it, up to its value. The name is appended to *out_end. */
static ptrdiff_t read_name(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, uint8_t **out_end)
{
    if (lines[at] != '"')
        return LEFT;
    at = read_string(lines, at + 1, n, out_end);
    if (at == LEFT)
        return LEFT;
    at = skip_blanks(lines, at);
    return lines[at] == ':' ? skip_blanks(lines, at + 1) : LEFT;
}

static ptrdiff_t skip_value(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, uint8_t *scratch,
                            int levels);

/* Skip an array or an object that ends with `closing`. */
static ptrdiff_t skip_members(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, uint8_t *scratch,
                              int levels, uint8_t closing)
{
    at = skip_blanks(lines, at + 1);
    if (lines[at] == closing)
        return at + 1;
    for (;;) {
        if (closing == '}') {
            uint8_t *end = scratch;
            at = read_name(lines, at, n, &end);
            if (at == LEFT)
                return LEFT;
        }
        at = skip_value(lines, at, n, scratch, levels);
        if (at == LEFT)
            return LEFT;
        at = skip_blanks(lines, at);
        if (lines[at] == closing)
            return at + 1;
        if (lines[at] != ',')
            return LEFT;
        at = skip_blanks(lines, at + 1);
    }
}

/* Skip a value. `scratch` must have room for any string. */
static ptrdiff_t skip_value(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, uint8_t *scratch,
                            int levels)
{
    uint8_t *end = scratch;
    switch (lines[at]) {
    case '"':
        return read_string(lines, at + 1, n, &end);
    case '{':
        return levels ? skip_members(lines, at, n, scratch, levels - 1, '}') : LEFT;
    case '[':
        return levels ? skip_members(lines, at, n, scratch, levels - 1, ']') : LEFT;
    case 't':
        return skip_word(lines, at, n, "true", 4);
    case 'f':
        return skip_word(lines, at, n, "false", 5);
    case 'n':
        return skip_word(lines, at, n, "null", 4);
    default:
        return skip_number(lines, at);
    }
}

/* Read an object from after its opening brace, and append the text to *out_end. */
static ptrdiff_t read_object(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n,
                             const json_texts *into, uint8_t **out_end)
{
    uint8_t *const start = *out_end;
    uint8_t *text_end = NULL;
    for (at = skip_blanks(lines, at);; at = skip_blanks(lines, at + 1)) {
        uint8_t *const name = text_end ? text_end : start;
        uint8_t *name_end = name;
        at = read_name(lines, at, n, &name_end);
        if (at == LEFT)
            return LEFT;
        if (name_end - name == into->name_length
            && !memcmp(name, into->name, (size_t)into->name_length)) {
            if (text_end || lines[at] != '"')
                return LEFT;
            text_end = start;
            at = read_string(lines, at + 1, n, &text_end);
        } else {
            at = skip_value(lines, at, n, name, LEVELS);
        }
        if (at == LEFT)
            return LEFT;
        at = skip_blanks(lines, at);
        if (lines[at] != ',')
            break;
    }
    if (lines[at] != '}' || !text_end)
        return LEFT;
    *out_end = text_end;
    return at + 1;
}

static ptrdiff_t read_lines(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, json_texts *into)
{
    uint8_t *out = into->texts + (into->n_texts ? into->ends[into->n_texts - 1] : 0);
    while (at < n) {
        const ptrdiff_t line = at;
        int is_record;
        at = skip_blanks(lines, at);
        is_record = lines[at] == '{';
        if (is_record) {
            at = read_object(lines, at + 1, n, into, &out);
            if (at == LEFT)
                return line;
            at = skip_blanks(lines, at);
        }
        if (at < n && lines[at] != '\n')
            return line;
        if (is_record)
            into->ends[into->n_texts++] = out - into->texts;
        into->n_lines += at < n;
        at += at < n;
    }
    return n;
}

static void lengths(const uint8_t *texts, const int64_t *ends, ptrdiff_t n, int64_t *out)
{
    int64_t at = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        int64_t length = 0;
        for (; at < ends[i]; at += BYTES_AT_ONCE) {
            const register_u8 here = load_up_to(texts + at, ends[i] - at);
            const int64_t n_here = ends[i] - at < BYTES_AT_ONCE ? ends[i] - at : BYTES_AT_ONCE;
            const uint64_t more = highest_bits((register_u8)((here & 0xc0) == 0x80));
            length += n_here - __builtin_popcountll(more);
        }
        out[i] = length;
        at = ends[i];
    }
}

const json_lines_loops TABLE(json_lines)[] = {{
    .is_utf8 = is_utf8,
    .read = read_lines,
    .lengths = lengths,
}};
