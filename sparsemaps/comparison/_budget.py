"""The time limit of a comparison, and predictions of the duration of its steps."""

import time
from collections.abc import Callable, Hashable
from math import inf

Clock = Callable[[], float]


class OutOfTime(Exception):
    """Raised when the time ends during a step, or when a fit is expected to take `seconds`, which
    exceeds the remaining time."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def _ignore(line: str) -> None:
    """Ignore a line."""


class Budget:
    """A time limit in seconds, starting now, with a clock. Before each step, `watch` is called with
    a line of text."""

    watch: Callable[[str], None] = staticmethod(_ignore)

    def __init__(self, seconds: float, clock: Clock = time.perf_counter) -> None:
        self.seconds = seconds
        self.clock = clock
        self._start = clock()
        self._begun = 0.0

    def spent(self) -> float:
        return self.clock() - self._start

    def begin(self) -> None:
        """Divide only the remaining time from now on, after imports and first calls."""
        self._begun = self.spent()

    def left(self, share: float = 1.0) -> float:
        """Return the seconds left until `share` of the time after `begin` has passed."""
        rest = max(self.seconds - self._begun, 0.0)
        return self._begun + share * rest - self.spent()

    def share(self) -> float:
        """Return the share of the time after `begin` that has passed."""
        rest = self.seconds - self._begun
        return (self.spent() - self._begun) / rest if rest > 0 else 1.0


class Costs:
    """Costs of steps, learned from earlier steps: seconds per unit of work."""

    def __init__(self) -> None:
        self._rates: dict[Hashable, float] = {}

    def note(self, key: Hashable, work: float, seconds: float) -> None:
        self._rates[key] = seconds / max(work, 1.0)

    def expected(self, key: Hashable, work: float) -> float:
        """Return the expected seconds of some work; 0 if nothing is known."""
        return self._rates.get(key, 0.0) * work


class Step:
    """The time of one candidate's fits in a step of the search or the measurement.

    `left` limits the beginning of fits, and `rest` limits a running fit. A scikit-learn fit cannot
    be stopped; it gets only as many iterations as there is time for, predicted from earlier fits.

    Parameters
    ----------
    seconds : float
        After which no fit begins.
    end : float or None
        Share of the whole time at which a fit is stopped. With None, fits are not stopped.
    reserved : float
        Seconds reserved before the end, for work after the fits.
    """

    def __init__(
        self, budget: Budget, costs: Costs, candidate: Hashable, *, seconds: float = inf,
        end: float | None = None, reserved: float = 0.0,
    ) -> None:  # fmt: skip
        self._budget, self._costs, self._candidate = budget, costs, candidate
        self._seconds, self._end, self._reserved = seconds, end, reserved
        self._began = budget.spent()

    def spent(self) -> float:
        return self._budget.spent() - self._began

    def left(self, share: float = 1.0) -> float:
        """Return the seconds left until `share` of the step's time has passed."""
        return min(self._budget.seconds - self._began, share * self._seconds) - self.spent()

    def rest(self) -> float:
        """Return the seconds left until a fit is stopped."""
        return inf if self._end is None else self._budget.left(self._end) - self._reserved

    def check(self) -> None:
        """Raise `OutOfTime` if a fit must stop."""
        if self.rest() < 0:
            raise OutOfTime

    def iteration(self, strength: float, size: float) -> float:
        """Return the expected seconds of an iteration on rows of a given size; 0 if nothing is
        known. The prediction uses fits of the same strength, or else the last fits."""
        known = self._costs.expected((self._candidate, "iteration", strength), size)
        return known or self._costs.expected((self._candidate, "iteration"), size)

    def note_iterations(self, strength: float, size: float, n: int, seconds: float) -> None:
        """Note the duration of some iterations."""
        for key in (self._candidate, "iteration", strength), (self._candidate, "iteration"):
            self._costs.note(key, n * size, seconds)
