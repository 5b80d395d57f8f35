#include "dart_minhash.h"

#include <math.h>
#include <string.h>

#include "elementary.h"
#include "random.h"
#include "vectors.h"

typedef int8_t dart_bytes __attribute__((vector_size(8)));

/* Parts below the highest one of a row: an entry beyond has 4^-64 of its darts. */
enum { DART_LOWEST_PART = 64, DART_SOURCES = 128 };
enum { DART_WORDS = 3 }; /* of one dart */
/* Darts that are drawn together. */
enum { DART_AT_ONCE = 256 };

/* What the darts of a row are computed from. */
typedef struct {
    int64_t highest;  /* the part of the largest weight */
    double factor[2]; /* whose product is 4^-highest; each is in range */
    double limit;     /* of rank */
    /* Of the highest part and those below it: the least weight of a dart, the mean difference of two
     * ranks, and the largest first word that may be a dart's below the limit. */
    double scales[DART_LOWEST_PART + DART_PARTS];
    double means[DART_LOWEST_PART + DART_PARTS];
    uint64_t words[DART_LOWEST_PART + DART_PARTS];
} dart_row;

/* Darts below the limit of rank; then those of them below the weights. */
typedef struct {
    double ranks[DART_AT_ONCE], weights[DART_AT_ONCE];
    int32_t ids[DART_AT_ONCE]; /* DART_AT_ONCE * (number less the first one) + part */
    uint32_t buckets[DART_AT_ONCE];
} dart_draws;

INLINE uint64_t part_start(uint64_t start, int64_t part)
{
    return start + (uint64_t)part * UINT64_C(0xd1342543de82ef95);
}

INLINE uint64_t dart_word(uint64_t part, uint64_t number, uint64_t which)
{
    return word(part, DART_WORDS * number + which);
}

/* The part that a positive normal number lies in: half its binary exponent, rounded down. */
INLINE int part_of(double weight)
{
    int exponent = (int)(double_to_bits(weight) >> 52) - 1023;
    return exponent >= 0 ? exponent / 2 : -((1 - exponent) / 2);
}

static void set_limit(dart_row *row, double limit)
{
    row->limit = limit;
    for (int i = 0; i < DART_LOWEST_PART + DART_PARTS; i++) {
        row->scales[i] = ldexp(1.0, -2 * i);
        row->means[i] = 1.0 / (3.0 * row->scales[i]);
        double n_darts = 3.0 * row->scales[i] * limit; /* on average */
        row->words[i] = n_darts >= 1.0 ? UINT64_MAX : (uint64_t)ldexp(n_darts, 64);
    }
}

/* Which of an entry's parts may have a dart below the limit, as bits. An exponential is at least its
 * 64 bits as a fraction, which excludes most parts. */
INLINE uint32_t parts_with_darts(uint64_t start, int64_t part, const uint64_t *words)
{
    const lanes_u64 steps = {0, 1, 2, 3, 4, 5, 6, 7};
    uint32_t bits = 0;
    for (int i = 0; i < DART_PARTS; i += 8) {
        lanes_u64 first = part_start(start, part - i) - steps * part_start(0, 1), limits;
        memcpy(&limits, words + i, sizeof limits);
        first = mix_lanes(first + UINT64_C(0x9e3779b97f4a7c15)); /* as in `word` */
        dart_bytes hits = LANES_CONVERT(dart_bytes, (lanes_i64)(first <= limits));
        uint64_t bytes = 0;
        memcpy(&bytes, &hits, sizeof hits);
        /* Bit j of byte j, added up in the highest byte. */
        bytes = (bytes & UINT64_C(0x8040201008040201)) * UINT64_C(0x0101010101010101) >> 56;
        bits |= (uint32_t)bytes << i;
    }
    return bits;
}

/* Collect the parts of entries `first` to `stop` that may have a dart below the limit. */
static ptrdiff_t collect_parts(const dart_row *row, const double *weights, const uint64_t *columns,
                               ptrdiff_t first, ptrdiff_t stop, uint64_t key, dart_parts *parts)
{
    ptrdiff_t n = 0;
    for (ptrdiff_t i = first; i < stop; i++) {
        if (weights[i] < 1e-37) /* 4^-DART_LOWEST_PART is 3e-39 */
            continue;
        int below = -part_of(weights[i]);
        uint64_t start = column_start(key, columns[i]);
        uint32_t waiting = parts_with_darts(start, row->highest - below, row->words + below);
        for (; waiting; waiting &= waiting - 1) {
            int part = below + __builtin_ctz(waiting);
            parts->starts[n] = part_start(start, row->highest - part);
            parts->ranks[n] = 0.0;
            parts->means[n] = row->means[part];
            parts->scales[n] = row->scales[part];
            parts->weights[n] = weights[i];
            parts->sources[n++] = DART_SOURCES * i + part;
        }
    }
    return n;
}

