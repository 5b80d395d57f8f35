"""What maps declare of their parameters: signature, docstring and checks agree with it."""

import inspect
import math
import re

import pytest

import sparsemaps
from sparsemaps._tools._allowed import (
    Bool,
    Choice,
    ChoiceOrSeries,
    Function,
    Int,
    NumberOr,
    PowerOfTwo,
    Real,
    Size,
    with_ranges,
)
from sparsemaps._tools._parameters import ParameterError

CLASSES = {name: getattr(sparsemaps, name) for name in sparsemaps._MAPS}
PARAMETERS = [(cls, name) for cls in CLASSES.values() for name in cls._allowed]


@pytest.mark.parametrize("cls", CLASSES.values(), ids=CLASSES)
def test_every_parameter_is_declared(cls):
    names = set(inspect.signature(cls).parameters) - {"random_state", "n_jobs", "maps"}
    assert set(cls._allowed) == names
    sizes = [name for name, allowed in cls._allowed.items() if isinstance(allowed, Size)]
    assert sizes == ([cls.size_name] if names else [])
    assert "[allowed]" not in cls.__doc__


@pytest.mark.parametrize(("cls", "name"), PARAMETERS)
def test_docstrings_and_types_say_what_is_allowed(cls, name):
    allowed = cls._allowed[name]
    paragraph = rf"^{name} : (.*)\n((?:    .*\n|\n)+)"
    line, text = re.search(paragraph, inspect.cleandoc(cls.__doc__), re.MULTILINE).groups()
    type_, _, default = line.rpartition(", default=")
    assert type_ == allowed.type
    signature = inspect.signature(cls).parameters[name]
    assert eval(default) == signature.default
    assert allowed.range in " ".join(text.split())
    choices = getattr(allowed, "choices", ())
    literals = re.findall(r"Literal\[(.*?)\]", str(signature.annotation))
    assert literals == ([", ".join(map(repr, choices))] if choices else [])
    allowed.check(name, signature.default)


@pytest.mark.parametrize(("cls", "name"), PARAMETERS)
def test_what_is_not_allowed_is_refused(cls, name):
    allowed = cls._allowed[name]
    wrong = [object()]
    if isinstance(allowed, Int):
        wrong += [allowed.low - 1, allowed.high + 1, 2.5, True]
    elif isinstance(allowed, Real):
        wrong += [allowed.least - 1e-9 if allowed.above is None else allowed.above]
        wrong += [float("nan"), float("inf"), 2 * allowed.most]
    elif not isinstance(allowed, Bool | Choice):
        assert isinstance(allowed, Function)
    if not allowed.none and not isinstance(allowed, Function):
        wrong.append(None)
    for value in wrong:
        with pytest.raises(ParameterError, match=f"^{name} must be ") as refused:
            cls(**{name: value}).check_parameters()
        assert refused.value.name == name


@pytest.mark.parametrize(
    ("allowed", "right", "wrong", "message"),
    [
        (Int(1, 8), 8, 9, "p must be from 1 to 8, got 9"),
        (Int(1, 8), 1, "1", "p must be an integer from 1 to 8, got '1'"),
        (Int(1, 8, none=True), None, 0, "p must be from 1 to 8, got 0"),
        (PowerOfTwo(2, 64), 32, 48, "p must be a power of two, got 48"),
        (Real(above=0), 1e-320, 0.0, "p must be a finite number above 0, got 0.0"),
        (Real(least=0), 0, -1, "p must be a finite number of at least 0, got -1"),
        (Real(above=0, most=10), 10, 10.5, "p must be above 0 and at most 10, got 10.5"),
        (Real(above=0, most=10), 1e-320, 0, "p must be above 0 and at most 10, got 0"),
        (Real(least=0, most=1), 0, math.nan, "p must be from 0 to 1, got nan"),
        (Real(least=0, most=1), 1, "1", "p must be from 0 to 1, got '1'"),
        (Bool(), True, 1, "p must be True or False, got 1"),
        (Choice("a", "b"), "b", "c", "p must be 'a' or 'b', got 'c'"),
        (Choice("a", none=True), None, "c", "p must be 'a', got 'c'"),
        (NumberOr("a", "b"), "a", "c", "p must be 'a', 'b' or a finite number above 0, got 'c'"),
        (NumberOr("a", "b"), 2, 0, "p must be a finite number above 0, got 0"),
        (ChoiceOrSeries("a", degrees=2), "a", "c", "p must be 'a', got 'c'"),
        (ChoiceOrSeries("a", degrees=2), (0, 0, 1), (1, 1, 1, 1), "at most 3 coefficients, got 4"),
        (ChoiceOrSeries("a", degrees=2), [1.5], [0, 0], "a sequence with a positive coefficient"),
        (ChoiceOrSeries("a", degrees=2), [1], [1, -1], "'a' or a sequence of coefficients, finite"),
        (Function(), None, "f", "p must be callable or None, got 'f'"),
    ],
)
def test_each_type(allowed, right, wrong, message):
    allowed.check("p", right)
    with pytest.raises(ParameterError) as refused:
        allowed.check("p", wrong)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("high", "words"), [(16, "16"), (1024, "1024"), (2**24, "2**24"), (2**31 - 1, "2**31 - 1")]
)
def test_ranges_in_words(high, words):
    assert Int(1, high).range == f"1 to {words}"


def test_the_range_stands_in_the_place_of_its_mark():
    docstring = "Parameters\n----------\na : int\n    First, [allowed].\nb : float\n    [allowed]."
    filled = with_ranges(docstring, {"a": Int(1, 3), "b": Real(least=2)})
    assert filled.endswith("a : int\n    First, 1 to 3.\nb : float\n    at least 2.")
    with pytest.raises(KeyError):
        with_ranges("c : int\n    [allowed]", {"a": Int(1, 3)})
