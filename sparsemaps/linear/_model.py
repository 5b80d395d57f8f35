"""Base of both estimators: encoding of rows, training, and scores."""

import contextlib
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _blocks, _seeding, _sklearn, _threads
from sparsemaps._tools._docstrings import filled
from sparsemaps._tools._parameters import named, named_class, setting
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._portable_math import weighted_sum
from sparsemaps._tools._typing import Array, Floats, StrPath
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._packed import checked
from sparsemaps.linear import _indicators, _losses, _model_checks, _model_file, _solver
from sparsemaps.linear._documentation import PARTS
from sparsemaps.linear._losses import Objective
from sparsemaps.linear._model_state import ModelState
from sparsemaps.maps._texts import TextEncoder

MOST_FEW = 16
"""Largest number of rows that are encoded on a fast path, without steps that take longer than a
row."""

_BLOCK_SCORES = 2**25
"""Largest number of codes, times models, whose scores one call computes."""

_BLOCK_ROWS = 2**14
"""Largest number of rows of such a call. Weights are fetched from memory once for all of them."""


class CodesModel(ModelState):
    """An estimator whose model is linear in the one-hot features of a map's codes."""

    _watch: _solver.Watch | None = None
    """Function that receives the progress of `fit`."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__doc__ = filled(cls.__doc__ or "", PARTS)

    # ---- rows ------------------------------------------------------------------------------------

    def _plain(self) -> Any:
        """Return the model to save."""
        return self

    def _begin(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None, *, several: bool = False
    ) -> tuple[PackedCodes, Any, Array | None]:
        """Check the arguments of ``fit``, fit the map, and encode the rows of `X`. Return codes,
        labels or targets, and weights of rows. With `several`, labels are an indicator matrix in
        CSC format."""
        _model_checks.check_parameters(self)
        vars(self).pop("_facts", None)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        classes = isinstance(self, _sklearn.ClassifierMixin)
        y = _indicators.checked(y) if several else _model_checks.checked_labels(y, classes=classes)
        weights = _model_checks.checked_weights(sample_weight, y.shape[0])
        codes = self._fitted_to(X, weights)
        _model_checks.refuse_other_lengths(codes, y)
        return codes, y, weights

    def _fitted_to(self, X: Any, weights: Array | None) -> PackedCodes:
        """Fit the map to the rows of `X`, and return their codes."""
        for name in ("n_features_in_", "feature_names_in_", "vectorizer_", "_encoder"):
            vars(self).pop(name, None)
        if self.vectorizer is not None:
            is_of_sets = self.map.law.is_of_sets
            made = _model_checks.fitted_vectorizer(
                self.vectorizer, X, weights, is_of_sets=is_of_sets
            )
            self.vectorizer_, X = made
        if isinstance(X, PackedCodes):
            self.map_ = _model_checks.map_of(self, checked("X", X))
        elif self.vectorizer is not None:
            self.map_ = _sklearn.clone(self.map).fit_any_width()
        else:
            self.map_ = _sklearn.clone(self.map)._fit_weighed(X, weights)
        _ = self._encoder  # raises here if a parameter is wrong
        codes = self._codes(X)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.map_, name):
                setattr(self, name, getattr(self.map_, name))
        if len(codes) == 0:
            raise ValueError(
                "Found array with 0 sample(s) while a minimum of 1 is required by "
                f"{type(self).__name__}."
            )
        return codes

    def _codes(self, X: Any) -> PackedCodes:
        """Return the codes of rows or texts, from the fitted map."""
        _sklearn.check_is_fitted(self, "map_")
        if isinstance(X, PackedCodes):
            X = checked("X", X)
            _model_checks.refuse_other_codes(self, X)
            return X
        vectorizer = getattr(self, "vectorizer_", None)
        if vectorizer is None:
            codes: PackedCodes = self.map_.encode(X, packed=True)
        else:
            codes = self.map_.encode_texts(vectorizer, X, packed=True)
        return codes

    @cached_property
    def _encoder(self) -> TextEncoder:
        """The encoder of texts. It is cached, so that the compiled vectorizer is made only once."""
        _sklearn.check_is_fitted(self, "map_")
        encoder = TextEncoder(self.map_, getattr(self, "vectorizer_", None))
        if hasattr(self, "vectorizer_"):
            _ = encoder.compiled
        return encoder

    def _codes_of_few(self, X: Any) -> Array | None:
        """Return the packed codes of a few rows or texts, or None if `X` must take the general
        path.

        It must if there are many rows, or if all bits of a row are 0, because it may have no
        samples.
        """
        encoder = self._encoder
        if hasattr(self, "vectorizer_"):
            if not (isinstance(X, list) and 0 < len(X) <= MOST_FEW):
                return None
            found, _, _ = encoder.encode_block(0, X, packed=False)
        elif isinstance(X, np.ndarray) or sp.issparse(X):
            if X.ndim != 2 or not 0 < X.shape[0] <= MOST_FEW:
                return None
            found = self.map_.encode(X)
        else:
            return None
        return found if found.any(axis=1).all() else None

    # ---- training --------------------------------------------------------------------------------

    def _problems(
        self, codes: PackedCodes, y: Array, costs: Array | None
    ) -> tuple[_solver.TrainingRows, list[Any]]:
        """Return the rows of the problems, and a name for each problem."""
        raise NotImplementedError

    def _weighted(self, rows: _solver.TrainingRows, costs: Array | None) -> _solver.TrainingRows:
        """Return the rows with factors of C, which follow from the weights of rows."""
        return rows._replace(weights=costs)

    def _by_factors(self, rows: _solver.TrainingRows, costs: Array) -> _solver.TrainingRows:
        """Return the rows as `_weighted` does but, if possible, with everything that depends on the
        total weight in the factors of the two sides of each model."""
        return self._weighted(rows, costs)

    def _objective(self, C: float) -> Objective:
        bias = float(self.intercept_scaling) if self.fit_intercept else 0.0
        return Objective(_losses.LOSSES[self.loss], float(C), float(self.epsilon), bias)

    def _solve(self, rows: _solver.TrainingRows, names: list[Any], C: float) -> None:
        """Solve the problems, and store their weights."""
        objective = self._objective(C)
        solutions = _solver.solve(
            rows, objective, len(names), tol=float(self.tol), max_iter=self.max_iter,
            seed=_seeding.draw_seed(self.random_state), n_jobs=self.n_jobs,
            watch=self._watch,
        )  # fmt: skip
        duals = self._take(solutions, rows, objective, len(names))
        if duals:
            self._warn(rows, objective, duals, names)

    def _take(
        self,
        solutions: Iterable[tuple[int, _solver.Solution]],
        rows: _solver.TrainingRows,
        objective: Objective,
        n_models: int,
    ) -> dict[int, float]:
        """Store the weights of solutions. Return the dual objectives of solutions that have not
        converged."""
        codes, bias = rows.codes, objective.bias
        weights = _solver.zero_weights(codes, n_models)
        intercepts, n_iter = np.zeros(n_models), 0
        duals = {}
        for number, solution in solutions:
            weights[:, number] = solution.weights
            intercepts[number] = bias * solution.last_weight
            n_iter = max(n_iter, solution.n_passes)
            if solution.dual is not None:
                duals[number] = solution.dual
        _model_checks.refuse_beyond_float64(weights, intercepts, codes.n_hashes)
        self._weights, self.intercept_, self.n_iter_ = weights, intercepts, n_iter
        self._code_bits, self._n_codes = codes.bits, codes.n_hashes
        return duals

    def _warn(
        self,
        rows: _solver.TrainingRows,
        objective: Objective,
        duals: dict[int, float],
        names: list[Any],
    ) -> None:
        """Warn about models that have not converged, with the largest duality gap."""
        worst, largest, value = 0, -1.0, 0.0
        scores = scores_of(self, rows.codes)
        for number, dual in duals.items():
            weights = self._weights[:, number]
            primal = objective.primal(rows.y(number), scores[:, number], rows.costs(number))
            primal += weighted_sum(weights, weights) / 2
            if objective.bias:
                primal += (self.intercept_[number] / objective.bias) ** 2 / 2
            if primal - dual > largest:
                worst, largest, value = number, primal - dual, primal
        of_class = f" of class {names[worst]!r}" if len(names) > 1 else ""
        warnings.warn(
            f"{named_class(self)} did not converge with {setting('max_iter', self.max_iter)} "
            f"({len(duals)} of {counted(len(self.intercept_), 'models')}): the duality gap"
            f"{of_class} is {largest:.3g}, its objective {value:.6g}. Increase "
            f"{named('max_iter')} or {named('tol')}, or decrease {named('C')}",
            _sklearn.ConvergenceWarning,
            stacklevel=4,
        )

    # ---- scores ----------------------------------------------------------------------------------

    def _of_codes(self, codes: PackedCodes, function: Callable[[Floats], Array]) -> Array:
        """Return the results of a function of blocks of scores, for all rows of `codes`."""

        def of_rows(start: int, stop: int) -> Array:
            return function(
                self._scores_of_block(codes.array[start:stop], codes.sampled[start:stop])
            )

        step = max(1, _BLOCK_SCORES // (self._n_codes * (1 + len(self.intercept_) // 8)))
        blocks = _blocks.ranges(0, len(codes), min(step, _BLOCK_ROWS))
        parts = _threads.run(of_rows, blocks, self.n_jobs)
        if not parts:
            return function(np.empty((0, len(self.intercept_))))
        if len(parts) == 1:
            return parts[0]
        if sp.issparse(parts[0]):
            return sp.vstack(parts, format="csr")
        return np.concatenate(parts)

    def _scores_of_block(self, codes: Array, sampled: Array) -> Floats:
        sums = np.zeros((len(codes), len(self.intercept_)))
        _loops.add_scores(
            np.ascontiguousarray(codes), sampled.view(np.uint8), self._n_codes, self._code_bits,
            self._weights, sums,
        )  # fmt: skip
        sums /= np.sqrt(self._n_codes)
        sums += self.intercept_
        return sums

    def _from_scores(self, X: Any, function: Callable[[Floats], Array]) -> Array:
        """Return the results of a function of blocks of scores, for all rows of `X`."""
        array = self._codes_of_few(X)
        if array is not None:
            return function(self._scores_of_block(array, np.ones(len(array), bool)))
        return self._of_codes(self._codes(X), function)

    # ---- files -----------------------------------------------------------------------------------

    def save(self, path: StrPath) -> None:
        """Write the model to a file for `load`. The file appears only when it is complete.

        Parameters
        ----------
        path : str or path-like
            The file. It has the weights, the configurations of map and vectorizer, and the table of
            `IdfWeights`. `random_state` and `n_jobs` are left out.

        Raises
        ------
        ValueError
            If a parameter of the map or of the vectorizer is a function, or the vectorizer's class
            is not `HashingVectorizer` or `ByteNgrams`, alone or before `IdfWeights`.
        OSError
            If the file cannot be written. An existing file of this name is then left unchanged.
        """
        with _model_file.new_file(path) as file:
            file.writelines(_model_file.content_of(self))

    @classmethod
    def load(cls, path: StrPath, *, mmap_mode: Literal["r"] | None = "r") -> Self:
        """Open a saved model.

        Parameters
        ----------
        path : str or path-like
            The file.
        mmap_mode : "r" or None, default="r"
            "r" maps the weights into memory; None reads them. See `load_model`.

        Returns
        -------
        model : object of this class
            A model whose scores have the same bits as the saved model's. Its `map` is the fitted
            map.

        Raises
        ------
        ValueError
            If the file does not hold a model of this class, is truncated, or has another version or
            another scheme of random numbers.
        """
        model: Self = _model_file.load(os.fspath(path), mmap_mode, cls)
        return model

    def __getstate__(self) -> Any:
        state: Any = super().__getstate__()
        state = dict(state)
        state.pop("_encoder", None)  # it is rebuilt on demand
        if isinstance(state.get("_weights"), np.memmap):
            state["_weights"] = np.array(state["_weights"])
        return state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if self.vectorizer is not None:
            tags.input_tags.two_d_array = False
            tags.input_tags.string = True
        else:
            of_map = _sklearn.get_tags(self.map).input_tags
            tags.input_tags.sparse = True
            tags.input_tags.positive_only = of_map.positive_only
        return tags

    if TYPE_CHECKING:

        def fit(
            self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
        ) -> Self: ...


def scores_of(model: CodesModel, codes: PackedCodes) -> Floats:
    """Return the scores of all rows, one column per model."""
    return model._of_codes(codes, lambda scores: scores)


@contextlib.contextmanager
def watched(model: CodesModel, watch: _solver.Watch) -> Iterator[None]:
    """Report the progress of `fit` to `watch` in this context."""
    model._watch = watch
    try:
        yield
    finally:
        del model._watch
