"""Checks of a model's parameters, and of the codes and weights of rows."""

import contextlib
import json
import numbers
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import sparsemaps
from sparsemaps._input._row_values import numbers_of_rows, of_rows
from sparsemaps._tools import _checks, _sklearn, _threads
from sparsemaps._tools._parameters import ParameterError, not_with_codes, shown
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._code_checks import TEXTS, refuse_other_texts
from sparsemaps.linear._model_state import ModelState


def check_parameters(model: ModelState) -> None:
    """Raise a ValueError if a parameter of a model is invalid."""
    needed = ("encode", "fit_any_width", "to_config")
    if isinstance(model.map, type) or not all(hasattr(model.map, name) for name in needed):
        raise not_with_codes(model.map)
    if model.vectorizer is not None:
        _check_vectorizer(model.vectorizer)
    _checks.check_choice("loss", model.loss, model._LOSSES)
    model._check_C()
    _checks.check_bool("fit_intercept", model.fit_intercept)
    _checks.check_real("intercept_scaling", model.intercept_scaling, 0, open_low=True)
    _checks.check_real("tol", model.tol, 0, open_low=True)
    _checks.check_int("max_iter", model.max_iter, 1, _checks.LARGEST_INT32)
    _checks.check_real("epsilon", model.epsilon, 0)
    _threads.resolve_n_jobs(model.n_jobs)


def _check_vectorizer(vectorizer: object) -> None:
    if hasattr(vectorizer, "transform") and not isinstance(vectorizer, type):
        return
    from sparsemaps.text._analyzers import is_specification

    if not is_specification(vectorizer):
        raise ParameterError(
            "vectorizer", repr(vectorizer), 'None, "char:3" or the like, Texts, or have transform'
        )


def map_of(model: ModelState, codes: PackedCodes) -> Any:
    """Return the fitted map of codes. Raise unless it has the class and the parameters of a model's
    `map`."""
    config = {key: value for key, value in codes.config.items() if key != TEXTS}
    made = sparsemaps.from_config(config)
    found = made.get_params()
    seed = getattr(model.map, "random_state", None)
    if type(made) is not type(model.map):
        raise ValueError(
            f"X must be codes of {type(model.map).__name__}, got codes of {type(made).__name__}"
        )
    for name, value in model.map.get_params().items():
        if name.rpartition("__")[2] in ("n_jobs", "random_state"):
            continue  # also for the maps of a product, whose own seeds are unused
        is_computed = isinstance(value, str) and isinstance(found.get(name), float)
        is_simple = value is None or isinstance(value, (str, numbers.Real))
        if is_simple and not is_computed and found.get(name) != value:
            raise ValueError(
                f"X must be codes of a map with {name}={value!r}, like map, got codes with "
                f"{name}={found.get(name)!r}"
            )
    if isinstance(seed, (int, np.integer)) and config["seed"] != int(seed):
        raise ValueError(
            f"X must be codes of the seed {int(seed)}, the random_state of map, got codes of "
            f"the seed {config['seed']}"
        )
    return made


def fitted_vectorizer(
    vectorizer: Any, X: Any, sample_weight: Array | None, *, is_of_sets: bool
) -> tuple[Any, Any]:
    """Return a copy of the vectorizer that a parameter specifies, and the texts `X`. An
    `IdfWeights` in it first counts the texts; if `X` is codes, nothing is counted. For a map of
    sets, a specification of n-grams means sets of them."""
    from sparsemaps.text._analyzers import as_vectorizer  # slow: it imports scikit-learn's

    vectorizer = as_vectorizer(vectorizer, binary=is_of_sets)
    if not hasattr(vectorizer, "steps") and not hasattr(vectorizer, "weights"):
        return _sklearn.clone(vectorizer), X
    from sparsemaps.text import _weighted_ngrams

    of_codes = isinstance(X, PackedCodes)
    if isinstance(X, Iterator):  # can be read only once
        X = list(X)
    return _weighted_ngrams.fitted(vectorizer, None if of_codes else X, sample_weight), X


def refuse_other_codes(model: ModelState, codes: PackedCodes) -> None:
    """Raise unless the fitted map of a model makes codes like these."""
    own, other = model.map_.to_config(), dict(codes.config)
    for key in ("class", "parameters", "seed", "scheme"):
        if other.get(key) != own[key]:
            raise ValueError(
                f"X must be codes of the map that was fitted, whose {key} "
                f"{'are' if key == 'parameters' else 'is'} {own[key]}, got {other.get(key)}"
            )
    texts = other.get(TEXTS)
    if texts is not None and getattr(model, "vectorizer_", None) is not None:
        from sparsemaps.text._descriptions import vectorizer_config

        both = [vectorizer_config(model.vectorizer_, values=values) for values in (True, False)]
        texts, *own = json.loads(json.dumps([texts, *both]))
        if texts not in own:
            refuse_other_texts("X and the model", texts, own[model.map_.law.is_of_sets])


_LABELS = (("strings", str), ("booleans", (bool, np.bool_)), ("numbers", numbers.Real))
"""Types of labels. Booleans come before numbers, because Python's booleans are numbers too."""


