# Random Maclaurin features: products of projections on Rademacher vectors.
#
# Input: projections, a row each (projection.pyx); for each feature its factor and where its
# projections begin and end.
# Output: feature j is factors[j] times the product of projections firsts[j] to firsts[j + 1].
# Cost: O(projections).
# Reference: Kar & Karnick 2012, algorithm 1.
from libc.stdint cimport int64_t

from sparsemaps._loops.emit cimport emit_at, emit_loops
from sparsemaps._loops.levels cimport level
from sparsemaps._loops.types cimport index_t, out_index_t, value_t


def products(const value_t[:, ::1] projections, const value_t[::1] factors,
             const int64_t[::1] firsts, value_t[:, ::1] out):
    """Write the features of each row to its row of `out`."""
    cdef Py_ssize_t row, j, i
    cdef value_t product
    with nogil:
        for row in range(out.shape[0]):
            for j in range(out.shape[1]):
                product = factors[j]
                for i in range(firsts[j], firsts[j + 1]):
                    product *= projections[row, i]
                out[row, j] = product


def with_exact_terms(const value_t[::1] values, const index_t[::1] indices,
                     const int64_t[::1] indptr, value_t constant, value_t linear,
                     value_t[:, ::1] features, value_t[::1] out_values,
                     out_index_t[::1] out_columns, out_index_t[::1] out_lengths):
    """Rows of (constant, features, linear * row) one behind the other, without zeros.

    Leaves zeros in `features`. Returns how many places were taken.
    """
    cdef Py_ssize_t row, i, n, n_out = 0, first, n_features = features.shape[1]
    cdef const emit_loops *loops = emit_at(level, sizeof(value_t), sizeof(out_index_t))
    with nogil:
        for row in range(out_lengths.shape[0]):
            first = n_out
            if constant != 0:
                out_values[n_out] = constant
                out_columns[n_out] = 0
                n_out += 1
            n = loops.sums(&features[row, 0], n_features, &out_values[n_out], &out_columns[n_out])
            for i in range(n):
                out_columns[n_out + i] += 1
            n_out += n
            for i in range(indptr[row], indptr[row + 1]):
                if linear * values[i] != 0:
                    out_values[n_out] = linear * values[i]
                    out_columns[n_out] = <out_index_t>(1 + n_features + indices[i])
                    n_out += 1
            out_lengths[row] = <out_index_t>(n_out - first)
    return n_out
