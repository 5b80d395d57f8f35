# Random projections: inner products of rows with random vectors, which are not stored.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key;
# the distribution of the vectors' entries, for QUANTILES with its table.
# Output: projections of each row, or their signs. Entries are added in the order of their columns.
# The sign of a projection that is 0 is that of a second one, on a normal vector of another key.
# Cost: O(entries * projections). The random numbers of a column are made once for the rows of a
# group and a tile of projections, so the more rows share their columns the cheaper they are. Random
# signs cost little, and are made again for each row.
# Normal entries are quantiles of uniform numbers (normals.h); others are read from a table.
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._loops.code_output cimport (code_output, code_output_at,
                                            code_output_loops, code_output_t)
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
        PROJECTION_QUANTILES
        PROJECTION_PARTS
        PROJECTION_TILE
        PROJECTION_SIGNS
    ctypedef struct projection_loops:
        void (*draw)(int distribution, const float *quantiles, uint64_t start, Py_ssize_t n,
                     float *out) noexcept nogil
        void (*add)(int distribution, const float *quantiles, uint64_t tile, const group_t *group,
                    void *sums) noexcept nogil
        void (*sign_starts)(uint64_t key, const void *indices, size_t index_size, Py_ssize_t n,
                            uint64_t *starts) noexcept nogil
        void (*add_signs)(const uint64_t *starts, Py_ssize_t n, uint64_t tile, const void *values,
                          void *sums) noexcept nogil
        void (*settle)(uint64_t key, const void *indices, size_t index_size, const void *values,
                       Py_ssize_t n_entries, uint64_t first, void *sums,
                       Py_ssize_t n) noexcept nogil
        uint64_t (*bits)(const void *projections, Py_ssize_t n) noexcept nogil
        void (*values)(const void *projections, Py_ssize_t n, double one, void *out) noexcept nogil
    const projection_loops *projection_at(int level, size_t value_size)

cdef extern from "c/random/random.h" nogil:
    uint64_t column_start(uint64_t key, uint64_t column)
    uint64_t word(uint64_t start, uint64_t counter)

cdef const code_output_loops *output_loops = code_output_at(level)

NORMAL, CAUCHY, LAPLACE = PROJECTION_NORMAL, PROJECTION_CAUCHY, PROJECTION_LAPLACE
RADEMACHER, QUANTILES = PROJECTION_RADEMACHER, PROJECTION_QUANTILES
N_PARTS = PROJECTION_PARTS
TILE_SIZE = PROJECTION_TILE


# What becomes of projections: they are written as they are; if `one` is not 0, as one or -one by
# their signs; if `out` is NULL, as codes. `zeros_key` is that of the vectors that decide about 0.
cdef struct output_t:
    Py_ssize_t n           # projections of a row
    uint64_t zeros_key
    void *out
    Py_ssize_t width       # of a row of `out`
    double one
    code_output_t codes


cdef inline void emit(const projection_loops *loops, const value_t[::1] values,
                      const index_t[::1] indices, const int64_t[::1] indptr, value_t *sums,
                      Py_ssize_t row, Py_ssize_t first, const output_t *output) noexcept nogil:
    """Write a tile of a row's projections, from number `first` on. Sums may be changed."""
    cdef Py_ssize_t n = min(output.n - first, <Py_ssize_t>PROJECTION_TILE)
    cdef Py_ssize_t n_entries = indptr[row + 1] - indptr[row]
    cdef value_t *out = <value_t *>output.out + row * output.width + first
    if n_entries > 0 and (output.out == NULL or output.one != 0):
        loops.settle(output.zeros_key, &indices[indptr[row]], sizeof(index_t),
                     &values[indptr[row]], n_entries, first, sums, n)
    if output.out == NULL:
        output_loops.put_bits(&output.codes, row, first, loops.bits(sums, n), n)
    elif output.one == 0:
        memcpy(out, sums, n * sizeof(value_t))
    else:
        loops.values(sums, n, output.one, out)


cdef int project_in_groups(const value_t[::1] values, const index_t[::1] indices,
                           const int64_t[::1] indptr, uint64_t key, int distribution,
                           const float *quantiles, const output_t *output) except -1:
    cdef Py_ssize_t n_tiles = (output.n + PROJECTION_TILE - 1) // PROJECTION_TILE, row, tile
    cdef const projection_loops *loops = projection_at(level, sizeof(value_t))
    cdef groups_t groups
    cdef Scratch scratch = borrow_scratch()
    cdef value_t *sums
    open_groups(&groups, scratch, values, indices, indptr, key, False,
                PROJECTION_TILE * sizeof(value_t))
    sums = <value_t *>groups.sums
    with nogil:
        while next_group(&groups):
            for tile in range(n_tiles):
                memset(sums, 0, groups.n_rows * PROJECTION_TILE * sizeof(value_t))
                while next_part(&groups):
                    loops.add(distribution, quantiles, tile, &groups.group, sums)
                for row in range(groups.n_rows):
                    emit(loops, values, indices, indptr, sums + row * PROJECTION_TILE,
                         groups.start + row, PROJECTION_TILE * tile, output)
    return give_back_scratch(scratch)


