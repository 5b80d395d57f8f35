"""Arrays that grow and shrink without a second copy."""

from typing import Any

import numpy as np
import numpy.typing as npt


class GrowingArray:
    """An array that grows by appending other arrays, in one piece of memory."""

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self._array: npt.NDArray[Any] = np.empty(0, dtype)
        self.n = 0

    def append(self, more: npt.NDArray[Any], growth: float = 2.0, added: int = 0) -> None:
        """Append ``more + added``. If the array must grow, allocate `growth` times the needed
        size."""
        end = self.n + len(more)
        if end > len(self._array):
            self._make_room(int(end * max(growth, 1)) + 1, self._array.dtype)
        appended = self._array[self.n : end]
        appended[:] = more
        if added:
            appended += added
        self.n = end

    def widen(self, dtype: npt.DTypeLike) -> None:
        """Convert the array to `dtype`."""
        if self._array.dtype != dtype:
            self._make_room(len(self._array), dtype)

    def finish(self) -> npt.NDArray[Any]:
        """Return the array. Nothing can be appended afterwards."""
        self._array.resize(self.n, refcheck=False)
        return self._array

    def _make_room(self, size: int, dtype: npt.DTypeLike) -> None:
        before, self._array = self._array, np.empty(size, dtype)
        self._array[: self.n] = before[: self.n]


def rows_where(array: npt.NDArray[Any], kept: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return ``array[kept]``, moved to the front of `array` in place."""
    n_kept = int(np.count_nonzero(kept))
    if n_kept < len(array):
        step, end = 4096, 0
        for start in range(0, len(array), step):
            moving = array[start : start + step][kept[start : start + step]]
            array[end : end + len(moving)] = moving
            end += len(moving)
    return array[:n_kept]
