# Count sketch: every entry goes, with a random sign, to a random one of n_buckets sums.
#
# Input: CSR arrays, of which the rows that `indptr` delimits are mapped; three 64-bit words of key.
# Output: those rows' sketches. Entries of one bucket are added in the order of their columns.
# Cost: O(entries), and O(n_buckets) a row where the output is dense.
# Reference: Charikar, Chen & Farach-Colton 2002; Pham & Pagh 2013, section 3.1.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sparsemaps._loops.emit cimport emit_at, emit_loops
from sparsemaps._loops.hashing cimport hashing_at, hashing_loops
from sparsemaps._loops.levels cimport level
from sparsemaps._loops.pages cimport begin_zeros, fetch_zeros
from sparsemaps._loops.scratch cimport Scratch, borrow_scratch, give_back_scratch
from sparsemaps._loops.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._loops.types cimport index_t, out_index_t, value_t

# CSR output. Where there are few columns, each is hashed once; its slot is the place of its bucket
# among those that any column has. Otherwise every bucket is a slot.
cdef enum:
    MAX_TABLE = 4096   # columns in a table
    MAX_SLOTS = 16384


# Scratch of one call.
cdef struct slots_t:
    Py_ssize_t n
    uint32_t *buckets     # of the slots, ascending
    uint64_t *marks       # a bit for each slot
    Py_ssize_t n_columns  # in the table, 0 without one
    uint32_t *slots       # of columns
    uint32_t *signs


def count_sketch_dense(const value_t[::1] values, const index_t[::1] indices,
                       const int64_t[::1] indptr, const uint64_t[::1] key, value_t[:, ::1] out):
    """Write each row's sketch to its row of `out`, which are zeros."""
    cdef Py_ssize_t row, n, n_buckets = out.shape[1]
    cdef const hashing_loops *loops = hashing_at(level, sizeof(value_t), sizeof(index_t))
    with nogil:
        for row in range(out.shape[0]):
            n = indptr[row + 1] - indptr[row]
            if n > 0:
                if row + 1 < out.shape[0]:  # which has about as many entries, if rows are alike
                    fetch_zeros(&out[row + 1, 0], n_buckets, n)
                begin_zeros(&out[row, 0], n_buckets)
                loops.add_sketches(&key[0], 1, &values[indptr[row]], 1.0, &indices[indptr[row]], n,
                                   n_buckets, &out[row, 0], 0)


