#include "tensor_sketch.h"

#include "vectors.h"

enum { TUPLES_AT_ONCE = 128, FEW_ENTRIES = 32 };

INLINE uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

#define TEMPLATE "tensor_sketch.template.h"
#include "each_value.h"

#define LOOPS(TYPE)                                                                                \
    {.add_tuples = add_tuples_##TYPE,                                                              \
     .list_tuples = list_tuples_##TYPE,                                                            \
     .convolve = convolve_##TYPE}
const tensor_sketch_loops TABLE(tensor_sketch)[] = OF_EACH_VALUE(LOOPS);
