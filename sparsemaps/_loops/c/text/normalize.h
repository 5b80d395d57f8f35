/* Normal forms of Unicode, and the form "plain", by table lookups of characters.
 *
 * Input: a text with 1, 2 or 4 bytes per character; pages of entries; composing pairs.
 * Output: the characters of the form, 4 bytes each.
 * Cost: O(characters of the text and of the output), whatever the order of its marks.
 * Reference: Unicode Standard Annex 15. */
#ifndef SPARSEMAPS_NORMALIZE_H
#define SPARSEMAPS_NORMALIZE_H

#include "text_pages.h"

/* An item has a character in bits 0 to 20 and its combining class in bits 21 to 28. Bit 29 is set
 * if it becomes a blank. */
#define NORMAL_CHARACTER UINT32_C(0x1fffff)
#define NORMAL_CLASS 21
#define NORMAL_BLANK (UINT32_C(1) << 29)

/* An entry of a page has: in bits 0 to 31, the item that the character becomes as a part by itself;
 * in bits 32 to 39, the number of items of its decomposition, 0 if there is none; in bits 40 to 55,
 * their offset in the page; and flags. */
#define NORMAL_LENGTH 32
#define NORMAL_OFFSET 40
#define NORMAL_BEGINS (UINT64_C(1) << 56)  /* it begins a part */
#define NORMAL_ALONE (UINT64_C(1) << 57)   /* by itself it becomes one item */
#define NORMAL_DROPPED (UINT64_C(1) << 58) /* it is dropped */

typedef struct {
    uint32_t *items;
    int64_t room;
} normal_items;

typedef struct {
    const uint64_t *const *pages; /* TEXT_PAGES of them */
    const uint64_t *pairs;        /* hash table: first << 42 | second << 21 | composite, or 0 */
    uint64_t mask;                /* number of slots - 1 */
    int folds;                    /* whether U+0345 becomes a letter once marks are sorted */
    normal_items part, other, out;
    int64_t n_out;
    int after_blank, failed; /* failed: out of memory */
    uint64_t unmet[TEXT_PAGES / 64];
} normal_job;

/* Return the first slot to probe for a pair, given as first << 21 | second. */
static inline uint64_t normal_slot(uint64_t pair)
{
    return pair * UINT64_C(0x9e3779b97f4a7c15) >> 40;
}

/* Compute the form of a text of `n` characters of `kind` bytes each, into job->out and job->n_out.
 * If the text is unchanged, job->n_out is -1. If any bit of job->unmet is set, the caller must fill
 * these pages and call again. */
void normal_text(normal_job *job, const void *text, int64_t n, int kind);

/* Free the memory of a job. */
void normal_free(normal_job *job);

#endif
