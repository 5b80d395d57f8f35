/* Include TEMPLATE once for each value type. The template sees VALUE; WORD, the unsigned integer of
 * the same size; VALUES, VALUES_ANYWHERE and WORDS, the register types of vectors.h; and
 * NAME(function) for function names. */

#define NAME(name) name##_f32
#define VALUE float
#define WORD uint32_t
#define VALUES register_f32
#define VALUES_ANYWHERE register_f32_anywhere
#define WORDS register_u32
#include TEMPLATE
#undef NAME
#undef VALUE
#undef WORD
#undef VALUES
#undef VALUES_ANYWHERE
#undef WORDS

#define NAME(name) name##_f64
#define VALUE double
#define WORD uint64_t
#define VALUES register_f64
#define VALUES_ANYWHERE register_f64_anywhere
#define WORDS register_u64
#include TEMPLATE
#undef NAME
#undef VALUE
#undef WORD
#undef VALUES
#undef VALUES_ANYWHERE
#undef WORDS

#undef TEMPLATE
