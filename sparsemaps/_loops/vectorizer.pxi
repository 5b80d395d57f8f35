# Hashed n-grams of texts (c/text/text.h): from the texts of a block to CSR rows.
#
# Characters are read from Python's memory without the interpreter lock: the block holds references
# to its texts, and a str is immutable. What only Python knows (the lower case of some characters,
# objects that are not text) is requested with the lock held, one text at a time.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sparsemaps._loops.arrays cimport ANY_SIZE, FLOATS, INTEGERS, array_of
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch


cdef enum:
    BY_PYTHON = -1          # form of an object that is neither str nor UTF-8
    MOST_BYTES = 2147480000  # of a text: positions are 32-bit numbers, signed in vectors

NORMS = {None: TEXT_NO_NORM, "l1": TEXT_L1, "l2": TEXT_L2}
ANALYZERS = {"word": TEXT_WORDS, "char": TEXT_CHARACTERS, "char_wb": TEXT_CHARACTERS_OF_WORDS}
WORDS_OF = {"letters": TEXT_LETTERS, "no spaces": TEXT_NO_SPACES, "scripts": TEXT_SCRIPTS,
            "signs": TEXT_SIGNS}


cdef tuple of_class = (
    tuple(Characters(False, of) for of in WORDS_OF.values()),
    tuple(Characters(True, of) for of in WORDS_OF.values()),
)


ctypedef struct text_t:
    const void *data
    int64_t n        # characters; bytes for TEXT_UTF8
    int form         # bytes per character, TEXT_UTF8, or BY_PYTHON
    bint plain       # already lowercased if necessary
    bint raw         # an object from the caller that is not a text yet


