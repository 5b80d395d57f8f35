#include "entries.h"

#include "write_decimal.h"

/* Decimals are computed for so many entries before they are written: two short loops, of which the
 * processor has several rounds under way, where one long loop has hardly two. */
enum { ENTRIES_AT_ONCE = 32 };

#define TEMPLATE "entries.template.h"
#include "each_entry.h"

/* Values of int64_t are written besides. */
#define OF_VALUE(name) name##_i64
#define VALUE int64_t
#define NAME(name) name##_i64_i32
#define INDEX int32_t
#include "entries.template.h"
#undef NAME
#undef INDEX
#define NAME(name) name##_i64_i64
#define INDEX int64_t
#include "entries.template.h"

const entries_loops TABLE(entries)[] = {{
    .write = {{write_f32_i32, write_f32_i64},
              {write_f64_i32, write_f64_i64},
              {write_i64_i32, write_i64_i64}},
}};
