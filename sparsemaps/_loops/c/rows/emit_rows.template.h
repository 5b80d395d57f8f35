static ptrdiff_t NAME(sums)(void *any_sums, ptrdiff_t n, int64_t first_column, void *any_values,
                            void *any_columns)
{
    VALUE *sums = any_sums, *values = any_values;
    INDEX *columns = any_columns;
    VALUE kept[EMIT_AT_ONCE + EMIT_SLACK];
    int32_t positions[EMIT_AT_ONCE + EMIT_SLACK];
    ptrdiff_t n_out = 0;
    for (ptrdiff_t first = 0; first < n; first += EMIT_AT_ONCE) {
        ptrdiff_t n_sums = n - first < EMIT_AT_ONCE ? n - first : EMIT_AT_ONCE;
        ptrdiff_t n_kept = OF_VALUE(compact)(sums + first, n_sums, kept, positions);
        memcpy(values + n_out, kept, (size_t)n_kept * sizeof(VALUE));
        for (ptrdiff_t i = 0; i < n_kept; i++)
            columns[n_out + i] = (INDEX)(first_column + first + positions[i]);
        n_out += n_kept;
    }
    memset(sums, 0, (size_t)n * sizeof(VALUE));
    return n_out;
}

static ptrdiff_t NAME(scaled)(const csr_block *rows, int64_t start, int64_t stop, double factor,
                              int64_t shift, void *any_values, void *any_columns)
{
    const csr_block own = *rows; /* a local copy, which stores cannot alias */
    const VALUE *entries = own.values;
    VALUE *values = any_values;
    INDEX *columns = any_columns;
    ptrdiff_t n_out = 0;
    for (int64_t i = start; i < stop; i++) {
        VALUE value = (VALUE)factor * entries[i];
        if (value != 0) {
            values[n_out] = value;
            columns[n_out++] = (INDEX)(shift + index_at(&own, i));
        }
    }
    return n_out;
}

static ptrdiff_t NAME(entries)(const uint32_t *buckets, const void *any_entries, ptrdiff_t n,
                               uint32_t n_buckets, pair_t *pairs, void *any_values,
                               void *any_columns)
{
    const VALUE *entries = any_entries;
    VALUE *values = any_values;
    INDEX *columns = any_columns;
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

static ptrdiff_t NAME(slots)(const uint32_t *slots, const void *any_entries, ptrdiff_t n,
                             void *any_sums, uint64_t *marks, ptrdiff_t n_marks,
                             const uint32_t *buckets, void *any_values, void *any_columns)
{
    const VALUE *entries = any_entries;
    VALUE *sums = any_sums, *values = any_values;
    INDEX *columns = any_columns;
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        sums[slots[i]] += entries[i];
        marks[slots[i] / 64] |= UINT64_C(1) << slots[i] % 64;
    }
    for (ptrdiff_t word = 0; word < n_marks; word++) {
        uint64_t marked = marks[word];
        marks[word] = 0;
        for (; marked; marked &= marked - 1) {
            ptrdiff_t slot = 64 * word + __builtin_ctzll(marked);
            values[n_out] = sums[slot]; /* overwritten by the next one if 0 */
            columns[n_out] = (INDEX)buckets[slot];
            n_out += sums[slot] != 0;
            sums[slot] = 0;
        }
    }
    return n_out;
}
