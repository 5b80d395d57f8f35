"""The fields that are read from records, and the values that they allow."""

import decimal
import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeGuard

import numpy as np

from sparsemaps._loops.text import Utf8Texts
from sparsemaps._tools import _whole_numbers
from sparsemaps._tools._checks import LARGEST_REAL, finite_or_none
from sparsemaps._tools._extras import library
from sparsemaps._tools._parameters import named
from sparsemaps._tools._typing import Array

RECORD_BYTES = 32
"""Bytes added to the size of each record, so that batches of many short records are bounded too."""


class BadRecord(ValueError):
    """An error in a record, with the number of the record among those read together. The reader of
    the file adds the line or row."""

    def __init__(self, expected: str, value: str, number: int = 0) -> None:
        super().__init__(f"expected {expected}; found {value}")
        self.number = number
        self.remedy = ""
        """A hint that ends the error message. Tables of bad records omit it."""

    is_of_length: ClassVar[bool] = False
    """Whether the error is about the length of the text."""


class WrongLength(BadRecord):
    """A text shorter or longer than allowed."""

    is_of_length = True


class MixedLabels(BadRecord):
    """A label of another kind than the labels before it. Such records are never set aside, because
    neither kind is wrong by itself."""


@dataclass
class Fields:
    """The fields that are read from each record, and the allowed lengths of texts."""

    text: str
    label: str | None
    id: str | None
    records: bool
    key: str | None = None
    weight: str | None = None
    lengths: tuple[int | None, int | None] = (None, None)
    sets_aside: bool = False
    """Whether bad lines or rows are set aside instead of raising an error."""
    of_numbers: bool = False
    """Whether labels are regression targets: one number per record."""
    _kind_of_labels: type | None = field(default=None, init=False)

    @functools.cached_property
    def besides_text(self) -> list["FieldOfBatch"]:
        """The fields that are read besides the text."""
        every = (
            ("labels", "label_field", self.label, self.check_label, _field),
            ("ids", "id_field", self.id, self.check_id, _field),
            ("keys", "keep", self.key, self.check_key, _value),  # a record need not have one
            ("weights", "weight_field", self.weight, self.check_weight, _field),
        )
        return [
            FieldOfBatch(values, option, name, check, find)
            for values, option, name, check, find in every
            if name is not None
        ]

    @functools.cached_property
    def _numbers(self) -> list[str]:
        """The fields whose values may be numbers."""
        return [one for one in (self.label, self.key, self.weight) if one is not None]

    def take(self, record: Any, into: Any, again: Callable[[], Any] | None = None) -> None:
        """Append the fields of a JSON object to `into`. `again` parses the object once more with
        all digits of whole numbers, since JSON parsers round numbers of more than 64 bits."""
        if not isinstance(record, dict):
            raise BadRecord("a JSON object", _kind(record))
        if again is not None and any(_may_be_rounded(_value(record, one)) for one in self._numbers):
            record = again()
        text = _field(record, self.text)
        if not isinstance(text, str):
            raise BadRecord(f"a string in the field {self.text!r}", _kind(text))
        self.check_lengths([text])
        others = {one.values: one.check(one.find(record, one.name)) for one in self.besides_text}
        into.append(text, others)

    @property
    def are_texts(self) -> bool:
        """Whether only the text is read from a record."""
        return not self.records and self.id is None and not self._numbers

    def check_lengths(self, texts: object) -> None:
        """Raise a `BadRecord` for the first text that is too short or too long."""
        least, most = self.lengths
        if least is None and most is None:
            return
        least, lengths = least or 0, lengths_of(texts)
        is_wrong = lengths < least
        if most is not None:
            is_wrong |= lengths > most
        if is_wrong.any():
            number = int(np.argmax(is_wrong))
            upper = "or more" if most is None else f"to {most}"
            raise WrongLength(f"{least} {upper} characters", f"{lengths[number]}", number)

    def check_label(self, label: object, place: str = "field", *, is_typed: bool = True) -> Any:
        """Return a label as a string, a boolean, or a number as in `number_of`. Return a list or
        another iterable as a tuple of its distinct labels. `place` is what errors call a field. If
        `is_typed` is false, numbers are strings of digits."""
        if self.of_numbers and not _may_be_target(label, is_typed=is_typed):
            if isinstance(label, str):
                shown = f"{label[:40]!r}"
            else:
                shown = "a list" if _is_list(label) else _shown(label)
            raise BadRecord(f"a finite number in the {place} {self.label!r}", shown)
        if not _is_list(label):
            one = self._one_label(label, place)
            self._check_kind_of_label(one)
            return one
        several = (self._one_label(one, f"list of the {place}") for one in label)
        found = dict.fromkeys((kind_of_label(one), one) for one in several)
        kinds = {kind for kind, _ in found}
        if len(kinds) > 1:
            words = sorted(KINDS_OF_LABELS[kind] for kind in kinds)
            rule = f"labels of one kind in the list of the {place} {self.label!r}"
            raise BadRecord(rule, " and ".join(words))
        labels = tuple(one for _, one in found)
        for one in labels[:1]:
            self._check_kind_of_label(one)
        return labels

    def _one_label(self, label: Any, place: str) -> float | int | str | bool:
        label = _plain(label)
        if isinstance(label, bool):
            return label
        _check_scalar(label, self.label, place, "a string, a boolean or a finite number")
        if isinstance(label, str):
            return label
        if isinstance(label, int):
            _check_size(
                label, f"a string or a number of at most 64 bits in the {place} {self.label!r}"
            )
        return _whole_numbers.number_of(label)

    def _check_kind_of_label(self, label: object) -> None:
        """Raise `MixedLabels` if a label differs in kind from the labels before it."""
        kind = kind_of_label(label)
        if self._kind_of_labels not in (kind, None):
            known = KINDS_OF_LABELS[self._kind_of_labels]
            found = KINDS_OF_LABELS[kind]
            raise MixedLabels(f"{known} as label, as in the records before", found)
        self._kind_of_labels = kind

    def check_key(self, key: object, place: str = "field") -> complex:
        """Return a number in two parts; NaN if it is None."""
        key = _plain(key)
        if key is None:
            return complex(math.nan, 0.0)
        if isinstance(key, bool) or not isinstance(key, (int, float)):
            raise BadRecord(f"a number in the {place} {self.key!r}", _kind(key))
        try:
            return _whole_numbers.in_two(key)
        except ValueError:
            least = f"a number below 2**106 in the {place} {self.key!r}"
            raise BadRecord(least, f"one of {key.bit_length()} bits") from None  # type: ignore[union-attr]

    def check_weight(self, weight: object, place: str = "field") -> float:
        """Return a weight as a float. Raise `BadRecord` if float64 does not hold all its digits."""
        weight = _plain(weight)
        allowed = f"a weight in the {place} {self.weight!r}, {ALLOWED_WEIGHTS}"
        if isinstance(weight, bool) or not isinstance(weight, (int, float)):
            raise BadRecord(allowed, _kind(weight))
        if not is_weight(weight):
            is_long = isinstance(weight, int) and 0 < weight <= LARGEST_REAL
            is_shown = isinstance(weight, float) or abs(weight) < 10**40
            shown = f"{weight}" if is_shown else "a larger one"
            raise BadRecord(f"{allowed} that float64 holds" if is_long else allowed, shown)
        return float(weight)

    def check_id(self, id: object, place: str = "field") -> Any:
        """Return an id unchanged."""
        id = _plain(id)
        _check_scalar(id, self.id, place)
        allowed = f"a string or a number of at most 64 bits in the {place} {self.id!r}"
        if isinstance(id, int) or place == "field":  # JSON parsers round larger integers
            _check_size(id, allowed)
        return id


