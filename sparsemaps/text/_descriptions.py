"""Descriptions of vectorizers, and their compiled loops."""

import hashlib
import json
from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from sparsemaps._tools import _sklearn
from sparsemaps.text._byte_ngrams import ByteNgrams
from sparsemaps.text._csr import Loops
from sparsemaps.text._vectorizer import HashingVectorizer


class DerivedVectorizer(ABC):
    """A vectorizer of this package that derives its rows from the rows of another one,
    `vectorizer`."""

    vectorizer: Any

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return a JSON-serializable description of all that determines the rows except the
        vectorizer."""

    @abstractmethod
    def _compiled(self) -> Loops | None: ...


def compiled_loops(vectorizer: Any) -> Any:
    """Return the `Loops` of a vectorizer of this package; None for other vectorizers and for
    parameters that the loops do not support."""
    own = isinstance(vectorizer, HashingVectorizer | ByteNgrams | DerivedVectorizer)
    return vectorizer._compiled() if own else None


_IGNORED = ("n_jobs", "dtype", "input")
"""Parameters of vectorizers that affect neither which n-grams are counted nor how."""

_VALUES = ("binary", "norm")
"""Parameters that affect the values of rows, but not which values are 0."""


def vectorizer_config(vectorizer: Any, *, values: bool = True) -> dict[str, Any]:
    """Return the class of a vectorizer and the parameters that determine its rows, for JSON.

    scikit-learn's `HashingVectorizer` and this package's have equal descriptions if their rows are
    equal. Without `values`, rows are sets, and the parameters that affect only values are omitted.
    A derived vectorizer adds its own description to that of the inner vectorizer.
    """
    if isinstance(vectorizer, DerivedVectorizer):
        config = vectorizer_config(vectorizer.vectorizer, values=values)
        return {**config, **vectorizer.describe()}
    parameters = dict(vectorizer.get_params(deep=False))
    if _sklearn.is_hashing_vectorizer(vectorizer) and vectorizer.analyzer != "word":
        for name in ("token_pattern", "stop_words", "tokenizer"):  # for words only
            parameters.pop(name, None)
    if parameters.get("normalize") is None:
        parameters.pop("normalize", None)  # scikit-learn's class has no such parameter
    for name in (*_IGNORED, *(() if values else _VALUES)):
        parameters.pop(name, None)
    config = {
        "class": type(vectorizer).__name__,
        "parameters": {name: _for_json(value) for name, value in sorted(parameters.items())},
    }
    vocabulary = getattr(vectorizer, "vocabulary_", None)
    if isinstance(vocabulary, dict):
        text = json.dumps(sorted((str(key), int(column)) for key, column in vocabulary.items()))
        config["vocabulary"] = hashlib.sha256(text.encode()).hexdigest()
    return config


def _for_json(value: object) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    if isinstance(value, (list, tuple)):
        return [_for_json(item) for item in value]
    name = getattr(value, "__qualname__", None)
    return f"{getattr(value, '__module__', None)}.{name}" if name else repr(value)
