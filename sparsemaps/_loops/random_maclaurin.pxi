# Random Maclaurin features: products of projections onto Rademacher vectors.
#
# Input: one row of projections per row (projection.pxi); for each feature its factor and the range
# of its projections.
# Output: feature j is factors[j] times the product of projections firsts[j] to firsts[j + 1].
# Cost: O(projections).
# Reference: Kar & Karnick 2012, algorithm 1.
from libc.stdint cimport int64_t

from sparsemaps._loops.arrays cimport (ANY_SIZE, FLOATS, array_of, array_t, csr_block, csr_of,
                                       csr_output, csr_output_t, dense_output, end_row,
                                       next_columns, next_values, put_value)
from sparsemaps._loops.emit cimport emit_at, emit_loops
from sparsemaps._loops.levels cimport level
from sparsemaps._loops.types cimport value_t


cdef void multiply_projections(const value_t *projections, const value_t *factors,
                               const int64_t *firsts, Py_ssize_t n, value_t *out) noexcept nogil:
    """Compute the features of a row."""
    cdef Py_ssize_t j, i
    cdef value_t product
    for j in range(n):
        product = factors[j]
        for i in range(firsts[j], firsts[j + 1]):
            product *= projections[i]
        out[j] = product


def products(projections, factors, const int64_t[::1] firsts, out):
    """Write the features of each row to its row of `out`."""
    cdef array_t x = array_of(projections, FLOATS, ANY_SIZE, 2, False)
    cdef array_t factor = array_of(factors, FLOATS, x.size, 1, False)
    cdef array_t y = array_of(out, FLOATS, x.size, 2, True)
    cdef Py_ssize_t row, n = y.shape[1]
    cdef char *from_
    cdef char *to
    if n == 0:
        return
    with nogil:
        for row in range(y.shape[0]):
            from_ = x.data + row * x.shape[1] * x.size
            to = y.data + row * n * x.size
            if x.size == sizeof(double):
                multiply_projections(<double *>from_, <double *>factor.data, &firsts[0], n,
                                     <double *>to)
            else:
                multiply_projections(<float *>from_, <float *>factor.data, &firsts[0], n,
                                     <float *>to)


def with_exact_terms(values, indices, indptr, double constant, double linear, features,
                     out_values, out_columns, out_lengths):
    """Write rows of (constant, features, linear * row) consecutively, without zeros.

    Resets `features` to zero. Return how many entries were written.
    """
    cdef csr_block rows = csr_of(values, indices, indptr)
    cdef csr_output_t out = csr_output(out_values, out_columns, out_lengths, &rows)
    cdef array_t x = dense_output(features, &rows)
    cdef const emit_loops *emit = emit_at(level, x.size, out.columns.size)
    cdef Py_ssize_t row, start, n_features = x.shape[1]
    cdef double first
    with nogil:
        for row in range(rows.n_rows):
            start = out.n
            put_value(&first, constant, x.size)
            out.n += emit.sums(&first, 1, 0, next_values(&out), next_columns(&out))
            out.n += emit.sums(x.data + row * n_features * x.size, n_features, 1,
                               next_values(&out), next_columns(&out))
            out.n += emit.scaled(&rows, rows.indptr[row], rows.indptr[row + 1], linear,
                                 1 + n_features, next_values(&out), next_columns(&out))
            end_row(&out, row, start)
    return out.n
