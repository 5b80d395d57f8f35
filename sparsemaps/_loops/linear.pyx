# Linear models on packed codes: training in the dual, and scores.
#
# Input: packed codes, for each row whether it has samples, labels or targets; weights of models.
# Output: dual variables and weights; scores.
# Cost: a visit of a row reads n_codes weights, and writes them if its variable changes.
# Reference: Hsieh, Chang, Lin, Keerthi & Sundararajan 2008; Yu, Huang & Lin 2011; Ho & Lin 2012.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from sparsemaps._loops.levels cimport level

cdef extern from "c/linear/one_hot.h" nogil:
    ctypedef struct coded_rows:
        const uint8_t *codes
        Py_ssize_t n_bytes
        Py_ssize_t n_codes
        int bits
        const uint8_t *sampled
    Py_ssize_t padded_columns(Py_ssize_t n_codes)

cdef extern from "c/linear/dual_descent.h" nogil:
    ctypedef struct dual_problem:
        coded_rows rows
        Py_ssize_t n_rows
        int loss
        double epsilon
        double bias
        double tol
        double cost
        const double *weights
        const int32_t *labels
        int32_t positive
        const double *targets
        uint64_t key
    ctypedef struct dual_state:
        double *v
        double intercept
        double *dual
        uint32_t *order
        uint32_t *columns
        Py_ssize_t n_weighed
        int64_t n_passes
        double inner_tol
        double turn_violation
        double turn_highest
        double turn_lowest
    ctypedef struct dual_descent_loops:
        void (*add_first)(const dual_problem *problem, dual_state *state) noexcept nogil
        void (*begin)(const dual_problem *problem, dual_state *state) noexcept nogil
        int (*descend)(const dual_problem *problem, dual_state *state, int max_passes,
                       int64_t max_visits) noexcept nogil
    const dual_descent_loops *dual_descent_at(int level)

cdef extern from "c/linear/one_hot_scores.h" nogil:
    enum:
        SCORE_CODES
    ctypedef struct one_hot_scores_loops:
        void (*add)(const coded_rows *rows, Py_ssize_t first_row, Py_ssize_t stop_row,
                    Py_ssize_t first, Py_ssize_t stop, const double *weights, Py_ssize_t n_models,
                    double *sums) noexcept nogil
    const one_hot_scores_loops *one_hot_scores_at(int level)

cdef enum:
    ROWS = 2048  # whose scores are added up together: some weights stay in the cache meanwhile

# Numbers of the losses (c/linear/dual_descent.h).
LOSSES = {
    "squared_hinge": 0,
    "hinge": 1,
    "log_loss": 2,
    "squared_epsilon_insensitive": 3,
    "epsilon_insensitive": 4,
}


cdef coded_rows rows_of(const uint8_t[:, ::1] codes, const uint8_t[::1] sampled,
                        Py_ssize_t n_codes, int bits) except *:
    cdef coded_rows rows
    memset(&rows, 0, sizeof(rows))
    if n_codes < 1 or not 1 <= bits <= 24 or n_codes * bits > 8 * codes.shape[1]:
        raise ValueError(
            f"rows of {codes.shape[1]} bytes do not hold {n_codes} codes of {bits} bits")
    if n_codes << bits > 0x7ffffff0 or sampled.shape[0] != codes.shape[0]:
        raise ValueError("the arrays do not fit")
    rows.n_bytes, rows.n_codes, rows.bits = codes.shape[1], n_codes, bits
    if codes.shape[0] > 0:
        rows.codes, rows.sampled = &codes[0, 0], &sampled[0]
    return rows


