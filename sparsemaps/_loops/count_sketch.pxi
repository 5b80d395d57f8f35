# Count sketch: add every entry, with a random sign, to a random one of n_buckets sums.
#
# Input: CSR arrays, in which `indptr` delimits the rows to map; a key of three 64-bit words.
# Output: sketches of these rows. Entries in the same bucket are added in order of their columns.
# Cost: O(entries), plus O(n_buckets) per row for dense output.
# Reference: Charikar, Chen & Farach-Colton 2002; Pham & Pagh 2013, section 3.1.
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from sparsemaps._loops.arrays cimport (array_t, csr_block, csr_of, csr_output, csr_output_t,
                                       dense_output, end_row, indices_from, next_columns,
                                       next_values, values_from)
from sparsemaps._loops.emit cimport emit_at, emit_loops
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level
from sparsemaps._loops.sort cimport bit_length, pair_t, sort_pairs


# CSR output. If there are few columns, each is hashed once, and its slot is the index of its bucket
# among the buckets that some column has. Otherwise every bucket is a slot.
cdef enum:
    MAX_TABLE = 4096   # most columns of a table
    MAX_SLOTS = 16384


# Scratch memory of one call.
cdef struct slots_t:
    Py_ssize_t n
    uint32_t *buckets     # of the slots, ascending
    uint64_t *marks       # one bit per slot
    Py_ssize_t n_columns  # in the table; 0 without a table
    uint32_t *slots       # of columns
    uint32_t *signs


