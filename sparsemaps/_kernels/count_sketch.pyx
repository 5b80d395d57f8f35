# Count sketch: every entry goes, with a random sign, to a random one of n_buckets sums.
#
# Input: CSR arrays, of which the rows that `indptr` delimits are mapped; three 64-bit words of key.
# Output: those rows' sketches. Entries of one bucket are added in the order of their columns.
# Cost: O(entries), and O(n_buckets) a row where the output is dense.
# Reference: Charikar, Chen & Farach-Colton 2002; Pham & Pagh 2013, section 3.1.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from sparsemaps._kernels.emit cimport check_room, emit_entries, emit_sums
from sparsemaps._kernels.hashing cimport add_sketches, hash_entries
from sparsemaps._kernels.sort cimport pair_t
from sparsemaps._kernels.types cimport index_t, out_index_t, value_t


def count_sketch_dense(const value_t[::1] values, const index_t[::1] indices,
                       const int64_t[::1] indptr, const uint64_t[::1] key, value_t[:, ::1] out):
    """Add each row's sketch to its row of `out`."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(out.shape[0]):
            if indptr[row] < indptr[row + 1]:
                add_sketches(&key[0], 1, &values[indptr[row]], <value_t>1.0, &indices[indptr[row]],
                             indptr[row + 1] - indptr[row], out.shape[1], &out[row, 0], 0)


def count_sketch_csr(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, const uint64_t[::1] key, Py_ssize_t n_buckets,
                     value_t[::1] out_values, out_index_t[::1] out_columns,
                     out_index_t[::1] out_lengths):
    """Rows one behind the other, each in ascending order of columns and without zeros.

    A row has at most min(its entries, n_buckets) values. Returns how many there are.
    """
    cdef Py_ssize_t row, n, n_stored = 0, most = 0, n_out = 0, taken
    cdef bint summed = False
    # Up to here a row is shorter to sort than n_buckets sums are to look through.
    cdef Py_ssize_t sortable = n_buckets // 16
    cdef value_t *sums = NULL
    cdef value_t *entries = NULL
    cdef uint32_t *buckets = NULL
    cdef pair_t *pairs = NULL
    for row in range(out_lengths.shape[0]):
        n = indptr[row + 1] - indptr[row]
        n_stored += min(n, n_buckets)
        if n > sortable:
            summed = True
        else:
            most = max(most, n)
    check_room(n_stored, out_values.shape[0], out_columns.shape[0])
    entries = <value_t *>malloc(max(most, 1) * sizeof(value_t))
    buckets = <uint32_t *>malloc(max(most, 1) * sizeof(uint32_t))
    pairs = <pair_t *>malloc(2 * max(most, 1) * sizeof(pair_t))
    if summed:
        sums = <value_t *>calloc(n_buckets, sizeof(value_t))
    try:
        if entries == NULL or buckets == NULL or pairs == NULL or (summed and sums == NULL):
            raise MemoryError
        with nogil:
            for row in range(out_lengths.shape[0]):
                n = indptr[row + 1] - indptr[row]
                taken = 0
                if n > sortable:
                    add_sketches(&key[0], 1, &values[indptr[row]], <value_t>1.0,
                                 &indices[indptr[row]], n, n_buckets, sums, 0)
                    taken = emit_sums(sums, n_buckets, &out_values[n_out], &out_columns[n_out])
                elif n > 0:
                    hash_entries(&key[0], 1, &values[indptr[row]], <value_t>1.0,
                                 &indices[indptr[row]], n, n_buckets, n, buckets, entries)
                    taken = emit_entries(buckets, <const value_t *>entries, n, n_buckets, pairs,
                                         &out_values[n_out], &out_columns[n_out])
                out_lengths[row] = <out_index_t>taken
                n_out += taken
    finally:
        free(entries)
        free(buckets)
        free(pairs)
        free(sums)
    return n_out
