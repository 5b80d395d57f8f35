#include "rows.h"

typedef int32_t mask_f32;
typedef int64_t mask_f64;
typedef uint32_t unsigned_i32;
typedef uint64_t unsigned_i64;

#define TEMPLATE "rows.template.h"
#include "each_entry.h"

#define LOOPS(TYPES)                                                                               \
    {.faults = faults_##TYPES,                                                                     \
     .reverse = reverse_##TYPES,                                                                   \
     .largest = largest_##TYPES,                                                                   \
     .descents = descents_##TYPES,                                                                 \
     .order = order_##TYPES}
const rows_loops TABLE(rows)[] = OF_EACH_ENTRY(LOOPS);
