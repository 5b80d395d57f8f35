# Memory that kernels need during a call only (scratch.pxd).
import threading

cdef extern from "c/base/aligned.h" nogil:
    void *aligned(size_t size)
    void release_aligned(void *memory)

cdef object of_thread = threading.local()


cdef class Scratch:

    def __dealloc__(self):
        release_aligned(self.memory)

    cdef int grow(self, size_t size) except -1:
        """Have at least `size` bytes; what they hold is lost."""
        if size > self.size:
            release_aligned(self.memory)
            self.size = 0
            size += size // 2  # so that calls that need a little more each time find it there
            self.memory = <char *>aligned(size)
            if self.memory == NULL:
                raise MemoryError
            self.size = size
        return 0


cdef Scratch borrow_scratch(size_t size):
    cdef Scratch scratch = getattr(of_thread, "scratch", None)
    if scratch is None:
        scratch = Scratch.__new__(Scratch)
    of_thread.scratch = None
    scratch.grow(size)
    return scratch


cdef int give_back_scratch(Scratch scratch) except -1:
    if scratch.size <= KEPT_BYTES:
        of_thread.scratch = scratch
    return 0
