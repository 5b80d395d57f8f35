# Improved consistent weighted sampling: n_hashes samples (i*, t*) of each row.
#
# Input: canonical CSR arrays, of which the rows that `indptr` delimits are mapped; a 64-bit key.
# Output: codes made of samples' lowest bits, or samples; -1 where a row has no positive entry.
# Cost: O(entries * n_hashes). The random numbers of a column are made once for the rows of a group
# and a tile of samples, so the more rows share their columns the cheaper they are.
# Reference: Ioffe 2010; Li, "0-bit consistent weighted sampling", KDD 2015.
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc

from sparsemaps._kernels.code_output cimport (put_no_samples, put_samples, sample_output_t,
                                              samples_as_codes, whole_samples)
from sparsemaps._kernels.groups cimport BATCH, GROUP_ENTRIES, for_each_group, group_t, work_t
from sparsemaps._kernels.signed cimport absolute, column_of
from sparsemaps._kernels.types cimport index_t, value_t

cdef extern from "weighted_sampling.h" nogil:
    enum:
        TILE
    ctypedef struct icws_state:
        float *least
        int32_t *position
        int32_t *t
    double log_f64(double x)
    void icws_tile(uint64_t first_sample, const group_t *group, const float *log_weights)


cdef struct task_t:
    bint single           # whether values are float32
    bint wide             # whether indices are int64
    bint signed_
    const void *values
    const void *indices
    float *log_weights    # of a group's entries
    sample_output_t output


cdef void take_logarithms(const void *task, const group_t *group) noexcept nogil:
    cdef const task_t *what = <const task_t *>task
    cdef uint32_t i, n = 0
    if group.n_columns > 0:
        n = group.ends[(group.n_columns - 1) // BATCH]
    for i in range(n):
        if what.single:
            what.log_weights[i] = <float>log_f64(absolute((<const float *>group.values)[i]))
        else:
            what.log_weights[i] = <float>log_f64(absolute((<const double *>group.values)[i]))


cdef void add_tile(const void *task, Py_ssize_t tile, const group_t *group) noexcept nogil:
    icws_tile(TILE * tile, group, (<const task_t *>task).log_weights)


cdef inline void take_columns(const value_t *values, const index_t *indices, int64_t first,
                              bint signed_, const icws_state *state,
                              uint64_t *columns) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(TILE):
        columns[j] = column_of(values, indices, first + <uint32_t>state.position[j], signed_)


cdef void emit_tile(const void *task, Py_ssize_t tile, Py_ssize_t row, int64_t first,
                    const void *sums) noexcept nogil:
    cdef const task_t *what = <const task_t *>task
    cdef const icws_state *state = <const icws_state *>sums
    cdef uint64_t columns[TILE]
    cdef int64_t t[TILE]
    cdef int64_t codes[TILE]
    cdef Py_ssize_t j
    if state.position[0] < 0:
        if tile == 0:
            put_no_samples(&what.output, row)  # all of it
        return
    if what.single and what.wide:
        take_columns(<const float *>what.values, <const int64_t *>what.indices, first,
                     what.signed_, state, columns)
    elif what.single:
        take_columns(<const float *>what.values, <const int32_t *>what.indices, first,
                     what.signed_, state, columns)
    elif what.wide:
        take_columns(<const double *>what.values, <const int64_t *>what.indices, first,
                     what.signed_, state, columns)
    else:
        take_columns(<const double *>what.values, <const int32_t *>what.indices, first,
                     what.signed_, state, columns)
    for j in range(TILE):
        t[j] = state.t[j]
    put_samples(&what.output, row, TILE * tile, columns, t, codes, TILE)


cdef int run(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
             uint64_t key, bint signed_, const sample_output_t *output) except -1:
    cdef task_t task
    cdef work_t work
    cdef icws_state initial
    cdef int j
    for j in range(TILE):
        initial.least[j] = INFINITY
        initial.position[j] = -1
        initial.t[j] = 0
    task.single = value_t is float
    task.wide = index_t is int64_t
    task.signed_ = signed_
    task.values = &values[0] if values.shape[0] > 0 else NULL
    task.indices = &indices[0] if indices.shape[0] > 0 else NULL
    task.output = output[0]
    task.log_weights = <float *>malloc(GROUP_ENTRIES * sizeof(float))
    if task.log_weights == NULL:
        raise MemoryError
    work.key = key
    work.signed_ = signed_
    work.n_tiles = (output.codes.n + TILE - 1) // TILE
    work.row_bytes = sizeof(icws_state)
    work.initial = &initial
    work.prepare = take_logarithms
    work.add = add_tile
    work.emit = emit_tile
    work.task = &task
    try:
        for_each_group(values, indices, indptr, &work)
    finally:
        free(task.log_weights)
    return 0


def icws_codes(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
               uint64_t key, bint signed_, Py_ssize_t n_hashes, int bits, int t_bits, int layout,
               out):
    """Write each row's codes: the lowest `bits` of i* with the lowest `t_bits` of t* above them."""
    cdef sample_output_t output = samples_as_codes(layout, out, n_hashes, bits, t_bits)
    run(values, indices, indptr, key, signed_, &output)


def icws_samples(const value_t[::1] values, const index_t[::1] indices, const int64_t[::1] indptr,
                 uint64_t key, bint signed_, int64_t[:, ::1] columns, int64_t[:, ::1] t):
    """Write each row's samples i* and t*."""
    cdef sample_output_t output = whole_samples(columns, t)
    run(values, indices, indptr, key, signed_, &output)
