/* Products first and sums in a loop of their own: where differences and sums take turns, GCC makes
 * fused operations of them, whatever -ffp-contract says. */
static void NAME(multiply_complex)(void *any_x, const void *any_y, ptrdiff_t n)
{
    VALUE *restrict x = any_x;
    const VALUE *restrict y = any_y;
    enum { AT_ONCE = 64 };
    VALUE left[2 * AT_ONCE], right[2 * AT_ONCE];
    for (ptrdiff_t first = 0; first < 2 * n; first += 2 * AT_ONCE) {
        ptrdiff_t n_here = 2 * n - first < 2 * AT_ONCE ? 2 * n - first : 2 * AT_ONCE;
        for (ptrdiff_t i = 0; i < n_here; i += 2) {
            VALUE real = x[first + i], imaginary = x[first + i + 1];
            left[i] = real * y[first + i];
            left[i + 1] = real * y[first + i + 1];
            right[i] = -imaginary * y[first + i + 1];
            right[i + 1] = imaginary * y[first + i];
        }
        for (ptrdiff_t i = 0; i < n_here; i++)
            x[first + i] = left[i] + right[i];
    }
}
