# Counts of byte n-grams (c/text/text_bytes.h): from the texts of a block to CSR rows.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t

from sparsemaps._loops.arrays cimport ANY_SIZE, FLOATS, INTEGERS, array_of, array_t
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/text/text_bytes.h" nogil:
    enum:
        TEXT_BYTES_COUNTERS
    ctypedef struct text_bytes_loops:
        void (*lower)(const uint8_t *bytes, int64_t n, uint8_t *out) noexcept nogil
        int64_t (*count)(const uint8_t *bytes, int64_t n, int size, int64_t first,
                         uint16_t *counters, uint64_t *items, uint64_t *other, void *columns,
                         size_t index_size, int32_t *counts) noexcept nogil
    const text_bytes_loops *text_bytes_at(int)

cdef const text_bytes_loops *byte_loops = text_bytes_at(level)

cdef enum:
    # From this many bytes per block on, n-grams are counted in a table, whose memory is allocated
    # once.
    COUNTED_BYTES = 1 << 16
    LONGEST_TEXT = 2147483647  # counts have 32 bits

ctypedef struct span_t:
    const uint8_t *bytes
    int64_t n


cdef class ByteCounter:
    """Counts byte n-grams of texts.

    Parameters
    ----------
    ngram_range : (int, int)
        Least and greatest size, 1 to 7.
    binary, lowercase : bool
    dtype : float32 or float64
    index_type : int32 or int64
    """
    cdef int shortest, longest
    cdef bint binary, lowercase
    cdef object dtype, index_type
    cdef list outputs  # output arrays that blocks reuse
    cdef list tables   # of counters, one per counting thread

    def __cinit__(self, *, ngram_range, bint binary, bint lowercase, dtype, index_type):
        self.shortest, self.longest = ngram_range
        self.binary, self.lowercase = binary, lowercase
        self.dtype, self.index_type = dtype, index_type
        self.outputs, self.tables = [], []

    def give_back(self, columns, values):
        self.outputs.append((columns.base, values.base))

    @property
    def has_sets(self):
        return False

    def rows(self, int64_t first, texts, bint sets=False):
        """Return the columns and values of the rows of a block's texts, the end of each row, and
        the number of bytes. Texts are as for ``text.Vectorizer``.
        """
        assert not sets
        cdef uint8_t[::1] memory
        cdef span_t *spans
        cdef int64_t row, n_rows, total = 0, most = 0, start = 0, n
        cdef Chunk chunk = None
        if not isinstance(texts, list):
            chunk, start, stop = texts
            texts = [None] * (stop - start)
        n_rows = len(texts)
        spans_memory = memory = np.zeros(max(1, n_rows) * sizeof(span_t), np.uint8)
        spans = <span_t *>&memory[0]
        for row in range(n_rows):
            try:
                if chunk is not None:
                    spans[row].bytes = chunk.at(start + row, &spans[row].n)
                else:
                    texts[row] = take(spans + row, texts[row])
                if spans[row].bytes == NULL:
                    raise ValueError("a text must be a str or bytes, got null")
                if spans[row].n > LONGEST_TEXT:
                    raise ValueError(f"a text has {spans[row].n} bytes, more than {LONGEST_TEXT}")
            except Exception as error:
                name_text(error, first + row)
                raise
            total += spans[row].n
            most = max(most, spans[row].n)
        n = total * (self.longest - self.shortest + 1)
        try:
            columns, values = self.outputs.pop()
        except IndexError:  # there is none, or another thread took it
            columns = values = None
        if columns is None or len(columns) < n:
            columns, values = np.empty(n, self.index_type), np.empty(n, self.dtype)
        ends = np.empty(n_rows, np.int64)
        counters = None
        if total >= COUNTED_BYTES or self.tables:
            try:
                counters = self.tables.pop()
            except IndexError:
                counters = np.zeros(TEXT_BYTES_COUNTERS, np.uint16)
        n = self.fill(spans, most, columns, values, ends, counters)
        if counters is not None:
            self.tables.append(counters)
        return columns[:n], values[:n], ends, total

    cdef int64_t fill(self, span_t *spans, int64_t most, columns, values, int64_t[::1] ends,
                      uint16_t[::1] counters) except -1:
        cdef array_t column = array_of(columns, INTEGERS, ANY_SIZE, 1, True)
        cdef array_t value = array_of(values, FLOATS, ANY_SIZE, 1, True)
        cdef Scratch scratch = borrow_scratch()
        cdef uint64_t *items = <uint64_t *>scratch.take(most * sizeof(uint64_t))
        cdef uint64_t *other = <uint64_t *>scratch.take(most * sizeof(uint64_t))
        cdef int32_t *counts = <int32_t *>scratch.take(most * sizeof(int32_t))
        cdef uint8_t *lowered = <uint8_t *>scratch.take(most)
        cdef uint16_t *table = &counters[0] if counters is not None else NULL
        cdef const uint8_t *text
        cdef int64_t row, n, before, at = 0
        cdef int size
        with nogil:
            for row in range(ends.shape[0]):
                text = spans[row].bytes
                if self.lowercase:
                    byte_loops.lower(text, spans[row].n, lowered)
                    text = lowered
                before = 0
                for size in range(1, self.longest + 1):
                    if size >= self.shortest and spans[row].n >= size:
                        n = byte_loops.count(text, spans[row].n, size, before, table, items, other,
                                             column.data + at * column.size, column.size, counts)
                        loops.values[value.size == sizeof(double)](
                            counts, n, self.binary, TEXT_NO_NORM, value.data + at * value.size)
                        at += n
                    if size >= self.shortest:
                        before += <int64_t>1 << (8 * size)
                ends[row] = at
        give_back_scratch(scratch)
        return at


cdef take(span_t *span, text):
    """Set the span to the bytes of the text. Return the object that owns them."""
    if isinstance(text, str):
        if PyUnicode_IS_ASCII(text):
            span.bytes, span.n = <const uint8_t *>PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)
            return text
        text = text.encode("utf-8")
    elif not isinstance(text, bytes):
        shown = "None" if text is None else type(text).__name__
        raise ValueError(f"a text must be a str or bytes, got {shown}")
    span.bytes, span.n = <const uint8_t *>PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)
    return text
