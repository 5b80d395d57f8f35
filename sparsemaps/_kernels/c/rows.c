#include "rows.h"

#define NAME(function) function##_f32
#define VALUE float
#include "rows_values.template.h"

#define NAME(function) function##_f64
#define VALUE double
#include "rows_values.template.h"

#define NAME(function) function##_i32
#define INDEX int32_t
#define UNSIGNED uint32_t
#include "rows_indices.template.h"

#define NAME(function) function##_i64
#define INDEX int64_t
#define UNSIGNED uint64_t
#include "rows_indices.template.h"

const rows_loops TABLE(rows) = {
    .any_infinite_f32 = any_infinite_f32,
    .any_infinite_f64 = any_infinite_f64,
    .any_negative_f32 = any_negative_f32,
    .any_negative_f64 = any_negative_f64,
    .largest_i32 = largest_i32,
    .largest_i64 = largest_i64,
    .descents_i32 = descents_i32,
    .descents_i64 = descents_i64,
};
