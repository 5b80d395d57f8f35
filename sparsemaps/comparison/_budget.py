"""The time that a comparison may take, and what its steps are expected to take."""

import time
from collections.abc import Callable, Hashable
from math import inf

Clock = Callable[[], float]


class OutOfTime(Exception):
    """Raised when the time ends during a step, or when a fit is expected to take `seconds`, more
    than are left."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


def _ignore(line: str) -> None:
    """Ignore a line."""


class Budget:
    """Seconds from now on, by a clock. `watch` is called with a line of text before each step."""

    watch: Callable[[str], None] = staticmethod(_ignore)

    def __init__(self, seconds: float, clock: Clock = time.perf_counter) -> None:
        self.seconds = seconds
        self.clock = clock
        self._start = clock()
        self._begun = 0.0

    def spent(self) -> float:
        return self.clock() - self._start

    def begin(self) -> None:
        """Divide the time that is left from now on. Imports and first calls are over."""
        self._begun = self.spent()

    def left(self, share: float = 1.0) -> float:
        """Return the seconds that are left of a share of the time after `begin`."""
        rest = max(self.seconds - self._begun, 0.0)
        return self._begun + share * rest - self.spent()


class Costs:
    """What a step costs, by those before it: seconds for one fit, a row and a component."""

    def __init__(self) -> None:
        self._rates: dict[Hashable, float] = {}

    def note(self, key: Hashable, work: float, seconds: float) -> None:
        self._rates[key] = seconds / max(work, 1.0)

    def expected(self, key: Hashable, work: float) -> float:
        """Return the seconds of some work, 0 if nothing is known."""
        return self._rates.get(key, 0.0) * work


class Step:
    """Track the time of the fits of one candidate in a step of the search or the measurement.

    `left` is for fits that may begin, and `rest` for a running fit. A fit of scikit-learn, which
    cannot be stopped, gets at most as many iterations as have time, by the time of earlier ones.

    Parameters
    ----------
    seconds : float
        After which no fit begins.
    end : float or None
        The share of the whole time at which a fit is stopped; None stops none.
    reserved : float
        Seconds before the end that are needed after the fits.
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
        """Return the seconds that are left of a share of the step."""
        return min(self._budget.seconds - self._began, share * self._seconds) - self.spent()

    def rest(self) -> float:
        """Return the seconds after which a fit is stopped."""
        return inf if self._end is None else self._budget.left(self._end) - self._reserved

    def check(self) -> None:
        """Raise `OutOfTime` if a fit has to stop."""
        if self.rest() < 0:
            raise OutOfTime

    def iteration(self, strength: float, size: float) -> float:
        """Return the seconds of an iteration on rows of some size, 0 if nothing is known: by fits
        of the same strength, or else by the last ones."""
        known = self._costs.expected((self._candidate, "iteration", strength), size)
        return known or self._costs.expected((self._candidate, "iteration"), size)

    def note_iterations(self, strength: float, size: float, n: int, seconds: float) -> None:
        """Note how long some iterations have taken."""
        for key in (self._candidate, "iteration", strength), (self._candidate, "iteration"):
            self._costs.note(key, n * size, seconds)
