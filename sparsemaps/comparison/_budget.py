"""The time that a comparison may take, and what its steps are expected to take."""

import time
from collections.abc import Callable, Hashable

Clock = Callable[[], float]


class OutOfTime(Exception):
    """The time ended during a step."""


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

    def check(self, share: float = 1.0) -> None:
        """Raise `OutOfTime` if nothing is left of a share of the time."""
        if self.left(share) < 0:
            raise OutOfTime


class Costs:
    """What a step costs, by those before it: seconds for one fit, a row and a component."""

    def __init__(self) -> None:
        self._rates: dict[Hashable, float] = {}

    def note(self, key: Hashable, work: float, seconds: float) -> None:
        self._rates[key] = seconds / max(work, 1.0)

    def expected(self, key: Hashable, work: float) -> float:
        """Return the seconds of some work, 0 if nothing is known."""
        return self._rates.get(key, 0.0) * work
