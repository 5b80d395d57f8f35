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

/* Normal vectors are drawn for the zeros of a tile alone, and for as many entries at a time as a tile
 * has numbers. Values are scaled, so that nothing leaves the range of numbers. Entries that are 0 are
 * left out, as the sums of every eighth entry are added up first. */
static void NAME(settle_zeros)(uint64_t key, const void *indices, size_t index_size,
                               const VALUE *values, ptrdiff_t n_entries, uint64_t first,
                               VALUE *sums, ptrdiff_t n)
{
    enum { L = 8, STEP = 16, N = PROJECTION_TILE };
    _Alignas(64) uint32_t halves[N];
    _Alignas(64) float draws[N];
    uint64_t starts[N];
    double scaled[N], totals[N][L] = {{0}}, alone[N], largest = 0;
    int zeros[N], n_zeros = 0, exponent;
    for (int j = 0; j < n; j++)
        if (!(sums[j] < 0 || sums[j] > 0))
            zeros[n_zeros++] = j;
    for (ptrdiff_t i = 0; i < n_entries; i++)
        largest = fabs((double)values[i]) > largest ? fabs((double)values[i]) : largest;
    if (largest == 0)
        return;
    frexp(largest, &exponent);
    const double scale = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    ptrdiff_t i = 0;
    for (int is_first = 1; i < n_entries; is_first = 0) {
        int m = 0;
        for (; i < n_entries && m < N; i++) {
            const VALUE value = values[i];
            if (value == 0)
                continue;
            sign_starts(key, (const char *)indices + index_size * (size_t)i, index_size, 1,
                        starts + m);
            scaled[m++] = (double)value * scale;
        }
        for (; m % STEP; m++) {
            starts[m] = 0;
            scaled[m] = 0;
        }
        for (int z = 0; z < n_zeros; z++) {
            for (int c = 0; c < m; c++)
                halves[c] = (uint32_t)(word(starts[c], first + (uint64_t)zeros[z]) >> 32);
            normals((const uint64_t *)(const void *)halves, m / 2, draws);
            for (int c = 0; c < m; c += L)
                for (int l = 0; l < L; l++)
                    totals[z][l] += scaled[c + l] * (double)draws[c + l];
            if (is_first)
                alone[z] = halves[0] >> 31 ? -scaled[0] : scaled[0];
        }
    }
    for (int z = 0; z < n_zeros; z++) {
        double total = 0;
        for (int l = 0; l < L; l++)
            total += totals[z][l];
        if (total == 0)
            total = alone[z];
        sums[zeros[z]] = total > 0 ? 1 : -1;
    }
}

/* Whether one of n sums is 0 or no number. */
INLINE int NAME(any_zero)(const VALUE *sums, ptrdiff_t n)
{
    WORD some = 0;
    for (ptrdiff_t j = 0; j < n; j++)
        some |= (WORD)(!((sums[j] < 0) | (sums[j] > 0)));
    return some != 0;
}

static void NAME(settle)(uint64_t key, const void *indices, size_t index_size, const void *values,
                         ptrdiff_t n_entries, uint64_t first, void *any_sums, ptrdiff_t n)
{
    VALUE *sums = any_sums;
    /* The length is a constant but for the last tile, so that the loop is vectors alone. */
    if (n == PROJECTION_TILE ? NAME(any_zero)(sums, PROJECTION_TILE) : NAME(any_zero)(sums, n))
        NAME(settle_zeros)(key, indices, index_size, values, n_entries, first, sums, n);
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
