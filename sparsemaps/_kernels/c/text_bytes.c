#include "text_bytes.h"

#include "sort.h"
#include "text_sort.h"

static void lower(const uint8_t *bytes, int64_t n, uint8_t *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (uint8_t)(bytes[i] | ((uint8_t)(bytes[i] - 'A') < 26 ? 0x20 : 0));
}

/* The `size` bytes from each place on as a big-endian number, of up to 31 bits, above bit 0. */
INLINE void short_numbers(const uint8_t *bytes, int64_t n, int size, uint32_t *items)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t number = 0;
        for (int j = 0; j < size; j++)
            number = number << 8 | bytes[i + j];
        items[i] = number << 1;
    }
}

/* Sorted numbers above bit 0 of the n n-grams of up to three bytes. */
static const uint32_t *sorted_short(const uint8_t *bytes, int64_t n, int size, uint32_t *items,
                                    uint32_t *other)
{
    if (size == 1)
        short_numbers(bytes, n, 1, items);
    else if (size == 2)
        short_numbers(bytes, n, 2, items);
    else
        short_numbers(bytes, n, 3, items);
    return sort_items(items, other, n, 8 * size);
}

static const uint64_t *sorted_long(const uint8_t *bytes, int64_t n, int size, uint64_t *items,
                                   uint64_t *other)
{
    const uint64_t mask = (UINT64_C(1) << 8 * size) - 1;
    uint64_t number = 0;
    for (int j = 0; j < size - 1; j++)
        number = number << 8 | bytes[j];
    for (int64_t i = 0; i < n; i++) {
        number = (number << 8 | bytes[i + size - 1]) & mask;
        items[i] = number;
    }
    return sort_words(items, other, (size_t)n, 0, 8 * size);
}

#define NAME(function) function##_i32
#define INDEX int32_t
#include "text_bytes.template.h"

#define NAME(function) function##_i64
#define INDEX int64_t
#include "text_bytes.template.h"

const text_bytes_loops TABLE(text_bytes) = {
    .lower = lower,
    .count_i32 = count_i32,
    .count_i64 = count_i64,
};
