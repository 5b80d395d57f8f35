/* Includes TEMPLATE once for each pair of types of values and columns: VALUE and INDEX; NAME(function)
 * for the functions' names; OF_VALUE(name) and OF_INDEX(name) for names that depend on one of the
 * types. */

#define OF_VALUE(name) name##_f32
#define VALUE float
#define NAME(name) name##_f32_i32
#define OF_INDEX(name) name##_i32
#define INDEX int32_t
#include TEMPLATE
#undef NAME
#undef OF_INDEX
#undef INDEX
#define NAME(name) name##_f32_i64
#define OF_INDEX(name) name##_i64
#define INDEX int64_t
#include TEMPLATE
#undef NAME
#undef OF_INDEX
#undef INDEX
#undef OF_VALUE
#undef VALUE

#define OF_VALUE(name) name##_f64
#define VALUE double
#define NAME(name) name##_f64_i32
#define OF_INDEX(name) name##_i32
#define INDEX int32_t
#include TEMPLATE
#undef NAME
#undef OF_INDEX
#undef INDEX
#define NAME(name) name##_f64_i64
#define OF_INDEX(name) name##_i64
#define INDEX int64_t
#include TEMPLATE
#undef NAME
#undef OF_INDEX
#undef INDEX
#undef OF_VALUE
#undef VALUE

#undef TEMPLATE
