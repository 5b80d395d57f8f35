# Tables for texts (c/text/text.h): characters as the running Python knows them, and stop words.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

from sparsemaps._loops.levels cimport level


cdef extern from "c/text/text_pages.h" nogil:
    enum:
        TEXT_PAGE, TEXT_PAGES
    const uint64_t TEXT_UNMET
    void publish_page(const uint64_t **pages, int page, const uint64_t *entries)

cdef extern from "c/text/text.h" nogil:
    enum:
        TEXT_UTF8, TEXT_LENGTH, TEXT_CLASS, TEXT_SLACK, TEXT_TABLE_MORE
        TEXT_LETTERS, TEXT_NO_SPACES, TEXT_SCRIPTS, TEXT_SIGNS
        TEXT_OUTSIDE, TEXT_ALONE, TEXT_INSIDE
        TEXT_WORDS, TEXT_CHARACTERS, TEXT_CHARACTERS_OF_WORDS
        TEXT_NO_NORM, TEXT_L1, TEXT_L2
    const uint64_t TEXT_BY_PYTHON
    const uint64_t TEXT_INVALID
    ctypedef struct text_stop_words:
        const uint8_t *bytes
        const uint32_t *starts
        const uint32_t *ends
        uint32_t mask
    ctypedef struct text_job:
        const uint64_t *const *pages
        int lower, of, analyzer, least
        int64_t shortest, longest
        uint32_t n_features
        int column_bits, signs
        text_stop_words stop
        uint8_t *bytes
        uint8_t *classes
        uint8_t *joined
        uint32_t *starts
        uint32_t *ends
        uint32_t *offsets
        uint32_t *items
        uint32_t *sorted
        int32_t *counts
        int64_t n_items
        uint64_t flags
        uint64_t unmet[1]
    ctypedef struct text_loops:
        int64_t (*prepare)(text_job *job, const void *text, int64_t n, int kind) noexcept nogil
        void (*hash_text)(text_job *job, int64_t n_bytes) noexcept nogil
        void (*hash_tokens)(text_job *job, const uint8_t *bytes, int64_t n, int64_t shortest,
                            int64_t longest) noexcept nogil
        int64_t (*count)(text_job *job, int32_t *columns) noexcept nogil
        int64_t (*distinct)(text_job *job, int32_t *columns) noexcept nogil
        void (*values[2])(const int32_t *counts, int64_t n, int binary, int norm,
                          void *values) noexcept nogil
        void (*hash_ranges)(const uint8_t *bytes, const uint32_t *starts, const uint32_t *ends,
                            int64_t n, uint32_t *hashes) noexcept nogil
    int64_t text_table_slots(int64_t n)
    const text_loops *text_at(int)

cdef const text_loops *loops = text_at(level)

# Blocks of characters that are written without spaces between words. Blocks do not change between
# versions of Unicode.
WITHOUT_BLANKS = (
    (0x0e00, 0x0eff),    # Thai, Lao
    (0x1000, 0x109f),    # Burmese
    (0x1780, 0x17ff),    # Khmer
    (0x19e0, 0x19ff),
    (0x2e80, 0x2fff),    # Chinese radicals
    (0x3001, 0x312f),    # Chinese and Japanese punctuation, Japanese, Bopomofo
    (0x3190, 0x9fff),    # Chinese
    (0xa9e0, 0xa9ff),    # Burmese
    (0xaa60, 0xaa7f),
    (0xf900, 0xfaff),    # Chinese
    (0xfe30, 0xfe4f),
    (0xff01, 0xff0f),    # full-width punctuation, half-width Japanese
    (0xff1a, 0xff20),
    (0xff3b, 0xff40),
    (0xff5b, 0xff9f),
    (0x1aff0, 0x1b16f),  # Japanese
    (0x1f200, 0x1f2ff),
    (0x20000, 0x3ffff),  # Chinese
)


