/* Values of both signs: a column as two, of which the even one holds what is positive. */
#ifndef SPARSEMAPS_SIGNED_H
#define SPARSEMAPS_SIGNED_H

#include <stdint.h>

/* The column that an entry of column `index` is sampled as. */
static inline uint64_t signed_column(uint64_t index, int is_negative, int is_signed)
{
    return is_signed ? 2 * index + (uint64_t)is_negative : index;
}

#endif
