/* Characters to lower-case UTF-8, and the class of each byte (text.h). */
#ifndef SPARSEMAPS_TEXT_CHARACTERS_H
#define SPARSEMAPS_TEXT_CHARACTERS_H

#include "text.h"
#include "text_simd.h"

/* Number of successive ASCII characters after which a register is processed at a time again. */
enum { QUIET = 4 };

/* Classify ASCII like Python; a test compares them. */
INLINE register_u8 ascii_class(register_u8 bytes, int of)
{
    const register_u8 is_space =
        (register_u8)(bytes - '\t' < 5) | (register_u8)(bytes - 0x1c < 5); /* \t to \r, 1c to 20 */
    const register_u8 is_word = (register_u8)((bytes | 0x20) - 'a' < 26)
                                | (register_u8)(bytes - '0' < 10) | (register_u8)(bytes == '_');
    if (of == TEXT_SIGNS)
        return is_word | (~is_space & TEXT_ALONE);
    return of == TEXT_LETTERS ? is_word : ~is_space;
}

INLINE void put_ascii(register_u8 bytes, int lower, int of, uint8_t *out, uint8_t *classes)
{
    const register_u8 in_class = ascii_class(bytes, of);
    if (lower)
        bytes |= (register_u8)(bytes - 'A' < 26) & 0x20;
    memcpy(out, &bytes, sizeof bytes);
    memcpy(classes, &in_class, sizeof in_class);
}

INLINE void put_character(uint64_t entry, uint8_t *out, uint8_t *classes)
{
    uint32_t utf8 = (uint32_t)entry;
    const uint32_t in_class = (uint32_t)(entry >> TEXT_CLASS & 0xff) * UINT32_C(0x01010101);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    utf8 = __builtin_bswap32(utf8);
#endif
    memcpy(out, &utf8, sizeof utf8);
    memcpy(classes, &in_class, sizeof in_class);
}

/* Decode the character at byte i of UTF-8 like Python: without surrogates or overlong forms.
 * Anything else sets TEXT_INVALID and counts as one byte. */
INLINE uint32_t decode_utf8(const uint8_t *text, int64_t n, int64_t i, int *length, uint64_t *flags)
{
    const uint32_t first = text[i];
    uint32_t character = 0, least = 0x80;
    int n_more = 0;
    if (first < 0x80)
        return first;
    if (first >= 0xc2 && first < 0xe0) {
        n_more = 1;
        character = first & 0x1f;
    } else if (first >= 0xe0 && first < 0xf0) {
        n_more = 2;
        character = first & 0x0f;
        least = 0x800;
    } else if (first >= 0xf0 && first < 0xf5) {
        n_more = 3;
        character = first & 0x07;
        least = 0x10000;
    }
    int valid = n_more && n_more < n - i;
    for (int j = 1; valid && j <= n_more; j++) {
        const uint32_t more = text[i + j];
        valid = (more & 0xc0) == 0x80;
        character = character << 6 | (more & 0x3f);
    }
    if (!valid || character < least || character > 0x10ffff
        || (character >= 0xd800 && character < 0xe000)) {
        *flags |= TEXT_INVALID;
        return '?';
    }
    *length = n_more + 1;
    return character;
}

/* For str, whose characters are all below 0x110000. */
#define DECODE_UNIT(text, n, i, length, flags) ((uint32_t)(text)[i] % UINT32_C(0x110000))
#define DECODE_UTF8(text, n, i, length, flags) decode_utf8(text, n, i, &(length), &(flags))

#define NAME(function) function##_utf8
#define CHAR uint8_t
#define DECODE DECODE_UTF8
#include "text_characters.template.h"

#define NAME(function) function##_1
#define CHAR uint8_t
#define DECODE DECODE_UNIT
#include "text_characters.template.h"

#define NAME(function) function##_2
#define CHAR uint16_t
#define DECODE DECODE_UNIT
#include "text_characters.template.h"

#define NAME(function) function##_4
#define CHAR uint32_t
#define DECODE DECODE_UNIT
#include "text_characters.template.h"

static int64_t prepare(text_job *job, const void *text, int64_t n, int kind)
{
    int64_t n_bytes = kind == 1   ? prepare_1(job, text, n)
                      : kind == 2 ? prepare_2(job, text, n)
                      : kind == 4 ? prepare_4(job, text, n)
                                  : prepare_utf8(job, text, n);
    memset(job->bytes + n_bytes, 0, TEXT_SLACK);
    memset(job->classes + n_bytes, 0, TEXT_SLACK);
    return n_bytes;
}

#endif
