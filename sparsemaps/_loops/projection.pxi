# Random projections: inner products of rows with random vectors, which are not stored.
#
# Input: canonical CSR arrays, in which `indptr` delimits the rows to map; a 64-bit key; the
# distribution of the vectors' entries, with a table for QUANTILES.
# Output: projections of each row, or their signs. Entries are added in order of their columns. If a
# projection is 0, its sign is taken from a second one, onto a normal vector with another key.
# Cost: O(entries * projections). The random numbers of a column are drawn once for the rows of a
# group and a tile of projections: the more rows share their columns, the cheaper they are. Random
# signs are cheap, and are drawn again for each row.
# Method: normal entries are quantiles of uniform numbers (normals.h); other distributions use
# formulas or a table of quantiles.
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from sparsemaps._loops.arrays cimport array_t, csr_block, csr_of, dense_output, values_from
from sparsemaps._loops.code_output cimport code_output, code_output_t
from sparsemaps._loops.levels cimport Scratch, borrow_scratch, give_back_scratch, level


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
        PROJECTION_COLUMN_BYTES
    ctypedef struct projection_t:
        int distribution
        const float *quantiles
        void *columns
        uint32_t *next
    ctypedef struct signs_t:
        uint64_t zeros_key
        int distribution
        Py_ssize_t width
        uint8_t *doubtful
        double largest
    ctypedef struct projection_loops:
        void (*draw)(int distribution, const float *quantiles, uint64_t start, Py_ssize_t n,
                     float *out) noexcept nogil
        void (*add)(const projection_t *projection, uint64_t tile, const group_t *group,
                    Py_ssize_t n_rows, void *sums) noexcept nogil
        void (*sign_starts)(uint64_t key, const csr_block *rows, int64_t first, Py_ssize_t n,
                            uint64_t *starts) noexcept nogil
        void (*add_signs)(const uint64_t *starts, Py_ssize_t n, uint64_t tile, const void *values,
                          void *sums) noexcept nogil
        void (*settle)(const signs_t *signs, const csr_block *rows, Py_ssize_t row, uint64_t first,
                       void *sums, Py_ssize_t n) noexcept nogil
        double (*largest)(const float *values, Py_ssize_t n) noexcept nogil
        uint64_t (*bits)(const void *projections, Py_ssize_t n) noexcept nogil
        void (*values)(const void *projections, Py_ssize_t n, double one, void *out) noexcept nogil
    const projection_loops *projection_at(int, size_t value_size)

NORMAL, CAUCHY, LAPLACE = PROJECTION_NORMAL, PROJECTION_CAUCHY, PROJECTION_LAPLACE
RADEMACHER, QUANTILES = PROJECTION_RADEMACHER, PROJECTION_QUANTILES
N_PARTS = PROJECTION_PARTS
TILE_SIZE = PROJECTION_TILE


# Output of projections: written unchanged; or, if `one` is not 0, as one or -one by their signs;
# or, if `out` is NULL, as codes.
cdef struct projections_t:
    Py_ssize_t n           # per row
    signs_t signs
    char *out
    Py_ssize_t width       # of a row of `out`
    double one
    code_output_t codes


cdef inline void emit_projections(const projection_loops *loops, const csr_block *rows, char *sums,
                                  Py_ssize_t row, Py_ssize_t first,
                                  const projections_t *output) noexcept nogil:
    """Write a tile of a row's projections, from number `first` on. May modify the sums."""
    cdef Py_ssize_t n = min(output.n - first, <Py_ssize_t>PROJECTION_TILE)
    cdef char *out
    if output.out == NULL or output.one != 0:
        loops.settle(&output.signs, rows, row, first, sums, n)
    if output.out == NULL:
        output_loops.put_bits(&output.codes, row, first, loops.bits(sums, n), n)
        return
    out = output.out + (row * output.width + first) * rows.value_size
    if output.one == 0:
        memcpy(out, sums, n * rows.value_size)
    else:
        loops.values(sums, n, output.one, out)


cdef int project_in_groups(const csr_block *rows, uint64_t key, int distribution,
                           const float *quantiles, const projections_t *output) except -1:
    cdef Py_ssize_t n_tiles = (output.n + PROJECTION_TILE - 1) // PROJECTION_TILE, row, tile
    cdef const projection_loops *loops = projection_at(level, rows.value_size)
    cdef size_t tile_bytes = PROJECTION_TILE * rows.value_size
    cdef groups_t groups
    cdef projection_t projection
    cdef Scratch scratch = borrow_scratch()
    cdef int64_t n_entries = rows.indptr[rows.n_rows] - rows.indptr[0]
    cdef char *sums
    open_groups(&groups, scratch, rows, key, False, tile_bytes, 0, False)
    sums = <char *>groups.sums
    projection.distribution, projection.quantiles = distribution, quantiles
    projection.columns = scratch.take(min(n_entries * tile_bytes, <size_t>PROJECTION_COLUMN_BYTES))
    projection.next = <uint32_t *>scratch.take(groups.max_rows * sizeof(uint32_t))
    with nogil:
        while next_group(&groups):
            for tile in range(n_tiles):
                memset(sums, 0, groups.n_rows * tile_bytes)
                while next_part(&groups):
                    loops.add(&projection, tile, &groups.group, groups.n_rows, sums)
                for row in range(groups.n_rows):
                    emit_projections(loops, rows, sums + row * tile_bytes, groups.start + row,
                                     PROJECTION_TILE * tile, output)
    return give_back_scratch(scratch)


