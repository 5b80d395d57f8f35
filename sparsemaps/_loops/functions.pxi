# Functions of each number of an array, with the same bits on every platform (c/elementary.h).
#
# Input and output: an array of float64, changed in place; for products, complex numbers of either
# precision. Cost: O(numbers).

cdef extern from "c/random/functions.h" nogil:
    ctypedef struct functions_loops:
        void (*exp)(double *x, Py_ssize_t n) noexcept nogil
        void (*acos)(double *x, Py_ssize_t n) noexcept nogil
        void (*log_one_plus_square)(double *x, Py_ssize_t n) noexcept nogil
        void (*mixture)(double *x, Py_ssize_t n, const double *weights, const double *rates,
                        Py_ssize_t n_terms) noexcept nogil
        void (*mean_cosines)(double *x, Py_ssize_t n, const double *weights, const double *knots,
                             Py_ssize_t n_terms) noexcept nogil
        void (*multiply_complex)(void *x, const void *y, Py_ssize_t n) noexcept nogil
    const functions_loops *functions_at(int, size_t)

cdef extern from "c/random/quantiles.h" nogil:
    double gamma_quantile_f64 "gamma_quantile"(double shape, double p)
    double cosine_quantile_f64 "cosine_quantile"(double dimension, double p)
    double exp_f64(double x)
    double log_f64(double x)

cdef const functions_loops *function_loops = functions_at(level, sizeof(double))


def exp(double[::1] x):
    """e^x."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.exp(&x[0], x.shape[0])


def acos(double[::1] x):
    """arccos(x), of -1 <= x <= 1."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.acos(&x[0], x.shape[0])


def log_one_plus_square(double[::1] x):
    """ln(1 + x^2)."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.log_one_plus_square(&x[0], x.shape[0])


def mixture(double[::1] x, const double[::1] weights, const double[::1] rates):
    """The sum of weights * exp(-x * rates), of x >= 0; the rates fall, a multiple of 8 of them."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.mixture(&x[0], x.shape[0], &weights[0], &rates[0], rates.shape[0])


def mean_cosines(double[::1] x, const double[::1] weights, const double[::1] knots):
    """The sum of weights[k] times the mean of cos(2 pi x u) over u from knots[k] to knots[k + 1]; a
    multiple of 8 weights."""
    with nogil:
        if x.shape[0] > 0:
            function_loops.mean_cosines(&x[0], x.shape[0], &weights[0], &knots[0], weights.shape[0])


def multiply_complex(x, y):
    """Rows of complex numbers times those of `y`, or each times the only row of `y`: real and
    imaginary parts in turn."""
    cdef array_t left = array_of(x, FLOATS, ANY_SIZE, 2, True)
    cdef array_t right = array_of(y, FLOATS, left.size, 2, False)
    cdef Py_ssize_t row, width = left.shape[1], step = right.shape[0] > 1
    cdef const functions_loops *of_type = functions_at(level, left.size)
    with nogil:
        for row in range(left.shape[0] if width > 1 else 0):
            of_type.multiply_complex(left.data + row * width * left.size,
                                     right.data + row * step * width * right.size, width // 2)


def root(double n, double[::1] x):
    """The n-th root of x > 0."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            x[i] = exp_f64(log_f64(x[i]) / n)


def power(double p, double[::1] x):
    """x^p of x > 0."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(x.shape[0]):
            x[i] = exp_f64(p * log_f64(x[i]))


def gamma_quantile(double shape, double[::1] p):
    """Quantiles of the gamma distribution of scale 1, for probabilities 0 < p < 1."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(p.shape[0]):
            p[i] = gamma_quantile_f64(shape, p[i])


def cosine_quantile(double dimension, double[::1] p):
    """Quantiles of the cosine of the angle between a fixed direction and a uniform one, for
    probabilities 0 < p < 1."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(p.shape[0]):
            p[i] = cosine_quantile_f64(dimension, p[i])
