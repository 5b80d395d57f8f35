/* Included once for each type of values: VALUE, VECTOR of them at any address, WITHIN(vector) for
 * the levels within a vector, and NAME(function) for the functions' names. */

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

INLINE void NAME(sum_and_difference)(VECTOR *a, VECTOR *b)
{
    VECTOR sum = *a + *b;
    *b = *a - *b;
    *a = sum;
}

/* Three levels between eight vectors, h apart. They have names, as compilers do not keep the elements
 * of an array in registers. */
INLINE void NAME(three_levels)(VECTOR *x, ptrdiff_t h, VECTOR x0, VECTOR x1, VECTOR x2, VECTOR x3,
                               VECTOR x4, VECTOR x5, VECTOR x6, VECTOR x7)
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

/* The levels between n vectors, n a power of two, that join what is h vectors apart or more. */
INLINE void NAME(levels_from)(VECTOR *x, ptrdiff_t n, ptrdiff_t h)
{
    for (; 8 * h <= n; h *= 8)
        for (ptrdiff_t i = 0; i < n; i += 8 * h)
            for (VECTOR *p = x + i; p < x + i + h; p++)
                NAME(three_levels)(p, h, p[0], p[h], p[2 * h], p[3 * h], p[4 * h], p[5 * h],
                                   p[6 * h], p[7 * h]);
    for (; h < n; h *= 2)
        for (ptrdiff_t i = 0; i < n; i += 2 * h)
            for (VECTOR *p = x + i; p < x + i + h; p++)
                NAME(sum_and_difference)(p, p + h);
}

/* Sizes of at least eight vectors are taken by vectors; parts that stay in the cache first. */
INLINE void NAME(wht_inline)(VALUE *values, ptrdiff_t n)
{
    const ptrdiff_t lanes = (ptrdiff_t)(sizeof(VECTOR) / sizeof(VALUE));
    const ptrdiff_t cached = 16384 / (ptrdiff_t)sizeof(VECTOR);
    VECTOR *x = (VECTOR *)values;
    if (n < 8 * lanes) {
        NAME(wht_small)(values, n);
        return;
    }
    n /= lanes;
    for (ptrdiff_t first = 0; first < n; first += cached) {
        ptrdiff_t size = n < cached ? n : cached;
        for (VECTOR *p = x + first; p < x + first + size; p += 8)
            NAME(three_levels)(p, 1, WITHIN(p[0]), WITHIN(p[1]), WITHIN(p[2]), WITHIN(p[3]),
                               WITHIN(p[4]), WITHIN(p[5]), WITHIN(p[6]), WITHIN(p[7]));
        NAME(levels_from)(x + first, size, 8);
    }
    NAME(levels_from)(x, n, cached);
}

static void NAME(wht)(VALUE *values, ptrdiff_t n)
{
    NAME(wht_inline)(values, n);
}

static void NAME(block)(const VALUE *restrict x, ptrdiff_t n, const int8_t *restrict signs,
                        const int32_t *restrict permutation, const float *restrict normals,
                        VALUE *restrict scratch, VALUE *restrict out)
{
    for (ptrdiff_t i = 0; i < n; i++)
        scratch[i] = (VALUE)signs[i] * x[i];
    NAME(wht_inline)(scratch, n);
    for (ptrdiff_t i = 0; i < n; i++)
        out[i] = (VALUE)normals[i] * scratch[permutation[i]];
    NAME(wht_inline)(out, n);
}

#undef NAME
#undef VALUE
#undef VECTOR
#undef WITHIN