cdef class Descent:
    """The solver of one model: its weights, and what decides them. `turn` takes the rows."""
    cdef dual_problem problem
    cdef dual_state state
    cdef double[::1] v
    cdef uint32_t[::1] columns

    def __init__(self, Py_ssize_t n_codes, int bits, int loss, double epsilon, double bias,
                 double tol, double cost, uint64_t key, int32_t positive, double[::1] v,
                 uint32_t[::1] columns):
        """`v` has one number more than there are columns; all are 0. `columns` is scratch."""
        if v.shape[0] != (n_codes << bits) + 1 or columns.shape[0] != padded_columns(n_codes):
            raise ValueError("the arrays do not fit")
        self.v, self.columns = v, columns
        self.problem.loss, self.problem.epsilon = loss, epsilon
        self.problem.bias, self.problem.tol = bias, tol
        self.problem.cost = cost
        self.problem.key, self.problem.positive = key, positive
        self.problem.rows.n_codes, self.problem.rows.bits = n_codes, bits
        self.state.v, self.state.columns = &v[0], &columns[0]
        self.state.inner_tol = 1e-2

    def turn(self, const uint8_t[:, ::1] codes, const uint8_t[::1] sampled,
             const int32_t[::1] labels, const double[::1] targets, const double[::1] weights,
             double[::1] dual, uint32_t[::1] order, int max_passes, int64_t max_visits,
             bint is_first, bint goes_on):
        """Visit the rows, at least one, as `descend` of c/linear/dual_descent.h does.

        `labels` and `weights` may be None, of regression; `is_first` says that no turn had these
        rows before, and `goes_on` that the turn before had them and was not complete."""
        cdef Py_ssize_t n = codes.shape[0]
        cdef int result
        cdef dual_problem *p = &self.problem
        cdef dual_state *s = &self.state
        if n == 0 or dual.shape[0] != n or order.shape[0] != n or n > 0xffffffff:
            raise ValueError("the arrays do not fit")
        p.rows = rows_of(codes, sampled, p.rows.n_codes, p.rows.bits)
        p.n_rows = n
        p.labels = p.weights = p.targets = NULL
        if labels is not None:
            if labels.shape[0] != n:
                raise ValueError("the arrays do not fit")
            p.labels = &labels[0]
        else:
            if targets.shape[0] != n:
                raise ValueError("the arrays do not fit")
            p.targets = &targets[0]
        if weights is not None:
            if weights.shape[0] != n:
                raise ValueError("the arrays do not fit")
            p.weights = &weights[0]
        s.dual, s.order = &dual[0], &order[0]
        with nogil:
            if not goes_on:
                if is_first:
                    loops.add_first(p, s)
                loops.begin(p, s)
            result = loops.descend(p, s, max_passes, max_visits)
        return result

    @property
    def intercept(self):
        """The weight of the last feature."""
        return self.state.intercept

    @property
    def n_passes(self):
        """Passes over rows, of all turns."""
        return self.state.n_passes

    @property
    def violations(self):
        """The sum of the violations, the highest and the lowest projected gradient, in the first
        pass of the last turn."""
        return self.state.turn_violation, self.state.turn_highest, self.state.turn_lowest


cdef const dual_descent_loops *loops = dual_descent_at(level)
cdef const one_hot_scores_loops *score_loops = one_hot_scores_at(level)


def scratch_columns(Py_ssize_t n_codes):
    """The length of the scratch `columns`."""
    return padded_columns(n_codes)


def add_scores(const uint8_t[:, ::1] codes, const uint8_t[::1] sampled, Py_ssize_t n_codes,
               int bits, const double[:, ::1] weights, double[:, ::1] sums):
    """Add the sum of the weights at the features of each row to `sums`, of each model."""
    cdef coded_rows rows = rows_of(codes, sampled, n_codes, bits)
    cdef Py_ssize_t n_models = weights.shape[1], start = 0, stop, first
    if (weights.shape[0] != n_codes << bits or sums.shape[0] != codes.shape[0]
            or sums.shape[1] != n_models):
        raise ValueError("the arrays do not fit")
    if codes.shape[0] == 0:
        return
    with nogil:
        while start < codes.shape[0]:
            stop = min(start + ROWS, codes.shape[0])
            first = 0
            while first < n_codes:
                score_loops.add(&rows, start, stop, first, min(first + SCORE_CODES, n_codes),
                                &weights[0, 0], n_models, &sums[start, 0])
                first += SCORE_CODES
            start = stop
