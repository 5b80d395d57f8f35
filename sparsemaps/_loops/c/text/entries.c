#include "entries.h"

#include "write_decimal.h"

/* Decimals are computed for so many entries before they are written: two short loops, of which the
 * processor has several rounds under way, where one long loop has hardly two. */
enum { ENTRIES_AT_ONCE = 32 };

#define NAME(function) function##_f32_i32
#define VALUE float
#define INDEX int32_t
#define DECIMAL(x, powers) decimal_of_f32(x, powers)
#include "entries.template.h"

#define NAME(function) function##_f32_i64
#define VALUE float
#define INDEX int64_t
#define DECIMAL(x, powers) decimal_of_f32(x, powers)
#include "entries.template.h"

#define NAME(function) function##_f64_i32
#define VALUE double
#define INDEX int32_t
#define DECIMAL(x, powers) decimal_of_f64(x, powers)
#include "entries.template.h"

#define NAME(function) function##_f64_i64
#define VALUE double
#define INDEX int64_t
#define DECIMAL(x, powers) decimal_of_f64(x, powers)
#include "entries.template.h"

#define NAME(function) function##_i64_i32
#define VALUE int64_t
#define INDEX int32_t
#define DECIMAL(x, powers) ((void)(powers), decimal_of_i64(x))
#include "entries.template.h"

#define NAME(function) function##_i64_i64
#define VALUE int64_t
#define INDEX int64_t
#define DECIMAL(x, powers) ((void)(powers), decimal_of_i64(x))
#include "entries.template.h"

const entries_loops TABLE(entries) = {
    .write_f32_i32 = write_f32_i32,
    .write_f32_i64 = write_f32_i64,
    .write_f64_i32 = write_f64_i32,
    .write_f64_i64 = write_f64_i64,
    .write_i64_i32 = write_i64_i32,
    .write_i64_i64 = write_i64_i64,
};
