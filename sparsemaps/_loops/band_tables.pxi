# Hash tables of the bands of rows of packed codes. The tables grow with the rows.
#
# Input: packed codes (codes.pyx), with `n_codes` codes of `bits` bits per row; which rows count.
# Band b has `band_bits` bits, from bit b * band_bits on. If `whole_bits` > 0, the last band is
# instead the first `whole_bits` bits, which cover all codes of a row.
# Output: per band, the last row in each slot (`heads`, bands by slots; the number of slots is a
# power of two); per row, the preceding row in its slot (`links`, rows by bands). Slots come from a
# keyed hash, so that nobody can construct rows that share slots without sharing bands.
# Cost: O(bands) to insert a row. A query visits the rows in its slots and compares codes with rows
# that have an equal band, at most `max_bucket` per band.
# Reference: Indyk & Motwani, "Approximate nearest neighbors", STOC 1998.
#
# One thread may insert while others search: a row's links are written before it becomes a head, and
# a search skips rows from its `n_rows` on. The rows in a slot are in descending order. Every step
# checks this, so that even with tables from a damaged file a search terminates and stays within
# bounds.
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._loops.arrays cimport WORDS, array_of, array_t
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch


cdef extern from * nogil:
    """
    static inline uint32_t head_at(const uint32_t *head)
    {
        return __atomic_load_n(head, __ATOMIC_ACQUIRE);
    }
    static inline void set_head(uint32_t *head, uint32_t row)
    {
        __atomic_store_n(head, row, __ATOMIC_RELEASE);
    }
    """
    uint32_t head_at(const uint32_t *head)
    void set_head(uint32_t *head, uint32_t row)

cdef enum:
    BLOCK = 64  # rows hashed before their slots are read

cdef uint32_t NO_ROW = 0xffffffffU
NONE = NO_ROW


cdef struct table_t:
    uint32_t *heads
    uint32_t *links
    uint8_t *codes
    uint8_t *sampled
    Py_ssize_t n_rows     # rows visible to a search
    Py_ssize_t capacity   # rows allocated in `links`
    Py_ssize_t n_bytes    # per row of codes
    Py_ssize_t n_bands
    Py_ssize_t band_bits
    Py_ssize_t whole_bits  # bits of the last band if it covers the whole row, else 0
    Py_ssize_t n_slots
    Py_ssize_t max_bucket
    int shift             # right shift that turns a hash into a slot number
    uint64_t hash_key


cdef table_t table_of(rows, bint is_grown, bint is_linked=True) except *:
    """Return the arrays of `rows` (neighbors/_tables.TableRows). Codes are writable if `is_grown`,
    links if `is_linked`."""
    cdef array_t heads = array_of(rows.heads, WORDS, sizeof(uint32_t), 2, is_linked)
    cdef array_t links = array_of(rows.links, WORDS, sizeof(uint32_t), 2, is_linked)
    cdef array_t codes = array_of(rows.array, WORDS, sizeof(uint8_t), 2, is_grown)
    cdef array_t sampled = array_of(rows.sampled, WORDS, sizeof(uint8_t), 1, is_grown)
    cdef Py_ssize_t slots = heads.shape[1]
    cdef table_t table
    table.heads, table.links = <uint32_t *>heads.data, <uint32_t *>links.data
    table.codes, table.sampled = <uint8_t *>codes.data, <uint8_t *>sampled.data
    table.n_rows, table.capacity, table.n_bytes = rows.n_rows, links.shape[0], codes.shape[1]
    table.n_bands, table.n_slots, table.max_bucket = heads.shape[0], slots, rows.max_bucket
    table.band_bits, table.whole_bits = rows.band_bits, rows.whole_bits
    table.hash_key = rows.hash_key
    table.shift = 64
    while slots > 1:
        slots >>= 1
        table.shift -= 1
    return table


cdef inline bint is_whole(const table_t *table, Py_ssize_t band) noexcept nogil:
    return table.whole_bits > 0 and band == table.n_bands - 1


