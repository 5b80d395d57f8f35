# Strings in Arrow memory, through the capsules of Arrow's C interfaces.
#
# The library that shares the memory may be buggy, and another thread may change it. Each offset is
# therefore read once, and used only if it lies within the array's data as of opening. The interface
# does not give the sizes of most buffers, so an array is trusted about its length, up to a limit
# that no real array reaches.
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset


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

cdef enum:
    INLINE_BYTES = 12  # strings up to this length are stored inside their views
    MOST_VIEWED = 2147483647  # buffers: their indices have 32 bits

# Limit on numbers of strings and of bytes. Larger arrays do not exist; below it, no offset
# overflows 64 bits.
cdef int64_t MOST = <int64_t>1 << 48

TEXTS = ("u", "U", "vu")
BYTES = ("z", "Z", "vz")


cdef str format_of(ArrowSchema *source):
    """Return the format of strings, or None for dictionary-encoded ones. Release the schema."""
    cdef ArrowSchema schema = source[0]
    source.release = NULL
    try:
        if schema.release == NULL or schema.format == NULL:
            raise ValueError("the Arrow schema has no format, or has been released")
        if schema.dictionary != NULL:
            return None
        name = schema.format.decode("utf-8", "replace")
        if name == "+s":
            raise ValueError("texts must be one column, got a table")
        if name not in TEXTS and name not in BYTES:
            raise ValueError(f"texts must be strings, got an Arrow array of format {name!r}")
        return name
    finally:
        if schema.release != NULL:
            schema.release(&schema)


cdef class Chunk:
    """Strings lent by another library: an array of the C data interface."""
    cdef ArrowArray array
    cdef bint views, large, is_text
    cdef const uint8_t *valid
    cdef const uint8_t *data   # unless strings are stored as views
    cdef int64_t data_end
    cdef list sizes            # of the data buffers of views

    def __dealloc__(self):
        if self.array.release != NULL:
            self.array.release(&self.array)

    def __len__(self):
        return self.array.length

    cdef int open(self, str format) except -1:
        cdef int64_t i, size, last, n_buffers = self.array.n_buffers
        cdef const uint8_t *sizes
        self.views, self.large = format[0] == "v", format in ("U", "Z")
        self.is_text = format in TEXTS
        if self.array.release == NULL:
            raise ValueError("the Arrow array has been released")
        if (not 0 <= self.array.length <= MOST or not 0 <= self.array.offset <= MOST
                or not -1 <= self.array.null_count <= self.array.length):
            raise ValueError(f"the Arrow array has length {self.array.length}, offset "
                             f"{self.array.offset} and {self.array.null_count} nulls, which is "
                             "not valid")
        if (self.array.n_children != 0 or self.array.dictionary != NULL or n_buffers < 2
                or (n_buffers != 3 and not self.views) or n_buffers > MOST_VIEWED):
            kind = "a dictionary" if self.array.dictionary != NULL else "no dictionary"
            raise ValueError(f"the Arrow array has {n_buffers} buffers, {self.array.n_children} "
                             f"children and {kind}, which is not valid for strings")
        if self.array.length == 0:
            return 0
        if self.array.buffers == NULL or self.array.buffers[1] == NULL:
            raise ValueError("the Arrow array has no offsets")
        self.valid = <const uint8_t *>self.array.buffers[0] if self.array.null_count else NULL
        if self.array.null_count > 0 and self.valid == NULL:
            raise ValueError(f"the Arrow array has {self.array.null_count} nulls, and does not "
                             "tell which")
        if not self.views:
            last = self.array.offset + self.array.length
            self.data = <const uint8_t *>self.array.buffers[2]
            self.data_end = self.offset(last)
            if not 0 <= self.data_end <= MOST:
                raise ValueError(f"the Arrow array ends at {self.data_end}")
            if self.data == NULL and self.data_end > 0:
                raise ValueError("the Arrow array has no data")
            return 0
        self.sizes = []
        if n_buffers > 3:
            sizes = <const uint8_t *>self.array.buffers[n_buffers - 1]
            if sizes == NULL:
                raise ValueError("the Arrow array has no sizes of its buffers")
            for i in range(n_buffers - 3):
                memcpy(&size, sizes + i * sizeof(int64_t), sizeof(int64_t))
                self.sizes.append(size)
        return 0

    cdef int64_t offset(self, int64_t i) noexcept:
        cdef int64_t large
        cdef int32_t small
        cdef const uint8_t *offsets = <const uint8_t *>self.array.buffers[1]
        if self.large:
            memcpy(&large, offsets + i * sizeof(int64_t), sizeof(int64_t))
            return large
        memcpy(&small, offsets + i * sizeof(int32_t), sizeof(int32_t))
        return small

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
        """Return string i as a Python object, nan if it is null."""
        cdef int64_t n
        cdef const uint8_t *data = self.at(i, &n)
        if data == NULL:
            return NOTHING
        text = (<const char *>data)[:n]
        return text.decode("utf-8") if self.is_text else text

    def n_bytes(self, int64_t i):
        """Return the length of string i in bytes, 0 if it is null."""
        cdef int64_t n
        self.at(i, &n)
        return n

    def stop(self, int64_t start, int64_t most):
        """Return the end of a block from `start` on with about `most` bytes."""
        cdef int64_t total = 0, n = 0, i
        for i in range(start, self.array.length):
            if total >= most:
                return i
            try:
                self.at(i, &n)
            except ValueError:
                n = 0  # reading the block reports which text it is
            total += n + 16
        return self.array.length


