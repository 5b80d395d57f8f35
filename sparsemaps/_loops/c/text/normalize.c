/* A text is split before each character that does not interact with any earlier one. The form of a
 * single-character part is in the tables. In other parts, characters are decomposed, marks are
 * sorted by combining class, and pairs are composed. */
#include "normalize.h"

#include <stdlib.h>
#include <string.h>

void normal_free(normal_job *job)
{
    free(job->part.items);
    free(job->other.items);
    free(job->out.items);
}

static int normal_reserve(normal_job *job, normal_items *array, int64_t n)
{
    if (n <= array->room)
        return 1;
    const int64_t room = n + array->room;
    uint32_t *items = realloc(array->items, (size_t)room * sizeof *items);
    job->failed |= !items;
    if (!items)
        return 0;
    array->items = items;
    array->room = room;
    return 1;
}

static inline uint32_t normal_class(uint32_t item)
{
    return item >> NORMAL_CLASS & 0xff;
}

static inline void normal_put(normal_job *job, uint32_t item)
{
    const int is_blank = (item & NORMAL_BLANK) != 0;
    job->out.items[job->n_out] = is_blank ? ' ' : item & NORMAL_CHARACTER;
    job->n_out += !(is_blank & job->after_blank);
    job->after_blank = is_blank;
}

static inline uint32_t normal_read(const void *text, int64_t i, int kind)
{
    return kind == 1   ? ((const uint8_t *)text)[i]
           : kind == 2 ? ((const uint16_t *)text)[i]
                       : ((const uint32_t *)text)[i] % UINT32_C(0x110000);
}

static inline uint64_t normal_entry(normal_job *job, uint32_t character)
{
    return text_entry(job->pages, character, job->unmet);
}

/* Hangul syllables: a lead, a vowel, and optionally a tail. */
enum { LEAD = 0x1100, VOWEL = 0x1161, TAIL = 0x11a7, SYLLABLE = 0xac00 };
enum { N_LEADS = 19, N_VOWELS = 21, N_TAILS = 28, N_SYLLABLES = N_LEADS * N_VOWELS * N_TAILS };

/* Decompose a character into items. Return their number. */
static inline int64_t normal_decompose(normal_job *job, uint32_t character, uint32_t *items)
{
    const uint64_t entry = normal_entry(job, character);
    const int64_t length = (int64_t)(entry >> NORMAL_LENGTH & 0xff);
    const uint64_t *page = __atomic_load_n(job->pages + character / TEXT_PAGE, __ATOMIC_ACQUIRE);
    const uint64_t *from = page + (entry >> NORMAL_OFFSET & 0xffff);
    if (character - SYLLABLE < N_SYLLABLES) {
        const uint32_t number = character - SYLLABLE, tail = number % N_TAILS;
        items[0] = LEAD + number / (N_VOWELS * N_TAILS);
        items[1] = VOWEL + number / N_TAILS % N_VOWELS;
        items[2] = TAIL + tail;
        return 2 + (tail > 0);
    }
    if (entry & NORMAL_DROPPED)
        return 0;
    items[0] = (uint32_t)entry;
    for (int64_t i = 0; i < length; i++)
        items[i] = (uint32_t)from[i];
    return length ? length : 1;
}

/* Sort n marks by class, stably. */
static void normal_order(normal_job *job, uint32_t *marks, int64_t n)
{
    uint32_t places[256] = {0}, total = 0;
    if (n <= 16) {
        for (int64_t i = 1; i < n; i++) {
            const uint32_t moving = marks[i];
            int64_t j = i;
            for (; j > 0 && normal_class(marks[j - 1]) > normal_class(moving); j--)
                marks[j] = marks[j - 1];
            marks[j] = moving;
        }
        return;
    }
    if (!normal_reserve(job, &job->other, n))
        return;
    for (int64_t i = 0; i < n; i++)
        places[normal_class(marks[i])]++;
    for (int c = 0; c < 256; c++) {
        const uint32_t n_here = places[c];
        places[c] = total;
        total += n_here;
    }
    for (int64_t i = 0; i < n; i++)
        job->other.items[places[normal_class(marks[i])]++] = marks[i];
    memcpy(marks, job->other.items, (size_t)n * sizeof *marks);
}

