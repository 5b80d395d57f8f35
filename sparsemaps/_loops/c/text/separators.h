/* Positions of the bytes of a text that are not digits. Between two of them is a number, whose
 * length is thus known before it is read.
 *
 * Reference: G. Langdale and D. Lemire, "Parsing gigabytes of JSON per second", The VLDB Journal
 * 28, 2019: these are its two stages. */
#ifndef SPARSEMAPS_SEPARATORS_H
#define SPARSEMAPS_SEPARATORS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "text_simd.h"

/* Bytes examined at a time, and bytes whose separators are held at a time. */
enum { SEPARATORS_STEP = 64, SEPARATORS_WINDOW = 4096 };

typedef struct {
    const char *start, *stop; /* the separators of [start, stop) are held */
    const uint32_t *next;     /* the next one */
    const uint32_t *last;     /* past the last one */
    uint32_t offsets[SEPARATORS_WINDOW + SEPARATORS_STEP];
} separators_t;

/* Return a bitmask of the non-digits among 64 bytes, the first in the lowest bit. */
INLINE uint64_t separators_of(const char *p)
{
    uint64_t marks = 0;
    for (int i = 0; i < 64; i += BYTES_AT_ONCE)
        marks |= highest_bits((register_u8)(load_bytes(p + i) - '0' > 9)) << i;
    return marks;
}

/* Hold the separators from p on, up to `end` or for one window. */
static inline void find_separators(separators_t *separators, const char *p, const char *end)
{
    int64_t n = 0;
    ptrdiff_t size = end - p < SEPARATORS_WINDOW ? end - p : SEPARATORS_WINDOW;
    for (ptrdiff_t first = 0; first < size; first += SEPARATORS_STEP) {
        char last[SEPARATORS_STEP];
        const char *here = p + first;
        if (size - first < SEPARATORS_STEP) {
            memset(last, '0', sizeof last);
            memcpy(last, here, (size_t)(size - first));
            here = last;
        }
        uint64_t marks = separators_of(here);
        int n_marks = __builtin_popcountll(marks);
        for (int i = 0; i < n_marks; i += 8) { /* eight without a branch, possibly too many */
            for (int j = 0; j < 8; j++) {
                int bit = __builtin_ctzll(marks | UINT64_C(1) << 63);
                separators->offsets[n + i + j] = (uint32_t)(first + bit);
                marks &= marks - 1;
            }
        }
        n += n_marks;
    }
    separators->start = p;
    separators->stop = p + size;
    separators->next = separators->offsets;
    separators->last = separators->offsets + n;
}

/* Start with no separators held. */
static inline void forget_separators(separators_t *separators, const char *p)
{
    separators->start = separators->stop = p;
    separators->next = separators->last = separators->offsets;
}

/* Advance `next` to the first separator from p on; p must not decrease. Return whether n separators
 * from there on are held. */
INLINE int hold_separators(separators_t *separators, const char *p, const char *end, int n)
{
    while (separators->next < separators->last && separators->start + *separators->next < p)
        separators->next++;
    if (separators->last - separators->next < n && separators->stop < end)
        find_separators(separators, p, end);
    return separators->last - separators->next >= n;
}

#endif
