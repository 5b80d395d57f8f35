/* Includes TEMPLATE once for each type of values: VALUE; WORD, the unsigned integer of its size;
 * VALUES, VALUES_ANYWHERE and WORDS, the registers of vectors.h; NAME(function), the functions'
 * names. */

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
