/* Allocate aligned memory for vectors, with C11's aligned_alloc or, on Windows, _aligned_malloc. */
#ifndef SPARSEMAPS_ALIGNED_H
#define SPARSEMAPS_ALIGNED_H

#include <stdlib.h>

#if defined(_WIN32)
#include <malloc.h>
#endif

static inline void *aligned(size_t size)
{
    size = (size + 63) / 64 * 64 + 64; /* a whole number of cache lines, at least one */
#if defined(_WIN32)
    return _aligned_malloc(size, 64);
#else
    return aligned_alloc(64, size);
#endif
}

static inline void release_aligned(void *memory)
{
#if defined(_WIN32)
    _aligned_free(memory);
#else
    free(memory);
#endif
}

#endif
