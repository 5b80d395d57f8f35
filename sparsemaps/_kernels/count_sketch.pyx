# Count sketch: every entry goes, with a random sign, to a random one of n_buckets sums.
#
# Input: CSR arrays, of which the rows that `indptr` delimits are mapped; three 64-bit words of key.
# Output: those rows' sketches. Entries of one bucket are added in the order of their columns.
# Cost: O(entries), and O(n_buckets) a row where the output is dense.
# Reference: Charikar, Chen & Farach-Colton 2002; Pham & Pagh 2013, section 3.1.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from sparsemaps._kernels.emit cimport emit_sums
from sparsemaps._kernels.hashing cimport HASH_RUN, add_hashed, flip, hash_mixed, mix_columns
from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._kernels.types cimport index_t, out_index_t, value_t


cdef void add_row(const uint64_t *key, const value_t *values, const index_t *columns, Py_ssize_t n,
                  uint64_t n_buckets, value_t *sums) noexcept nogil:
    """Add the sketch of one row to `sums`."""
    cdef uint64_t mixed[HASH_RUN]
    cdef uint32_t buckets[HASH_RUN]
    cdef uint32_t signs[HASH_RUN]
    cdef Py_ssize_t first = 0, run
    while first < n:
        run = min(n - first, <Py_ssize_t>HASH_RUN)
        mix_columns(columns + first, run, mixed)
        hash_mixed(key, mixed, run, n_buckets, buckets, signs)
        add_hashed(values + first, <value_t>1.0, buckets, signs, run, sums)
        first += run


cdef Py_ssize_t emit_sorted(const uint64_t *key, const value_t *values, const index_t *columns,
                            Py_ssize_t n, uint64_t n_buckets, pair_t *pairs,
                            value_t *out_values, out_index_t *out_columns) noexcept nogil:
    """The sketch of one row through sorting its n entries by bucket; `pairs` is 2 n long."""
    cdef uint64_t mixed[HASH_RUN]
    cdef uint32_t buckets[HASH_RUN]
    cdef uint32_t signs[HASH_RUN]
    cdef Py_ssize_t first = 0, run, i, n_out = 0
    cdef uint64_t bucket, position
    cdef value_t total
    cdef pair_t *ordered
    while first < n:
        run = min(n - first, <Py_ssize_t>HASH_RUN)
        mix_columns(columns + first, run, mixed)
        hash_mixed(key, mixed, run, n_buckets, buckets, signs)
        for i in range(run):
            pairs[first + i].key = buckets[i]
            pairs[first + i].payload = 2 * <uint64_t>(first + i) + signs[i]
        first += run
    ordered = sort_pairs(pairs, pairs + n, n, bit_length(n_buckets - 1))
    i = 0
    while i < n:
        bucket = ordered[i].key
        total = 0
        while i < n and ordered[i].key == bucket:
            position = ordered[i].payload
            total += flip(values[position >> 1], position & 1)
            i += 1
        if total != 0:
            out_values[n_out] = total
            out_columns[n_out] = <out_index_t>bucket
            n_out += 1
    return n_out


def count_sketch_dense(const value_t[::1] values, const index_t[::1] indices,
                       const int64_t[::1] indptr, const uint64_t[::1] key, value_t[:, ::1] out):
    """Add each row's sketch to its row of `out`."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(out.shape[0]):
            if indptr[row] < indptr[row + 1]:
                add_row(&key[0], &values[indptr[row]], &indices[indptr[row]],
                        indptr[row + 1] - indptr[row], out.shape[1], &out[row, 0])


def count_sketch_csr(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, const uint64_t[::1] key, Py_ssize_t n_buckets,
                     value_t[::1] out_values, out_index_t[::1] out_columns,
                     out_index_t[::1] out_lengths):
    """Rows one behind the other, each in ascending order of columns and without zeros.

    A row takes at most min(its entries, n_buckets) places. Returns how many were taken.
    """
    cdef Py_ssize_t row, n, longest = 0, n_out = 0, taken
    cdef value_t *sums = NULL
    cdef pair_t *pairs = NULL
    # Up to here a row is shorter to sort than n_buckets sums are to scan.
    cdef Py_ssize_t sortable = n_buckets // 16
    for row in range(out_lengths.shape[0]):
        longest = max(longest, indptr[row + 1] - indptr[row])
    if longest > sortable:
        sums = <value_t *>malloc(n_buckets * sizeof(value_t))
    pairs = <pair_t *>malloc(2 * max(min(longest, sortable), 1) * sizeof(pair_t))
    try:
        if pairs == NULL or (longest > sortable and sums == NULL):
            raise MemoryError
        with nogil:
            if sums != NULL:
                memset(sums, 0, n_buckets * sizeof(value_t))
            for row in range(out_lengths.shape[0]):
                n = indptr[row + 1] - indptr[row]
                taken = 0
                if n > sortable:
                    add_row(&key[0], &values[indptr[row]], &indices[indptr[row]], n, n_buckets,
                            sums)
                    taken = emit_sums(sums, n_buckets, &out_values[n_out], &out_columns[n_out])
                elif n > 0:
                    taken = emit_sorted(&key[0], &values[indptr[row]], &indices[indptr[row]], n,
                                        n_buckets, pairs, &out_values[n_out], &out_columns[n_out])
                out_lengths[row] = <out_index_t>taken
                n_out += taken
    finally:
        free(sums)
        free(pairs)
    return n_out
