/* Hashed n-grams of texts: characters to lowered UTF-8, tokens, n-grams, hashes, counted columns.
 *
 * Input: a text as Python holds it, 1, 2 or 4 bytes a character, or as UTF-8.
 * Output: for each text the columns of its n-grams, ascending, and how often each occurs.
 * Cost: O(characters x sizes of n-grams).
 * Reference: scikit-learn's HashingVectorizer, whose output this is to the bit.
 *
 * A text becomes UTF-8 first (text_characters.template.h), with a class beside each byte. Runs of
 * the class are tokens (text.c). All n-grams are then ranges of bytes, which are hashed a
 * register of them at a time (text_hash.h), and counted by sorting (text_counts.h). */
#ifndef SPARSEMAPS_TEXT_H
#define SPARSEMAPS_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"
#include "text_pages.h"

/* What the characters of a text are: this many bytes each, or UTF-8. */
enum { TEXT_UTF8 = 0 };

/* An entry of a page of characters: the UTF-8 bytes that a character becomes in bits 0 to 31, the
 * first one lowest; how many there are in bits 32 to 39; its class in bits 40 to 47; flags from bit 48
 * on. */
#define TEXT_LENGTH 32
#define TEXT_CLASS 40
#define TEXT_BY_PYTHON (UINT64_C(1) << 48) /* what it becomes is known to Python only */
#define TEXT_INVALID (UINT64_C(1) << 50)   /* the bytes are not UTF-8 */

/* What tokens consist of: runs of letters, digits and underscores; runs of all but spaces; the same,
 * where each character of a script without blanks between words is a token by itself; or runs of
 * letters, digits and underscores, and each other sign by itself. The last two have single tokens. */
enum { TEXT_LETTERS, TEXT_NO_SPACES, TEXT_SCRIPTS, TEXT_SIGNS };

/* Classes: no part of a token; a token by itself; a part of a token with its neighbours. */
enum { TEXT_OUTSIDE = 0, TEXT_ALONE = 0x80, TEXT_INSIDE = 0xff };

enum { TEXT_WORDS, TEXT_CHARACTERS, TEXT_CHARACTERS_OF_WORDS };
enum { TEXT_NO_NORM, TEXT_L1, TEXT_L2 };

/* Bytes behind all arrays of a row that may be read and written. */
enum { TEXT_SLACK = 128 };

/* Words that are not tokens: an open hash table of ranges of `bytes`, by MurmurHash3. */
typedef struct {
    const uint8_t *bytes;
    const uint32_t *starts, *ends; /* of each slot; an empty slot has an end of 0 */
    uint32_t mask;                 /* number of slots - 1, or 0 if there are no such words */
} text_stop_words;

typedef struct {
    const uint64_t *const *pages; /* TEXT_PAGES of them */
    int lower;                    /* whether ASCII letters become small ones */
    int of;                       /* what tokens consist of */
    int analyzer;
    int least;                 /* characters that a word has at least: 1 or 2 */
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
    /* Of the row: */
    int64_t n_items;
    uint64_t flags;                  /* of all its characters */
    uint64_t unmet[TEXT_PAGES / 64]; /* a bit for each page that must be filled */
} text_job;

/* A table of n distinct columns: slots where columns begin, a power of two, at least 2n and 16; and more
 * of them at the end, the last of which stays empty. */
enum { TEXT_TABLE_MORE = 64 };

static inline int64_t text_table_slots(int64_t n)
{
    return n < 8 ? 16 : INT64_C(4) << (63 - __builtin_clzll((uint64_t)n - 1));
}

typedef struct {
    /* UTF-8 and classes of a text of `n` characters (bytes for TEXT_UTF8) in job->bytes and
     * job->classes. Returns the number of bytes. job->flags tells what kept it from success. */
    int64_t (*prepare)(text_job *job, const void *text, int64_t n, int kind);
    /* Hashes of the n-grams of the text that was prepared, in job->items. */
    void (*hash_text)(text_job *job, int64_t n_bytes);
    /* Hashes of the n-grams of the n tokens at job->starts and job->ends of `bytes`, behind those that
     * job->items has. */
    void (*hash_tokens)(text_job *job, const uint8_t *bytes, int64_t n, int64_t shortest,
                        int64_t longest);
    /* Columns of job->items, ascending, and their counts in job->counts. Returns how many there are. */
    int64_t (*count)(text_job *job, int32_t *columns);
    /* Columns of job->items, ascending, without counts. job->sorted has room for the table. */
    int64_t (*distinct)(text_job *job, int32_t *columns);
    /* Values of a row from its counts, float32 or float64: ones if binary, then by the norm. */
    void (*values[2])(const int32_t *counts, int64_t n, int binary, int norm, void *values);
    /* MurmurHash3 of ranges of bytes. */
    void (*hash_ranges)(const uint8_t *bytes, const uint32_t *starts, const uint32_t *ends,
                        int64_t n, uint32_t *hashes);
} text_loops;

DECLARE_TABLES(text)

#endif
