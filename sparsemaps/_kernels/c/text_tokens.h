/* Tokens of a text that was prepared, and the n-grams of tokens and of characters (text.h). */
#ifndef SPARSEMAPS_TEXT_TOKENS_H
#define SPARSEMAPS_TEXT_TOKENS_H

#include "text.h"
#include "text_hash.h"

/* Bytes of the character that begins with this byte. */
INLINE uint32_t character_bytes(uint8_t first)
{
    return 1 + (uint32_t)((first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0));
}

/* Starts and ends of the runs of the class, those of at least `least` characters (1 or 2). */
static int64_t find_runs(const uint8_t *bytes, const uint8_t *classes, int64_t n_bytes, int least,
                         uint32_t *starts, uint32_t *ends)
{
    int64_t n = 0;
    uint64_t last = 0; /* the highest bit of the bits before */
    uint32_t start = 0;
    for (int64_t first = 0; first <= n_bytes; first += 64) {
        const uint64_t bits = highest_bits_of_64(classes + first);
        uint64_t changes = bits ^ (bits << 1 | last);
        if (last && changes) {
            const uint32_t end = (uint32_t)(first + __builtin_ctzll(changes));
            starts[n] = start;
            ends[n] = end;
            n += least < 2 || end - start > character_bytes(bytes[start]);
            changes &= changes - 1;
        }
        while (changes) {
            start = (uint32_t)(first + __builtin_ctzll(changes));
            changes &= changes - 1;
            if (!changes)
                break; /* it ends in other bits */
            const uint32_t end = (uint32_t)(first + __builtin_ctzll(changes));
            changes &= changes - 1;
            starts[n] = start;
            ends[n] = end;
            n += least < 2 || end - start > character_bytes(bytes[start]);
        }
        last = bits >> 63;
    }
    return n;
}

/* Copy bytes, 16 at a time: up to 15 more are read and written. */
INLINE void copy_bytes(uint8_t *out, const uint8_t *bytes, int64_t n)
{
    int64_t i = 0;
    do
        memcpy(out + i, bytes + i, 16);
    while ((i += 16) < n);
}

/* Put the tokens into job->joined, each between two blanks; their places are then those there. */
static int64_t join_tokens(text_job *job, int64_t n)
{
    uint8_t *joined = job->joined;
    uint32_t end = 1;
    joined[0] = ' ';
    for (int64_t i = 0; i < n; i++) {
        const uint32_t start = job->starts[i], length = job->ends[i] - start;
        copy_bytes(joined + end, job->bytes + start, length);
        job->starts[i] = end;
        end += length;
        job->ends[i] = end;
        joined[end++] = ' ';
    }
    memset(joined + end, 0, TEXT_SLACK);
    return end;
}

/* Whether a word with this hash is in the table. */
static int is_stop_word(const text_stop_words *stop, uint32_t hash, const uint8_t *word,
                        uint32_t length)
{
    for (uint32_t slot = hash & stop->mask; stop->ends[slot]; slot = (slot + 1) & stop->mask) {
        const uint32_t start = stop->starts[slot];
        if (stop->ends[slot] - start == length && !memcmp(stop->bytes + start, word, length))
            return 1;
    }
    return 0;
}

/* Drop the stop words among n tokens. */
static int64_t drop_stop_words(text_job *job, int64_t n)
{
    int64_t n_kept = 0;
    hash_ranges(job->bytes, job->starts, job->ends, n, job->items);
    for (int64_t i = 0; i < n; i++) {
        const uint32_t start = job->starts[i], end = job->ends[i];
        job->starts[n_kept] = start;
        job->ends[n_kept] = end;
        n_kept += !is_stop_word(&job->stop, job->items[i], job->bytes + start, end - start);
    }
    return n_kept;
}

/* Hashes of the n-grams of the n tokens at job->starts and job->ends of `bytes`. */
static void hash_word_ngrams(text_job *job, const uint8_t *bytes, int64_t n, int64_t shortest,
                             int64_t longest)
{
    for (int64_t size = shortest; size <= longest && size <= n; size++) {
        hash_ranges(bytes, job->starts, job->ends + size - 1, n - size + 1,
                    job->items + job->n_items);
        job->n_items += n - size + 1;
    }
}

static void hash_tokens(text_job *job, int64_t shortest, int64_t longest)
{
    job->n_items = 0;
    hash_word_ngrams(job, job->joined, job->n_tokens, shortest, longest);
}

/* Where each of the n characters of `bytes` begins, and the end. Returns n. */
static int64_t find_characters(const uint8_t *bytes, int64_t n_bytes, uint32_t *offsets)
{
    int64_t n = 0;
    for (int64_t i = 0; i < n_bytes; i++) {
        offsets[n] = (uint32_t)i;
        n += (bytes[i] & 0xc0) != 0x80;
    }
    offsets[n] = (uint32_t)n_bytes;
    return n;
}

