/* Compute the buckets and signed values of n entries for each key. Results for key k start at k *
 * width. */
INLINE void NAME(hash)(const uint64_t *keys, ptrdiff_t n_keys, const VALUE *values, VALUE scale,
                       const INDEX *columns, ptrdiff_t n, uint64_t n_buckets, ptrdiff_t width,
                       uint32_t *buckets, VALUE *signed_values)
{
    if (n < HASH_STEP) {
        for (ptrdiff_t i = 0; i < n; i++) {
            uint64_t mixed = mix64((uint64_t)columns[i]);
            for (ptrdiff_t k = 0; k < n_keys; k++) {
                uint64_t hash = pair_multiply(keys + 3 * k, mixed);
                buckets[k * width + i] = hash_bucket(hash, n_buckets);
                signed_values[k * width + i] = OF_VALUE(sign)(scale * values[i], hash);
            }
        }
        return;
    }
    for (ptrdiff_t first = 0; first < n; first += HASH_STEP) {
        /* The last step overlaps the one before, which avoids a tail loop. */
        ptrdiff_t start = first + HASH_STEP <= n ? first : n - HASH_STEP;
        OF_INDEX(vector) here;
        OF_VALUE(vector) scaled;
        memcpy(&here, columns + start, sizeof here);
        memcpy(&scaled, values + start, sizeof scaled);
        lanes_u64 mixed = mix_lanes(LANES_CONVERT(lanes_u64, here));
        scaled = scale * scaled;
        for (ptrdiff_t k = 0; k < n_keys; k++) {
            lanes_u64 hashes = hash_lanes(keys + 3 * k, mixed);
            hash_buckets(hashes, n_buckets, buckets + k * width + start);
            OF_VALUE(signs)(scaled, hashes, signed_values + k * width + start);
        }
    }
}

static void NAME(hash_entries)(const uint64_t *keys, ptrdiff_t n_keys, const void *values,
                               double scale, const void *columns, ptrdiff_t n, uint64_t n_buckets,
                               ptrdiff_t width, uint32_t *buckets, void *signed_values)
{
    NAME(hash)(keys, n_keys, values, (VALUE)scale, columns, n, n_buckets, width, buckets,
               signed_values);
}

static void NAME(add_sketches)(const uint64_t *keys, ptrdiff_t n_keys, const void *values,
                               double scale, const void *columns, ptrdiff_t n, uint64_t n_buckets,
                               void *sums, ptrdiff_t stride)
{
    uint32_t buckets[HASH_KEYS * HASH_AT_ONCE];
    VALUE signed_values[HASH_KEYS * HASH_AT_ONCE];
    for (ptrdiff_t first = 0; first < n; first += HASH_AT_ONCE) {
        ptrdiff_t n_here = n - first < HASH_AT_ONCE ? n - first : HASH_AT_ONCE;
        for (ptrdiff_t k = 0; k < n_keys; k++) {
            ptrdiff_t slot = k % HASH_KEYS * HASH_AT_ONCE;
            VALUE *restrict sums_here = (VALUE *)sums + k * stride;
            if (slot == 0)
                NAME(hash)(keys + 3 * k, n_keys - k < HASH_KEYS ? n_keys - k : HASH_KEYS,
                           (const VALUE *)values + first, (VALUE)scale,
                           (const INDEX *)columns + first, n_here, n_buckets, HASH_AT_ONCE, buckets,
                           signed_values);
            for (ptrdiff_t i = slot; i < slot + n_here; i++)
                sums_here[buckets[i]] += signed_values[i];
        }
    }
}

static void NAME(look_up)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                          const void *values, const void *columns, ptrdiff_t n, uint32_t *out_slots,
                          void *signed_values)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t column = (uint64_t)((const INDEX *)columns)[i];
        column = column < n_columns ? column : 0; /* another thread may have changed it */
        out_slots[i] = slots[column];
        ((VALUE *)signed_values)[i] =
            OF_VALUE(sign)(((const VALUE *)values)[i], (uint64_t)signs[column] << 31);
    }
}
