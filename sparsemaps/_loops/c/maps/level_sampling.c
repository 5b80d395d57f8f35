#include "level_sampling.h"

#include <math.h>

#include "bins.h"
#include "elementary.h"
#include "random.h"

/* Difference between levels of a column, before mixing. Blocks are numbered after all levels. */
#define LEVEL_STEP UINT64_C(0xd1342543de82ef95)
#define BLOCKS (UINT64_C(1) << 32)

/* A value has VALUE_BITS bits in the first round; values of later rounds are larger. A level of a
 * block with a time below LEVEL_TIME = -ln(3/4) has a value in the first quarter. */
#define LEVEL_TIME 0.28768207245178096
enum { VALUE_BITS = 62 };
#define LATER (UINT64_C(1) << VALUE_BITS)
#define QUARTER (LATER >> 2)

enum {
    FIRST_LEVELS = 1 << LEVEL_BITS,
    ID_BITS = LEVEL_BITS + 1,
    MOST_BITS = 31,  /* an entry has fewer than 2^MOST_BITS levels */
    TOTAL_BITS = 34, /* a row has at most 2^TOTAL_BITS levels */
    ROUND_BINS = 64, /* one more round per ROUND_BINS bins */
    FULL = 4,        /* members per bin, below which some bin is likely empty */
    MANY = 16,       /* levels per bin, above which few levels can win */
    MARKED = 384,    /* levels, from which on empty bins are tracked in a bitmask */
    SCANNED = 128,   /* entries that are searched for several levels at a time */
    LANES = 8,       /* levels of an entry hashed at a time */
    STREAMS = 16,    /* streams drawn at a time */
    POINTS = 8,      /* points drawn per stream */
    DRAWN = STREAMS * POINTS,
    OWN = 4 * DRAWN, /* points of the row's own levels that are buffered */
    FILLED = 8       /* bins filled at a time */
};

/* Whether the processor can quickly select the lanes of a register that are below a bound. */
#define FINDS_FAST (REGISTER_BYTES == 64)

/* Turns a member's word into its word and value in a round. */
typedef struct {
    uint64_t flip, factor;
    uint64_t least; /* offset of the values */
    int shift;
} level_round;

/* Consecutive members. */
typedef struct {
    const uint64_t *starts, *ids;
    const uint32_t *levels;
    ptrdiff_t n;
} level_members;

/* A row, and how much of it is kept in memory. */
typedef struct {
    ptrdiff_t n_entries;
    uint64_t total;          /* levels in total */
    uint32_t most;           /* most levels of an entry */
    ptrdiff_t n_heavy;       /* entries with levels in blocks */
    uint64_t mask;           /* covers ids, and positions in a tile */
    ptrdiff_t n_low, n_kept; /* kept members: those in no block, and all */
} level_row;

typedef struct {
    ptrdiff_t first; /* next kept member, or next entry for level 0 */
    ptrdiff_t entry; /* the entry whose level comes next */
    uint64_t level;
} level_cursor;

INLINE uint64_t level_start(uint64_t column, uint64_t level)
{
    return level == 0 ? column : mix64(column + level * LEVEL_STEP);
}

INLINE uint64_t round_word(uint64_t start, const level_round *round)
{
    return (start ^ round->flip) * round->factor;
}

/* In the first round, a member's word is used unchanged. */
static const level_round first_of_rounds = {0, 1, 0, 64 - VALUE_BITS};

/* Return round `number`, which takes `bits` bits of a value; 0 is the first round. */
static level_round round_of(uint64_t number, int bits)
{
    const uint64_t word = mix64(number * STEP);
    if (number == 0)
        return first_of_rounds;
    return (level_round){word << 32 | word >> 32, word | 1, LATER | number << (VALUE_BITS - bits),
                         64 - VALUE_BITS + bits};
}

/* ---- levels of entries ------------------------------------------------------------------- */

/* Compute the starts of the words of `n` entries' columns, from entry `first` on. */
static void read_columns(const csr_block *rows, int64_t first, ptrdiff_t n, const level_map *map,
                         uint64_t *restrict starts)
{
    if (map->is_signed)
        for (ptrdiff_t i = 0; i < n; i++)
            starts[i] = column_start(map->key, column_at(rows, first + i, 1));
    else
        column_starts(rows->indices, rows->index_size, first, n, map->key, starts);
}

/* Read the absolute values of the same entries. */
static void read_weights(const csr_block *rows, int64_t first, ptrdiff_t n,
                         double *restrict weights)
{
    const float *restrict narrow = (const float *)values_from(rows, first);
    const double *restrict wide = (const double *)values_from(rows, first);
    if (rows->value_size == sizeof *narrow)
        for (ptrdiff_t i = 0; i < n; i++)
            weights[i] = fabs((double)narrow[i]);
    else
        for (ptrdiff_t i = 0; i < n; i++)
            weights[i] = fabs(wide[i]);
}

/* Return whether every value is 1 and has one level, as in binary rows. Usually the first value
 * decides. */
