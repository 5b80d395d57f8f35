"""Models that choose C by cross-validation, along a path of increasing C."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sparsemaps._tools import _checks, _sklearn
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array, RandomState
from sparsemaps.linear import _indicators
from sparsemaps.linear._classifier import KernelClassifier
from sparsemaps.linear._losses import OfClasses, OfNumbers
from sparsemaps.linear._model import CodesModel
from sparsemaps.linear._path_of_C import folds_of, scores_along
from sparsemaps.linear._regressor import KernelRegressor
from sparsemaps.maps._sparse_map import SparseMap


class _OverC(CodesModel):
    """Base of both estimators. Each also inherits from the model for a single C."""

    Cs: Any
    cv: Any
    scoring: Any
    refit: bool

    C_: float
    Cs_: Array
    scores_: Array

    _MODEL: Any
    """Class of the model for a single C."""

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Choose C by cross-validation, then train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit`` of the model for a single C.
        y : array-like of shape (n_samples,)
            The class or the target of each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row in training, and in the default score. A user-defined `scoring` does
            not receive it.

        Returns
        -------
        self : object

        Raises
        ------
        As in ``fit`` of the model for a single C; also if a fold has no row, or leaves rows of only
        one class.
        """
        for name in ("calibration_", "C_", "Cs_", "scores_"):
            vars(self).pop(name, None)
        if isinstance(self, KernelClassifier) and _indicators.is_indicator(y):
            raise ValueError(
                f"{type(self).__name__} takes one label for each row, got an indicator matrix: "
                "GridSearchCV takes several"
            )
        codes, y, costs = self._begin(X, y, sample_weight)
        rows, names = self._problems(codes, y, costs)
        scorer: Any = None if self.scoring is None else _sklearn.get_scorer(self.scoring)
        is_classifier = isinstance(self, _sklearn.ClassifierMixin)
        Cs = _checked_Cs(self.Cs)
        folds = folds_of(self.cv, codes, y, costs, classes=is_classifier)

        def score(number: int, model: Any) -> Any:
            held_out = folds[number].held_out
            return scorer(model, codes[held_out.rows], held_out.y)

        of_rows = None if scorer is None else score
        found = scores_along(
            self, rows, len(names), folds, Cs, self._of_one_C, of_rows, self._watch
        )
        self.Cs_, self.scores_ = np.array(Cs), found.of_folds
        self.C_ = Cs[found.best]
        if self.refit:
            self._solve(rows, names, self.C_)
        else:
            for name in ("map_", "vectorizer_", "_encoder", "_weights", "intercept_", "n_iter_"):
                vars(self).pop(name, None)
        return self

    def _of_one_C(self, C: float) -> Any:
        """Return the model for a single C, with the state of this one."""
        parameters = self.get_params(deep=False)
        own = ("Cs", "cv", "scoring", "refit")
        model = self._MODEL(**{k: v for k, v in parameters.items() if k not in own}, C=C)
        state = vars(self).items()
        fitted = {
            k: v for k, v in state if k not in parameters and k not in ("C_", "Cs_", "scores_")
        }
        vars(model).update(fitted)
        return model

    def _plain(self) -> Any:
        _sklearn.check_is_fitted(self, "_weights")
        return self._of_one_C(self.C_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        return tags

    def _check_C(self) -> None:
        _checks.check_bool("refit", self.refit)
        _checked_Cs(self.Cs)


def _checked_Cs(Cs: object) -> list[float]:
    """Return the values of C, sorted."""
    if isinstance(Cs, (int, np.integer)) and not isinstance(Cs, bool):
        n = _checks.check_int("Cs", Cs, 1, _checks.LARGEST_INT32)
        return np.logspace(-3, 3, n).tolist()
    try:
        given = np.asarray(Cs, np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.ndim != 1 or not len(given) or not (np.isfinite(given) & (given > 0)).all():
        raise ParameterError("Cs", repr(Cs), "a number of values of C, or values above 0")
    return np.unique(given).tolist()


class KernelClassifierCV(_OverC, KernelClassifier):
    """A `KernelClassifier` whose C is chosen by cross-validation.

    Rows are encoded once, for all folds and all values of C. On each fold, C increases, and
    training with each C starts from the solution for the previous one.

    Parameters
    ----------
    [map]
    [Cs]
    cv : int, splitter, iterable of (train, test) or None, default=None
        The folds, as in scikit-learn; None means 5, with all classes in each. If it is a number,
        rows of weight 0 are in no fold.
    scoring : str, callable or None, default=None
        Score of the rows of a fold, as in scikit-learn; None is the accuracy, weighted by the
        weights of the rows. A callable receives packed codes instead of rows.
    refit : bool, default=True
        Whether to train on all rows with the best C: the model then equals `KernelClassifier`'s,
        bit for bit. Otherwise, there are only `C_`, `Cs_` and `scores_`.
    [vectorizer]
        An `IdfWeights` counts the texts of all folds.
    [loss of classes]
    [fit_intercept, intercept_scaling]
    [class_weight]
        Here, balanced weights are computed from the training rows of each fold.
    [tol of classes]
    [max_iter of a C]
    [random_state]
        The folds come from `cv`.
    [n_jobs of folds]

    Attributes
    ----------
    [C_, Cs_, scores_]
    classes_, coef_, intercept_, n_iter_, map_, vectorizer_, n_features_in_ : objects
        As in `KernelClassifier`, for the model trained on all rows.

    Notes
    -----
    Before training continues with a larger C, solutions of the dual problem are multiplied by the
    factor that gives the highest dual objective among those allowed by this C. With a squared loss,
    training at large C mostly consists of solving systems of equations for the rows of non-zero
    dual variables, if there are up to about 2,500 of them (Portugal, Júdice & Vicente 1994, "A
    comparison of block pivoting and interior-point algorithms for linear least squares problems
    with nonnegative variables"). This takes up to 76 MB per thread. The model for each C is within
    `tol` of the model that is trained separately, but not equal in all digits. If there are several
    values of C, weights are float32 while C or the dual variables of a model are small, and eight
    models are trained together on one reading of the codes. Otherwise, they are float64, and four
    models are trained together. This takes the memory of one model per fold, and 8 bytes per row,
    fold and class. If this exceeds a gigabyte, some folds are trained after the others. Folds whose
    rows have different weights, as with `class_weight="balanced"` and several classes, are trained
    one by one. `save` writes a `KernelClassifier`, which ``KernelClassifier.load`` opens.

    See Also
    --------
    KernelClassifier : The model for a single C.
    sklearn.linear_model.LogisticRegressionCV : The same on features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.linear import KernelClassifierCV
    >>> X, y = load_digits(return_X_y=True)
    >>> cws = ConsistentWeightedSampling(random_state=0)
    >>> model = KernelClassifierCV(cws, Cs=[0.1, 1, 10], random_state=0).fit(X[:600], y[:600])
    >>> model.scores_.shape
    (5, 3)
    >>> bool(model.score(X[600:], y[600:]) > 0.9)
    True
    """

    _MODEL = KernelClassifier

    def __init__(
        self,
        map: SparseMap,
        *,
        Cs: int | Sequence[float] = 10,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        vectorizer: Any = None,
        loss: OfClasses = "squared_hinge",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.vectorizer = vectorizer
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs


class KernelRegressorCV(_OverC, KernelRegressor):
    """A `KernelRegressor` whose C is chosen by cross-validation.

    It works like `KernelClassifierCV`.

    Parameters
    ----------
    [map]
    [Cs]
    cv : int, splitter, iterable of (train, test) or None, default=None
        The folds, as in scikit-learn; None means 5, each of consecutive rows. If it is a number,
        rows of weight 0 are in no fold.
    scoring : str, callable or None, default=None
        Score of the rows of a fold, as in scikit-learn; None is R², weighted by the weights of the
        rows. A callable receives packed codes instead of rows.
    refit : bool, default=True
        Whether to train on all rows with the best C: the model then equals `KernelRegressor`'s, bit
        for bit. Otherwise, there are only `C_`, `Cs_` and `scores_`.
    [vectorizer]
        An `IdfWeights` counts the texts of all folds.
    [loss of numbers]
    [epsilon]
    [fit_intercept, intercept_scaling]
    [tol of numbers]
        Here, the first pass is the one at the smallest C.
    [max_iter of a C]
    [random_state]
        The folds come from `cv`.
    [n_jobs of folds]

    Attributes
    ----------
    [C_, Cs_, scores_]
    coef_, intercept_, n_iter_, map_, vectorizer_, n_features_in_ : objects
        As in `KernelRegressor`, for the model trained on all rows.

    Notes
    -----
    As in `KernelClassifierCV`. `save` writes a `KernelRegressor`.

    See Also
    --------
    KernelRegressor : The model for a single C.
    KernelClassifierCV : The same for classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import RandomBinning
    >>> from sparsemaps.linear import KernelRegressorCV
    >>> X = np.random.default_rng(0).uniform(size=(500, 2))
    >>> y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> binning = RandomBinning(random_state=0)
    >>> model = KernelRegressorCV(binning, Cs=[0.1, 1, 10], epsilon=0, random_state=0)
    >>> bool(model.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.95)
    True
    """

    _MODEL = KernelRegressor

    def __init__(
        self,
        map: SparseMap,
        *,
        Cs: int | Sequence[float] = 10,
        cv: Any = None,
        scoring: Any = None,
        refit: bool = True,
        vectorizer: Any = None,
        loss: OfNumbers = "squared_epsilon_insensitive",
        epsilon: float = 0.1,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.Cs = Cs
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.vectorizer = vectorizer
        self.loss = loss
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
