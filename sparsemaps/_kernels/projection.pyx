# Random projections: inner products of rows with random vectors that nobody stores.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key;
# the distribution of the vectors' entries.
# Output: projection j of each row. Entries are added in the order of their columns.
# Cost: O(entries * projections). The random numbers of a column are made once for the rows of a
# group and a tile of projections, so the more rows share their columns the cheaper they are.
# Reference: Box & Muller 1958 for the normal distribution.
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._kernels.groups cimport (add_rows, close_group, column_start, fits,
                                         gather_by_column, group_end, group_t, open_group)
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "projection.h" nogil:
    enum:
        TILE
        NORMAL_ "NORMAL"
        CAUCHY_ "CAUCHY"
        LAPLACE_ "LAPLACE"
        RADEMACHER_ "RADEMACHER"
    uint64_t word(uint64_t start, uint64_t counter)
    void draw_tiles(int distribution, uint64_t start, uint64_t n_tiles, float *draws)
    void project_tile_f32(int distribution, uint64_t tile, const uint64_t *starts,
                          const int64_t *ends, Py_ssize_t n_columns, const uint32_t *rows,
                          const float *values, float *sums)
    void project_tile_f64(int distribution, uint64_t tile, const uint64_t *starts,
                          const int64_t *ends, Py_ssize_t n_columns, const uint32_t *rows,
                          const double *values, double *sums)

NORMAL, CAUCHY, LAPLACE, RADEMACHER = NORMAL_, CAUCHY_, LAPLACE_, RADEMACHER_
TILE_SIZE = TILE

cdef void add_tile(const void *task, Py_ssize_t first, const group_t *group) noexcept nogil:
    """`task` is the distribution."""
    cdef int distribution = (<const int *>task)[0]
    if group.itemsize == sizeof(float):
        project_tile_f32(distribution, first // TILE, group.starts, group.ends, group.n_columns,
                         group.rows, <const float *>group.values, <float *>group.sums)
    else:
        project_tile_f64(distribution, first // TILE, group.starts, group.ends, group.n_columns,
                         group.rows, <const double *>group.values, <double *>group.sums)


def project(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
            uint64_t key, int distribution, value_t[:, ::1] out):
    """Write the projections of each row to its row of `out`."""
    cdef Py_ssize_t n_rows = out.shape[0], n_projections = out.shape[1], first, width
    cdef Py_ssize_t start = 0, stop, row
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    cdef value_t *sums
    cdef group_t group
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    open_group(&group, sizeof(value_t), TILE * sizeof(value_t))
    sums = <value_t *>group.sums
    with nogil:
        while start < n_rows:
            stop = group_end(indptr, start)
            if fits(&indptr[start], stop - start):
                gather_by_column(value, index, &indptr[start], stop - start, key, &group)
            first = 0
            while first < n_projections:
                memset(sums, 0, (stop - start) * TILE * sizeof(value_t))
                add_rows(value, index, &indptr[start], stop - start, key, add_tile, &distribution,
                         first, &group)
                width = min(n_projections - first, <Py_ssize_t>TILE)
                for row in range(start, stop):
                    memcpy(&out[row, first], sums + (row - start) * TILE, width * sizeof(value_t))
                first += TILE
            start = stop
    close_group(&group)


def draw(uint64_t key, int distribution, uint64_t column, float[::1] out):
    """The entries of one column, a whole number of tiles of them."""
    draw_tiles(distribution, column_start(key, column), out.shape[0] // TILE, &out[0])


def random_words(uint64_t key, uint64_t[::1] out):
    """Words of the key's own, one for each component."""
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = word(column_start(key, 0), j)
