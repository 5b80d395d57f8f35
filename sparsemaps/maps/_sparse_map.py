"""The base class of all maps: scikit-learn's estimator API, checks, threads, and output."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, dataclass_transform

import numpy as np

from sparsemaps._input import _sparse
from sparsemaps._input._estimator_input import read_input
from sparsemaps._input._row_reader import RowReader
from sparsemaps._tools import _seeding, _sklearn
from sparsemaps._tools._allowed import About, Allowed, Size, with_ranges
from sparsemaps._tools._docstrings import filled
from sparsemaps._tools._typing import Array, MatrixLike, Output
from sparsemaps.laws._law import Law
from sparsemaps.maps._draw import Draw, Work

Map = TypeVar("Map")

_NOT_IN_DRAW = ("random_state", "n_jobs")
"""Parameters that a draw does not have: it has the seed, and threads do not affect the output."""

_PARAMETERS_DOC = """\
random_state : int, Generator, RandomState or None, default=None
    The seed, or where to draw it from. The same seed gives the same output on every platform, but
    for the last bits of Fourier transforms (:doc:`/promise`).
n_jobs : int or None, default=None
    Threads; None is 1, -1 all processors. The output does not depend on it."""

_ATTRIBUTES_DOC = """\
n_features_in_ : int
    Number of columns seen in ``fit``.
feature_names_in_ : ndarray of str
    Names of the columns, if ``fit`` saw names.
