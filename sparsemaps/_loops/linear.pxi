# Linear models on packed codes: training in the dual, and scores.
#
# Input: packed codes; for each row whether it has samples; labels or targets; weights of models.
# Output: dual variables and weights; scores.
# Cost: a visit of a row reads n_codes weights, and writes them if its variable changes.
# Reference: Hsieh, Chang, Lin, Keerthi & Sundararajan 2008; Yu, Huang & Lin 2011; Ho & Lin 2012.
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

from sparsemaps._loops.levels cimport Scratch, level


cdef extern from "c/linear/one_hot.h" nogil:
    ctypedef struct coded_rows:
        const uint8_t *codes
        Py_ssize_t n_bytes
        Py_ssize_t n_codes
        int bits
        const uint8_t *sampled

cdef extern from "c/linear/dual_descent.h" nogil:
    enum:
        MOST_MODELS
        MODELS_OF_FLOAT64
        BLOCK_ROWS
        ROWS_BEHIND
    ctypedef struct dual_problem:
        coded_rows rows
        Py_ssize_t n_rows
        Py_ssize_t n_models
        int loss
        int end
        double epsilon
        double bias
        double tol
        double cost
        const double *weights
        const uint8_t *sides
        const uint8_t *members
        double factors[MOST_MODELS][2]
        const double *targets
        uint64_t key
    ctypedef struct dual_model:
        double intercept
        int64_t n_passes
        int is_solved
        double n_expected
        int64_t n_passes_before
        double inner_tol
        double first_violation
        double kept_violation
        double turn_violation
        double turn_highest
        double turn_lowest
    ctypedef struct dual_state:
        double *v
        double *dual
        double *v_before
        double *v_step
        double *dual_before
        double *dual_step
        double *dual_tried
        double *matrix
        Py_ssize_t most_equations
        uint32_t *order
        uint8_t *active
        uint32_t *columns
        Py_ssize_t stride
        unsigned going
        int64_t n_turns
        dual_model models[MOST_MODELS]
    ctypedef struct dual_descent_loops:
        const char *const *losses
        int first_of_numbers
        void (*add_first)(const dual_problem *problem, dual_state *state) noexcept nogil
        void (*add_up)(const dual_problem *problem, dual_state *state) noexcept nogil
        void (*begin)(const dual_problem *problem, dual_state *state,
                      unsigned going) noexcept nogil
        int (*descend)(const dual_problem *problem, dual_state *state, int max_passes,
                       int64_t max_visits) noexcept nogil
        void (*squares)(const dual_problem *problem, const dual_state *state,
                        double *squares) noexcept nogil
        void (*multiply)(const dual_problem *problem, dual_state *state,
                         const double *factors) noexcept nogil
    const dual_descent_loops *dual_descent_at(int)

cdef extern from "c/linear/cholesky.h" nogil:
    Py_ssize_t stride_of_order(Py_ssize_t n)

cdef extern from "c/linear/one_hot_scores.h" nogil:
    enum:
        SCORE_CODES
    ctypedef struct one_hot_scores_loops:
        void (*add)(const coded_rows *rows, Py_ssize_t first_row, Py_ssize_t stop_row,
                    Py_ssize_t first, Py_ssize_t stop, const double *weights, Py_ssize_t n_models,
                    double *sums) noexcept nogil
    const one_hot_scores_loops *one_hot_scores_at(int)

cdef const dual_descent_loops *descent_loops = dual_descent_at(level)
cdef const one_hot_scores_loops *score_loops = one_hot_scores_at(level)

cdef enum:
    SCORED_TOGETHER = 16384  # rows, so that some weights stay in the cache


cdef tuple names_of_losses():
    cdef list names = []
    while descent_loops.losses[len(names)] != NULL:
        names.append((<bytes>descent_loops.losses[len(names)]).decode())
    return tuple(names)


LOSSES = names_of_losses()  # in the order of c/linear/losses.h


