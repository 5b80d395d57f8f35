/* Scores of WIDTH models at a time, in VECTORS vectors of type VECTOR. */

INLINE const VECTOR_ANYWHERE *NAME(at)(const double *weights, uint32_t column, ptrdiff_t n_models)
{
    return (const VECTOR_ANYWHERE *)(weights + (size_t)column * (size_t)n_models);
}

/* Add the weights at n columns to a row's sums, for models from m on in steps of WIDTH. Return the
 * first model that is not covered. */
INLINE ptrdiff_t NAME(add)(const double *weights, const uint32_t *columns, ptrdiff_t n,
                           ptrdiff_t n_models, ptrdiff_t m, double *sums)
{
    enum { WIDTH = VECTORS * sizeof(VECTOR) / sizeof(double) };
    for (; m + WIDTH <= n_models; m += WIDTH) {
        /* Partial sums: codes 0, 4, ...; codes 1, 5, ...; and so on. */
        VECTOR parts[4][VECTORS];
        memset(parts, 0, sizeof(parts));
        ptrdiff_t j = 0;
#pragma GCC unroll 4
        for (; j + 4 <= n; j += 4)
#pragma GCC unroll 4
            for (int part = 0; part < 4; part++)
#pragma GCC unroll 2
                for (int i = 0; i < VECTORS; i++)
                    parts[part][i] += NAME(at)(weights + m, columns[j + part], n_models)[i];
#pragma GCC unroll 3
        for (int part = 0; part < 3; part++)
            if (part < n - j)
#pragma GCC unroll 2
                for (int i = 0; i < VECTORS; i++)
                    parts[part][i] += NAME(at)(weights + m, columns[j + part], n_models)[i];
#pragma GCC unroll 2
        for (int i = 0; i < VECTORS; i++)
            ((VECTOR_ANYWHERE *)(sums + m))[i] +=
                (parts[0][i] + parts[1][i]) + (parts[2][i] + parts[3][i]);
    }
    return m;
}

#undef NAME
#undef VECTOR
#undef VECTOR_ANYWHERE
#undef VECTORS
