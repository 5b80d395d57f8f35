/* Draw a tile for n columns in the type of the sums. */
INLINE void NAME(draw_columns)(const projection_t *projection, const uint64_t *starts, ptrdiff_t n,
                               uint64_t tile, VALUE *columns)
{
    enum { AT_ONCE = 64 };
    _Alignas(64) float draws[AT_ONCE * PROJECTION_TILE];
    for (ptrdiff_t first = 0; first < n; first += AT_ONCE) {
        const int n_here = n - first < AT_ONCE ? (int)(n - first) : AT_ONCE;
        VALUE *here = columns + PROJECTION_TILE * first;
        float *into = sizeof(VALUE) == sizeof(float) ? (float *)here : draws;
        draw_tile(projection->distribution, projection->quantiles, starts + first, n_here, tile,
                  into);
        for (int j = 0; sizeof(VALUE) > sizeof(float) && j < n_here * PROJECTION_TILE; j++)
            here[j] = (VALUE)draws[j];
    }
}

/* Return how many columns to draw at a time: enough to hold about 32 entries per row, within the
 * limits of the caches. */
INLINE ptrdiff_t NAME(step)(const group_t *group, ptrdiff_t n_rows)
{
    enum { BYTES = PROJECTION_TILE * sizeof(VALUE) };
    const ptrdiff_t least = PROJECTION_FEW_BYTES / BYTES, most = PROJECTION_COLUMN_BYTES / BYTES;
    const ptrdiff_t step = 32 * n_rows * group->n_columns / group->n_entries;
    return step < least ? least : step > most ? most : step;
}

/* Draw the column of each entry separately, a few entries at a time. This is for groups whose rows
 * share hardly any column. */
static void NAME(add_each)(const projection_t *projection, uint64_t tile, const group_t *group,
                           VALUES *sums)
{
    enum { N = PROJECTION_TILE * sizeof(VALUE) / sizeof(VALUES), AT_ONCE = 64 };
    const VALUE *values = group->values;
    const uint32_t *slots = group->slots;
    uint64_t starts[AT_ONCE];
    _Alignas(64) VALUE columns[AT_ONCE * PROJECTION_TILE];
    for (ptrdiff_t first = 0; first < group->n_entries; first += AT_ONCE) {
        const ptrdiff_t left = group->n_entries - first, n = left < AT_ONCE ? left : AT_ONCE;
        for (ptrdiff_t i = 0; i < n; i++)
            starts[i] = group->starts[slots[first + i] % GROUP_ENTRIES];
        NAME(draw_columns)(projection, starts, n, tile, columns);
        for (ptrdiff_t i = 0; i < n;) {
            const uint32_t row = slots[first + i] / GROUP_ENTRIES;
            VALUES here[N];
            for (int v = 0; v < N; v++)
                here[v] = sums[N * (ptrdiff_t)row + v];
            do {
                const VALUES *column = (const VALUES *)(columns + PROJECTION_TILE * i);
                for (int v = 0; v < N; v++)
                    here[v] += values[first + i] * column[v];
                i++;
            } while (i < n && slots[first + i] / GROUP_ENTRIES == row);
            for (int v = 0; v < N; v++)
                sums[N * (ptrdiff_t)row + v] = here[v];
        }
    }
}

static void NAME(add)(const projection_t *projection, uint64_t tile, const group_t *group,
                      ptrdiff_t n_rows, void *any_sums)
{
    enum { N = PROJECTION_TILE * sizeof(VALUE) / sizeof(VALUES) };
    const VALUE *values = group->values;
    const uint32_t *slots = group->slots;
    const VALUE *columns = projection->columns;
    uint32_t *next = projection->next;
    const ptrdiff_t step = NAME(step)(group, n_rows), n_steps = (group->n_columns - 1) / step + 1;
    /* Drawing a column costs about as much as checking the next entry of some rows. */
    if (4 * (group->n_entries - group->n_columns) < n_rows * n_steps) {
        NAME(add_each)(projection, tile, group, any_sums);
        return;
    }
    memcpy(next, group->row_starts, (size_t)n_rows * sizeof *next);
    for (ptrdiff_t first = 0; first < group->n_columns; first += step) {
        const ptrdiff_t left = group->n_columns - first, n = left < step ? left : step;
        NAME(draw_columns)(projection, group->starts + first, n, tile, projection->columns);
        for (ptrdiff_t row = 0; row < n_rows; row++) {
            const uint32_t begin = (uint32_t)(row << GROUP_ENTRY_BITS | first);
            uint32_t i = next[row];
            /* Slots are never below `begin`, unless another thread changes the row's columns; the
             * unsigned difference covers this, too. */
            if (slots[i] - begin >= (uint32_t)n)
                continue;
            VALUES *of_row = (VALUES *)any_sums + N * row;
            VALUES here[N];
            for (int v = 0; v < N; v++)
                here[v] = of_row[v];
            do {
                const VALUES *column =
                    (const VALUES *)(columns + PROJECTION_TILE * (size_t)(slots[i] - begin));
                for (int v = 0; v < N; v++)
                    here[v] += values[i] * column[v];
                i++;
            } while (slots[i] - begin < (uint32_t)n);
            for (int v = 0; v < N; v++)
                of_row[v] = here[v];
            next[row] = i;
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
            /* For floats, the sign is in one half of the word. */
            const int half = sizeof(VALUE) == 4 && L * v >= 32 ? 32 : 0;
            const WORDS bits = (zeros + (WORD)(words[i] >> half))
                               << *(const WORDS *)(NAME(shifts) + L * v);
            here[v] += LANES_BITS(VALUES, (bits & sign) ^ value);
        }
    }
    for (int v = 0; v < N; v++)
        ((VALUES *)sums)[v] = here[v];
}

