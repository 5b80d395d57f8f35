# Fresh zeroed memory to which sums are added.


cdef extern from * nogil:
    void prefetch "__builtin_prefetch"(const void *address, int to_write)

cdef enum:
    CACHE_LINE = 64
    PAGE_BYTES = 4096  # size of the smallest pages


cdef inline void begin_zeros(char *zeros, Py_ssize_t n) noexcept nogil:
    """Write to each page of n > 0 zero bytes before sums are added to them.

    The system allocates a page on the first write. A page that is read first is mapped to a shared
    page of zeros, which costs a second fault and interrupts the processors that run other
    threads.
    """
    cdef Py_ssize_t i
    for i in range((n - 1) // PAGE_BYTES + 1):
        zeros[i * PAGE_BYTES] = 0
    zeros[n - 1] = 0


cdef inline void fetch_zeros(char *zeros, Py_ssize_t n, Py_ssize_t n_added) noexcept nogil:
    """Prefetch n bytes from the outer caches while other memory is in use, if at least as many
    additions are expected as there are cache lines."""
    cdef Py_ssize_t i
    if n_added >= n // CACHE_LINE:
        for i in range(n // CACHE_LINE):
            prefetch(zeros + i * CACHE_LINE, 1)
