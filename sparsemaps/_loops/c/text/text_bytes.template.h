/* Included once for each index type: INDEX, NAME(function). */

static int64_t NAME(count)(const uint8_t *bytes, int64_t n_bytes, int size, int64_t first,
                           uint64_t *items, uint64_t *other, INDEX *columns, int32_t *counts)
{
    const int64_t n = n_bytes - size + 1;
    if (n <= 0)
        return 0;
    if (size <= 3) {
        uint32_t *last = (uint32_t *)other + n + HASHES_AT_ONCE;
        uint32_t *numbers = (uint32_t *)items + n + HASHES_AT_ONCE;
        uint32_t *sorted = sorted_short(bytes, n, size, (uint32_t *)items, (uint32_t *)other);
        const int64_t n_runs = find_last(sorted, n, numbers, last);
        for (int64_t k = 0; k < n_runs; k++) {
            columns[k] = (INDEX)(numbers[k] >> 1) + (INDEX)first;
            counts[k] = (int32_t)(last[k] - (k ? last[k - 1] : UINT32_MAX));
        }
        return n_runs;
    }
    const uint64_t *sorted = sorted_long(bytes, n, size, items, other);
    int64_t at = -1;
    uint64_t before = ~sorted[0];
    int32_t so_far = 0;
    for (int64_t i = 0; i < n; i++) {
        const int32_t is_new = sorted[i] != before;
        at += is_new;
        so_far = is_new ? 1 : so_far + 1;
        columns[at] = (INDEX)((int64_t)sorted[i] + first);
        counts[at] = so_far;
        before = sorted[i];
    }
    return at + 1;
}

#undef NAME
#undef INDEX