static int are_single(const csr_block *rows, int64_t first, ptrdiff_t n, const level_map *map)
{
    const float *restrict narrow = (const float *)values_from(rows, first);
    const double *restrict wide = (const double *)values_from(rows, first);
    int64_t others = 0;
    if (map->power != 1.0 || map->resolution != 1.0 || value_at(rows, first) != 1.0)
        return 0;
    if (rows->value_size == sizeof *narrow)
        for (ptrdiff_t i = 0; i < n; i++)
            others |= narrow[i] != 1.0f;
    else
        for (ptrdiff_t i = 0; i < n; i++)
            others |= wide[i] != 1.0;
    return !others;
}

/* Compute the number of levels of each of n weights, which are overwritten. A weight that is NaN or
 * has 2^31 levels or more gets 2^31 + 1. */
static void count_levels(double *restrict weights, const uint64_t *restrict starts, ptrdiff_t n,
                         const level_map *map, uint32_t *restrict counts)
{
    int any_rest = 0, any_large = 0;
    if (map->power != 1.0)
        for (ptrdiff_t i = 0; i < n; i++)
            weights[i] = weights[i] > 0.0 ? exp_f64(map->power * log_f64(weights[i])) : 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double x = weights[i] * map->resolution;
        const int fits = x < 0x1p31;
        const int32_t whole = (int32_t)(fits ? x : 0.0);
        weights[i] = x - (double)whole; /* the fraction */
        counts[i] = (uint32_t)whole;
        any_rest |= weights[i] > 0.0;
        any_large |= !fits;
    }
    if (!any_rest && !any_large)
        return;
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t next = mix64(level_start(starts[i], counts[i]) - STEP);
        counts[i] += (double)(int32_t)(next >> 33) + 0.5 < weights[i] * 0x1p31;
    }
    for (ptrdiff_t i = 0; any_large && i < n; i++)
        if (!(weights[i] < 1.0))
            counts[i] = (UINT32_C(1) << 31) + 1;
}

/* Count the levels of n entries from `first` on, and add them to the row's. Return the least number
 * of levels of an entry. */
static uint32_t read_levels(const csr_block *rows, int64_t first, ptrdiff_t n, const level_map *map,
                            const uint64_t *starts, double *weights, uint32_t *restrict counts,
                            level_row *row)
{
    uint64_t total = 0;
    uint32_t least = UINT32_MAX, most = row->most;
    if (are_single(rows, first, n, map)) {
        for (ptrdiff_t i = 0; i < n; i++)
            counts[i] = 1;
        row->total += (uint64_t)n;
        row->most = most > 1 ? most : 1;
        return 1;
    }
    read_weights(rows, first, n, weights);
    count_levels(weights, starts, n, map, counts);
    for (ptrdiff_t i = 0; i < n; i++) {
        total += counts[i];
        least = counts[i] < least ? counts[i] : least;
        most = counts[i] > most ? counts[i] : most;
    }
    row->total += total;
    row->most = most;
    return least;
}

/* Drop entries without levels by moving the last entries over them. Return how many remain. */
static ptrdiff_t leave_out_zeros(ptrdiff_t n, uint64_t *restrict starts, uint64_t *restrict ids,
                                 uint32_t *restrict counts, level_scratch *s)
{
    uint32_t *restrict above = s->numbers; /* number of levels - 1, which wraps around for 0 */
    for (ptrdiff_t i = 0; i < n; i++)
        above[i] = counts[i] - 1;
    const ptrdiff_t n_zeros = find_above(above, n, UINT32_MAX - 1, s->hits);
    for (ptrdiff_t h = n_zeros - 1; h >= 0; h--) {
        const uint32_t i = s->hits[h];
        n--;
        starts[i] = starts[n];
        ids[i] = ids[n];
        counts[i] = counts[n];
    }
    return n;
}

/* Read the entries of a row that have levels, with their numbers of levels and the starts of their
 * words. */
static level_row read_row(const csr_block *rows, ptrdiff_t row, const level_map *map,
                          level_scratch *s)
{
    const int64_t end = rows->indptr[row + 1];
    level_row found = {0};
    uint64_t id = 0;
    for (int64_t first = rows->indptr[row]; first < end; first += LEVELS_TILE) {
        const ptrdiff_t here = end - first < LEVELS_TILE ? end - first : LEVELS_TILE;
        const ptrdiff_t before = found.n_entries;
        uint64_t *starts = s->starts + before, *ids = s->ids + before;
        uint32_t *counts = s->counts + before;
        ptrdiff_t n = here;
        read_columns(rows, first, here, map, starts);
        for (ptrdiff_t i = 0; i < here; i++)
            ids[i] = id + ((uint64_t)i << ID_BITS);
        id += (uint64_t)here << ID_BITS;
        if (read_levels(rows, first, here, map, starts, s->weights, counts, &found) == 0)
            n = leave_out_zeros(here, starts, ids, counts, s);
        if (found.most > FIRST_LEVELS) {
            const ptrdiff_t n_heavy = find_above(counts, n, FIRST_LEVELS, s->hits);
            for (ptrdiff_t h = 0; h < n_heavy; h++)
                s->heavy[found.n_heavy + h] = (uint64_t)before + s->hits[h];
            found.n_heavy += n_heavy;
        }
        found.n_entries += n;
    }
    found.mask = position_mask((ptrdiff_t)(id > LEVELS_TILE ? id : LEVELS_TILE));
    return found;
}

