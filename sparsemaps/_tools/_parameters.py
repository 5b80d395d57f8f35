"""Errors that name parameters, in the words of the library or of the command."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class ParameterError(ValueError):
    """A forbidden value of a parameter: the name, the value, and the allowed values.

    A caller whose parameters have other names, such as the command, raises another error.
    """

    def __init__(self, name: str, value: str, allowed: str) -> None:
        super().__init__(name, value, allowed)  # for pickle
        self.name, self.value, self.allowed = name, value, allowed

    def __str__(self) -> str:
        return f"{self.name} must be {self.allowed}, got {self.value}"


_wording: Callable[[str, Any], str | None] = "{}={!r}".format


def setting(name: str, value: object) -> str:
    """Return the text for a parameter with a value in an error, in the words of the library if
    users cannot set it."""
    return _wording(name, value) or f"{name}={value!r}"


def offered(name: str, value: object) -> str | None:
    """Return the text for a parameter that an error advises to set; None if users cannot."""
    return _wording(name, value)


@contextlib.contextmanager
def wording_settings(wording: Callable[[str, Any], str | None]) -> Iterator[None]:
    """Let ``setting`` call `wording`, in all threads, as a program of one user needs it."""
    global _wording
    before, _wording = _wording, wording
    try:
        yield
    finally:
        _wording = before
