/* Included once for each type of values: VALUE, and NAME(function) for the functions' names. */

static int NAME(any_infinite)(const VALUE *values, ptrdiff_t n)
{
    int found = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        found |= values[i] - values[i] != 0; /* NaN - NaN and inf - inf are NaN */
    return found;
}

static int NAME(any_negative)(const VALUE *values, ptrdiff_t n)
{
    int found = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        found |= values[i] < 0;
    return found;
}

#undef NAME
#undef VALUE