/* ---- members ----------------------------------------------------------------------------- */

/* Write 8 levels of an entry as members, from `level` on: unmixed word starts, and ids. */
INLINE void write_eight(uint64_t start, uint64_t id, uint64_t level, uint64_t *restrict starts,
                        uint64_t *restrict ids)
{
    for (uint64_t c = 0; c < 8; c++)
        starts[c] = start + (level + c) * LEVEL_STEP;
    for (uint64_t c = 0; c < 8; c++)
        ids[c] = id + level + c;
}

/* Write the next members with levels from 1 to FIRST_LEVELS - 1, as long as there are fewer than
 * `room`. Return their number, 0 at the end. There must be room for FIRST_LEVELS more. */
static ptrdiff_t write_low(const level_row *row, level_scratch *s, ptrdiff_t room, level_cursor *at,
                           uint64_t *restrict starts, uint64_t *restrict ids)
{
    /* If many entries have more than 8 such levels, the branch would be mispredicted too often. */
    const uint32_t short_count = row->total > 6 * (uint64_t)row->n_entries ? 0 : 9;
    ptrdiff_t n = 0;
    while (at->entry < row->n_entries && n < room) {
        const ptrdiff_t rest = row->n_entries - at->entry;
        const ptrdiff_t here = rest < SCANNED ? rest : SCANNED;
        const ptrdiff_t n_longer = find_above(s->counts + at->entry, here, 1, s->hits);
        ptrdiff_t h = 0;
        for (; h < n_longer && n < room; h++) {
            const ptrdiff_t entry = at->entry + s->hits[h];
            const uint64_t start = s->starts[entry], id = s->ids[entry];
            const uint32_t count = s->counts[entry];
            /* Members beyond the last level are overwritten. */
            write_eight(start, id, 1, starts + n, ids + n);
            if (count > short_count)
                write_eight(start, id, 9, starts + n + 8, ids + n + 8);
            n += (ptrdiff_t)(count < FIRST_LEVELS ? count : FIRST_LEVELS) - 1;
        }
        at->entry += h < n_longer ? (ptrdiff_t)s->hits[h] : here;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        starts[i] = mix64(starts[i]);
    return n;
}

/* Do the same for the levels from FIRST_LEVELS on, but never write more than `room`. */
static ptrdiff_t write_high(const level_row *row, const level_scratch *s, ptrdiff_t room,
                            level_cursor *at, uint64_t *restrict starts, uint64_t *restrict ids,
                            uint32_t *restrict levels)
{
    ptrdiff_t n = 0;
    uint64_t first = at->level > 0 ? at->level : FIRST_LEVELS;
    while (at->entry < row->n_heavy && n < room) {
        const uint64_t entry = s->heavy[at->entry];
        const uint64_t start = s->starts[entry], id = s->ids[entry];
        const uint64_t left = s->counts[entry] - first, most = (uint64_t)(room - n);
        const uint64_t here = left < most ? left : most;
        for (uint64_t c = 0; c < here; c++) {
            starts[n + (ptrdiff_t)c] = mix64(start + (first + c) * LEVEL_STEP);
            ids[n + (ptrdiff_t)c] = id + FIRST_LEVELS;
            levels[n + (ptrdiff_t)c] = (uint32_t)(first + c);
        }
        n += (ptrdiff_t)here;
        first += here;
        if (here < left)
            break;
        at->entry++;
        first = FIRST_LEVELS;
    }
    at->level = first;
    return n;
}

/* Keep the members of a row that does not have too many. */
static void keep_members(level_row *row, level_scratch *s)
{
    const ptrdiff_t n = row->n_entries;
    level_cursor at = {0, 0, 0};
    row->n_low = n;
    if (row->most > 1)
        row->n_low += write_low(row, s, LEVELS_KEPT, &at, s->starts + n, s->ids + n);
    row->n_kept = row->n_low;
    at = (level_cursor){0, 0, 0};
    if (row->n_heavy > 0)
        row->n_kept += write_high(row, s, LEVELS_KEPT, &at, s->starts + row->n_low,
                                  s->ids + row->n_low, s->members + row->n_low);
}

/* Return the next members with levels below FIRST_LEVELS, or with the other levels; none at the
 * end. */
static level_members next_members(const level_row *row, int is_high, level_cursor *at,
                                  level_scratch *s)
{
    const ptrdiff_t first = at->first;
    const int is_kept = row->n_kept > 0;
    ptrdiff_t start = is_kept && is_high ? row->n_low : 0;
    ptrdiff_t stop = is_kept ? (is_high ? row->n_kept : row->n_low) : row->n_entries;
    start += first;
    if (start < stop && (is_kept || !is_high)) {
        ptrdiff_t n = stop - start < LEVELS_TILE ? stop - start : LEVELS_TILE;
        at->first += n;
        return (level_members){s->starts + start, s->ids + start,
                               is_kept ? s->members + start : NULL, n};
    }
    if (is_kept)
        return (level_members){NULL, NULL, NULL, 0};
    ptrdiff_t n = 0;
    if (is_high)
        n = write_high(row, s, LEVELS_TILE, at, s->tile_starts, s->tile_ids, s->tile_members);
    else if (row->most > 1)
        n = write_low(row, s, LEVELS_TILE - FIRST_LEVELS, at, s->tile_starts, s->tile_ids);
    return (level_members){s->tile_starts, s->tile_ids, s->tile_members, n};
}

/* ---- rounds ------------------------------------------------------------------------------ */

INLINE void bins_and_values_of(const level_members *members, level_round round, uint64_t k,
                               uint64_t mask, uint32_t *restrict numbers, uint64_t *restrict values)
{
    const uint64_t *restrict starts = members->starts, *restrict ids = members->ids;
    for (ptrdiff_t i = 0; i < members->n; i++) {
        const uint64_t word = round_word(starts[i], &round);
        const uint64_t product = bin_and_fraction(word, k);
        const uint64_t value = (product << 32 | (word & UINT32_MAX)) >> round.shift;
        numbers[i] = (uint32_t)(product >> 32);
        values[i] = (value & ~mask) | round.least | ids[i];
    }
}

static void bins_and_values(const level_members *members, const level_round *round, uint64_t k,
                            uint64_t mask, uint32_t *restrict numbers, uint64_t *restrict values)
{
    if (round->least == 0)
        bins_and_values_of(members, first_of_rounds, k, mask, numbers, values);
    else
        bins_and_values_of(members, *round, k, mask, numbers, values);
}

/* Compute the values of levels of blocks whose times are not below LEVEL_TIME. */
static void raise_values(const uint64_t *restrict ids, ptrdiff_t n, uint64_t mask,
                         uint64_t *restrict values)
{
    for (ptrdiff_t i = 0; i < n; i++)
        values[i] = ((QUARTER + 3 * (values[i] >> 2)) & ~mask) | ids[i];
}

/* Offer a level of a block to a bin. */
INLINE void keep_high(level_scratch *s, uint64_t bin, uint64_t value, uint32_t level)
{
    const uint64_t before = s->bins[bin];
    const uint32_t level_before = s->high[bin];
    const int is_less = value < before;
    s->bins[bin] = is_less ? value : before;
    s->high[bin] = is_less ? level : level_before;
}

/* Offer the n values of a tile to the bins given by the products, if they are below a bound. */
static void keep_below(ptrdiff_t n, uint64_t bound, level_scratch *s)
{
    const uint64_t *restrict products = s->products, *restrict values = s->values;
    uint64_t *restrict bins = s->bins;
    const ptrdiff_t n_hits = find_below(values, n, bound, s->hits);
    for (ptrdiff_t h = 0; h < n_hits; h++) {
        const uint32_t i = s->hits[h];
        const uint64_t bin = products[i] >> 32;
        bins[bin] = smaller(bins[bin], values[i]);
    }
}

/* Offer level 0 of each entry to its bin of the first round, if its value is below a bound. */
static void offer_level_0(const level_row *row, uint64_t bound, uint64_t k, level_scratch *s)
{
    const uint64_t mask = row->mask;
    uint64_t *restrict products = s->products, *restrict values = s->values;
    for (ptrdiff_t first = 0; first < row->n_entries; first += LEVELS_TILE) {
        const uint64_t *restrict starts = s->starts + first, *restrict ids = s->ids + first;
        const ptrdiff_t rest = row->n_entries - first, n = rest < LEVELS_TILE ? rest : LEVELS_TILE;
        for (ptrdiff_t i = 0; i < n; i++) {
            const uint64_t product = bin_and_fraction(starts[i], k);
            const uint64_t value = (product << 32 | (starts[i] & UINT32_MAX)) >> (64 - VALUE_BITS);
            products[i] = product;
            values[i] = (value & ~mask) | ids[i];
        }
        keep_below(n, bound, s);
    }
}

/* Do the same for levels 1 to FIRST_LEVELS - 1. They are hashed LANES at a time and not written;
 * levels that an entry lacks get a value of all ones. */
static void offer_low(const level_row *row, uint64_t bound, uint64_t k, level_scratch *s)
{
    const lanes_u64 each = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint64_t mask = row->mask;
    uint64_t beyond[FIRST_LEVELS + LANES];
    for (int i = 0; i < FIRST_LEVELS + LANES; i++)
        beyond[i] = i < FIRST_LEVELS ? 0 : UINT64_MAX;
    for (uint32_t level = 1; level < FIRST_LEVELS && level < row->most; level += LANES) {
        const lanes_u64 levels = each + level, steps = levels * LEVEL_STEP;
        ptrdiff_t n = 0;
        for (ptrdiff_t first = 0; first < row->n_entries; first += LEVELS_TILE) {
            const uint64_t *restrict starts = s->starts + first, *restrict ids = s->ids + first;
            const uint32_t *restrict counts = s->counts + first;
            const ptrdiff_t rest = row->n_entries - first;
            const ptrdiff_t here = rest < LEVELS_TILE ? rest : LEVELS_TILE;
            const ptrdiff_t n_longer = find_above(counts, here, level, s->numbers);
            /* The index from which `beyond` is all ones for the levels that the entry lacks. */
            for (ptrdiff_t i = 0; i < here; i++)
                s->tile_members[i] =
                    FIRST_LEVELS + level - (counts[i] < FIRST_LEVELS ? counts[i] : FIRST_LEVELS);
            for (ptrdiff_t h = 0; h < n_longer; h++) {
                const uint32_t i = s->numbers[h];
                const lanes_u64 words = mix_lanes(starts[i] + steps);
                const lanes_u64 product = (words >> 32) * k;
                lanes_u64 value = (product << 32 | (words & UINT32_MAX)) >> (64 - VALUE_BITS), none;
                memcpy(&none, beyond + s->tile_members[i], sizeof none);
                value = (value & ~mask) | (levels + ids[i]) | none;
                memcpy(s->values + n, &value, sizeof value);
                memcpy(s->products + n, &product, sizeof product);
                n += LANES;
                if (n == LEVELS_TILE) {
                    keep_below(n, bound, s);
                    n = 0;
                }
            }
        }
        keep_below(n, bound, s);
    }
}

/* Offer the members of a later round to their bins, if these were empty before it. */
static void offer_to_empty(const level_row *row, const level_round *round, int is_high, uint64_t k,
                           level_scratch *s)
{
    level_cursor at = {0, 0, 0};
    for (;;) {
        const level_members members = next_members(row, is_high, &at, s);
        if (members.n == 0)
            return;
        bins_and_values(&members, round, k, row->mask, s->numbers, s->values);
        const ptrdiff_t n_hits = find_marked(s->numbers, members.n, s->empty, s->hits);
        for (ptrdiff_t h = 0; h < n_hits; h++) {
            const uint32_t i = s->hits[h];
            keep_high(s, s->numbers[i], s->values[i], is_high ? members.levels[i] : 0);
        }
    }
}

/* Offer the members of a round to their bins, if their values are below a bound (EMPTY: no
 * bound). */
static void offer(const level_row *row, const level_round *round, int is_high, uint64_t bound,
                  uint64_t k, level_scratch *s)
{
    level_cursor at = {0, 0, 0};
    uint64_t *restrict bins = s->bins;
    for (;;) {
        const level_members members = next_members(row, is_high, &at, s);
        if (members.n == 0)
            return;
        bins_and_values(&members, round, k, row->mask, s->numbers, s->values);
        if (is_high && round->least == 0)
            raise_values(members.ids, members.n, row->mask, s->values);
        if (is_high) {
            for (ptrdiff_t i = 0; i < members.n; i++)
                keep_high(s, s->numbers[i], s->values[i], members.levels[i]);
        } else if (bound == EMPTY) {
            for (ptrdiff_t i = 0; i < members.n; i++)
                bins[s->numbers[i]] = smaller(bins[s->numbers[i]], s->values[i]);
        } else {
            const ptrdiff_t n_hits = find_below(s->values, members.n, bound, s->hits);
            for (ptrdiff_t h = 0; h < n_hits; h++) {
                const uint32_t i = s->hits[h];
                bins[s->numbers[i]] = smaller(bins[s->numbers[i]], s->values[i]);
            }
        }
    }
}

/* ---- streams of blocks ------------------------------------------------------------------- */

/* Return the value for a time below LEVEL_TIME: 1 - e^-t. */
INLINE uint64_t value_of_time(double t)
{
    double p = 1.0 / 479001600.0;
    p = 1.0 / 39916800.0 - p * t;
    p = 1.0 / 3628800.0 - p * t;
    p = 1.0 / 362880.0 - p * t;
    p = 1.0 / 40320.0 - p * t;
    p = 1.0 / 5040.0 - p * t;
    p = 1.0 / 720.0 - p * t;
    p = 1.0 / 120.0 - p * t;
    p = 1.0 / 24.0 - p * t;
    p = 1.0 / 6.0 - p * t;
    p = 0.5 - p * t;
    p = t - p * (t * t);
    return (uint64_t)(int64_t)(p * 0x1p62);
}

/* Compute exponentials of rate 1 from the upper halves of words, as -ln(1 - u). For small u, use
 * the series, so that the smallest ones are accurate to the last bit. */
INLINE void exponentials(const uint64_t *restrict words, uint32_t *restrict small,
                         double *restrict out)
{
    for (ptrdiff_t i = 0; i < DRAWN; i++) {
        /* By exclusive or: with a complement, GCC's code has a dependency on the previous
         * number. */
        const uint32_t rest = (uint32_t)(words[i] >> 40) ^ UINT32_C(0xffffff);
        out[i] = (double)-log_f32((float)(int32_t)(rest | 1) * 0x1p-24f);
    }
    const ptrdiff_t n_small = find_below(words, DRAWN, UINT64_C(1) << 58, small); /* u < 2^-6 */
    for (ptrdiff_t j = 0; j < n_small; j++) {
        const double u = ((double)(int32_t)(words[small[j]] >> 33) + 0.5) * 0x1p-31;
        double p = 1.0 / 6.0;
        p = p * u + 1.0 / 5.0;
        p = p * u + 1.0 / 4.0;
        p = p * u + 1.0 / 3.0;
        p = p * u + 1.0 / 2.0;
        out[small[j]] = u + p * (u * u);
    }
}

/* Points below the limit that are levels of the row. */
typedef struct {
    uint64_t words[OWN], ids[OWN]; /* later the bins, and the values */
    double times[OWN];
    uint32_t levels[OWN];
    ptrdiff_t n;
} level_points;

/* Draw the next POINTS points of each of STREAMS streams, from stream `first` on. */
static void draw_points(double limit, ptrdiff_t first, level_streams *streams, level_points *own)
{
    const uint64_t *restrict starts = streams->starts + first;
    const uint64_t *restrict bits = streams->bits + first;
    const uint64_t *restrict counts = streams->counts + first;
    double *restrict times = streams->times + first;
    uint64_t words[DRAWN], levels[DRAWN], keys[DRAWN];
    double steps[DRAWN];
    uint32_t hits[DRAWN];
    memcpy(words, streams->words + first, STREAMS * sizeof *words);
    for (ptrdiff_t c = 1; c < POINTS; c++)
        for (ptrdiff_t i = 0; i < STREAMS; i++)
            words[c * STREAMS + i] = mix64(starts[i] + (uint64_t)c * STEP);
    exponentials(words, hits, steps);
    for (ptrdiff_t c = 0; c < POINTS; c++) {
        const ptrdiff_t from = c * STREAMS;
        for (ptrdiff_t i = 0; i < STREAMS; i++) {
            const uint64_t low = words[from + i] & UINT32_MAX;
            times[i] += steps[from + i] * bits_to_double((1023 - bits[i]) << 52);
            levels[from + i] = ((UINT64_C(1) << 32) + low) >> (32 - bits[i]);
            /* Non-negative numbers are in the order of their bits. */
            keys[from + i] = levels[from + i] < counts[i] ? double_to_bits(times[i]) : UINT64_MAX;
        }
    }
    const ptrdiff_t n_own = find_below(keys, DRAWN, double_to_bits(limit), hits);
    for (ptrdiff_t j = 0; j < n_own; j++) {
        const uint32_t hit = hits[j];
        const ptrdiff_t stream = first + hit % STREAMS, to = own->n + j;
        own->words[to] = streams->columns[stream] + levels[hit] * LEVEL_STEP;
        own->ids[to] = streams->ids[stream] | FIRST_LEVELS;
        own->times[to] = bits_to_double(keys[hit]);
        own->levels[to] = (uint32_t)levels[hit];
    }
    own->n += n_own;
}

/* Offer the points to their bins. */
static void keep_points(level_points *own, uint64_t k, uint64_t mask, level_scratch *s)
{
    for (ptrdiff_t j = 0; j < own->n; j++) {
        own->words[j] = bin_and_fraction(mix64(own->words[j]), k) >> 32;
        own->ids[j] |= value_of_time(own->times[j]) & ~mask;
    }
    for (ptrdiff_t j = 0; j < own->n; j++)
        keep_high(s, own->words[j], own->ids[j], own->levels[j]);
    own->n = 0;
}

/* Offer all points of n streams that are below the limit and are levels of the row to their
 * bins. */
static void read_streams(const level_row *row, double limit, ptrdiff_t n, uint64_t k,
                         level_scratch *s)
{
    level_streams *streams = &s->streams;
    level_points own;
    own.n = 0;
    while (n > 0) {
        ptrdiff_t n_left = 0;
        for (ptrdiff_t i = n; i % STREAMS != 0; i++) { /* pad with streams without levels */
            streams->words[i] = streams->starts[i] = streams->bits[i] = streams->counts[i] = 0;
            streams->times[i] = 0.0;
        }
        for (ptrdiff_t i = 0; i < n; i += STREAMS) {
            draw_points(limit, i, streams, &own);
            if (own.n > OWN - DRAWN)
                keep_points(&own, k, row->mask, s);
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            streams->left[n_left] = (uint32_t)i;
            n_left += streams->times[i] < limit;
        }
        n = n_left;
        for (ptrdiff_t i = 0; i < n; i++) {
            const uint32_t from = streams->left[i];
            streams->starts[i] = streams->starts[from] + POINTS * STEP;
            streams->words[i] = mix64(streams->starts[i]);
            streams->columns[i] = streams->columns[from];
            streams->ids[i] = streams->ids[from];
            streams->times[i] = streams->times[from];
            streams->counts[i] = streams->counts[from];
            streams->bits[i] = streams->bits[from];
        }
    }
    keep_points(&own, k, row->mask, s);
}

/* Offer the levels of blocks with times below the limit to their bins. A time is at least the
 * uniform number that it is computed from, which excludes most streams at once. */
static void offer_blocks(const level_row *row, double limit, uint64_t k, level_scratch *s)
{
    level_streams *streams = &s->streams;
    uint64_t *words = s->values;
    uint64_t *heavy = s->tile_ids; /* entries */
    ptrdiff_t n = 0;
    for (ptrdiff_t first = 0; first < row->n_heavy; first += LEVELS_TILE) {
        ptrdiff_t n_heavy = row->n_heavy - first < LEVELS_TILE ? row->n_heavy - first : LEVELS_TILE;
        memcpy(heavy, s->heavy + first, (size_t)n_heavy * sizeof *heavy);
        for (uint32_t bits = LEVEL_BITS; n_heavy > 0 && bits < MOST_BITS; bits++) {
            const double least = limit * (double)(UINT64_C(1) << bits) + 0x1p-30;
            const uint64_t bound = least < 1.0 ? (uint64_t)(least * 0x1p64) : UINT64_MAX;
            ptrdiff_t n_hits, n_heavier = 0;
            for (ptrdiff_t i = 0; i < n_heavy; i++)
                words[i] = mix64(s->starts[heavy[i]] + (BLOCKS + bits) * LEVEL_STEP);
            n_hits = find_below(words, n_heavy, bound, s->hits);
            for (ptrdiff_t h = 0; h < n_hits; h++) {
                const uint64_t entry = heavy[s->hits[h]];
                streams->words[n] = streams->starts[n] = words[s->hits[h]];
                streams->columns[n] = s->starts[entry];
                streams->ids[n] = s->ids[entry];
                streams->times[n] = 0.0;
                streams->counts[n] = s->counts[entry];
                streams->bits[n++] = bits;
            }
            for (ptrdiff_t i = 0; i < n_heavy; i++) {
                heavy[n_heavier] = heavy[i];
                n_heavier += s->counts[heavy[i]] > UINT32_C(2) << bits;
            }
            n_heavy = n_heavier;
            if (n > LEVEL_STREAMS - LEVELS_TILE) {
                read_streams(row, limit, n, k, s);
                n = 0;
            }
        }
    }
    read_streams(row, limit, n, k, s);
}

/* ---- rows -------------------------------------------------------------------------------- */

/* Return the time below which, with probability 0.95, every bin has a level: ln k + 3 levels per
 * bin on average, out of `total`. It is infinite if that would be most of the levels. */
static double first_limit(uint64_t total, uint64_t k)
{
    const double share = (log_f64((double)k) + 3.0) * (double)k / (double)total;
    return total > MANY * k && share < 1.0 ? -log_f64(1.0 - share) : INFINITY;
}

/* Run the first round. If there are many levels, try only those below a time limit that is unlikely
 * to leave a bin empty, then double the limit until no bin is empty. Inlined in its caller, it
 * would be 10 % slower, because too few registers are left for the innermost loops. */
static NOT_INLINE void first_round(const level_row *row, uint64_t k, level_scratch *s)
{
    const level_round round = first_of_rounds;
    double limit = first_limit(row->total, k);
    for (;; limit *= 2.0) {
        /* Times and values are rounded, so values close to the limit count as beyond it. */
        uint64_t bound = EMPTY;
        if (limit < LEVEL_TIME)
            bound = value_of_time(limit);
        else if (limit < 8.0)
            bound = (uint64_t)((1.0 - exp_f64(-limit)) * 0x1p62);
        if (row->n_kept > 0 || !FINDS_FAST) {
            offer(row, &round, 0, bound, k, s);
        } else {
            offer_level_0(row, bound, k, s);
            offer_low(row, bound, k, s);
        }
        if (row->n_heavy > 0) {
            offer_blocks(row, limit < LEVEL_TIME ? limit : LEVEL_TIME, k, s);
            if (limit >= LEVEL_TIME)
                offer(row, &round, 1, bound, k, s);
        }
        if (bound == EMPTY || largest_value(s->bins, (ptrdiff_t)k) < bound - (bound >> 20))
            return;
    }
}

/* Run the later rounds as long as there are empty bins. Return whether none is left. */
static int later_rounds(const level_row *row, uint64_t n_rounds, uint64_t k, level_scratch *s)
{
    const int marks = FINDS_FAST && k <= MARKED_BINS && row->total >= MARKED;
    for (uint64_t number = 1;; number++) {
        if (number * row->total >= FULL * k && count_empty(s->bins, (ptrdiff_t)k) == 0)
            return 1;
        if (number >= n_rounds)
            return 0;
        const level_round round = round_of(number, 64 - __builtin_clzll(n_rounds));
        if (marks)
            mark_bins(s->bins, k, s->empty);
        if (marks) {
            offer_to_empty(row, &round, 0, k, s);
            if (row->n_heavy > 0)
                offer_to_empty(row, &round, 1, k, s);
        } else {
            offer(row, &round, 0, EMPTY, k, s);
            if (row->n_heavy > 0)
                offer(row, &round, 1, EMPTY, k, s);
        }
    }
}

/* Find the least word of members in each of FILLED rounds, with its position in its lowest bits. */
INLINE void find_least(const level_members *members, const uint64_t *flips, const uint64_t *factors,
                       uint64_t positions, uint64_t *least)
{
    uint64_t own_flips[FILLED], own_factors[FILLED], own[FILLED];
    memcpy(own_flips, flips, sizeof own_flips);
    memcpy(own_factors, factors, sizeof own_factors);
    memset(own, 0xff, sizeof own);
    for (uint64_t i = 0; i < (uint64_t)members->n; i++) {
        const uint64_t start = members->starts[i];
        for (int c = 0; c < FILLED; c++) {
            const uint64_t word = (start ^ own_flips[c]) * own_factors[c];
            own[c] = smaller(own[c], (word & ~positions) | i);
        }
    }
    memcpy(least, own, sizeof own);
}

/* Fill n <= FILLED empty bins, whose numbers are relative to `first`, with the least of all
 * members. */
static void fill_bins(const level_row *row, const uint32_t *numbers, int n, uint64_t first,
                      uint64_t first_round, level_scratch *s)
{
    const uint64_t positions = LEVELS_TILE - 1;
    uint64_t flips[FILLED], factors[FILLED], best[FILLED];
    memset(best, 0xff, sizeof best);
    for (int c = 0; c < FILLED; c++) {
        const level_round round = round_of(first_round + first + numbers[c < n ? c : 0], 0);
        flips[c] = round.flip;
        factors[c] = round.factor;
    }
    const int n_kinds = row->n_heavy > 0 ? 2 : 1;
    for (int is_high = 0; is_high < n_kinds; is_high++) {
        level_cursor at = {0, 0, 0};
        for (;;) {
            const level_members members = next_members(row, is_high, &at, s);
            uint64_t least[FILLED];
            if (members.n == 0)
                break;
            find_least(&members, flips, factors, positions, least);
            for (int c = 0; c < n; c++) {
                if ((least[c] | positions) < (best[c] | positions)) {
                    const uint64_t i = least[c] & positions;
                    best[c] = least[c];
                    s->bins[first + numbers[c]] = members.ids[i];
                    s->high[first + numbers[c]] = is_high ? members.levels[i] : 0;
                }
            }
        }
    }
}

static void fill_empty_bins(const level_row *row, uint64_t k, uint64_t first_round,
                            level_scratch *s)
{
    for (uint64_t first = 0; first < k; first += LEVELS_TILE) {
        const uint64_t n = k - first < LEVELS_TILE ? k - first : LEVELS_TILE;
        for (uint64_t j = 0; j < n; j++)
            s->values[j] = ~s->bins[first + j];
        const ptrdiff_t n_empty = find_below(s->values, (ptrdiff_t)n, ~EMPTY + 1, s->hits);
        for (ptrdiff_t h = 0; h < n_empty; h += FILLED)
            fill_bins(row, s->hits + h, n_empty - h < FILLED ? (int)(n_empty - h) : FILLED, first,
                      first_round, s);
    }
}

/* Read the columns and levels that the bins keep. */
static void read_samples(const csr_block *rows, ptrdiff_t row_number, const level_map *map,
                         const level_row *row, const level_scratch *s, uint64_t *restrict columns,
                         int64_t *restrict levels)
{
    const uint64_t *restrict bins = s->bins;
    const uint32_t *restrict high = s->high;
    const int64_t first = rows->indptr[row_number];
    const int32_t *narrow = (const int32_t *)indices_from(rows, first);
    const int64_t *wide = (const int64_t *)indices_from(rows, first);
    for (uint64_t j = 0; j < map->k; j++) {
        const uint64_t id = bins[j] & row->mask, level = id % (1 << ID_BITS);
        columns[j] = id >> ID_BITS; /* the position of the entry */
        levels[j] = (int64_t)(level < FIRST_LEVELS ? level : high[j]);
    }
    if (map->is_signed)
        for (uint64_t j = 0; j < map->k; j++)
            columns[j] = column_at(rows, first + (int64_t)columns[j], 1);
    else if (rows->index_size == sizeof *narrow)
        for (uint64_t j = 0; j < map->k; j++)
            columns[j] = (uint64_t)narrow[columns[j]];
    else
        for (uint64_t j = 0; j < map->k; j++)
            columns[j] = (uint64_t)wide[columns[j]];
}

static ptrdiff_t sample_row(const csr_block *rows, ptrdiff_t row_number, const level_map *map,
                            level_scratch *s, uint64_t *columns, int64_t *levels)
{
    const uint64_t k = map->k, n_rounds = 1 + k / ROUND_BINS;
    level_row row = read_row(rows, row_number, map, s);
    if (row.most > UINT32_C(1) << MOST_BITS || row.total > UINT64_C(1) << TOTAL_BITS)
        return -1;
    if (row.total == 0)
        return 0;
    /* With many levels, bins are rarely empty after the first round. */
    if (row.total <= LEVELS_KEPT && !(FINDS_FAST && row.total > MANY * k))
        keep_members(&row, s);
    memset(s->bins, 0xff, k * sizeof *s->bins);
    first_round(&row, k, s);
    if (!later_rounds(&row, n_rounds, k, s))
        fill_empty_bins(&row, k, n_rounds, s);
    read_samples(rows, row_number, map, &row, s, columns, levels);
    return row.n_entries;
}

const level_sampling_loops TABLE(level_sampling)[] = {{
    .sample_row = sample_row,
}};
