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

static int NAME(order)(const INDEX *indices, ptrdiff_t n)
{
    INDEX ascends = 1, descends = 1;
    for (ptrdiff_t i = 1; i < n; i++) {
        ascends &= indices[i - 1] < indices[i];
        descends &= indices[i - 1] > indices[i];
    }
    return ascends ? ROWS_ASCENDING : descends ? ROWS_DESCENDING : ROWS_UNSORTED;
}

#undef NAME
#undef INDEX
#undef UNSIGNED