cdef inline bint same_band(const table_t *table, const uint8_t *a, const uint8_t *b,
                           Py_ssize_t band) noexcept nogil:
    if is_whole(table, band):
        return same_bits(a, b, 0, table.whole_bits)
    return same_bits(a, b, band * table.band_bits, table.band_bits)


cdef inline Py_ssize_t slot_of(const table_t *table, const uint8_t *row,
                               Py_ssize_t band) noexcept nogil:
    cdef uint64_t hashed, hash_key = table.hash_key ^ <uint64_t>band
    if is_whole(table, band):
        hashed = hash_bits(row, 0, table.whole_bits, hash_key)
    else:
        hashed = hash_bits(row, band * table.band_bits, table.band_bits, hash_key)
    return band * table.n_slots + <Py_ssize_t>(hashed >> table.shift)


cdef inline void link_row(const table_t *table, Py_ssize_t row, Py_ssize_t band,
                          Py_ssize_t slot) noexcept nogil:
    table.links[row * table.n_bands + band] = table.heads[slot]
    set_head(&table.heads[slot], <uint32_t>row)


cdef inline void put_row(table_t *table, const uint8_t *codes, bint sampled) noexcept nogil:
    """Append a row that is not yet in any slot."""
    memcpy(table.codes + table.n_rows * table.n_bytes, codes, table.n_bytes)
    table.sampled[table.n_rows] = sampled
    table.n_rows += 1


def insert(rows, Py_ssize_t first, Py_ssize_t last):
    """Insert the rows from `first` to `last` that count. Other rows get no slot."""
    cdef table_t table = table_of(rows, False)
    cdef Py_ssize_t start = first, stop, row, band
    cdef Py_ssize_t slots[BLOCK]
    with nogil:
        while start < last:
            stop = min(start + BLOCK, last)
            for band in range(table.n_bands):
                for row in range(start, stop):
                    slots[row - start] = slot_of(&table, table.codes + row * table.n_bytes, band)
                    prefetch_row(<const uint8_t *>&table.heads[slots[row - start]], 1)
                for row in range(start, stop):
                    if table.sampled[row]:
                        link_row(&table, row, band, slots[row - start])
                    else:
                        table.links[row * table.n_bands + band] = NO_ROW
            start = stop


# A search for rows that share a bucket with a query, band by band.
cdef struct search_t:
    const table_t *table
    const uint8_t *query
    Py_ssize_t *slots          # the query's slot in each band
    Py_ssize_t band
    uint32_t row               # the next one to visit
    Py_ssize_t n_same          # rows of this band's bucket that were compared
    Py_ssize_t n_left          # rows that may still be visited
    uint32_t max_differing
    uint32_t differing         # differing codes of the row that `next_row` returned last
    compared_t pair


cdef int open_search(search_t *search, Scratch scratch, const table_t *table, Py_ssize_t n_codes,
                     int bits, uint32_t max_differing) except -1:
    memset(search, 0, sizeof(search_t))
    search.table = table
    search.max_differing = max_differing
    search.slots = <Py_ssize_t *>scratch.take(table.n_bands * sizeof(Py_ssize_t))
    open_pair(&search.pair, scratch, n_codes, bits)
    return 0


cdef inline uint32_t first_row(search_t *search) noexcept nogil:
    """Return the head of the query's slot in this band."""
    cdef uint32_t row = head_at(&search.table.heads[search.slots[search.band]])
    return row if row < search.table.capacity else NO_ROW


cdef void begin(search_t *search, const uint8_t *query) noexcept nogil:
    cdef const table_t *table = search.table
    cdef Py_ssize_t band
    cdef uint32_t row
    search.query = query
    for band in range(table.n_bands):
        search.slots[band] = slot_of(table, query, band)
        prefetch_row(<const uint8_t *>&table.heads[search.slots[band]], 1)
    for band in range(table.n_bands):
        row = head_at(&table.heads[search.slots[band]])
        if row < table.n_rows:
            prefetch_row(table.codes + row * table.n_bytes, table.n_bytes)
            prefetch_row(<const uint8_t *>&table.links[row * table.n_bands + band], 1)
    widen_row(query, search.pair.n_codes, search.pair.bits, 1, search.pair.a)
    search.band = 0
    search.n_same = 0
    search.row = first_row(search)


