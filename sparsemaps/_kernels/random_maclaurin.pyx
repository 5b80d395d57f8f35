# Random Maclaurin features: products of projections on Rademacher vectors.
#
# Input: CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key; for each
# feature its factor and where its projections begin and end.
# Output: feature j is factors[j] times the product of projections firsts[j] to firsts[j + 1]. A
# projection adds its entries in the order of their columns.
# Cost: O(entries * projections); the signs of a column are made once for the rows of a group.
# Reference: Kar & Karnick 2012, algorithm 1.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from sparsemaps._kernels.emit cimport emit_sums
from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._kernels.types cimport index_t, out_index_t, value_t

cdef extern from "random_maclaurin.h" nogil:
    enum:
        TILE
    ctypedef struct rademacher_entry:
        uint64_t column
        double value
        int64_t row
    void rademacher_tile_f32(uint64_t key, uint64_t tile, const rademacher_entry *entries,
                             Py_ssize_t n, float *sums)
    void rademacher_tile_f64(uint64_t key, uint64_t tile, const rademacher_entry *entries,
                             Py_ssize_t n, double *sums)

cdef extern from "random.h" nogil:
    uint64_t column_start(uint64_t key, uint64_t column)
    uint64_t word(uint64_t start, uint64_t counter)

# A group of rows is projected together: few enough that their sums stay in the cache.
cdef enum:
    GROUP_ROWS = 128
    GROUP_ENTRIES = 16384
    GROUP_BYTES = 1 << 21


cdef struct scratch_t:
    rademacher_entry *entries  # GROUP_ENTRIES
    pair_t *pairs              # 2 * GROUP_ENTRIES
    void *sums                 # (rows of a group, TILE)
    void *projections          # (rows of a group, n_projections)


cdef int allocate(scratch_t *scratch, Py_ssize_t n_rows, Py_ssize_t row_bytes,
                  size_t itemsize) except -1:
    scratch.entries = <rademacher_entry *>malloc(GROUP_ENTRIES * sizeof(rademacher_entry))
    scratch.pairs = <pair_t *>malloc(2 * GROUP_ENTRIES * sizeof(pair_t))
    scratch.sums = malloc(n_rows * TILE * itemsize)
    scratch.projections = malloc(max(n_rows * row_bytes, 1))
    if (scratch.entries == NULL or scratch.pairs == NULL or scratch.sums == NULL
            or scratch.projections == NULL):
        release(scratch)
        raise MemoryError
    return 0


cdef void release(scratch_t *scratch) noexcept:
    free(scratch.entries)
    free(scratch.pairs)
    free(scratch.sums)
    free(scratch.projections)


cdef Py_ssize_t gather_by_column(const value_t *values, const index_t *indices,
                                 const int64_t *indptr, Py_ssize_t n_rows,
                                 scratch_t *scratch) noexcept nogil:
    """Entries of a whole group in the order of columns, those of one column in that of rows."""
    cdef Py_ssize_t n = 0, row, i
    cdef uint64_t seen = 0
    cdef pair_t *pairs = scratch.pairs
    for row in range(n_rows):
        for i in range(indptr[row], indptr[row + 1]):
            pairs[n].key = <uint64_t>indices[i]
            pairs[n].payload = <uint64_t>row << 32 | <uint64_t>(i - indptr[0])
            seen |= pairs[n].key
            n += 1
    if n_rows > 1:
        pairs = sort_pairs(pairs, pairs + n, n, bit_length(seen))
    for i in range(n):
        scratch.entries[i].column = pairs[i].key
        scratch.entries[i].row = <int64_t>(pairs[i].payload >> 32)
        scratch.entries[i].value = values[indptr[0] + <uint32_t>pairs[i].payload]
    return n


cdef void add_tile(uint64_t key, Py_ssize_t tile, Py_ssize_t n, const scratch_t *scratch,
                   value_t *sums) noexcept nogil:
    if value_t is float:
        rademacher_tile_f32(key, tile, scratch.entries, n, sums)
    else:
        rademacher_tile_f64(key, tile, scratch.entries, n, sums)


cdef void add_long_row(const value_t *values, const index_t *indices, const int64_t *indptr,
                       uint64_t key, Py_ssize_t tile, scratch_t *scratch,
                       value_t *sums) noexcept nogil:
    """One tile of a row whose entries exceed the scratch, in runs that do not."""
    cdef int64_t ends[2]
    ends[0] = indptr[0]
    while ends[0] < indptr[1]:
        ends[1] = min(ends[0] + GROUP_ENTRIES, indptr[1])
        add_tile(key, tile, gather_by_column(values, indices, ends, 1, scratch), scratch, sums)
        ends[0] = ends[1]


