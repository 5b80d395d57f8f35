static int NAME(faults)(const void *any_values, const void *any_indices, ptrdiff_t n,
                        uint64_t n_columns)
{
    const VALUE *values = any_values;
    const INDEX *indices = any_indices;
    OF_VALUE(mask) infinite = 0, negative = 0, zero = 0, extreme = 0;
    OF_INDEX(unsigned) largest = 0; /* compared as unsigned: negative indices are the largest */
    for (ptrdiff_t i = 0; i < n; i++) {
        const VALUE value = values[i];
        const OF_INDEX(unsigned) index = (OF_INDEX(unsigned))indices[i];
        infinite |= -(OF_VALUE(mask))(value - value != 0); /* NaN - NaN and inf - inf are NaN */
        negative |= -(OF_VALUE(mask))(value < 0);
        const OF_VALUE(mask) zero_here = -(OF_VALUE(mask))(value == 0);
        zero |= zero_here;
        const VALUE size = OF_VALUE(absolute)(value);
        extreme |= -(OF_VALUE(mask))(size >= OF_VALUE(large));
        extreme |= -(OF_VALUE(mask))(size < (VALUE)ROWS_TINY) & ~zero_here;
        largest = index > largest ? index : largest;
    }
    return (largest >= n_columns ? ROWS_OUT_OF_RANGE : 0) | (infinite ? ROWS_NOT_FINITE : 0)
           | (negative ? ROWS_NEGATIVE : 0) | (zero ? ROWS_ZERO : 0) | (extreme ? ROWS_EXTREME : 0);
}

static void NAME(reverse)(const void *any_values, const void *any_indices, ptrdiff_t n,
                          void *any_out_values, void *any_out_indices)
{
    const VALUE *restrict values = any_values;
    const INDEX *restrict indices = any_indices;
    VALUE *restrict out_values = any_out_values;
    INDEX *restrict out_indices = any_out_indices;
    for (ptrdiff_t i = 0; i < n; i++)
        out_values[i] = values[n - 1 - i];
    for (ptrdiff_t i = 0; i < n; i++)
        out_indices[i] = indices[n - 1 - i];
}

static ptrdiff_t NAME(nonzeros)(const void *any_values, const void *any_indices, ptrdiff_t n,
                                void *any_out_values, void *any_out_indices)
{
    const VALUE *restrict values = any_values;
    const INDEX *restrict indices = any_indices;
    VALUE *restrict out_values = any_out_values;
    INDEX *restrict out_indices = any_out_indices;
    ptrdiff_t total = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const VALUE value = values[i];
        out_values[total] = value;
        out_indices[total] = indices[i];
        total += value != 0;
    }
    return total;
}

static uint64_t NAME(largest)(const void *any_indices, ptrdiff_t n)
{
    const INDEX *indices = any_indices;
    OF_INDEX(unsigned) largest = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        largest =
            (OF_INDEX(unsigned))indices[i] > largest ? (OF_INDEX(unsigned))indices[i] : largest;
    return largest;
}

static ptrdiff_t NAME(descents)(const void *any_indices, ptrdiff_t n)
{
    const INDEX *indices = any_indices;
    ptrdiff_t total = 0;
    for (ptrdiff_t i = 1; i < n; i++)
        total += indices[i] <= indices[i - 1];
    return total;
}

static int NAME(order)(const void *any_indices, ptrdiff_t n)
{
    const INDEX *indices = any_indices;
    INDEX ascends = 1, descends = 1;
    for (ptrdiff_t i = 1; i < n; i++) {
        ascends &= indices[i - 1] < indices[i];
        descends &= indices[i - 1] > indices[i];
    }
    return ascends ? ROWS_ASCENDING : descends ? ROWS_DESCENDING : ROWS_UNSORTED;
}
