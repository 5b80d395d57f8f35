/* Another thread may change values and indices during a call. Indices are therefore read once, and
 * the group's arrays are addressed only with numbers derived from that copy. */

INLINE float NAME(logarithm)(VALUE value, double power)
{
    return (float)(power * log_f64(fabs((double)value)));
}

static void NAME(take_logarithms)(const VALUE *restrict values, ptrdiff_t n, double power,
                                  float *restrict out)
{
    /* At this optimization level, compilers vectorise only loops of a fixed length. */
    enum { STEP = 16 };
    ptrdiff_t i = 0;
    for (; i + STEP <= n; i += STEP)
        for (int j = 0; j < STEP; j++)
            out[i + j] = NAME(logarithm)(values[i + j], power);
    for (; i < n; i++)
        out[i] = NAME(logarithm)(values[i], power);
}

static void NAME(gather_row)(const void *any_values, const void *any_indices, int64_t start,
                             int64_t stop, int64_t first, uint64_t key, int is_signed,
                             group_t *group)
{
    const VALUE *values = any_values;
    const INDEX *indices = any_indices;
    VALUE *into = (VALUE *)group->words[0];
    uint64_t *columns = group->words[1];
    const ptrdiff_t n = stop - start;
    for (ptrdiff_t c = 0; c < n; c++) {
        const VALUE value = values[start + c];
        const uint64_t column = (uint64_t)indices[start + c];
        columns[c] = column_start(key, signed_column(column, value < 0, is_signed));
        into[c] = value;
        group->positions[c] = (uint32_t)(start - first + c);
        group->slots[c] = (uint32_t)c % GROUP_BATCH;
    }
    group->n_columns = group->n_entries = n;
    group->starts = columns;
    group->values = into;
    if (!group->batch_ends) {
        number_one_row(group);
        return;
    }
    for (ptrdiff_t end = GROUP_BATCH; end < n + GROUP_BATCH; end += GROUP_BATCH)
        group->batch_ends[end / GROUP_BATCH - 1] = (uint32_t)(end < n ? end : n);
    if (group->logarithms)
        NAME(take_logarithms)(into, n, group->power, group->logarithms);
}

static void NAME(gather_rows)(const void *any_values, const void *any_indices,
                              const int64_t *indptr, ptrdiff_t n_rows, uint64_t key, int is_signed,
                              group_t *group)
{
    const VALUE *values = any_values;
    const INDEX *indices = any_indices;
    const int64_t start = indptr[0];
    const ptrdiff_t n = indptr[n_rows] - start;
    uint64_t *words = group->words[0], largest = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t index = (uint64_t)indices[start + i];
        const uint64_t column = signed_column(index, values[start + i] < 0, is_signed);
        words[i] = column << GROUP_ENTRY_BITS | (uint64_t)i;
        largest = column > largest ? column : largest;
    }
    group->n_entries = n;
    if (largest < GROUP_TABLE_COLUMNS && (int64_t)largest < 8 * n)
        number_by_table(largest, key, group);
    else
        number_by_sorting(bit_length(largest), key, group);
    if (!group->batch_ends) {
        group->values = values + start;
        number_rows(indptr, n_rows, group);
        return;
    }
    start_batches(group);

    VALUE *into = (VALUE *)(group->starts == group->words[0] ? group->words[1] : group->words[0]);
    for (ptrdiff_t row = 0; row < n_rows; row++) {
        for (int64_t i = indptr[row]; i < indptr[row + 1]; i++) {
            const uint32_t number = group->numbers[i - start];
            const uint32_t place = group->batch_ends[number / GROUP_BATCH]++;
            group->slots[place] = GROUP_BATCH * (uint32_t)row + number % GROUP_BATCH;
            into[place] = values[i];
        }
    }
    group->values = into;
    if (group->logarithms)
        NAME(take_logarithms)(into, n, group->power, group->logarithms);
}
