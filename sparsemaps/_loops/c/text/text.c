/* Tokens of a prepared text, and n-grams of tokens or of characters. */
#include "text.h"

#include "text_characters.h"
#include "text_counts.h"
#include "text_hash.h"

/* Return the length in bytes of the character that begins with this byte. */
INLINE uint32_t character_bytes(uint8_t first)
{
    return 1 + (uint32_t)((first >= 0xc0) + (first >= 0xe0) + (first >= 0xf0));
}

/* Find the runs of the class that have at least `least` characters (1 or 2). */
static int64_t find_runs(const uint8_t *bytes, const uint8_t *classes, int64_t n_bytes, int least,
                         uint32_t *starts, uint32_t *ends)
{
    int64_t n = 0;
    uint64_t last = 0; /* highest bit of the previous word */
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
                break; /* it ends in a later word */
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

/* Find tokens, some of which are single characters. */
static int64_t find_tokens(const uint8_t *bytes, const uint8_t *classes, int64_t n_bytes,
                           uint32_t *starts, uint32_t *ends)
{
    int64_t n_starts = 0, n_ends = 0;
    uint64_t last_in = 0, last_joined = 0; /* highest bits of the previous words */
    for (int64_t first = 0; first <= n_bytes; first += 64) {
        uint64_t in = 0, joined = 0, leads = 0;
        for (int l = 0; l < 64; l += BYTES_AT_ONCE) {
            const register_u8 here = load_bytes(classes + first + l);
            in |= highest_bits(here) << l;
            joined |= highest_bits(here << 1) << l; /* TEXT_INSIDE */
            leads |= highest_bits((load_bytes(bytes + first + l) & 0xc0) != 0x80) << l;
        }
        uint64_t begin = in & leads & ~(joined & (joined << 1 | last_joined));
        uint64_t end = (in << 1 | last_in) & (~in | begin);
        for (; begin; begin &= begin - 1)
            starts[n_starts++] = (uint32_t)(first + __builtin_ctzll(begin));
        for (; end; end &= end - 1)
            ends[n_ends++] = (uint32_t)(first + __builtin_ctzll(end));
        last_in = in >> 63;
        last_joined = joined >> 63;
    }
    return n_ends;
}

/* Copy n bytes, 16 at a time. Up to 15 more are read and written. */
INLINE void copy_bytes(uint8_t *out, const uint8_t *bytes, int64_t n)
{
    int64_t i = 0;
    do
        memcpy(out + i, bytes + i, 16);
    while ((i += 16) < n);
}

/* Copy the tokens to job->joined, each between two blanks, and update their positions to refer to
 * it. */
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

/* Return whether a word with this hash is in the table. */
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

/* Drop the stop words among n tokens. Return how many remain. */
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

/* Hash the n-grams of n tokens of `bytes`, at job->starts and job->ends. */
static void hash_tokens(text_job *job, const uint8_t *bytes, int64_t n, int64_t shortest,
                        int64_t longest)
{
    for (int64_t size = shortest; size <= longest && size <= n; size++) {
        hash_ranges(bytes, job->starts, job->ends + size - 1, n - size + 1,
                    job->items + job->n_items);
        job->n_items += n - size + 1;
    }
}

/* Find the start of each character of `bytes`, and the end. Return the number of characters. Unless
 * `blanks` is NULL, set its bits for the characters that are blanks. */
INLINE int64_t find_characters(const uint8_t *bytes, int64_t n_bytes, uint32_t *offsets,
                               uint64_t *blanks)
{
    register_u32 lanes = {0};
    int64_t n = 0;
    for (int l = 0; l < HASHES_AT_ONCE; l++)
        lanes[l] = (uint32_t)l;
    if (blanks)
        blanks[0] = 0;
    for (int64_t first = 0; first < n_bytes; first += 64) {
        uint64_t starts = 0, blanks_here = 0;
        for (int l = 0; l < 64; l += BYTES_AT_ONCE) {
            const register_u8 here = load_bytes(bytes + first + l);
            starts |= highest_bits((register_u8)((here & 0xc0) != 0x80)) << l;
            blanks_here |= highest_bits((register_u8)(here == ' ')) << l;
        }
        if (n_bytes - first < 64)
            starts &= (UINT64_C(1) << (n_bytes - first)) - 1;
        if (blanks) {
            const uint64_t extracted = extract_bits(blanks_here, starts);
            blanks[n / 64] |= extracted << n % 64;
            blanks[n / 64 + 1] = n % 64 ? extracted >> (64 - n % 64) : 0;
        }
        for (int l = 0; l < 64; l += HASHES_AT_ONCE)
            n += store_chosen(offsets + n, lanes + (uint32_t)(first + l), starts >> l);
    }
    offsets[n] = (uint32_t)n_bytes;
    return n;
}

/* Hash `size` characters from each of HASHES_AT_ONCE characters on; only the first `n` results
 * count. */
INLINE register_u32 hash_of_characters(const uint8_t *bytes, const uint32_t *offsets, int64_t size,
                                       int64_t n)
{
    const register_u32 starts = load_words(offsets), ends = load_words(offsets + size);
    const register_u32 here = first_lanes(n);
    return hash_of_ranges(bytes, starts & here, ends & here);
}

static void hash_character_ngrams(text_job *job, const uint8_t *bytes, int64_t n_bytes)
{
    const uint32_t *offsets = job->offsets;
    const int64_t n = find_characters(bytes, n_bytes, job->offsets, NULL);
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

/* Replace runs of two or more spaces by one blank, in place. Return the new length. */
static int64_t collapse_spaces(text_job *job, int64_t n_bytes)
{
    uint8_t *bytes = job->bytes, *classes = job->classes;
    uint64_t last = 0, neighbours = 0;
    for (int64_t i = 0; i < n_bytes; i++)
        classes[i] = ~classes[i];
    for (int64_t i = 0; i < n_bytes; i += 64) {
        const uint64_t bits = highest_bits_of_64(classes + i);
        neighbours |= bits & (bits << 1 | last);
        last = bits >> 63;
    }
    if (!neighbours)
        return n_bytes;
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

/* Return a bitmask of the 64 characters of mask word `i` from which `size` characters lie within
 * one token and its two blanks. */
INLINE uint64_t within_words(const uint64_t *blanks, int64_t i, int64_t n, int64_t size)
{
    const int64_t n_starts =
        n - (size > 2 ? size : 2) + 1 - 64 * i; /* the last blank starts none */
    uint64_t crossed = 0;
    for (int64_t k = 1; k <= size - 2 && ~crossed; k++) {
        const uint64_t *from = blanks + i + k / 64; /* the 64 characters that are k further on */
        crossed |= from[0] >> k % 64 | from[1] << (63 - k % 64) << 1;
    }
    return n_starts >= 64  ? ~crossed
           : n_starts <= 0 ? 0
                           : ~crossed & ((UINT64_C(1) << n_starts) - 1);
}

/* Hash the remaining n-grams. A token, with its blanks, that is shorter than all sizes counts once,
 * as a whole. If sizes start at 1, both blanks of a token count, although adjacent tokens share one
 * here. */
static void hash_rest_of_words(text_job *job, int64_t n_tokens)
{
    const uint8_t *bytes = job->joined;
    int64_t n = 0;
    for (int64_t i = 0; i < n_tokens; i++) {
        const uint32_t start = job->starts[i] - 1, end = job->ends[i] + 1;
        int64_t n_characters = 0;
        for (uint32_t at = start; at < end && n_characters < job->shortest; n_characters++)
            at += character_bytes(bytes[at]);
        job->starts[n] = start;
        job->ends[n] = job->shortest == 1 ? start + 1 : end;
        n += job->shortest == 1 || n_characters < job->shortest;
    }
    hash_ranges(bytes, job->starts, job->ends, n, job->items + job->n_items);
    job->n_items += n;
}

static void hash_ngrams_within_words(text_job *job, int64_t n_tokens)
{
    const int64_t n_bytes = join_tokens(job, n_tokens);
    const uint8_t *bytes = job->joined;
    uint32_t *offsets = job->offsets;
    uint64_t *blanks = (uint64_t *)job->sorted;
    const int64_t n = find_characters(bytes, n_bytes, offsets, blanks);
    for (int64_t size = job->shortest; size <= job->longest && size <= n; size++)
        for (int64_t first = 0; first <= n - size; first += 64) {
            uint64_t chosen = within_words(blanks, first / 64, n, size);
            for (int64_t i = first; chosen; i += HASHES_AT_ONCE, chosen >>= HASHES_AT_ONCE) {
                const register_u32 hash =
                    hash_of_characters(bytes, offsets + i, size, n - size + 1 - i);
                job->n_items += store_chosen(job->items + job->n_items, hash, chosen);
            }
        }
    if (job->shortest != 2 && job->shortest != 3)
        hash_rest_of_words(job, n_tokens);
}

static void hash_text(text_job *job, int64_t n_bytes)
{
    job->n_items = 0;
    if (job->analyzer == TEXT_CHARACTERS) {
        n_bytes = collapse_spaces(job, n_bytes);
        hash_character_ngrams(job, job->bytes, n_bytes);
        return;
    }
    int64_t n =
        job->of >= TEXT_SCRIPTS
            ? find_tokens(job->bytes, job->classes, n_bytes, job->starts, job->ends)
            : find_runs(job->bytes, job->classes, n_bytes, job->least, job->starts, job->ends);
    if (job->stop.mask)
        n = drop_stop_words(job, n);
    if (job->analyzer == TEXT_CHARACTERS_OF_WORDS) {
        hash_ngrams_within_words(job, n);
        return;
    }
    if (job->longest > 1)
        join_tokens(job, n);
    hash_tokens(job, job->longest > 1 ? job->joined : job->bytes, n, job->shortest, job->longest);
}

const text_loops TABLE(text)[] = {{
    .prepare = prepare,
    .hash_text = hash_text,
    .hash_tokens = hash_tokens,
    .count = count,
    .distinct = distinct,
    .values = {values_f32, values_f64},
    .hash_ranges = hash_ranges,
}};
