/* Join all entries of a factor to one tuple of the preceding factors, in whole steps. A bucket is
 * the unsigned minimum of the sum and the sum - n_buckets (n_buckets < 2^31). Not inlined: clang
 * would drop `restrict` and process one entry at a time. */
static __attribute__((noinline)) void NAME(join)(uint32_t bucket, VALUE value,
                                                 const uint32_t *restrict buckets,
                                                 const VALUE *restrict values, ptrdiff_t n,
                                                 uint32_t n_buckets, uint32_t *restrict out_buckets,
                                                 VALUE *restrict out_values)
{
    const ptrdiff_t whole = (n + TUPLE_STEP - 1) / TUPLE_STEP * TUPLE_STEP;
    for (ptrdiff_t i = 0; i < whole; i++) {
        uint32_t sum = bucket + buckets[i];
        out_buckets[i] = smaller(sum, sum - n_buckets);
        out_values[i] = value * values[i];
    }
}

/* Return the number of tuples. */
static ptrdiff_t NAME(list_joined)(const uint32_t *buckets, const VALUE *values, ptrdiff_t width,
                                   ptrdiff_t n, int n_factors, uint32_t n_buckets, uint32_t bucket,
                                   VALUE value, uint32_t *out_buckets, VALUE *out_values)
{
    uint32_t joined[TUPLES_AT_ONCE];
    VALUE products[TUPLES_AT_ONCE];
    ptrdiff_t n_listed = 0;
    if (n_factors == 1) {
        NAME(join)(bucket, value, buckets, values, n, n_buckets, out_buckets, out_values);
        return n;
    }
    for (ptrdiff_t first = 0; first < n; first += TUPLES_AT_ONCE) {
        ptrdiff_t n_here = n - first < TUPLES_AT_ONCE ? n - first : TUPLES_AT_ONCE;
        NAME(join)(bucket, value, buckets + first, values + first, n_here, n_buckets, joined,
                   products);
        for (ptrdiff_t i = 0; i < n_here; i++)
            n_listed += NAME(list_joined)(buckets + width, values + width, width, n, n_factors - 1,
                                          n_buckets, joined[i], products[i], out_buckets + n_listed,
                                          out_values + n_listed);
    }
    return n_listed;
}

static void NAME(list_tuples)(const uint32_t *buckets, const void *values, ptrdiff_t width,
                              ptrdiff_t n, int n_factors, uint32_t n_buckets, uint32_t *out_buckets,
                              void *out_values)
{
    NAME(list_joined)(buckets, values, width, n, n_factors, n_buckets, 0, (VALUE)1.0, out_buckets,
                      out_values);
}

/* Add the pairs of a few entries: list all of them first, for one long loop instead of many short
 * ones. */
static __attribute__((noinline)) void NAME(add_pairs)(const uint32_t *buckets, const VALUE *values,
                                                      ptrdiff_t width, ptrdiff_t n,
                                                      uint32_t n_buckets, uint32_t bucket,
                                                      VALUE value, VALUE *restrict sums)
{
    uint32_t joined[FEW_ENTRIES * FEW_ENTRIES + TUPLE_STEP];
    VALUE products[FEW_ENTRIES * FEW_ENTRIES + TUPLE_STEP];
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint32_t first = smaller(bucket + buckets[i], bucket + buckets[i] - n_buckets);
        const VALUE product = value * values[i];
        for (ptrdiff_t j = 0; j < n; j += TUPLE_STEP) {
            for (ptrdiff_t k = j; k < j + TUPLE_STEP; k++) {
                uint32_t sum = first + buckets[width + k];
                joined[n * i + k] = smaller(sum, sum - n_buckets);
                products[n * i + k] = product * values[width + k];
            }
        }
    }
    const ptrdiff_t n_pairs = n * n;
#pragma GCC unroll 4
    for (ptrdiff_t i = 0; i + 2 <= n_pairs; i += 2) { /* two at a time: loads are the bottleneck */
        uint64_t two;
        memcpy(&two, joined + i, sizeof two);
        two = lower_half_first(two);
        sums[(uint32_t)two] += products[i];
        sums[two >> 32] += products[i + 1];
    }
    if (n_pairs % 2)
        sums[joined[n_pairs - 1]] += products[n_pairs - 1];
}

static void NAME(add_joined)(const uint32_t *buckets, const VALUE *values, ptrdiff_t width,
                             ptrdiff_t n, int n_factors, uint32_t n_buckets, uint32_t bucket,
                             VALUE value, VALUE *sums)
{
    if (n_factors == 2 && n <= FEW_ENTRIES) {
        NAME(add_pairs)(buckets, values, width, n, n_buckets, bucket, value, sums);
        return;
    }
    uint32_t joined[TUPLES_AT_ONCE];
    VALUE products[TUPLES_AT_ONCE];
    for (ptrdiff_t first = 0; first < n; first += TUPLES_AT_ONCE) {
        ptrdiff_t n_here = n - first < TUPLES_AT_ONCE ? n - first : TUPLES_AT_ONCE;
        NAME(join)(bucket, value, buckets + first, values + first, n_here, n_buckets, joined,
                   products);
        if (n_factors == 1)
            for (ptrdiff_t i = 0; i < n_here; i++)
                sums[joined[i]] += products[i];
        else
            for (ptrdiff_t i = 0; i < n_here; i++)
                NAME(add_joined)(buckets + width, values + width, width, n, n_factors - 1,
                                 n_buckets, joined[i], products[i], sums);
    }
}

static void NAME(add_tuples)(const uint32_t *buckets, const void *values, ptrdiff_t width,
                             ptrdiff_t n, int n_factors, uint32_t n_buckets, void *sums)
{
    NAME(add_joined)(buckets, values, width, n, n_factors, n_buckets, 0, (VALUE)1.0, sums);
}

static void NAME(convolve)(const uint32_t *restrict buckets, const void *any_values, ptrdiff_t n,
                           const void *any_repeated, ptrdiff_t n_buckets, void *any_out)
{
    const VALUE *restrict values = any_values, *restrict repeated = any_repeated;
    VALUE *restrict out = any_out;
    const ptrdiff_t lanes = (ptrdiff_t)(sizeof(VALUES_ANYWHERE) / sizeof(VALUE));
    ptrdiff_t first = 0;
    for (; first + 4 * lanes <= n_buckets; first += 4 * lanes) { /* as many as fit in registers */
        VALUES_ANYWHERE a = {0}, b = {0}, c = {0}, d = {0};
        for (ptrdiff_t i = 0; i < n; i++) {
            const VALUES_ANYWHERE *rotated =
                (const VALUES_ANYWHERE *)(repeated + n_buckets - buckets[i] + first);
            a += values[i] * rotated[0];
            b += values[i] * rotated[1];
            c += values[i] * rotated[2];
            d += values[i] * rotated[3];
        }
        VALUES_ANYWHERE *sums = (VALUES_ANYWHERE *)(out + first);
        sums[0] = a;
        sums[1] = b;
        sums[2] = c;
        sums[3] = d;
    }
    for (; first < n_buckets; first++) {
        VALUE sum = 0;
        for (ptrdiff_t i = 0; i < n; i++)
            sum += values[i] * repeated[n_buckets - buckets[i] + first];
        out[first] = sum;
    }
}