/* Exponentials of rate 1 for `repeats` darts from `number` on of n parts, one dart of all of them
 * after the other: exact where they are small, as for the rare darts of low parts, of 24 bits
 * elsewhere. */
INLINE void exponentials(const uint64_t *starts, ptrdiff_t n, uint64_t number, ptrdiff_t repeats,
                         double *out)
{
    uint64_t words[DART_AT_ONCE];
    float uniforms[DART_AT_ONCE];
    int any_small = 0;
    for (ptrdiff_t c = 0; c < repeats; c++)
        for (ptrdiff_t i = 0; i < n; i++)
            words[c * n + i] = dart_word(starts[i], number + (uint64_t)c, 0);
    n *= repeats;
    for (ptrdiff_t i = 0; i < n; i++) {
        uniforms[i] = (float)(int32_t)((uint32_t)(~words[i] >> 40) | 1) * 0x1p-24f;
        any_small |= words[i] >> 52 == 0;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = (double)-log_f32(uniforms[i]);
    if (any_small) {
        for (ptrdiff_t i = 0; i < n; i++) {
            if (words[i] >> 52 == 0) {
                double v = ((double)(int64_t)words[i] + 0.5) * 0x1p-64;
                out[i] = v * (1.0 + v * (0.5 + v * (1.0 / 3.0)));
            }
        }
    }
}

/* The next `repeats` darts, from `number` on, of n parts from `first` on; those below the limit and
 * the weights go to their buckets. n * repeats <= DART_AT_ONCE. */
static void throw_next(const dart_row *row, dart_parts *parts, ptrdiff_t first, ptrdiff_t n,
                       uint64_t number, ptrdiff_t repeats, uint64_t n_buckets, dart_draws *draws,
                       dart_t *buckets)
{
    const uint64_t *starts = parts->starts + first;
    const double *means = parts->means + first, *scales = parts->scales + first;
    double *last = parts->ranks + first;
    double differences[DART_AT_ONCE];
    ptrdiff_t n_drawn = 0, n_below = 0;
    exponentials(starts, n, number, repeats, differences);
    for (ptrdiff_t c = 0; c < repeats; c++) {
        for (ptrdiff_t i = 0; i < n; i++)
            last[i] += means[i] * differences[c * n + i];
        for (ptrdiff_t i = 0; i < n; i++) {
            draws->ranks[n_drawn] = last[i];
            draws->ids[n_drawn] = (int32_t)(DART_AT_ONCE * c + i);
            n_drawn += last[i] < row->limit;
        }
    }
    for (ptrdiff_t j = 0; j < n_drawn; j++) {
        uint32_t id = (uint32_t)draws->ids[j], i = id % DART_AT_ONCE;
        uint64_t bits = dart_word(starts[i], number + id / DART_AT_ONCE, 1);
        double fraction = (double)(int64_t)(bits >> 11) * 0x1p-53;
        draws->weights[j] = scales[i] * (1.0 + 3.0 * fraction);
    }
    for (ptrdiff_t j = 0; j < n_drawn; j++) {
        draws->ranks[n_below] = draws->ranks[j];
        draws->ids[n_below] = draws->ids[j];
        n_below += draws->weights[j] < parts->weights[first + draws->ids[j] % DART_AT_ONCE];
    }
    for (ptrdiff_t j = 0; j < n_below; j++) {
        uint32_t id = (uint32_t)draws->ids[j], i = id % DART_AT_ONCE;
        uint64_t bits = dart_word(starts[i], number + id / DART_AT_ONCE, 2);
        draws->buckets[j] = hash_bucket(bits, n_buckets);
    }
    for (ptrdiff_t j = 0; j < n_below; j++) {
        double rank = draws->ranks[j];
        int64_t source = parts->sources[first + draws->ids[j] % DART_AT_ONCE];
        dart_t *bucket = buckets + draws->buckets[j];
        /* Of equal ranks the first in the order of entries, parts and numbers counts. */
        if (rank < bucket->rank || (rank == bucket->rank && source < bucket->source)) {
            bucket->rank = rank;
            bucket->source = source;
            bucket->number = (int64_t)number + draws->ids[j] / DART_AT_ONCE;
        }
    }
}

/* Keep the parts whose last dart is below the limit. Returns how many there are. */
static ptrdiff_t keep_parts(dart_parts *parts, ptrdiff_t n, double limit)
{
    ptrdiff_t n_kept = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        parts->starts[n_kept] = parts->starts[i];
        parts->ranks[n_kept] = parts->ranks[i];
        parts->means[n_kept] = parts->means[i];
        parts->scales[n_kept] = parts->scales[i];
        parts->weights[n_kept] = parts->weights[i];
        parts->sources[n_kept] = parts->sources[i];
        n_kept += parts->ranks[n_kept] < limit;
    }
    return n_kept;
}

