# Texts from JSON Lines (c/text/json_lines.h), and sequences of texts in contiguous memory.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

from sparsemaps._loops.arrays cimport INTEGERS, WORDS, array_of
from sparsemaps._loops.levels cimport level


cdef extern from "c/text/json_lines.h" nogil:
    enum:
        JSON_SLACK
    ctypedef struct json_texts:
        const uint8_t *name
        Py_ssize_t name_length
        uint8_t *texts
        int64_t *ends
        Py_ssize_t n_texts, n_lines
    ctypedef struct json_lines_loops:
        int (*is_utf8)(const uint8_t *bytes, Py_ssize_t n) noexcept nogil
        Py_ssize_t (*read)(const uint8_t *lines, Py_ssize_t at, Py_ssize_t n,
                           json_texts *into) noexcept nogil
        void (*lengths)(const uint8_t *texts, const int64_t *ends, Py_ssize_t n,
                        int64_t *lengths) noexcept nogil
    const json_lines_loops *json_lines_at(int)

cdef const json_lines_loops *json_loops = json_lines_at(level)


cdef class Utf8Texts(Chunk):
    """A sequence of str stored as contiguous UTF-8, which is also a chunk for the loops."""
    cdef object memory, ends
    cdef const uint8_t *bytes
    cdef const int64_t *stops
    cdef int64_t first

    def __cinit__(self, memory, ends, int64_t first, int64_t n):
        self.memory, self.ends, self.first = memory, ends, first
        self.bytes = <const uint8_t *>array_of(memory, WORDS, 1, 1, False).data
        self.stops = <const int64_t *>array_of(ends, INTEGERS, sizeof(int64_t), 1, False).data
        self.array.length = n
        self.is_text = True

    cdef int64_t start(self, int64_t i) noexcept:
        return self.stops[self.first + i - 1] if self.first + i > 0 else 0

    cdef const uint8_t *at(self, int64_t i, int64_t *n) except? NULL:
        cdef int64_t start = self.start(i)
        n[0] = self.stops[self.first + i] - start
        return self.bytes + start

    def __getitem__(self, item):
        if isinstance(item, slice):
            start, stop, step = item.indices(len(self))
            if step != 1:
                raise ValueError("texts are taken one after the other")
            return Utf8Texts(self.memory, self.ends, self.first + start, max(stop - start, 0))
        number = item if item >= 0 else item + len(self)
        if not 0 <= number < len(self):
            raise IndexError(f"there are {len(self)} texts, and none of number {item}")
        return self.item(number)

    def __iter__(self):
        return map(self.item, range(len(self)))

    def lengths(self):
        """Return the number of characters of each text."""
        cdef int64_t n = self.array.length, start = self.start(0)
        cdef int64_t[::1] out
        cdef const int64_t[::1] ends
        found = np.empty(n, np.int64)
        own = np.asarray(self.ends)[self.first:self.first + n] - start
        if n > 0:
            out, ends = found, own
            with nogil:
                json_loops.lengths(self.bytes + start, &ends[0], n, &out[0])
        return found

    def pieces(self):
        """Return the UTF-8 of each text."""
        view, ends = memoryview(self.memory), np.asarray(self.ends)
        starts = np.concatenate([[0], ends])[self.first:self.first + len(self)].tolist()
        stops = ends[self.first:self.first + len(self)].tolist()
        return (view[start:stop] for start, stop in zip(starts, stops))


def texts_of_json(bytes lines not None, bytes name not None, Py_ssize_t n_lines, by_python):
    """Return the texts in the field `name` of `n_lines` JSON Lines. The last line may lack its line
    end. Return None if the lines are not UTF-8.

    ``by_python(number, line)`` returns the text of a line that the loops cannot read, or None for a
    blank line. Lines are numbered from 0.
    """
    cdef json_texts into
    cdef const uint8_t *text = <const uint8_t *>PyBytes_AS_STRING(lines)
    cdef Py_ssize_t n = PyBytes_GET_SIZE(lines), at = 0, end, length, n_more
    cdef uint8_t[::1] memory
    cdef int64_t[::1] ends
    cdef bint valid
    texts, stops = np.empty(n + JSON_SLACK, np.uint8), np.empty(n_lines + 1, np.int64)
    memory, ends = texts, stops
    into.name, into.name_length = <const uint8_t *>PyBytes_AS_STRING(name), PyBytes_GET_SIZE(name)
    into.texts, into.ends, into.n_texts, into.n_lines = &memory[0], &ends[0], 0, 0
    with nogil:
        valid = json_loops.is_utf8(text, n)
    if not valid:
        return None
    while True:
        with nogil:
            at = json_loops.read(text, at, n, &into)
        if at == n:
            break
        end = lines.find(b"\n", at) + 1
        end = end if end > 0 else n
        found = by_python(into.n_lines, lines[at:end])
        if found is not None:
            found = found.encode("utf-8")
            length, n_more = ends[into.n_texts - 1] if into.n_texts else 0, len(found)
            if length + n_more > end:
                raise ValueError("a text is longer than its line")
            memcpy(&memory[length], PyBytes_AS_STRING(found), n_more)
            ends[into.n_texts] = length + n_more
            into.n_texts += 1
        into.n_lines += 1
        at = end
    return Utf8Texts(texts, stops, 0, into.n_texts)
