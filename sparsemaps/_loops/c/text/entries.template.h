static char *NAME(write)(const void *any_values, const void *any_indices, ptrdiff_t n,
                         uint64_t first_index, char *out)
{
    const VALUE *values = any_values;
    const INDEX *indices = any_indices;
    const char *written = out; /* the previous value as written */
    size_t length = 0;
    VALUE before = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        const VALUE value = values[i];
        out = write_integer(out, (uint64_t)indices[i] + first_index);
        *out++ = ':';
        if (i > 0 && memcmp(&value, &before, sizeof value) == 0) { /* as in binary data */
            memcpy(out, written, length);
            out += length;
        } else {
            written = out;
            out = write_decimal(out, OF_VALUE(decimal_of)(value));
            length = (size_t)(out - written);
        }
        before = value;
        *out++ = ' ';
    }
    return out;
}
