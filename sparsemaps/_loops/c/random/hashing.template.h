/* Included once for each pair of types: VALUE, INDEX, VALUES and COLUMNS for vectors of HASH_STEP of
 * them, SIGN and SIGNS for the functions that give a value and VALUES their signs, and
 * NAME(function) for the functions' names. */

/* Buckets and signed values of n entries under each key: those under key k from k * width on. */
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
                signed_values[k * width + i] = SIGN(scale * values[i], hash);
            }
        }
        return;
    }
    for (ptrdiff_t first = 0; first < n; first += HASH_STEP) {
        /* The last step takes entries of the one before again, so that there is no remainder. */
        ptrdiff_t start = first + HASH_STEP <= n ? first : n - HASH_STEP;
        COLUMNS here;
        VALUES scaled;
        memcpy(&here, columns + start, sizeof here);
        memcpy(&scaled, values + start, sizeof scaled);
        lanes_u64 mixed = hash_mix(LANES_CONVERT(lanes_u64, here));
        scaled = scale * scaled;
        for (ptrdiff_t k = 0; k < n_keys; k++) {
            lanes_u64 hashes = hash_lanes(keys + 3 * k, mixed);
            hash_buckets(hashes, n_buckets, buckets + k * width + start);
            SIGNS(scaled, hashes, signed_values + k * width + start);
        }
    }
}

static void NAME(hash_entries)(const uint64_t *keys, ptrdiff_t n_keys, const VALUE *values,
                               VALUE scale, const INDEX *columns, ptrdiff_t n, uint64_t n_buckets,
                               ptrdiff_t width, uint32_t *buckets, VALUE *signed_values)
{
    NAME(hash)(keys, n_keys, values, scale, columns, n, n_buckets, width, buckets, signed_values);
}

static void NAME(add_sketches)(const uint64_t *keys, ptrdiff_t n_keys, const VALUE *values,
                               VALUE scale, const INDEX *columns, ptrdiff_t n, uint64_t n_buckets,
                               VALUE *sums, ptrdiff_t stride)
{
    uint32_t buckets[HASH_KEYS * HASH_AT_ONCE];
    VALUE signed_values[HASH_KEYS * HASH_AT_ONCE];
    for (ptrdiff_t first = 0; first < n; first += HASH_AT_ONCE) {
        ptrdiff_t n_here = n - first < HASH_AT_ONCE ? n - first : HASH_AT_ONCE;
        for (ptrdiff_t k = 0; k < n_keys; k++) {
            ptrdiff_t slot = k % HASH_KEYS * HASH_AT_ONCE;
            VALUE *restrict sums_here = sums + k * stride;
            if (slot == 0)
                NAME(hash)(keys + 3 * k, n_keys - k < HASH_KEYS ? n_keys - k : HASH_KEYS,
                           values + first, scale, columns + first, n_here, n_buckets, HASH_AT_ONCE,
                           buckets, signed_values);
            for (ptrdiff_t i = slot; i < slot + n_here; i++)
                sums_here[buckets[i]] += signed_values[i];
        }
    }
}

static void NAME(look_up)(const uint32_t *slots, const uint32_t *signs, uint64_t n_columns,
                          const VALUE *values, const INDEX *columns, ptrdiff_t n,
                          uint32_t *out_slots, VALUE *signed_values)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        uint64_t column = (uint64_t)columns[i];
        column = column < n_columns ? column : 0; /* another thread may have changed it */
        out_slots[i] = slots[column];
        signed_values[i] = SIGN(values[i], (uint64_t)signs[column] << 31);
    }
}

#undef NAME
#undef VALUE
#undef INDEX
#undef VALUES
#undef COLUMNS
#undef SIGN
#undef SIGNS
