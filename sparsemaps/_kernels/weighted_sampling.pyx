# Improved consistent weighted sampling: n_hashes samples (i*, t*) of each row.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key.
# Output: samples, or codes made of their lowest bits; -1 where a row has no positive entry.
# Cost: O(entries * n_hashes). The random numbers of a column are made once for the rows of a group
# and a tile of samples, so the more rows share their columns the cheaper they are.
# Reference: Ioffe 2010; Li, "0-bit consistent weighted sampling", KDD 2015.
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from sparsemaps._kernels.signed cimport absolute, column_of
from sparsemaps._kernels.sort cimport bit_length, pair_t, sort_pairs
from sparsemaps._kernels.types cimport index_t, out_index_t, value_t

cdef extern from "weighted_sampling.h" nogil:
    enum:
        TILE
    ctypedef struct icws_entry:
        uint64_t column
        float log_weight
        int32_t row
        uint32_t position
    ctypedef struct icws_state:
        float *least
        int32_t *position
        int32_t *t
    double log_f64(double x)
    void icws_tile(uint64_t key, uint64_t first_sample, const icws_entry *entries, Py_ssize_t n,
                   icws_state *states)

# A group of rows is sampled together: few enough that their states stay in the cache.
cdef enum:
    GROUP_ROWS = 1024
    GROUP_ENTRIES = 65536


cdef struct scratch_t:
    icws_entry *entries  # GROUP_ENTRIES
    pair_t *pairs        # 2 * GROUP_ENTRIES
    icws_state *states   # GROUP_ROWS


cdef int allocate(scratch_t *scratch) except -1:
    scratch.entries = <icws_entry *>malloc(GROUP_ENTRIES * sizeof(icws_entry))
    scratch.pairs = <pair_t *>malloc(2 * GROUP_ENTRIES * sizeof(pair_t))
    scratch.states = <icws_state *>malloc(GROUP_ROWS * sizeof(icws_state))
    if scratch.entries == NULL or scratch.pairs == NULL or scratch.states == NULL:
        release(scratch)
        raise MemoryError
    return 0


cdef void release(scratch_t *scratch) noexcept:
    free(scratch.entries)
    free(scratch.pairs)
    free(scratch.states)


cdef inline float log_weight(value_t value) noexcept nogil:
    return <float>log_f64(absolute(value))


cdef Py_ssize_t group_end(const int64_t[::1] indptr, Py_ssize_t row) noexcept nogil:
    """End of the group that starts with `row`."""
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, stop = row + 1
    while (stop < n_rows and stop - row < GROUP_ROWS
           and indptr[stop + 1] - indptr[row] <= GROUP_ENTRIES):
        stop += 1
    return stop


cdef Py_ssize_t gather_by_column(const value_t *values, const index_t *indices,
                                 const int64_t *indptr, Py_ssize_t n_rows, bint signed_,
                                 scratch_t scratch) noexcept nogil:
    """Entries of a whole group, in the order of columns; positions count from its first."""
    cdef Py_ssize_t n = 0, row, i, first = indptr[0]
    cdef uint64_t seen = 0
    cdef pair_t *pairs = scratch.pairs
    cdef icws_entry *entry
    for row in range(n_rows):
        for i in range(indptr[row], indptr[row + 1]):
            if values[i] != 0:
                pairs[n].key = column_of(values, indices, i, signed_)
                pairs[n].payload = <uint64_t>row << 32 | <uint64_t>(i - first)
                seen |= pairs[n].key
                n += 1
    if n_rows > 1:
        pairs = sort_pairs(pairs, pairs + n, n, bit_length(seen))
    for i in range(n):
        entry = &scratch.entries[i]
        entry.column = pairs[i].key
        entry.row = <int32_t>(pairs[i].payload >> 32)
        entry.position = <uint32_t>pairs[i].payload
        entry.log_weight = log_weight(values[first + entry.position])
    return n


