# Random projections: inner products of rows with random vectors, which are not stored.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key;
# the distribution of the vectors' entries.
# Output: projections of each row, or their signs. Entries are added in the order of their columns.
# Cost: O(entries * projections). The random numbers of a column are made once for the rows of a
# group and a tile of projections, so the more rows share their columns the cheaper they are. Random
# signs cost little, and are made again for each row.
# Normal entries are quantiles of uniform numbers (normals.h).
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._loops.code_output cimport code_output, code_output_t, put_bits
from sparsemaps._loops.groups cimport group_t, groups_t, next_group, next_part, open_groups
from sparsemaps._loops.levels cimport level
from sparsemaps._loops.scratch cimport Scratch, borrow_scratch, give_back_scratch
from sparsemaps._loops.types cimport index_t, value_t

cdef extern from "c/maps/projection.h" nogil:
    enum:
        PROJECTION_NORMAL
        PROJECTION_CAUCHY
        PROJECTION_LAPLACE
        PROJECTION_RADEMACHER
        PROJECTION_TILE
        PROJECTION_SIGNS
    ctypedef struct projection_loops:
        void (*draw)(int distribution, uint64_t start, Py_ssize_t n, float *out) noexcept nogil
        void (*add_f32)(int distribution, uint64_t tile, const group_t *group,
                        float *sums) noexcept nogil
        void (*add_f64)(int distribution, uint64_t tile, const group_t *group,
                        double *sums) noexcept nogil
        void (*sign_starts_i32)(uint64_t key, const int32_t *indices, Py_ssize_t n,
                                uint64_t *starts) noexcept nogil
        void (*sign_starts_i64)(uint64_t key, const int64_t *indices, Py_ssize_t n,
                                uint64_t *starts) noexcept nogil
        void (*add_signs_f32)(const uint64_t *starts, Py_ssize_t n, uint64_t tile,
                              const float *values, float *sums) noexcept nogil
        void (*add_signs_f64)(const uint64_t *starts, Py_ssize_t n, uint64_t tile,
                              const double *values, double *sums) noexcept nogil
        uint64_t (*bits_f32)(const float *projections, Py_ssize_t n) noexcept nogil
        uint64_t (*bits_f64)(const double *projections, Py_ssize_t n) noexcept nogil
        void (*values_f32)(const float *projections, Py_ssize_t n, float one,
                           float *out) noexcept nogil
        void (*values_f64)(const double *projections, Py_ssize_t n, double one,
                           double *out) noexcept nogil
    const projection_loops *projection_at(int level)

cdef extern from "c/random/random.h" nogil:
    uint64_t column_start(uint64_t key, uint64_t column)
    uint64_t word(uint64_t start, uint64_t counter)

cdef const projection_loops *loops = projection_at(level)

NORMAL, CAUCHY, LAPLACE = PROJECTION_NORMAL, PROJECTION_CAUCHY, PROJECTION_LAPLACE
RADEMACHER = PROJECTION_RADEMACHER
TILE_SIZE = PROJECTION_TILE


cdef inline void emit(const value_t *sums, Py_ssize_t row, Py_ssize_t first,
                      Py_ssize_t n_projections, value_t *out, Py_ssize_t width, value_t one,
                      const code_output_t *codes) noexcept nogil:
    """Write a tile of a row's projections, from number `first` on: as they are; if `one` is not 0,
    one or -one by their signs; if `out` is NULL, codes."""
    cdef Py_ssize_t n = min(n_projections - first, <Py_ssize_t>PROJECTION_TILE)
    if out == NULL:
        if value_t is float:
            put_bits(codes, row, first, loops.bits_f32(sums, n), n)
        else:
            put_bits(codes, row, first, loops.bits_f64(sums, n), n)
    elif one == 0:
        memcpy(out + row * width + first, sums, n * sizeof(value_t))
    elif value_t is float:
        loops.values_f32(sums, n, one, out + row * width + first)
    else:
        loops.values_f64(sums, n, one, out + row * width + first)


