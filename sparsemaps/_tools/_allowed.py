"""Ranges of parameters, for maps and for jobs (``_option_fields``). Checks, options of the command,
their help and the tables in the documentation are made from them.

Nothing here imports NumPy: the command's help reads these tables from the source of the maps.
"""

import ast
import math
import numbers
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from sparsemaps._tools import _checks
from sparsemaps._tools._checks import LARGEST_INT32 as LARGEST_INT32
from sparsemaps._tools._parameters import ParameterError

LARGEST_BITS = 24
"""Largest number of bits per code."""

MOST_SNIPPETS = 64
"""Largest number of snippets per text."""

LARGEST_N_HASHES = 2**24
"""Largest number of codes per row that maps and searches support."""


class About(NamedTuple):
    """A map in the command: its name and one line of help. A class of products also has the
    products that are commands, each with its name, its help and the classes of its two maps."""

    command: str = ""
    help: str = ""
    products: Sequence[tuple[str, str, str, str]] = ()


@dataclass(eq=False, kw_only=True)
class Allowed:
    """The range of a parameter."""

    none: bool = False
    """Whether None is allowed."""

    words: ClassVar[str]
    """The type, without None."""

    @property
    def type(self) -> str:
        """The type, as docstrings name it."""
        return f"{self.words} or None" if self.none else self.words

    @property
    def range(self) -> str:
        """The range of numbers, in words; "" if the type says everything."""
        return ""

    def default(self, value: object, help: str = "", **how: Any) -> Any:
        """Return a parameter's field with this range and default; `help` and `how` are for options
        of jobs (see ``_option_fields``)."""
        return field(default=value, metadata={"allowed": self, "help": help, **how})

    def check(self, name: str, value: object) -> Any:
        """Return a valid value, converted to a plain Python type for recipes. Raise a
        ParameterError if the value is invalid."""
        return None if self.none and value is None else self._checked(name, value)

    def _checked(self, name: str, value: object) -> Any:
        raise NotImplementedError


@dataclass(eq=False)
class Int(Allowed):
    """A whole number from `low` to `high`."""

    low: int
    high: int
    words = "int"

    @property
    def range(self) -> str:
        return f"{in_words(self.low)} to {in_words(self.high)}"

    def _checked(self, name: str, value: object) -> int:
        return _checks.check_int(name, value, self.low, self.high)


@dataclass(eq=False)
class Ints(Allowed):
    """One or more whole numbers from `low` to `high`, at most `n` of them."""

    low: int
    high: int
    n: int
    words = "sequence of int"

    @property
    def range(self) -> str:
        return f"1 to {self.n} numbers, {in_words(self.low)} to {in_words(self.high)}"

    def _checked(self, name: str, value: object) -> tuple[int, ...]:
        is_text = isinstance(value, (str, bytes))
        several = [] if is_text or not isinstance(value, Collection) else list(value)
        if not 1 <= len(several) <= self.n:
            rule = f"1 to {self.n} integers from {self.low} to {self.high}"
            raise ParameterError(name, repr(value), rule)
        return tuple(_checks.check_int(name, one, self.low, self.high) for one in several)


class Size(Int):
    """The number of components of a map."""


class PowerOfTwo(Int):
    """A power of two from `low` to `high`."""

    @property
    def range(self) -> str:
        return f"a power of two, {super().range}"

    def _checked(self, name: str, value: object) -> int:
        number = super()._checked(name, value)
        if number & (number - 1):
            raise ParameterError(name, str(number), "a power of two")
        return number


@dataclass(eq=False)
class Real(Allowed):
    """A finite number, above `above` or at least `least` if given, and at most `most`."""

    above: float | None = None
    least: float | None = None
    most: float = math.inf
    words = "float"

    @property
    def range(self) -> str:
        if self.above is None and self.least is None:
            return ""
        if self.above is None and self.most < math.inf:
            return f"from {self.least} to {self.most:,}"
        low = f"at least {self.least}" if self.above is None else f"above {self.above}"
        return low + (f" and at most {self.most:,}" if self.most < math.inf else "")

    def _checked(self, name: str, value: object) -> Any:
        low = self.least if self.above is None else self.above
        low = -math.inf if low is None else low
        return _checks.check_real(name, value, low, self.most, open_low=self.above is not None)


class Reals(Real):
    """One or several finite numbers of a range."""

    words = "float or sequence of float"

    def _checked(self, name: str, value: object) -> Any:
        if isinstance(value, str) or not isinstance(value, Iterable):
            return super()._checked(name, value)
        numbers = tuple(super(Reals, self)._checked(name, one) for one in value)
        if not numbers:
            raise ParameterError(name, repr(value), "a number or several numbers")
        return numbers