class FieldOfBatch(NamedTuple):
    """A field whose values are an attribute of a batch."""

    values: str
    """The attribute of a `Batch`."""
    option: str
    """The option that names the field."""
    name: str
    check: Callable[..., Any]
    """``check(value, place)`` returns a value as batches have it."""
    find: Callable[[dict[str, Any], str], Any]
    """``find(record, name)`` returns the value in a JSON object."""


ALLOWED_WEIGHTS = f"a number from 0 to {LARGEST_REAL:g}"
"""The allowed weights, in words."""


def is_weight(number: int | float) -> bool:
    """Return whether a number is a weight: from 0 to `LARGEST_REAL`, with all digits in float64."""
    is_within = 0 <= number <= LARGEST_REAL
    return is_within and (not isinstance(number, int) or int(float(number)) == number)


_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


def number_in(text: str) -> int | float | None:
    """Return the number that a text spells in JSON's syntax; None for other texts and for numbers
    that are not finite or exceed 64 bits. "007" and "+1" are not numbers."""
    found = _NUMBER.fullmatch(text)
    if found is None or len(text) > _LONGEST_NUMBER:
        return None
    if found[1] is None and found[2] is None:
        whole = int(text)
        is_held = _whole_numbers.LEAST <= whole <= _whole_numbers.LARGEST
        return whole if is_held else None
    return finite_or_none(float(text))


_LONGEST_NUMBER = 400
"""Largest number of characters of a number."""

KINDS_OF_LABELS = {float: "a number", str: "a string", bool: "a boolean"}
"""The kinds of labels, in words. All labels of a job have the same kind."""


def flat_labels(labels: list[Any]) -> tuple[list[Any], Array | None]:
    """Return the labels of all records in one list, and the end of each record's labels; None
    instead of the ends if no record has a list."""
    if not any(type(label) is tuple for label in labels):
        return labels, None
    lists = [label if type(label) is tuple else (label,) for label in labels]
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    return [label for some in lists for label in some], np.cumsum(counts)


def _is_list(label: object) -> TypeGuard[Iterable[Any]]:
    """Return whether a label is a list or another iterable of labels."""
    return not isinstance(label, (str, bytes, dict)) and isinstance(label, Iterable)


