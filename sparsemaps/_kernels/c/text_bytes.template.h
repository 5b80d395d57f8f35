/* Included once for each index type: INDEX, NAME(function). */

/* Columns and counts of n sorted numbers: items[i] >> shift. */
#define COUNT_RUNS(WORD)                                                                           \
    const WORD *sorted = found;                                                                    \
    int64_t at = -1;                                                                               \
    WORD before = ~sorted[0];                                                                      \
    int32_t count = 0;                                                                             \
    for (int64_t i = 0; i < n; i++) {                                                              \
        const int32_t is_new = sorted[i] != before;                                                \
        at += is_new;                                                                              \
        count = is_new ? 1 : count + 1;                                                            \
        columns[at] = (INDEX)((int64_t)(sorted[i] >> shift) + first);                              \
        counts[at] = count;                                                                        \
        before = sorted[i];                                                                        \
    }                                                                                              \
    return at + 1;

static int64_t NAME(runs_of_short)(const uint32_t *found, int64_t n, int shift, int64_t first,
                                   INDEX *columns, int32_t *counts)
{
    COUNT_RUNS(uint32_t)
}

static int64_t NAME(runs_of_long)(const uint64_t *found, int64_t n, int shift, int64_t first,
                                  INDEX *columns, int32_t *counts)
{
    COUNT_RUNS(uint64_t)
}

static int64_t NAME(count)(const uint8_t *bytes, int64_t n_bytes, int size, int64_t first,
                           uint64_t *items, uint64_t *other, INDEX *columns, int32_t *counts)
{
    const int64_t n = n_bytes - size + 1;
    if (n <= 0)
        return 0;
    if (size <= 3)
        return NAME(runs_of_short)(
            sorted_short(bytes, n, size, (uint32_t *)items, (uint32_t *)other), n, 1, first,
            columns, counts);
    return NAME(runs_of_long)(sorted_long(bytes, n, size, items, other), n, 0, first, columns,
                              counts);
}

#undef COUNT_RUNS
#undef NAME
#undef INDEX
