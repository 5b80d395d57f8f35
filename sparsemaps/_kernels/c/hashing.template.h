/* Included once for each pair of types: VALUE, INDEX, SIGN for the function that gives a value its
 * sign, and NAME(function) for the functions' names. */

/* What all hashes of n <= HASH_AT_ONCE columns have in common. */
INLINE void NAME(mix)(const INDEX *restrict columns, ptrdiff_t n, uint64_t *restrict mixed)
{
    INDEX last[HASH_STEP] = {0};
    ptrdiff_t i = 0;
    for (; i + HASH_STEP <= n; i += HASH_STEP)
        for (int j = 0; j < HASH_STEP; j++)
            mixed[i + j] = mix64((uint64_t)columns[i + j]);
    if (i < n) {
        memcpy(last, columns + i, (size_t)(n - i) * sizeof(INDEX));
        for (int j = 0; j < HASH_STEP; j++)
            mixed[i + j] = mix64((uint64_t)last[j]);
    }
}

static void NAME(add_sketches)(const uint64_t *keys, ptrdiff_t n_keys, const VALUE *values,
                               VALUE scale, const INDEX *columns, ptrdiff_t n, uint64_t n_buckets,
                               VALUE *sums, ptrdiff_t stride)
{
    uint64_t mixed[HASH_AT_ONCE];
    uint32_t buckets[HASH_AT_ONCE], signs[HASH_AT_ONCE];
    VALUE signed_values[HASH_AT_ONCE];
    for (ptrdiff_t first = 0; first < n; first += HASH_AT_ONCE) {
        ptrdiff_t n_here = n - first < HASH_AT_ONCE ? n - first : HASH_AT_ONCE;
        NAME(mix)(columns + first, n_here, mixed);
        for (ptrdiff_t k = 0; k < n_keys; k++) {
            VALUE *restrict sums_here = sums + k * stride;
            hash_mixed(keys + 3 * k, mixed, n_here, n_buckets, buckets, signs);
            for (ptrdiff_t i = 0; i < n_here; i++)
                signed_values[i] = SIGN(scale * values[first + i], signs[i]);
            for (ptrdiff_t i = 0; i < n_here; i++)
                sums_here[buckets[i]] += signed_values[i];
        }
    }
}

static void NAME(hash_entries)(const uint64_t *keys, ptrdiff_t n_keys, const VALUE *values,
                               VALUE scale, const INDEX *columns, ptrdiff_t n, uint64_t n_buckets,
                               ptrdiff_t width, uint32_t *buckets, VALUE *signed_values)
{
    uint64_t mixed[HASH_AT_ONCE];
    uint32_t signs[HASH_AT_ONCE];
    for (ptrdiff_t first = 0; first < n; first += HASH_AT_ONCE) {
        ptrdiff_t n_here = n - first < HASH_AT_ONCE ? n - first : HASH_AT_ONCE;
        NAME(mix)(columns + first, n_here, mixed);
        for (ptrdiff_t k = 0; k < n_keys; k++) {
            VALUE *restrict out = signed_values + k * width + first;
            hash_mixed(keys + 3 * k, mixed, n_here, n_buckets, buckets + k * width + first, signs);
            for (ptrdiff_t i = 0; i < n_here; i++)
                out[i] = SIGN(scale * values[first + i], signs[i]);
        }
    }
}

#undef NAME
#undef VALUE
#undef INDEX
#undef SIGN
