# The instruction set level of the loops of all kernels (c/base/levels.h).
cdef int level


# Scratch memory for the duration of a call:
#
#     scratch = borrow_scratch()
#     sums = <double *>scratch.take(n * sizeof(double))
#     ...
#     give_back_scratch(scratch)
#
# Fresh memory costs a page fault per 4 kB, more than the work on a single row. Each thread
# therefore keeps the memory of its last call for the next one, up to KEPT_BYTES, and frees it when
# the thread ends. If an exception leaves a call, its scratch is freed.

cdef enum:
    KEPT_BYTES = 1 << 22


cdef class Scratch:
    cdef list blocks
    cdef char *next       # free space in the last block
    cdef size_t n_left
    cdef size_t n_taken   # since the scratch was borrowed

    # Return uninitialised memory, aligned to 64 bytes, valid until the scratch is given back.
    cdef void *take(self, size_t size) except NULL
    # Return memory filled with zeros.
    cdef void *take_zeros(self, size_t size) except NULL
    cdef int add_block(self, size_t size) except -1


cdef Scratch borrow_scratch()
cdef int give_back_scratch(Scratch scratch) except -1
