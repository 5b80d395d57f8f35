#include "rows.h"

#define NAME(function) function##_f32_i32
#define VALUE float
#define MASK int32_t
#define INDEX int32_t
#define UNSIGNED uint32_t
#include "rows_entries.template.h"

#define NAME(function) function##_f32_i64
#define VALUE float
#define MASK int32_t
#define INDEX int64_t
#define UNSIGNED uint64_t
#include "rows_entries.template.h"

#define NAME(function) function##_f64_i32
#define VALUE double
#define MASK int64_t
#define INDEX int32_t
#define UNSIGNED uint32_t
#include "rows_entries.template.h"

#define NAME(function) function##_f64_i64
#define VALUE double
#define MASK int64_t
#define INDEX int64_t
#define UNSIGNED uint64_t
#include "rows_entries.template.h"

#define NAME(function) function##_i32
#define INDEX int32_t
#define UNSIGNED uint32_t
#include "rows_indices.template.h"

#define NAME(function) function##_i64
#define INDEX int64_t
#define UNSIGNED uint64_t
#include "rows_indices.template.h"

const rows_loops TABLE(rows) = {
    .faults_f32_i32 = faults_f32_i32,
    .faults_f32_i64 = faults_f32_i64,
    .faults_f64_i32 = faults_f64_i32,
    .faults_f64_i64 = faults_f64_i64,
    .reverse_f32_i32 = reverse_f32_i32,
    .reverse_f32_i64 = reverse_f32_i64,
    .reverse_f64_i32 = reverse_f64_i32,
    .reverse_f64_i64 = reverse_f64_i64,
    .largest_i32 = largest_i32,
    .largest_i64 = largest_i64,
    .descents_i32 = descents_i32,
    .descents_i64 = descents_i64,
    .order_i32 = order_i32,
    .order_i64 = order_i64,
};
