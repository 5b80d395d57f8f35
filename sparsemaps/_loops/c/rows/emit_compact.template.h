/* Write every number; after a zero, the next number overwrites it. No branch depends on the
 * data. */
static ptrdiff_t NAME(compact)(const void *any_numbers, ptrdiff_t n, void *any_values,
                               int32_t *positions)
{
    const VALUE *numbers = any_numbers;
    VALUE *values = any_values;
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        WORD bits; /* comparing floats would need a branch for NaN */
        memcpy(&bits, &numbers[i], sizeof bits);
        values[n_out] = numbers[i];
        positions[n_out] = (int32_t)i;
        n_out += (WORD)(bits << 1) != 0;
    }
    return n_out;
}
