/* For the loops that are not in c/ yet. */
#include "c/aligned.h"
