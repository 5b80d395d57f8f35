/* Include TEMPLATE once for each column type. The template sees INDEX, and OF_INDEX(name) for
 * names. */

#define OF_INDEX(name) name##_i32
#define INDEX int32_t
#include TEMPLATE
#undef OF_INDEX
#undef INDEX

#define OF_INDEX(name) name##_i64
#define INDEX int64_t
#include TEMPLATE
#undef OF_INDEX
#undef INDEX