cdef coded_rows rows_of_codes(const uint8_t[:, ::1] codes, const uint8_t[::1] sampled,
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


cdef void expect_passes(dual_model *model) noexcept:
    """Set the number of passes to expect with a larger C: it grows by the same factor as before,
    between 1 and 2, or is a little smaller if the model has jumped to its solution."""
    cdef double n = model.n_passes
    if model.is_solved:
        model.n_expected *= 0.7
        return
    model.n_expected = n * min(max(n / max(model.n_passes_before, 1), 1.0), 2.0)
    model.n_passes_before = model.n_passes


cdef class Descent:
    """The solver state of several models, except for the rows, which are passed to `turn`."""
    cdef dual_problem problem
    cdef dual_state state
    cdef double[:, ::1] v
    cdef Scratch memory
    cdef bint is_copied

    def __init__(self, Py_ssize_t n_codes, int bits, str loss, int end, double epsilon,
                 double bias, double tol, double cost, uint64_t key,
                 const double[:, ::1] factors, double[:, ::1] v, bint is_float32=False):
        """Set up a solver for the loss named `loss` with the stopping rule `end`
        (c/linear/dual_descent.h).

        `factors` has a row per model: the factors of C for rows on its negative side and on its
        positive side.

        `v` must be zero and aligned to 64 bytes, with a row per feature column and
        `columns_of_weights(n_models, is_float32)` columns. If `is_float32`, each of its items holds
        two float32 numbers. Of each row, the first n_models numbers are used.
        """
        cdef Py_ssize_t n_models = factors.shape[0], m
        cdef Py_ssize_t n_columns = columns_of_weights(n_models, is_float32)
        if (factors.shape[1] != 2 or v.shape[0] != n_codes << bits
                or v.shape[1] != n_columns or <size_t>&v[0, 0] % 64):
            raise ValueError("the arrays do not fit")
        self.v, self.memory = v, Scratch.__new__(Scratch)
        self.problem.n_models = n_models
        self.problem.loss, self.problem.end = LOSSES.index(loss), end
        self.problem.epsilon = epsilon
        self.problem.bias, self.problem.tol = bias, tol
        self.problem.cost = cost
        self.problem.key = key
        self.problem.rows.n_codes, self.problem.rows.bits = n_codes, bits
        self.state.v = &v[0, 0]
        self.state.stride = 2 * n_columns if is_float32 else n_columns
        self.state.columns = <uint32_t *>self.memory.take(
            2 * BLOCK_ROWS * n_codes * sizeof(uint32_t))
        for m in range(n_models):
            self.state.models[m].inner_tol = 1e-2
            self.problem.factors[m][0] = factors[m, 0]
            self.problem.factors[m][1] = factors[m, 1]

    def squares(self, double[::1] squares):
        """Write the squared norm of the weights of each model to `squares`."""
        if squares.shape[0] != self.problem.n_models:
            raise ValueError("the arrays do not fit")
        with nogil:
            descent_loops.squares(&self.problem, &self.state, &squares[0])

    def go_on(self, double cost, const double[::1] factors):
        """Change C, and start from the solution for the last C, multiplied by a factor per model.
        The caller must have multiplied the dual variables. For regression, the reference violation
        of the stopping rule is kept."""
        cdef Py_ssize_t m
        cdef dual_model *model
        cdef bint is_other = False
        if factors.shape[0] != self.problem.n_models:
            raise ValueError("the arrays do not fit")
        self.problem.cost = cost
        for m in range(self.problem.n_models):
            model = &self.state.models[m]
            is_other |= factors[m] != 1.0
            model.kept_violation = model.first_violation
            expect_passes(model)
            model.n_passes, model.inner_tol = 0, 1e-2
        if is_other:
            with nogil:
                descent_loops.multiply(&self.problem, &self.state, &factors[0])

    def take(self, Py_ssize_t m, Descent other, Py_ssize_t of_other):
        """Copy the intercept and the passes of a model of another solver. The caller copies the
        weights and the dual variables. If the other solver's weights are less precise, the next
        turn, which must cover all rows, computes them anew."""
        if not (0 <= m < self.problem.n_models and 0 <= of_other < other.problem.n_models):
            raise IndexError(m)
        self.state.models[m] = other.state.models[of_other]
        self.is_copied |= self.state.stride != other.state.stride
        self.state.n_turns = max(self.state.n_turns, other.state.n_turns)

    def turn(self, const uint8_t[:, ::1] codes, const uint8_t[::1] sampled,
             const uint8_t[::1] sides, const double[::1] targets, const double[::1] weights,
             double[:, ::1] dual, uint32_t[::1] order, uint8_t[::1] active,
             double[:, :, ::1] dual_of_jumps, double[:, :, ::1] of_jumps, int max_passes,
             int64_t max_visits, bint is_first, unsigned going,
             const uint8_t[::1] members=None, double[:, ::1] matrix=None):
        """Visit the rows, at least one, as `descend` of c/linear/dual_descent.h does.

        `sides` has a bit per model, set in rows on its positive side; None for regression.
        `of_jumps` is scratch: two arrays of the shape of `v`, or None if the models do not jump. A
        turn that continues the one before needs this and the other scratch arrays unchanged.
        `weights` may be None. `members` has a bit per model, set in rows that the model is trained
        on; None for all rows. `matrix` is scratch of `shape_of_matrix(n)` for jumps to solutions of
        up to n equations, or None if models do not jump to solutions; if given, the turn must cover
        all rows. It may be another matrix in each call. `is_first` means that no turn had
        these rows before. `going` is a bitmask of the models to train, or 0 to continue the turn
        before, which had the same rows and was not complete. Return whether the turn must be
        continued, and a bitmask of the models that have not converged.
        """
        cdef Py_ssize_t n = codes.shape[0]
        cdef int result
        cdef dual_problem *p = &self.problem
        cdef dual_state *s = &self.state
        if (n == 0 or dual.shape[0] != n or order.shape[0] != n or n > 0xffffffff
                or active.shape[0] != n or dual.shape[1] != p.n_models or going >> p.n_models
                or dual_of_jumps.shape[0] != 3 or dual_of_jumps.shape[1] != n
                or dual_of_jumps.shape[2] != p.n_models
                or of_jumps is not None and (
                    of_jumps.shape[0] != 2 or of_jumps.shape[1] != self.v.shape[0]
                    or of_jumps.shape[2] != self.v.shape[1])
                or not going and n != p.n_rows
                or (sides is None) != (p.loss >= descent_loops.first_of_numbers)
                or sides is not None and sides.shape[0] != n
                or sides is None and targets.shape[0] != n
                or members is not None and members.shape[0] != n
                or matrix is not None and (
                    of_jumps is None
                    or matrix.shape[0] < ROWS_BEHIND
                    or matrix.shape[1] != stride_of_order(matrix.shape[0] - ROWS_BEHIND))
                or weights is not None and weights.shape[0] != n):
            raise ValueError("the arrays do not fit")
        p.rows = rows_of_codes(codes, sampled, p.rows.n_codes, p.rows.bits)
        p.n_rows = n
        p.sides = NULL if sides is None else &sides[0]
        p.targets = &targets[0] if sides is None else NULL
        p.weights = NULL if weights is None else &weights[0]
        p.members = NULL if members is None else &members[0]
        s.dual, s.order, s.active = &dual[0, 0], &order[0], &active[0]
        s.dual_before, s.dual_step = &dual_of_jumps[0, 0, 0], &dual_of_jumps[1, 0, 0]
        s.dual_tried = &dual_of_jumps[2, 0, 0]
        s.v_before = NULL if of_jumps is None else &of_jumps[0, 0, 0]
        s.v_step = NULL if of_jumps is None else &of_jumps[1, 0, 0]
        s.matrix = NULL if matrix is None else &matrix[0, 0]
        s.most_equations = 0 if matrix is None else matrix.shape[0] - ROWS_BEHIND
        with nogil:
            if going:
                if is_first:
                    descent_loops.add_first(p, s)
                if self.is_copied:
                    descent_loops.add_up(p, s)
                    self.is_copied = False
                descent_loops.begin(p, s, going)
            result = descent_loops.descend(p, s, max_passes, max_visits)
        return result == 0, s.going

    def model(self, Py_ssize_t m):
        """Return `dual_model` m as a dictionary: `turn_violation`, `turn_highest` and `turn_lowest`
        refer to the first pass of the last turn, `n_passes` to all turns."""
        if not 0 <= m < self.problem.n_models:
            raise IndexError(m)
        return self.state.models[m]


most_models = MODELS_OF_FLOAT64  # trained together, with float64 weights
most_of_float32 = MOST_MODELS  # with float32 weights


def shape_of_matrix(Py_ssize_t n):
    """Return the shape of the matrix of n equations: with rows for the vectors and flags of the
    equations."""
    return n + ROWS_BEHIND, stride_of_order(n)


def columns_of_weights(Py_ssize_t n_models, bint is_float32):
    """Return the number of float64 columns that hold the weights of n_models models trained
    together."""
    cdef Py_ssize_t most = MOST_MODELS if is_float32 else MODELS_OF_FLOAT64
    if not 1 <= n_models <= most:
        raise ValueError(f"at most {most} models are trained together, got {n_models}")
    if is_float32:
        return MOST_MODELS // 2
    return 1 if n_models == 1 else MODELS_OF_FLOAT64


def add_scores(const uint8_t[:, ::1] codes, const uint8_t[::1] sampled, Py_ssize_t n_codes,
               int bits, const double[:, ::1] weights, double[:, ::1] sums):
    """Add the sum of each model's weights at the features of each row to `sums`."""
    cdef coded_rows rows = rows_of_codes(codes, sampled, n_codes, bits)
    cdef Py_ssize_t n_models = weights.shape[1], start = 0, stop, first
    # With several models, the weights of half as many codes fill the cache.
    cdef Py_ssize_t step = SCORE_CODES if n_models < 8 else SCORE_CODES // 2
    if (weights.shape[0] != n_codes << bits or sums.shape[0] != codes.shape[0]
            or sums.shape[1] != n_models):
        raise ValueError("the arrays do not fit")
    if codes.shape[0] == 0:
        return
    with nogil:
        while start < codes.shape[0]:
            stop = min(start + SCORED_TOGETHER, codes.shape[0])
            first = 0
            while first < n_codes:
                score_loops.add(&rows, start, stop, first, min(first + step, n_codes),
                                &weights[0, 0], n_models, &sums[start, 0])
                first += step
            start = stop
