"""Training: one problem for each model, solved by turns of compiled loops."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._loops import linear as _kernel
from sparsemaps._tools import _blocks, _seeding, _threads
from sparsemaps._tools._typing import Array
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import _losses
from sparsemaps.linear._losses import Objective

BLOCK_BYTES = 2**28
"""Codes of more bytes that are mapped into memory are trained on in blocks of this size."""

_TURN_CODES = 2**27
"""Codes that a turn reads, in about a tenth of a second. Signals are handled between turns."""

_BLOCK_PASSES = 8
"""The largest number of passes over a block while it is in memory."""

_LARGEST_WIDTH = 2**31 - 2**4
"""The largest number of weights of a model: numbers of columns have 32 bits."""


class Rows(NamedTuple):
    """The rows that all models are trained on."""

    codes: PackedCodes
    labels: Array | None
    """int32, of classification: model m has label m on its positive side, or 1 if it is alone."""
    targets: Array | None
    """float64, of regression."""
    weights: Array | None
    """float64, what C is multiplied by; rows of weight 0 do not count. None is 1 for all."""


class Solution(NamedTuple):
    """A model."""

    weights: Array
    """float64, of the one-hot features."""
    last_weight: float
    """Of the feature of the value `bias`."""
    n_passes: int
    dual: float | None
    """The dual objective, of a model that has not converged."""


def solve(
    rows: Rows,
    objective: Objective,
    n_models: int,
    *,
    tol: float,
    max_iter: int,
    seed: int,
    n_jobs: int | None,
    done: Callable[[], Any] | None = None,
) -> Iterator[tuple[int, Solution]]:
    """Solve the problems, in any order, and yield the number and the solution of each.

    `done` is called after each turn.
    """
    codes = rows.codes
    keys = _seeding.keys(seed, "linear", n_models + 1)

    def begin(number: int) -> _Model:
        positive = 1 if n_models == 1 else number
        return _Model(rows, objective, positive, tol, int(keys[1 + number]))

    if codes.array.nbytes > BLOCK_BYTES and is_mapped(codes.array):
        models = [begin(number) for number in range(n_models)]
        _solve_by_blocks(rows, models, tol, max_iter, keys[0], n_jobs, done)
        yield from ((number, model.solution()) for number, model in enumerate(models))
        return
    n_begun = 0
    unfinished: deque[tuple[int, _Model]] = deque()

    def next_turns() -> Iterator[tuple[int, _Model]]:
        nonlocal n_begun
        while unfinished or n_begun < n_models:
            if unfinished:
                yield unfinished.popleft()
            else:
                n_begun += 1
                yield n_begun - 1, begin(n_begun - 1)

    def turn(number: int, model: _Model) -> tuple[int, _Model]:
        model.turn(0, codes.array, codes.sampled, max_iter)
        return number, model

    while unfinished or n_begun < n_models:
        for number, model in _threads.stream(turn, next_turns(), n_jobs):
            if done is not None:
                done()
            if model.result == 0:
                unfinished.append((number, model))
            else:
                yield number, model.solution()


def check_width(codes: PackedCodes) -> int:
    """The number of one-hot features; an error if it has more than 31 bits."""
    width = codes.n_hashes << codes.bits
    if width > _LARGEST_WIDTH:
        raise ValueError(
            f"a model of {codes.n_hashes} codes of {codes.bits} bits has {width} weights, more "
            f"than {_LARGEST_WIDTH}: take fewer bits or fewer hashes"
        )
    return width


class _Model:
    """A problem on its way to the solution."""

    def __init__(
        self, rows: Rows, objective: Objective, positive: int, tol: float, key: int
    ) -> None:
        codes = rows.codes
        self._rows, self._objective, self._positive = rows, objective, positive
        self._v = np.zeros(check_width(codes) + 1)
        self._dual = np.zeros(len(codes))
        self._descent = _kernel.Descent(
            codes.n_hashes, codes.bits, _kernel.LOSSES[objective.loss], objective.epsilon,
            objective.bias, tol, objective.C, key, positive, self._v,
            np.empty(_kernel.scratch_columns(codes.n_hashes), np.uint32),
        )  # fmt: skip
        self._order: Array | None = None
        self._begun: set[int] = set()
        """The first rows of the blocks that turns have begun with."""
        self.result = 0
        """1 if the last turn converged, -1 if it had all its passes, 0 if it is to go on."""
        self.n_passes: int | None = None
        """Passes that count; None is those of the turns."""

    def turn(self, first: int, codes: Array, sampled: Array, max_passes: int) -> None:
        """Visit rows, whose codes are given and which are rows `first` and so on of all."""
        some = slice(first, first + len(codes))
        labels, targets, weights = (
            None if array is None else array[some] for array in self._rows[1:]
        )
        goes_on = self._order is not None
        if self._order is None:
            self._order = np.empty(len(codes), np.uint32)
        self.result = self._descent.turn(
            codes, sampled.view(np.uint8), labels, targets, weights, self._dual[some],
            self._order, max_passes, max(_TURN_CODES // self._rows.codes.n_hashes, 1),
            first not in self._begun, goes_on,
        )  # fmt: skip
        self._begun.add(first)
        if self.result != 0:
            self._order = None

    def violations(self) -> tuple[float, float, float]:
        """As `violations` of the compiled class says."""
        found: tuple[float, float, float] = self._descent.violations
        return found

    def solution(self) -> Solution:
        """The model at the end of its turns."""
        n_hashes = self._rows.codes.n_hashes
        weights = self._v[:-1] / np.sqrt(n_hashes)
        last = self._descent.intercept
        dual = None
        if self.result != 1:
            _, labels, targets, costs = self._rows
            y = np.asarray(targets)
            if labels is not None:
                y = np.where(labels == self._positive, 1.0, -1.0)
            square = float(weights @ weights) + last**2
            dual = _losses.dual(self._objective, y, self._dual, costs) - square / 2
        n_passes = self._descent.n_passes if self.n_passes is None else self.n_passes
        return Solution(weights, last, n_passes, dual)


def _solve_by_blocks(
    rows: Rows,
    models: list[_Model],
    tol: float,
    max_iter: int,
    key: np.uint64,
    n_jobs: int | None,
    done: Callable[[], Any] | None,
) -> None:
    """Turns of all models on one block of rows after the other (Yu, Hsieh, Chang & Lin 2010).

    The blocks of each round are read in a random order. A model has converged when the rows, as
    they are met first in a round, are within the tolerance that ends the passes over all rows.
    """
    codes = rows.codes
    step = max(1, BLOCK_BYTES // codes.array.shape[1])
    blocks = _blocks.ranges(0, len(codes), step)
    numbers = _seeding.uniforms(key, max_iter * len(blocks)).reshape(max_iter, len(blocks))
    first_violations = dict.fromkeys(range(len(models)), 0.0)
    going = list(range(len(models)))
    for round_number in range(max_iter):
        violations = {number: (0.0, -np.inf, np.inf) for number in going}
        for start, stop in (blocks[block] for block in np.argsort(numbers[round_number])):
            block, sampled = np.array(codes.array[start:stop]), codes.sampled[start:stop]
            turning = going
            while turning:

                def turn(number: int, start: int = start) -> None:
                    models[number].turn(start, block, sampled, _BLOCK_PASSES)  # noqa: B023

                _threads.run(turn, [(number,) for number in turning], n_jobs)
                if done is not None:
                    done()
                turning = [number for number in turning if models[number].result == 0]
            for number in going:
                total, highest, lowest = violations[number]
                more, high, low = models[number].violations()
                violations[number] = total + more, max(highest, high), min(lowest, low)
        for number in list(going):
            total, highest, lowest = violations[number]
            if round_number == 0:
                first_violations[number] = total
            within = _losses.is_within(
                models[number]._objective.loss,
                tol,
                highest,
                lowest,
                total,
                first_violations[number],
            )
            models[number].result = 1 if within else -1
            models[number].n_passes = round_number + 1
            if within:
                going.remove(number)


def is_mapped(array: Any) -> bool:
    """Whether an array is a file that is mapped into memory, or a part of one."""
    while array is not None:
        if isinstance(array, np.memmap):
            return True
        array = getattr(array, "base", None)
    return False
