#include "powers_of_ten.h"

wide_t powers_of_ten[LARGEST_POWER - SMALLEST_POWER + 1];
