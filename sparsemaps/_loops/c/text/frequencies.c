#include "frequencies.h"

#include "elementary.h"

enum { TILE = 256 }; /* entries hashed and weighted at a time */

INLINE const void *from(const void *columns, size_t itemsize, ptrdiff_t first)
{
    return (const char *)columns + (size_t)first * itemsize;
}

/* Compute the buckets of n <= TILE columns in a row of the table, from the upper bits of a word of
 * each. */
static void hash_columns(const frequency_table *table, ptrdiff_t row, const void *columns,
                         size_t itemsize, ptrdiff_t n, uint64_t *restrict buckets)
{
    const int shift = 64 - table->n_bits;
    column_starts(columns, itemsize, 0, n, table->key, buckets);
    for (ptrdiff_t i = 0; i < n; i++)
        buckets[i] = word(buckets[i], (uint64_t)row) >> shift;
}

/* Deduplicate buckets with a hash table, by linear probing. */
static ptrdiff_t buckets(const frequency_table *table, ptrdiff_t row, const void *columns,
                         size_t itemsize, ptrdiff_t n, uint64_t *slots, uint64_t *out)
{
    const uint64_t none = UINT64_MAX, mask = (uint64_t)slots_for(n) - 1;
    uint64_t tile[TILE];
    ptrdiff_t n_out = 0;
    memset(slots, 0xff, (mask + 1) * sizeof *slots);
    for (ptrdiff_t first = 0; first < n; first += TILE) {
        const ptrdiff_t n_here = n - first < TILE ? n - first : TILE;
        hash_columns(table, row, from(columns, itemsize, first), itemsize, n_here, tile);
        for (ptrdiff_t i = 0; i < n_here; i++) {
            uint64_t slot = tile[i] & mask;
            while (slots[slot] != none && slots[slot] != tile[i])
                slot = (slot + 1) & mask;
            out[n_out] = tile[i];
            n_out += slots[slot] == none;
            slots[slot] = tile[i];
        }
    }
    return n_out;
}

enum { AHEAD = 24 };

/* The largest value of an unsigned type. */
#define LARGEST(TYPE) ((TYPE) ~(TYPE)0)

#define ADD_TO(TYPE)                                                                               \
    for (ptrdiff_t i = 0; i < n; i++) {                                                            \
        TYPE *count = (TYPE *)counts + (buckets[i] & mask);                                        \
        __builtin_prefetch((TYPE *)counts + (buckets[i + AHEAD < n ? i + AHEAD : i] & mask), 1);   \
        *count = (TYPE)(*count + (*count != LARGEST(TYPE)));                                       \
    }

static void add(void *counts, size_t count_size, int n_bits, const uint64_t *buckets, ptrdiff_t n)
{
    const uint64_t mask = (UINT64_C(1) << n_bits) - 1;
    if (count_size == 1)
        ADD_TO(uint8_t)
    else if (count_size == 2)
        ADD_TO(uint16_t)
    else
        ADD_TO(uint32_t)
}

#define MERGE(TYPE)                                                                                \
    for (ptrdiff_t i = 0; i < n; i++) {                                                            \
        const TYPE sum = (TYPE)(((TYPE *)counts)[i] + ((const TYPE *)others)[i]);                  \
        ((TYPE *)counts)[i] = sum < ((const TYPE *)others)[i] ? LARGEST(TYPE) : sum;               \
    }

static void merge(void *counts, const void *others, size_t count_size, ptrdiff_t n)
{
    if (count_size == 1)
        MERGE(uint8_t)
    else if (count_size == 2)
        MERGE(uint16_t)
    else
        MERGE(uint32_t)
}

INLINE uint32_t count_at(const frequency_table *table, ptrdiff_t row, uint64_t bucket)
{
    const uint64_t place = ((uint64_t)row << table->n_bits) + bucket;
    if (table->count_size == 1)
        return ((const uint8_t *)table->counts)[place];
    if (table->count_size == 2)
        return ((const uint16_t *)table->counts)[place];
    return ((const uint32_t *)table->counts)[place];
}

static void look_up(const frequency_table *table, const void *columns, size_t itemsize, ptrdiff_t n,
                    uint32_t *frequencies)
{
    uint64_t tile[TILE];
    for (ptrdiff_t first = 0; first < n; first += TILE) {
        const ptrdiff_t n_here = n - first < TILE ? n - first : TILE;
        for (ptrdiff_t row = 0; row < table->n_rows; row++) {
            hash_columns(table, row, from(columns, itemsize, first), itemsize, n_here, tile);
            for (ptrdiff_t i = 0; i < n_here; i++) {
                const uint32_t count = count_at(table, row, tile[i]);
                uint32_t *least = frequencies + first + i;
                *least = row == 0 || count < *least ? count : *least;
            }
        }
    }
}

#define TAKE_RARE(TYPE)                                                                            \
    for (ptrdiff_t i = 0, to = 0; to < n_rare; i++) {                                              \
        ((TYPE *)out)[to] = ((const TYPE *)items)[i];                                              \
        to += frequencies[i] <= most;                                                              \
    }

static void take_rare_items(const uint32_t *frequencies, uint32_t most, ptrdiff_t n_rare,
                            const void *items, size_t size, void *out)
{
    if (size == sizeof(uint32_t))
        TAKE_RARE(uint32_t)
    else
        TAKE_RARE(uint64_t)
}

static ptrdiff_t take_rare(const uint32_t *frequencies, uint32_t most, ptrdiff_t least, ptrdiff_t n,
                           const void *columns, size_t column_size, const void *values,
                           size_t value_size, void *out_columns, void *out_values)
{
    ptrdiff_t n_rare = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        n_rare += frequencies[i] <= most;
    if (n_rare < least || n_rare == n) {
        memmove(out_columns, columns, (size_t)n * column_size);
        if (values)
            memmove(out_values, values, (size_t)n * value_size);
        return n;
    }
    take_rare_items(frequencies, most, n_rare, columns, column_size, out_columns);
    if (values)
        take_rare_items(frequencies, most, n_rare, values, value_size, out_values);
    return n_rare;
}