cdef uint32_t next_row(search_t *search) noexcept nogil:
    """Return the next row in which few enough codes differ. Return NO_ROW at the end, with `band`
    equal to the number of bands, or if no more rows may be visited."""
    cdef const table_t *table = search.table
    cdef uint32_t row, before
    cdef const uint8_t *codes
    while True:
        while search.row == NO_ROW or search.n_same >= table.max_bucket:
            search.band += 1
            search.n_same = 0
            if search.band >= table.n_bands:
                return NO_ROW
            search.row = first_row(search)
        if search.n_left <= 0:
            return NO_ROW
        search.n_left -= 1
        row = search.row
        before = table.links[row * table.n_bands + search.band]
        search.row = before if before < row else NO_ROW
        codes = table.codes + row * table.n_bytes
        if (row < table.n_rows and table.sampled[row]
                and same_band(table, codes, search.query, search.band)):
            search.n_same += 1
            search.differing = differing_codes(&search.pair, codes)
            if search.differing <= search.max_differing:
                return row


def find(const uint8_t[:, ::1] queries, const uint8_t[::1] wanted, rows, int bits,
         Py_ssize_t n_codes, uint32_t max_differing, Py_ssize_t max_visited, bint any_row,
         int64_t[::1] state, uint32_t[:, ::1] pairs):
    """Write pairs of a wanted query and a row that share a bucket and differ in at most
    `max_differing` codes to `pairs`: query, row, and number of differing codes. Return the number
    of pairs. With `any_row`, each query has at most one pair. A pair that shares several buckets is
    written several times.

    A call ends when `pairs` is full or `max_visited` rows were visited. The next call resumes at
    `state`: (query, band, row, number of rows of the bucket that were compared). The search is
    complete when state[0] = len(queries).
    """
    cdef table_t table = table_of(rows, False, False)
    cdef Py_ssize_t q = state[0], n = 0
    cdef uint32_t row
    cdef search_t search
    cdef Scratch scratch
    if table.n_bands == 0 or table.capacity == 0:
        state[0] = queries.shape[0]
        return 0
    scratch = borrow_scratch()
    open_search(&search, scratch, &table, n_codes, bits, max_differing)
    search.n_left = max_visited
    with nogil:
        while q < queries.shape[0]:
            if wanted[q]:
                begin(&search, &queries[q, 0])
                if state[1] >= 0:
                    search.band = state[1]
                    search.row = <uint32_t>min(<uint64_t>state[2], <uint64_t>NO_ROW)
                    search.n_same = state[3]
                    state[1] = -1
                while n < pairs.shape[1]:
                    row = next_row(&search)
                    if row == NO_ROW:
                        break
                    pairs[0, n] = <uint32_t>q
                    pairs[1, n] = row
                    pairs[2, n] = search.differing
                    n += 1
                    if any_row:
                        search.band = table.n_bands
                        break
                if search.band < table.n_bands:
                    state[1] = search.band
                    state[2] = search.row
                    state[3] = search.n_same
                    break
            q += 1
    give_back_scratch(scratch)
    state[0] = q
    return n


def insert_new(const uint8_t[:, ::1] queries, const uint8_t[::1] wanted, rows, int bits,
               Py_ssize_t n_codes, uint32_t max_differing, const uint8_t[::1] known,
               uint8_t[::1] new):
    """Append and insert, in place, each query that is not `known` and shares no bucket with a row
    that differs in at most `max_differing` codes. Write to `new` which queries were appended. A
    query that is neither `known` nor `wanted` is new, and gets no slot."""
    cdef table_t table = table_of(rows, True)
    cdef Py_ssize_t q, band
    cdef search_t search
    cdef Scratch scratch = borrow_scratch()
    open_search(&search, scratch, &table, n_codes, bits, max_differing)
    with nogil:
        for q in range(queries.shape[0]):
            new[q] = not known[q]
            if new[q]:
                if wanted[q]:
                    begin(&search, &queries[q, 0])
                    search.n_left = table.n_rows * table.n_bands
                    new[q] = next_row(&search) == NO_ROW
                if new[q]:
                    put_row(&table, &queries[q, 0], wanted[q])
                    for band in range(table.n_bands):
                        if wanted[q]:
                            link_row(&table, table.n_rows - 1, band, search.slots[band])
                        else:
                            table.links[(table.n_rows - 1) * table.n_bands + band] = NO_ROW
    give_back_scratch(scratch)


