# Strings in Arrow's memory, by the capsules of its C interfaces.
#
# A library that shares memory can have a fault, and another thread can change what it shares: each
# offset is read once, and used if it lies within the array's data as they were when it was opened.
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset

import numpy as np

cdef enum:
    INLINE_BYTES = 12  # strings up to this length lie within their views

TEXTS = ("u", "U", "vu")
BYTES = ("z", "Z", "vz")


cdef class Schema:
    """A schema that is released at the end."""
    cdef ArrowSchema schema

    def __cinit__(self):
        memset(&self.schema, 0, sizeof(ArrowSchema))

    def __dealloc__(self):
        if self.schema.release != NULL:
            self.schema.release(&self.schema)

    cdef str format(self):
        """The format of strings, "" for anything else."""
        if self.schema.dictionary != NULL:
            return ""
        name = self.schema.format.decode()
        return name if name in TEXTS or name in BYTES else ""


cdef class Chunk:
    """Strings that one library lends: an array of the C data interface."""

    def __cinit__(self):
        memset(&self.array, 0, sizeof(ArrowArray))

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    def __len__(self):
        return self.array.length

    cdef int open(self, str format) except -1:
        cdef int64_t i, last, n_buffers = self.array.n_buffers, fewest
        cdef const int64_t *sizes
        self.views, self.large = format[0] == "v", format in ("U", "Z")
        self.is_text = format in TEXTS
        fewest = 3 if not self.views else 2
        if self.array.length < 0 or self.array.offset < 0 or n_buffers < fewest:
            raise ValueError(f"the Arrow array has length {self.array.length}, offset "
                             f"{self.array.offset} and {n_buffers} buffers, which is not valid")
        if self.array.length == 0:
            return 0
        if self.array.buffers[1] == NULL:
            raise ValueError("the Arrow array has no offsets")
        self.valid = <const uint8_t *>self.array.buffers[0] if self.array.null_count else NULL
        if not self.views:
            last = self.array.offset + self.array.length
            self.data = <const uint8_t *>self.array.buffers[2]
            self.data_end = self.offset(last)
            if self.data == NULL and self.data_end > 0:
                raise ValueError("the Arrow array has no data")
        elif n_buffers > 3:
            sizes = <const int64_t *>self.array.buffers[n_buffers - 1]
            if sizes == NULL:
                raise ValueError("the Arrow array has no sizes of its buffers")
            self.sizes = [sizes[i] for i in range(n_buffers - 3)]
        else:
            self.sizes = []
        return 0

    cdef int64_t offset(self, int64_t i) noexcept:
        if self.large:
            return (<const int64_t *>self.array.buffers[1])[i]
        return (<const int32_t *>self.array.buffers[1])[i]

    cdef const uint8_t *at(self, int64_t i, int64_t *n) except? NULL:
        cdef int64_t start, end, place = self.array.offset + i
        cdef const uint8_t *view
        cdef const uint8_t *buffer
        cdef int32_t words[4]
        n[0] = 0
        if self.valid != NULL and not self.valid[place // 8] >> (place % 8) & 1:
            return NULL
        if self.views:
            view = <const uint8_t *>self.array.buffers[1] + 16 * place
            memcpy(words, view, 16)
            n[0] = words[0]
            if 0 <= words[0] <= INLINE_BYTES:
                return view + 4
            start = words[3]
            end = start + words[0]
            if words[0] < 0 or words[2] < 0 or words[2] >= len(self.sizes):
                raise ValueError(f"an Arrow view has length {words[0]} and buffer {words[2]}")
            buffer = <const uint8_t *>self.array.buffers[2 + words[2]]
            if start < 0 or end > <int64_t>self.sizes[words[2]] or buffer == NULL:
                raise ValueError(f"an Arrow view ends at {end}, behind its buffer's end")
            return buffer + start
        start, end = self.offset(place), self.offset(place + 1)
        if not 0 <= start <= end <= self.data_end:
            raise ValueError(f"Arrow's offsets {start} and {end} are not within its "
                             f"{self.data_end} bytes")
        n[0] = end - start
        return self.data + start if self.data != NULL else <const uint8_t *>self.array.buffers[1]

    def item(self, int64_t i):
        """String i as Python's, nan if it is null."""
        cdef int64_t n
        cdef const uint8_t *data = self.at(i, &n)
        if data == NULL:
            return NOTHING
        text = (<const char *>data)[:n]
        return text.decode("utf-8") if self.is_text else text

    def n_bytes(self, int64_t i):
        """Length of string i, 0 if it is null."""
        cdef int64_t n
        self.at(i, &n)
        return n

    def stop(self, int64_t start, int64_t most):
        """Where a block from `start` on ends that has about `most` bytes."""
        cdef int64_t total = 0, n = 0, i
        for i in range(start, self.array.length):
            if total >= most:
                return i
            try:
                self.at(i, &n)
            except ValueError:
                n = 0  # the block says which text it is
            total += n + 16
        return self.array.length


NOTHING = np.nan
"""What stands for null."""


cdef class Stream:
    cdef ArrowArrayStream stream

    def __cinit__(self):
        memset(&self.stream, 0, sizeof(ArrowArrayStream))

    def __dealloc__(self):
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    cdef int check(self, int error) except -1:
        cdef const char *message
        if error:
            message = self.stream.get_last_error(&self.stream)
            told = message.decode("utf-8", "replace") if message != NULL else f"error {error}"
            raise ValueError(f"the Arrow stream failed: {told}")
        return 0


def chunks_of_array(schema_capsule, array_capsule):
    """An iterator over the chunk of an array of strings, or None if it holds something else."""
    cdef Schema schema = Schema()
    cdef Chunk chunk = Chunk()
    cdef ArrowSchema *from_schema = <ArrowSchema *>PyCapsule_GetPointer(
        schema_capsule, "arrow_schema")
    cdef ArrowArray *from_array = <ArrowArray *>PyCapsule_GetPointer(array_capsule, "arrow_array")
    schema.schema, from_schema.release = from_schema[0], NULL
    format = schema.format()
    if not format:
        return None
    chunk.array, from_array.release = from_array[0], NULL
    chunk.open(format)
    return iter((chunk,))


def chunks_of_stream(capsule):
    """An iterator over the chunks of a stream of strings, or None if it gives something else."""
    cdef Stream stream = Stream()
    cdef Schema schema = Schema()
    cdef ArrowArrayStream *source = <ArrowArrayStream *>PyCapsule_GetPointer(
        capsule, "arrow_array_stream")
    stream.stream, source.release = source[0], NULL
    stream.check(stream.stream.get_schema(&stream.stream, &schema.schema))
    format = schema.format()
    return _chunks(stream, format) if format else None


def _chunks(Stream stream, str format):
    cdef Chunk chunk
    while True:
        chunk = Chunk()
        stream.check(stream.stream.get_next(&stream.stream, &chunk.array))
        if chunk.array.release == NULL:
            return
        chunk.open(format)
        yield chunk


cdef int name_text(error, int64_t number) except -1:
    """Add the number of the text to the message of an error."""
    if isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = f"{error.reason} (text {number})"
    elif len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]} (text {number})",)
    return 0
