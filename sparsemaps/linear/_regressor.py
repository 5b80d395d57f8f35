"""A linear regressor on packed codes."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sparsemaps._tools import _sklearn
from sparsemaps._tools._typing import Array, Floats, RandomState
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import _explanation, _losses, _model_checks
from sparsemaps.linear._losses import OfNumbers
from sparsemaps.linear._model import CodesModel
from sparsemaps.linear._solver import TrainingRows
from sparsemaps.maps._sparse_map import SparseMap


class KernelRegressor(_sklearn.RegressorMixin, CodesModel):
    """A linear regressor on the packed codes of a map.

    It works like `KernelClassifier`, with LIBLINEAR's support vector regression.

    Parameters
    ----------
    [map]
    [vectorizer]
    [loss of numbers]
    [epsilon]
    [C]
    [fit_intercept, intercept_scaling]
    [tol of numbers]
    [max_iter]
    [random_state]
    n_jobs : int or None, default=None
        Threads that compute scores; None is 1, -1 all processors.

    Attributes
    ----------
    coef_ : ndarray of shape (width,)
        The weights of the one-hot features, as in `KernelClassifier`.
    intercept_ : ndarray of shape (1,)
        The intercept.
    n_iter_ : int
        Number of passes.
    [map_, vectorizer_, n_features_in_]

    Notes
    -----
    As in `KernelClassifier`. The intercept is regularised: if `y` is far from 0, subtract its mean
    first, or use a larger `intercept_scaling`.

    References
    ----------
    Ho & Lin, "Large-scale linear support vector regression", JMLR 2012.

    See Also
    --------
    KernelClassifier : The same for classes.
    sklearn.svm.LinearSVR : LIBLINEAR on features.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import RandomBinning
    >>> from sparsemaps.linear import KernelRegressor
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> model = KernelRegressor(RandomBinning(random_state=0), epsilon=0, C=10, random_state=0)
    >>> bool(model.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.97)
    True
    """

    _LOSSES = _losses.names(of_regression=True)

    def __init__(
        self,
        map: SparseMap,
        *,
        vectorizer: Any = None,
        loss: OfNumbers = "squared_epsilon_insensitive",
        epsilon: float = 0.1,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.vectorizer = vectorizer
        self.loss = loss
        self.epsilon = epsilon
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Train on rows.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in `KernelClassifier`.
        y : array-like of shape (n_samples,)
            Target of each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            As in `KernelClassifier`.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If `X` has no row, if lengths differ, or if a value or parameter is invalid.
        """
        codes, y, costs = self._begin(X, y, sample_weight)
        self._solve(*self._problems(codes, y, costs), self.C)
        return self

    def _problems(
        self, codes: PackedCodes, y: Array, costs: Array | None
    ) -> tuple[TrainingRows, list[Any]]:
        return TrainingRows(codes, None, np.ascontiguousarray(y, np.float64), costs), ["y"]

    @property
    def coef_(self) -> Array:
        try:
            return self._weights[:, 0]
        except AttributeError:
            raise AttributeError("coef_ is available after fit") from None

    def predict(self, X: Any) -> Floats:
        """Return the predicted number for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``.

        Returns
        -------
        y : ndarray of shape (n_samples,)

        Raises
        ------
        ValueError
            If the map does not accept the rows, or codes come from another map.
        """
        return self._from_scores(X, lambda scores: scores[:, 0])

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return R² on rows.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``.
        y : array-like of shape (n_samples,)
            True target of each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row.

        Returns
        -------
        score : float

        Raises
        ------
        ValueError
            If a row has no finite number, or rows are not valid for ``fit``.
        """
        y = _model_checks.checked_labels(y, classes=False)
        return super().score(X, y, sample_weight)

    def explain(self, X: Any, *, total: bool = False) -> Any:
        """Return what each column of a row, or each n-gram of a text, adds to its prediction.

        It works like ``explain`` of `KernelClassifier`.

        Parameters
        ----------
        X : str or bytes, {array-like, sparse matrix} or iterable of texts
            A single text, or rows or texts as in ``fit``.
        total : bool, default=False
            Whether to sum the contributions of each column over all rows.

        Returns
        -------
        reasons : list
            As in `KernelClassifier`.

        Raises
        ------
        ValueError
            If the map's samples are not columns, or the model does not accept `X`.
        """
        _sklearn.check_is_fitted(self, "map_")
        return _explanation.reasons_of(self, X, _explanation.Score(0, 1.0), total=total)
