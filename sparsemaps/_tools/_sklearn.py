"""The only module that imports scikit-learn, with public names only.

Estimators inherit the classes of `_light_bases`, and through these the classes of scikit-learn once
it is imported. Functions of scikit-learn are imported when they are called.
"""

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from sparsemaps._tools._light_bases import imported
from sparsemaps._tools._parameters import ParameterError

if TYPE_CHECKING:
    # scikit-learn has no annotations. Declare for type checkers what maps inherit and users call.
    from collections.abc import Callable, Iterable
    from typing import Self, TypeVar

    from sparsemaps._tools._typing import Array, CsrMatrix

    T = TypeVar("T")

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...

    class TransformerMixin:
        def __init_subclass__(cls, *, auto_wrap_output_keys: Any = ()) -> None: ...
        @overload
        def set_output(self, *, transform: Literal["default"] | None = None) -> Self: ...
        @overload
        def set_output(self, *, transform: Literal["pandas", "polars"]) -> Any: ...
        def set_output(self, *, transform: str | None = None) -> Any: ...

    class ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class RegressorMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features: Iterable[str] | None = None) -> Array: ...

    class OneToOneFeatureMixin:
        def get_feature_names_out(self, input_features: Iterable[str] | None = None) -> Array: ...

    class HashingVectorizer(TransformerMixin, BaseEstimator):
        input: str
        encoding: str
        decode_error: str
        strip_accents: Any
        lowercase: bool
        preprocessor: Any
        tokenizer: Any
        stop_words: Any
        token_pattern: str | None
        ngram_range: tuple[int, int]
        analyzer: Any
        n_features: int
        binary: bool
        norm: str | None
        alternate_sign: bool
        dtype: Any

        def __init__(self, **params: Any) -> None: ...
        def __init_subclass__(cls, *, auto_wrap_output_keys: Any = ()) -> None: ...
        def fit(self, X: Iterable[Any], y: object = None) -> Self: ...
        def partial_fit(self, X: Iterable[Any], y: object = None) -> Self: ...
        def transform(self, X: Iterable[Any]) -> CsrMatrix: ...
        def fit_transform(self, X: Iterable[Any], y: object = None) -> CsrMatrix: ...
        def build_analyzer(self) -> Callable[[Any], list[str]]: ...
        def build_preprocessor(self) -> Callable[[str], str]: ...
        def build_tokenizer(self) -> Callable[[str], list[str]]: ...
        def get_stop_words(self) -> frozenset[str] | None: ...
        def decode(self, doc: Any) -> str: ...

    def clone(estimator: T, *, safe: bool = True) -> T: ...
    def available_if(check: Callable[[Any], bool]) -> Callable[[T], T]: ...

else:
    from sparsemaps._tools._light_bases import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        OneToOneFeatureMixin,
        RegressorMixin,
        TransformerMixin,
        available_if,
        clone,
    )
    from sparsemaps._tools._light_bases import VectorizerBase as HashingVectorizer

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "ClassifierMixin",
    "HashingVectorizer",
    "OneToOneFeatureMixin",
    "RegressorMixin",
    "TransformerMixin",
    "available_if",
    "clone",
]


def check_is_fitted(estimator: Any, attribute: str | None = None) -> None:
    """Raise scikit-learn's error if an estimator is not fitted, or lacks `attribute`."""
    if attribute is not None and attribute in vars(estimator):
        return
    imported("sklearn.utils.validation").check_is_fitted(estimator, attribute)


@contextlib.contextmanager
def _taken_as_matrix(name: str, X: Any) -> Iterator[None]:
    """Raise a ValueError for integers beyond float64, and for objects that NumPy could convert but
    whose class has `no_matrix`, which names the functions to use instead."""
    takes = getattr(type(X), "no_matrix", None)
    if takes is not None:
        raise ParameterError(name, type(X).__name__, f"a matrix ({takes})")
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{name} has a number beyond float64: {error}") from error


def check_array(array: Any, **checks: Any) -> Any:
    """Call scikit-learn's `check_array`. Also raise ValueError for integers beyond float64, and for
    objects whose class says that they are not matrices."""
    with _taken_as_matrix(checks.get("input_name") or "the array", array):
        return imported("sklearn.utils").check_array(array, **checks)