def _may_be_target(label: object, *, is_typed: bool) -> bool:
    """Return whether a label can be a regression target: a finite number or a boolean."""
    label = _plain(label)
    if isinstance(label, str):
        return not is_typed and number_in(label) is not None
    return isinstance(label, (int, float)) and math.isfinite(label)


def kind_of_label(label: object) -> type:
    """Return the kind of a label: str, bool, or float for all numbers."""
    return type(label) if isinstance(label, (str, bool)) else float


def _may_be_rounded(value: object) -> bool:
    """Return whether a JSON parser may have rounded a number, or a number in a list."""
    several = value if isinstance(value, list) else [value]
    return any(isinstance(one, float) and abs(one) >= 2.0**63 for one in several)


def _check_size(value: object, allowed: str) -> None:
    """Raise `BadRecord` for a number of more than 64 bits."""
    if isinstance(value, int) and not _whole_numbers.LEAST <= value <= _whole_numbers.LARGEST:
        raise BadRecord(allowed, f"{value}" if abs(value) < 10**40 else "a larger one")
    if _may_be_rounded(value):
        raise BadRecord(allowed, "a larger one")


def _plain(value: object) -> Any:
    """Return a value as str, bool, int or float. Bytes are decoded as UTF-8."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x} as byte {error.start + 1}"
            raise BadRecord("UTF-8", byte) from None
    if isinstance(value, decimal.Decimal) and value.is_finite():
        return int(value) if value == value.to_integral_value() else float(value)
    return float(value) if isinstance(value, np.floating) else value


def _field(record: dict[str, Any], name: str) -> Any:
    """Return the value of a field. Raise `BadRecord` if it is missing."""
    if name in record:
        return record[name]
    value = _value(record, name, _MISSING)
    if value is _MISSING:

        def inner(path: str) -> Iterable[str] | None:
            found = _value(record, path)
            return found if isinstance(found, dict) else None

        names = names_for(name, record, inner) or "an object without fields"
        error = BadRecord("a field of labels" if name == UNNAMED else f"the field {name!r}", names)
        error.remedy = remedy_for(name)
        raise error
    return value


UNNAMED = "\0"
"""The field of labels of a call that does not name it. It is always missing."""


def names_for(
    missing: str, names: Iterable[str], inner: Callable[[str], Iterable[str] | None]
) -> str:
    """Return the names that an error about a missing field lists: those within the innermost field
    of its path for which `inner` returns names, or `names`."""
    place = missing.rfind(".")
    while place > 0:
        found = inner(missing[:place])
        if found is not None:
            names = [f"{missing[:place]}.{name}" for name in found]
            break
        place = missing.rfind(".", 0, place)
    first = list(itertools.islice(names, _MOST_NAMES + 1))
    return ", ".join([*map(repr, first[:_MOST_NAMES]), *["..."] * (len(first) > _MOST_NAMES)])


_MOST_NAMES = 8
"""Largest number of names that an error lists."""


def one_column(name: str) -> str:
    """Return what an error about a missing or repeated column expected."""
    return "a column of labels" if name == UNNAMED else f"one column {name!r}"


def remedy_for(missing: str) -> str:
    """Return the end of an error about a missing field: if the default text field is missing, or
    no field of labels is given, how to name one."""
    if missing == UNNAMED:
        return f"; name the field of the labels by {named('label_field')}"
    return f"; name the field of the texts by {named('field')}" if missing == "text" else ""


_MISSING = object()


def _value(record: dict[str, Any], path: str, missing: object = None) -> Any:
    """Return the value of a field, or of a nested field whose names are joined by dots. A field
    whose own name is the path takes precedence."""
    if path in record:
        return record[path]
    place = path.find(".")
    while place >= 0:
        inner = record.get(path[:place])
        if isinstance(inner, dict):
            value = _value(inner, path[place + 1 :], missing)
            if value is not missing:
                return value
        place = path.find(".", place + 1)
    return missing


def _check_scalar(
    value: Any, name: str | None, place: str, allowed: str = "a string or a finite number"
) -> None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    is_finite = isinstance(value, int) or (is_number and math.isfinite(value))
    if not isinstance(value, str) and not (is_number and is_finite):
        raise BadRecord(f"{allowed} in the {place} {name!r}", _shown(value))


def _shown(value: object) -> str:
    """Return a number, or words for a value of another type."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return repr(value) if is_number else _kind(value)


def _kind(value: object) -> str:
    """Return JSON's name for the type of a value."""
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean"}
    return "null" if value is None else names.get(type(value), "a number")


def lengths_of(texts: object) -> Array:
    """Return the numbers of characters of texts, given as a list, an Arrow array or `Utf8Texts`."""
    if isinstance(texts, Utf8Texts):
        return np.asarray(texts.lengths())
    if isinstance(texts, list):
        return np.fromiter(map(len, texts), np.int64, len(texts))
    pc = library("pyarrow.compute", "reading Parquet")
    return np.asarray(pc.utf8_length(texts), np.int64)
