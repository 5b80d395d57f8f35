"""The one place that imports scikit-learn, and only its public names."""

from typing import TYPE_CHECKING, Any, Literal, overload

import sklearn
from sklearn.utils.validation import check_is_fitted
from sklearn.utils.validation import validate_data as _validate_data

if TYPE_CHECKING:
    # scikit-learn has no annotations. These are what the maps inherit and users call, so that
    # type checkers know them.
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

    class ClassNamePrefixFeaturesOutMixin:
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
        def fit(self, X: Iterable[Any], y: Any = None) -> Self: ...
        def partial_fit(self, X: Iterable[Any], y: Any = None) -> Self: ...
        def transform(self, X: Iterable[Any]) -> CsrMatrix: ...
        def fit_transform(self, X: Iterable[Any], y: Any = None) -> CsrMatrix: ...
        def build_analyzer(self) -> Callable[[Any], list[str]]: ...
        def build_preprocessor(self) -> Callable[[str], str]: ...
        def build_tokenizer(self) -> Callable[[str], list[str]]: ...
        def get_stop_words(self) -> frozenset[str] | None: ...
        def decode(self, doc: Any) -> str: ...

    def _check_array(array: Any, **checks: Any) -> Any: ...
    def clone(estimator: T, *, safe: bool = True) -> T: ...
    def available_if(check: Callable[[Any], bool]) -> Callable[[T], T]: ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassNamePrefixFeaturesOutMixin,
        TransformerMixin,
        clone,
    )
    from sklearn.utils import check_array as _check_array
    from sklearn.utils.metaestimators import available_if

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "TransformerMixin",
    "available_if",
    "check_array",
    "check_is_fitted",
    "clone",
    "hashing_vectorizer",
    "learners",
    "sparse_arrays_asked",
    "validate_data",
    "version",
]


def check_array(array: Any, **checks: Any) -> Any:
    """scikit-learn's function of this name; a ValueError too for integers beyond float64."""
    try:
        return _check_array(array, **checks)
    except OverflowError as error:
        raise _beyond_float64(checks.get("input_name") or "the array", error) from error


def validate_data(estimator: Any, X: Any, **checks: Any) -> Any:
    """Call scikit-learn's function of this name."""
    try:
        return _validate_data(estimator, X, **checks)
    except OverflowError as error:
        raise _beyond_float64("X", error) from error


def _beyond_float64(name: str, error: OverflowError) -> ValueError:
    return ValueError(f"{name} has a number beyond float64: {error}")


def version() -> str:
    """scikit-learn's version."""
    return str(sklearn.__version__)


def sparse_arrays_asked() -> bool:
    """Whether scikit-learn's configuration asks for sparse arrays.

    Its default, "spmatrix", is the same as if nothing had been asked for, and scikit-learn before
    1.9 has no such setting.
    """
    return bool(sklearn.get_config().get("sparse_interface") == "sparray")


def hashing_vectorizer() -> Any:
    """The class, imported by this function because only texts need it, and it is slow."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer


def learners() -> tuple[Any, ...]:
    """What the demonstration uses, imported by this function because it is slow."""
    from sklearn.datasets import load_digits
    from sklearn.preprocessing import normalize
    from sklearn.svm import SVC, LinearSVC

    return load_digits, SVC, LinearSVC, normalize
