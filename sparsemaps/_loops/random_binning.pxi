# Random binning: the bins of a row in random grids, hashed to one code per grid.
#
# Input: canonical CSR arrays, in which `indptr` delimits the rows to map; a 64-bit key.
# Output: codes. The hash of a row's bins is a sum over its entries, to which zeros add nothing.
# Cost: O(entries * grids). The random numbers of a column are drawn once for the rows of a group
# and a tile of grids: the more rows share their columns, the cheaper they are.
# Reference: Rahimi & Recht 2007, section 4.
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memset

from sparsemaps._loops.arrays cimport csr_block, csr_of
from sparsemaps._loops.code_output cimport code_output, code_output_t
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


cdef extern from "c/maps/random_binning.h" nogil:
    enum:
        BINNING_TILE
        BINNING_PITCH_BITS
    ctypedef struct random_binning_loops:
        void (*add)(uint64_t first_grid, double gamma, const double *inverse_pitches,
                    const group_t *group, uint64_t *sums) noexcept nogil
        void (*codes)(uint64_t first_grid, uint64_t grid_words, int bits, const uint64_t *sums,
                      int64_t *codes) noexcept nogil
    const random_binning_loops *random_binning_at(int, size_t value_size)

N_PITCHES = 1 << BINNING_PITCH_BITS


def bin_rows(values, indices, indptr, uint64_t key, double gamma,
             const double[::1] inverse_pitches, Py_ssize_t n_grids, int bits, int layout, out):
    """Write the `bits`-bit code of each row in each grid. Pitches are drawn for the Laplacian
    kernel, or from the N_PITCHES inverses in `inverse_pitches`."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef Py_ssize_t row, tile, first
    cdef Py_ssize_t n_tiles = (n_grids + BINNING_TILE - 1) // BINNING_TILE
    cdef uint64_t grid_words = column_start(key, <uint64_t>-1)
    cdef const double *pitches = NULL
    cdef const random_binning_loops *loops = random_binning_at(level, rows.value_size)
    cdef code_output_t output = code_output(layout, out, n_grids, bits)
    cdef int64_t codes[BINNING_TILE]
    cdef uint64_t *sums
    cdef groups_t groups
    cdef Scratch scratch = borrow_scratch()
    if inverse_pitches is not None:
        pitches = &inverse_pitches[0]
    open_groups(&groups, scratch, &rows, key, False, BINNING_TILE * sizeof(uint64_t))
    sums = <uint64_t *>groups.sums
    with nogil:
        while next_group(&groups):
            for tile in range(n_tiles):
                first = BINNING_TILE * tile
                memset(sums, 0, groups.n_rows * BINNING_TILE * sizeof(uint64_t))
                while next_part(&groups):
                    loops.add(first, gamma, pitches, &groups.group, sums)
                for row in range(groups.n_rows):
                    loops.codes(first, grid_words, bits, sums + row * BINNING_TILE, codes)
                    output_loops.put(&output, groups.start + row, first, codes, BINNING_TILE)
    give_back_scratch(scratch)