NOTHING = np.nan
"""The value that represents null."""


cdef class Stream:
    cdef ArrowArrayStream stream

    def __dealloc__(self):
        if self.stream.release != NULL:
            self.stream.release(&self.stream)

    cdef int open(self, capsule) except -1:
        cdef ArrowArrayStream *source = <ArrowArrayStream *>pointer_of(
            capsule, "arrow_array_stream")
        if source.release == NULL:
            raise ValueError("the Arrow stream has been released: a stream is read once")
        self.stream, source.release = source[0], NULL
        if self.stream.get_schema == NULL or self.stream.get_next == NULL:
            raise ValueError("the Arrow stream has no functions that read it")
        return 0

    cdef int read_schema(self, ArrowSchema *schema) except -1:
        return self.check(self.stream.get_schema(&self.stream, schema))

    cdef int read_next(self, ArrowArray *array) except -1:
        cdef int error = self.stream.get_next(&self.stream, array)
        if error:
            array.release = NULL  # its contents are not valid
        return self.check(error)

    cdef int check(self, int error) except -1:
        cdef const char *message = NULL
        if error:
            if self.stream.get_last_error != NULL:
                message = self.stream.get_last_error(&self.stream)
            told = message.decode("utf-8", "replace") if message != NULL else f"error {error}"
            raise ValueError(f"the Arrow stream failed: {told}")
        return 0


cdef void *pointer_of(capsule, const char *name) except NULL:
    if not PyCapsule_IsValid(capsule, name):
        wanted = (<bytes>name).decode()
        raise ValueError(f"expected an Arrow capsule {wanted!r}, got {type(capsule).__name__}")
    return PyCapsule_GetPointer(capsule, name)


def chunks_of_array(schema_capsule, array_capsule):
    """Return an iterator over the single chunk of a string array, or None if it has a
    dictionary."""
    cdef Chunk chunk = Chunk()
    cdef ArrowSchema *schema = <ArrowSchema *>pointer_of(schema_capsule, "arrow_schema")
    cdef ArrowArray *array = <ArrowArray *>pointer_of(array_capsule, "arrow_array")
    if schema.release == NULL or array.release == NULL:
        raise ValueError("the Arrow array has been released: a capsule is used once")
    format = format_of(schema)
    if format is None:
        return None
    chunk.array, array.release = array[0], NULL
    chunk.open(format)
    return iter((chunk,))


def chunks_of_stream(capsule):
    """Return an iterator over the chunks of a string stream, or None if it has a dictionary."""
    cdef Stream stream = Stream()
    cdef ArrowSchema schema
    memset(&schema, 0, sizeof(ArrowSchema))
    stream.open(capsule)
    stream.read_schema(&schema)
    format = format_of(&schema)
    return None if format is None else _chunks(stream, format)


def _chunks(Stream stream, str format):
    cdef Chunk chunk
    while True:
        chunk = Chunk()
        stream.read_next(&chunk.array)
        if chunk.array.release == NULL:
            return
        chunk.open(format)
        yield chunk


cdef int name_text(error, int64_t number) except -1:
    """Append the number of the text to an error's message."""
    if isinstance(error, UnicodeError) and hasattr(error, "reason"):
        error.reason = f"{error.reason} (text {number})"
    elif len(error.args) == 1 and isinstance(error.args[0], str):
        error.args = (f"{error.args[0]} (text {number})",)
    return 0
