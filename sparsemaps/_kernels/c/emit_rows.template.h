/* Included once for each pair of types: VALUE, INDEX, COMPACT for the function `compact` of VALUE,
 * and NAME(function) for the functions' names. */

static ptrdiff_t NAME(sums)(VALUE *sums, ptrdiff_t n, VALUE *values, INDEX *columns)
{
    VALUE kept[EMIT_AT_ONCE + EMIT_SLACK];
    int32_t positions[EMIT_AT_ONCE + EMIT_SLACK];
    ptrdiff_t n_out = 0;
    for (ptrdiff_t first = 0; first < n; first += EMIT_AT_ONCE) {
        ptrdiff_t n_sums = n - first < EMIT_AT_ONCE ? n - first : EMIT_AT_ONCE;
        ptrdiff_t n_kept = COMPACT(sums + first, n_sums, kept, positions);
        memcpy(values + n_out, kept, (size_t)n_kept * sizeof(VALUE));
        for (ptrdiff_t i = 0; i < n_kept; i++)
            columns[n_out + i] = (INDEX)(first + positions[i]);
        n_out += n_kept;
    }
    memset(sums, 0, (size_t)n * sizeof(VALUE));
    return n_out;
}

static ptrdiff_t NAME(entries)(const uint32_t *buckets, const VALUE *entries, ptrdiff_t n,
                               uint32_t n_buckets, pair_t *pairs, VALUE *values, INDEX *columns)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        pairs[i].key = buckets[i];
        memcpy(&pairs[i].payload, &entries[i], sizeof(VALUE));
    }
    const pair_t *sorted = sort_pairs(pairs, pairs + n, (size_t)n, bit_length(n_buckets - 1));
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n;) {
        uint64_t bucket = sorted[i].key;
        VALUE total = 0;
        for (; i < n && sorted[i].key == bucket; i++) {
            VALUE entry;
            memcpy(&entry, &sorted[i].payload, sizeof entry);
            total += entry;
        }
        if (total != 0) {
            values[n_out] = total;
            columns[n_out++] = (INDEX)bucket;
        }
    }
    return n_out;
}

#undef NAME
#undef VALUE
#undef INDEX
#undef COMPACT
