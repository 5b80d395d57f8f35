# Search in packed codes: nearest rows, rows within a distance, and pairs found by hashing.
#
# Input: packed codes (codes.pyx), with `n_codes` codes of `bits` bits per row; which rows have
# samples.
# Output: keys of 64 bits. Rows without samples never occur in them.
# Cost: O(words) per pair to compare all pairs, less if a comparison can stop early; with hashing,
# O(rows) per band and O(words) per pair that shares a bucket.
# Reference: Indyk & Motwani, "Approximate nearest neighbors", STOC 1998; Leskovec, Rajaraman &
# Ullman, "Mining of massive datasets", 3.4 (banding); Tarjan & van Leeuwen, "Worst-case analysis of
# set union algorithms", JACM 1984 (components).
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch
from sparsemaps._loops.sort cimport pair_t, sort_pairs


# The key of a near row has the number of differing codes above the row number, so that keys sort in
# the order of the result.
cdef enum:
    KEY_ROW_BITS = 39

ROW_BITS = KEY_ROW_BITS

cdef enum:
    AHEAD = 16  # rows to prefetch ahead
    PAGE = 4096  # bytes: smallest unit of a disk read
    NEW = -2  # value of q for a row that was not compared yet
    NEAR_PAGES = 16  # reading up to this many unneeded pages is faster than skipping them


cdef inline void replace_largest(uint64_t *heap, Py_ssize_t n, uint64_t key) noexcept nogil:
    """Replace the root of a max-heap by `key`."""
    cdef Py_ssize_t at = 0, child = 1
    while child < n:
        if child + 1 < n and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= key:
            break
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = key


def top_k(const uint8_t[:, ::1] queries, const uint8_t[:, ::1] codes, int bits, Py_ssize_t n_codes,
          const uint8_t[::1] sampled, int64_t first_row, uint64_t[:, ::1] keys):
    """Merge each query's nearest rows into `keys`, one max-heap per query. Row numbers start at
    `first_row`.

    Keys already in `keys` compete. Rows come in ascending order, so that on ties the first rows
    stay.
    """
    cdef Py_ssize_t k = keys.shape[1], q, i, n_found
    cdef const uint32_t *counts
    cdef uint32_t row
    cdef uint64_t *heap
    cdef uint64_t key
    cdef tiles_t tiles
    cdef Scratch scratch = borrow_scratch()
    open_tiles(&tiles, scratch, queries, codes, n_codes, bits)
    with nogil:
        while next_tile(&tiles):
            for q in range(tiles.n_queries):
                tiles.limits[q] = <uint32_t>(keys[tiles.query + q, 0] >> KEY_ROW_BITS)
            count_tile(&tiles)
            for q in range(tiles.n_queries):
                counts = counts_of(&tiles, q)
                n_found = loops.select(counts, tiles.n_rows, tiles.limits[q], tiles.selected)
                heap = &keys[tiles.query + q, 0]
                for i in range(n_found):
                    row = tiles.selected[i]
                    key = (<uint64_t>counts[row] << KEY_ROW_BITS
                           | <uint64_t>(first_row + tiles.row + row))
                    if key < heap[0] and sampled[tiles.row + row]:
                        replace_largest(heap, k, key)
    give_back_scratch(scratch)


def within(const uint8_t[:, ::1] queries, const uint8_t[:, ::1] codes, int bits,
           Py_ssize_t n_codes, const uint8_t[::1] sampled, uint32_t max_differing,
           uint32_t[::1] rows, uint32_t[::1] others, uint32_t[::1] differing):
    """Write the pairs of a query and a row that differ in at most `max_differing` codes to the last
    three arrays. Return their number.

    The three outputs must have room for all pairs.
    """
    cdef Py_ssize_t q, i, n_found, n = 0
    cdef const uint32_t *counts
    cdef uint32_t row
    cdef tiles_t tiles
    cdef Scratch scratch = borrow_scratch()
    open_tiles(&tiles, scratch, queries, codes, n_codes, bits)
    with nogil:
        while next_tile(&tiles):
            for q in range(tiles.n_queries):
                tiles.limits[q] = max_differing
            count_tile(&tiles)
            for q in range(tiles.n_queries):
                counts = counts_of(&tiles, q)
                n_found = loops.select(counts, tiles.n_rows, max_differing + 1,
                                       tiles.selected)
                for i in range(n_found):
                    row = tiles.selected[i]
                    if sampled[tiles.row + row]:
                        rows[n] = <uint32_t>(tiles.query + q)
                        others[n] = <uint32_t>(tiles.row + row)
                        differing[n] = counts[row]
                        n += 1
    give_back_scratch(scratch)
    return n