cdef int project_in_groups(const value_t *values, const index_t *indices, const int64_t *indptr,
                           Py_ssize_t n_rows, uint64_t key, int distribution,
                           Py_ssize_t n_projections, value_t *out, Py_ssize_t width, value_t one,
                           const code_output_t *codes) except -1:
    cdef Py_ssize_t n_tiles = (n_projections + PROJECTION_TILE - 1) // PROJECTION_TILE, row, tile
    cdef groups_t groups
    cdef Scratch scratch = open_groups(&groups, values, indices, indptr, n_rows, key, False,
                                       PROJECTION_TILE * sizeof(value_t), logarithms=False)
    cdef value_t *sums = <value_t *>groups.sums
    with nogil:
        while next_group(&groups, values, indices, indptr, n_rows):
            for tile in range(n_tiles):
                memset(sums, 0, groups.n_rows * PROJECTION_TILE * sizeof(value_t))
                while next_part(&groups, values, indices, indptr):
                    if value_t is float:
                        loops.add_f32(distribution, tile, &groups.group, sums)
                    else:
                        loops.add_f64(distribution, tile, &groups.group, sums)
                for row in range(groups.n_rows):
                    emit(<const value_t *>(sums + row * PROJECTION_TILE), groups.start + row,
                         PROJECTION_TILE * tile, n_projections, out, width, one, codes)
    return give_back_scratch(scratch)


cdef int project_on_signs(const value_t *values, const index_t *indices, const int64_t *indptr,
                          Py_ssize_t n_rows, uint64_t key, Py_ssize_t n_projections, value_t *out,
                          Py_ssize_t width, value_t one, const code_output_t *codes) except -1:
    cdef Py_ssize_t n_tiles = (n_projections + PROJECTION_TILE - 1) // PROJECTION_TILE
    cdef Py_ssize_t row, tile, n
    cdef size_t size = n_tiles * PROJECTION_TILE * sizeof(value_t)
    cdef uint64_t starts[PROJECTION_SIGNS]
    cdef Scratch scratch = borrow_scratch(size)
    cdef value_t *sums = <value_t *>scratch.memory
    cdef int64_t i
    with nogil:
        for row in range(n_rows):
            memset(sums, 0, size)
            i = indptr[row]
            while i < indptr[row + 1]:
                n = min(indptr[row + 1] - i, <int64_t>PROJECTION_SIGNS)
                if index_t is int32_t:
                    loops.sign_starts_i32(key, &indices[i], n, starts)
                else:
                    loops.sign_starts_i64(key, &indices[i], n, starts)
                for tile in range(n_tiles):
                    if value_t is float:
                        loops.add_signs_f32(starts, n, tile, &values[i],
                                            sums + PROJECTION_TILE * tile)
                    else:
                        loops.add_signs_f64(starts, n, tile, &values[i],
                                            sums + PROJECTION_TILE * tile)
                i += n
            for tile in range(n_tiles):
                emit(<const value_t *>(sums + PROJECTION_TILE * tile), row, PROJECTION_TILE * tile,
                     n_projections, out, width, one, codes)
    return give_back_scratch(scratch)


cdef int run(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
             uint64_t key, int distribution, Py_ssize_t n_projections, value_t *out,
             Py_ssize_t width, value_t one, const code_output_t *codes) except -1:
    cdef Py_ssize_t n_rows = indptr.shape[0] - 1
    cdef const value_t *value = NULL
    cdef const index_t *index = NULL
    if values.shape[0] > 0:
        value = &values[0]
        index = &indices[0]
    if distribution == PROJECTION_RADEMACHER:
        return project_on_signs(value, index, &indptr[0], n_rows, key, n_projections, out, width,
                                one, codes)
    return project_in_groups(value, index, &indptr[0], n_rows, key, distribution, n_projections,
                             out, width, one, codes)


def project(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
            uint64_t key, int distribution, Py_ssize_t n_projections, value_t[:, ::1] out,
            double one=0):
    """Write the projections of each row to the beginning of its row of `out`; or, if `one` is not
    0, one where they are not negative and otherwise -one."""
    if out.shape[0] > 0 and out.shape[1] > 0:
        run(values, indices, indptr, key, distribution, n_projections, &out[0, 0], out.shape[1],
            <value_t>one, NULL)


def project_to_codes(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, uint64_t key, int distribution,
                     Py_ssize_t n_projections, int layout, out):
    """Write a code for each projection, 1 where it is not negative."""
    cdef code_output_t codes = code_output(layout, out, n_projections, 1)
    run(values, indices, indptr, key, distribution, n_projections, <value_t *>NULL, 0, 0, &codes)


def draw(uint64_t key, int distribution, uint64_t column, float[::1] out):
    """The entries of one column, a multiple of TILE_SIZE of them."""
    loops.draw(distribution, column_start(key, column), out.shape[0], &out[0])


def random_words(uint64_t key, uint64_t[::1] out):
    """Words of the key's own, one for each component."""
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = word(column_start(key, 0), j)