def count_sketch_dense(values, indices, indptr, const uint64_t[::1] key, out):
    """Write each row's sketch to its row of `out`, which must be zero."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t sums = dense_output(out, &rows)
    cdef Py_ssize_t row, n, n_buckets = sums.shape[1], n_bytes = n_buckets * sums.size
    cdef int64_t first
    cdef const hashing_loops *loops = hashing_at(level, rows.value_size, rows.index_size)
    with nogil:
        for row in range(rows.n_rows):
            first = rows.indptr[row]
            n = rows.indptr[row + 1] - first
            if n > 0:
                if row + 1 < rows.n_rows:  # similar rows have about as many
                    fetch_zeros(sums.data + (row + 1) * n_bytes, n_bytes, n)
                begin_zeros(sums.data + row * n_bytes, n_bytes)
                loops.add_sketches(&key[0], 1, values_from(&rows, first), 1.0,
                                   indices_from(&rows, first), n, n_buckets,
                                   sums.data + row * n_bytes, 0)


cdef int open_slots(slots_t *slots, Scratch scratch, const uint64_t *key, Py_ssize_t n_buckets,
                    Py_ssize_t n_columns) except -1:
    """Prepare the slots of a sketch of n_buckets, with a table of n_columns unless that is 0."""
    cdef const hashing_loops *hashing = hashing_at(level, sizeof(float), sizeof(int32_t))
    cdef Py_ssize_t i, n = n_columns if n_columns > 0 else n_buckets
    cdef uint64_t before = <uint64_t>-1
    cdef pair_t *pairs
    cdef pair_t *ordered
    cdef int32_t *columns
    cdef float *ones
    cdef float *signs
    slots.n_columns = n_columns
    slots.buckets = <uint32_t *>scratch.take(n * sizeof(uint32_t))
    slots.marks = <uint64_t *>scratch.take_zeros((n + 63) // 64 * sizeof(uint64_t))
    slots.slots = <uint32_t *>scratch.take(n_columns * sizeof(uint32_t))
    slots.signs = <uint32_t *>scratch.take(n_columns * sizeof(uint32_t))
    pairs = <pair_t *>scratch.take(2 * n_columns * sizeof(pair_t))
    columns = <int32_t *>scratch.take(n_columns * sizeof(int32_t))
    ones = <float *>scratch.take(n_columns * sizeof(float))
    signs = <float *>scratch.take(n_columns * sizeof(float))
    if n_columns == 0:
        for i in range(n_buckets):
            slots.buckets[i] = <uint32_t>i
        slots.n = n_buckets
    else:
        for i in range(n_columns):
            columns[i], ones[i] = <int32_t>i, 1
        hashing.hash_entries(key, 1, ones, 1.0, columns, n_columns, n_buckets, n_columns,
                             slots.slots, signs)
        for i in range(n_columns):
            slots.signs[i] = signs[i] < 0
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


def count_sketch_csr(values, indices, indptr, const uint64_t[::1] key, Py_ssize_t n_buckets,
                     int64_t n_columns, out_values, out_columns, out_lengths):
    """Write rows consecutively, each with ascending columns and without zeros. `n_columns` is an
    upper bound on the columns.

    A row has at most min(its entries, n_buckets) values. Return the total number of values.
    """
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef csr_output_t out = csr_output(out_values, out_columns, out_lengths, &rows)
    cdef const int64_t *ends = rows.indptr
    cdef Py_ssize_t row, first, n, n_marks, taken
    cdef Py_ssize_t longest = 1, n_stored = ends[rows.n_rows] - ends[0]
    cdef bint table = 0 < n_columns <= MAX_TABLE and 2 * n_columns <= n_stored
    cdef bint slotted = table or n_buckets <= MAX_SLOTS
    cdef bint summed = slotted
    # Rows up to this length are faster to sort than n_buckets sums are to scan.
    cdef Py_ssize_t sortable = n_buckets // 16
    cdef const hashing_loops *hashing = hashing_at(level, rows.value_size, rows.index_size)
    cdef const emit_loops *emit = emit_at(level, rows.value_size, out.columns.size)
    cdef slots_t slots
    cdef Scratch scratch = borrow_scratch()
    cdef void *sums = NULL
    with nogil:
        for row in range(rows.n_rows):
            longest = max(longest, ends[row + 1] - ends[row])
    summed |= longest > sortable
    open_slots(&slots, scratch, &key[0], n_buckets if slotted else 1, n_columns if table else 0)
    n_marks = (slots.n + 63) // 64
    cdef void *entries = scratch.take(longest * rows.value_size)
    cdef uint32_t *buckets = <uint32_t *>scratch.take(longest * sizeof(uint32_t))
    cdef pair_t *pairs = <pair_t *>scratch.take(2 * min(longest, sortable) * sizeof(pair_t))
    if summed:
        sums = scratch.take_zeros((slots.n if table else n_buckets) * rows.value_size)
    with nogil:
        for row in range(rows.n_rows):
            first = ends[row]
            n = ends[row + 1] - first
            taken = 0
            if n == 0:
                pass
            elif table:
                hashing.look_up(slots.slots, slots.signs, n_columns, values_from(&rows, first),
                                indices_from(&rows, first), n, buckets, entries)
                taken = emit.slots(buckets, entries, n, sums, slots.marks, n_marks, slots.buckets,
                                   next_values(&out), next_columns(&out))
            elif n > n_buckets // 2 or (n > sortable and not slotted):
                hashing.add_sketches(&key[0], 1, values_from(&rows, first), 1.0,
                                     indices_from(&rows, first), n,
                                     n_buckets, sums, 0)
                taken = emit.sums(sums, n_buckets, 0, next_values(&out), next_columns(&out))
            else:
                hashing.hash_entries(&key[0], 1, values_from(&rows, first), 1.0,
                                     indices_from(&rows, first), n,
                                     n_buckets, n, buckets, entries)
                if slotted and n_marks <= 4 * n:
                    taken = emit.slots(buckets, entries, n, sums, slots.marks, n_marks,
                                       slots.buckets, next_values(&out), next_columns(&out))
                else:
                    taken = emit.entries(buckets, entries, n, n_buckets, pairs,
                                         next_values(&out), next_columns(&out))
            out.n += taken
            end_row(&out, row, out.n - taken)
    give_back_scratch(scratch)
    return out.n
