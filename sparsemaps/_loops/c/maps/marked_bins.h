/* Most bins that can be marked by one bit each: the marks fit in a register. */
#ifndef SPARSEMAPS_MARKED_BINS_H
#define SPARSEMAPS_MARKED_BINS_H

enum { MARKED_BINS = 512 };

#endif