cdef Py_ssize_t gather_run(const value_t *values, const index_t *indices, Py_ssize_t first,
                           Py_ssize_t start, Py_ssize_t stop, bint signed_,
                           icws_entry *entries) noexcept nogil:
    """Entries start to stop of a single row that begins at `first`."""
    cdef Py_ssize_t n = 0, i
    for i in range(start, stop):
        if values[i] != 0:
            entries[n].column = column_of(values, indices, i, signed_)
            entries[n].row = 0
            entries[n].position = <uint32_t>(i - first)
            entries[n].log_weight = log_weight(values[i])
            n += 1
    return n


cdef void reset(icws_state *states, Py_ssize_t n_rows) noexcept nogil:
    cdef Py_ssize_t row
    cdef int j
    for row in range(n_rows):
        for j in range(TILE):
            states[row].least[j] = INFINITY
            states[row].position[j] = -1


cdef void sample_long_row(const value_t *values, const index_t *indices, Py_ssize_t first,
                          Py_ssize_t last, uint64_t key, Py_ssize_t first_sample, bint signed_,
                          scratch_t scratch) noexcept nogil:
    """One tile of a row whose entries exceed the scratch, in runs that do not."""
    cdef Py_ssize_t start = first, stop, n
    while start < last:
        stop = min(start + GROUP_ENTRIES, last)
        n = gather_run(values, indices, first, start, stop, signed_, scratch.entries)
        icws_tile(key, first_sample, scratch.entries, n, scratch.states)
        start = stop


cdef void emit(const value_t *values, const index_t *indices, Py_ssize_t first, bint signed_,
               const icws_state *state, Py_ssize_t n, int bits, int t_bits, int64_t offset,
               int64_t stride, out_index_t *out, int64_t *out_t) noexcept nogil:
    """Write n samples of one row: codes, and t* if `out_t` is given."""
    cdef uint64_t mask = (<uint64_t>1 << bits) - 1, t_mask = (<uint64_t>1 << t_bits) - 1
    cdef uint64_t column, code
    cdef Py_ssize_t j
    cdef bint empty = state.position[0] < 0
    for j in range(n):
        if empty:
            out[j] = -1
        else:
            column = column_of(values, indices, first + <uint32_t>state.position[j], signed_)
            code = column & mask | (<uint64_t>state.t[j] & t_mask) << bits
            out[j] = <out_index_t>(offset + stride * j + <int64_t>code)
        if out_t != NULL:
            out_t[j] = -1 if empty else state.t[j]


def icws(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
         uint64_t key, bint signed_, int bits, int t_bits, int64_t stride,
         out_index_t[:, ::1] out, int64_t[:, ::1] out_t=None):
    """Sample j as `stride` j + code, the lowest `bits` of i* with the lowest `t_bits` of t* above.

    With bits = 63 and no stride the code is i* itself; t* goes to `out_t` if there is one.
    """
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, n_hashes = out.shape[1]
    cdef Py_ssize_t start = 0, stop, n = 0, tile, row
    cdef bint long_row
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    cdef int64_t *row_t = NULL
    cdef scratch_t scratch
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    allocate(&scratch)
    try:
        with nogil:
            while start < n_rows:
                stop = group_end(indptr, start)
                long_row = indptr[stop] - indptr[start] > GROUP_ENTRIES
                if not long_row:
                    n = gather_by_column(value, index, &indptr[start], stop - start, signed_,
                                         scratch)
                tile = 0
                while tile < n_hashes:
                    reset(scratch.states, stop - start)
                    if long_row:
                        sample_long_row(value, index, indptr[start], indptr[stop], key, tile,
                                        signed_, scratch)
                    else:
                        icws_tile(key, tile, scratch.entries, n, scratch.states)
                    for row in range(start, stop):
                        if out_t is not None:
                            row_t = &out_t[row, tile]
                        emit(value, index, indptr[start], signed_, &scratch.states[row - start],
                             min(n_hashes - tile, <Py_ssize_t>TILE), bits, t_bits, stride * tile,
                             stride, &out[row, tile], row_t)
                    tile += TILE
                start = stop
    finally:
        release(&scratch)