def validate_data(estimator: Any, X: Any, **checks: Any) -> Any:
    """Call scikit-learn's `validate_data`, with the additional checks of `check_array`."""
    with _taken_as_matrix("X", X):
        return imported("sklearn.utils.validation").validate_data(estimator, X, **checks)


def check_targets(y: Any, *, classes: bool) -> Any:
    """Return the labels or targets of a supervised estimator as a one-dimensional array."""
    y = imported("sklearn.utils").column_or_1d(y, warn=True)
    y = check_array(
        y, ensure_2d=False, dtype=None if classes else "numeric", input_name="y",
        ensure_all_finite=False,
    )  # fmt: skip
    check_finite("y", y, "labels and targets")
    if classes and not (y.dtype.kind == "f" and (y % 1 == 0).all()):  # such floats count as int64
        imported("sklearn.utils.multiclass").check_classification_targets(y)
    return y


def check_finite(name: str, values: Any, what: str) -> None:
    """Raise a ValueError that names the first row whose value is NaN or infinite. `check_array`
    does not name the row. `what` says which values must be finite."""
    wrong = ~np.isfinite(values) if values.dtype.kind == "f" else np.zeros(0, bool)
    if wrong.any():
        row = int(wrong.argmax())
        kind = "NaN" if np.isnan(values[row]) else "infinity"
        raise ValueError(f"{name} contains {kind} in row {row}; all {what} must be finite")


def sparse_arrays_asked() -> bool:
    """Return whether scikit-learn is configured to return sparse arrays.

    Its default, "spmatrix", counts as no request, and scikit-learn before 1.9 has no such setting.
    """
    config: Any = _if_imported("sklearn", "get_config")
    if config is None:  # nobody can have configured it
        return False
    return bool(config().get("sparse_interface") == "sparray")


def is_hashing_vectorizer(vectorizer: object) -> bool:
    """Return whether a vectorizer is scikit-learn's `HashingVectorizer` or a subclass of it."""
    theirs: Any = _if_imported("sklearn.feature_extraction.text", "HashingVectorizer")
    classes = (HashingVectorizer,) if theirs is None else (HashingVectorizer, theirs)
    return isinstance(vectorizer, classes)


def _if_imported(module: str, name: str) -> Any:
    """Return a name of a module, or None if the module is not imported, or if another thread is
    importing it."""
    return getattr(sys.modules.get(module), name, None)


_MODULES = {
    "ConvergenceWarning": "sklearn.exceptions",
    "HistGradientBoostingClassifier": "sklearn.ensemble",
    "HistGradientBoostingRegressor": "sklearn.ensemble",
    "LinearSVC": "sklearn.svm",
    "MaxAbsScaler": "sklearn.preprocessing",
    "MinMaxScaler": "sklearn.preprocessing",
    "Normalizer": "sklearn.preprocessing",
    "OneHotEncoder": "sklearn.preprocessing",
    "Pipeline": "sklearn.pipeline",
    "Ridge": "sklearn.linear_model",
    "RidgeClassifier": "sklearn.linear_model",
    "SVC": "sklearn.svm",
    "SVR": "sklearn.svm",
    "StandardScaler": "sklearn.preprocessing",
    "TfidfTransformer": "sklearn.feature_extraction.text",
    "check_consistent_length": "sklearn.utils",
    "check_cv": "sklearn.model_selection",
    "get_scorer": "sklearn.metrics",
    "get_tags": "sklearn.utils",
    "load_digits": "sklearn.datasets",
    "make_pipeline": "sklearn.pipeline",
    "_num_samples": "sklearn.utils.validation",
    "_safe_indexing": "sklearn.utils",
    "normalize": "sklearn.preprocessing",
}
"""Rarely needed names, with their modules. They are imported on first access, because that is
slow."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(imported(_MODULES[name]), name)


def width_of(vectorizer: Any) -> int:
    """Return the number of output columns of a vectorizer."""
    width = getattr(vectorizer, "n_features_out", None)
    return int(vectorizer.n_features if width is None else width)
