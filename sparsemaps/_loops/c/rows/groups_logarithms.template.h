/* Included once for each type of values: VALUE, and NAME(function) for the function's name. */

static void NAME(take_logarithms)(const VALUE *restrict values, ptrdiff_t n, float *restrict out)
{
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = (float)log_f64(fabs((double)values[i]));
}

#undef NAME
#undef VALUE
