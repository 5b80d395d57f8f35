# The instruction set whose loops all kernels use (c/base/levels.h).
cdef int level


# Memory that a kernel needs during a call only:
#
#     scratch = borrow_scratch()
#     sums = <double *>scratch.take(n * sizeof(double))
#     ...
#     give_back_scratch(scratch)
#
# Fresh memory costs a page fault for every 4 kB, which is more than the work on a single row.
# Therefore each thread keeps what its last call used for the next one, unless it is more than
# KEPT_BYTES. It is freed when the thread ends. A scratch that an exception ends is freed with it.

cdef enum:
    KEPT_BYTES = 1 << 22


cdef class Scratch:
    cdef list blocks      # of memory
    cdef char *next       # what is left of the last block
    cdef size_t n_left
    cdef size_t n_taken   # since the scratch was borrowed

    # Memory of any content, aligned to 64 bytes, until the scratch is given back.
    cdef void *take(self, size_t size) except NULL
    # Memory that is all zeros.
    cdef void *take_zeros(self, size_t size) except NULL
    cdef int add_block(self, size_t size) except -1


cdef Scratch borrow_scratch()
cdef int give_back_scratch(Scratch scratch) except -1