cdef class Vectorizer:
    """The parameters of rows of texts, and the Python functions that they need.

    Parameters
    ----------
    analyzer : "word", "char" or "char_wb"
    words_of : "letters", "no spaces", "scripts" or "signs"
        What words consist of (c/text/text.h).
    least : 1 or 2
        Least number of characters of a word.
    ngram_range : (int, int)
        Least and greatest size of n-grams, at least 1.
    stop_words : collection of str or None
    reads : bool
        Whether the caller passes file names or files.
    utf8 : bool
        Whether bytes are taken as UTF-8. Otherwise, and for invalid UTF-8, `decode` is called.
    decode : callable
        Converts bytes or a file to str, or raises the error. Returns other objects unchanged; they
        are passed to `tokens`.
    normalize : callable or None
        Returns the normal form of a str before it is tokenized.
    preprocess : callable or None
        Returns the str to tokenize for a str that is not ASCII, already lowercased.
    tokenize : callable or None
        Returns the tokens of a str, in place of `analyzer`.
    tokens : callable
        Returns all n-grams of an object that the loops do not process.
    """
    cdef text_job job
    cdef StopWords stop
    cdef bint lowercase, binary, reads, utf8
    cdef int norm
    cdef object dtype
    cdef size_t value_size
    cdef object decode, normalize, preprocess, tokenize, tokens
    cdef list outputs  # output arrays that blocks reuse

    def __cinit__(self, *, analyzer, words_of, int least, ngram_range, bint lowercase,
                  uint32_t n_features, bint alternate_sign, bint binary, norm, dtype, stop_words,
                  bint reads, bint utf8, decode, normalize, preprocess, tokenize,
                  tokens):
        self.stop = StopWords(stop_words or ())
        self.job.analyzer = ANALYZERS[analyzer]
        self.job.of, self.job.least = WORDS_OF[words_of], least
        self.job.shortest, self.job.longest = ngram_range
        self.job.n_features = n_features
        self.job.column_bits = max(1, int(n_features - 1).bit_length())
        self.job.signs = alternate_sign
        self.job.stop = self.stop.table
        self.lowercase, self.binary, self.norm = lowercase, binary, NORMS[norm]
        self.dtype = np.dtype(np.float32 if np.dtype(dtype) == np.float32 else np.float64)
        self.value_size = self.dtype.itemsize
        self.reads, self.utf8, self.decode = reads, utf8, decode
        self.normalize, self.preprocess = normalize, preprocess
        self.tokenize, self.tokens = tokenize, tokens
        self.outputs = []

    def rows(self, int64_t first, texts, bint sets=False):
        """Return the columns and values of the rows of a block's texts, the end of each row, and
        the number of n-grams. If rows are sets, values are None. `texts` is a list, or an Arrow
        chunk with the start and end of the block in it. Errors name the text; the first text has
        number `first`.

        The caller returns the two arrays with `give_back` once they have been copied: fresh memory
        costs more than writing to it.
        """
        cdef Block block = Block.__new__(Block)
        block.sets = sets
        try:
            block.open(self, texts, first)
            return block.run()
        finally:
            block.close()

    cdef bint needs_str(self):
        """Return whether Python functions must prepare or tokenize texts."""
        return (self.tokenize is not None or self.normalize is not None
                or self.preprocess is not None)

    def values_of(self, int32_t[::1] counts):
        """Return the values of a row with these counts."""
        cdef int64_t n = len(counts)
        cdef int32_t[::1] padded = np.zeros(n + TEXT_SLACK, np.int32)
        padded[:n] = counts
        values = np.empty(n + TEXT_SLACK, self.dtype)
        self.put_values(&padded[0], n, array_of(values, FLOATS, ANY_SIZE, 1, True).data)
        return values[:n]

    cdef void put_values(self, const int32_t *counts, int64_t n, char *values) noexcept nogil:
        loops.values[self.value_size == sizeof(double)](counts, n, self.binary, self.norm, values)

    def give_back(self, columns, values):
        self.outputs.append((columns.base, None if values is None else values.base))

    @property
    def has_sets(self):
        """Whether no sum of counts can be 0, judging by the parameters."""
        return self.binary or not self.job.signs

    cdef int64_t most_items(self, int64_t n) noexcept nogil:
        """Return the most n-grams that a text of n characters can have."""
        cdef int64_t n_sizes = self.job.longest - self.job.shortest + 1
        if self.job.analyzer == TEXT_WORDS and self.job.of >= TEXT_SCRIPTS:
            return n * min(n_sizes, n + 1)
        if self.job.analyzer == TEXT_WORDS:
            return (n // (self.job.least + 1) + 1) * min(n_sizes, n + 1)
        return (n + 2) * min(n_sizes + 1, n + 3)

    cdef int64_t most_bytes(self, int64_t n) noexcept nogil:
        """Return the most bytes of the tokens of a text of n characters, with blanks in between."""
        return (5 if self.job.of >= TEXT_SCRIPTS else 4) * n + 3


cdef int check_size(int64_t n_bytes) except -1:
    if n_bytes > MOST_BYTES:
        raise ValueError(f"a text has up to {n_bytes} bytes in memory, more than {MOST_BYTES}")
    return 0


cdef class Block:
    """The texts of a block while they are converted to rows."""
    cdef Vectorizer of
    cdef text_job job
    cdef bint sets               # whether rows are sets, without values
    cdef list texts, held        # the texts as the user passed them, and the objects to read
    cdef Chunk chunk             # holds the texts that are None in the lists
    cdef int64_t first, start    # number of the first text, overall and within the chunk
    cdef object spans_memory, columns, values, ends
    cdef text_t *spans
    cdef int32_t *out_columns
    cdef char *out_values
    cdef int64_t *row_ends
    cdef int64_t n, end, room, n_items, most_characters, most_bytes, most_row
    cdef const uint64_t **lower_pages
    cdef const uint64_t **plain_pages
    cdef Scratch scratch

    cdef int open(self, Vectorizer of, texts, int64_t first) except -1:
        cdef int64_t row, total = 0, most = 0
        cdef uint8_t[::1] spans
        cdef int64_t[::1] ends
        self.of, self.first = of, first
        self.job = of.job
        if isinstance(texts, list):
            self.texts = texts
        else:
            self.chunk, self.start, stop = texts
            self.texts = [None] * (stop - self.start)
        self.held = list(self.texts)
        self.n = len(self.texts)
        self.spans_memory = spans = np.zeros(max(1, self.n) * sizeof(text_t), np.uint8)
        self.spans = <text_t *>&spans[0]
        self.ends = ends = np.empty(self.n + 1, np.int64)
        self.row_ends = &ends[0]
        for row in range(self.n):
            try:
                if self.chunk is not None:
                    self.take_lent(row)
                elif of.reads:
                    self.spans[row].form, self.spans[row].raw = BY_PYTHON, True
                else:
                    self.take(row, self.texts[row], False)
                check_size(of.most_bytes(self.spans[row].n))
            except Exception as error:
                name_text(error, first + row)
                raise
            total += of.most_items(self.spans[row].n)
            most = max(most, self.spans[row].n)
        self.lower_pages = (<Characters>of_class[1][of.job.of]).pages
        self.plain_pages = (<Characters>of_class[0][of.job.of]).pages
        self.make_room(total)
        self.grow(most + 3, of.most_bytes(most), of.most_items(most))
        return 0

    def close(self):
        if self.scratch is not None:
            give_back_scratch(self.scratch)
            self.scratch = None

    cdef int take(self, int64_t row, text, bint plain) except -1:
        """Set the text from which the row is computed."""
        cdef text_t *span = self.spans + row
        span.plain, span.raw, span.form, span.n = plain, False, BY_PYTHON, 0
        self.held[row] = text
        if PyUnicode_CheckExact(text):
            if self.of.tokenize is not None:
                return 0
            if self.of.normalize is not None and not plain:
                self.held[row] = text = self.of.normalize(text)
            if self.of.preprocess is not None and not plain and not PyUnicode_IS_ASCII(text):
                self.held[row] = text = self.of.preprocess(text)
                span.plain = True
            span.data, span.n = PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text)
            span.form = PyUnicode_KIND(text)
        elif self.of.utf8 and PyBytes_CheckExact(text) and not self.of.needs_str():
            span.data, span.n = PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text)
            span.form = TEXT_UTF8
        else:
            span.raw = True
        return 0

    cdef int take_lent(self, int64_t row) except -1:
        """Set the text of the row from the chunk."""
        cdef text_t *span = self.spans + row
        span.data = self.chunk.at(self.start + row, &span.n)
        if (span.data == NULL or self.of.reads or self.of.needs_str()
                or not (self.of.utf8 or self.chunk.is_text)):
            span.form, span.n, span.raw = BY_PYTHON, 0, True
        else:
            span.form = TEXT_UTF8
        return 0

    cdef text_of(self, int64_t row):
        """Return the text of the row as the user passed it."""
        if self.texts[row] is None and self.chunk is not None:
            self.texts[row] = self.chunk.item(self.start + row)
        return self.texts[row]

    cdef int make_room(self, int64_t more) except -1:
        """Make room for `more` output entries."""
        before, values_before = self.columns, self.values
        self.columns = self.values = None
        if before is None:
            try:
                self.columns, self.values = self.of.outputs.pop()
            except IndexError:  # another thread has taken it
                pass
        self.room = self.end + max(more, self.end)  # doubled, so that rows are copied rarely
        if (self.columns is None or len(self.columns) < self.room + TEXT_SLACK
                or (self.values is None and not self.sets)):
            self.columns = np.empty(self.room + TEXT_SLACK, np.int32)
            self.values = None if self.sets else np.empty(len(self.columns), self.of.dtype)
        if before is not None:
            self.columns[:self.end] = before[:self.end]
            if not self.sets:
                self.values[:self.end] = values_before[:self.end]
        self.out_columns = <int32_t *>array_of(self.columns, INTEGERS, 4, 1, True).data
        if not self.sets:
            self.out_values = array_of(self.values, FLOATS, ANY_SIZE, 1, True).data
        return 0

    cdef int grow(self, int64_t n_characters, int64_t n_bytes, int64_t n_items) except -1:
        """Make room for a row with up to these numbers of characters, bytes and n-grams."""
        if (self.scratch is not None and n_characters <= self.most_characters
                and n_bytes <= self.most_bytes and n_items <= self.most_row):
            return 0
        n_characters = max(n_characters, self.most_characters)
        n_bytes = max(n_bytes, self.most_bytes)
        n_items = max(n_items, self.most_row, n_characters)
        check_size(n_bytes)
        self.close()
        self.scratch = borrow_scratch()
        self.job.bytes = <uint8_t *>self.room_for(n_bytes)
        self.job.classes = <uint8_t *>self.room_for(n_bytes)
        self.job.joined = <uint8_t *>self.room_for(n_bytes)
        self.job.starts = <uint32_t *>self.room_for(4 * n_characters)
        self.job.ends = <uint32_t *>self.room_for(4 * n_characters)
        self.job.offsets = <uint32_t *>self.room_for(4 * n_characters)
        self.job.items = <uint32_t *>self.room_for(4 * n_items)
        self.job.sorted = <uint32_t *>self.room_for(
            4 * (text_table_slots(n_items) + TEXT_TABLE_MORE if self.sets else n_items))
        self.job.counts = <int32_t *>self.room_for(4 * n_items)
        self.most_characters, self.most_bytes, self.most_row = n_characters, n_bytes, n_items
        return 0

    cdef void *room_for(self, int64_t n_bytes) except NULL:
        return self.scratch.take(n_bytes + 2 * TEXT_SLACK)

    def run(self):
        cdef int64_t row = 0
        while True:
            with nogil:
                row = self.make_rows(row)
            if row == self.n:
                break
            try:
                row += self.help(row)
            except Exception as error:
                name_text(error, self.first + row)
                raise
        values = None if self.sets else self.values[:self.end]
        return self.columns[:self.end], values, self.ends[:self.n], self.n_items

    cdef int64_t make_rows(self, int64_t row) noexcept nogil:
        """Compute rows from `row` on, up to one that needs help. Return its number."""
        cdef text_t *span
        cdef int64_t n_bytes, n_items
        while row < self.n:
            span = self.spans + row
            n_items = self.of.most_items(span.n)
            self.job.flags = 0
            if (span.form == BY_PYTHON or self.end + n_items > self.room
                    or n_items > self.most_row or span.n + 3 > self.most_characters
                    or self.of.most_bytes(span.n) > self.most_bytes):
                break
            self.job.lower = self.of.lowercase and not span.plain
            self.job.pages = self.lower_pages if self.job.lower else self.plain_pages
            n_bytes = loops.prepare(&self.job, span.data, span.n, span.form)
            if self.job.flags >= TEXT_BY_PYTHON:
                break
            loops.hash_text(&self.job, n_bytes)
            self.finish_row(row)
            row += 1
        return row

    cdef void finish_row(self, int64_t row) noexcept nogil:
        """Append the row of the hashed n-grams."""
        cdef int64_t n
        if self.sets:
            n = loops.distinct(&self.job, self.out_columns + self.end)
        else:
            n = loops.count(&self.job, self.out_columns + self.end)
            self.of.put_values(self.job.counts, n,
                               self.out_values + self.end * self.of.value_size)
        self.end += n
        self.row_ends[row] = self.end
        self.n_items += self.job.n_items

    cdef int help(self, int64_t row) except -1:
        """Do the part of a row that needs Python. Return 1 if this completes the row, else 0."""
        cdef text_t *span = self.spans + row
        cdef int64_t n = span.n, rest = 0, i
        if self.job.flags & TEXT_UNMET:
            (<Characters>of_class[self.job.lower][self.job.of]).fill(self.job.unmet)
            return 0
        if self.job.flags & TEXT_BY_PYTHON and not self.job.lower:
            return self.put_tokens(row, self.of.tokens(self.text_of(row)), 1, 1)
        if self.job.flags & (TEXT_BY_PYTHON | TEXT_INVALID):
            text = self.held[row] if span.form != TEXT_UTF8 else self.text_of(row)
            if not isinstance(text, str):
                text = self.of.decode(text)
            if self.job.flags & TEXT_INVALID:
                self.take(row, text, False)
            else:
                self.take(row, text.lower(), True)
            return 0
        if span.raw:
            if self.of.reads and row:
                self.held[row - 1] = None  # hold one file at a time
            text = self.text_of(row)
            if self.of.reads or not PyUnicode_CheckExact(text):
                text = self.of.decode(text)
            if isinstance(text, np.str_):
                text = str(text)
            if not PyUnicode_CheckExact(text):
                return self.put_tokens(row, self.tokens_of(text), 1, 1)
            self.take(row, text, False)
            return 0
        if span.form == BY_PYTHON:
            return self.put_tokens(row, self.of.tokenize(self.held[row]), self.job.shortest,
                                   self.job.longest)
        for i in range(row, self.n):
            rest += self.of.most_items(self.spans[i].n)
        if self.end + rest > self.room:
            self.make_room(rest)
        self.grow(n + 3, self.of.most_bytes(n), self.of.most_items(n))
        return 0

    cdef tokens_of(self, text):
        """Return the n-grams of an object that is not a str but has its methods."""
        try:
            return self.of.tokens(text)
        except (AttributeError, TypeError):
            shown = "None" if text is None else type(text).__name__
            raise ValueError(f"a text must be a str or bytes, got {shown}") from None

    cdef int put_tokens(self, int64_t row, tokens, int64_t shortest, int64_t longest) except -1:
        """Compute the row from the n-grams of these tokens."""
        cdef int64_t n = 0, n_bytes = 0, end = 0, length, most
        encoded = []
        for token in tokens:
            if isinstance(token, str):
                token = token.encode("utf-8")
            elif not isinstance(token, bytes):
                raise TypeError("feature names must be strings")
            encoded.append(token)
            n_bytes += len(token) + 1
        n = len(encoded)
        most = n * min(longest - shortest + 1, n)
        self.grow(n, n_bytes, most)
        if self.end + most > self.room:
            self.make_room(most)
        for i, token in enumerate(encoded):
            length = PyBytes_GET_SIZE(token)
            memcpy(self.job.joined + end, PyBytes_AS_STRING(token), length)
            self.job.starts[i] = end
            end += length
            self.job.ends[i] = end
            self.job.joined[end] = 32
            end += 1
        with nogil:
            self.job.n_items = 0
            loops.hash_tokens(&self.job, self.job.joined, n, shortest, longest)
            self.finish_row(row)
        return 1


def take_block(texts, int64_t most):
    """Return a list of the iterator's next texts, with about `most` characters in total."""
    cdef int64_t total = 0
    cdef list block = []
    for text in texts:
        block.append(text)
        if PyUnicode_CheckExact(text):
            total += PyUnicode_GET_LENGTH(text) + 16
        elif PyBytes_CheckExact(text):
            total += PyBytes_GET_SIZE(text) + 16
        else:
            total += 4096
        if total >= most:
            break
    return block
