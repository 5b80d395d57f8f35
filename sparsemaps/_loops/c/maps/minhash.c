#include "minhash.h"

#include "bins.h"
#include "random.h"
#include "simd.h"

/* A bin holds, from the top: a bit that is set while the current round may still change it; a
 * value; and the member's position in the row, which breaks ties. Rows are sorted by column, so the
 * lowest column wins, whatever the order of the input. Among n members, a tie occurs with
 * probability about n^3 / 2^64. */
#define OPEN (UINT64_C(1) << 63)

enum {
    TINY = 32,   /* members from which open bins are tracked in a bitmask */
    SHORT = 128, /* sets of at most this size hash several rounds at once */
    FEW = 8      /* members per bin before which bins are still empty or hold large values */
};

INLINE ptrdiff_t tile_length(ptrdiff_t n, ptrdiff_t first)
{
    return n - first < MEMBERS_TILE ? n - first : MEMBERS_TILE;
}

/* Return where the starts of a tile of members go. They are kept if the set is not too long. */
INLINE uint64_t *tile_starts(ptrdiff_t n, ptrdiff_t first, minhash_scratch *s)
{
    return n <= MEMBERS_KEPT ? s->starts + first : s->starts;
}

/* Return a member's word in a round; in round 0, the start of its words. */
INLINE uint64_t word_of(uint64_t start, uint64_t round)
{
    return round == 0 ? start : mix64(start + round * STEP);
}

/* Return the fraction, extended by the word's lower half, with the member's position in its lowest
 * bits. */
INLINE uint64_t value_of(uint64_t word, uint64_t k, uint64_t mask, uint64_t position)
{
    uint64_t value = (bin_and_fraction(word, k) << 32 | (word & UINT32_MAX)) >> 1;
    return (value & ~mask) | position;
}

static void bins_of_members(const uint64_t *restrict starts, ptrdiff_t n, uint64_t round,
                            uint64_t k, uint32_t *restrict numbers)
{
    for (ptrdiff_t i = 0; i < n; i++)
        numbers[i] = (uint32_t)(bin_and_fraction(word_of(starts[i], round), k) >> 32);
}

/* Compute bins for the first round, and the members' values. */
static void bins_and_values(const uint64_t *restrict starts, ptrdiff_t n, uint64_t k, uint64_t mask,
                            ptrdiff_t first, uint32_t *restrict numbers, uint64_t *restrict values)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t word = word_of(starts[i], 0);
        numbers[i] = (uint32_t)(bin_and_fraction(word, k) >> 32);
        values[i] = value_of(word, k, mask, (uint64_t)(first + i));
    }
}

/* Run the first round, which starts with empty bins. Return how many stay empty. Once the bins have
 * filled up, most members of a large set exceed the value of every bin and are skipped. */
static ptrdiff_t first_round(const void *columns, size_t itemsize, ptrdiff_t n, uint64_t key,
                             uint64_t k, uint64_t mask, minhash_scratch *s)
{
    uint64_t bound = EMPTY;
    ptrdiff_t next_bound = (ptrdiff_t)(FEW * k);
    for (ptrdiff_t first = 0; first < n; first += MEMBERS_TILE) {
        const ptrdiff_t count = tile_length(n, first);
        uint64_t *starts = tile_starts(n, first, s);
        column_starts(columns, itemsize, first, count, key, starts);
        bins_and_values(starts, count, k, mask, first, s->numbers, s->values);
        if (first >= next_bound) {
            bound = largest_value(s->bins, (ptrdiff_t)k);
            next_bound = first + (ptrdiff_t)k + first / 8;
        }
        if (bound == EMPTY) {
            for (ptrdiff_t i = 0; i < count; i++)
                s->bins[s->numbers[i]] = smaller(s->bins[s->numbers[i]], s->values[i]);
            continue;
        }
        const ptrdiff_t n_hits = find_below(s->values, count, bound, s->hits);
        for (ptrdiff_t h = 0; h < n_hits; h++) {
            const uint32_t i = s->hits[h];
            s->bins[s->numbers[i]] = smaller(s->bins[s->numbers[i]], s->values[i]);
        }
    }
    return count_empty(s->bins, (ptrdiff_t)k);
}

/* Mark the bins that are empty after the first round. This does not pay for tiny sets: a register
 * whose bits were just changed one by one is slow to load. */
static void find_open(ptrdiff_t n, uint64_t k, minhash_scratch *s)
{
    s->knows_open = k <= MARKED_BINS && n >= TINY;
    if (s->knows_open)
        mark_bins(s->bins, k, s->open);
}

/* Find which members fall into an OPEN bin. Return their number. */
static ptrdiff_t find_hits(const uint32_t *restrict numbers, ptrdiff_t n,
                           minhash_scratch *restrict s)
{
    const uint64_t *restrict bins = s->bins;
    uint32_t *restrict hits = s->hits;
    ptrdiff_t n_hits = 0, i = 0;
#if defined(__AVX512F__) && defined(__AVX512DQ__)
    /* 16 bins at a time: test their bits, or else gather the upper halves, whose sign bit is
     * OPEN. */
    const int *upper_halves = (const int *)bins + 1;
    __m512i position = FIRST_POSITIONS;
    if (s->knows_open)
        return find_marked(numbers, n, s->open, hits);
    for (; i + 16 <= n; i += 16) {
        const __m512i bin = _mm512_loadu_si512(numbers + i);
        const __mmask16 hit = _mm512_movepi32_mask(_mm512_i32gather_epi32(bin, upper_halves, 8));
        n_hits += write_positions(hits + n_hits, hit, &position);
    }
#endif
    for (; i < n; i++) {
        hits[n_hits] = (uint32_t)i;
        n_hits += (ptrdiff_t)(bins[numbers[i]] >> 63);
    }
    return n_hits;
}

