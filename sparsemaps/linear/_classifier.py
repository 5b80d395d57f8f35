"""A linear classifier on packed codes."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy

from sparsemaps._tools import _checks, _sklearn
from sparsemaps._tools._parameters import ParameterError, absent, named, named_class, shown
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, Floats, RandomState
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import _calibration, _explanation, _indicators, _losses, _model_checks
from sparsemaps.linear._losses import OfClasses
from sparsemaps.linear._model import CodesModel
from sparsemaps.linear._path_of_C import Fold, folds_of, scores_out_of_folds
from sparsemaps.linear._solver import TrainingRows, Watch
from sparsemaps.maps._sparse_map import SparseMap


class KernelClassifier(_sklearn.ClassifierMixin, CodesModel):
    """A linear classifier on the packed codes of a map.

    The model is the same as LIBLINEAR's, and is trained by the same algorithms. Its features are
    the one-hot features that ``transform`` of the map returns, but they are never materialised.
    Instead, the model reads the codes, which take one byte each; a feature takes twelve.

    Parameters
    ----------
    [map]
    [vectorizer]
    [loss of classes]
    [C]
    [fit_intercept, intercept_scaling]
    [class_weight]
        If rows may have several labels, "balanced" balances, for each label, the rows with it and
        the rows without it.
    [tol of classes]
    [max_iter]
    [random_state]
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. Each class is trained by one thread. The result does
        not depend on it.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted. If rows may have several labels, the labels of the columns of
        `predict`: the column numbers of `y`, or the labels in files.
    multilabel_ : bool
        Whether rows may have several labels.
    coef_ : ndarray of shape (1 or n_classes, width)
        Weights of the one-hot features: column ``j * 2**bits + code`` belongs to code j. The
        columns are the same as in ``transform`` of the map if its output is one-hot, else as in
        ``sparsemaps.codes.to_csr(map_.encode(X, packed=True))``. They are not weights of the
        columns of X, which scikit-learn's ``RFE`` and ``SelectFromModel`` expect: use
        ``SequentialFeatureSelector``, ``permutation_importance``, or ``explain(X, total=True)``.
    intercept_ : ndarray of shape (1 or n_classes,)
        The intercepts.
    n_iter_ : int
        Largest number of passes of any class.
    calibration_ : tuple (slope, bend, offsets)
        The values chosen by ``calibrate``; only present after it. If rows may have several labels,
        all three are arrays with one number per label.
    [map_, vectorizer_, n_features_in_]

    Notes
    -----
    A model minimizes ``|w|^2 / 2 + sum(C_i * loss(y_i, <w, z_i>))`` over w, where C_i is C times
    the weights of the row, and z_i has ``1 / sqrt(n_hashes)`` in the column of each of its codes.
    Rows without samples have no features. With several classes, there is one model for each class
    against all others. If rows may have several labels, there is one model per label.

    A thread trains a group of up to 4 classes or labels. Training takes 32 bytes per row and class
    in training and, for each group, 6 bytes per row and 96 bytes per column (24 bytes for one
    class). It takes a third of that if it ends within 10 passes. As many groups as threads are
    trained at a time; at the end, fewer than twice as many. The codes may be mapped into memory.
    Mapped codes of more than 256 MB are read in blocks of that size, one after another, and all
    classes are trained on a block while it is in memory (Yu et al. 2010). The optimum is the same,
    within `tol`. `n_iter_` and `max_iter` then count how often the file is read.

    LIBLINEAR visits one row after another. Here, eight rows are read together and each is visited
    up to eight times before the next eight rows, so that fewer passes are needed. After every five
    passes, a model jumps to the best point of a plane, as in the method of conjugate gradients
    (Knyazev 2001). "hinge" with a large C still converges slowly; a ConvergenceWarning then reports
    the duality gap, an upper bound on the distance of the objective from its minimum.

    References
    ----------
    Hsieh, Chang, Lin, Keerthi & Sundararajan, "A dual coordinate descent method for large-scale
    linear SVM", ICML 2008.
    Yu, Huang & Lin, "Dual coordinate descent methods for logistic regression and maximum entropy
    models", Machine Learning 2011.
    Yu, Hsieh, Chang & Lin, "Large linear classification when data cannot fit in memory", KDD 2010.
    Knyazev, "Toward the optimal preconditioned eigensolver: locally optimal block preconditioned
    conjugate gradient method", SIAM Journal on Scientific Computing 2001.
    Li, Shrivastava, Moore & Koenig, "Hashing algorithms for large-scale learning", NIPS 2011.

    See Also
    --------
    KernelRegressor : The same for regression.
    sklearn.svm.LinearSVC, sklearn.linear_model.LogisticRegression : LIBLINEAR on features.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.linear import KernelClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> model = KernelClassifier(ConsistentWeightedSampling(random_state=0), random_state=0)
    >>> bool(model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.94)
    True
    """

    _LOSSES = _losses.names(of_regression=False)

    classes_: Array
    calibration_: _calibration.Calibration
    multilabel_: bool
    _kind: _indicators.Kind
    """Type of the result of `predict` if rows may have several labels."""

    def __init__(
        self,
        map: SparseMap,
        *,
        vectorizer: Any = None,
        loss: OfClasses = "squared_hinge",
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.map = map
        self.vectorizer = vectorizer
        self.loss = loss
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Train on rows.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            Rows as accepted by the map; texts if there is a `vectorizer`; or codes from a map with
            the same class and parameters, which may be mapped into memory.
        y : array-like of shape (n_samples,) or {array-like, sparse matrix} of shape \
                (n_samples, n_labels)
            The class of each row: numbers, strings or booleans. If rows may have any number of
            labels, an indicator matrix, with 1 in the columns of a row's labels and 0 in the
            others. A dense one must have at least 2 columns.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Factor of the loss of each row, at least 0. A row of weight 2 counts as two rows, even
            if the map computes `gamma` from the data. A row of weight 0 does not count, but must be
            valid.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If `X` has no row or `y` only one class, if lengths differ, if a label is missing or
            labels have several types, or if a value or parameter is invalid.
        """
        vars(self).pop("calibration_", None)
        codes, y, costs = self._begin(X, y, sample_weight)
        self._solve(*self._problems(codes, y, costs), self.C)
        return self

    def _begin(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None, *, several: bool = False
    ) -> tuple[PackedCodes, Any, Array | None]:
        several, kind = _indicators.is_indicator(y), _indicators.kind_of(y)
        begun = super()._begin(X, y, sample_weight, several=several)
        self.multilabel_ = several
        if several:
            self._kind = kind
        return begun

    def _problems(
        self, codes: PackedCodes, y: Any, costs: Array | None
    ) -> tuple[TrainingRows, list[Any]]:
        if self.multilabel_:
            self.classes_, y = _named_columns(y, costs)
            rows = TrainingRows(codes, y, None, costs)
            return self._weighted(rows, costs), self.classes_.tolist()
        seen = y if costs is None else y[costs > 0]
        classes = _indicators.different(seen)
        if len(classes) < 2:
            raise ValueError(
                f"{named_class(self)} needs rows of at least 2 classes, got one class only: "
                f"{shown(classes.tolist()[0])}"
            )
        labels = np.minimum(np.searchsorted(classes, y), len(classes) - 1).astype(np.int32)
        self.classes_ = classes
        n_models = 1 if len(classes) == 2 else len(classes)
        models = labels - 1 if n_models == 1 else labels  # of two classes, one has a model
        rows = self._weighted(TrainingRows(codes, models, None, costs), costs)
        return rows, classes[-n_models:].tolist()

    def _weighted(self, rows: TrainingRows, costs: Array | None) -> TrainingRows:
        if self.class_weight is None:
            return rows._replace(weights=costs)
        if self.multilabel_:
            if not (isinstance(self.class_weight, str) and self.class_weight == "balanced"):
                rule = f"{absent()} or 'balanced' if rows may have several labels"
                raise ParameterError("class_weight", repr(self.class_weight), rule)
            factors = _indicators.balanced_factors(rows.labels, costs)
            return rows._replace(weights=costs, factors=factors)
        labels = rows.labels + (len(self.classes_) == 2)
        of_classes = _weights_of(self.classes_, self.class_weight, labels, costs)
        return rows._replace(weights=of_classes[labels] * (1.0 if costs is None else costs))

    def _by_factors(self, rows: TrainingRows, costs: Array) -> TrainingRows:
        is_balanced = isinstance(self.class_weight, str)
        if self.multilabel_ or not is_balanced or len(self.classes_) > 2:
            return self._weighted(rows, costs)
        factors = _weights_of(self.classes_, self.class_weight, rows.labels + 1, costs)
        return rows._replace(weights=costs, factors=factors[np.newaxis])

    @property
    def coef_(self) -> Array:
        try:
            return self._weights.T
        except AttributeError:
            raise AttributeError("coef_ is available after fit") from None

    def decision_function(self, X: Any) -> Floats:
        """Return the score of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            ``z @ coef_.T + intercept_``. For two classes, scores above 0 indicate the second class.
            If rows may have several labels, there is one column per label.

        Raises
        ------
        ValueError
            If the map does not accept the rows, or codes come from another map.
        """
        # One column per class, or a one-dimensional array for two classes.
        return self._from_scores(X, lambda scores: scores[:, 0] if _is_alone(self) else scores)

    def predict(self, X: Any) -> Any:
        """Return the class with the highest score for each row, or all labels with scores above 0.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes; if scores are equal, the first one. A row without samples, such as a text
            without an n-gram, has the intercepts as scores, and gets the class with the highest
            intercept. The commands ``sparsemaps predict`` and ``filter`` report such records as
            unknown. If rows may have several labels, an indicator matrix, which is sparse if `y`
            was.

        Raises
        ------
        ValueError
            As in ``decision_function``.
        """

        def numbers(scores: Floats) -> Array:
            if scores.shape[1] == 1:
                return (scores[:, 0] > 0).astype(np.intp)
            return scores.argmax(axis=1)

        _sklearn.check_is_fitted(self, "map_")
        if self.multilabel_:
            kind = self._kind
            labels = self._from_scores(X, lambda scores: _indicators.of_scores(scores, kind))
            return _indicators.as_kind(labels, kind)
        winners = self._from_scores(X, numbers)  # before classes_, which may be missing
        return np.asarray(self.classes_[winners])

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the accuracy on rows: the share of rows whose class, or all of whose labels, are
        right.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``.
        y : array-like of shape (n_samples,)
            The true classes. If rows may have several labels, an indicator matrix.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row.

        Returns
        -------
        score : float

        Raises
        ------
        ValueError
            If a row has no label, or rows are not valid for ``fit``.
        """
        if _indicators.is_indicator(y):
            _indicators.checked(y)
        else:
            y = _model_checks.checked_labels(y, classes=True)
        return super().score(X, y, sample_weight)

    @_sklearn.available_if(lambda self: _has_probabilities(self))
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class: after ``calibrate``, or with ``loss="log_loss"``.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            After ``calibrate``, the softmax of the logits defined there. Otherwise, the logistic
            function of the scores; for several classes, these probabilities are divided by their
            sum, as in `LogisticRegression` with "liblinear". If rows may have several labels, the
            logistic function of the logits or of the scores. After ``calibrate``, the class with
            the highest probability may differ from the result of ``predict``, which depends on the
            scores; ``classes_[probabilities.argmax(axis=1)]`` returns the classes with the highest
            probabilities.

        Raises
        ------
        ValueError
            As in ``decision_function``.
        """
        return self._from_scores(X, lambda scores: probabilities(self, scores))

    @_sklearn.available_if(lambda self: _has_probabilities(self))
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of ``predict_proba``, which is finite for every row.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        return self._from_scores(X, lambda scores: log_probabilities(self, scores))

    def calibrate(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None, *, cv: Any = None
    ) -> Self:
        """Calibrate probabilities on rows that ``fit`` has not seen, or with `cv` on rows that it
        has seen.

        The probabilities are the softmax of ``slope * s + (bend * s) * |bend * s| + offsets`` for
        scores s. A slope, a bend and an offset per class are chosen to minimise the log loss on
        these rows [1]_ [2]_. Scores and the labels returned by ``predict`` do not change. ``save``
        stores the calibration, and the next ``fit`` drops it. If rows may have several labels, each
        label has its own slope, bend and offset, as for two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix}, iterable of texts, or PackedCodes
            As in ``fit``. A few hundred rows are sufficient for two classes, a few thousand for
            many.
        y : array-like of shape (n_samples,)
            The true classes. Without `cv`, classes of the model may be missing. If rows may have
            several labels, an indicator matrix.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row, as in ``fit``.
        cv : int, splitter, iterable of (train, test) or None, default=None
            If given, the rows are those that ``fit`` has seen, so that no rows need to be held out
            from ``fit``. The scores of each fold come from a model trained on the other folds, with
            the parameters of this one. The folds are scikit-learn's; if `cv` is a number, rows of
            weight 0 are in no fold. One model is trained per fold. Four folds of a class are
            trained together, in 0.6 to 0.9 of the time.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If `X` has no rows, lengths differ, a label is not a class of the model, or a value is
            invalid; with `cv`, if a class of the model is missing, or a fold has no row, or leaves
            rows of only one class.

        Notes
        -----
        The log loss has Platt's prior counts, two rows in total: with K classes, a row in a class
        of N rows has the target ``(N + 2 / K) / (N + 4 / K)`` for its class. A thousandth of the
        squared offsets is added. Slope and bend are at least 0, so between two classes with equal
        offsets, the class with the higher score has the higher probability. With a bend of 0, this
        is temperature scaling with offsets. With `cv`, at most 2**23 scores are used; if there are
        more, rows are sampled at random, depending on `random_state`.

        References
        ----------
        .. [1] Platt, "Probabilistic outputs for support vector machines and comparisons to
           regularized likelihood methods", 1999.
        .. [2] Guo, Pleiss, Sun & Weinberger, "On calibration of modern neural networks", ICML 2017.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from sparsemaps import ConsistentWeightedSampling
        >>> from sparsemaps.linear import KernelClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = KernelClassifier(ConsistentWeightedSampling(random_state=0), random_state=0)
        >>> model = model.fit(X[:1000], y[:1000]).calibrate(X[1000:1400], y[1000:1400])
        >>> model.predict_proba(X[1400:]).shape
        (397, 10)
        """
        _sklearn.check_is_fitted(self, "map_")
        y, weights = self._known_labels(y, sample_weight)
        if cv is None:
            scores = self._from_scores(X, lambda scores: scores)
            _model_checks.refuse_other_lengths(scores, y)
            self._calibrate_by_scores(scores, y, weights)
            return self
        codes = self._codes(X)
        _model_checks.refuse_other_lengths(codes, y)
        folds = folds_of(cv, codes, y, weights, classes=not self.multilabel_)
        self._calibrate_by_folds(codes, y, weights, folds)
        return self

    def _known_labels(
        self, y: Any, sample_weight: npt.ArrayLike | None
    ) -> tuple[Any, Array | None]:
        """Return labels and weights of rows. The model must know the labels of all rows with
        positive weight; unknown labels of other rows are replaced by known ones. Several labels per
        row are returned as CSC."""
        if self.multilabel_:
            y = _indicators.checked(y)
            if isinstance(y, _indicators.LabelLists):
                y = y.matrix(self.classes_)
            if y.shape[1] != len(self.classes_):
                raise ValueError(
                    f"y must have {counted(len(self.classes_), 'columns')}, as fit saw, got "
                    f"{y.shape[1]}"
                )
            return y, _model_checks.checked_weights(sample_weight, y.shape[0])
        y = _model_checks.checked_labels(y, classes=True)
        weights = _model_checks.checked_weights(sample_weight, len(y))
        known = set(self.classes_.tolist())
        unknown = [row for row, label in enumerate(y.tolist()) if label not in known]
        for row in unknown:
            if weights is None or weights[row] > 0:
                found = y[row : row + 1].tolist()[0]
                raise ValueError(f"y must have classes of the model, got {found!r} in row {row}")
        if weights is not None and unknown:
            y = y.copy()
            y[unknown] = y[weights.argmax()]
        return y, weights

    def _calibrate_by_scores(self, scores: Floats, y: Any, weights: Array | None) -> None:
        """Calibrate on the scores of some rows, given their labels."""
        if self.multilabel_:
            self.calibration_ = _calibration.fit_labels(scores, y, weights)
            return
        numbers = {label: number for number, label in enumerate(self.classes_.tolist())}
        labels = np.array([numbers[label] for label in y.tolist()], np.intp)
        self.calibration_ = _calibration.fit(scores, labels, weights)

    def _calibrate_by_folds(
        self,
        codes: PackedCodes,
        y: Any,
        weights: Array | None,
        folds: list[Fold],
        watch: Watch | None = None,
    ) -> None:
        """Calibrate on scores of held-out rows, from models of the folds. `y` are labels from
        `_known_labels`."""
        model = self._plain()
        rows, scores, classes = scores_out_of_folds(model, codes, y, weights, folds, watch)
        if not self.multilabel_ and len(classes) < len(self.classes_):
            missing = sorted({*self.classes_.tolist()} - {*classes.tolist()})[0]
            raise ValueError(f"y must have all classes of the model, got no row of {missing!r}")
        some = y.tocsr()[rows].tocsc() if self.multilabel_ else y[rows]
        self._calibrate_by_scores(scores, some, None if weights is None else weights[rows])

    def explain(self, X: Any, label: object = None, *, total: bool = False) -> Any:
        """Return what each column of a row, or each n-gram of a text, adds to a score.

        A sample of `MinHash` or `ConsistentWeightedSampling` comes from one column of its row. Each
        column therefore adds the weights of the codes of its samples. The score is the sum of the
        contributions of the columns and the intercept.

        Parameters
        ----------
        X : str or bytes, {array-like, sparse matrix} or iterable of texts
            A single text, or rows or texts as in ``fit``.
        label : object, default=None
            The class whose score is explained. None means, for each row, the class that ``predict``
            returns. For two classes, the score of the first is minus the score of the second.
        total : bool, default=False
            Whether to sum the contributions of each column over all rows.

        Returns
        -------
        reasons : list
            For a single text, pairs of an n-gram and its contribution, positive or negative, sorted
            by size in descending order. For rows or texts, one such list for each. With `total`, a
            single list for all. Only columns from which a sample comes are included. A column has
            the name that ``fit`` saw, or else its number. N-grams that share a column are listed
            together: "cat / dog".

        Raises
        ------
        ValueError
            If `label` is not a class, the map's samples are not columns, or the model does not
            accept `X`.

        Examples
        --------
        >>> from sparsemaps import MinHash
        >>> from sparsemaps.linear import KernelClassifier
        >>> model = KernelClassifier(MinHash(random_state=0), vectorizer="word:1", random_state=0)
        >>> texts = ["send money now", "money for you", "the meeting is now", "we meet for lunch"]
        >>> model.fit(texts, ["spam", "spam", "mail", "mail"]).explain("money for lunch")[0][0]
        'money'
        >>> model.explain(texts, "spam", total=True)[0][0]
        'money'
        """
        _sklearn.check_is_fitted(self, "map_")
        score = None
        if label is None and self.multilabel_:
            raise ValueError("label must be given if rows may have several labels, got None")
        if label is not None:
            found = _model_checks.number_of_label(self.classes_, label)
            if found is None:
                some = _model_checks.shown_labels(self.classes_)
                raise ParameterError("label", repr(label), f"one of classes_ ({some})")
            score = _explanation.Score(found, 1.0)
            if _is_alone(self):
                score = _explanation.Score(0, 1.0 if found == 1 else -1.0)
        return _explanation.reasons_of(self, X, score, total=total)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _named_columns(y: Any, costs: Array | None) -> tuple[Array, Any]:
    """Return the labels of the columns of an indicator matrix, and the matrix. The labels are the
    column numbers, unless `y` has lists of labels."""
    if not isinstance(y, _indicators.LabelLists):
        return np.arange(y.shape[1]), y
    classes = y.classes(costs)
    if not len(classes):
        who = named_class("KernelClassifier")
        raise ValueError(f"{who} needs rows with at least one label, got none")
    return classes, y.matrix(classes)


