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

/* Return the larger absolute value, as bits. NaN compares as the largest. The comparison is signed
 * because SSE2 and AVX2 have no unsigned one. */
INLINE NAME(bits) NAME(larger)(NAME(bits) largest, VALUE x)
{
    NAME(bits) bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= (NAME(bits))((WORD)-1 >> 1);
    return bits > largest ? bits : largest;
}

/* Count the far angles among n, unless `largest` shows that there are none. */
static ptrdiff_t NAME(count_far)(NAME(bits) largest, const VALUE *projections, const VALUE *scales,
                                 const VALUE *phases, ptrdiff_t n)
{
    const NAME(bits) limit = NAME(larger)(0, NAME(far_turns));
    ptrdiff_t n_far = 0;
    if (largest < limit)
        return 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        const VALUE turns = projections[j] * scales[j] + (phases ? phases[j] : 0);
        n_far += NAME(larger)(0, turns) >= limit;
    }
    return n_far;
}

static ptrdiff_t NAME(paired)(const void *any_projections, const void *any_scales, ptrdiff_t n,
                              double factor, void *any_out)
{
    const VALUE *restrict projections = any_projections, *restrict scales = any_scales;
    VALUE *restrict out = any_out;
    NAME(bits) largest = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        const VALUE turns = projections[j] * scales[j];
        VALUE sine, cosine;
        largest = NAME(larger)(largest, turns);
        NAME(sin_cos)(turns, &sine, &cosine);
        out[2 * j] = (VALUE)factor * cosine;
        out[2 * j + 1] = (VALUE)factor * sine;
    }
    return NAME(count_far)(largest, projections, scales, NULL, n);
}

static ptrdiff_t NAME(cosines)(const void *any_projections, const void *any_scales,
                               const void *any_phases, ptrdiff_t n, double factor, void *any_out)
{
    const VALUE *restrict projections = any_projections, *restrict scales = any_scales;
    const VALUE *restrict phases = any_phases;
    VALUE *restrict out = any_out;
    NAME(bits) largest = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        const VALUE turns = projections[j] * scales[j] + phases[j];
        VALUE sine, cosine;
        largest = NAME(larger)(largest, turns);
        NAME(sin_cos)(turns, &sine, &cosine);
        out[j] = (VALUE)factor * cosine;
    }
    return NAME(count_far)(largest, projections, scales, phases, n);
}
