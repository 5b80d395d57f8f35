/* Hashed n-grams of texts: characters to lower-case UTF-8, tokens, n-grams, hashes, counted
 * columns.
 *
 * Input: a text as Python holds it, with 1, 2 or 4 bytes per character, or as UTF-8.
 * Output: for each text, the columns of its n-grams, ascending, and how often each occurs.
 * Cost: O(characters x sizes of n-grams).
 * Reference: scikit-learn's HashingVectorizer, which returns the same bits.
 *
 * A text is first converted to UTF-8 (text_characters.template.h), with a class for each byte. Runs
 * of the class are tokens (text.c). All n-grams are then ranges of bytes, which are hashed a
 * register at a time (text_hash.h), and counted by sorting (text_counts.h). */
#ifndef SPARSEMAPS_TEXT_H
#define SPARSEMAPS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "text_pages.h"

/* The form of a text: the number of bytes per character, or UTF-8. */
enum { TEXT_UTF8 = 0 };

/* An entry of a page of characters has: in bits 0 to 31, the UTF-8 bytes that a character becomes,
 * the first one lowest; in bits 32 to 39, their number; in bits 40 to 47, its class; from bit 48
 * on, flags. */
#define TEXT_LENGTH 32
#define TEXT_CLASS 40
#define TEXT_BY_PYTHON (UINT64_C(1) << 48) /* only Python knows what it becomes */
#define TEXT_INVALID (UINT64_C(1) << 50)   /* the bytes are not UTF-8 */

/* What tokens are: runs of letters, digits and underscores; runs of anything but spaces; the same,
 * but with each character of a script without spaces between words as a token of its own; or runs
 * of letters, digits and underscores, with each other sign as a token of its own. The last two have
 * single-character tokens. */
enum { TEXT_LETTERS, TEXT_NO_SPACES, TEXT_SCRIPTS, TEXT_SIGNS };

/* Classes: outside tokens; a token by itself; part of a token with its neighbours. */
enum { TEXT_OUTSIDE = 0, TEXT_ALONE = 0x80, TEXT_INSIDE = 0xff };

enum { TEXT_WORDS, TEXT_CHARACTERS, TEXT_CHARACTERS_OF_WORDS };
enum { TEXT_NO_NORM, TEXT_L1, TEXT_L2 };

/* Bytes after the arrays of a row that may be read and written. */
enum { TEXT_SLACK = 128 };

/* Stop words: a hash table with open addressing of ranges of `bytes`, by MurmurHash3. */
typedef struct {
    const uint8_t *bytes;
    const uint32_t *starts, *ends; /* of each slot; an empty slot has an end of 0 */
    uint32_t mask;                 /* number of slots - 1, or 0 without stop words */
} text_stop_words;

typedef struct {
    const uint64_t *const *pages; /* TEXT_PAGES of them */
    int lower;                    /* whether ASCII letters are lowercased */
    int of;                       /* what tokens are */
    int analyzer;
    int least;                 /* least number of characters of a word: 1 or 2 */
    int64_t shortest, longest; /* sizes of n-grams */
    uint32_t n_features;
    int column_bits; /* of the greatest column */
    int signs;       /* whether n-grams count as +1 or -1, by a bit of the hash */
    text_stop_words stop;
    /* Memory for a row. */
    uint8_t *bytes, *classes, *joined; /* UTF-8, classes, tokens joined by blanks */
    uint32_t *starts, *ends, *offsets; /* of tokens; of characters */
    uint32_t *items, *sorted;          /* hashes, then columns with a sign in bit 0 */
    int32_t *counts;
    /* Results for the row: */
    int64_t n_items;
    uint64_t flags;                  /* of all its characters */
    uint64_t unmet[TEXT_PAGES / 64]; /* one bit per page that must be filled */
} text_job;

/* A table of n distinct columns has text_table_slots(n) slots where columns may begin, a power of
 * two of at least 2n and 16. TEXT_TABLE_MORE slots follow; the last one stays empty. */
enum { TEXT_TABLE_MORE = 64 };

static inline int64_t text_table_slots(int64_t n)
{
    return n < 8 ? 16 : INT64_C(4) << (63 - __builtin_clzll((uint64_t)n - 1));
}

typedef struct {
    /* Write the UTF-8 and classes of a text of `n` characters (bytes for TEXT_UTF8) to job->bytes
     * and job->classes. Return the number of bytes. On failure, job->flags gives the reason. */
    int64_t (*prepare)(text_job *job, const void *text, int64_t n, int kind);
    /* Hash the n-grams of the prepared text into job->items. */
    void (*hash_text)(text_job *job, int64_t n_bytes);
    /* Hash the n-grams of the n tokens of `bytes` at job->starts and job->ends, and append them to
     * job->items. */
    void (*hash_tokens)(text_job *job, const uint8_t *bytes, int64_t n, int64_t shortest,
                        int64_t longest);
    /* Write the columns of job->items, ascending, and their counts to job->counts. Return their
     * number. */
    int64_t (*count)(text_job *job, int32_t *columns);
    /* Write the distinct columns of job->items, ascending. job->sorted must have room for the
     * table. */
    int64_t (*distinct)(text_job *job, int32_t *columns);
    /* Convert the counts of a row to values, float32 or float64: ones if binary, then divided by
     * the norm. */
    void (*values[2])(const int32_t *counts, int64_t n, int binary, int norm, void *values);
    /* Hash ranges of bytes by MurmurHash3. */
    void (*hash_ranges)(const uint8_t *bytes, const uint32_t *starts, const uint32_t *ends,
                        int64_t n, uint32_t *hashes);
} text_loops;

DECLARE_TABLES(text)

#endif