def _weights_of(
    classes: Array,
    class_weight: Mapping[Any, float] | str | None,
    labels: Array,
    costs: Array | None,
) -> Array:
    """Return the weight of each class. `labels` are class numbers, and `costs` are weights of
    rows."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        sums = np.bincount(labels, costs, len(classes)).astype(np.float64)
        there = sums > 0  # other classes only have rows of weight 0
        weights = np.zeros(len(classes))
        with np.errstate(over="ignore"):  # infinite weights are rejected later
            weights[there] = sums.sum() / (there.sum() * sums[there])
        return weights
    if not isinstance(class_weight, dict):
        raise ParameterError("class_weight", repr(class_weight), "None, a dictionary or 'balanced'")
    weights, unknown = np.ones(len(classes)), []
    as_given = _model_checks.as_given
    numbers = {as_given(label): number for number, label in enumerate(classes.tolist())}
    for label, weight in class_weight.items():
        _checks.check_real(f"class_weight of the class {label!r}", weight, 0)
        if as_given(label) in numbers:
            weights[numbers.pop(as_given(label))] = weight
        else:
            unknown.append(label)
    if unknown and numbers:  # a fold may lack a class, but keys must not be misspelt
        allowed = f"weights of labels of the rows ({_model_checks.shown_labels(classes)})"
        raise ParameterError("class_weight", f"one for {shown(unknown[0])}", allowed)
    if not weights.any():
        raise ValueError(f"{named('class_weight')} must be above 0 for a class, got 0 for all")
    return weights


def _is_alone(model: KernelClassifier) -> bool:
    """Return whether a model only has the scores of the second of two classes."""
    return len(model.intercept_) == 1 and not model.multilabel_


def log_probabilities(model: KernelClassifier, scores: Floats) -> Floats:
    """Return the logarithms of the probabilities of the classes or labels, given the scores."""
    calibration = vars(model).get("calibration_")
    if model.multilabel_:
        logits = _calibration.logits_of_labels(scores, calibration)
        return np.asarray(scipy.special.log_expit(logits))
    return _calibration.log_softmax(_calibration.logits_of(scores, calibration))


def probabilities(model: KernelClassifier, scores: Floats) -> Floats:
    """Return the probabilities of the classes or labels, given the scores."""
    calibration = vars(model).get("calibration_")
    if model.multilabel_:
        return np.asarray(scipy.special.expit(_calibration.logits_of_labels(scores, calibration)))
    return _calibration.softmax(_calibration.logits_of(scores, calibration))


def _has_probabilities(model: KernelClassifier) -> bool:
    if model.loss not in _losses.WITH_PROBABILITIES and "calibration_" not in vars(model):
        able = " or ".join(f'"{name}"' for name in _losses.WITH_PROBABILITIES)
        raise AttributeError(
            f"probabilities need calibrate(X, y), or loss={able}, got loss={model.loss!r}"
        )
    return True
