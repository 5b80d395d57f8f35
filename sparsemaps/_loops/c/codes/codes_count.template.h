/* Included once per method of counting bits: POPCOUNT(x) counts the bits of each part (byte or
 * word) of a vector; ADD_UP(x) sums the parts of each word; TARGET is the attribute of the
 * functions and NAME(function) their names. */

/* Count the non-zero fields of x, in parts that can hold the sum of CODES_RUN such counts. */
TARGET INLINE part_u64 NAME(differing)(int width, part_u64 x)
{
    switch (width) {
    case 1:
        return POPCOUNT(x);
    case 2:
        return POPCOUNT((x | x >> 1) & EVERY_BYTE(0x55));
    case 4:
        x = x | x >> 2;
        return POPCOUNT((x | x >> 1) & EVERY_BYTE(0x11));
    default:
        return fields_not_zero(width, x);
    }
}

TARGET INLINE part_u64 NAME(add_up)(int width, part_u64 parts)
{
    return width < 8 ? ADD_UP(parts) : sum_of_bytes(parts);
}

/* Compare `n` queries, a compile-time constant, with one part of a group of rows. */
TARGET INLINE void NAME(count_part)(int width, int n, const uint64_t *queries,
                                    const uint32_t *limits, const part_u64 *rows, ptrdiff_t n_words,
                                    uint32_t *counts, ptrdiff_t stride)
{
    part_u64 totals[QUERIES];
    for (int q = 0; q < n; q++)
        totals[q] = (part_u64){0};
    for (ptrdiff_t first = 0; first < n_words; first += CODES_RUN) {
        ptrdiff_t stop = n_words - first < CODES_RUN ? n_words : first + CODES_RUN;
        part_u64 parts[QUERIES];
        for (int q = 0; q < n; q++)
            parts[q] = (part_u64){0};
        for (ptrdiff_t w = first; w < stop; w++)
            for (int q = 0; q < n; q++)
                parts[q] += NAME(differing)(width, rows[w * PARTS] ^ queries[q * n_words + w]);
        for (int q = 0; q < n; q++)
            totals[q] += NAME(add_up)(width, parts[q]);
        if (stop < n_words) {
            int within = 0;
            for (int q = 0; q < n; q++)
                within |= any_at_most(totals[q], limits[q]);
            if (!within)
                break;
        }
    }
    for (int q = 0; q < n; q++)
        store_counts(totals[q], counts + q * stride);
}

TARGET INLINE void NAME(count_some)(int width, int n, const uint64_t *queries,
                                    const uint32_t *limits, const lanes_u64 *tile,
                                    ptrdiff_t n_groups, ptrdiff_t n_words, uint32_t *counts,
                                    ptrdiff_t stride)
{
    for (ptrdiff_t g = 0; g < n_groups; g++)
        for (int part = 0; part < PARTS; part++)
            NAME(count_part)(width, n, queries, limits,
                             (const part_u64 *)(tile + g * n_words) + part, n_words,
                             counts + g * CODES_LANES + part * PART_LANES, stride);
}

TARGET INLINE void NAME(count_all)(int width, const uint64_t *queries, ptrdiff_t n_queries,
                                   const uint32_t *limits, const lanes_u64 *tile,
                                   ptrdiff_t n_groups, ptrdiff_t n_words, uint32_t *counts,
                                   ptrdiff_t stride)
{
    ptrdiff_t q = 0;
    for (; q + QUERIES <= n_queries; q += QUERIES)
        NAME(count_some)(width, QUERIES, queries + q * n_words, limits + q, tile, n_groups, n_words,
                         counts + q * stride, stride);
    for (; q < n_queries; q++)
        NAME(count_some)(width, 1, queries + q * n_words, limits + q, tile, n_groups, n_words,
                         counts + q * stride, stride);
}

#define COUNT_WIDTH(WIDTH)                                                                         \
    case WIDTH:                                                                                    \
        NAME(count_all)(WIDTH, queries, n_queries, limits, tile, n_groups, n_words, counts,        \
                        stride);                                                                   \
        break

TARGET static void NAME(count_tile)(int width, const uint64_t *queries, ptrdiff_t n_queries,
                                    const uint32_t *limits, const lanes_u64 *tile,
                                    ptrdiff_t n_groups, ptrdiff_t n_words, uint32_t *counts,
                                    ptrdiff_t stride)
{
    switch (width) {
        COUNT_WIDTH(1);
        COUNT_WIDTH(2);
        COUNT_WIDTH(4);
        COUNT_WIDTH(8);
        COUNT_WIDTH(16);
        COUNT_WIDTH(32);
    }
}

#undef COUNT_WIDTH
#undef NAME
#undef TARGET
#undef POPCOUNT
#undef ADD_UP