@dataclass(eq=False)
class Bool(Allowed):
    """True or False."""

    is_option: bool = True
    """Whether the command has this option."""

    words = "bool"

    def _checked(self, name: str, value: object) -> bool:
        return _checks.check_bool(name, value)


class Choice(Allowed):
    """One of several strings."""

    def __init__(self, *choices: str, none: bool = False) -> None:
        super().__init__(none=none)
        self.choices = choices

    @property
    def type(self) -> str:
        choices = [f'"{choice}"' for choice in self.choices]
        return "{" + ", ".join(["None"] * self.none + choices) + "}"

    def _checked(self, name: str, value: object) -> Any:
        return _checks.check_choice(name, value, self.choices)


class NumberOr(Choice):
    """A number above 0, or one of several strings."""

    @property
    def type(self) -> str:
        return "float, " + " or ".join(f'"{choice}"' for choice in self.choices)

    range = "above 0"

    def _checked(self, name: str, value: object) -> Any:
        if not isinstance(value, str):
            return _checks.check_real(name, value, 0, open_low=True)
        if value not in self.choices:
            names = ", ".join(map(repr, self.choices))
            raise ParameterError(name, repr(value), f"{names} or a finite number above 0")
        return value


class ChoiceOrSeries(Choice):
    """One of several strings, or the coefficients of a power series of degree at most `degrees`."""

    def __init__(self, *choices: str, degrees: int) -> None:
        super().__init__(*choices)
        self.degrees = degrees

    @property
    def type(self) -> str:
        return f"{super().type} or sequence of float"

    def _checked(self, name: str, value: object) -> Any:
        if isinstance(value, str):
            return super()._checked(name, value)
        coefficients = list(value) if isinstance(value, Iterable) else []
        if not coefficients or not all(
            isinstance(a, numbers.Real) and math.isfinite(a) and float(a) >= 0 for a in coefficients
        ):
            names = ", ".join(map(repr, self.choices))
            rule = f"{names} or a sequence of coefficients, finite and none negative"
            raise ParameterError(name, repr(value), rule)
        if not any(coefficients):
            raise ParameterError(name, repr(value), "a sequence with a positive coefficient")
        if len(coefficients) > self.degrees + 1:
            rule = f"of at most {self.degrees + 1} coefficients"
            raise ParameterError(name, str(len(coefficients)), rule)
        return value


@dataclass(eq=False)
class String(Allowed):
    """A string. `rule` says in errors which strings are allowed; it excludes the empty one."""

    rule: str = ""
    words = "str"

    def _checked(self, name: str, value: object) -> Any:
        if not isinstance(value, str) or (self.rule and not value):
            raise ParameterError(name, repr(value), self.rule or "a string")
        return value


@dataclass(eq=False)
class PathTo(Allowed):
    """The path of a file or folder. `rule` says in errors which values are allowed."""

    rule: str = ""
    words = "str or path-like"

    @property
    def type(self) -> str:
        return "str, path-like or None" if self.none else self.words

    def _checked(self, name: str, value: object) -> Any:
        if not isinstance(value, (str, os.PathLike)):
            rule = self.rule or ("a path or None" if self.none else "a path")
            raise ParameterError(name, repr(value), rule)
        return value


@dataclass(eq=False, kw_only=True)
class Function(Allowed):
    """A function, or None."""

    none: bool = True
    words = "callable"

    def _checked(self, name: str, value: object) -> Any:
        if not callable(value):
            raise ParameterError(name, repr(value), self.type)
        return value


def words_of_type(module: str, name: str) -> tuple[str, ...]:
    """Return the strings of a ``Literal`` type, read from the source of a module of the package."""
    path = Path(__file__).parents[1] / module
    tree = ast.parse(path.read_text(encoding="utf-8"))
    literal = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name
    )
    assert isinstance(literal, ast.Subscript)
    words: tuple[str, ...] = ast.literal_eval(literal.slice)
    return words


def with_ranges(docstring: str, allowed: Mapping[str, Allowed]) -> str:
    """Replace the mark ``[allowed]`` of each parameter in a docstring by its range."""
    lines, name = [], ""
    for line in docstring.split("\n"):
        if match := re.match(r"\s*(\w+) : ", line):
            name = match[1]
        if "[allowed]" in line:
            line = line.replace("[allowed]", allowed[name].range)
        lines.append(line)
    return "\n".join(lines)


def in_words(number: int) -> str:
    """Return a number in words: a large one that is 2**n or 2**n - 1 is written as such."""
    for less in (0, 1):
        exponent = (number + less).bit_length() - 1
        if number >= 2**12 and number + less == 2**exponent:
            return f"2**{exponent}" + " - 1" * less
    return str(number)
