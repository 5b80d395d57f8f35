# Random binning: the bins of a row in random grids, hashed to a code a grid.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key.
# Output: codes. The hash of a row's bins is a sum over its entries, in which zeros count nothing.
# Cost: O(entries * grids). The random numbers of a column are made once for the rows of a group
# and a tile of grids, so the more rows share their columns the cheaper they are.
# Reference: Rahimi & Recht 2007, section 4.
from libc.stdint cimport int64_t, uint64_t

from sparsemaps._kernels.code_output cimport code_output, code_output_t, put_codes
from sparsemaps._kernels.groups cimport column_start, for_each_group, group_t, work_t
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "random_binning.h" nogil:
    enum:
        TILE
        PITCH_BITS
    uint64_t mix64(uint64_t x)
    uint64_t word(uint64_t start, uint64_t counter)
    void binning_tile_f32(uint64_t first_grid, double gamma, const double *inverse_pitches,
                          const group_t *group)
    void binning_tile_f64(uint64_t first_grid, double gamma, const double *inverse_pitches,
                          const group_t *group)

N_PITCHES = 1 << PITCH_BITS


cdef struct task_t:
    bint single                     # whether values are float32
    double gamma
    const double *inverse_pitches
    uint64_t grid_words             # where the words of the grids start
    code_output_t codes


cdef void add_tile(const void *task, Py_ssize_t tile, const group_t *group) noexcept nogil:
    cdef const task_t *what = <const task_t *>task
    if what.single:
        binning_tile_f32(TILE * tile, what.gamma, what.inverse_pitches, group)
    else:
        binning_tile_f64(TILE * tile, what.gamma, what.inverse_pitches, group)


cdef void emit_tile(const void *task, Py_ssize_t tile, Py_ssize_t row, int64_t start,
                    const void *sums) noexcept nogil:
    cdef const task_t *what = <const task_t *>task
    cdef const uint64_t *hashes = <const uint64_t *>sums
    cdef int64_t codes[TILE]
    cdef Py_ssize_t j
    for j in range(TILE):
        codes[j] = mix64(hashes[j] + word(what.grid_words, TILE * tile + j)) >> (
            64 - what.codes.bits)
    put_codes(&what.codes, row, TILE * tile, codes, TILE)


def bin_rows(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
             uint64_t key, double gamma, const double[::1] inverse_pitches, Py_ssize_t n_grids,
             int bits, int layout, out):
    """Write grid j's code, `bits` long, of each row (code_output.pxd)."""
    cdef task_t task
    cdef work_t work
    if indptr.shape[0] == 1:
        return
    task.single = value_t is float
    task.gamma = gamma
    task.inverse_pitches = NULL
    if inverse_pitches is not None:
        task.inverse_pitches = &inverse_pitches[0]
    task.grid_words = column_start(key, <uint64_t>-1)
    task.codes = code_output(layout, out, n_grids, bits)
    work.key = key
    work.signed_ = False
    work.n_tiles = (n_grids + TILE - 1) // TILE
    work.row_bytes = TILE * sizeof(uint64_t)
    work.initial = NULL
    work.prepare = NULL
    work.add = add_tile
    work.emit = emit_tile
    work.task = &task
    for_each_group(values, indices, indptr, &work)
