# Count sketch: every entry goes, with a random sign, to a random one of n_buckets sums.
#
# Input: CSR arrays, of which the rows that `indptr` delimits are mapped; three 64-bit words of key.
# Output: those rows' sketches. Entries of one bucket are added in the order of their columns.
# Cost: O(entries), and O(n_buckets) a row where the output is dense.
# Reference: Charikar, Chen & Farach-Colton 2002; Pham & Pagh 2013, section 3.1.


cdef enum:
    MAX_MARKED = 16384  # sums that are marked when they are added to, and found by their marks


def count_sketch_dense(values, indices, indptr, const uint64_t[::1] key, out):
    """Write each row's sketch to its row of `out`, which are zeros."""
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
                if row + 1 < rows.n_rows:  # which has about as many entries, if rows are alike
                    fetch_zeros(sums.data + (row + 1) * n_bytes, n_bytes, n)
                begin_zeros(sums.data + row * n_bytes, n_bytes)
                loops.add_sketches(&key[0], 1, values_from(&rows, first), 1.0,
                                   indices_from(&rows, first), n, n_buckets,
                                   sums.data + row * n_bytes, 0)


def count_sketch_csr(values, indices, indptr, const uint64_t[::1] key, Py_ssize_t n_buckets,
                     out_values, out_columns, out_lengths):
    """Rows one behind the other, each in ascending order of columns and without zeros.

    A row has at most min(its entries, n_buckets) values. Returns how many there are.
    """
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef csr_output_t out = csr_output(out_values, out_columns, out_lengths, &rows)
    cdef const int64_t *ends = rows.indptr
    cdef Py_ssize_t row, first, n, taken, n_marks = (n_buckets + 63) // 64, longest = 1
    cdef bint marked = n_buckets <= MAX_MARKED
    # Up to here a row is shorter to sort than n_buckets sums are to look through.
    cdef Py_ssize_t sortable = n_buckets // 16
    cdef const hashing_loops *hashing = hashing_at(level, rows.value_size, rows.index_size)
    cdef const emit_loops *emit = emit_at(level, rows.value_size, out.columns.size)
    cdef Scratch scratch = borrow_scratch()
    cdef void *sums = NULL
    cdef uint64_t *marks = NULL
    for row in range(rows.n_rows):
        longest = max(longest, ends[row + 1] - ends[row])
    cdef void *entries = scratch.take(longest * rows.value_size)
    cdef uint32_t *buckets = <uint32_t *>scratch.take(longest * sizeof(uint32_t))
    cdef pair_t *pairs = <pair_t *>scratch.take(2 * min(longest, sortable) * sizeof(pair_t))
    if marked:
        marks = <uint64_t *>scratch.take_zeros(n_marks * sizeof(uint64_t))
    if marked or longest > sortable:
        sums = scratch.take_zeros(n_buckets * rows.value_size)
    with nogil:
        for row in range(rows.n_rows):
            first = ends[row]
            n = ends[row + 1] - first
            taken = 0
            if n == 0:
                pass
            elif n > n_buckets // 2 or (n > sortable and not marked):
                hashing.add_sketches(&key[0], 1, values_from(&rows, first), 1.0,
                                     indices_from(&rows, first), n, n_buckets, sums, 0)
                taken = emit.sums(sums, n_buckets, 0, next_values(&out), next_columns(&out))
            else:
                hashing.hash_entries(&key[0], 1, values_from(&rows, first), 1.0,
                                     indices_from(&rows, first), n, n_buckets, n, buckets, entries)
                if marked and n_marks <= 4 * n:
                    taken = emit.marked(buckets, entries, n, sums, marks, n_marks,
                                        next_values(&out), next_columns(&out))
                else:
                    taken = emit.entries(buckets, entries, n, n_buckets, pairs,
                                         next_values(&out), next_columns(&out))
            out.n += taken
            end_row(&out, row, out.n - taken)
    give_back_scratch(scratch)
    return out.n
