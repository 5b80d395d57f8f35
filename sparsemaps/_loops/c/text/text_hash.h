/* MurmurHash3 (x86, 32 bits, seed 0) of byte strings, one string per lane of a register. */
#ifndef SPARSEMAPS_TEXT_HASH_H
#define SPARSEMAPS_TEXT_HASH_H

#include "text_simd.h"

INLINE register_u32 rotate(register_u32 x, int bits)
{
    return x << bits | x >> (32 - bits);
}

INLINE register_u32 mixed_block(register_u32 block)
{
    return rotate(block * UINT32_C(0xcc9e2d51), 15) * UINT32_C(0x1b873593);
}

INLINE register_u32 add_block(register_u32 hash, register_u32 block)
{
    return rotate(hash ^ mixed_block(block), 13) * 5 + UINT32_C(0xe6546b64);
}

INLINE register_u32 finish_hash(register_u32 hash, register_u32 length)
{
    hash ^= length;
    hash = (hash ^ hash >> 16) * UINT32_C(0x85ebca6b);
    hash = (hash ^ hash >> 13) * UINT32_C(0xc2b2ae35);
    return hash ^ hash >> 16;
}

/* Hash ranges of any lengths. Up to three bytes after a range are read. */
INLINE register_u32 hash_of_ranges(const uint8_t *bytes, register_u32 starts, register_u32 ends)
{
    const register_u32 lengths = ends - starts, n_blocks = lengths >> 2;
    const register_u32 n_left = lengths & 3, left = ((register_u32){0} + 1) << (n_left << 3);
    register_u32 hash = {0};
    uint32_t most = 0;
    for (int l = 0; l < HASHES_AT_ONCE; l++)
        most = n_blocks[l] > most ? n_blocks[l] : most;
    for (uint32_t j = 0; j < most; j++) {
        const register_u32 here = (register_u32)(n_blocks > j);
        /* Lanes without a block j load the rest of the range, and ignore it. */
        const register_u32 place = (j & here) | (n_blocks & ~here);
        const register_u32 block = gather_words(bytes, starts + (place << 2));
        hash = (add_block(hash, block) & here) | (hash & ~here);
    }
    const register_u32 rest = gather_words(bytes, starts + (n_blocks << 2)) & (left - 1);
    return finish_hash(hash ^ mixed_block(rest), lengths);
}

/* Return a mask of the first `n` lanes. */
INLINE register_u32 first_lanes(int64_t n)
{
    register_u32 lanes = {0};
    for (int l = 0; l < HASHES_AT_ONCE; l++)
        lanes[l] = l < n ? UINT32_MAX : 0;
    return lanes;
}

static void hash_ranges(const uint8_t *bytes, const uint32_t *starts, const uint32_t *ends,
                        int64_t n, uint32_t *hashes)
{
    for (int64_t i = 0; i < n; i += HASHES_AT_ONCE) {
        register_u32 first = load_words(starts + i), last = load_words(ends + i);
        if (n - i < HASHES_AT_ONCE) {
            const register_u32 here = first_lanes(n - i);
            first &= here;
            last &= here;
        }
        const register_u32 hash = hash_of_ranges(bytes, first, last);
        memcpy(hashes + i, &hash, sizeof hash);
    }
}

#endif