/* Draw normal vectors for the zeros of a tile only, for as many entries at a time as a tile has
 * numbers. Values are scaled so that nothing overflows or underflows. Zero entries are skipped,
 * since they would change which entries share a partial sum (one for every eighth entry). */
static void NAME(settle_zeros)(uint64_t key, const csr_block *rows, ptrdiff_t row, uint64_t first,
                               VALUE *sums, ptrdiff_t n)
{
    enum { L = 8, STEP = 16, N = PROJECTION_TILE };
    _Alignas(64) uint32_t halves[N];
    _Alignas(64) float draws[N];
    uint64_t starts[N];
    double scaled[N], totals[N][L] = {{0}}, alone[N], largest = 0;
    int zeros[N], n_zeros = 0, exponent;
    const VALUE *values = rows->values;
    const int64_t stop = rows->indptr[row + 1];
    int64_t i = rows->indptr[row];
    for (int j = 0; j < n; j++)
        if (!(sums[j] < 0 || sums[j] > 0))
            zeros[n_zeros++] = j;
    for (int64_t e = i; e < stop; e++)
        largest = fabs((double)values[e]) > largest ? fabs((double)values[e]) : largest;
    if (largest == 0)
        return;
    frexp(largest, &exponent);
    const double scale = ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
    for (int is_first = 1; i < stop; is_first = 0) {
        int m = 0;
        for (; i < stop && m < N; i++) {
            const VALUE value = values[i];
            if (value == 0)
                continue;
            starts[m] = column_start(key, (uint64_t)index_at(rows, i));
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

/* Return a bitmask: bit j is 1 if sum j of a tile is >= 0. */
INLINE uint64_t NAME(tile_bits)(const VALUES_ANYWHERE *sums)
{
    enum { L = sizeof(VALUES) / sizeof(VALUE) };
    uint64_t bits = 0;
    for (int v = 0; v < PROJECTION_TILE / L; v++)
        bits |= NAME(register_bits)((WORDS)(sums[v] >= 0)) << L * v;
    return bits;
}

/* Return whether any of n sums, at most a tile, is NaN or at most `bound` in size. */
INLINE int NAME(any_small)(const void *any_sums, ptrdiff_t n, double any_bound)
{
    enum { L = sizeof(VALUES) / sizeof(VALUE) };
    const VALUES_ANYWHERE *vectors = any_sums;
    const VALUE *sums = any_sums, bound = (VALUE)any_bound;
    WORDS all = ~(WORDS){0};
    if (n == PROJECTION_TILE) {
        for (int v = 0; v < PROJECTION_TILE / L; v++)
            all &= (WORDS)((vectors[v] < -bound) | (vectors[v] > bound));
        return NAME(register_bits)(~all) != 0;
    }
    for (ptrdiff_t j = 0; j < n; j++)
        if (!(sums[j] < -bound || sums[j] > bound))
            return 1;
    return 0;
}

static void NAME(settle)(const signs_t *signs, const csr_block *rows, ptrdiff_t row, uint64_t first,
                         void *sums, ptrdiff_t n)
{
    const int is_checked = sizeof(VALUE) == sizeof(float) && signs->doubtful != NULL;
    if (!NAME(any_small)(sums, n, is_checked ? rounding_at_most(signs, rows, row) : 0))
        return;
    if (is_checked) {
        const double rounding = rounding_of(signs, rows, row);
        if (rounding > 0 && NAME(any_small)(sums, n, rounding)) {
            signs->doubtful[row] = 1;
            return;
        }
        if (!NAME(any_small)(sums, n, 0))
            return;
    }
    NAME(settle_zeros)(signs->zeros_key, rows, row, first, sums, n);
}

static uint64_t NAME(bits)(const void *any_projections, ptrdiff_t n)
{
    const VALUE *projections = any_projections;
    uint64_t bits = 0;
    if (n == PROJECTION_TILE)
        return NAME(tile_bits)(any_projections);
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
