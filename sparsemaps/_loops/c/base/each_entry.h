/* Include TEMPLATE once for each pair of value type and column type. The template sees VALUE and
 * INDEX, NAME(function) for function names, and OF_VALUE(name) and OF_INDEX(name) for names that
 * depend on one type only. */

#define OF_VALUE(name) name##_f32
#define NAME(name) OF_INDEX(name##_f32)
#define VALUE float
#include "each_index.h"
#undef OF_VALUE
#undef NAME
#undef VALUE

#define OF_VALUE(name) name##_f64
#define NAME(name) OF_INDEX(name##_f64)
#define VALUE double
#include "each_index.h"
#undef OF_VALUE
#undef NAME
#undef VALUE

#undef TEMPLATE
