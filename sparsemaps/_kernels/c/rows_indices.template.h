/* Included once for each type of indices: INDEX, UNSIGNED of the same width, and NAME(function) for
 * the functions' names. */

static uint64_t NAME(largest)(const INDEX *indices, ptrdiff_t n)
{
    UNSIGNED largest = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        largest = (UNSIGNED)indices[i] > largest ? (UNSIGNED)indices[i] : largest;
    return largest;
}

static ptrdiff_t NAME(descents)(const INDEX *indices, ptrdiff_t n)
{
    ptrdiff_t total = 0;
    for (ptrdiff_t i = 1; i < n; i++)
        total += indices[i] <= indices[i - 1];
    return total;
}

#undef NAME
#undef INDEX
#undef UNSIGNED