# ---- hashing -------------------------------------------------------------------------------------


cdef inline Py_ssize_t row_of(uint64_t key) noexcept nogil:
    return <Py_ssize_t>(key & <uint64_t>0xffffffffU)


def band_keys(const uint8_t[:, ::1] codes, const uint8_t[::1] sampled, Py_ssize_t bit,
              Py_ssize_t n_bits, uint64_t hash_key, uint64_t first_row, int row_bits, uint32_t part,
              uint32_t n_parts, uint64_t[::1] keys):
    """Write a key for each row with samples to `keys`: a hash of some of its bits above the row
    number, which takes `row_bits` bits. Return the number of keys. Only rows are used for which the
    upper 32 bits of the full hash lie in part `part` of `n_parts`. Rows of one bucket are therefore
    in the same part, and the more parts there are, the fewer rows share a key by chance."""
    cdef Py_ssize_t row, n = 0
    cdef uint64_t hashed
    with nogil:
        for row in range(codes.shape[0]):
            if sampled[row]:
                hashed = hash_bits(&codes[row, 0], bit, n_bits, hash_key)
                if (hashed >> 32) * n_parts >> 32 == part:
                    keys[n] = hashed << row_bits | (first_row + row)
                    n += 1
    return n


def drop_unshared(uint64_t[::1] keys, int row_bits, int64_t first_other):
    """Move the keys of rows that share their hash with another row (a bucket) to the front of
    `keys`, in place. Return their number. With two sets, rows from `first_other` on belong to the
    second, and a bucket needs rows of both; `first_other` is 0 for a single set. Each remaining key
    has the number of its bucket above the 32-bit row number.

    `keys` must be sorted output of `band_keys`.
    """
    cdef Py_ssize_t start = 0, stop, p, n_keys = keys.shape[0], n = 0
    cdef uint64_t number = 0, hashed, rows = (<uint64_t>1 << row_bits) - 1
    cdef bint shared
    with nogil:
        while start < n_keys:
            hashed = keys[start] >> row_bits
            stop = start + 1
            while stop < n_keys and keys[stop] >> row_bits == hashed:
                stop += 1
            shared = stop - start > 1
            if first_other > 0:
                shared = (<int64_t>(keys[start] & rows) < first_other
                          and <int64_t>(keys[stop - 1] & rows) >= first_other)
            if shared:
                for p in range(start, stop):
                    keys[n] = number << 32 | (keys[p] & rows)
                    n += 1
                number += 1
            start = stop
    return n


cdef inline const uint8_t *codes_of(const uint8_t[:, ::1] codes, const uint8_t[:, ::1] others,
                                    Py_ssize_t row) noexcept nogil:
    """Return the codes of a row. Rows from len(codes) on are in `others`."""
    if row < codes.shape[0]:
        return &codes[row, 0]
    return &others[row - codes.shape[0], 0]


cdef inline uint64_t hash_row(const uint8_t[:, ::1] codes, const uint8_t[:, ::1] others,
                              uint64_t key, Py_ssize_t bit, Py_ssize_t n_bits,
                              uint64_t hash_key) noexcept nogil:
    return hash_bits(codes_of(codes, others, row_of(key)), bit, n_bits, hash_key)


def number_buckets(uint64_t[::1] keys, const uint8_t[:, ::1] codes, const uint8_t[:, ::1] others,
                   Py_ssize_t bit, Py_ssize_t n_bits, uint64_t hash_key, Py_ssize_t max_bucket,
                   Py_ssize_t max_rows, int64_t[::1] state):
    """If a bucket has more than `max_bucket` rows, renumber the buckets so that all rows of a large
    bucket have the same bits.

    `keys` must come from `drop_unshared`. Rows with equal hashes are told apart by a second 64-bit
    hash with another key. Rows of a bucket stay in ascending order. A call ends after `max_rows`
    rows or slightly more; the next call resumes at `state`: (place, bucket). All keys are numbered
    when state[0] = len(keys).
    """
    cdef Py_ssize_t start = state[0], stop, n_keys = keys.shape[0], p, n_read = 0
    cdef uint64_t number = state[1], first
    cdef bint same
    with nogil:
        if start == 0:
            p = max_bucket
            while p < n_keys and keys[p] >> 32 != keys[p - max_bucket] >> 32:
                p += 1
            if p >= n_keys:
                start = n_keys
        while start < n_keys and n_read < max_rows:
            stop = start + 1
            while stop < n_keys and keys[stop] >> 32 == keys[start] >> 32:
                stop += 1
            same = True
            if stop - start > max_bucket:
                n_read += stop - start
                first = hash_row(codes, others, keys[start], bit, n_bits, hash_key)
                for p in range(start + 1, stop):
                    if hash_row(codes, others, keys[p], bit, n_bits, hash_key) != first:
                        same = False
                        break
            if not same:
                with gil:
                    number = separate(keys[start:stop], codes, others, bit, n_bits, hash_key,
                                      number)
            else:
                for p in range(start, stop):
                    keys[p] = number << 32 | <uint64_t>row_of(keys[p])
                number += 1
            start = stop
    state[0] = start
    state[1] = number