/* All darts of a row below its limit, each to its bucket. */
static void throw_all(const dart_row *row, const double *weights, const uint64_t *columns,
                      ptrdiff_t n, uint64_t key, ptrdiff_t n_buckets, dart_parts *parts,
                      dart_t *buckets)
{
    dart_draws draws;
    for (ptrdiff_t first = 0; first < n; first += DART_ENTRIES) {
        ptrdiff_t stop = n - first < DART_ENTRIES ? n : first + DART_ENTRIES;
        ptrdiff_t n_parts = collect_parts(row, weights, columns, first, stop, key, parts);
        uint64_t number = 0;
        while (n_parts > 0) {
            /* Of few parts several darts at once, so that vectors are full. */
            ptrdiff_t repeats = n_parts < 16 ? 16 : n_parts < 64 ? 4 : 1;
            ptrdiff_t step = DART_AT_ONCE / repeats;
            for (ptrdiff_t i = 0; i < n_parts; i += step)
                throw_next(row, parts, i, n_parts - i < step ? n_parts - i : step, number, repeats,
                           (uint64_t)n_buckets, &draws, buckets);
            number += (uint64_t)repeats;
            n_parts = keep_parts(parts, n_parts, row->limit);
        }
    }
}

/* Raise values to a power, and divide by a power of four near the largest, whose exponent is
 * returned: by logarithms, as powers may leave the range of numbers. */
static int64_t raise(double *values, ptrdiff_t n, double power)
{
    const double logarithm_of_4 = 1.3862943611198906;
    double largest = -INFINITY;
    for (ptrdiff_t i = 0; i < n; i++) {
        values[i] = values[i] > 0.0 ? power * log_f64(values[i]) : -INFINITY;
        largest = values[i] > largest ? values[i] : largest;
    }
    const double exponent = floor(largest / logarithm_of_4);
    for (ptrdiff_t i = 0; i < n; i++) {
        const double below = values[i] - exponent * logarithm_of_4;
        values[i] = below > -100.0 ? exp_f64(below) : 0.0; /* 4^-DART_LOWEST_PART is e^-88 */
    }
    return (int64_t)exponent;
}

static int sample_row(double *weights, const uint64_t *columns, ptrdiff_t n, double power,
                      uint64_t key, ptrdiff_t n_buckets, dart_parts *parts, dart_t *buckets,
                      uint64_t *out_columns, int64_t *out_t)
{
    dart_row row;
    double largest = 0.0, total = 0.0;
    int missing = 1;
    for (ptrdiff_t i = 0; i < n; i++)
        largest = weights[i] > largest ? weights[i] : largest;
    if (largest == 0.0)
        return 0;
    int64_t raised = 0;
    if (power != 1.0) {
        raised = raise(weights, n, power);
        largest = 0.0;
        for (ptrdiff_t i = 0; i < n; i++)
            largest = weights[i] > largest ? weights[i] : largest;
    }
    row.highest = part_of(largest);
    row.factor[0] = ldexp(1.0, (int)-row.highest);
    row.factor[1] = row.factor[0];
    row.highest += raised;
    for (ptrdiff_t i = 0; i < n; i++) {
        weights[i] = weights[i] * row.factor[0] * row.factor[1];
        total += weights[i];
    }
    /* With so many darts, one row of fifty has an empty bucket; that row is repeated with more. */
    for (double n_darts = (double)n_buckets * (log((double)n_buckets) + 4.0); missing;
         n_darts *= 2) {
        for (ptrdiff_t j = 0; j < n_buckets; j++)
            buckets[j] = (dart_t){INFINITY, -1, 0};
        set_limit(&row, n_darts / total);
        throw_all(&row, weights, columns, n, key, n_buckets, parts, buckets);
        missing = 0;
        for (ptrdiff_t j = 0; j < n_buckets; j++)
            missing |= buckets[j].source < 0;
    }
    for (ptrdiff_t j = 0; j < n_buckets; j++) {
        int64_t part = row.highest - buckets[j].source % DART_SOURCES;
        out_columns[j] = columns[buckets[j].source / DART_SOURCES];
        /* Neighbours in number and in part differ in the lowest bits. */
        out_t[j] = buckets[j].number * 2048 + part + 1024;
    }
    return 1;
}

const dart_minhash_loops TABLE(dart_minhash)[] = {{
    .sample_row = sample_row,
}};
