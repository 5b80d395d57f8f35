#include "rows.h"

#include <math.h>

#include "random.h"

typedef int32_t mask_f32;
typedef int64_t mask_f64;
typedef uint32_t unsigned_i32;
typedef uint64_t unsigned_i64;

static const float large_f32 = (float)ROWS_LARGE_F32;
static const double large_f64 = ROWS_LARGE_F64;

INLINE float absolute_f32(float value)
{
    return fabsf(value);
}

INLINE double absolute_f64(double value)
{
    return fabs(value);
}

#define TEMPLATE "rows.template.h"
#include "each_entry.h"

#define LOOPS(TYPES)                                                                               \
    {.faults = faults_##TYPES,                                                                     \
     .reverse = reverse_##TYPES,                                                                   \
     .nonzeros = nonzeros_##TYPES,                                                                 \
     .largest = largest_##TYPES,                                                                   \
     .descents = descents_##TYPES,                                                                 \
     .order = order_##TYPES}
const rows_loops TABLE(rows)[] = OF_EACH_ENTRY(LOOPS);
