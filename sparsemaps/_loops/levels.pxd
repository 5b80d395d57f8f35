# The instruction set whose loops all kernels use (c/levels.h).
cdef int level
