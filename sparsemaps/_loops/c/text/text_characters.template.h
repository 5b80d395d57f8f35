/* Included once per form of texts: NAME(function); CHAR, a unit of the text; and DECODE(text, n, i,
 * length, flags), which returns the character that begins at unit i. */

/* Load up to BYTES_AT_ONCE of n units as bytes, with a byte above 127 for each unit that is not
 * ASCII. */
INLINE register_u8 NAME(narrow)(const CHAR *text, int64_t n)
{
    CHAR units[BYTES_AT_ONCE];
    uint8_t narrowed[BYTES_AT_ONCE];
    if (n < BYTES_AT_ONCE) {
        memset(units, 0, sizeof units);
        memcpy(units, text, (size_t)n * sizeof *units);
        text = units;
    }
    for (int l = 0; l < BYTES_AT_ONCE; l++)
        narrowed[l] = (uint8_t)(text[l] < 255 ? text[l] : 255);
    return load_bytes(narrowed);
}

static int64_t NAME(prepare)(text_job *job, const CHAR *text, int64_t n)
{
    uint8_t *bytes = job->bytes, *classes = job->classes;
    const uint64_t *const *pages = job->pages;
    const int lower = job->lower, of = job->of;
    uint64_t flags = 0;
    int64_t i = 0, end = 0;
    while (i < n) {
        const register_u8 narrowed = NAME(narrow)(text + i, n - i);
        const uint64_t others = highest_bits(narrowed);
        int64_t n_ascii = n - i < BYTES_AT_ONCE ? n - i : BYTES_AT_ONCE;
        if (others)
            n_ascii = __builtin_ctzll(others);
        put_ascii(narrowed, lower, of, bytes + end, classes + end);
        i += n_ascii;
        end += n_ascii;
        if (!others)
            continue;
        /* Process single characters until QUIET ASCII characters in a row. */
        for (int quiet = 0; i < n && quiet < QUIET;) {
            int length = 1;
            const uint32_t character = DECODE(text, n, i, length, flags);
            const uint64_t entry = text_entry(pages, character, job->unmet);
            put_character(entry, bytes + end, classes + end);
            flags |= entry;
            end += (int64_t)(entry >> TEXT_LENGTH & 7);
            i += length;
            quiet = character < 128 ? quiet + 1 : 0;
        }
    }
    job->flags = flags;
    return end;
}

#undef NAME
#undef CHAR
#undef DECODE
