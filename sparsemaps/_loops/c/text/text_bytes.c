#include "text_bytes.h"

#include "sort.h"
#include "text_simd.h"
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
static uint32_t *sorted_short(const uint8_t *bytes, int64_t n, int size, uint32_t *items,
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

/* The numbers that differ from the next one, and where they are. Returns how many there are. Memory
 * behind the n numbers may be written, as much as a register. */
static int64_t find_last(uint32_t *sorted, int64_t n, uint32_t *numbers, uint32_t *places)
{
    register_u32 lanes = {0};
    int64_t n_found = 0;
    for (int l = 0; l < HASHES_AT_ONCE; l++)
        lanes[l] = (uint32_t)l;
    sorted[n] = ~sorted[n - 1];
    for (int64_t i = 0; i < n; i += HASHES_AT_ONCE) {
        const register_u32 here = load_words(sorted + i);
        uint64_t differ = differing(here, load_words(sorted + i + 1));
        if (n - i < HASHES_AT_ONCE)
            differ &= (UINT64_C(1) << (n - i)) - 1;
        store_chosen(places + n_found, lanes + (uint32_t)i, differ);
        n_found += store_chosen(numbers + n_found, here, differ);
    }
    return n_found;
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

const text_bytes_loops TABLE(text_bytes)[] = {{
    .lower = lower,
    .count_i32 = count_i32,
    .count_i64 = count_i64,
}};