cdef uint64_t separate(uint64_t[::1] keys, const uint8_t[:, ::1] codes,
                       const uint8_t[:, ::1] others, Py_ssize_t bit, Py_ssize_t n_bits,
                       uint64_t hash_key, uint64_t number) except? 0:
    """Sort `keys` in place by the second hash, and number the buckets from `number` on. Return the
    next free number."""
    cdef Py_ssize_t n = keys.shape[0], p
    cdef Scratch scratch = borrow_scratch()
    cdef pair_t *items = <pair_t *>scratch.take(2 * n * sizeof(pair_t))
    cdef pair_t *ordered
    with nogil:
        for p in range(n):
            items[p].key = hash_row(codes, others, keys[p], bit, n_bits, hash_key)
            items[p].payload = <uint64_t>row_of(keys[p])
        ordered = sort_pairs(items, items + n, n, 64)
        for p in range(n):
            if p and ordered[p].key != ordered[p - 1].key:
                number += 1
            keys[p] = number << 32 | ordered[p].payload
    give_back_scratch(scratch)
    return number + 1


def copy_rows(const uint64_t[::1] order, const uint8_t[:, ::1] codes,
              const uint8_t[:, ::1] others, uint8_t[:, ::1] out):
    """Copy the codes of rows. Each word of `order` has the row above its 32-bit position in `out`.

    `order` must be sorted, so that codes on a disk are read sequentially.
    """
    cdef Py_ssize_t i, before, row, n = order.shape[0], n_bytes = codes.shape[1]
    cdef Py_ssize_t rows_a_page = max(1, PAGE // n_bytes)
    with nogil:
        before = row_of(order[0] >> 32) if n else 0
        for i in range(n):
            if i + AHEAD < n:
                prefetch_row(codes_of(codes, others, order[i + AHEAD] >> 32), n_bytes)
            row = row_of(order[i] >> 32)
            if row - before <= NEAR_PAGES * rows_a_page:
                while before + rows_a_page < row:
                    before += rows_a_page
                    read_page(codes_of(codes, others, before))
            before = row
            memcpy(&out[row_of(order[i]), 0], codes_of(codes, others, row), n_bytes)


cdef class Buckets:
    """Buckets whose rows are compared: the keys of `number_buckets`, or a part of them.

    Two rows of a bucket are near if their `n_bits` bits from `bit` on agree and at most
    `max_differing` codes differ. If the rows were copied (`copy_rows`), `codes` are the codes of
    the keys, in their order, and `others` is empty.

    The first `n_before` rows are compared with others, but not with one another. A call ends when
    `max_compared` pairs were compared or there is no room for more pairs. The next call resumes
    there, until all is `done`.
    """
    cdef const uint64_t[::1] keys
    cdef const uint8_t[:, ::1] codes, others
    cdef bint copied
    cdef Py_ssize_t n_keys, bit, n_bits, max_compared
    cdef Py_ssize_t bucket, p, q, end  # where the next call resumes
    cdef readonly bint done
    cdef readonly Py_ssize_t n_compared  # in this call
    cdef Py_ssize_t place       # the row whose words are in `pair.a`, -1 for none
    cdef uint32_t max_differing
    cdef compared_t pair
    cdef Scratch memory

    def __cinit__(self, const uint64_t[::1] keys, bint copied, const uint8_t[:, ::1] codes,
                  const uint8_t[:, ::1] others, int bits, Py_ssize_t n_codes, Py_ssize_t bit,
                  Py_ssize_t n_bits, uint32_t max_differing, Py_ssize_t max_compared,
                  Py_ssize_t n_before=0):
        self.keys, self.codes, self.others, self.copied = keys, codes, others, copied
        self.n_keys, self.bit, self.n_bits, self.place = keys.shape[0], bit, n_bits, -1
        self.max_differing, self.max_compared = max_differing, max_compared
        self.p, self.q, self.end = n_before, NEW, n_before
        self.memory = Scratch.__new__(Scratch)
        open_pair(&self.pair, self.memory, n_codes, bits)

    cdef inline const uint8_t *codes_at(self, Py_ssize_t place) noexcept nogil:
        return codes_of(self.codes, self.others,
                        place if self.copied else row_of(self.keys[place]))

    cdef inline bint begins_bucket(self, Py_ssize_t place) noexcept nogil:
        return place == 0 or self.keys[place] >> 32 != self.keys[place - 1] >> 32

    cdef inline void look_ahead(self, Py_ssize_t place) noexcept nogil:
        """Prefetch codes that are needed soon."""
        if not self.copied and place + AHEAD < self.n_keys:
            prefetch_row(self.codes_at(place + AHEAD), self.codes.shape[1])

    cdef inline bint are_near(self, Py_ssize_t place, Py_ssize_t other) noexcept nogil:
        """Return whether two rows are near. Fastest if `place` is the same as before."""
        cdef const uint8_t *a = self.codes_at(place)
        cdef const uint8_t *b = self.codes_at(other)
        if self.place != place:
            widen_row(a, self.pair.n_codes, self.pair.bits, 1, self.pair.a)
            self.place = place
        self.n_compared += 1
        return (differing_codes(&self.pair, b) <= self.max_differing
                and same_bits(b, a, self.bit, self.n_bits))

    cdef inline uint64_t pair_at(self, Py_ssize_t place, Py_ssize_t other) noexcept nogil:
        """Return the row at `other` above the row at `place`, with 32 bits each."""
        return <uint64_t>row_of(self.keys[other]) << 32 | <uint64_t>row_of(self.keys[place])

    cdef void ends_at(self, Py_ssize_t bucket, Py_ssize_t p, Py_ssize_t q) noexcept:
        self.bucket, self.p, self.q, self.done = bucket, p, q, p >= self.n_keys

    def verify(self, int64_t first_other, Py_ssize_t max_bucket, uint64_t[::1] pairs):
        """Write the pairs of near rows to `pairs`. Return their number.

        If `first_other` is above 0, rows from there on belong to a second set, and a pair has one
        row of each. A pair has the smaller row above the larger one, with 32 bits each. A row is
        compared with the last `max_bucket` rows before it, or, if it is in the second set, with the
        last `max_bucket` rows of the first.
        """
        cdef Py_ssize_t bucket = self.bucket, p = self.p, q = self.q, n = 0, stop, row
        cdef Py_ssize_t end = self.end  # end of the bucket's rows in the first set
        self.n_compared = 0
        with nogil:
            while p < self.n_keys:
                self.look_ahead(p)
                row = row_of(self.keys[p])
                if q == NEW and self.begins_bucket(p):
                    bucket = p
                    end = p + (row < first_other)
                    p += 1
                    continue
                if first_other == 0:
                    stop = p
                elif row < first_other:  # these come first in a bucket
                    end = p + 1
                    stop = 0
                else:
                    stop = end
                if q == NEW:
                    q = max(bucket, stop - max_bucket)
                while q < stop and n < pairs.shape[0] and self.n_compared < self.max_compared:
                    if self.are_near(p, q):
                        pairs[n] = self.pair_at(p, q)
                        n += 1
                    q += 1
                if q < stop:
                    break
                q = NEW
                p += 1
        self.end = end
        self.ends_at(bucket, p, q)
        return n

    def mark_near(self, int64_t n_given, uint8_t[::1] marks):
        """Mark both rows of each pair of near rows. Pairs of two rows below `n_given` are ignored,
        and pairs of two marked rows are not compared."""
        cdef Py_ssize_t bucket = self.bucket, p = self.p, q = self.q, row, earlier
        self.n_compared = 0
        with nogil:
            while p < self.n_keys and self.n_compared < self.max_compared:
                self.look_ahead(p)
                row = row_of(self.keys[p])
                if q == NEW and self.begins_bucket(p):
                    bucket = p
                if q == NEW:
                    q = bucket
                if row < n_given:
                    q = p
                while q < p and self.n_compared < self.max_compared:
                    earlier = row_of(self.keys[q])
                    if (not (is_marked(&marks[0], row) and is_marked(&marks[0], earlier))
                            and self.are_near(p, q)):
                        mark(&marks[0], row)
                        mark(&marks[0], earlier)
                    q += 1
                if q < p:
                    break
                q = NEW
                p += 1
        self.ends_at(bucket, p, q)

cdef inline bint is_marked(const uint8_t *marks, Py_ssize_t row) noexcept nogil:
    return marks[row >> 3] >> (row & 7) & 1


cdef inline void mark(uint8_t *marks, Py_ssize_t row) noexcept nogil:
    marks[row >> 3] |= <uint8_t>(1 << (row & 7))


def leave_marked(uint64_t[::1] keys, int64_t n_given, Py_ssize_t max_bucket, uint8_t[::1] marks):
    """Mark the rows of buckets with more than `max_bucket` rows, and drop these buckets from
    `keys`.

    Buckets whose rows are all marked are also dropped, and so are buckets whose rows are all below
    `n_given`, but without marking their rows. `keys` must come from `number_buckets`; `marks` has
    one bit per row. Return the number of remaining keys.
    """
    cdef Py_ssize_t start = 0, stop, p, n_keys = keys.shape[0], n = 0
    cdef bint all_marked, all_given
    with nogil:
        while start < n_keys:
            stop = start
            all_marked = all_given = True
            while stop < n_keys and keys[stop] >> 32 == keys[start] >> 32:
                all_marked = all_marked and is_marked(&marks[0], row_of(keys[stop]))
                all_given = all_given and row_of(keys[stop]) < n_given
                stop += 1
            if stop - start > max_bucket and not all_given:
                for p in range(start, stop):
                    mark(&marks[0], row_of(keys[p]))
            elif not all_marked and not all_given:
                for p in range(start, stop):
                    keys[n] = keys[p]
                    n += 1
            start = stop
    return n


cdef inline uint32_t root_of(uint32_t[::1] parents, uint32_t row) noexcept nogil:
    """Return the first row of a component, and shorten paths in `parents` on the way, in place."""
    while parents[row] != row:
        parents[row] = parents[parents[row]]
        row = parents[row]
    return row


def join_rows(const uint64_t[::1] pairs, uint32_t[::1] parents):
    """Join the components of the two rows of each pair (from `Buckets.verify`) in `parents`, in
    place. The parent of the first row of a component is the row itself; the parent of any other row
    is an earlier row of the component.

    Pairs may come from a file: row numbers out of range raise ValueError.
    """
    cdef Py_ssize_t i
    cdef uint32_t one, other
    cdef uint64_t n_rows = parents.shape[0], pair
    cdef bint sound = True
    with nogil:
        for i in range(pairs.shape[0]):
            pair = pairs[i]
            sound = (pair >> 32) < n_rows and <uint64_t>row_of(pair) < n_rows
            if not sound:
                break
            one = root_of(parents, <uint32_t>(pair >> 32))
            other = root_of(parents, <uint32_t>row_of(pair))
            if one != other:
                parents[max(one, other)] = min(one, other)
    if not sound:
        raise ValueError(f"a pair has rows {pair >> 32} and {row_of(pair)} of {n_rows}")


def find_first_rows(uint32_t[::1] parents):
    """Replace the parents of `join_rows`, in place, by the first rows of their components."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(parents.shape[0]):
            parents[row] = parents[parents[row]]


def count_differing(const uint64_t[::1] pairs, const uint8_t[:, ::1] codes,
                    const uint8_t[:, ::1] others, int bits, Py_ssize_t n_codes, int64_t[::1] out):
    """Write the number of differing codes of each pair (from `Buckets.verify`) to `out`."""
    cdef Py_ssize_t i
    cdef Py_ssize_t before = -1
    cdef compared_t pair
    cdef Scratch scratch = borrow_scratch()
    open_pair(&pair, scratch, n_codes, bits)
    with nogil:
        for i in range(pairs.shape[0]):
            if i + AHEAD < pairs.shape[0]:
                prefetch_row(codes_of(codes, others, row_of(pairs[i + AHEAD])), codes.shape[1])
            if <Py_ssize_t>(pairs[i] >> 32) != before:
                before = <Py_ssize_t>(pairs[i] >> 32)
                widen_row(&codes[before, 0], n_codes, bits, 1, pair.a)
            out[i] = differing_codes(&pair, codes_of(codes, others, row_of(pairs[i])))
    give_back_scratch(scratch)
