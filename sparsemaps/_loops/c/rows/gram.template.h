/* Included once per kind. TERM(u, v) is the contribution of a shared column, 0 if u is 0; NAME is
 * the name of the function. */

static void NAME(const double *table, const double *values, const int32_t *columns,
                 const int64_t *indptr, ptrdiff_t n_rows, double *out)
{
    for (ptrdiff_t row = 0; row < n_rows; row++) {
        register_f64 sums[GRAM_VECTORS] = {0};
        for (int64_t i = indptr[row]; i < indptr[row + 1]; i++) {
            const register_f64_anywhere *u =
                (const register_f64_anywhere *)(table + GRAM_LANES * (ptrdiff_t)columns[i]);
            const register_f64 v = (register_f64){0} + values[i];
            for (int j = 0; j < GRAM_VECTORS; j++)
                sums[j] += TERM((register_f64)u[j], v);
        }
        register_f64_anywhere *of_row = (register_f64_anywhere *)(out + GRAM_LANES * row);
        for (int j = 0; j < GRAM_VECTORS; j++)
            of_row[j] = sums[j];
    }
}

#undef NAME
#undef TERM
