"""Products of kernels: a sampled map times another map with as many components."""

from collections.abc import Sequence
from typing import Any, Self, TypeAlias

import numpy as np

from sparsemaps._input import _sparse
from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops import codes as _codes
from sparsemaps._loops.codes import NUMBERS
from sparsemaps._tools import _seeding, _sklearn
from sparsemaps._tools._allowed import LARGEST_BITS, About
from sparsemaps._tools._growing_array import rows_where
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._typing import Array, CsrMatrix, Matrix, RandomState
from sparsemaps.laws._product_law import ProductLaw
from sparsemaps.maps._draw import CodesDraw, Work
from sparsemaps.maps._sampled_map import HasCodes, SampledMap
from sparsemaps.maps._sparse_map import SparseMap, random_map
from sparsemaps.maps.sign_projection import SignProjection
from sparsemaps.maps.weighted_sampling import ConsistentWeightedSampling

_Maps: TypeAlias = (
    tuple[SampledMap, SparseMap] | Sequence[tuple[str, SparseMap]] | Sequence[SparseMap]
)


class ProductDraw(CodesDraw):
    """The draws of the two maps."""

    @property
    def draws(self) -> tuple[Any, Any]:
        """The draws of the two maps."""
        (_, sampled), (_, other) = self.maps
        return sampled.draw, other.draw

    def write(self, block: Block, layout: int, out: Array) -> None:
        sampled, other = self.draws
        for part, here in block.parts(4 * self.size):
            first, second = np.empty((2, part.n_rows, self.size), np.int32)
            sampled.write(part, NUMBERS, first)
            other.write(part, NUMBERS, second)
            empty = first[:, 0] < 0
            first <<= other.law.bits
            first |= second  # -1 (all bits set) if the second map has no sample
            first[empty] = -1
            _codes.write(first, self.law.bits, layout, out[here])

    def transform(self, work: Work) -> Matrix:
        rows = work.rows
        if self.law.is_one_hot:
            return super().transform(work)
        sampled, other = self.draws
        columns, indptr, filled = sampled.one_hot(work)
        values = rows_where(other.transform(work), filled).reshape(-1)
        return _sparse.csr_of(rows.container, (values, columns, indptr), (rows.n_rows, self.width))


