/* Sum v over the features `first` to `stop` of a row, for several models at once. MODELS is a
 * vector with one lane per model. */
INLINE MODELS NAME(const MODELS *v, features row, ptrdiff_t first, ptrdiff_t stop, ptrdiff_t width)
{
    MODELS lanes[SUM_LANES] = {{0}};
    ptrdiff_t j = first;
    for (; j + SUM_LANES <= stop; j += SUM_LANES)
#pragma GCC unroll 8
        for (int l = 0; l < SUM_LANES; l++)
            lanes[l] += v[column_of(row, j + l, width)];
#pragma GCC unroll 8
    for (int l = 0; l < SUM_LANES - 1; l++)
        if (l < stop - j)
            lanes[l] += v[column_of(row, j + l, width)];
    return LANES_SUM(lanes);
}
#undef MODELS
#undef NAME