cdef class Pages:
    """What each character becomes, in pages that are filled once texts contain their characters.

    A subclass defines `page_of`, the entries of a page.
    """
    cdef const uint64_t *pages[TEXT_PAGES]
    cdef list filled  # owners of the pages

    cdef int begin(self, uint64_t entry) except -1:
        """Give all characters this entry until their pages are filled."""
        cdef int page
        cdef const uint64_t[::1] unmet = np.full(TEXT_PAGE, entry | TEXT_UNMET, np.uint64)
        self.filled = [unmet]
        for page in range(TEXT_PAGES):
            publish_page(self.pages, page, &unmet[0])
        return 0

    cdef int publish(self, int page, const uint64_t[::1] entries) except -1:
        self.filled.append(entries)
        publish_page(self.pages, page, &entries[0])
        return 0

    cdef bint fill(self, uint64_t *unmet) except? True:
        """Fill the pages whose bits are set, and clear the bits. Return whether there were any."""
        cdef int word, bit
        cdef bint any_unmet = False
        for word in range(TEXT_PAGES // 64):
            if unmet[word]:
                any_unmet = True
                for bit in range(64):
                    if unmet[word] >> bit & 1:
                        self.publish(64 * word + bit, self.page_of(64 * word + bit))
                unmet[word] = 0
        return any_unmet


cdef class Characters(Pages):
    """Characters as the running Python knows them, and their classes.

    Characters outside tokens need not be exact, so surrogates between words are harmless.
    """
    cdef readonly bint lower
    cdef int of

    def __cinit__(self, bint lower, int of):
        self.lower, self.of = lower, of
        self.begin(<uint64_t>1 << TEXT_LENGTH)

    def page_of(self, int page):
        first = page * TEXT_PAGE
        return np.array([self.entry(chr(c)) for c in range(first, first + TEXT_PAGE)], np.uint64)

    def entry(self, character):
        becomes = character.lower() if self.lower else character
        if self.lower and (len(becomes) != 1 or f"a{character}".lower() != f"a{becomes}"):
            return TEXT_BY_PYTHON | <uint64_t>1 << TEXT_LENGTH
        is_word = becomes.isalnum() or becomes == "_"
        in_class = is_word if self.of == TEXT_LETTERS else not becomes.isspace()
        if "\ud800" <= becomes <= "\udfff":  # a surrogate, which has no UTF-8
            return <uint64_t>1 << TEXT_LENGTH | (TEXT_BY_PYTHON if in_class else 0)
        utf8 = becomes.encode()
        char_class = TEXT_INSIDE if in_class else TEXT_OUTSIDE
        is_alone = self.of == TEXT_SCRIPTS and self.is_alone(becomes)
        if is_alone or self.of == TEXT_SIGNS and in_class and not is_word:
            char_class = TEXT_ALONE
        return (int.from_bytes(utf8, "little") | len(utf8) << TEXT_LENGTH
                | char_class << TEXT_CLASS)

    def is_alone(self, character):
        return any(first <= ord(character) <= last for first, last in WITHOUT_BLANKS)


cdef class StopWords:
    cdef text_stop_words table
    cdef object kept

    def __cinit__(self, words):
        cdef const uint8_t[::1] text
        cdef const uint32_t[::1] starts, ends
        cdef uint32_t[::1] hashes, slot_starts, slot_ends
        cdef uint32_t slot, mask
        encoded = sorted({word.encode("utf-8", "surrogatepass") for word in words
                          if isinstance(word, str) and word})
        self.table.mask = 0
        if not encoded:
            return
        lengths = np.array([len(word) for word in encoded])
        text = np.frombuffer(b"".join(encoded) + bytes(TEXT_SLACK), np.uint8)
        slack = np.zeros(TEXT_SLACK)
        ends_of = np.cumsum(lengths)
        starts = np.concatenate([ends_of - lengths, slack]).astype(np.uint32)
        ends = np.concatenate([ends_of, slack]).astype(np.uint32)
        hashes = np.zeros(len(starts), np.uint32)
        loops.hash_ranges(&text[0], &starts[0], &ends[0], len(encoded), &hashes[0])
        n_slots = 2 << len(encoded).bit_length()
        slot_starts = np.zeros(n_slots, np.uint32)
        slot_ends = np.zeros(n_slots, np.uint32)
        mask = n_slots - 1
        for i in range(len(encoded)):
            slot = hashes[i] & mask
            while slot_ends[slot]:
                slot = (slot + 1) & mask
            slot_starts[slot], slot_ends[slot] = starts[i], ends[i]
        self.kept = text, slot_starts, slot_ends
        self.table = text_stop_words(&text[0], &slot_starts[0], &slot_ends[0], mask)
