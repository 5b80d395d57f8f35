static void NAME(add)(uint64_t first_grid, double gamma, const double *inverse_pitches,
                      const group_t *group, uint64_t *sums)
{
    const VALUE *values = group->values;
    const uint32_t *slots = group->slots, *ends = group->batch_ends;
    binning_parameters columns[GROUP_BATCH];
    uint32_t i = 0;
    for (ptrdiff_t first = 0; first < group->n_columns; first += GROUP_BATCH) {
        for (ptrdiff_t c = first; c < first + GROUP_BATCH && c < group->n_columns; c++)
            draw(group->starts[c], first_grid, gamma, inverse_pitches, &columns[c - first]);
        for (const uint32_t end = *ends++; i < end; i++)
            add_entry(&columns[slots[i] % GROUP_BATCH], (double)values[i],
                      sums + BINNING_TILE * (ptrdiff_t)(slots[i] / GROUP_BATCH));
    }
}
