"""Options of jobs. Each is declared once, as a field of a value.

A field has the range, the default and the help of an option. The fields determine the checks and
the docstring of the value, the keywords and docstrings of the functions that take it, the options
of the command and its manual page, and the table in the documentation. Nothing here imports NumPy,
so that the command shows its help without it.
"""

import dataclasses
import difflib
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self, TypeVar

from sparsemaps._tools._allowed import Allowed, in_words
from sparsemaps._tools._docstrings import filled

_WIDTH = 96
"""Width of docstring entries, without the indent."""


class OptionField(NamedTuple):
    """An option: the name of its parameter, its range, default, type and help."""

    name: str
    allowed: Allowed
    default: Any
    annotation: Any
    help: str
    flag: str | None
    """Option of the command; None if the command has none."""
    metavar: str | None
    const: Any
    """Value of the command's option if no value follows it; None if a value is required."""
    dest: str
    """Name of the command's option in the namespace of argparse."""

    @property
    def shown_default(self) -> str:
        if isinstance(self.default, str):
            return f'"{self.default}"'
        return in_words(self.default) if type(self.default) is int else repr(self.default)

    def entry(self) -> str:
        """Return the entry of the option in a docstring."""
        text = textwrap.fill(self.help, _WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4,
                             break_long_words=False, break_on_hyphens=False)  # fmt: skip
        return f"{self.name} : {self.allowed.type}, default={self.shown_default}\n{text}"


def _options_of(cls: Any) -> tuple[OptionField, ...]:
    options = []
    for field in dataclasses.fields(cls):
        said = field.metadata
        allowed: Allowed = said["allowed"]
        text = " ".join(said["help"].split()).replace("[allowed]", allowed.range)
        flag = said.get("flag", "--" + field.name.replace("_", "-"))
        dest = (flag or field.name).strip("-").replace("-", "_")
        own = field.name, allowed, field.default, field.type
        given = said.get("metavar"), said.get("const")
        options.append(OptionField(*own, text, flag, *given, dest))
    return tuple(options)


options_of: Callable[[Any], tuple[OptionField, ...]] = functools.cache(_options_of)
"""Return the options of a class of values, one for each field."""


class Values:
    """Base of values whose fields are options. Subclasses are frozen dataclasses."""

    def __post_init__(self) -> None:
        given = {option.name: option.allowed for option in options_of(type(self))}
        taken = {name: allowed.check(name, getattr(self, name)) for name, allowed in given.items()}
        self._check_together()  # errors show the values before conversion
        for name, value in taken.items():
            object.__setattr__(self, name, value)

    def _check_together(self) -> None:
        """Raise a ValueError if options are not allowed together."""

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Return the value with the options in `given` that belong to it."""
        names = (option.name for option in options_of(cls))
        return cls(**{name: given[name] for name in names if name in given})


F = TypeVar("F", bound=Callable[..., Any])


def takes(*values: type[Values]) -> Callable[[F], F]:
    """Make a function accept the options of some values as keywords: its ``**options``.

    Its signature lists each option. Any other keyword raises a TypeError that suggests the nearest
    one.
    """

    def with_options(function: F) -> F:
        options = [option for cls in values for option in options_of(cls)]
        signature = inspect.signature(function)
        kinds = inspect.Parameter
        parameters = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not kinds.VAR_KEYWORD
        ]
        for option in options:
            about: Any = {"default": option.default, "annotation": option.annotation}
            parameters += [kinds(option.name, kinds.KEYWORD_ONLY, **about)]
        names = [parameter.name for parameter in parameters]

        @functools.wraps(function)
        def call(*arguments: Any, **keywords: Any) -> Any:
            for name in keywords:
                if name not in names:
                    raise TypeError(
                        f"{function.__name__}() got an unexpected keyword argument {name!r}; "
                        + _meant(name, names)
                    )
            return function(*arguments, **keywords)

        made: Any = call
        made.__signature__ = signature.replace(parameters=parameters)
        made.options = options
        return made

    return with_options


def _meant(name: str, names: list[str]) -> str:
    """Return the end of the error about an unknown keyword: the nearest keyword, or all of them."""
    close = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"expected one of {', '.join(names)}"


def documented(named: Any) -> Any:
    """Insert option entries into the docstring of a value's class, or of a function that takes
    options, at the mark ``[options]``, and return it."""
    docstring = inspect.cleandoc(named.__doc__ or "")
    if "\n[options]" in docstring:
        options = options_of(named) if isinstance(named, type) else named.options
        entries = "\n".join(option.entry() for option in options)
        named.__doc__ = filled(docstring, {"options": entries})
    return named


# ---- the command and the documents ---------------------------------------------------------------


def summary(option: OptionField, flags: Mapping[str, str | None]) -> str:
    """Return the help of a command option: the first sentence, with parameters replaced by the
    names of their options in `flags`."""
    sentence = re.split(r"\.(?: |$)", option.help, maxsplit=1)[0]
    sentence = re.sub(r"(?<!`)`(\w+)`", lambda match: flags.get(match[1]) or match[1], sentence)
    sentence = sentence.replace("`", "").replace("%", "%%")
    if option.default is True:
        return f"do not {sentence[:1].lower()}{sentence[1:]}"
    sentence = sentence.removeprefix("The ")
    text = sentence[:1].lower() + sentence[1:]
    if option.default is None or option.default is False:
        return text
    shown = option.shown_default.strip('"') or "empty"
    return f"{text} (default: {shown})"


def table(values: Iterable[type[Values]], functions: Mapping[str, Iterable[type[Values]]]) -> str:
    """Return a Markdown table of the options of some values, with the functions that take each. An
    option that several values inherit from the same base is listed once."""
    seen: set[tuple[type, str]] = set()
    lines = [
        "| Value | Option | Type | Default | Range | In the command | Taken by |",
        "|---|---|---|---|---|---|---|",
    ]
    for cls in values:
        for option in options_of(cls):
            bases = [base for base in cls.__mro__ if option.name in vars(base)]
            if (bases[-1], option.name) in seen:
                continue
            seen.add((bases[-1], option.name))
            takers = [
                f"`{name}`"
                for name, taken in functions.items()
                if any(issubclass(one, bases[-1]) for one in taken)
            ]
            cells = [
                f"`{cls.__name__}`", f"`{option.name}`", option.allowed.type,
                f"`{option.shown_default}`", option.allowed.range,
                f"`{option.flag}`" if option.flag else "", ", ".join(takers),
            ]  # fmt: skip
            lines.append(("| " + " | ".join(cells) + " |").replace("  |", " |"))
    return "\n".join(lines)
