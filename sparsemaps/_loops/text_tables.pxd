# Loops for texts (c/text.h), and the tables that they look things up in.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "c/text/text.h" nogil:
    enum:
        TEXT_UTF8, TEXT_LENGTH, TEXT_CLASS, TEXT_PAGE, TEXT_PAGES, TEXT_SLACK
        TEXT_LETTERS, TEXT_NO_SPACES, TEXT_SCRIPTS, TEXT_OUTSIDE, TEXT_ALONE, TEXT_INSIDE
        TEXT_WORDS, TEXT_CHARACTERS, TEXT_CHARACTERS_OF_WORDS
        TEXT_NO_NORM, TEXT_L1, TEXT_L2
    const uint64_t TEXT_BY_PYTHON
    const uint64_t TEXT_UNMET
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
        int64_t n_tokens, n_items
        uint64_t flags
        uint64_t unmet[1]
    ctypedef struct text_loops:
        int64_t (*prepare)(text_job *job, const void *text, int64_t n, int kind) noexcept nogil
        void (*hash_text)(text_job *job, int64_t n_bytes) noexcept nogil
        void (*hash_tokens)(text_job *job, int64_t shortest, int64_t longest) noexcept nogil
        int64_t (*count)(text_job *job, int32_t *columns) noexcept nogil
        void (*values[2])(const int32_t *counts, int64_t n, int binary, int norm,
                          void *values) noexcept nogil
        void (*hash_ranges)(const uint8_t *bytes, const uint32_t *starts, const uint32_t *ends,
                            int64_t n, uint32_t *hashes) noexcept nogil
    const text_loops *text_at(int level)

cdef const text_loops *loops


# What each character becomes, as the running Python has it, by pages that are filled when they are
# met.
cdef class Characters:
    cdef const uint64_t *pages[TEXT_PAGES]
    cdef readonly bint lower
    cdef int of
    cdef object filled, lock
    cdef int publish(self, int page, const uint64_t[::1] entries) except -1
    # Fill the pages that the job has met.
    cdef int fill(self, text_job *job) except -1


# Words that are no tokens.
cdef class StopWords:
    cdef text_stop_words table
    cdef object kept
