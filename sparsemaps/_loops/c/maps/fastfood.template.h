/* One value at a time. */
INLINE void NAME(wht_small)(VALUE *x, ptrdiff_t n)
{
    for (ptrdiff_t h = 1; h < n; h *= 2)
        for (ptrdiff_t i = 0; i < n; i += 2 * h)
            for (ptrdiff_t j = i; j < i + h; j++) {
                VALUE a = x[j], b = x[j + h];
                x[j] = a + b;
                x[j + h] = a - b;
            }
}

INLINE void NAME(sum_and_difference)(VALUES_ANYWHERE *a, VALUES_ANYWHERE *b)
{
    VALUES_ANYWHERE sum = *a + *b;
    *b = *a - *b;
    *a = sum;
}

/* The levels between n vectors, n a power of two, that join what is h vectors apart or more. */
INLINE void NAME(levels_from)(VALUES_ANYWHERE *x, ptrdiff_t n, ptrdiff_t h)
{
    for (; h < n; h *= 2)
        for (ptrdiff_t i = 0; i < n; i += 2 * h)
            for (VALUES_ANYWHERE *p = x + i; p < x + i + h; p++)
                NAME(sum_and_difference)(p, p + h);
}

/* Sizes of at least eight vectors are taken by vectors; parts that stay in the cache first. */
INLINE void NAME(wht_inline)(VALUE *values, ptrdiff_t n)
{
    const ptrdiff_t lanes = (ptrdiff_t)(sizeof(VALUES_ANYWHERE) / sizeof(VALUE));
    const ptrdiff_t cached = 16384 / (ptrdiff_t)sizeof(VALUES_ANYWHERE);
    VALUES_ANYWHERE *x = (VALUES_ANYWHERE *)values;
    if (n < 8 * lanes) {
        NAME(wht_small)(values, n);
        return;
    }
    n /= lanes;
    for (ptrdiff_t first = 0; first < n; first += cached) {
        ptrdiff_t size = n < cached ? n : cached;
        for (VALUES_ANYWHERE *p = x + first; p < x + first + size; p++)
            *p = NAME(within)(*p);
        NAME(levels_from)(x + first, size, 1);
    }
    NAME(levels_from)(x, n, cached);
}

static void NAME(wht)(void *values, ptrdiff_t n)
{
    NAME(wht_inline)(values, n);
}

static void NAME(block)(const void *any_x, ptrdiff_t n, const int8_t *restrict signs,
                        const int32_t *restrict permutation, const float *restrict normals,
                        void *any_scratch, void *any_out)
{
    const VALUE *restrict x = any_x;
    VALUE *restrict scratch = any_scratch, *restrict out = any_out;
    for (ptrdiff_t i = 0; i < n; i++)
        scratch[i] = (VALUE)signs[i] * x[i];
    NAME(wht_inline)(scratch, n);
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = (VALUE)normals[i] * scratch[permutation[i]];
    NAME(wht_inline)(out, n);
}

static void NAME(orthogonal)(const void *any_x, ptrdiff_t n, const int8_t *restrict signs,
                             void *any_out)
{
    const VALUE *restrict x = any_x;
    VALUE *restrict products = any_out;
    for (ptrdiff_t i = 0; i < n; i++)
        products[i] = (VALUE)signs[i] * x[i];
    NAME(wht_inline)(products, n);
    for (int matrix = 1; matrix < 3; matrix++) {
        for (ptrdiff_t i = 0; i < n; i++)
            products[i] *= (VALUE)signs[matrix * n + i];
        NAME(wht_inline)(products, n);
    }
}
