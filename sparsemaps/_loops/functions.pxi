# Elementwise functions of arrays, with the same bits on every platform (c/random/elementary.h).
#
# Input and output: an array of float64, changed in place; for products, complex numbers of either
# precision. Cost: O(numbers).
from sparsemaps._loops.arrays cimport ANY_SIZE, FLOATS, array_of, array_t
from sparsemaps._loops.levels cimport level


cdef extern from "c/random/functions.h" nogil:
    enum:
        FUNCTION_EXP
        FUNCTION_ACOS
        FUNCTION_LOG_ONE_PLUS_SQUARE
        FUNCTION_ROOT
        FUNCTION_POWER
        FUNCTION_GAMMA_QUANTILE
        FUNCTION_COSINE_QUANTILE
        FUNCTION_KINDS
    ctypedef struct functions_loops:
        void (*each[FUNCTION_KINDS])(double *x, Py_ssize_t n, double p) noexcept nogil
        void (*mixture)(double *x, Py_ssize_t n, const double *weights, const double *rates,
                        Py_ssize_t n_terms) noexcept nogil
        void (*mean_cosines)(double *x, Py_ssize_t n, const double *weights, const double *knots,
                             Py_ssize_t n_terms) noexcept nogil
        void (*multiply_complex)(void *x, const void *y, Py_ssize_t n) noexcept nogil
        int (*finite)(const void *x, Py_ssize_t n) noexcept nogil
    const functions_loops *functions_at(int, size_t)

cdef const functions_loops *function_loops = functions_at(level, sizeof(double))

EXP, ACOS, LOG_ONE_PLUS_SQUARE = FUNCTION_EXP, FUNCTION_ACOS, FUNCTION_LOG_ONE_PLUS_SQUARE
ROOT, POWER = FUNCTION_ROOT, FUNCTION_POWER
GAMMA_QUANTILE, COSINE_QUANTILE = FUNCTION_GAMMA_QUANTILE, FUNCTION_COSINE_QUANTILE


def each(int function, double[::1] x, double p=0):
    """Apply one of the functions above (c/random/functions.h) in place, with the parameter p."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.each[function](&x[0], x.shape[0], p)


def mixture(double[::1] x, const double[::1] weights, const double[::1] rates):
    """Replace x >= 0 by the sum of weights * exp(-x * rates), in place. The number of terms must be
    a multiple of 8, and the rates must descend."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.mixture(&x[0], x.shape[0], &weights[0], &rates[0], rates.shape[0])


def mean_cosines(double[::1] x, const double[::1] weights, const double[::1] knots):
    """Replace x by the sum of weights[k] times the mean of cos(2 pi x u) over u from knots[k] to
    knots[k + 1], in place. The number of weights must be a multiple of 8."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.mean_cosines(&x[0], x.shape[0], &weights[0], &knots[0], weights.shape[0])


def multiply_complex(x, y):
    """Multiply rows of complex numbers in place by the rows of `y`, or all by its only row. Real
    and imaginary parts alternate."""
    cdef array_t left = array_of(x, FLOATS, ANY_SIZE, 2, True)
    cdef array_t right = array_of(y, FLOATS, left.size, 2, False)
    cdef Py_ssize_t row, width = left.shape[1], step = right.shape[0] > 1
    cdef const functions_loops *of_type = functions_at(level, left.size)
    with nogil:
        for row in range(left.shape[0] if width > 1 else 0):
            of_type.multiply_complex(left.data + row * width * left.size,
                                     right.data + row * step * width * right.size, width // 2)


def first_not_finite(x):
    """Return the first row that has a value which is not finite, or -1. For a one-dimensional
    array, return the index of the first such value."""
    cdef Py_ssize_t n_dimensions = x.ndim, row, width
    cdef array_t values = array_of(x, FLOATS, ANY_SIZE, n_dimensions, False)
    cdef const functions_loops *of_type = functions_at(level, values.size)
    cdef Py_ssize_t found = -1, n = values.shape[0], at_once = 1 if n_dimensions == 2 else 1 << 12
    width = values.shape[1] if n_dimensions == 2 else 1
    with nogil:
        row = 0
        while row < n:
            at_once = min(at_once, n - row)
            if of_type.finite(values.data + row * width * values.size, at_once * width):
                row += at_once
            elif at_once > 1:
                at_once = 1
            else:
                found = row
                break
    return found
