"""Estimators as Python text, and the programs that train them."""

import dataclasses
import functools
import inspect
from typing import Any

from sparsemaps._tools import _sklearn

_UNNEEDED = "n_jobs"


def expression(value: object, imports: set[str]) -> str:
    """Return the Python text of an estimator, and add its import lines to `imports`."""
    if isinstance(value, _sklearn.Pipeline):
        imports.add("from sklearn.pipeline import make_pipeline")
        return f"make_pipeline({', '.join(expression(step, imports) for _, step in value.steps)})"
    if hasattr(value, "get_params"):
        given = value.get_params(deep=False)
        return f"{_name(type(value), imports)}({_words(value, given, imports)})"
    if isinstance(value, functools.partial):
        words = (f"{name}={expression(part, imports)}" for name, part in value.keywords.items())
        imports.add("from functools import partial")
        return f"partial({_name(value.func, imports)}, {', '.join(words)})"
    if isinstance(value, (tuple, list)):
        parts = ", ".join(expression(part, imports) for part in value)
        comma = "," if len(value) == 1 else ""
        return f"({parts}{comma})" if isinstance(value, tuple) else f"[{parts}]"
    if dataclasses.is_dataclass(value):
        words = (
            f"{field.name}={expression(getattr(value, field.name), imports)}"
            for field in dataclasses.fields(value)
            if getattr(value, field.name) != field.default
        )
        return f"{_name(type(value), imports)}({', '.join(words)})"
    return _name(value, imports) if callable(value) else repr(value)


def given_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that differ from their defaults."""
    parameters = estimator.get_params(deep=False)
    usual = _defaults(type(estimator))
    return {
        name: value
        for name, value in parameters.items()
        if name != _UNNEEDED and not (name in usual and _is_same(value, usual[name]))
    }


def _words(value: object, given: dict[str, Any], imports: set[str]) -> str:
    some = given_parameters(value)
    return ", ".join(f"{name}={expression(some[name], imports)}" for name in given if name in some)


def _defaults(kind: type) -> dict[str, Any]:
    parameters = inspect.signature(kind).parameters.values()
    return {one.name: one.default for one in parameters if one.default is not one.empty}


def _is_same(one: object, other: object) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _name(value: Any, imports: set[str]) -> str:
    """Return the name of a function or class, and add its import from the public module to
    `imports`."""
    parts = value.__module__.split(".")
    public = parts[: next((n for n, part in enumerate(parts) if part.startswith("_")), None)]
    module = "sparsemaps" if public[:2] == ["sparsemaps", "maps"] else ".".join(public)
    imports.add(f"from {module} import {value.__name__}")
    return str(value.__name__)