cdef void project_group(const value_t *values, const index_t *indices, const int64_t *indptr,
                        Py_ssize_t n_rows, uint64_t key, Py_ssize_t n_projections,
                        scratch_t *scratch) noexcept nogil:
    cdef bint long_row = indptr[n_rows] - indptr[0] > GROUP_ENTRIES
    cdef value_t *sums = <value_t *>scratch.sums
    cdef value_t *projections = <value_t *>scratch.projections
    cdef Py_ssize_t n = 0, first = 0, row, width
    if not long_row:
        n = gather_by_column(values, indices, indptr, n_rows, scratch)
    while first < n_projections:
        memset(sums, 0, n_rows * TILE * sizeof(value_t))
        if long_row:
            add_long_row(values, indices, indptr, key, first // TILE, scratch, sums)
        else:
            add_tile(key, first // TILE, n, scratch, sums)
        width = min(n_projections - first, <Py_ssize_t>TILE)
        for row in range(n_rows):
            memcpy(projections + row * n_projections + first, sums + row * TILE,
                   width * sizeof(value_t))
        first += TILE


cdef Py_ssize_t group_end(const int64_t[::1] indptr, Py_ssize_t row, Py_ssize_t n_rows,
                          Py_ssize_t at_most) noexcept nogil:
    """End of the group that starts with `row`."""
    cdef Py_ssize_t stop = row + 1
    while (stop < n_rows and stop - row < at_most
           and indptr[stop + 1] - indptr[row] <= GROUP_ENTRIES):
        stop += 1
    return stop


def random_words(uint64_t key, uint64_t[::1] out):
    """The words of the key's own: one for each feature, to draw its degree from."""
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = word(column_start(key, 0), j)


def random_maclaurin(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, uint64_t key, const value_t[::1] factors,
                     const int64_t[::1] firsts, value_t[:, ::1] out):
    """Write the features of each row to its row of `out`."""
    cdef Py_ssize_t n_rows = out.shape[0], n_features = out.shape[1], row = 0, stop, i, j, l
    cdef Py_ssize_t n_projections = firsts[n_features]
    cdef Py_ssize_t row_bytes = n_projections * sizeof(value_t)
    cdef Py_ssize_t group_rows = max(1, min(<Py_ssize_t>GROUP_ROWS,
                                            GROUP_BYTES // max(row_bytes, 1)))
    cdef scratch_t scratch
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    cdef const value_t *projections
    cdef value_t product
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    allocate(&scratch, group_rows, row_bytes, sizeof(value_t))
    with nogil:
        while row < n_rows:
            stop = group_end(indptr, row, n_rows, group_rows)
            project_group(value, index, &indptr[row], stop - row, key, n_projections, &scratch)
            for i in range(stop - row):
                projections = <const value_t *>scratch.projections + i * n_projections
                for j in range(n_features):
                    product = factors[j]
                    for l in range(firsts[j], firsts[j + 1]):
                        product *= projections[l]
                    out[row + i, j] = product
            row = stop
    release(&scratch)


def with_exact_terms(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, value_t constant, value_t linear,
                     value_t[:, ::1] features, value_t[::1] out_values,
                     out_index_t[::1] out_columns, out_index_t[::1] out_lengths):
    """Rows of (constant, features, linear * row) one behind the other, without zeros.

    Leaves zeros in `features`. Returns how many places were taken.
    """
    cdef Py_ssize_t row, i, n, n_out = 0, first, n_features = features.shape[1]
    with nogil:
        for row in range(out_lengths.shape[0]):
            first = n_out
            if constant != 0:
                out_values[n_out] = constant
                out_columns[n_out] = 0
                n_out += 1
            n = emit_sums(&features[row, 0], n_features, &out_values[n_out], &out_columns[n_out])
            for i in range(n):
                out_columns[n_out + i] += 1
            n_out += n
            for i in range(indptr[row], indptr[row + 1]):
                if linear * values[i] != 0:
                    out_values[n_out] = linear * values[i]
                    out_columns[n_out] = <out_index_t>(1 + n_features + indices[i])
                    n_out += 1
            out_lengths[row] = <out_index_t>(n_out - first)
    return n_out
