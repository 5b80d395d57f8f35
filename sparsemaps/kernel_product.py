"""Products of kernels: a sampled map times any other of as many components."""

import numpy as np
import scipy.sparse as sp

from sparsemaps import _seeding, _sklearn
from sparsemaps._base import SampledMap, SparseMap, chunks, keep_rows
from sparsemaps._kernels import codes as _codes
from sparsemaps._kernels.code_output import NUMBERS
from sparsemaps.sign_projection import SignProjection
from sparsemaps.weighted_sampling import ConsistentWeightedSampling


class KernelProduct(SampledMap):
    r"""Product of two kernels: sparse features from a sampled map and another map.

    Let sample j of two rows agree at the rate of the kernel K. If the other map is sampled too, the
    code of sample j is the two maps' codes side by side, which agrees when both do. If the other
    map is dense, of components :math:`z_j`, the 1 of sample j becomes :math:`z_j(x)`. Inner
    products of the output estimate the product of the two kernels either way.

    Parameters
    ----------
    maps : tuple of two maps or None, default=None
        A sampled map (`ConsistentWeightedSampling`, `SignProjection`), and any map whose
        ``n_hashes`` or dense ``n_components`` is the same number. None stands for
        ``(ConsistentWeightedSampling(), SignProjection())``, the min-max times the acos kernel.
        The maps are not fitted themselves; copies with seeds of their own are.
    random_state : int, Generator, RandomState or None, default=None
        The seed, or where to draw it from; the two maps' seeds are drawn from it, whatever
        `random_state` they have.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The output does not depend on it.

    Attributes
    ----------
    maps_ : tuple of two maps
        The fitted copies.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : ndarray of str
        Names of the columns, where ``fit`` saw names.
    seed_ : int
        The seed in use; as `random_state` it gives this map again.

    See Also
    --------
    ConsistentWeightedSampling : The min-max kernel.
    SignProjection : The acos and the acos-chi-square kernel.
    RandomFourier : The Gaussian kernel, among others.

    Notes
    -----
    Of two sampled maps with codes of b and b' bits, the output is one-hot CSR of width
    ``k * 2**(b + b')`` with the second map's bits below the first one's, and ``encode`` packs the
    joint codes. With a dense map it is CSR of the sampled map's width, and there is no ``encode``.
    Rows that have no sample are empty. Codes of the sampled map that agree by chance, as those of
    different columns do with probability ``2 ** -bits``, are part of its kernel here.

    References
    ----------
    .. [1] P. Li, "A comparison study of nonlinear kernels", 2015, section 4.

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
    """

    _shares_columns = True

    def __init__(self, *, maps=None, random_state=None, n_jobs=None):
        self.maps = maps
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _given(self):
        return (ConsistentWeightedSampling(), SignProjection()) if self.maps is None else self.maps

    def _check_parameters(self):
        maps = self._given()
        if not (
            isinstance(maps, (tuple, list))
            and len(maps) == 2
            and isinstance(maps[0], SampledMap)
            and isinstance(maps[1], SparseMap)
        ):
            raise ValueError(
                "maps must be a sampled map and another map of sparsemaps, or None, got "
                f"{self.maps!r}"
            )
        for part in maps:
            part._check_parameters()
        sampled, other = maps
        if getattr(sampled, "dense_output", False):
            raise ValueError("the first of maps must not have dense_output=True")
        if getattr(other, "h01", False):
            raise ValueError("the second of maps must not have h01=True")
        n_other = other.n_hashes if hasattr(other, "n_hashes") else other.n_components
        if n_other != sampled.n_hashes:
            raise ValueError(
                f"maps must have the same number of components, got {sampled.n_hashes} and "
                f"{n_other}"
            )
        if _is_coded(other):
            bits = sampled._code_bits + other._code_bits
            if bits > _LARGEST_BITS:
                raise ValueError(
                    f"the codes of maps must have at most {_LARGEST_BITS} bits together, got {bits}"
                )

    def _current(self):
        """The fitted maps, or what they are to be."""
        return getattr(self, "maps_", None) or self._given()

    @property
    def n_hashes(self):
        """Number of samples."""
        return self._current()[0].n_hashes

    @property
    def _nonnegative(self):
        maps = self._given()
        if not isinstance(maps, (tuple, list)):
            return None  # an error elsewhere
        sentences = (getattr(part, "_nonnegative", None) for part in maps)
        return next((sentence for sentence in sentences if sentence is not None), None)

    @property
    def _code_bits(self):
        sampled, other = self._current()
        return sampled._code_bits + (other._code_bits if _is_coded(other) else 0)

    def _learn(self, rows):
        self._copies = tuple(_sklearn.clone(part) for part in self._given())
        for part in self._copies:
            part._learn(rows)

    def _draw(self):
        super()._draw()
        self.maps_ = self._copies
        del self._copies
        for part, seed in zip(
            self.maps_, _seeding.keys(self.seed_, "kernel_product", 2), strict=True
        ):
            part.set_params(random_state=int(seed >> np.uint64(1)), n_jobs=self.n_jobs)
            if hasattr(part, "dense_output") and not _is_coded(part):
                part.set_params(dense_output=True)
            part._draw()
            if hasattr(self, "n_features_in_"):
                part.n_features_in_ = self.n_features_in_
        return self

    def _has_codes(self):
        return _is_coded(self._current()[1])

    @_sklearn.available_if(_has_codes)
    def encode(self, X):
        """Map each row of `X` to packed codes: the two maps' side by side.

        There where both maps are sampled ones.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in ``transform``.

        Returns
        -------
        codes : ndarray of uint8, shape (n_samples, ceil(n_hashes * bits / 8))
            With the bits of both maps, the second one's the lower. A row that has no sample is all
            zeros.
        """
        return super().encode(X)

    def _write_codes(self, block, layout, out):
        sampled, other = self.maps_
        for start, stop in chunks(len(out), 4 * self.n_hashes):
            rows = block.rows(start, stop)
            first, second = np.empty((2, stop - start, self.n_hashes), np.int32)
            sampled._write_codes(rows, NUMBERS, first)
            other._write_codes(rows, NUMBERS, second)
            empty = (first[:, 0] < 0) | (second[:, 0] < 0)
            first <<= other._code_bits
            first |= second
            first[empty] = -1
            _codes.write(first, self._code_bits, layout, out[start:stop])

    def _map(self, rows):
        sampled, other = self.maps_
        if _is_coded(other):
            return super()._map(rows)
        columns, indptr, filled = sampled._one_hot(rows)
        values = keep_rows(other._map(rows), filled).reshape(-1)
        return sp.csr_array((values, columns, indptr), shape=(rows.n_rows, self._n_features_out))


_LARGEST_BITS = 24


def _is_coded(part):
    """Whether a map's output is its codes."""
    return isinstance(part, SampledMap) and not getattr(part, "dense_output", False)