/* Return the composition of two characters, or 0. */
static inline uint32_t normal_composite(const normal_job *job, uint32_t first, uint32_t second)
{
    if (first - LEAD < N_LEADS && second - VOWEL < N_VOWELS)
        return SYLLABLE + ((first - LEAD) * N_VOWELS + second - VOWEL) * N_TAILS;
    if (first - SYLLABLE < N_SYLLABLES && (first - SYLLABLE) % N_TAILS == 0
        && second - TAIL - 1 < N_TAILS - 1)
        return first + second - TAIL;
    const uint64_t pair = (uint64_t)first << 21 | second;
    for (uint64_t slot = normal_slot(pair) & job->mask;; slot = (slot + 1) & job->mask) {
        if (job->pairs[slot] >> 21 == pair)
            return (uint32_t)job->pairs[slot] & NORMAL_CHARACTER;
        if (!job->pairs[slot])
            return 0;
    }
}

/* Compose n items in place. Return how many remain. */
static int64_t normal_compose(const normal_job *job, uint32_t *items, int64_t n)
{
    int64_t end = 0, starter = -1;
    uint32_t last = 0; /* class of the previous item, if it is a mark of the starter */
    for (int64_t i = 0; i < n; i++) {
        const uint32_t item = items[i], class = normal_class(item);
        uint32_t composite = 0;
        if (starter >= 0 && (last == 0 || last < class))
            composite =
                normal_composite(job, items[starter] & NORMAL_CHARACTER, item & NORMAL_CHARACTER);
        if (composite) {
            items[starter] = composite;
            continue;
        }
        if (class == 0)
            starter = end;
        last = class;
        items[end++] = item;
    }
    return end;
}

/* Append the form of a part of `n` characters. */
static void normal_part(normal_job *job, const void *text, int64_t first, int64_t n, int kind)
{
    enum { MOST = 256 }; /* items of a character; their number has 8 bits */
    uint32_t *items;
    int64_t n_items = 0;
    for (int64_t i = first; i < first + n; i++) {
        if (!normal_reserve(job, &job->part, n_items + MOST))
            return;
        n_items += normal_decompose(job, normal_read(text, i, kind), job->part.items + n_items);
    }
    items = job->part.items;
    for (int64_t i = 0; i < n_items;) {
        int64_t stop = i;
        while (stop < n_items && normal_class(items[stop]))
            stop++;
        if (stop > i + 1)
            normal_order(job, items + i, stop - i);
        i = stop + 1;
    }
    if (job->folds)
        for (int64_t i = 0; i < n_items; i++)
            if ((items[i] & NORMAL_CHARACTER) == 0x345)
                items[i] = 0x3b9;
    n_items = normal_compose(job, items, n_items);
    if (!normal_reserve(job, &job->out, job->n_out + n_items))
        return;
    for (int64_t i = 0; i < n_items; i++)
        normal_put(job, items[i]);
}

/* Return whether a text consists only of single-character parts that do not change. */
static inline int normal_is_unchanged(normal_job *job, const void *text, int64_t n, int kind)
{
    const uint64_t asked = NORMAL_BEGINS | NORMAL_ALONE | NORMAL_BLANK | NORMAL_CHARACTER;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t character = normal_read(text, i, kind);
        if ((normal_entry(job, character) & asked) != (NORMAL_BEGINS | NORMAL_ALONE | character))
            return 0;
    }
    return 1;
}

static inline void normal_text_of(normal_job *job, const void *text, int64_t n, int kind)
{
    if (normal_is_unchanged(job, text, n, kind)) {
        job->n_out = -1;
        return;
    }
    uint64_t next = n ? normal_entry(job, normal_read(text, 0, kind)) : 0;
    for (int64_t i = 0; i < n && !job->failed;) {
        const uint64_t entry = next;
        int64_t stop = i + 1;
        for (; stop < n; stop++) {
            next = normal_entry(job, normal_read(text, stop, kind));
            if (next & NORMAL_BEGINS)
                break;
        }
        if (stop > i + 1 || !(entry & NORMAL_ALONE))
            normal_part(job, text, i, stop - i, kind);
        else if (job->n_out < job->out.room || normal_reserve(job, &job->out, job->n_out + n - i))
            normal_put(job, (uint32_t)entry);
        i = stop;
    }
}

void normal_text(normal_job *job, const void *text, int64_t n, int kind)
{
    job->n_out = job->after_blank = 0;
    if (kind == 1)
        normal_text_of(job, text, n, 1);
    else if (kind == 2)
        normal_text_of(job, text, n, 2);
    else
        normal_text_of(job, text, n, 4);
}