/* Hashes of the `size` characters from each of HASHES_AT_ONCE characters on, of which `n` count. */
INLINE register_u32 hash_of_characters(const uint8_t *bytes, const uint32_t *offsets, int64_t size,
                                       int64_t n)
{
    if (n >= HASHES_AT_ONCE) {
        if (offsets[HASHES_AT_ONCE - 1 + size] - offsets[0] == HASHES_AT_ONCE - 1 + size)
            return hash_of_windows(bytes + offsets[0], size); /* a byte each */
        return hash_of_ranges(bytes, load_words(offsets), load_words(offsets + size));
    }
    const register_u32 here = first_lanes(n);
    return hash_of_ranges(bytes, load_words(offsets) & here, load_words(offsets + size) & here);
}

static void hash_character_ngrams(text_job *job, const uint8_t *bytes, int64_t n_bytes)
{
    const uint32_t *offsets = job->offsets;
    const int64_t n = find_characters(bytes, n_bytes, job->offsets);
    for (int64_t size = job->shortest; size <= job->longest && size <= n; size++) {
        uint32_t *hashes = job->items + job->n_items;
        const int64_t n_here = n - size + 1;
        for (int64_t i = 0; i < n_here; i += HASHES_AT_ONCE) {
            const register_u32 hash = hash_of_characters(bytes, offsets + i, size, n_here - i);
            memcpy(hashes + i, &hash, sizeof hash);
        }
        job->n_items += n_here;
    }
}

/* Replace runs of two and more spaces by a blank, within job->bytes. Returns the new length. */
static int64_t collapse_spaces(text_job *job, int64_t n_bytes)
{
    uint8_t *bytes = job->bytes, *classes = job->classes;
    for (int64_t i = 0; i < n_bytes; i++)
        classes[i] = ~classes[i];
    const int64_t n_runs = find_runs(bytes, classes, n_bytes, 2, job->starts, job->ends);
    if (!n_runs)
        return n_bytes;
    int64_t end = job->starts[0];
    for (int64_t i = 0; i < n_runs; i++) {
        const int64_t next = i + 1 < n_runs ? job->starts[i + 1] : n_bytes;
        bytes[end++] = ' ';
        memmove(bytes + end, bytes + job->ends[i], (size_t)(next - job->ends[i]));
        end += next - job->ends[i];
    }
    memset(bytes + end, 0, TEXT_SLACK);
    return end;
}

/* For each character of the joined words: how many there are from it to the blank behind the word,
 * both counted. A blank that no word follows has none. */
static void find_room(const uint8_t *bytes, const uint32_t *offsets, int64_t n, uint32_t *room)
{
    uint32_t here = 0;
    for (int64_t i = n; i-- > 0;) {
        const int is_blank = bytes[offsets[i]] == ' ';
        room[i] = here ? here + 1 : 0;
        here = is_blank ? 1 : here + 1;
    }
}

static void hash_ngrams_within_words(text_job *job, int64_t n_tokens)
{
    const int64_t n_bytes = join_tokens(job, n_tokens);
    const uint8_t *bytes = job->joined;
    uint32_t *offsets = job->offsets, *room = job->sorted;
    const int64_t n = find_characters(bytes, n_bytes, offsets);
    find_room(bytes, offsets, n, room);
    memset(room + n, 0, TEXT_SLACK);
    for (int64_t size = job->shortest; size <= job->longest && size <= n; size++)
        for (int64_t i = 0; i <= n - size; i += HASHES_AT_ONCE) {
            const register_i32 chosen = load_words(room + i) >= (uint32_t)size;
            const register_u32 hash =
                hash_of_characters(bytes, offsets + i, size, n - size + 1 - i);
            job->n_items += store_chosen(job->items + job->n_items, hash, chosen);
        }
    /* A word, with its blanks, that is shorter than all sizes counts once, whole. And of the two
     * blanks of a word, which the word before and the one behind share here, each counts by itself,
     * where characters do. */
    const int of_one = job->shortest == 1;
    int64_t n_more = 0;
    for (int64_t i = 0; i < n - 1; i += room[i] - 1) {
        job->starts[n_more] = offsets[i];
        job->ends[n_more] = of_one ? offsets[i] + 1 : offsets[i + room[i]];
        n_more += of_one || room[i] < job->shortest;
    }
    hash_ranges(bytes, job->starts, job->ends, n_more, job->items + job->n_items);
    job->n_items += n_more;
}

static void hash_text(text_job *job, int64_t n_bytes)
{
    job->n_items = 0;
    if (job->analyzer == TEXT_CHARACTERS) {
        n_bytes = collapse_spaces(job, n_bytes);
        hash_character_ngrams(job, job->bytes, n_bytes);
        return;
    }
    int64_t n = find_runs(job->bytes, job->classes, n_bytes, job->least, job->starts, job->ends);
    if (job->stop.mask)
        n = drop_stop_words(job, n);
    if (job->analyzer == TEXT_CHARACTERS_OF_WORDS) {
        hash_ngrams_within_words(job, n);
        return;
    }
    if (job->longest > 1)
        join_tokens(job, n);
    hash_word_ngrams(job, job->longest > 1 ? job->joined : job->bytes, n, job->shortest,
                     job->longest);
}

#endif
