#include "fourier.h"
#include "sin_cos.h"

#define NAME(function) function##_f32
#define VALUE float
#include "fourier.template.h"

#define NAME(function) function##_f64
#define VALUE double
#include "fourier.template.h"

const fourier_loops TABLE(fourier) = {
    .paired_f32 = paired_f32,
    .paired_f64 = paired_f64,
    .cosines_f32 = cosines_f32,
    .cosines_f64 = cosines_f64,
};
