"""Errors that name parameters, in the words of the library or of the command."""

import contextlib
import threading
from collections.abc import Iterator


class ParameterError(ValueError):
    """A forbidden value of a parameter: the name, the value, and the allowed values.

    The message has the words of the moment when it is asked for.
    """

    def __init__(self, name: str, value: str, allowed: str) -> None:
        super().__init__(name, value, allowed)  # for pickle
        self.name, self.value, self.allowed = name, value, allowed

    def __str__(self) -> str:
        found = current_wording().value(self.value)
        return f"{current_wording().name(self.name)} must be {self.allowed}, got {found}"


class Wording:
    """The words of errors for parameters, values and maps, as in the library.

    A program whose users type other words, such as the command, has a wording of its own.
    """

    absent = "None"
    """What a parameter is that is not given."""

    def name(self, parameter: str) -> str:
        """Return the name of a parameter."""
        return parameter

    def setting(self, parameter: str, value: object) -> str | None:
        """Return the text for a parameter with a value; None if users cannot set it."""
        return f"{parameter}={value!r}"

    def value(self, text: str) -> str:
        """Return a value for an error, from Python's notation."""
        return text

    def cls(self, name: str) -> str:
        """Return the word for objects of a class of maps or models, by the name of the class."""
        return name


_library = Wording()

_of_thread = threading.local()
"""``wording`` has the words of errors of this thread; without it, they are the library's."""


def current_wording() -> Wording:
    """Return the words of this thread."""
    found: Wording = getattr(_of_thread, "wording", _library)
    return found


def named(parameter: str, plain: str = "") -> str:
    """Return the name of a parameter in an error; in the words of the library `plain`, if given."""
    name = current_wording().name(parameter)
    return plain if plain and name == parameter else name


def named_any(*parameters: str) -> str:
    """Return the names of those parameters that users can set, with "or" between them."""
    known = [one for one in parameters if current_wording().setting(one, None) is not None]
    return " or ".join(map(current_wording().name, known or parameters))


def absent() -> str:
    """Return the word for a parameter that is not given, behind "must be"."""
    return current_wording().absent


def shown(value: object) -> str:
    """Return the text for a value in an error."""
    return current_wording().value(repr(value))


def named_class(value: object) -> str:
    """Return the word for a map or a model in an error; `value` is one, or the name of a class."""
    return current_wording().cls(value if isinstance(value, str) else type(value).__name__)


def setting(name: str, value: object) -> str:
    """Return the text for a parameter with a value in an error, in the words of the library if
    users cannot set it."""
    return current_wording().setting(name, value) or str(_library.setting(name, value))


def offered(name: str, value: object) -> str | None:
    """Return the text for a parameter that an error advises to set; None if users cannot."""
    return current_wording().setting(name, value)


def not_with_codes(map: object) -> ParameterError:
    """Return the error about a map that makes no codes."""
    return ParameterError("map", repr(map), f"a map with codes, such as {named_class('MinHash')}")


@contextlib.contextmanager
def wording_settings(wording: Wording) -> Iterator[None]:
    """Let errors in this thread, and in tasks that it gives to others, name parameters as this
    `wording` does."""
    before = current_wording()
    _of_thread.wording = wording
    try:
        yield
    finally:
        _of_thread.wording = before
