# Memory that a kernel needs during a call only. Fresh memory costs a page fault for every 4 kB,
# which is more than the work on a single row. Therefore each thread keeps what its last call used
# for the next one, unless it is more than KEPT_BYTES. It is freed when the thread ends.

cdef enum:
    KEPT_BYTES = 1 << 22


cdef class Scratch:
    cdef char *memory     # aligned to 64 bytes, of any content
    cdef size_t size
    cdef int grow(self, size_t size) except -1


# The thread's scratch, of at least `size` bytes. It must be given back before the next is borrowed.
cdef Scratch borrow_scratch(size_t size)
cdef int give_back_scratch(Scratch scratch) except -1
