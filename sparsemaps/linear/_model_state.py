"""The attributes of a linear model: its parameters, and what it learns."""

from typing import Any, ClassVar

from sparsemaps._tools import _checks, _sklearn
from sparsemaps._tools._typing import Array, Floats
from sparsemaps.linear._training_facts import TrainingFacts


class ModelState(_sklearn.BaseEstimator):
    """The attributes of `CodesModel`, which has the methods. Checks and file functions use them."""

    map: Any
    vectorizer: Any
    loss: str
    C: float
    epsilon: float = 0.0  # a parameter of regression only
    fit_intercept: bool
    intercept_scaling: float
    tol: float
    max_iter: int
    random_state: Any
    n_jobs: int | None

    _LOSSES: ClassVar[tuple[str, ...]]

    _weights: Array
    """float64, of shape (number of columns, number of models)."""
    _n_codes: int
    _code_bits: int
    map_: Any
    vectorizer_: Any
    intercept_: Floats
    n_iter_: int

    _facts: TrainingFacts
    """Only for a model that was trained on files."""

    def _check_C(self) -> None:
        _checks.check_real("C", self.C, 0, open_low=True)
