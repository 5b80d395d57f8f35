# New memory that holds zeros, to which sums are added.


cdef extern from * nogil:
    void prefetch "__builtin_prefetch"(const void *address, int to_write)

cdef enum:
    CACHE_LINE = 64
    PAGE_BYTES = 4096  # of the smallest pages


cdef inline void begin_zeros(char *zeros, Py_ssize_t n) noexcept nogil:
    """Write to each page of n bytes that are 0, n > 0, before sums are added to them.

    The system makes a new page when it is first written to. One that is read before is first
    mapped to a page of zeros that all share, which costs a second fault, and an interrupt of the
    processors that run other threads.
    """
    cdef Py_ssize_t i
    for i in range((n - 1) // PAGE_BYTES + 1):
        zeros[i * PAGE_BYTES] = 0
    zeros[n - 1] = 0


cdef inline void fetch_zeros(char *zeros, Py_ssize_t n, Py_ssize_t n_added) noexcept nogil:
    """Fetch n bytes from the outer caches, while others are added to: if there are to be as many
    additions to them as cache lines."""
    cdef Py_ssize_t i
    if n_added >= n // CACHE_LINE:
        for i in range(n // CACHE_LINE):
            prefetch(zeros + i * CACHE_LINE, 1)
