/* Texts of JSON Lines: the string in one field of the object on each line.
 *
 * Input: lines that are UTF-8, and behind them a byte that is 0.
 * Output: the strings, one behind the other, as UTF-8.
 * Cost: O(bytes), a register of them at a time within strings.
 *
 * Lines are read that any reader of JSON takes alike. Others, good or bad, are left to Python: deep
 * levels, long numbers, the field twice or not there or no string, half of a surrogate pair. */
#ifndef SPARSEMAPS_JSON_LINES_H
#define SPARSEMAPS_JSON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

/* Bytes behind the texts that may be written. */
enum { JSON_SLACK = 64 };

typedef struct {
    const uint8_t *name; /* of the field, as UTF-8 */
    ptrdiff_t name_length;
    uint8_t *texts;    /* with room for as many bytes as the lines have, and JSON_SLACK */
    int64_t *ends;     /* of each text; with room for as many as there are lines */
    ptrdiff_t n_texts; /* that were read */
    ptrdiff_t n_lines; /* that were read, blank ones too */
} json_texts;

typedef struct {
    /* Whether n bytes are UTF-8. */
    int (*is_utf8)(const uint8_t *bytes, ptrdiff_t n);
    /* Read the lines from byte `at` of n bytes on, up to one that is left to Python. Returns where it
     * begins, or n. */
    ptrdiff_t (*read)(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, json_texts *into);
    /* The number of characters of each text. */
    void (*lengths)(const uint8_t *texts, const int64_t *ends, ptrdiff_t n, int64_t *lengths);
} json_lines_loops;

DECLARE_TABLES(json_lines)

#endif
