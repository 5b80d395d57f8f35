# Random projections: inner products of rows with random vectors that nobody stores.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key;
# the distribution of the vectors' entries.
# Output: projections of each row, or their signs. Entries are added in the order of their columns.
# Cost: O(entries * projections). The random numbers of a column are made once for the rows of a
# group and a tile of projections, so the more rows share their columns the cheaper they are. Random
# signs cost next to nothing and are made anew for each row.
# Reference: Box & Muller 1958 for the normal distribution.
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._kernels.code_output cimport code_output, code_output_t, put_bits
from sparsemaps._kernels.groups cimport (aligned, column_start, for_each_group, group_t,
                                         release_aligned, work_t)
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "projection.h" nogil:
    enum:
        TILE
        SIGN_RUN
        NORMAL_ "NORMAL"
        CAUCHY_ "CAUCHY"
        LAPLACE_ "LAPLACE"
        RADEMACHER_ "RADEMACHER"
    uint64_t word(uint64_t start, uint64_t counter)
    void draw_column(int distribution, uint64_t start, Py_ssize_t n, float *out)
    void project_tile_f32(int distribution, uint64_t tile, const group_t *group)
    void project_tile_f64(int distribution, uint64_t tile, const group_t *group)
    void sign_starts_i32(uint64_t key, const int32_t *indices, Py_ssize_t n, uint64_t *starts)
    void sign_starts_i64(uint64_t key, const int64_t *indices, Py_ssize_t n, uint64_t *starts)
    void project_signs_f32(const uint64_t *starts, Py_ssize_t n, uint64_t counter,
                           const float *values, float *sums)
    void project_signs_f64(const uint64_t *starts, Py_ssize_t n, uint64_t counter,
                           const double *values, double *sums)
    uint64_t sign_bits_f32(const float *projections, Py_ssize_t n)
    uint64_t sign_bits_f64(const double *projections, Py_ssize_t n)
    void sign_values_f32(const float *projections, Py_ssize_t n, float one, float *out)
    void sign_values_f64(const double *projections, Py_ssize_t n, double one, double *out)

NORMAL, CAUCHY, LAPLACE, RADEMACHER = NORMAL_, CAUCHY_, LAPLACE_, RADEMACHER_
TILE_SIZE = TILE


# What is projected on, and where it goes: projections as they are; if `one` is not 0, one or -one
# by their signs; or, if `out` is NULL, codes.
cdef struct task_t:
    int distribution
    size_t itemsize
    Py_ssize_t n_projections
    char *out
    Py_ssize_t row_bytes       # of `out`
    double one
    code_output_t codes


cdef void emit_tile(const void *task, Py_ssize_t tile, Py_ssize_t row, int64_t start,
                    const void *sums) noexcept nogil:
    cdef const task_t *what = <const task_t *>task
    cdef Py_ssize_t first = TILE * tile, n = min(what.n_projections - first, <Py_ssize_t>TILE)
    cdef char *out = what.out + row * what.row_bytes + first * what.itemsize
    cdef bint single = what.itemsize == sizeof(float)
    if what.out == NULL and single:
        put_bits(&what.codes, row, first, sign_bits_f32(<const float *>sums, n), n)
    elif what.out == NULL:
        put_bits(&what.codes, row, first, sign_bits_f64(<const double *>sums, n), n)
    elif what.one == 0:
        memcpy(out, sums, n * what.itemsize)
    elif single:
        sign_values_f32(<const float *>sums, n, <float>what.one, <float *>out)
    else:
        sign_values_f64(<const double *>sums, n, what.one, <double *>out)


cdef void add_tile(const void *task, Py_ssize_t tile, const group_t *group) noexcept nogil:
    cdef const task_t *what = <const task_t *>task
    if what.itemsize == sizeof(float):
        project_tile_f32(what.distribution, tile, group)
    else:
        project_tile_f64(what.distribution, tile, group)


cdef int run(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
             uint64_t key, int distribution, Py_ssize_t n_projections, task_t *task) except -1:
    """`task` says where the projections go."""
    cdef Py_ssize_t n_tiles = (n_projections + TILE - 1) // TILE
    cdef work_t work
    task.distribution = distribution
    task.itemsize = sizeof(value_t)
    task.n_projections = n_projections
    if distribution == RADEMACHER_:
        return project_on_signs(values, indices, indptr, key, n_tiles, task)
    work.key = key
    work.signed_ = False
    work.n_tiles = n_tiles
    work.row_bytes = TILE * sizeof(value_t)
    work.initial = NULL
    work.prepare = NULL
    work.add = add_tile
    work.emit = emit_tile
    work.task = task
    return for_each_group(values, indices, indptr, &work)


cdef int project_on_signs(const value_t[::1] values, const index_t[::1] indices,
                          const int64_t[::1] indptr, uint64_t key, Py_ssize_t n_tiles,
                          const task_t *task) except -1:
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1, row, tile, n
    cdef size_t size = n_tiles * TILE * sizeof(value_t)
    cdef uint64_t starts[SIGN_RUN]
    cdef value_t *sums = <value_t *>aligned(size)
    cdef int64_t i
    if sums == NULL:
        raise MemoryError
    with nogil:
        for row in range(n_rows):
            memset(sums, 0, size)
            i = indptr[row]
            while i < indptr[row + 1]:
                n = min(indptr[row + 1] - i, <int64_t>SIGN_RUN)
                if index_t is int32_t:
                    sign_starts_i32(key, &indices[i], n, starts)
                else:
                    sign_starts_i64(key, &indices[i], n, starts)
                for tile in range(n_tiles):
                    if value_t is float:
                        project_signs_f32(starts, n, tile, &values[i], sums + TILE * tile)
                    else:
                        project_signs_f64(starts, n, tile, &values[i], sums + TILE * tile)
                i += n
            for tile in range(n_tiles):
                emit_tile(task, tile, row, 0, sums + TILE * tile)
    release_aligned(sums)
    return 0


def project(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
            uint64_t key, int distribution, Py_ssize_t n_projections, value_t[:, ::1] out,
            double one=0):
    """Write the projections of each row to the beginning of its row of `out`; or, if `one` is not
    0, one where they are not negative and otherwise -one."""
    cdef task_t task
    if out.shape[0] == 0:
        return
    task.out = <char *>&out[0, 0]
    task.row_bytes = out.shape[1] * sizeof(value_t)
    task.one = one
    run(values, indices, indptr, key, distribution, n_projections, &task)


def project_to_codes(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, uint64_t key, int distribution,
                     Py_ssize_t n_projections, int layout, out):
    """Write a code for each projection, 1 where it is not negative (code_output.pxd)."""
    cdef task_t task
    if indptr.shape[0] == 1:
        return
    task.out = NULL
    task.codes = code_output(layout, out, n_projections, 1)
    run(values, indices, indptr, key, distribution, n_projections, &task)


def draw(uint64_t key, int distribution, uint64_t column, float[::1] out):
    """The entries of one column, a multiple of TILE_SIZE of them."""
    draw_column(distribution, column_start(key, column), out.shape[0], &out[0])


def random_words(uint64_t key, uint64_t[::1] out):
    """Words of the key's own, one for each component."""
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = word(column_start(key, 0), j)
