# Normal forms of texts (c/text/normalize.h), with tables that are filled on demand.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset


cdef extern from "c/text/normalize.h" nogil:
    enum:
        NORMAL_CLASS, NORMAL_LENGTH, NORMAL_OFFSET
    const uint32_t NORMAL_BLANK
    const uint64_t NORMAL_BEGINS
    const uint64_t NORMAL_ALONE
    const uint64_t NORMAL_DROPPED
    ctypedef struct normal_items:
        uint32_t *items
    ctypedef struct normal_job:
        const uint64_t *const *pages
        const uint64_t *pairs
        uint64_t mask
        int folds
        normal_items out
        int64_t n_out
        int failed
        uint64_t unmet[1]
    uint64_t normal_slot(uint64_t pair)
    void normal_text(normal_job *job, const void *text, int64_t n, int kind)
    void normal_free(normal_job *job)


cdef class Normalizer(Pages):
    """Return the normal form of a text, or the text itself if it is unchanged.

    Parameters
    ----------
    decompose : callable
        Maps a character to its decomposition and to its replacement when it is alone: two str,
        empty if the character is dropped.
    special : set
        All characters that change in either way, have a combining class, or are blanks.
    pairs : dict
        Maps two characters to their composition, except for Hangul syllables.
    combining_class, is_blank : callables of a character
    folds : bool
        Whether the mark U+0345 becomes a letter once marks have been ordered.
    """
    cdef uint64_t[::1] pairs
    cdef object decompose, special_pages, combining_class, is_blank, seconds
    cdef bint folds

    def __cinit__(self, *, decompose, special, pairs, combining_class, is_blank, bint folds):
        cdef uint64_t slot, pair
        self.decompose, self.combining_class, self.is_blank = decompose, combining_class, is_blank
        self.folds = folds
        self.seconds = {second for _, second in pairs}
        self.seconds.update(map(chr, (*range(0x1161, 0x1176), *range(0x11a8, 0x11c3))))
        self.special_pages = {ord(c) // TEXT_PAGE for c in {*special, *self.seconds}}
        n_slots = 4 << len(pairs).bit_length()
        self.pairs = np.zeros(n_slots, np.uint64)
        for (first, second), composite in pairs.items():
            pair = ord(first) << 21 | ord(second)
            slot = normal_slot(pair) & <uint64_t>(n_slots - 1)
            while self.pairs[slot]:
                slot = (slot + 1) & <uint64_t>(n_slots - 1)
            self.pairs[slot] = pair << 21 | <uint64_t>ord(composite)
        self.begin(NORMAL_BEGINS | NORMAL_ALONE)

    def __call__(self, text):
        cdef normal_job job
        if not PyUnicode_CheckExact(text):
            text = str(text)
        cdef const void *characters = PyUnicode_DATA(text)
        cdef int64_t n = PyUnicode_GET_LENGTH(text)
        cdef int kind = PyUnicode_KIND(text)
        memset(&job, 0, sizeof(normal_job))
        job.pages, job.folds = self.pages, self.folds
        job.pairs, job.mask = &self.pairs[0], len(self.pairs) - 1
        try:
            while True:
                with nogil:
                    normal_text(&job, characters, n, kind)
                if job.failed:
                    raise MemoryError
                if not self.fill(job.unmet):
                    break
            if job.n_out < 0:
                return text
            return PyUnicode_FromKindAndData(4, job.out.items, job.n_out)
        finally:
            normal_free(&job)

    def page_of(self, int page):
        entries, items = [], []
        if page not in self.special_pages:
            codes = np.arange(page * TEXT_PAGE, (page + 1) * TEXT_PAGE, dtype=np.uint64)
            return codes | np.uint64(NORMAL_BEGINS | NORMAL_ALONE)
        for code in range(page * TEXT_PAGE, (page + 1) * TEXT_PAGE):
            character = chr(code)
            parts, alone = self.decompose(character)
            if not parts:
                entries.append(NORMAL_DROPPED)
                continue
            entry = NORMAL_ALONE | self.item(alone) if len(alone) == 1 else 0
            first = self.item(parts[0])
            if first >> NORMAL_CLASS & 0xff == 0 and parts[0] not in self.seconds:
                entry |= NORMAL_BEGINS
            if parts != alone or len(parts) > 1:
                entry |= (len(parts) << NORMAL_LENGTH
                          | (TEXT_PAGE + len(items)) << NORMAL_OFFSET)
                items += map(self.item, parts)
            entries.append(entry)
        return np.array(entries + items, np.uint64)

    def item(self, character):
        return (ord(character) | self.combining_class(character) << NORMAL_CLASS
                | (NORMAL_BLANK if self.is_blank(character) else 0))
