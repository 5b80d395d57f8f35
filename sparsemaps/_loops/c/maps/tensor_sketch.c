#include "tensor_sketch.h"

#include "simd.h"

enum { TUPLES_AT_ONCE = 128, FEW_ENTRIES = 32 };

INLINE uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

#define NAME(function) function##_f32
#define VALUE float
#define LANES register_f32_anywhere
#include "tensor_sketch.template.h"

#define NAME(function) function##_f64
#define VALUE double
#define LANES register_f64_anywhere
#include "tensor_sketch.template.h"

const tensor_sketch_loops TABLE(tensor_sketch) = {
    .add_tuples_f32 = add_tuples_f32,
    .add_tuples_f64 = add_tuples_f64,
    .list_tuples_f32 = list_tuples_f32,
    .list_tuples_f64 = list_tuples_f64,
    .convolve_f32 = convolve_f32,
    .convolve_f64 = convolve_f64,
};
