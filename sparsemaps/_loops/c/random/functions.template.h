/* Products and sums are computed in separate loops: if sums and differences alternate, GCC fuses
 * them with the products, whatever -ffp-contract says. */
static void NAME(multiply_complex)(void *any_x, const void *any_y, ptrdiff_t n)
{
    VALUE *restrict x = any_x;
    const VALUE *restrict y = any_y;
    enum { AT_ONCE = 64 };
    VALUE left[2 * AT_ONCE], right[2 * AT_ONCE];
    for (ptrdiff_t first = 0; first < 2 * n; first += 2 * AT_ONCE) {
        ptrdiff_t n_here = 2 * n - first < 2 * AT_ONCE ? 2 * n - first : 2 * AT_ONCE;
        for (ptrdiff_t i = 0; i < n_here; i += 2) {
            VALUE real = x[first + i], imaginary = x[first + i + 1];
            left[i] = real * y[first + i];
            left[i + 1] = real * y[first + i + 1];
            right[i] = -imaginary * y[first + i + 1];
            right[i + 1] = imaginary * y[first + i];
        }
        for (ptrdiff_t i = 0; i < n_here; i++)
            x[first + i] = left[i] + right[i];
    }
}

static int NAME(finite)(const void *any_x, ptrdiff_t n)
{
    const VALUE *x = any_x;
    WORD wrong = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        wrong |= (WORD)(x[i] - x[i] != 0); /* NaN - NaN and inf - inf are NaN */
    return !wrong;
}

/* Compares bits of absolute values, so that NaN counts. The comparison is signed because SSE2 and
 * AVX2 have no unsigned one. */
static int NAME(is_far)(const void *any_projections, const void *any_scales, ptrdiff_t n)
{
    const VALUE *projections = any_projections, *scales = any_scales;
    NAME(bits) bits, limit_of_half, limit_of_eighth, n_half = 0, n_eighth = 0;
    memcpy(&limit_of_half, &NAME(far_half), sizeof limit_of_half);
    memcpy(&limit_of_eighth, &NAME(far_eighth), sizeof limit_of_eighth);
    for (ptrdiff_t j = 0; j < n; j++) {
        const VALUE turns = projections[j] * scales[j];
        memcpy(&bits, &turns, sizeof bits);
        bits &= (NAME(bits))((WORD)-1 >> 1);
        n_half += bits >= limit_of_half;
        n_eighth += bits >= limit_of_eighth;
    }
    return 2 * n_half > n || 8 * n_eighth > n;
}

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
