#include "fourier.h"
#include "sin_cos.h"

#define TEMPLATE "fourier.template.h"
#include "each_value.h"

#define LOOPS(TYPE) {.paired = paired_##TYPE, .cosines = cosines_##TYPE}
const fourier_loops TABLE(fourier)[] = OF_EACH_VALUE(LOOPS);
