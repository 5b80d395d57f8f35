#include "dart_minhash.h"

static uint32_t parts_with_darts(uint64_t start, int64_t part, const uint64_t *limits)
{
    uint8_t hit[DART_PARTS];
    uint32_t bits = 0;
    for (int i = 0; i < DART_PARTS; i++) {
        uint64_t first = dart_word(part_start(start, part - i), 0, 0);
        hit[i] = first <= limits[i];
    }
    for (int i = 0; i < DART_PARTS; i++)
        bits |= (uint32_t)hit[i] << i;
    return bits;
}

const dart_minhash_loops TABLE(dart_minhash) = {
    .parts_with_darts = parts_with_darts,
};
