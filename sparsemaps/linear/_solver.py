"""Training: each model is one problem; groups of problems are solved by turns of compiled loops."""

import itertools
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _blocks, _memory, _seeding, _threads
from sparsemaps._tools._portable_math import weighted_sum
from sparsemaps._tools._typing import Array
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._packed import mapped_file
from sparsemaps.linear import _losses
from sparsemaps.linear._losses import Objective, QuadraticLoss
from sparsemaps.linear._model_checks import refuse_large_numbers

BLOCK_BYTES = 2**28
"""Mapped codes of more bytes than this are trained on in blocks of this size."""

MOST_TOGETHER = _loops.most_models
"""Largest number of models trained together, as a group."""

MOST_OF_FLOAT32 = _loops.most_of_float32
"""The same for models with float32 weights."""

_LARGEST_OF_FLOAT32 = 1e4
"""Largest factor of a loss, in tolerances, with which weights are float32. Beyond it, rounding
errors would cost additional passes, unless dual variables are small."""

_LARGEST_VARIABLE_OF_FLOAT32 = 2e4
"""Largest dual variable to expect of a model, in tolerances, with which its weights stay float32
beyond that. It is expected to grow like C."""

_LEAST_OF_FLOAT32 = 1e-20
"""Least factor of a loss with which weights are float32. Weights are of about this size; smaller
ones would lose digits or become 0."""

_SECONDS = 0.1
"""Seconds for which threads work on groups before signals are handled."""

_TURN_CODES = 2**24
"""Codes read per turn, which takes about 12 ms."""

_BLOCK_PASSES = 8
"""Largest number of passes over a block while it is in memory."""

_LARGEST_JUMPING = 2**22
"""Largest number of weights of a model that jumps, which takes twice their memory."""

_MOST_EQUATIONS = 3 * 2**10
"""Largest number of equations that models along a path solve: their matrix takes 76 MB per
thread."""

_LARGEST_WIDTH = 2**31 - 2**4
"""Largest number of weights of a model, because column numbers have 32 bits."""


Watch = Callable[[int, int, int], Any]
"""Called several times a second while problems are solved, with the number of solved models, the
number of all models, and the most passes of a model in progress."""