# ---- rows of which each is near no row before it (rule "kept") -----------------------------------


cdef inline bint is_linked(const table_t *table, Py_ssize_t row, Py_ssize_t band) noexcept nogil:
    """Return whether a row is in a slot. A row that found its bucket full is its own link."""
    return table.links[row * table.n_bands + band] != <uint32_t>row


cdef Py_ssize_t count_in_bucket(const table_t *table, const uint8_t *codes, Py_ssize_t band,
                                Py_ssize_t most) noexcept nogil:
    """Count the rows in a bucket, up to `most`."""
    cdef uint32_t before, row = head_at(&table.heads[slot_of(table, codes, band)])
    cdef Py_ssize_t n = 0
    while row < table.n_rows and n < most:
        n += same_band(table, table.codes + row * table.n_bytes, codes, band)
        before = table.links[row * table.n_bands + band]
        row = before if before < row else NO_ROW
    return n


cdef inline bint share_bucket(const table_t *table, Py_ssize_t row,
                              const uint8_t *codes) noexcept nogil:
    cdef Py_ssize_t band
    for band in range(table.n_bands):
        if is_linked(table, row, band) and same_band(table, table.codes + row * table.n_bytes,
                                                     codes, band):
            return True
    return table.n_bands == 0  # without tables, all rows are compared


def count_buckets(const uint8_t[:, ::1] queries, rows, uint16_t[:, ::1] counts):
    """Add the number of rows in each bucket of each query to `counts`, up to `max_bucket`."""
    cdef table_t table = table_of(rows, False, False)
    cdef Py_ssize_t q, band
    with nogil:
        for q in range(queries.shape[0]):
            for band in range(table.n_bands):
                counts[q, band] += <uint16_t>count_in_bucket(&table, &queries[q, 0], band,
                                                             table.max_bucket - counts[q, band])


def settle(const uint8_t[:, ::1] queries, const uint8_t[::1] is_open, rows,
           const uint32_t[:, ::1] pairs, const uint16_t[:, ::1] counts, int64_t[::1] places,
           int64_t[::1] witnesses):
    """Decide which open queries are kept, one after the other, and insert the kept ones.

    `pairs` are pairs of near queries, the earlier one first, sorted by (later, earlier). A query is
    removed if a kept query of such a pair shares a bucket with it; the first such query is its
    witness. A kept query is inserted into those of its buckets that have fewer than `max_bucket`
    rows, including the rows in `counts` (empty, or one row per query). `places` receives the row
    numbers of kept queries. Return how many queries were decided: all, or those until the tables
    were full.
    """
    cdef table_t table = table_of(rows, True)
    cdef Py_ssize_t q, band, pair = 0, room, capacity = len(rows.array)
    cdef bint has_counts = counts.shape[0] > 0
    cdef const uint8_t *row
    with nogil:
        for q in range(queries.shape[0]):
            row = &queries[q, 0]
            places[q] = witnesses[q] = -1
            while pair < pairs.shape[1] and pairs[1, pair] == <uint32_t>q:
                if (witnesses[q] < 0 and places[pairs[0, pair]] >= 0
                        and share_bucket(&table, places[pairs[0, pair]], row)):
                    witnesses[q] = pairs[0, pair]
                pair += 1
            if not is_open[q] or witnesses[q] >= 0:
                continue
            if table.n_rows == capacity:
                with gil:
                    return q
            places[q] = table.n_rows
            put_row(&table, row, True)
            for band in range(table.n_bands):
                room = table.max_bucket - (counts[q, band] if has_counts else 0)
                if count_in_bucket(&table, row, band, room) < room:
                    link_row(&table, places[q], band, slot_of(&table, row, band))
                else:
                    table.links[places[q] * table.n_bands + band] = <uint32_t>places[q]
    return queries.shape[0]
