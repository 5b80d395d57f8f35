/* Codes of samples (i*, t*) of consistent weighted sampling: bits of hashes, so that samples that
 * differ agree by chance, whatever the structure of the columns.
 *
 * The lowest `bits` of a code are bits of a hash of i*, the `t_bits` above them are bits of a hash
 * of the pair (i*, t*). Each sample j has two hashes of its own, which are strongly universal
 * (random.h): different i* agree in their bits with probability 2^-bits exactly, over the keys, and
 * different pairs in theirs with probability 2^-t_bits, independently. */
#ifndef SPARSEMAPS_SAMPLE_CODES_H
#define SPARSEMAPS_SAMPLE_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "levels.h"

enum { SAMPLE_KEYS = 6 }; /* words that key the two hashes of a sample */

typedef struct {
    /* The keys of n samples from `first` on: word c of sample j goes to keys[c * n + j]. Those of
     * the hash of pairs are left out where t_bits is 0. */
    void (*keys)(uint64_t key, uint64_t first, ptrdiff_t n, int t_bits, uint64_t *keys);
    /* The codes of n samples of each row, one row behind the other; `mixed` has mix64 of the i*. */
    void (*codes)(const uint64_t *keys, ptrdiff_t n_rows, ptrdiff_t n, const uint64_t *mixed,
                  const int64_t *t, int bits, int t_bits, int64_t *codes);
    /* The codes of n samples of a row whose bits are all of a hash of (i*, t*), for the keys of i*. */
    void (*codes_of_pairs)(const uint64_t *keys, ptrdiff_t n, const uint64_t *columns,
                           const int64_t *t, int bits, int64_t *codes);
} sample_codes_loops;

DECLARE_TABLES(sample_codes)

#endif
