/* Character tables: pages of entries that Python fills once a text contains their characters. */
#ifndef SPARSEMAPS_TEXT_PAGES_H
#define SPARSEMAPS_TEXT_PAGES_H

#include <stdint.h>

enum { TEXT_PAGE = 256, TEXT_PAGES = 0x110000 / TEXT_PAGE };

/* Flag of all entries of a page that has not been filled yet. Lower bits are the user's. */
#define TEXT_UNMET (UINT64_C(1) << 63)

/* Return the entry of a character. If its page must be filled, set the page's bit in `unmet`. */
static inline uint64_t text_entry(const uint64_t *const *pages, uint32_t character, uint64_t *unmet)
{
    const uint32_t page = character / TEXT_PAGE;
    const uint64_t *entries = __atomic_load_n(pages + page, __ATOMIC_ACQUIRE);
    const uint64_t entry = entries[character % TEXT_PAGE];
    if (entry & TEXT_UNMET)
        unmet[page / 64] |= UINT64_C(1) << page % 64;
    return entry;
}

/* Publish a filled page to other threads. */
static inline void publish_page(const uint64_t **pages, int page, const uint64_t *entries)
{
    __atomic_store_n(pages + page, entries, __ATOMIC_RELEASE);
}

#endif
