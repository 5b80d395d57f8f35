/* Codes of the samples (i*, t*) of consistent weighted sampling. They are bits of hashes, so that
 * different samples agree by chance only, whatever the structure of the columns.
 *
 * The lowest `bits` bits of a code come from a hash of i*, the next `t_bits` from a hash of the
 * pair (i*, t*). Each sample j has two hash functions of its own, both strongly universal
 * (random.h). Over the choice of keys, different i* agree in their bits with probability exactly
 * 2^-bits; different pairs agree in theirs with probability 2^-t_bits, independently. */
#ifndef SPARSEMAPS_SAMPLE_CODES_H
#define SPARSEMAPS_SAMPLE_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum { SAMPLE_KEYS = 6 }; /* key words of a sample, three for each of its two hashes */

typedef struct {
    /* Draw the keys of n samples, starting with sample `first`. Word c of sample j goes to
     * keys[c * n + j]. If t_bits is 0, the keys of the pair hash are not drawn. */
    void (*keys)(uint64_t key, uint64_t first, ptrdiff_t n, int t_bits, uint64_t *keys);
    /* Compute n codes per row, stored contiguously. `mixed` holds mix64(i*) of each sample. */
    void (*codes)(const uint64_t *keys, ptrdiff_t n_rows, ptrdiff_t n, const uint64_t *mixed,
                  const int64_t *t, int bits, int t_bits, int64_t *codes);
    /* Compute n codes of one row as hashes of (i*, t*) alone, with the keys of the i* hash. */
    void (*codes_of_pairs)(const uint64_t *keys, ptrdiff_t n, const uint64_t *columns,
                           const int64_t *t, int bits, int64_t *codes);
} sample_codes_loops;

DECLARE_TABLES(sample_codes)

#endif
