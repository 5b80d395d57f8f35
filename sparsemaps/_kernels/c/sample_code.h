/* Codes of samples (i*, t*) of consistent weighted sampling. */
#ifndef SPARSEMAPS_SAMPLE_CODE_H
#define SPARSEMAPS_SAMPLE_CODE_H

#include <stdint.h>

/* The lowest `bits` of i*, the sample's column, with the lowest `t_bits` of t* above them. */
static inline int64_t sample_code(uint64_t column, uint64_t t, int bits, int t_bits)
{
    const uint64_t mask = (UINT64_C(1) << bits) - 1, t_mask = (UINT64_C(1) << t_bits) - 1;
    return (int64_t)((column & mask) | (t & t_mask) << bits);
}

#endif