def labels_of_one_type(y: object) -> Any:
    """Return labels that are strings, numbers or booleans. Raise a ValueError if one is missing, or
    has another type than the first. Lists and arrays of objects become arrays of that type."""
    array = y if isinstance(y, np.ndarray) else np.array(y, object)
    if array.dtype != object:
        return array
    given = array.ravel().tolist()
    kind = None
    for row, label in enumerate(given):
        found = next((name for name, types in _LABELS if isinstance(label, types)), None)
        if found is None or label != label:
            is_list = isinstance(label, (list, tuple, set, frozenset))
            hint = "; MultiLabelBinarizer makes an indicator matrix of lists" if is_list else ""
            raise ValueError(
                f"y must have a string, a number or a boolean for each row, got {label!r} in row "
                f"{row}{hint}"
            )
        kind = kind or found
        if found != kind:
            raise ValueError(
                f"y must have labels of one type, got {kind}, and {label!r} in row {row}"
            )
    if kind is None or kind == "strings":
        return array if array is y else np.asarray(y)
    types: tuple[Any, ...] = (bool,)
    if kind == "numbers":
        if all(isinstance(label, numbers.Integral) for label in given):
            limits = map(np.iinfo, (np.int64, np.uint64))
            types = tuple(of.dtype for of in limits if of.min <= min(given) <= max(given) <= of.max)
        else:
            types = (np.float64,)
    for dtype in types:
        with contextlib.suppress(OverflowError):
            labels = np.array(given, dtype)
            if labels.tolist() == given:
                return labels.reshape(array.shape)
    raise ValueError("y must have integers that one type of 64 bits holds, or strings")


def checked_labels(y: object, *, classes: bool) -> Array:
    """Return labels (targets if not `classes`) as a one-dimensional array."""
    y = of_rows("y", y)
    y = labels_of_one_type(y) if classes else numbers_of_rows("y", y)
    return np.asarray(_sklearn.check_targets(y, classes=classes))


def refuse_other_lengths(rows: Any, y: Any) -> None:
    """Raise a ValueError unless there are as many rows as labels."""
    if len(rows) != y.shape[0]:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: X has "
            f"{counted(len(rows), 'rows')} and y has {y.shape[0]}"
        )


def number_of_label(classes: Array, label: object) -> int | None:
    """Return the number of a class, or None if the class is unknown."""
    wanted = as_given(label)
    for number, one in enumerate(classes.tolist()):
        if as_given(one) == wanted:
            return number
    return None


def shown_labels(classes: Array) -> str:
    """Return the labels of a model for an error, at most 20."""
    some = [shown(label) for label in classes[:_MOST_SHOWN].tolist()]
    return ", ".join(some + ["..."] * (len(classes) > _MOST_SHOWN))


_MOST_SHOWN = 20


def as_given(label: object) -> tuple[object, type]:
    """Return a key to compare labels. Strings differ from numbers, and so do booleans, although
    they equal numbers in Python."""
    kinds = (kind for kind, types in _KINDS if isinstance(label, types))
    return label, next(kinds, float)


_KINDS: tuple[tuple[type, Any], ...] = (str, str), (bool, (bool, np.bool_))


def refuse_beyond_float64(weights: Array, intercepts: Array, n_codes: int) -> None:
    """Raise a ValueError unless all possible scores of a model are finite."""
    low, high = float(weights.min()), float(weights.max())
    with np.errstate(over="ignore"):
        largest = max(-low, high) * n_codes + np.abs(intercepts).max()
    if not np.isfinite(largest):
        raise ValueError(
            f"its weights must be finite, and small enough for finite scores, got {low} to {high}, "
            f"and intercepts {intercepts.min()} to {intercepts.max()}"
        )


def refuse_large_numbers(
    targets: Array | None, C: float, weights: Array | None, factors: Array, bias: float
) -> None:
    """Raise a ValueError if training could exceed the range of float64. It checks targets, the
    constant feature `bias`, and costs, which are C times `weights` of rows and `factors` of
    classes."""
    cost = C * float(factors.max()) * (1.0 if weights is None else float(weights.max()))
    largest = {
        "value of y": 0.0 if targets is None else float(np.abs(targets).max()),
        "product of C and the weights of a row and its class": cost,
        "value of intercept_scaling": bias,
    }
    for cause, number in largest.items():
        if number > _checks.LARGEST_REAL:
            most = f"{_checks.LARGEST_REAL:g}"
            raise ValueError(
                f"training would exceed float64, because the largest {cause} is {number:.6g}: "
                f"scale it to {most} at most"
            )


def checked_weights(sample_weight: npt.ArrayLike | None, n_rows: int) -> Array | None:
    """Return `sample_weight` as float64, one per row, or None if all are 1."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n_rows, sample_weight)
    given = numbers_of_rows("sample_weight", of_rows("sample_weight", sample_weight))
    weights = _sklearn.check_array(
        given, ensure_2d=False, dtype=np.float64, order="C", input_name="sample_weight",
        ensure_all_finite=False,
    )  # fmt: skip
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must be of shape ({n_rows},), because X has "
            f"{counted(n_rows, 'rows')}, got {weights.shape}"
        )
    _sklearn.check_finite("sample_weight", weights, "weights")
    if weights.min() < 0:
        row = int(weights.argmin())
        raise ValueError(f"sample_weight must not be negative, got {weights[row]} in row {row}")
    if not weights.max() > 0:
        raise ValueError("sample_weight must be above 0 in some row, got zeros only")
    if weights.max() > _checks.LARGEST_REAL:
        row = int(weights.argmax())
        raise ValueError(
            f"sample_weight must be at most {_checks.LARGEST_REAL:g}, got {weights[row]:g} in row "
            f"{row}: scale all weights, and C by the inverse"
        )
    return np.asarray(weights)
