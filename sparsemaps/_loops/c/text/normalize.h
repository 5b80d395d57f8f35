/* Normal forms of Unicode, and the form "plain": a text as characters that are looked up in tables.
 *
 * Input: a text of 1, 2 or 4 bytes a character; pages of entries; pairs that compose.
 * Output: its characters, 4 bytes each.
 * Cost: O(characters of the text and of the output), whatever the order of its marks.
 * Reference: Unicode Standard Annex 15. */
#ifndef SPARSEMAPS_NORMALIZE_H
#define SPARSEMAPS_NORMALIZE_H

#include "text_pages.h"

/* An item is a character in bits 0 to 20, with its combining class in bits 21 to 28; bit 29 tells that
 * it becomes a blank. */
#define NORMAL_CHARACTER UINT32_C(0x1fffff)
#define NORMAL_CLASS 21
#define NORMAL_BLANK (UINT32_C(1) << 29)

/* An entry of a page: in bits 0 to 31 the item that the character becomes where it is a part by itself;
 * how many items it is decomposed into in bits 32 to 39, 0 if it is not; their offset in the page in
 * bits 40 to 55; and flags. */
#define NORMAL_LENGTH 32
#define NORMAL_OFFSET 40
#define NORMAL_BEGINS (UINT64_C(1) << 56)  /* a part begins with it */
#define NORMAL_ALONE (UINT64_C(1) << 57)   /* by itself it becomes one item */
#define NORMAL_DROPPED (UINT64_C(1) << 58) /* it is left out */

typedef struct {
    uint32_t *items;
    int64_t room;
} normal_items;

typedef struct {
    const uint64_t *const *pages; /* TEXT_PAGES of them */
    const uint64_t *pairs; /* an open hash table: first << 42 | second << 21 | composite, or 0 */
    uint64_t mask;         /* slots of the table - 1 */
    int folds;             /* whether U+0345, when marks are ordered, becomes a letter */
    normal_items part, other, out;
    int64_t n_out;
    int after_blank, failed; /* failed: no memory */
    uint64_t unmet[TEXT_PAGES / 64];
} normal_job;

/* Where in the table of pairs a pair, first << 21 | second, is looked for. */
static inline uint64_t normal_slot(uint64_t pair)
{
    return pair * UINT64_C(0x9e3779b97f4a7c15) >> 40;
}

/* The form of a text of `n` characters of `kind` bytes each, in job->out and job->n_out; if it stays as it
 * is, job->n_out is -1. If bits of job->unmet are set, their pages must be filled, and the text taken
 * again. */
void normal_text(normal_job *job, const void *text, int64_t n, int kind);

/* Free the memory of a job. */
void normal_free(normal_job *job);

#endif
