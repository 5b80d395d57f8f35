/* Included once for each type of values: VALUE, and NAME(function) for the functions' names. */

static void NAME(paired)(const VALUE *restrict projections, const VALUE *restrict scales,
                         ptrdiff_t n, VALUE factor, VALUE *restrict out)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        VALUE sine, cosine;
        NAME(sin_cos)(projections[j] * scales[j], &sine, &cosine);
        out[2 * j] = factor * cosine;
        out[2 * j + 1] = factor * sine;
    }
}

static void NAME(cosines)(const VALUE *restrict projections, const VALUE *restrict scales,
                          const VALUE *restrict phases, ptrdiff_t n, VALUE factor,
                          VALUE *restrict out)
{
    for (ptrdiff_t j = 0; j < n; j++) {
        VALUE sine, cosine;
        NAME(sin_cos)(projections[j] * scales[j] + phases[j], &sine, &cosine);
        out[j] = factor * cosine;
    }
}

#undef NAME
#undef VALUE
