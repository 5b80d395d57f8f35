/* Sums of several models at a row, and changes of them: VECTOR has a number for each. */

INLINE void NAME(sums_by)(const double *v, ptrdiff_t n, features row, int of_bytes, double *sums)
{
    enum { STRIDE = sizeof(VECTOR) / sizeof(double) };
    VECTOR lanes[SUM_LANES] = {{0.0}};
    ptrdiff_t j = 0;
    for (; j + SUM_LANES <= n; j += SUM_LANES)
#pragma GCC unroll 8
        for (int l = 0; l < SUM_LANES; l++)
            lanes[l] += *(const VECTOR *)(v + column_of(row, j + l, of_bytes) * STRIDE);
#pragma GCC unroll 8
    for (int l = 0; l < SUM_LANES - 1; l++)
        if (l < n - j)
            lanes[l] += *(const VECTOR *)(v + column_of(row, j + l, of_bytes) * STRIDE);
    *(VECTOR_ANYWHERE *)sums = ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
                               + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

INLINE void NAME(add_by)(double *v, ptrdiff_t n, features row, int of_bytes, const double *changes)
{
    enum { STRIDE = sizeof(VECTOR) / sizeof(double) };
    const VECTOR all = *(const VECTOR_ANYWHERE *)changes;
    for (ptrdiff_t j = 0; j < n; j++)
        *(VECTOR *)(v + column_of(row, j, of_bytes) * STRIDE) += all;
}

#undef NAME
#undef VECTOR
#undef VECTOR_ANYWHERE
