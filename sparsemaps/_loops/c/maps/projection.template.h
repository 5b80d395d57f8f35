static void NAME(add)(int distribution, const float *quantiles, uint64_t tile, const group_t *group,
                      void *any_sums)
{
    enum { N = PROJECTION_TILE * sizeof(VALUE) / sizeof(VALUES), WIDER = sizeof(VALUE) > 4 };
    const VALUE *values = group->values;
    VALUE *sums = any_sums;
    const uint32_t *slots = group->slots, *ends = group->batch_ends;
    _Alignas(64) float draws[GROUP_BATCH * PROJECTION_TILE];
    _Alignas(64) VALUE widened[WIDER ? GROUP_BATCH * PROJECTION_TILE : 1];
    const VALUE *columns = WIDER ? widened : (const VALUE *)draws;
    uint32_t i = 0;
    for (ptrdiff_t first = 0; first < group->n_columns; first += GROUP_BATCH) {
        const ptrdiff_t left = group->n_columns - first;
        const int n = left < GROUP_BATCH ? (int)left : GROUP_BATCH;
        const uint32_t end = *ends++;
        draw_tile(distribution, quantiles, group->starts + first, n, tile, draws);
        for (int j = 0; WIDER && j < n * PROJECTION_TILE; j++)
            widened[j] = (VALUE)draws[j];
        while (i < end) {
            const uint32_t row = slots[i] / GROUP_BATCH;
            VALUES *of_row = (VALUES *)(sums + PROJECTION_TILE * (ptrdiff_t)row);
            VALUES here[N];
            for (int v = 0; v < N; v++)
                here[v] = of_row[v];
            do {
                const VALUES *column =
                    (const VALUES *)(columns + PROJECTION_TILE * (slots[i] % GROUP_BATCH));
                for (int v = 0; v < N; v++)
                    here[v] += values[i] * column[v];
                i++;
            } while (i < end && slots[i] / GROUP_BATCH == row);
            for (int v = 0; v < N; v++)
                of_row[v] = here[v];
        }
    }
}

static void NAME(add_signs)(const uint64_t *starts, ptrdiff_t n, uint64_t tile,
                            const void *any_values, void *sums)
{
    const VALUE *values = any_values;
    enum { L = sizeof(VALUES) / sizeof(VALUE), N = PROJECTION_TILE / L };
    const WORDS zeros = {0};
    const WORD sign = (WORD)1 << (8 * sizeof(VALUE) - 1);
    uint64_t words[PROJECTION_SIGNS];
    VALUES here[N];
    for (ptrdiff_t i = 0; i < n; i++)
        words[i] = word(starts[i], tile);
    for (int v = 0; v < N; v++)
        here[v] = ((const VALUES *)sums)[v];
    for (ptrdiff_t i = 0; i < n; i++) {
        WORD value;
        memcpy(&value, &values[i], sizeof value);
        for (int v = 0; v < N; v++) {
            /* Of a float, the sign is in a half of the word. */
            const int half = sizeof(VALUE) == 4 && L * v >= 32 ? 32 : 0;
            const WORDS bits = (zeros + (WORD)(words[i] >> half))
                               << *(const WORDS *)(NAME(shifts) + L * v);
            here[v] += LANES_BITS(VALUES, (bits & sign) ^ value);
        }
    }
    for (int v = 0; v < N; v++)
        ((VALUES *)sums)[v] = here[v];
}

static uint64_t NAME(bits)(const void *any_projections, ptrdiff_t n)
{
    const VALUE *projections = any_projections;
    uint64_t bits = 0;
    for (ptrdiff_t j = 0; j < n; j++)
        bits |= (uint64_t)(projections[j] >= 0) << j;
    return bits;
}

static void NAME(values)(const void *any_projections, ptrdiff_t n, double one, void *any_out)
{
    const VALUE *restrict projections = any_projections;
    VALUE *restrict out = any_out;
    for (ptrdiff_t j = 0; j < n; j++)
        out[j] = projections[j] >= 0 ? (VALUE)one : -(VALUE)one;
}
