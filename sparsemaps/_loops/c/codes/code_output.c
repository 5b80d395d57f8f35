#include "code_output.h"

#include <string.h>

static void pack(const int64_t *codes, ptrdiff_t n, int bits, uint8_t *packed)
{
    uint64_t waiting = 0;
    int n_waiting = 0;
    for (ptrdiff_t j = 0; j < n; j++) {
        waiting |= (uint64_t)codes[j] << n_waiting;
        n_waiting += bits;
        for (; n_waiting >= 8; n_waiting -= 8) {
            *packed++ = (uint8_t)waiting;
            waiting >>= 8;
        }
    }
    if (n_waiting > 0)
        *packed = (uint8_t)waiting;
}

static void put(const code_output_t *output, ptrdiff_t row, ptrdiff_t first,
                const int64_t *restrict codes, ptrdiff_t n)
{
    const ptrdiff_t start = row * output->width;
    const int64_t step = output->step;
    n = n < output->n - first ? n : output->n - first;
    if (output->wide) {
        int64_t *restrict out = output->wide + start + first;
        for (ptrdiff_t j = 0; j < n; j++)
            out[j] = step * (first + j) + codes[j];
    } else if (output->narrow) {
        int32_t *restrict out = output->narrow + start + first;
        for (ptrdiff_t j = 0; j < n; j++) /* modulo 2^32; the results fit */
            out[j] = (int32_t)((uint32_t)step * (uint32_t)(first + j) + (uint32_t)codes[j]);
    } else if (output->bits == 8) {
        uint8_t *restrict out = output->packed + start + first;
        for (ptrdiff_t j = 0; j < n; j++)
            out[j] = (uint8_t)codes[j];
    } else {
        pack(codes, n, output->bits, output->packed + start + first * output->bits / 8);
    }
}

static void put_bits(const code_output_t *output, ptrdiff_t row, ptrdiff_t first, uint64_t codes,
                     ptrdiff_t n)
{
    if (output->packed) {
        uint8_t *out = output->packed + row * output->width + first / 8;
        for (ptrdiff_t j = 0; j < (n + 7) / 8; j++)
            out[j] = (uint8_t)(codes >> 8 * j);
    } else {
        int64_t numbers[64];
        for (ptrdiff_t j = 0; j < 64; j++)
            numbers[j] = (int64_t)(codes >> j & 1);
        put(output, row, first, numbers, n);
    }
}

static void put_none(const code_output_t *output, ptrdiff_t row)
{
    const ptrdiff_t start = row * output->width;
    const size_t width = (size_t)output->width;
    if (output->wide)
        memset(output->wide + start, 0xff, width * sizeof(int64_t));
    else if (output->narrow)
        memset(output->narrow + start, 0xff, width * sizeof(int32_t));
    else
        memset(output->packed + start, 0, width);
}

const code_output_loops TABLE(code_output)[] = {{
    .put = put,
    .put_bits = put_bits,
    .put_none = put_none,
}};
