/* For the loops that are not in c/ yet: the vectors' header of this folder comes first. */
#include "simd.h"
#include "c/trigonometry.h"
