# New memory that holds zeros.
from sparsemaps._kernels.types cimport value_t

cdef enum:
    PAGE_BYTES = 4096  # of the smallest pages


cdef inline void begin_zeros(value_t *zeros, Py_ssize_t n) noexcept nogil:
    """Write to each page of n zeros, n > 0, before sums are added to them.

    The system makes a new page when it is first written to. One that is read before is first
    mapped to a page of zeros that all share, which costs a second fault, and an interrupt of the
    processors that run other threads.
    """
    cdef Py_ssize_t i, n_pages = n * <Py_ssize_t>sizeof(value_t) // PAGE_BYTES + 1
    cdef Py_ssize_t step = PAGE_BYTES // <Py_ssize_t>sizeof(value_t)
    for i in range(n_pages - 1):
        zeros[i * step] = 0
    zeros[n - 1] = 0