/* Run a later round on a tile: bins that were empty before the round keep the least member.
 * `n_filled` bins were filled earlier in this round; return the new number. */
static ptrdiff_t fill_empty_bins(const uint64_t *starts, const uint32_t *numbers, ptrdiff_t n,
                                 uint64_t round, uint64_t k, uint64_t mask, ptrdiff_t first,
                                 ptrdiff_t n_filled, minhash_scratch *s)
{
    const ptrdiff_t n_hits = find_hits(numbers, n, s);
    for (ptrdiff_t h = 0; h < n_hits; h++) {
        const uint32_t i = s->hits[h];
        const uint64_t value = value_of(word_of(starts[i], round), k, mask, (uint64_t)first + i);
        uint64_t *bin = &s->bins[numbers[i]];
        s->filled[n_filled] = numbers[i];
        n_filled += *bin == EMPTY;
        *bin = smaller(*bin, value | OPEN);
    }
    return n_filled;
}

INLINE void close_bins(ptrdiff_t n_filled, minhash_scratch *s)
{
    for (ptrdiff_t f = 0; f < n_filled; f++)
        s->bins[s->filled[f]] &= ~OPEN;
    for (ptrdiff_t f = 0; s->knows_open && f < n_filled; f++)
        s->open[s->filled[f] / 32] &= ~(UINT32_C(1) << s->filled[f] % 32);
}

/* Run rounds 1 to k - 1 for a short set. Copies of its starts, each advanced by one more round, let
 * several rounds be hashed at once. Return how many of n_empty bins stay empty. */
static ptrdiff_t short_rounds(ptrdiff_t n, uint64_t k, uint64_t mask, ptrdiff_t n_empty,
                              minhash_scratch *s)
{
    const ptrdiff_t together = SHORT / n;
    for (ptrdiff_t i = n; i < together * n; i++)
        s->starts[i] = s->starts[i - n] + STEP;
    for (uint64_t round = 1; round < k && n_empty > 0; round += (uint64_t)together) {
        bins_of_members(s->starts, together * n, round, k, s->numbers);
        for (ptrdiff_t r = 0; r < together && round + (uint64_t)r < k && n_empty > 0; r++) {
            ptrdiff_t n_filled =
                fill_empty_bins(s->starts + r * n, s->numbers + r * n, n, round, k, mask, 0, 0, s);
            close_bins(n_filled, s);
            n_empty -= n_filled;
        }
    }
    return n_empty;
}

/* Run the same rounds for a longer set. */
static ptrdiff_t long_rounds(const void *columns, size_t itemsize, ptrdiff_t n, uint64_t key,
                             uint64_t k, uint64_t mask, ptrdiff_t n_empty, minhash_scratch *s)
{
    for (uint64_t round = 1; round < k && n_empty > 0; round++) {
        ptrdiff_t n_filled = 0;
        for (ptrdiff_t first = 0; first < n; first += MEMBERS_TILE) {
            const ptrdiff_t count = tile_length(n, first);
            uint64_t *starts = tile_starts(n, first, s);
            if (n > MEMBERS_KEPT)
                column_starts(columns, itemsize, first, count, key, starts);
            bins_of_members(starts, count, round, k, s->numbers);
            n_filled =
                fill_empty_bins(starts, s->numbers, count, round, k, mask, first, n_filled, s);
        }
        close_bins(n_filled, s);
        n_empty -= n_filled;
    }
    return n_empty;
}

/* Run rounds k + j: all members fall into bin j. */
static void last_rounds(const void *columns, size_t itemsize, ptrdiff_t n, uint64_t key, uint64_t k,
                        uint64_t mask, minhash_scratch *s)
{
    for (ptrdiff_t first = 0; first < n; first += MEMBERS_TILE) {
        const ptrdiff_t count = tile_length(n, first);
        column_starts(columns, itemsize, first, count, key, s->starts);
        for (uint64_t j = 0; j < k; j++) {
            if (!(s->bins[j] & OPEN))
                continue;
            for (ptrdiff_t i = 0; i < count; i++) {
                uint64_t value = word_of(s->starts[i], k + j) >> 1;
                value = (value & ~mask) | (uint64_t)(first + i);
                s->bins[j] = smaller(s->bins[j], value | OPEN);
            }
        }
    }
}

static void sample(const void *columns, size_t itemsize, ptrdiff_t n, uint64_t key, uint64_t k,
                   minhash_scratch *s, int64_t *samples)
{
    const uint64_t mask = position_mask(n);
    ptrdiff_t n_empty;
    memset(s->bins, 0xff, k * sizeof(uint64_t));
    n_empty = first_round(columns, itemsize, n, key, k, mask, s);
    find_open(n, k, s);
    if (n <= SHORT)
        n_empty = short_rounds(n, k, mask, n_empty, s);
    else
        n_empty = long_rounds(columns, itemsize, n, key, k, mask, n_empty, s);
    if (n_empty > 0)
        last_rounds(columns, itemsize, n, key, k, mask, s);
    for (uint64_t j = 0; j < k; j++) {
        uint64_t position = s->bins[j] & mask;
        samples[j] = itemsize == 4 ? ((const int32_t *)columns)[position]
                                   : ((const int64_t *)columns)[position];
    }
}

static void codes(const int64_t *restrict samples, ptrdiff_t k, uint64_t key, int bits,
                  int64_t *restrict out)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1;
    for (ptrdiff_t j = 0; j < k; j++)
        out[j] = (int64_t)(column_start(key + (uint64_t)j * STEP, (uint64_t)samples[j]) & mask);
}

const minhash_loops TABLE(minhash)[] = {{
    .sample = sample,
    .codes = codes,
}};
