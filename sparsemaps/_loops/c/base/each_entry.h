/* Includes TEMPLATE once for each pair of types of values and columns: VALUE and INDEX; NAME(function)
 * for the functions' names; OF_VALUE(name) and OF_INDEX(name) for names that depend on one of the
 * types. */

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
