/* Compute the divisor that scikit-learn uses: it adds doubles, in order; squares are VALUEs. */
static double NAME(norm)(const int32_t *counts, int64_t n, int norm)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const VALUE square = (VALUE)counts[i] * (VALUE)counts[i];
        sum += norm == TEXT_L1 ? (double)abs(counts[i]) : (double)square;
    }
    return norm == TEXT_L1 ? sum : sqrt(sum);
}

static void NAME(values)(const int32_t *counts, int64_t n, int binary, int norm, void *any_values)
{
    VALUE *values = any_values;
    if (binary) {
        const VALUE one = (VALUE)(1
                                  / (norm == TEXT_L1   ? (double)n
                                     : norm == TEXT_L2 ? sqrt((double)n)
                                                       : 1.0));
        for (int64_t i = 0; i < n; i++)
            values[i] = one;
        return;
    }
    const double divisor = norm ? NAME(norm)(counts, n, norm) : 0;
    if (divisor == 0) /* no norm, or only zeros */
        for (int64_t i = 0; i < n; i++)
            values[i] = (VALUE)counts[i];
    else
        for (int64_t i = 0; i < n; i++)
            values[i] = (VALUE)((double)(VALUE)counts[i] / divisor);
}