cdef int project_on_signs(const csr_block *rows, uint64_t key,
                          const projections_t *output) except -1:
    cdef const int64_t *indptr = rows.indptr
    cdef Py_ssize_t n_tiles = (output.n + PROJECTION_TILE - 1) // PROJECTION_TILE, row, tile, n
    cdef const projection_loops *loops = projection_at(level, rows.value_size)
    cdef size_t tile_bytes = PROJECTION_TILE * rows.value_size
    cdef uint64_t starts[PROJECTION_SIGNS]
    cdef Scratch scratch = borrow_scratch()
    cdef char *sums = <char *>scratch.take(n_tiles * tile_bytes)
    cdef int64_t i
    with nogil:
        for row in range(rows.n_rows):
            memset(sums, 0, n_tiles * tile_bytes)
            i = indptr[row]
            while i < indptr[row + 1]:
                n = min(indptr[row + 1] - i, <int64_t>PROJECTION_SIGNS)
                loops.sign_starts(key, rows, i, n, starts)
                for tile in range(n_tiles):
                    loops.add_signs(starts, n, tile, values_from(rows, i), sums + tile_bytes * tile)
                i += n
            for tile in range(n_tiles):
                emit_projections(loops, rows, sums + tile_bytes * tile, row,
                                 PROJECTION_TILE * tile, output)
    return give_back_scratch(scratch)


cdef int project_rows(const csr_block *rows, uint64_t key, int distribution,
                      const float *quantiles, const projections_t *output) except -1:
    if distribution == PROJECTION_RADEMACHER:
        return project_on_signs(rows, key, output)
    return project_in_groups(rows, key, distribution, quantiles, output)


cdef signs_t signs_of(const csr_block *rows, uint64_t zeros_key, int distribution,
                      uint8_t[::1] doubtful, Py_ssize_t width=0):
    cdef signs_t signs
    cdef int64_t start = rows.indptr[0]
    signs.zeros_key, signs.distribution, signs.width = zeros_key, distribution, width
    signs.doubtful = NULL
    if doubtful is not None and rows.value_size == sizeof(float) and rows.n_rows > 0:
        signs.doubtful = &doubtful[0]
        signs.largest = projection_at(level, sizeof(float)).largest(
            <const float *>values_from(rows, start), rows.indptr[rows.n_rows] - start)
    return signs


cdef const float *table_of(const float[::1] quantiles) except? NULL:
    return NULL if quantiles is None else &quantiles[0]


def project(values, indices, indptr, uint64_t key, int distribution, Py_ssize_t n_projections, out,
            const float[::1] quantiles=None, double one=0, uint64_t zeros_key=0,
            uint8_t[::1] doubtful=None):
    """Write the projections of each row to the beginning of its row of `out`.

    If `one` is not 0, write one for each projection that is >= 0, otherwise -one. The sign of a
    zero is taken from a projection onto a normal vector with the key `zeros_key`; in a row of zeros
    it is positive. Set `doubtful`, if given, to 1 for each row with a sign that may be wrong,
    because float32 has rounded most of its sum away; such zeros may stay.
    """
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t array = dense_output(out, &rows)
    cdef projections_t output
    if array.shape[0] > 0 and array.shape[1] > 0:
        output.n, output.width, output.one = n_projections, array.shape[1], one
        output.out = array.data
        output.signs = signs_of(&rows, zeros_key, distribution, doubtful)
        project_rows(&rows, key, distribution, table_of(quantiles), &output)


def project_to_codes(values, indices, indptr, uint64_t key, uint64_t zeros_key, int distribution,
                     Py_ssize_t n_projections, int layout, out, uint8_t[::1] doubtful):
    """Write a code for each projection: 1 if it is >= 0, by the rules of `project`."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef projections_t output
    output.n, output.out = n_projections, NULL
    output.signs = signs_of(&rows, zeros_key, distribution, doubtful)
    output.codes = code_output(layout, out, n_projections, 1)
    project_rows(&rows, key, distribution, NULL, &output)


def settle_zeros(values, indices, indptr, uint64_t zeros_key, projections, Py_ssize_t width=0,
                 uint8_t[::1] doubtful=None):
    """Replace zeros among the projections of each row, onto orthogonal blocks of a width, by 1 or
    -1, by the rules of `project`."""
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef array_t array = dense_output(projections, &rows)
    cdef signs_t signs = signs_of(&rows, zeros_key, PROJECTION_NORMAL, doubtful, width)
    cdef const projection_loops *loops = projection_at(level, rows.value_size)
    cdef Py_ssize_t row, first, tile, n = array.shape[1]
    with nogil:
        for row in range(rows.n_rows):
            for tile in range((n + PROJECTION_TILE - 1) // PROJECTION_TILE):
                first = PROJECTION_TILE * tile
                loops.settle(&signs, &rows, row, first,
                             array.data + (row * n + first) * array.size,
                             min(n - first, <Py_ssize_t>PROJECTION_TILE))


def draw(uint64_t key, int distribution, uint64_t column, float[::1] out,
         const float[::1] quantiles=None):
    """Draw the entries of one column, a multiple of TILE_SIZE."""
    cdef const projection_loops *loops = projection_at(level, sizeof(float))
    cdef const float *table = table_of(quantiles)
    with nogil:
        loops.draw(distribution, table, column_start(key, column), out.shape[0], &out[0])


def random_words(uint64_t key, uint64_t[::1] out, uint64_t first=0):
    """Write the key's own random words, one per component from `first` on."""
    cdef Py_ssize_t j
    with nogil:
        for j in range(out.shape[0]):
            out[j] = word(column_start(key, 0), first + j)