@random_map
class KernelProduct(SampledMap[CsrMatrix]):
    r"""Product of two kernels: sparse features from a sampled map and another map.

    Let sample j of two rows agree at the rate of the kernel K. If the other map is sampled too, the
    code of sample j is the two codes side by side. It agrees if both agree. If the other map is
    dense, of components :math:`z_j`, the 1 of sample j becomes :math:`z_j(x)`. In both cases, inner
    products of the output estimate the product of the two kernels.

    Parameters
    ----------
    maps : pair of maps, pair of (name, map), or None, default=None
        A sampled map (`ConsistentWeightedSampling`, `SignProjection`, ...), and any map whose
        ``n_hashes`` or dense ``n_components`` is the same number. None stands for
        ``(ConsistentWeightedSampling(), SignProjection())``, the min-max times the acos kernel.
        Copies of the maps are fitted, with seeds drawn from `random_state`; their own
        `random_state` is not used. ``set_params``, and so a grid search, sets their parameters by
        the names ``name__parameter``. A map without a name has the name of its class in lower case.
        If both are of one class, "-1" and "-2" follow, as from scikit-learn's ``make_union``.
    [random_state, n_jobs]

    Attributes
    ----------
    maps_ : tuple of two maps
        The fitted copies, the sampled map first.
    [n_features_in_, feature_names_in_, seed_]

    See Also
    --------
    ConsistentWeightedSampling : The min-max kernel.
    SignProjection : The acos and the acos-chi-square kernel.
    RandomFourier : The Gaussian kernel, among others.
    RandomProjection : The linear kernel.

    Notes
    -----
    For two sampled maps with codes of b and b' bits, the output is one-hot CSR of width
    ``k * 2**(b + b')`` with the second map's bits below the first one's, and ``encode`` packs the
    joint codes. With a dense map, it is CSR of the sampled map's width, and there is no ``encode``.
    A linear model has classes * width coefficients. Rows without samples are empty.

    Inner products of the output include agreements by chance of the sampled maps. With the kernels
    :math:`K_1, K_2` and the chances :math:`p_1, p_2` of two sampled maps (``2**-(bits + t_bits)``
    for `ConsistentWeightedSampling`, 0 for `SignProjection`), they estimate :math:`(K_1 + (1 - K_1)
    p_1) (K_2 + (1 - K_2) p_2)`. The codes make it possible to correct for this: let :math:`n_{11}`
    be the share of samples in which both maps' codes agree, :math:`n_{1 \cdot}` and :math:`n_{\cdot
    1}` those in which the first's and the second's do. Then

    .. math:: \frac{n_{11} - p_1 n_{\cdot 1} - p_2 n_{1 \cdot} + p_1 p_2}{(1 - p_1) (1 - p_2)}

    estimates :math:`K_1 K_2`.

    `MinHash` times `RandomProjection` is resemblance times inner product (CoRE kernels [2]_). With
    the rate :math:`r = J + (1 - J) p` at which codes of two rows of Jaccard similarity J agree, and
    V the variance of the projection's estimate times k, the output's inner products have the mean
    :math:`r \langle x, y \rangle` and the variance
    :math:`(r (V + \langle x, y \rangle^2) - r^2 \langle x, y \rangle^2) / k`. A `CountSketch`
    cannot replace the projection: its error would not fall with k.

    References
    ----------
    .. [1] P. Li, "A comparison study of nonlinear kernels", 2015, section 4.
    .. [2] P. Li, "CoRE kernels", UAI 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import ConsistentWeightedSampling, KernelProduct, SignProjection
    >>> from sparsemaps.kernels import acos_kernel, min_max_kernel
    >>> X = np.array([[4.0, 1.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
    >>> sampled = ConsistentWeightedSampling(n_hashes=4096, bits=2, t_bits=6)
    >>> product = KernelProduct(maps=(sampled, SignProjection(n_hashes=4096)), random_state=0)
    >>> Z = product.fit_transform(X)
    >>> Z.shape, Z.nnz
    ((2, 2097152), 8192)
    >>> exact = min_max_kernel(X) * acos_kernel(X)
    >>> bool(np.allclose((Z @ Z.T).toarray(), exact, atol=0.05))
    True

    Both numbers of samples are set together in a grid search:

    >>> sorted(KernelProduct(maps=[("a", sampled), ("b", SignProjection())]).get_params())[:4]
    ['a', 'a__bits', 'a__method', 'a__n_hashes']
    """

    _about = About(
        products=(
            (
                "minmax-signs",
                "min-max times acos kernel",
                "ConsistentWeightedSampling",
                "SignProjection",
            ),
            (
                "minmax-fourier",
                "min-max times Gaussian kernel, or another kernel of fourier",
                "ConsistentWeightedSampling",
                "RandomFourier",
            ),
        ),
    )
    law_class = ProductLaw
    draw_class = ProductDraw

    maps: _Maps | None = None
    random_state: RandomState = None
    n_jobs: int | None = None

    # ---- parameters ------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params = super().get_params(deep=False)
        if deep and _is_pair(self.maps):
            for name, part in self._named_maps():
                params[name] = part
                for key, value in part.get_params().items():
                    params[f"{name}__{key}"] = value
        return params

    def set_params(self, **params: Any) -> Self:
        own = {key: params.pop(key) for key in super().get_params(deep=False) if key in params}
        super().set_params(**own)
        if not params:
            return self
        named = dict(self._named_maps()) if _is_pair(self.maps) else {}
        for key in [key for key in params if key in named]:
            named[key] = params.pop(key)
            self.maps = list(named.items())
        if self.maps is None:
            self.maps = list(named.items())
        for key, value in params.items():
            name, _, parameter = key.partition("__")
            if name not in named or not parameter:
                raise ValueError(
                    f"Invalid parameter {key!r} for estimator {type(self).__name__}. Valid "
                    f"parameters are: {[*super().get_params(deep=False), *named]!r}."
                )
            named[name].set_params(**{parameter: value})
        return self

    def _named_maps(self) -> list[tuple[str, Any]]:
        """Return the two maps with their names."""
        if self.maps is None:
            maps: Any = (ConsistentWeightedSampling(), SignProjection())
        else:
            maps = self.maps
        if all(isinstance(part, tuple) for part in maps):
            return [(name, part) for name, part in maps]
        names = [type(part).__name__.lower() for part in maps]
        if names[0] == names[1]:
            names = [f"{name}-{number}" for number, name in enumerate(names, start=1)]
        return list(zip(names, maps, strict=True))

    def _check_together(self) -> None:
        if not _is_pair(self.maps):
            rule = "a sampled map and another map of sparsemaps, or None"
            raise ParameterError("maps", repr(self.maps), rule)
        names, (sampled, other) = zip(*self._named_maps(), strict=True)
        if names[0] == names[1] or any("__" in name or not name for name in names):
            raise ValueError(
                f"the names of maps must differ and not contain '__', got {names[0]!r} and "
                f"{names[1]!r}"
            )
        reserved = super().get_params(deep=False)
        if any(name in reserved for name in names):
            raise ValueError(f"the names of maps must not be one of {sorted(reserved)}")
        for part in (sampled, other):
            part.check_parameters()
        first, second = sampled.law, other.law
        if not first.is_one_hot:
            raise ValueError(f"the first of maps must have one-hot output, got {sampled!r}")
        if second.why_not_second is not None:
            raise ValueError(f"the second of maps must {second.why_not_second}, got {other!r}")
        if other.size != sampled.n_hashes:
            rule = "of the same number of components"
            raise ParameterError("maps", f"{sampled.n_hashes} and {other.size}", rule)
        if second.is_one_hot:
            bits = first.bits + second.bits
            if bits > LARGEST_BITS:
                rule = f"of at most {LARGEST_BITS} bits together"
                raise ParameterError("the codes of maps", str(bits), rule)

    @property
    def factors(self) -> tuple[Any, Any]:
        """The fitted maps or, if this map is not fitted, the maps of its parameter."""
        (_, sampled), (_, other) = self._learned.get("maps") or self._named_maps()
        return sampled, other

    @property
    def maps_(self) -> tuple[Any, Any]:
        """The two fitted maps."""
        if not self.__sklearn_is_fitted__():
            raise AttributeError("maps_ is an attribute of fitted maps")
        return self.factors

    @property
    def n_hashes(self) -> int:  # type: ignore[override]
        """Number of samples."""
        return int(self.factors[0].n_hashes)

    def set_size(self, size: int) -> None:
        named = self._named_maps()
        for _, part in named:
            part.set_size(size)
        if self.maps is None:
            self.maps = named

    # ---- fitting and mapping ---------------------------------------------------------------------

    def _learn(self, n_columns: int | None, rows: RowReader | None) -> dict[str, Any]:
        keys = _seeding.keys(self.seed_, "kernel_product", 2)
        fitted = []
        for (_, part), key in zip(self._named_maps(), keys, strict=True):
            part = _sklearn.clone(part).set_params(random_state=int(key >> np.uint64(1)))
            if not part.law.is_one_hot and "dense_output" in part.get_params(deep=False):
                part.set_params(dense_output=True)
            if n_columns is not None:
                part.n_features_in_ = n_columns
            fitted.append(part._finish_fit(n_columns, rows))
        names = [name for name, _ in self._named_maps()]
        return {"maps": list(zip(names, fitted, strict=True))}

    encode = _sklearn.available_if(lambda self: self.has_codes)(HasCodes.encode)
    encode_texts = _sklearn.available_if(lambda self: self.has_codes)(HasCodes.encode_texts)
    numbers = _sklearn.available_if(lambda self: self.has_codes)(HasCodes.numbers)

    def _law_facts(self) -> dict[str, Any]:
        first, second = self.factors
        return {"sampled": first.law, "other": second.law}


def _is_pair(maps: object) -> bool:
    """Return whether `maps` is None, or a sampled map and another map, with or without names."""
    if maps is None:
        return True
    if not isinstance(maps, tuple | list) or len(maps) != 2:
        return False
    if all(isinstance(part, tuple) and len(part) == 2 for part in maps):
        if not all(isinstance(name, str) for name, _ in maps):
            return False
        maps = [part for _, part in maps]
    return isinstance(maps[0], SampledMap) and isinstance(maps[1], SparseMap)
