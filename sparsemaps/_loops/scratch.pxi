# Scratch memory that kernels use during a call (levels.pxd).
from libc.string cimport memset


cdef extern from "c/base/aligned.h" nogil:
    void *aligned(size_t size)
    void release_aligned(void *memory)

cdef object of_thread = threading.local()


cdef class Block:
    cdef char *memory

    def __dealloc__(self):
        release_aligned(self.memory)


cdef class Scratch:

    def __cinit__(self):
        self.blocks = []

    cdef void *take(self, size_t size) except NULL:
        cdef void *memory
        size = (size + 63) // 64 * 64 + 64  # for 0 bytes too, and with a gap between arrays
        if size > self.n_left:
            self.add_block(max(size, 2 * self.n_taken))
        memory = self.next
        self.next += size
        self.n_left -= size
        self.n_taken += size
        return memory

    cdef void *take_zeros(self, size_t size) except NULL:
        return memset(self.take(size), 0, size)

    cdef int add_block(self, size_t size) except -1:
        cdef Block block = Block.__new__(Block)
        block.memory = <char *>aligned(size)
        if block.memory == NULL:
            raise MemoryError
        self.blocks.append(block)
        self.next, self.n_left = block.memory, size
        return 0


cdef Scratch borrow_scratch():
    cdef Scratch scratch = getattr(of_thread, "scratch", None)
    if scratch is None:
        scratch = Scratch.__new__(Scratch)
    of_thread.scratch = None
    return scratch


cdef int give_back_scratch(Scratch scratch) except -1:
    """Keep the memory for the thread's next call, in one block and half as large again, so that
    calls whose needs grow slowly find enough."""
    cdef size_t n_taken = scratch.n_taken, size = n_taken + n_taken // 2
    if size > KEPT_BYTES:
        return 0
    if len(scratch.blocks) == 1:
        scratch.next -= n_taken
        scratch.n_left += n_taken
    elif n_taken > 0:
        scratch.blocks = []
        try:
            scratch.add_block(size)
        except MemoryError:  # the call has its result, and the next call allocates its own memory
            return 0
    scratch.n_taken = 0
    of_thread.scratch = scratch
    return 0