cdef int open_slots(slots_t *slots, Scratch scratch, const uint64_t *key, Py_ssize_t n_buckets,
                    Py_ssize_t n_columns) except -1:
    """Slots of a sketch of n_buckets; with a table of n_columns, unless that is 0."""
    cdef const hashing_loops *hashing = hashing_at(level, sizeof(float), sizeof(int32_t))
    cdef Py_ssize_t i, n = n_columns if n_columns > 0 else n_buckets
    cdef uint64_t before = <uint64_t>-1
    cdef pair_t *pairs
    cdef pair_t *ordered
    cdef int32_t column
    cdef float sign = 0, one = 1
    slots.n_columns = n_columns
    slots.buckets = <uint32_t *>scratch.take(n * sizeof(uint32_t))
    slots.marks = <uint64_t *>scratch.take_zeros((n + 63) // 64 * sizeof(uint64_t))
    slots.slots = <uint32_t *>scratch.take(n_columns * sizeof(uint32_t))
    slots.signs = <uint32_t *>scratch.take(n_columns * sizeof(uint32_t))
    pairs = <pair_t *>scratch.take(2 * n_columns * sizeof(pair_t))
    if n_columns == 0:
        for i in range(n_buckets):
            slots.buckets[i] = <uint32_t>i
        slots.n = n_buckets
    else:
        for i in range(n_columns):
            column = <int32_t>i
            hashing.hash_entries(key, 1, &one, 1.0, &column, 1, n_buckets, 1, &slots.slots[i],
                                 &sign)
            slots.signs[i] = sign < 0
            pairs[i].key = slots.slots[i]
            pairs[i].payload = i
        ordered = sort_pairs(pairs, pairs + n_columns, n_columns, bit_length(n_buckets - 1))
        slots.n = 0
        for i in range(n_columns):
            if ordered[i].key != before:
                before = ordered[i].key
                slots.buckets[slots.n] = <uint32_t>before
                slots.n += 1
            slots.slots[ordered[i].payload] = <uint32_t>(slots.n - 1)
    return 0


def count_sketch_csr(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, const uint64_t[::1] key, Py_ssize_t n_buckets,
                     int64_t n_columns, value_t[::1] out_values, out_index_t[::1] out_columns,
                     out_index_t[::1] out_lengths):
    """Rows one behind the other, each in ascending order of columns and without zeros; `n_columns`
    bounds the columns.

    A row has at most min(its entries, n_buckets) values. Returns how many there are.
    """
    cdef Py_ssize_t n_rows = out_lengths.shape[0], row, first, n, n_marks, n_out = 0, taken
    cdef Py_ssize_t longest = 1, n_stored = indptr[n_rows] - indptr[0]
    cdef bint table = 0 < n_columns <= MAX_TABLE and 2 * n_columns <= n_stored
    cdef bint slotted = table or n_buckets <= MAX_SLOTS
    cdef bint summed = slotted
    # Up to here a row is shorter to sort than n_buckets sums are to look through.
    cdef Py_ssize_t sortable = n_buckets // 16
    cdef const hashing_loops *hashing = hashing_at(level, sizeof(value_t), sizeof(index_t))
    cdef const emit_loops *emit = emit_at(level, sizeof(value_t), sizeof(out_index_t))
    cdef slots_t slots
    cdef Scratch scratch = borrow_scratch()
    cdef void *sums = NULL
    for row in range(n_rows):
        longest = max(longest, indptr[row + 1] - indptr[row])
    summed |= longest > sortable
    open_slots(&slots, scratch, &key[0], n_buckets if slotted else 1, n_columns if table else 0)
    n_marks = (slots.n + 63) // 64
    cdef void *entries = scratch.take(longest * sizeof(value_t))
    cdef uint32_t *buckets = <uint32_t *>scratch.take(longest * sizeof(uint32_t))
    cdef pair_t *pairs = <pair_t *>scratch.take(2 * min(longest, sortable) * sizeof(pair_t))
    if summed:
        sums = scratch.take_zeros((slots.n if table else n_buckets) * sizeof(value_t))
    with nogil:
        for row in range(n_rows):
            first = indptr[row]
            n = indptr[row + 1] - first
            taken = 0
            if n == 0:
                pass
            elif table:
                hashing.look_up(slots.slots, slots.signs, n_columns, &values[first],
                                &indices[first], n, buckets, entries)
                taken = emit.slots(buckets, entries, n, sums, slots.marks, n_marks, slots.buckets,
                                   &out_values[n_out], &out_columns[n_out])
            elif n > n_buckets // 2 or (n > sortable and not slotted):
                hashing.add_sketches(&key[0], 1, &values[first], 1.0, &indices[first], n,
                                     n_buckets, sums, 0)
                taken = emit.sums(sums, n_buckets, &out_values[n_out], &out_columns[n_out])
            else:
                hashing.hash_entries(&key[0], 1, &values[first], 1.0, &indices[first], n,
                                     n_buckets, n, buckets, entries)
                if slotted and n_marks <= 4 * n:
                    taken = emit.slots(buckets, entries, n, sums, slots.marks, n_marks,
                                       slots.buckets, &out_values[n_out], &out_columns[n_out])
                else:
                    taken = emit.entries(buckets, entries, n, n_buckets, pairs,
                                         &out_values[n_out], &out_columns[n_out])
            out_lengths[row] = <out_index_t>taken
            n_out += taken
    give_back_scratch(scratch)
    return n_out
