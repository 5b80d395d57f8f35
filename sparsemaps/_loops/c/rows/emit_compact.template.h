/* Every number is written, and the next one over it if it was zero: no branch on random numbers. */
static ptrdiff_t NAME(compact)(const void *any_numbers, ptrdiff_t n, void *any_values,
                               int32_t *positions)
{
    const VALUE *numbers = any_numbers;
    VALUE *values = any_values;
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        WORD bits; /* a comparison of floats would take a branch for NaN */
        memcpy(&bits, &numbers[i], sizeof bits);
        values[n_out] = numbers[i];
        positions[n_out] = (int32_t)i;
        n_out += (WORD)(bits << 1) != 0;
    }
    return n_out;
}
