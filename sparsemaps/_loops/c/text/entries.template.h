static char *NAME(write)(const void *any_values, const void *any_indices, ptrdiff_t n,
                         uint64_t first_index, const wide_t *powers, char *out)
{
    const VALUE *values = any_values;
    const INDEX *indices = any_indices;
    decimal_t decimals[ENTRIES_AT_ONCE];
    uint8_t repeated[ENTRIES_AT_ONCE];
    const char *written = out; /* where the value before stands */
    size_t length = 0;
    VALUE before = 0;
    for (ptrdiff_t first = 0; first < n; first += ENTRIES_AT_ONCE) {
        const ptrdiff_t n_here = n - first < ENTRIES_AT_ONCE ? n - first : ENTRIES_AT_ONCE;
        for (ptrdiff_t i = 0; i < n_here; i++) {
            const VALUE value = values[first + i];
            /* Binary data repeat one value. */
            repeated[i] = first + i > 0 && memcmp(&value, &before, sizeof value) == 0;
            if (!repeated[i])
                decimals[i] = OF_VALUE(decimal_of)(value, powers);
            before = value;
        }
        for (ptrdiff_t i = 0; i < n_here; i++) {
            out = write_integer(out, (uint64_t)indices[first + i] + first_index);
            *out++ = ':';
            if (repeated[i]) {
                memcpy(out, written, length);
                out += length;
            } else {
                written = out;
                out = write_decimal(out, decimals[i]);
                length = (size_t)(out - written);
            }
            *out++ = ' ';
        }
    }
    return out;
}
