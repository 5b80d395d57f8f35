/* Included once for each pair of types: VALUE and INDEX; NAME(function) for the functions' names;
 * DECIMAL(x, powers) for the decimal of a value. */

static char *NAME(write)(const VALUE *values, const INDEX *indices, ptrdiff_t n,
                         uint64_t first_index, const wide_t *powers, char *out)
{
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
                decimals[i] = DECIMAL(value, powers);
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

#undef NAME
#undef VALUE
#undef INDEX
#undef DECIMAL
