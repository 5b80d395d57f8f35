static void NAME(paired)(const void *any_projections, const void *any_scales, ptrdiff_t n,
                         double factor, void *any_out)
{
    const VALUE *restrict projections = any_projections, *restrict scales = any_scales;
    VALUE *restrict out = any_out;
    for (ptrdiff_t j = 0; j < n; j++) {
        VALUE sine, cosine;
        NAME(sin_cos)(projections[j] * scales[j], &sine, &cosine);
        out[2 * j] = (VALUE)factor * cosine;
        out[2 * j + 1] = (VALUE)factor * sine;
    }
}

static void NAME(cosines)(const void *any_projections, const void *any_scales,
                          const void *any_phases, ptrdiff_t n, double factor, void *any_out)
{
    const VALUE *restrict projections = any_projections, *restrict scales = any_scales;
    const VALUE *restrict phases = any_phases;
    VALUE *restrict out = any_out;
    for (ptrdiff_t j = 0; j < n; j++) {
        VALUE sine, cosine;
        NAME(sin_cos)(projections[j] * scales[j] + phases[j], &sine, &cosine);
        out[j] = (VALUE)factor * cosine;
    }
}
