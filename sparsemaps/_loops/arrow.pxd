# Strings in Arrow's memory, which are read there.
from libc.stdint cimport int32_t, int64_t, uint8_t

cdef extern from "c/text/arrow.h" nogil:
    ctypedef struct ArrowSchema "struct ArrowSchema":
        const char *format
        ArrowSchema *dictionary
        void (*release)(ArrowSchema *) noexcept
    ctypedef struct ArrowArray "struct ArrowArray":
        int64_t length, null_count, offset, n_buffers, n_children
        const void **buffers
        ArrowArray *dictionary
        void (*release)(ArrowArray *) noexcept
    ctypedef struct ArrowArrayStream "struct ArrowArrayStream":
        int (*get_schema)(ArrowArrayStream *, ArrowSchema *) noexcept
        int (*get_next)(ArrowArrayStream *, ArrowArray *) noexcept
        const char *(*get_last_error)(ArrowArrayStream *) noexcept
        void (*release)(ArrowArrayStream *) noexcept


cdef class Chunk:
    cdef ArrowArray array
    cdef bint views, large, is_text
    cdef const uint8_t *valid
    cdef const uint8_t *data   # without views
    cdef int64_t data_end
    cdef list sizes            # of the buffers of views
    cdef int open(self, str format) except -1
    cdef int64_t offset(self, int64_t i) noexcept
    # The bytes of string i, NULL if it is null.
    cdef const uint8_t *at(self, int64_t i, int64_t *n) except? NULL


# Add the number of the text to the message of an error.
cdef int name_text(error, int64_t number) except -1
