/* Included once for each pair of types: VALUE, with MASK of integers as wide, and INDEX, with
 * UNSIGNED; NAME(function) for the functions' names. */

static int NAME(faults)(const VALUE *values, const INDEX *indices, ptrdiff_t n, uint64_t n_columns)
{
    MASK infinite = 0, negative = 0, zero = 0;
    UNSIGNED largest = 0; /* as unsigned numbers, negative indices are the largest */
    for (ptrdiff_t i = 0; i < n; i++) {
        const VALUE value = values[i];
        const UNSIGNED index = (UNSIGNED)indices[i];
        infinite |= -(MASK)(value - value != 0); /* NaN - NaN and inf - inf are NaN */
        negative |= -(MASK)(value < 0);
        zero |= -(MASK)(value == 0);
        largest = index > largest ? index : largest;
    }
    return (largest >= n_columns ? ROWS_OUT_OF_RANGE : 0) | (infinite ? ROWS_NOT_FINITE : 0)
           | (negative ? ROWS_NEGATIVE : 0) | (zero ? ROWS_ZERO : 0);
}

/* The n entries from the last to the first. */
static void NAME(reverse)(const VALUE *restrict values, const INDEX *restrict indices, ptrdiff_t n,
                          VALUE *restrict out_values, INDEX *restrict out_indices)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out_values[i] = values[n - 1 - i];
    for (ptrdiff_t i = 0; i < n; i++)
        out_indices[i] = indices[n - 1 - i];
}

#undef NAME
#undef VALUE
#undef MASK
#undef INDEX
#undef UNSIGNED
