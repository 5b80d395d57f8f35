#include "text_bytes.h"

#include "sort.h"
#include "text_sort.h"

static void lower(const uint8_t *bytes, int64_t n, uint8_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint8_t)(bytes[i] | ((uint8_t)(bytes[i] - 'A') < 26 ? 0x20 : 0));
}

/* Return the big-endian number of all bytes of the first n-gram except the last. */
INLINE uint64_t begin_number(const uint8_t *bytes, int size)
{
    uint64_t number = 0;
    for (int j = 0; j < size - 1; j++)
        number = number << 8 | bytes[j];
    return number;
}

/* Count n-grams in a table. A counter of 0 means that its number occurs for the first time, or for
 * the first time after 65,536 times. */
static int64_t count_by_table(const uint8_t *bytes, int64_t n, int size, uint16_t *counters,
                              uint32_t *met, uint32_t *other, uint64_t *numbers, int32_t *counts)
{
    const uint32_t mask = (UINT32_C(1) << 8 * size) - 1;
    uint32_t number = (uint32_t)begin_number(bytes, size);
    int64_t n_met = 0, at = -1;
    for (int64_t i = 0; i < n; i++) {
        number = (number << 8 | bytes[i + size - 1]) & mask;
        met[n_met] = number << 1;
        n_met += counters[number]++ == 0;
    }
    met = sort_items(met, other, n_met, 8 * size);
    for (int64_t k = 0; k < n_met; k++) {
        number = met[k] >> 1;
        if (k > 0 && met[k] == met[k - 1]) {
            counts[at] += 65536;
            continue;
        }
        numbers[++at] = number;
        counts[at] = counters[number] ? counters[number] : 65536;
        counters[number] = 0;
    }
    return at + 1;
}

static int64_t count_by_sorting(const uint8_t *bytes, int64_t n, int size, uint64_t *items,
                                uint64_t *other, uint64_t **numbers, int32_t *counts)
{
    const uint64_t mask = (UINT64_C(1) << 8 * size) - 1;
    uint64_t number = begin_number(bytes, size), before;
    int64_t at = -1;
    for (int64_t i = 0; i < n; i++) {
        number = (number << 8 | bytes[i + size - 1]) & mask;
        items[i] = number;
    }
    items = sort_words(items, other, (size_t)n, 0, 8 * size);
    before = ~items[0];
    for (int64_t i = 0; i < n; i++) {
        const int32_t is_new = items[i] != before;
        before = items[i];
        at += is_new;
        counts[at] = is_new ? 1 : counts[at] + 1;
        items[at] = before;
    }
    *numbers = items;
    return at + 1;
}

static int64_t count(const uint8_t *bytes, int64_t n_bytes, int size, int64_t first,
                     uint16_t *counters, uint64_t *items, uint64_t *other, void *columns,
                     size_t index_size, int32_t *counts)
{
    const int64_t n = n_bytes - size + 1;
    uint64_t *numbers = other;
    int64_t n_columns;
    if (n <= 0)
        return 0;
    if (counters && size <= TEXT_BYTES_SHORT)
        n_columns = count_by_table(bytes, n, size, counters, (uint32_t *)items,
                                   (uint32_t *)items + n, numbers, counts);
    else
        n_columns = count_by_sorting(bytes, n, size, items, other, &numbers, counts);
    if (index_size == sizeof(int32_t))
        for (int64_t k = 0; k < n_columns; k++)
            ((int32_t *)columns)[k] = (int32_t)((int64_t)numbers[k] + first);
    else
        for (int64_t k = 0; k < n_columns; k++)
            ((int64_t *)columns)[k] = (int64_t)numbers[k] + first;
    return n_columns;
}

const text_bytes_loops TABLE(text_bytes)[] = {{
    .lower = lower,
    .count = count,
}};