seed_ : int
    The seed in use; as `random_state` it gives this map again."""

_GAMMA_DOC = """\
gamma_ : float
    The value of `gamma` in use."""

_MAP_DOC = {
    "random_state, n_jobs": _PARAMETERS_DOC,
    "n_features_in_, feature_names_in_, seed_": _ATTRIBUTES_DOC,
    "random_state, n_jobs, attributes": (
        f"{_PARAMETERS_DOC}\n\nAttributes\n----------\n{_ATTRIBUTES_DOC}"
    ),
    "random_state, n_jobs, attributes, gamma_": (
        f"{_PARAMETERS_DOC}\n\nAttributes\n----------\n{_GAMMA_DOC}\n{_ATTRIBUTES_DOC}"
    ),
}
"""Parts shared by the docstrings of all maps."""


class SparseMap(
    _sklearn.ClassNamePrefixFeaturesOutMixin,
    _sklearn.TransformerMixin,
    _sklearn.BaseEstimator,
    Generic[Output],
):
    """A random feature map: the output of a row depends on nothing but the seed, the parameters and
    the row.

    ``fit`` draws the seed and makes a `Draw` from it and the current parameters: an immutable value
    that maps rows. The methods of a fitted map use only the draw, so ``set_params`` takes effect at
    the next ``fit``. A subclass defines

    - its parameters as fields, each with its range, from which `random_map` makes ``__init__``.
      Checks, the options of the command, their help and tables in the documentation are made from
      them;
    - ``_about``, its name in the command;
    - ``law_class``, the class of its law (`sparsemaps.laws`), which has the kernel and the errors
      of the estimates. Its fields take the values of the parameters with the same names;
    - ``draw_class``, the class of its draw, which is defined above the map in its module;

    and may override

    - ``_check_together()``, which checks combinations of parameters;
    - ``_law_facts()``, which returns further fields of the law;
    - ``_learn(n_columns, rows)``, which returns the parameters that ``fit`` computes from the data.

    A product also overrides ``factors`` and ``set_size``.
    """

    _about: ClassVar[About]

    _names: ClassVar[tuple[str, ...]]
    """Names of the parameters, sorted."""

    _allowed: ClassVar[Mapping[str, Allowed]]
    """Ranges of the parameters."""

    law_class: ClassVar[type[Law]]

    draw_class: ClassVar[type[Draw]]
    """The class of the draw."""

    size_name: ClassVar[str]
    """Name of the parameter that sets the number of components: the one with a `Size` in
    `_allowed`."""

    n_jobs: int | None
    random_state: Any
    seed_: int
    n_features_in_: int

    _learned: Mapping[str, Any] = {}
    """The parameters that ``fit`` computed from the data, with their values."""

    @property
    def has_codes(self) -> bool:
        """Whether the map has ``encode``."""
        return self._law_in_use.codes is not None

    @property
    def is_one_hot(self) -> bool:
        """Whether ``transform`` returns the codes of the map as one-hot features."""
        return self._law_in_use.is_one_hot

    @property
    def _law_in_use(self) -> Law:
        return self._draw.law if "_draw" in vars(self) else self.law

    @property
    def size(self) -> int:
        """The number of components: independent random parts whose mean is the estimate."""
        return int(getattr(self, self.size_name))

    @property
    def n_columns(self) -> int | None:
        """Number of columns to which the map is fitted; None for any number, or if it is not
        fitted."""
        return vars(self).get("n_features_in_")

    @property
    def law(self) -> Law:
        """The law of a map with these parameters.

        For a fitted map, parameters that ``fit`` computed from the data have the computed values.
        """
        in_use = copy.copy(self)
        vars(in_use).update(self._parameters_in_use())
        facts = vars(in_use) | in_use._law_facts()
        names = {field.name for field in fields(self.law_class)}
        return self.law_class(**{name: facts[name] for name in names & facts.keys()})

    @property
    def factors(self) -> tuple[Any, ...]:
        """The maps of a product."""
        return ()

    def _parameters_in_use(self) -> dict[str, Any]:
        """Return the parameters, including the values that ``fit`` computed from the data.

        NumPy numbers become Python numbers, whose arithmetic does not overflow.
        """
        values = {name: getattr(self, name) for name in self._names} | dict(self._learned)
        return {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in values.items()
        }

    # ---- for users -------------------------------------------------------------------------------

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Check parameters and data, and draw the seed.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Only its number of columns is kept.
        y : None
            Ignored. scikit-learn's pipelines pass it.

        Returns
        -------
        self : object
            The fitted map.

        Raises
        ------
        ValueError
            If a parameter is invalid; or if X is malformed, not finite, or has negative values that
            the kernel does not allow.
        """
        return self._fit_weighed(X, None)

    def _fit_weighed(self, X: MatrixLike, weights: Array | None) -> Self:
        """Fit as ``fit`` does, counting each row as often as its weight. Estimators with sample
        weights call this. All rows are checked, including rows of weight 0."""
        self.check_parameters()
        rows = read_input(self, X, self.law.nonnegative_rule, reset=True)
        Work(rows, self.n_jobs).each_block(lambda block: None)  # checks entries
        rows.weights = None if weights is None or len(weights) != rows.n_rows else weights
        return self._finish_fit(rows.n_columns, rows)

    def fit_any_width(self) -> Self:
        """Fit the map without data, for rows of any width.

        Use it for streams and files if the number of columns is not known in advance. ``transform``
        then accepts matrices of any width, and the map has no ``n_features_in_``. The output is the
        same as for a map fitted to data.

        Returns
        -------
        self : object
            The fitted map.

        Raises
        ------
        ValueError
            If a parameter is invalid, or must be computed from data (``gamma="scale"``).

        Examples
        --------
        >>> import scipy.sparse as sp
        >>> from sparsemaps import CountSketch
        >>> sketch = CountSketch(n_components=8, random_state=0).fit_any_width()
        >>> sketch.transform(sp.eye_array(2, 5)).shape, sketch.transform(sp.eye_array(3)).shape
        ((2, 8), (3, 8))
        """
        self.check_parameters()
        for name in ("n_features_in_", "feature_names_in_"):
            vars(self).pop(name, None)
        return self._finish_fit(None, None)

    def transform(self, X: MatrixLike) -> Output:
        """Map each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            CSR with int32 or int64 indices is read in place; other formats are converted.

        Returns
        -------
        X_new : {ndarray, sparse matrix} of shape (n_samples, n_features_out)
            float32 if `X` is float32, otherwise float64. Sparse output is CSR: a ``csr_array`` if
            `X` is a sparse array or scikit-learn's ``sparse_interface`` requests it, otherwise a
            ``csr_matrix``.

        Raises
        ------
        ValueError
            As in ``fit``, and if the number of columns differs from ``fit``.
        """
        return self.draw.transform(self._work(X))

    if TYPE_CHECKING:

        def fit_transform(self, X: MatrixLike, y: object = None) -> Output: ...

    def exact_kernel(self, X: MatrixLike, Y: MatrixLike | None = None) -> Array:
        """Return the exact kernel that the fitted map approximates, for all pairs of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_X, n_features)
            Rows as for ``transform``; sparse rows are not made dense.
        Y : {array-like, sparse matrix} of shape (n_Y, n_features) or None, default=None
            The other rows; None means `X`.

        Returns
        -------
        K : ndarray of shape (n_X, n_Y)
            The values that inner products of the rows of ``transform(X)`` and ``transform(Y)``
            estimate.

        Raises
        ------
        ValueError
            As in ``transform``.
        """
        law = self.draw.law
        X = _sparse.sound_matrix(X, "X")
        if Y is not None:
            Y = _sparse.sound_matrix(Y, "Y")
        return np.asarray(law.exact_kernel(X, Y, self.n_jobs))

    def to_config(self) -> dict[str, Any]:
        """Return a dictionary that describes this fitted map and that ``json.dumps`` accepts.

        Returns
        -------
        config : dict
            "class" and "parameters" of the map, "seed", "scheme" (the version of the random
            numbers) and "n_features" (None if the map was fitted for any width). Parameters that
            were computed from data are numbers. `random_state`, `n_jobs` and the names of columns
            are left out.

        Raises
        ------
        ValueError
            If a parameter cannot be written as JSON, such as a function.

        See Also
        --------
        sparsemaps.from_config : Make the map from the dictionary.

        Examples
        --------
        >>> from sparsemaps import CountSketch, from_config
        >>> config = CountSketch(n_components=8, random_state=3).fit_any_width().to_config()
        >>> config["class"], config["parameters"], config["seed"], config["n_features"]
        ('CountSketch', {'dense_output': False, 'n_components': 8}, 3, None)
        >>> from_config(config).seed_
        3
        """
        draw = self.draw
        return {
            **_as_json("map", self),
            "seed": draw.seed,
            "scheme": _seeding.SCHEME,
            "n_features": draw.n_columns,
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = self.law.nonnegative_rule is not None
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_draw" in vars(self)

    # ---- methods of subclasses -------------------------------------------------------------------

    def _law_facts(self) -> dict[str, Any]:
        """Return the fields of the law that are not parameters, or have other values than them.

        It is called on a copy whose parameters have the values that ``fit`` computed.
        """
        return {}

    def _check_together(self) -> None:
        """Raise a ValueError if the parameters are not allowed together."""

    def _learn(self, n_columns: int | None, rows: RowReader | None) -> dict[str, Any]:
        """Return the parameters that ``fit`` computes from the data, with their values.

        `n_columns` is None if the width is not known, and `rows` is None without data. The values
        become public attributes, whose names end in an underscore.
        """
        return {}

    def set_size(self, size: int) -> None:
        """Set the number of random components."""
        self.set_params(**{self.size_name: size})

    # ---- fitting ---------------------------------------------------------------------------------

    def check_parameters(self) -> None:
        """Raise a ValueError that names the parameter if one is not allowed."""
        for name, allowed in self._allowed.items():
            allowed.check(name, getattr(self, name))
        self._check_together()

    def _finish_fit(self, n_columns: int | None, rows: RowReader | None) -> Self:
        """Draw the seed, compute parameters from the data, and make the draw."""
        for name in ("_draw", "_learned"):
            vars(self).pop(name, None)
        self.seed_ = _seeding.draw_seed(self.random_state)
        self._learned = self._learn(n_columns, rows)
        for name, value in self._learned.items():
            if not hasattr(type(self), f"{name}_"):
                setattr(self, f"{name}_", value)
        parameters = {
            name: copy.deepcopy(value)
            for name, value in self._parameters_in_use().items()
            if name not in _NOT_IN_DRAW
        }
        # The law uses the computed parameters, so they must be attributes by now.
        self._draw: Draw = self.draw_class(parameters, self.seed_, n_columns, self.law, self.size)
        return self

    @property
    def draw(self) -> Draw:
        """The draw of a fitted map; raises an error if the map is not fitted."""
        if "_draw" not in vars(self):
            _sklearn.check_is_fitted(self)
        return self._draw

    @property
    def _n_features_out(self) -> int:
        """Width of the output of the fitted map. scikit-learn requires this name."""
        return self._draw.width

    # ---- reading ---------------------------------------------------------------------------------

    def _work(self, X: MatrixLike) -> Work:
        """Return the rows of `X` as work for the draw. They must match the map as fitted."""
        return Work(read_input(self, X, self._draw.nonnegative_rule, reset=False), self.n_jobs)


@dataclass_transform(kw_only_default=True, eq_default=False)
def random_map(cls: type[Map]) -> type[Map]:
    """Complete the class of a map. Its fields are its parameters: they determine ``__init__`` and
    the table of allowed values, and their ranges are inserted into the docstring."""
    made: Any = dataclass(kw_only=True, repr=False, eq=False)(cls)
    parameters = {field.name: field.metadata.get("allowed") for field in fields(made)}
    made._names = tuple(sorted(parameters))
    made._allowed = {name: allowed for name, allowed in parameters.items() if allowed is not None}
    made.__doc__ = with_ranges(filled(made.__doc__ or "", _MAP_DOC), made._allowed)
    sizes = [name for name, allowed in made._allowed.items() if isinstance(allowed, Size)]
    has_size = sizes or made.set_size is not SparseMap.set_size  # as a product does, for its maps
    if not has_size or not {"random_state", "n_jobs"} <= parameters.keys():
        raise TypeError(
            f"{cls.__name__} must have the parameters random_state and n_jobs, and one with a "
            "Size, the number of random components; write a transformer of scikit-learn for a map "
            "that draws nothing"
        )
    for name in sizes:
        made.size_name = name
    return made


def _as_json(name: str, value: object) -> Any:
    """Return a parameter in types that JSON supports: for a map, its class and parameters."""
    if isinstance(value, SparseMap):
        parameters = value.draw.parameters.items()
        described = {name: _as_json(name, parameter) for name, parameter in parameters}
        return {"class": type(value).__name__, "parameters": described}
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_as_json(name, item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{name} must be a number, a string or a sequence of them, got {value!r}")


def as_fitted(random_map: object) -> SparseMap:
    """Return the map itself if it is fitted, else a copy that is fitted for rows of any width."""
    if not isinstance(random_map, SparseMap):
        raise ValueError(f"map must be a map of sparsemaps, got {random_map!r}")
    if random_map.__sklearn_is_fitted__():
        return random_map
    return _sklearn.clone(random_map).fit_any_width()
