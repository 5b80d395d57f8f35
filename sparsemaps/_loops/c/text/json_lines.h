/* Texts from JSON Lines: the string in one field of the object on each line.
 *
 * Input: lines in UTF-8, followed by a zero byte.
 * Output: the strings, concatenated, in UTF-8.
 * Cost: O(bytes), a register at a time within strings.
 *
 * Lines on which all JSON readers agree are read here. All others, valid or not, are left to
 * Python: deep nesting, long numbers, a field that is repeated, missing or not a string, unpaired
 * surrogates. */
#ifndef SPARSEMAPS_JSON_LINES_H
#define SPARSEMAPS_JSON_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

/* Number of bytes after the texts that may be overwritten. */
enum { JSON_SLACK = 64 };

typedef struct {
    const uint8_t *name; /* of the field, in UTF-8 */
    ptrdiff_t name_length;
    uint8_t *texts;    /* with room for all bytes of the lines and JSON_SLACK more */
    int64_t *ends;     /* of each text; with room for one per line */
    ptrdiff_t n_texts; /* texts read */
    ptrdiff_t n_lines; /* lines read, including blank ones */
} json_texts;

typedef struct {
    /* Return whether n bytes are valid UTF-8. */
    int (*is_utf8)(const uint8_t *bytes, ptrdiff_t n);
    /* Read lines of the n bytes from position `at` on, up to a line that is left to Python. Return
     * its start, or n. */
    ptrdiff_t (*read)(const uint8_t *lines, ptrdiff_t at, ptrdiff_t n, json_texts *into);
    /* Compute the number of characters of each text. */
    void (*lengths)(const uint8_t *texts, const int64_t *ends, ptrdiff_t n, int64_t *lengths);
} json_lines_loops;

DECLARE_TABLES(json_lines)

#endif
