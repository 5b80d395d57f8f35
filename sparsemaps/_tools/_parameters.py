"""Errors that name parameters, in the words of the library or of the command."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class ParameterError(ValueError):
    """A parameter that is not allowed: its name, its value, and the rule that it breaks.

    A caller whose parameters have other names, as the command's options do, words it anew.
    """

    def __init__(self, name: str, found: str, rule: str) -> None:
        super().__init__(name, found, rule)  # for pickle
        self.name, self.found, self.rule = name, found, rule

    def __str__(self) -> str:
        return f"{self.name} must be {self.rule}, got {self.found}"


def _as_argument(name: str, value: Any) -> str:
    return f"{name}={value!r}"


_wording: Callable[[str, Any], str | None] = _as_argument


def setting(name: str, value: Any) -> str | None:
    """A parameter with a value, in the words of an error; None where it cannot be set."""
    return _wording(name, value)


@contextlib.contextmanager
def worded_by(wording: Callable[[str, Any], str | None]) -> Iterator[None]:
    """Let ``setting`` return what `wording` does, in all threads: for a program of one user."""
    global _wording
    before, _wording = _wording, wording
    try:
        yield
    finally:
        _wording = before