class TrainingRows(NamedTuple):
    """The rows on which all models are trained."""

    codes: PackedCodes
    labels: Any
    """For classification: int32, the number of the model on whose positive side each row is; or, if
    a row may be on the positive side of several models, a CSC matrix with one column per model."""
    targets: Array | None
    """For regression: float64."""
    weights: Array | None
    """Factors of C, float64; None means 1 for all. Rows of weight 0 do not count."""
    factors: Array | None = None
    """Further factors of C, float64, of shape (number of models, 2): for rows on the negative and
    on the positive side of a model. None means 1 for all."""
    members: Sequence[Array] | None = None
    """Parts of the rows, bool. Each problem, that is, each set of labels or targets, has one model
    per part; the first models belong to the first problem. None means a single part with all
    rows."""

    @property
    def largest_cost(self) -> float:
        """Largest weight of a row in any model."""
        given = (array for array in (self.weights, self.factors) if array is not None)
        return float(np.prod([array.max(initial=0.0) for array in given]))

    @property
    def n_parts(self) -> int:
        return 1 if self.members is None else len(self.members)

    def sides(self, models: Sequence[int]) -> Array | None:
        """Return bits for each row: bit m is set if the row is on the positive side of model m of
        `models`. Return None for regression."""
        if self.labels is None:
            return None
        sides = np.zeros(len(self.codes), np.uint8)
        for bit, number in enumerate(models):
            problem = number // self.n_parts
            if isinstance(self.labels, np.ndarray):
                sides[self.labels == problem] |= 1 << bit
            else:
                start, stop = self.labels.indptr[problem : problem + 2]
                sides[self.labels.indices[start:stop]] |= 1 << bit
        return sides

    def distinct(self, n_models: int) -> tuple["TrainingRows", list[list[int]]]:
        """Return the rows for models with distinct problems, and the numbers of the models with
        each problem. Among many labels, some have no rows, and some have the same rows."""
        if self.labels is None or isinstance(self.labels, np.ndarray):
            return self, [[model] for model in range(n_models)]
        found: dict[bytes, list[int]] = {}
        for problem in range(n_models // self.n_parts):
            start, stop = self.labels.indptr[problem : problem + 2]
            found.setdefault(self.labels.indices[start:stop].tobytes(), []).append(problem)
        alike = [
            [problem * self.n_parts + part for problem in problems]
            for problems in found.values()
            for part in range(self.n_parts)
        ]
        firsts = [models[0] for models in alike]
        factors = None if self.factors is None else self.factors[firsts]
        labels = self.labels[:, [problems[0] for problems in found.values()]]
        return self._replace(labels=labels, factors=factors), alike

    def y(self, model: int) -> Array:
        """Return the targets or, for classification, 1 for rows on the positive side of a model and
        -1 for the others."""
        sides = self.sides(range(model, model + 1))
        return np.asarray(self.targets) if sides is None else np.where(sides, 1.0, -1.0)

    def members_of(self, models: Sequence[int]) -> Array | None:
        """Return bits for each row: bit m is set if model m of `models` is trained on it. Return
        None if all models are trained on all rows."""
        if self.members is None:
            return None
        bits = np.zeros(len(self.codes), np.uint8)
        for bit, model in enumerate(models):
            bits |= self.members[model % self.n_parts].astype(np.uint8) << bit
        return bits

    def costs(self, model: int) -> Array | None:
        """Return the factors of C of a model, or None if all are 1."""
        costs = self.weights
        if self.factors is not None:
            of_sides = self.factors[model][(self.y(model) > 0).astype(np.intp)]
            costs = np.asarray(of_sides if costs is None else of_sides * costs)
        if self.members is not None:
            is_there = self.members[model % self.n_parts]
            costs = np.asarray(is_there * (1.0 if costs is None else costs))
        return costs


class Solution(NamedTuple):
    """A trained model."""

    weights: Array
    """Weights of the one-hot features, float64."""
    last_weight: float
    """Weight of the constant feature, whose value is `bias`."""
    n_passes: int
    dual: float | None
    """Dual objective, for a model that has not converged."""


def solve(
    rows: TrainingRows,
    objective: Objective,
    n_models: int,
    *,
    tol: float,
    max_iter: int,
    seed: int,
    n_jobs: int | None,
    watch: Watch | None = None,
) -> Iterator[tuple[int, Solution]]:
    """Solve the problems, and yield the number and the solution of each as soon as its group is
    solved, in any order; if codes are read in blocks, when all are solved.

    A problem that several models share is solved once. Problems are solved in groups. Codes in
    memory are read by all groups at the same time; each thread works on one group after another.
    Codes that are larger than `BLOCK_BYTES` and mapped from a file are read in blocks, and all
    groups work on a block while it is in memory.
    """
    rows, alike = rows.distinct(n_models)
    solutions = _solve_each(rows, objective, len(alike), tol, max_iter, seed, n_jobs, watch)
    yield from _of_all_models(solutions, alike)


def _of_all_models(
    solutions: Iterable[tuple[int, Solution]], alike: list[list[int]]
) -> Iterator[tuple[int, Solution]]:
    """Yield the solution of each problem for all models that share it."""
    for number, solution in solutions:
        for model in alike[number]:
            yield model, solution


def _solve_each(
    rows: TrainingRows,
    objective: Objective,
    n_models: int,
    tol: float,
    max_iter: int,
    seed: int,
    n_jobs: int | None,
    watch: Watch | None,
) -> Iterator[tuple[int, Solution]]:
    """Solve distinct problems."""
    codes = rows.codes
    key, key_of_blocks = (int(key) for key in _seeding.keys(seed, "linear", 2))
    n_jobs = _threads.resolve_n_jobs(n_jobs)
    numbers = [range(first, stop) for first, stop in itertools.pairwise(cuts(n_models, n_jobs))]

    def begin(of_group: range) -> _Group:
        return _Group(rows, objective, of_group, tol, key)

    if _are_read_by_blocks(codes):
        groups = [begin(of_group) for of_group in numbers]
        _solve_by_blocks(rows, groups, tol, max_iter, key_of_blocks, n_jobs, watch)
        for group in groups:
            yield from group.solutions()
        return

    n_threads = min(n_jobs, len(numbers))
    turns = _Turns(begin, numbers, n_threads, max_iter)
    n_solved = 0

    def calls() -> Iterator[tuple[()]]:
        while n_solved < n_models:
            yield ()

    for solutions in _threads.stream(turns.work, calls(), n_threads):
        n_solved += len(solutions)
        yield from solutions
        if watch is not None:
            watch(n_solved, n_models, turns.most_passes())


class _Turns:
    """Groups on which threads take turns. A group belongs to one thread at a time.

    Because each group takes memory, a group is started only when a thread has no other one to
    continue with. If fewer groups than threads are left to start, the last ones take turns, so that
    the threads finish together.
    """

    def __init__(
        self,
        begin: Callable[[range], "_Group"],
        numbers: list[range],
        n_threads: int,
        max_iter: int,
    ) -> None:
        self._begin, self._n_threads, self._max_iter = begin, n_threads, max_iter
        self._unbegun = deque(numbers)
        self._waiting: deque[_Group] = deque()  # started, and not held by a thread
        self._passes: dict[_Group, int] = {}  # of groups that are started and not solved

    def most_passes(self) -> int:
        """Return the largest number of passes of a group in progress."""
        return max(self._passes.copy().values(), default=0)

    def work(self) -> list[tuple[int, Solution]]:
        """Work on groups for some time or until one is solved, and return its solutions. Only one
        group's solutions are returned, because they take memory until they are yielded."""
        end = time.monotonic() + _SECONDS
        while (group := self._take()) is not None:
            group.turn_over_all(self._max_iter)
            if not group.goes_on:
                self._passes.pop(group, None)
                return list(group.solutions())
            self._passes[group] = group.n_passes()
            self._waiting.append(group)
            if time.monotonic() > end:
                break
        return []

    def _take(self) -> "_Group | None":
        """Return a group that no thread holds, or None if there is none or another thread was
        faster. The caller's next call of `work` then tries again."""
        try:
            if 0 < len(self._unbegun) < self._n_threads or not self._waiting:
                numbers = self._unbegun.popleft()
            else:
                return self._waiting.popleft()
        except IndexError:  # another thread was faster
            return None
        return self._begin(numbers)


class Path:
    """Models of the same rows for increasing values of C. Each starts from the solution for the
    previous C.

    For classes, weights are float32 while C is small, so that twice as many models are trained
    together. Dual variables are always float64.

    Parameters
    ----------
    largest_cost : float or None
        Largest weight of a row. None means float64 weights for every C.
    matrices : deque or None
        Matrices for models with few free rows that jump to their solutions, unless codes are read
        in blocks. They are made on demand, one per thread. None means that models do not jump.
    """

    def __init__(
        self,
        rows: TrainingRows,
        objective: Objective,
        n_models: int,
        *,
        tol: float,
        seed: int,
        n_jobs: int = 1,
        largest_cost: float | None = None,
        matrices: deque[Array] | None = None,
    ) -> None:
        key, self._key_of_blocks = (int(key) for key in _seeding.keys(seed, "linear", 2))
        rows, self._alike = rows.distinct(n_models)
        self._rows, self._objective, self._tol, self._key = rows, objective, tol, key
        self._n_jobs, self._largest_cost = n_jobs, largest_cost
        self._matrices = None if _are_read_by_blocks(rows.codes) else matrices
        self._is_begun = False
        numbers = range(len(self._alike))
        self._groups = self._new_groups(numbers, self._is_float32(objective.C))

    def jobs(self, C: float, max_iter: int, n_jobs: int = 1) -> list[Iterator[None]]:
        """Return iterators that solve the problems for a C larger than the previous one. Threads
        must run them to their ends. Codes that are read in blocks are trained on here, in `n_jobs`
        threads, and the list is empty."""
        is_begun, self._is_begun = self._is_begun, True
        if is_begun:
            self._widen(C)
            for group in self._groups:
                group.go_on(C)
        if not _are_read_by_blocks(self._rows.codes):
            return [_turns(group, max_iter) for group in self._groups]
        _solve_by_blocks(
            self._rows, self._groups, self._tol, max_iter, self._key_of_blocks, n_jobs, None
        )
        return []

    def _is_float32(self, C: float, largest_variable: float = math.inf) -> bool:
        """Return whether a model has float32 weights for a C, given the largest variable to
        expect."""
        if self._largest_cost is None or _are_read_by_blocks(self._rows.codes):
            return False
        largest = C * self._largest_cost
        if largest <= _LARGEST_OF_FLOAT32 * self._tol:
            return largest >= _LEAST_OF_FLOAT32
        # The variables of other losses are distances to bounds.
        is_known = isinstance(self._objective.loss, QuadraticLoss)
        return is_known and largest_variable <= _LARGEST_VARIABLE_OF_FLOAT32 * self._tol

    def _widen(self, C: float) -> None:
        """Give float64 weights to the models that need them for a C. Each model decides by itself,
        so that no bit depends on other models."""
        models = {
            number: (group, m)
            for group in self._groups
            if group.is_float32
            for m, number in enumerate(group.numbers)
        }
        stay, leave = list[int](), list[int]()
        for number, (group, m) in models.items():
            largest = group.largest_variable(m) * (C / group.C)
            (stay if self._is_float32(C, largest) else leave).append(number)
        if leave:
            new = self._new_groups(leave, False)
            if stay:
                new += self._new_groups(stay, True)
            for group in new:
                group.take(models[number] for number in group.numbers)
            self._groups = [group for group in self._groups if not group.is_float32] + new

    def _new_groups(self, numbers: Sequence[int], are_float32: bool) -> list["_Group"]:
        most = MOST_OF_FLOAT32 if are_float32 else MOST_TOGETHER
        return [
            _Group(
                self._rows,
                self._objective,
                numbers[first:stop],
                self._tol,
                self._key,
                are_float32,
                self._matrices,
            )
            for first, stop in itertools.pairwise(cuts(len(numbers), self._n_jobs, most))
        ]

    def solutions(self, part: int = 0) -> Iterator[tuple[int, Solution]]:
        """Yield the models of a part of the rows, with the numbers of their problems."""
        n_parts = self._rows.n_parts
        for group in self._groups:
            for m, number in enumerate(group.numbers):
                if number % n_parts == part:
                    solution = group.solution(m)
                    for model in self._alike[number]:
                        yield model // n_parts, solution


def _turns(group: "_Group", max_passes: int) -> Iterator[None]:
    """Visit all rows, in turns."""
    while True:
        group.turn_over_all(max_passes)
        yield
        if not group.goes_on:
            return


def run_in_turns(jobs: Iterable[Iterator[None]], n_jobs: int | None) -> None:
    """Run iterators to their ends in threads. Because each takes memory, a thread has at most one
    at a time. An iterator is left after some time and resumed later, so that signals are handled in
    between."""
    waiting = deque(jobs)
    n_going = len(waiting)

    def work() -> bool:
        """Return whether a job has ended."""
        try:
            job = waiting.popleft()
        except IndexError:
            return False
        end = time.monotonic() + _SECONDS
        for _ in job:
            if time.monotonic() > end:
                waiting.appendleft(job)
                return False
        return True

    def calls() -> Iterator[tuple[()]]:
        while n_going:
            yield ()

    n_jobs = max(min(_threads.resolve_n_jobs(n_jobs), n_going), 1)
    for has_ended in _threads.stream(work, calls(), n_jobs):
        n_going -= has_ended


def _are_read_by_blocks(codes: PackedCodes) -> bool:
    return codes.array.nbytes > BLOCK_BYTES and mapped_file(codes.array) is not None


def cuts(n_models: int, n_jobs: int, full: int = MOST_TOGETHER) -> list[int]:
    """Return the boundaries of groups of models that are trained together, up to `full` in each:
    the first model of each group, and then the number of models.

    A small group costs little less than a full one, so all groups except the first are full. If
    threads would be left without a group, there is one group of about equal size per thread.
    """
    if n_models > n_jobs * full:
        rest = n_models % full
        return [0] * (rest > 0) + list(range(rest, n_models + 1, full))
    n_groups = min(n_jobs, n_models)
    return [number * n_models // n_groups for number in range(n_groups + 1)]


def check_width(codes: PackedCodes) -> int:
    """Return the number of one-hot features. Raise if it exceeds 31 bits."""
    width = codes.n_hashes << codes.bits
    if width > _LARGEST_WIDTH:
        raise ValueError(
            f"a model of {codes.n_hashes} codes of {codes.bits} bits has {width} weights, more "
            f"than {_LARGEST_WIDTH}: use fewer bits or fewer hashes"
        )
    return width


def zero_weights(codes: PackedCodes, n_models: int) -> Array:
    """Return zero weights for some models. Raise an error that says how many there are if they do
    not fit into memory."""
    width = check_width(codes)
    each = f"{n_models:,} models, one for each label, of" if n_models > 1 else "a model of"
    with _memory.allocating(8 * width * n_models, f"{each} {width:,} weights of 8 bytes"):
        return aligned_zeros(width, n_models)


class _Group:
    """Problems that are solved together. The solution of each is independent of the others.

    Parameters
    ----------
    numbers : sequence of int
        Numbers of the models.
    is_float32 : bool
        Whether weights are float32; dual variables are always float64.
    matrices : deque or None
        Matrices for models with few free rows that jump to their solutions; turns must then cover
        all rows. None means that models do not jump.
    """

    def __init__(
        self,
        rows: TrainingRows,
        objective: Objective,
        numbers: Sequence[int],
        tol: float,
        key: int,
        is_float32: bool = False,
        matrices: deque[Array] | None = None,
    ) -> None:
        codes = rows.codes
        self._rows, self._objective, self.numbers = rows, objective, numbers
        self._sides, self._members = rows.sides(numbers), rows.members_of(numbers)
        factors = np.ones((len(numbers), 2))
        if rows.factors is not None:
            factors[:] = rows.factors[list(numbers)]
        self._factors = factors
        self._check_C(objective.C)
        self.is_float32, self._matrices = is_float32, matrices
        n_columns = _loops.columns_of_weights(len(numbers), is_float32)
        self._v = aligned_zeros(check_width(codes), n_columns)
        self._weights = self._v.view(np.float32) if is_float32 else self._v
        """Weights, times a factor. `_v` is the same memory as float64."""
        self._dual = np.zeros((len(codes), len(numbers)))
        self._descent = _loops.Descent(
            codes.n_hashes, codes.bits, objective.loss.name, objective.loss.end,
            objective.epsilon, objective.bias, tol, objective.C, key, factors, self._v,
            is_float32,
        )  # fmt: skip
        self.model = self._descent.model
        self._scratch: tuple[Array, Array, Array, Array | None] | None = None
        self._begun: set[int] = set()
        """First rows of the blocks on which turns have started."""
        self.going = 2 ** len(numbers) - 1
        """One bit for each model that has not converged."""
        self.goes_on = False
        """Whether the last turn is to be continued."""
        self.rounds = [_losses.Rounds(objective.loss.end, tol) for _ in numbers]
        """Stopping rule of each model for rounds over all blocks."""
        self.n_rounds: list[int | None] = [None] * len(numbers)
        """Number of rounds of each model; None means that the passes of its turns count."""

    def _check_C(self, C: float) -> None:
        """Raise a ValueError if the numbers of the problems are too large for this C."""
        rows, bias = self._rows, self._objective.bias
        refuse_large_numbers(rows.targets, C, rows.weights, self._factors, bias)

    def turn(self, first: int, codes: Array, sampled: Array, max_passes: int) -> int:
        """Visit the rows from `first` on, whose codes are given. Change their variables in place,
        and return one bit for each model that has not converged on them."""
        some = slice(first, first + len(codes))
        of_rows = self._sides, self._rows.targets, self._rows.weights, self._members
        sides, targets, weights, members = (
            None if array is None else array[some] for array in of_rows
        )
        if self._scratch is None:
            n = len(codes)
            duals = np.zeros((3, n, len(self.numbers)))
            order, active = np.empty(n, np.uint32), np.empty(n, np.uint8)
            self._scratch = order, active, duals, _scratch_of_jumps(self._v)
        visited = self._rows.codes.n_hashes * (1 + self._v.shape[1] // 4)
        matrix = None if self._scratch[-1] is None else self._matrix()
        self.goes_on, not_within = self._descent.turn(
            codes, sampled.view(np.uint8), sides, targets, weights, self._dual[some],
            *self._scratch, max_passes, max(_TURN_CODES // visited, 1), first not in self._begun,
            0 if self.goes_on else self.going, members, matrix,
        )  # fmt: skip
        if matrix is not None and self._matrices is not None:
            self._matrices.append(matrix)
        self._begun.add(first)
        if not self.goes_on:
            self._scratch = None
        return int(not_within)

    def _matrix(self) -> Array | None:
        """Take or make a matrix for solutions, if models jump to them."""
        if self._matrices is None:
            return None
        try:
            return self._matrices.pop()
        except IndexError:
            n = len(self._rows.codes)
            return np.empty(_loops.shape_of_matrix(min(n + n // 2, _MOST_EQUATIONS)))

    def turn_over_all(self, max_passes: int) -> None:
        """Visit all rows for one turn. When the passes end, set `going` to the models that have not
        converged."""
        codes = self._rows.codes
        not_within = self.turn(0, codes.array, codes.sampled, max_passes)
        if not self.goes_on:
            self.going = not_within

    def take(self, models: Iterable[tuple["_Group", int]]) -> None:
        """Start from the solutions of models of other groups with the same problems."""
        for m, (group, of_group) in enumerate(models):
            self._weights[:, m] = group._weights[:, of_group]
            self._dual[:, m] = group._dual[:, of_group]
            self._descent.take(m, group._descent, of_group)
            self._objective, self._begun = group._objective, group._begun

    def go_on(self, C: float) -> None:
        """Set another C, and start from multiples of the last solutions."""
        self._check_C(C)
        n_models = len(self.numbers)
        factors, squares = np.ones(n_models), np.empty(n_models)
        # Models that have jumped to their solutions will jump from there, and need no factor.
        moving = [m for m in range(n_models) if not self.model(m)["is_solved"]]
        if moving:
            self._descent.squares(squares)
        for m in moving:
            number, variables = self.numbers[m], self._dual[:, m]
            y, costs = self._rows.y(number), self._rows.costs(number)
            factors[m] = self._objective.scale(C, y, variables, costs, float(squares[m]))
        self._objective = self._objective._replace(C=C)
        self._descent.go_on(C, factors)
        self.going, self.n_rounds = 2**n_models - 1, [None] * n_models

    @property
    def C(self) -> float:
        return self._objective.C

    def largest_variable(self, m: int) -> float:
        return float(np.abs(self._dual[:, m]).max())

    def n_passes(self) -> int:
        """Return the largest number of passes of any model over the rows."""
        return max(self.model(m)["n_passes"] for m in range(len(self.numbers)))

    def solution(self, m: int) -> Solution:
        """Return a model at the end of its turns."""
        weights = self._weights[:, m] / np.sqrt(self._rows.codes.n_hashes)
        model = self.model(m)
        last, dual = model["intercept"], None
        if self.going >> m & 1:
            number = self.numbers[m]
            y, costs = self._rows.y(number), self._rows.costs(number)
            square = weighted_sum(weights, weights) + last**2
            dual = self._objective.dual(y, self._dual[:, m], costs) - square / 2
        return Solution(weights, last, self.n_rounds[m] or model["n_passes"], dual)

    def solutions(self) -> Iterator[tuple[int, Solution]]:
        """Yield the models at the end of their turns, with their numbers."""
        for m, number in enumerate(self.numbers):
            yield number, self.solution(m)


def _scratch_of_jumps(v: Array) -> Array | None:
    """Return memory for the jumps of models with weights `v`, which they use after some passes.
    Return None for models with many weights, which do not jump."""
    if len(v) > _LARGEST_JUMPING:
        return None
    width, stride = v.shape
    return aligned_zeros(2 * width, stride).reshape(2, width, stride)


def aligned_zeros(n_rows: int, n_columns: int) -> Array:
    """Return zeros, aligned to 64 bytes."""
    zeros = np.zeros(n_rows * n_columns + 8)
    first = -zeros.ctypes.data % 64 // 8
    return zeros[first : first + n_rows * n_columns].reshape(n_rows, n_columns)


def _solve_by_blocks(
    rows: TrainingRows,
    groups: list[_Group],
    tol: float,
    max_iter: int,
    key: int,
    n_jobs: int,
    watch: Watch | None,
) -> None:
    """Solve by turns of all models on one block of rows after another (Yu, Hsieh, Chang & Lin
    2010).

    In each round, the blocks are read in random order. A model has converged when the violations,
    as first met in a round, are within the tolerance that ends the passes over all rows.
    """
    codes = rows.codes
    step = max(1, BLOCK_BYTES // codes.array.shape[1])
    blocks = _blocks.ranges(0, len(codes), step)
    rounds = {(group, m): group.rounds[m] for group in groups for m in range(len(group.numbers))}
    for round_number in range(max_iter):
        going = [group for group in groups if group.going]
        if not going:
            return
        order = _seeding.uniforms(np.uint64(key), (round_number + 1) * len(blocks))[-len(blocks) :]
        for start, stop in (blocks[block] for block in np.argsort(order)):
            if rows.weights is not None and not rows.weights[start:stop].any():
                continue
            block, sampled = np.array(codes.array[start:stop]), codes.sampled[start:stop]
            turning = going
            while turning:

                def turn(group: _Group, start: int = start) -> None:
                    group.turn(start, block, sampled, _BLOCK_PASSES)  # noqa: B023

                _threads.run(turn, [(group,) for group in turning], n_jobs)
                turning = [group for group in turning if group.goes_on]
            if watch is not None:
                going_models = sum(group.going.bit_count() for group in groups)
                watch(len(rounds) - going_models, len(rounds), round_number)
            for group, m in rounds:
                if group.going >> m & 1:
                    rounds[group, m].add(group.model(m))
        for (group, m), test in rounds.items():
            if group.going >> m & 1:
                group.n_rounds[m] = round_number + 1
                if test.is_last():
                    group.going &= ~(1 << m)
