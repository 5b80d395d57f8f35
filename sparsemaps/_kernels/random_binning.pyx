# Random binning: the bins of a row in random grids, hashed to a code a grid.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key.
# Output: codes. The hash of a row's bins is a sum over its entries, in which zeros count nothing.
# Cost: O(entries * grids). The random numbers of a column are made once for the rows of a group
# and a tile of grids, so the more rows share their columns the cheaper they are.
# Reference: Rahimi & Recht 2007, section 4.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from sparsemaps._kernels.groups cimport (add_rows, close_group, column_start, fits,
                                         gather_by_column, group_end, group_t, open_group)
from sparsemaps._kernels.types cimport index_t, out_index_t, value_t

cdef extern from "random_binning.h" nogil:
    enum:
        TILE
        PITCH_BITS
    uint64_t mix64(uint64_t x)
    uint64_t word(uint64_t start, uint64_t counter)
    void binning_tile_f32(uint64_t first_grid, double gamma, const double *inverse_pitches,
                          const uint64_t *starts, const int64_t *ends, Py_ssize_t n_columns,
                          const uint32_t *rows, const float *values, uint64_t *sums)
    void binning_tile_f64(uint64_t first_grid, double gamma, const double *inverse_pitches,
                          const uint64_t *starts, const int64_t *ends, Py_ssize_t n_columns,
                          const uint32_t *rows, const double *values, uint64_t *sums)

N_PITCHES = 1 << PITCH_BITS


cdef struct grids_t:
    double gamma
    const double *inverse_pitches


cdef void add_tile(const void *task, Py_ssize_t first, const group_t *group) noexcept nogil:
    """`task` is the grids."""
    cdef const grids_t *grids = <const grids_t *>task
    cdef uint64_t *sums = <uint64_t *>group.sums
    if group.itemsize == sizeof(float):
        binning_tile_f32(first, grids.gamma, grids.inverse_pitches, group.starts, group.ends,
                         group.n_columns, group.rows, <const float *>group.values, sums)
    else:
        binning_tile_f64(first, grids.gamma, grids.inverse_pitches, group.starts, group.ends,
                         group.n_columns, group.rows, <const double *>group.values, sums)


def bin_rows(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
             uint64_t key, double gamma, const double[::1] inverse_pitches, int bits,
             int64_t stride, out_index_t[:, ::1] out):
    """Grid j's code, `bits` long, plus `stride` j."""
    cdef Py_ssize_t n_rows = out.shape[0], n_grids = out.shape[1], first, j, row
    cdef Py_ssize_t start = 0, stop
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    cdef uint64_t *sums
    cdef uint64_t grid_words = column_start(key, <uint64_t>-1), code
    cdef grids_t grids
    cdef group_t group
    grids.gamma = gamma
    grids.inverse_pitches = NULL if inverse_pitches is None else &inverse_pitches[0]
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    open_group(&group, sizeof(value_t), TILE * sizeof(uint64_t))
    sums = <uint64_t *>group.sums
    with nogil:
        while start < n_rows:
            stop = group_end(indptr, start)
            if fits(&indptr[start], stop - start):
                gather_by_column(value, index, &indptr[start], stop - start, key, &group)
            first = 0
            while first < n_grids:
                memset(sums, 0, (stop - start) * TILE * sizeof(uint64_t))
                add_rows(value, index, &indptr[start], stop - start, key, add_tile, &grids, first,
                         &group)
                for row in range(start, stop):
                    for j in range(first, min(first + <Py_ssize_t>TILE, n_grids)):
                        code = sums[(row - start) * TILE + j - first] + word(grid_words, j)
                        code = mix64(code) >> (64 - bits)
                        out[row, j] = <out_index_t>(stride * j + <int64_t>code)
                first += TILE
            start = stop
    close_group(&group)