/* Compute the weights of n <= TILE columns. A column that occurs in no record counts as if it
 * occurred in one. */
static void weights_of(const idf_weighting *idf, const uint32_t *restrict frequencies, ptrdiff_t n,
                       double *restrict weights)
{
    const double all = idf->n_records + 1.0;
    const double rarest = idf->n_records > 2.0 ? log_f64(all / 2.0) : 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        double df = (double)frequencies[i];
        df = df < 1.0 ? 1.0 : df;
        df = df > idf->n_records ? idf->n_records : df;
        weights[i] = log_f64(all / (df + 1.0));
    }
    if (rarest == 0.0) {
        for (ptrdiff_t i = 0; i < n; i++)
            weights[i] = 1.0;
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        const double share = weights[i] / rarest;
        /* the log of the smallest normal number instead of ln 0, so that the loops have no
         * branch */
        const double raised = exp_f64(idf->power * log_f64(share > 0.0 ? share : 0x1p-1022));
        weights[i] = share > 0.0 ? raised : 0.0;
    }
}

/* Apply the sublinear transform to n sizes. */
INLINE void grow(ptrdiff_t n, double *restrict sizes)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        const double size = sizes[i], grown = 1.0 + log_f64(size > 1.0 ? size : 1.0);
        sizes[i] = size > 1.0 ? grown : size;
    }
}

static void tabulate(const idf_weighting *idf, ptrdiff_t n, double *weights, double *sizes)
{
    uint32_t frequencies[TILE];
    for (ptrdiff_t first = 0; first < n; first += TILE) {
        const ptrdiff_t n_here = n - first < TILE ? n - first : TILE;
        for (ptrdiff_t i = 0; i < n_here; i++)
            frequencies[i] = (uint32_t)(first + i);
        weights_of(idf, frequencies, n_here, weights + first);
    }
    for (int i = 0; i < IDF_SIZES; i++)
        sizes[i] = (double)i;
    grow(IDF_SIZES, sizes);
}

/* Compute the same as `weights_of`, from the table as far as it reaches. */
static void look_up_weights(const idf_weighting *idf, uint32_t *restrict frequencies, ptrdiff_t n,
                            double *restrict weights)
{
    const double *restrict known = idf->weights;
    const uint32_t last = (uint32_t)(idf->n_weights - 1);
    double computed[TILE];
    uint32_t places[TILE];
    ptrdiff_t n_beyond = 0;
    uint32_t most = 0;
    if (idf->n_weights == 0) {
        weights_of(idf, frequencies, n, weights);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t df = frequencies[i];
        weights[i] = known[df < last ? df : last];
        most = df > most ? df : most;
    }
    if (most <= last)
        return;
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t df = frequencies[i];
        places[n_beyond] = (uint32_t)i;
        frequencies[n_beyond] = df;
        n_beyond += df > last;
    }
    weights_of(idf, frequencies, n_beyond, computed);
    for (ptrdiff_t i = 0; i < n_beyond; i++)
        weights[places[i]] = computed[i];
}

/* Compute the same as `grow`, from the table if all sizes are small integers. */
static void look_up_sizes(const idf_weighting *idf, ptrdiff_t n, double *restrict sizes)
{
    const double *restrict known = idf->sizes;
    int32_t wholes[TILE];
    int any_other = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const double size = sizes[i];
        wholes[i] = (int32_t)(size < (double)IDF_SIZES ? size : 0.0);
        any_other |= (wholes[i] < 1) | ((double)wholes[i] != size);
    }
    if (any_other) {
        grow(n, sizes);
        return;
    }
    for (ptrdiff_t i = 0; i < n; i++)
        sizes[i] = known[wholes[i]];
}

#define READ_SIZES(TYPE)                                                                           \
    for (ptrdiff_t i = 0; i < n_here; i++) {                                                       \
        const double x = (double)((const TYPE *)values)[first + i];                                \
        sizes[i] = x < 0.0 ? -x : x;                                                               \
    }

#define WRITE_VALUES(TYPE)                                                                         \
    for (ptrdiff_t i = 0; i < n_here; i++) {                                                       \
        const double y = idf->levels * (weights[i] * sizes[i]);                                    \
        ((TYPE *)out)[first + i] = (TYPE)(((const TYPE *)values)[first + i] < 0 ? -y : y);         \
    }

static void weigh(const idf_weighting *idf, const frequency_table *table, const void *columns,
                  size_t itemsize, const void *values, size_t value_size, ptrdiff_t n, void *out)
{
    uint32_t frequencies[TILE];
    double weights[TILE], sizes[TILE];
    for (ptrdiff_t first = 0; first < n; first += TILE) {
        const ptrdiff_t n_here = n - first < TILE ? n - first : TILE;
        look_up(table, from(columns, itemsize, first), itemsize, n_here, frequencies);
        look_up_weights(idf, frequencies, n_here, weights);
        if (value_size == sizeof(float))
            READ_SIZES(float)
        else
            READ_SIZES(double)
        if (idf->sublinear)
            look_up_sizes(idf, n_here, sizes);
        if (value_size == sizeof(float))
            WRITE_VALUES(float)
        else
            WRITE_VALUES(double)
    }
}

const frequencies_loops TABLE(frequencies)[] = {{
    .buckets = buckets,
    .add = add,
    .merge = merge,
    .look_up = look_up,
    .take_rare = take_rare,
    .tabulate = tabulate,
    .weigh = weigh,
}};
