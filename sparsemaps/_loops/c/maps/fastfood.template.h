/* Scalar transform for small sizes. */
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

/* Run three levels on eight vectors with stride h. The vectors are separate variables because
 * compilers do not keep array elements in registers. */
INLINE void NAME(three_levels)(VALUES_ANYWHERE *x, ptrdiff_t h, VALUES_ANYWHERE x0,
                               VALUES_ANYWHERE x1, VALUES_ANYWHERE x2, VALUES_ANYWHERE x3,
                               VALUES_ANYWHERE x4, VALUES_ANYWHERE x5, VALUES_ANYWHERE x6,
                               VALUES_ANYWHERE x7)
{
    NAME(sum_and_difference)(&x0, &x1);
    NAME(sum_and_difference)(&x2, &x3);
    NAME(sum_and_difference)(&x4, &x5);
    NAME(sum_and_difference)(&x6, &x7);
    NAME(sum_and_difference)(&x0, &x2);
    NAME(sum_and_difference)(&x1, &x3);
    NAME(sum_and_difference)(&x4, &x6);
    NAME(sum_and_difference)(&x5, &x7);
    NAME(sum_and_difference)(&x0, &x4);
    NAME(sum_and_difference)(&x1, &x5);
    NAME(sum_and_difference)(&x2, &x6);
    NAME(sum_and_difference)(&x3, &x7);
    x[0] = x0, x[h] = x1, x[2 * h] = x2, x[3 * h] = x3;
    x[4 * h] = x4, x[5 * h] = x5, x[6 * h] = x6, x[7 * h] = x7;
}

/* Run the levels that join vectors h or more apart, for n vectors, n a power of two. */
INLINE void NAME(levels_from)(VALUES_ANYWHERE *x, ptrdiff_t n, ptrdiff_t h)
{
    for (; 8 * h <= n; h *= 8)
        for (ptrdiff_t i = 0; i < n; i += 8 * h)
            for (VALUES_ANYWHERE *p = x + i; p < x + i + h; p++)
                NAME(three_levels)(p, h, p[0], p[h], p[2 * h], p[3 * h], p[4 * h], p[5 * h],
                                   p[6 * h], p[7 * h]);
    for (; h < n; h *= 2)
        for (ptrdiff_t i = 0; i < n; i += 2 * h)
            for (VALUES_ANYWHERE *p = x + i; p < x + i + h; p++)
                NAME(sum_and_difference)(p, p + h);
}

/* Transform, vectorised if there are at least eight vectors. Parts that fit in the cache come
 * first. */
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
        for (VALUES_ANYWHERE *p = x + first; p < x + first + size; p += 8)
            NAME(three_levels)(p, 1, NAME(within)(p[0]), NAME(within)(p[1]), NAME(within)(p[2]),
                               NAME(within)(p[3]), NAME(within)(p[4]), NAME(within)(p[5]),
                               NAME(within)(p[6]), NAME(within)(p[7]));
        NAME(levels_from)(x + first, size, 8);
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
