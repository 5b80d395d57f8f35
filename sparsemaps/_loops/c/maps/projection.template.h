/* Included once for each type of values: VALUE; LANES, vectors of them; UNSIGNED and BITS, words of
 * their size and vectors of these; and NAME(name) for the names of functions and constants. */

static void NAME(add)(int distribution, uint64_t tile, const group_t *group, VALUE *sums)
{
    enum { N = PROJECTION_TILE * sizeof(VALUE) / sizeof(LANES), WIDER = sizeof(VALUE) > 4 };
    const VALUE *values = group->NAME(values);
    const uint32_t *slots = group->slots, *ends = group->batch_ends;
    _Alignas(64) float draws[GROUP_BATCH * PROJECTION_TILE];
    _Alignas(64) VALUE widened[WIDER ? GROUP_BATCH * PROJECTION_TILE : 1];
    const VALUE *columns = WIDER ? widened : (const VALUE *)draws;
    uint32_t i = 0;
    for (ptrdiff_t first = 0; first < group->n_columns; first += GROUP_BATCH) {
        const ptrdiff_t left = group->n_columns - first;
        const int n = left < GROUP_BATCH ? (int)left : GROUP_BATCH;
        const uint32_t end = *ends++;
        draw_tile(distribution, group->starts + first, n, tile, draws);
        for (int j = 0; WIDER && j < n * PROJECTION_TILE; j++)
            widened[j] = (VALUE)draws[j];
        while (i < end) {
            const uint32_t row = slots[i] / GROUP_BATCH;
            LANES *of_row = (LANES *)(sums + PROJECTION_TILE * (ptrdiff_t)row);
            LANES here[N];
            for (int v = 0; v < N; v++)
                here[v] = of_row[v];
            do {
                const LANES *column =
                    (const LANES *)(columns + PROJECTION_TILE * (slots[i] % GROUP_BATCH));
                for (int v = 0; v < N; v++)
                    here[v] += values[i] * column[v];
                i++;
            } while (i < end && slots[i] / GROUP_BATCH == row);
            for (int v = 0; v < N; v++)
                of_row[v] = here[v];
        }
    }
}

static void NAME(add_signs)(const uint64_t *starts, ptrdiff_t n, uint64_t tile, const VALUE *values,
                            VALUE *sums)
{
    enum { L = sizeof(LANES) / sizeof(VALUE), N = PROJECTION_TILE / L };
    const BITS zeros = {0};
    const UNSIGNED sign = (UNSIGNED)1 << (8 * sizeof(VALUE) - 1);
    uint64_t words[PROJECTION_SIGNS];
    LANES here[N];
    for (ptrdiff_t i = 0; i < n; i++)
        words[i] = word(starts[i], tile);
    for (int v = 0; v < N; v++)
        here[v] = ((const LANES *)sums)[v];
    for (ptrdiff_t i = 0; i < n; i++) {
        UNSIGNED value;
        memcpy(&value, &values[i], sizeof value);
        for (int v = 0; v < N; v++) {
            /* Of a float, the sign is in a half of the word. */
            const int half = sizeof(VALUE) == 4 && L * v >= 32 ? 32 : 0;
            const BITS bits = (zeros + (UNSIGNED)(words[i] >> half))
                              << *(const BITS *)(NAME(shifts) + L * v);
            here[v] += LANES_BITS(LANES, (bits & sign) ^ value);
        }
    }
    for (int v = 0; v < N; v++)
        ((LANES *)sums)[v] = here[v];
}

static uint64_t NAME(bits)(const VALUE *projections, ptrdiff_t n)
{
    uint64_t bits = 0;
    for (ptrdiff_t j = 0; j < n; j++)
        bits |= (uint64_t)(projections[j] >= 0) << j;
    return bits;
}

static void NAME(values)(const VALUE *restrict projections, ptrdiff_t n, VALUE one,
                         VALUE *restrict out)
{
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = projections[j] >= 0 ? one : -one;
}

#undef NAME
#undef VALUE
#undef UNSIGNED
#undef LANES
#undef BITS
