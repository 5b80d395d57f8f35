/* Included once for each type of values: VALUE, BITS for the unsigned integer of its size, and
 * NAME(function) for the function's name. */

/* Every number is written, and the next one over it if it was zero: no branch on random numbers. */
static ptrdiff_t NAME(compact)(const VALUE *numbers, ptrdiff_t n, VALUE *values, int32_t *positions)
{
    ptrdiff_t n_out = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        BITS bits; /* a comparison of floats would take a branch for NaN */
        memcpy(&bits, &numbers[i], sizeof bits);
        values[n_out] = numbers[i];
        positions[n_out] = (int32_t)i;
        n_out += (BITS)(bits << 1) != 0;
    }
    return n_out;
}

#undef NAME
#undef VALUE
#undef BITS
