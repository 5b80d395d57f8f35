"""Errors that name parameters in the words of the library or of the command."""

import contextlib
import threading
from collections.abc import Iterator


class ParameterError(ValueError):
    """Raised for an invalid parameter value. It has the name, the value, and the allowed values.

    The message uses the wording that is current when it is formatted.
    """

    def __init__(self, name: str, value: str, allowed: str) -> None:
        super().__init__(name, value, allowed)  # for pickle
        self.name, self.value, self.allowed = name, value, allowed

    def __str__(self) -> str:
        found = current_wording().value(self.value)
        return f"{current_wording().name(self.name)} must be {self.allowed}, got {found}"


class Wording:
    """The wording of errors about parameters, values and maps; this class has the library's.

    Programs whose users type other words, such as the command, define their own wording.
    """

    absent = "None"
    """Word for a parameter that is not given."""

    def name(self, parameter: str) -> str:
        """Return the name of a parameter."""
        return parameter

    def setting(self, parameter: str, value: object) -> str | None:
        """Return the text for a parameter with a value, or None if users cannot set it."""
        return f"{parameter}={value!r}"

    def value(self, text: str) -> str:
        """Return the text for a value in an error, given its Python representation."""
        return text

    def cls(self, name: str) -> str:
        """Return the word for objects of a class of maps or models, given the name of the class."""
        return name


_library = Wording()

_of_thread = threading.local()
"""``wording`` is the wording of errors in this thread; if it is missing, the library's is used."""


def current_wording() -> Wording:
    """Return the wording of this thread."""
    found: Wording = getattr(_of_thread, "wording", _library)
    return found


def named(parameter: str, plain: str = "") -> str:
    """Return a parameter's name for an error, or `plain` (if given) in the library's wording."""
    name = current_wording().name(parameter)
    return plain if plain and name == parameter else name


def named_any(*parameters: str) -> str:
    """Return the names of the parameters that users can set, joined by "or"."""
    known = [one for one in parameters if current_wording().setting(one, None) is not None]
    return " or ".join(map(current_wording().name, known or parameters))


def absent() -> str:
    """Return the word that follows "must be" for a parameter that must not be given."""
    return current_wording().absent


def shown(value: object) -> str:
    """Return the text for a value in an error."""
    return current_wording().value(repr(value))


def named_class(value: object) -> str:
    """Return the word for a map or a model in an error. `value` is an object or a class name."""
    return current_wording().cls(value if isinstance(value, str) else type(value).__name__)


def setting(name: str, value: object) -> str:
    """Return the text for a parameter with a value in an error, in the library's wording if users
    cannot set it."""
    return current_wording().setting(name, value) or str(_library.setting(name, value))


def offered(name: str, value: object) -> str | None:
    """Return the text for a setting that an error recommends, or None if users cannot set it."""
    return current_wording().setting(name, value)


def not_with_codes(map: object) -> ParameterError:
    """Return the error for a map that has no codes."""
    given = (
        f"the class {map.__name__}, not {map.__name__}()" if isinstance(map, type) else repr(map)
    )
    return ParameterError("map", given, f"a map with codes, such as {named_class('MinHash')}")


@contextlib.contextmanager
def wording_settings(wording: Wording) -> Iterator[None]:
    """Use `wording` for errors in this thread, and in tasks that it passes to other threads."""
    before = current_wording()
    _of_thread.wording = wording
    try:
        yield
    finally:
        _of_thread.wording = before
