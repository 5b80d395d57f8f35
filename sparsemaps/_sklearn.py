"""The one place that imports scikit-learn, and only its public names."""

import sklearn
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel
from sklearn.utils import check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

__all__ = [
    "BaseEstimator",
    "ClassNamePrefixFeaturesOutMixin",
    "TransformerMixin",
    "available_if",
    "check_array",
    "check_is_fitted",
    "clone",
    "learners",
    "polynomial_kernel",
    "rbf_kernel",
    "sparse_arrays_asked",
    "validate_data",
    "version",
]


def version():
    """scikit-learn's version."""
    return sklearn.__version__


def sparse_arrays_asked():
    """Whether scikit-learn's configuration asks for sparse arrays.

    Its default asks for nothing that could be told from "spmatrix", and scikit-learn before 1.9 has
    no such setting.
    """
    return sklearn.get_config().get("sparse_interface") == "sparray"


def learners():
    """What the demonstration trains, and on what: imported when asked for, as it takes a while."""
    from sklearn.datasets import load_digits
    from sklearn.preprocessing import normalize
    from sklearn.svm import SVC, LinearSVC

    return load_digits, SVC, LinearSVC, normalize