cdef int project_on_signs(const value_t[::1] values, const index_t[::1] indices,
                          const int64_t[::1] indptr, uint64_t key,
                          const output_t *output) except -1:
    cdef Py_ssize_t n_tiles = (output.n + PROJECTION_TILE - 1) // PROJECTION_TILE, row, tile, n
    cdef const projection_loops *loops = projection_at(level, sizeof(value_t))
    cdef size_t size = n_tiles * PROJECTION_TILE * sizeof(value_t)
    cdef uint64_t starts[PROJECTION_SIGNS]
    cdef Scratch scratch = borrow_scratch()
    cdef value_t *sums = <value_t *>scratch.take(size)
    cdef int64_t i
    with nogil:
        for row in range(indptr.shape[0] - 1):
            memset(sums, 0, size)
            i = indptr[row]
            while i < indptr[row + 1]:
                n = min(indptr[row + 1] - i, <int64_t>PROJECTION_SIGNS)
                loops.sign_starts(key, &indices[i], sizeof(index_t), n, starts)
                for tile in range(n_tiles):
                    loops.add_signs(starts, n, tile, &values[i], sums + PROJECTION_TILE * tile)
                i += n
            for tile in range(n_tiles):
                emit(loops, values, indices, indptr, sums + PROJECTION_TILE * tile, row,
                     PROJECTION_TILE * tile, output)
    return give_back_scratch(scratch)


cdef int run(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
             uint64_t key, int distribution, const float *quantiles,
             const output_t *output) except -1:
    if distribution == PROJECTION_RADEMACHER:
        return project_on_signs(values, indices, indptr, key, output)
    return project_in_groups(values, indices, indptr, key, distribution, quantiles, output)


cdef const float *table_of(const float[::1] quantiles) except? NULL:
    return NULL if quantiles is None else &quantiles[0]


def project(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
            uint64_t key, int distribution, Py_ssize_t n_projections, value_t[:, ::1] out,
            const float[::1] quantiles=None):
    """Write the projections of each row to the beginning of its row of `out`."""
    write_values(values, indices, indptr, key, 0, distribution, n_projections, out, 0,
                 table_of(quantiles))


def project_to_signs(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, uint64_t key, uint64_t zeros_key, int distribution,
                     Py_ssize_t n_projections, value_t[:, ::1] out, double one):
    """Write one for each projection that is not negative, otherwise -one. The sign of one that is 0
    is that of a projection on a normal vector of `zeros_key`; in a row of zeros it is positive."""
    write_values(values, indices, indptr, key, zeros_key, distribution, n_projections, out, one,
                 NULL)


cdef int write_values(const value_t[::1] values, const index_t[::1] indices,
                      const int64_t[::1] indptr, uint64_t key, uint64_t zeros_key,
                      int distribution, Py_ssize_t n_projections, value_t[:, ::1] out, double one,
                      const float *quantiles) except -1:
    cdef output_t output
    if out.shape[0] > 0 and out.shape[1] > 0:
        output.n, output.width, output.one = n_projections, out.shape[1], one
        output.out, output.zeros_key = &out[0, 0], zeros_key
        run(values, indices, indptr, key, distribution, quantiles, &output)
    return 0


def project_to_codes(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, uint64_t key, uint64_t zeros_key, int distribution,
                     Py_ssize_t n_projections, int layout, out):
    """Write a code for each projection, 1 where it is not negative, by the same rule."""
    cdef output_t output
    output.n, output.out, output.zeros_key = n_projections, NULL, zeros_key
    output.codes = code_output(layout, out, n_projections, 1)
    run(values, indices, indptr, key, distribution, NULL, &output)


def settle_zeros(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
                 uint64_t zeros_key, value_t[:, ::1] projections):
    """Replace projections of each row that are 0 by 1 or -1, by the same rule."""
    cdef const projection_loops *loops = projection_at(level, sizeof(value_t))
    cdef Py_ssize_t row, n_entries, tile, first, n = projections.shape[1]
    with nogil:
        for row in range(projections.shape[0]):
            n_entries = indptr[row + 1] - indptr[row]
            if n_entries == 0:
                continue
            for tile in range((n + PROJECTION_TILE - 1) // PROJECTION_TILE):
                first = PROJECTION_TILE * tile
                loops.settle(zeros_key, &indices[indptr[row]], sizeof(index_t),
                             &values[indptr[row]], n_entries, first, &projections[row, first],
                             min(n - first, <Py_ssize_t>PROJECTION_TILE))


def draw(uint64_t key, int distribution, uint64_t column, float[::1] out,
         const float[::1] quantiles=None):
    """The entries of one column, a multiple of TILE_SIZE of them."""
    cdef const projection_loops *loops = projection_at(level, sizeof(float))
    loops.draw(distribution, table_of(quantiles), column_start(key, column), out.shape[0], &out[0])


def random_words(uint64_t key, uint64_t[::1] out):
    """Words of the key's own, one for each component."""
    cdef Py_ssize_t j
    for j in range(out.shape[0]):
        out[j] = word(column_start(key, 0), j)
