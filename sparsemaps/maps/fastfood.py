"""Fastfood: Gaussian and Matern kernels by fast transforms instead of a random matrix."""

import warnings
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from sparsemaps._input._row_reader import Block, RowReader
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _portable_math, _seeding
from sparsemaps._tools._allowed import LARGEST_INT32, About, Choice, Int, NumberOr, Size
from sparsemaps._tools._parameters import ParameterError, absent, setting
from sparsemaps._tools._typing import Array, Matrix, RandomState
from sparsemaps.laws._shift_invariant import FastfoodLaw
from sparsemaps.maps import _bandwidth, _orthogonal
from sparsemaps.maps._angles import write_features
from sparsemaps.maps._draw import Draw, Work
from sparsemaps.maps._sparse_map import SparseMap, random_map

MAX_DENSE_WIDTH = 2**17
"""Rows of more columns are count-sketched first instead of being made dense."""

DEFAULT_HASH_DIM = 2**14


class FastfoodDraw(Draw):
    """The random numbers of the blocks, and products with the blocks."""

    def prepare(self) -> None:
        self.dense_width = width = self.law.widths[0]
        degree = self.degree if self.kernel == "matern" else None
        keys = _seeding.keys(self.seed, "fastfood", 8, self.kernel, degree, self.transform_type)
        signs, permutations, normals, lengths, phases = keys[:5].tolist()
        self.sketch_key = keys[5:]
        n_vectors = self.n_components - self.n_components // 2
        self.n_blocks = -(-n_vectors // width)
        if self.transform_type == "orthogonal":
            self.orthogonal = _orthogonal.OrthogonalBlocks(signs, n_vectors, width)
            norms = np.full(self.n_blocks, float(width))
        else:
            norms = self._draw_blocks(signs, permutations, normals)
        rows = np.arange(n_vectors)
        scales = self._lengths(lengths, n_vectors) / (np.sqrt(width) * norms[rows // width])
        scales *= np.sqrt(2 * self.gamma) / (2 * np.pi)  # to turns
        limits = np.finfo(np.float32)
        in_range = limits.tiny <= scales.min() and scales.max() <= limits.max
        self.scales = scales.astype(np.float32) if in_range else scales
        # The phase of the cosine without a sine, if any; rounded to float32.
        odd = self.n_components % 2
        self.last_phase = np.float32(_seeding.uniforms(phases, 1)[0] if odd else 0)

    def _draw_blocks(self, signs: int, permutations: int, normals: int) -> Array:
        """Draw the factors between the transforms, and return the norms of the normal numbers. Both
        are stored as attributes."""
        n_blocks, width = self.n_blocks, self.dense_width
        n_permuted = width // 2 - 1 if self.transform_type == "fft" else width
        self.signs = np.empty((n_blocks, width), np.int8)
        self.normals = np.empty((n_blocks, width), np.float32)
        self.permutations = np.empty((n_blocks, n_permuted), np.int32)
        norms = np.empty(n_blocks)
        draws = np.empty(max(width, _loops.TILE_SIZE), np.float32)
        for block in range(n_blocks):
            _loops.draw(signs, _loops.RADEMACHER, block, draws)
            self.signs[block] = draws[:width]
            _loops.draw(normals, _loops.NORMAL, block, draws)
            self.normals[block] = draws[:width]
            norms[block] = np.sqrt(np.square(draws[:width], dtype=float).sum())
            _loops.permute(permutations, block, self.permutations[block])
        return norms

    def _lengths(self, key: np.uint64, n: int) -> Array:
        """Return random lengths of n vectors of d' dimensions, for gamma = 1/2."""
        width = self.dense_width
        if self.kernel == "rbf":
            return np.sqrt(2 * _portable_math.gamma_quantile(width / 2, _seeding.uniforms(key, n)))
        # Norms of sums of points in the unit ball: points are added one by one. Only the angle
        # between a point and the sum so far matters.
        numbers = _seeding.uniforms(key, 2 * n * self.degree).reshape(self.degree, 2, n)
        total = np.zeros(n)
        for radius, angle in numbers:
            radius = _portable_math.root(radius, width)
            cosine = _portable_math.cosine_quantile(width, angle)
            squared = total**2 + radius**2 + 2 * total * radius * cosine
            total = np.sqrt(np.maximum(squared, 0))
        return total

    def transform(self, work: Work) -> Matrix:
        rows = work.rows
        n_pairs, factor = self.n_components // 2, np.sqrt(2 / self.n_components)
        out = np.empty((rows.n_rows, self.n_components), rows.dtype)
        row_bytes = rows.dtype.itemsize * (1 + self.n_blocks) * self.dense_width

        angles = {rows.dtype: self._scales_and_phases(rows.dtype)}

        def write(block: Block, out: Array) -> Any:
            products = self.multiply(self._make_dense(block, out.dtype))
            if out.dtype not in angles:  # float32 rows with far angles
                angles[out.dtype] = self._scales_and_phases(out.dtype)
            return _loops.features(products, *angles[out.dtype], n_pairs, factor, out)

        def write_parts(block: Block, out: Array) -> None:
            for part, here in block.parts(row_bytes):
                write_features(part, out[here], write)

        work.each_block(write_parts, out)
        return out

    def _scales_and_phases(self, dtype: npt.DTypeLike) -> tuple[Array, Array]:
        phases = np.zeros(len(self.scales), dtype)
        phases[-1] = self.last_phase
        if self.scales.dtype == np.float32:
            return self.scales.astype(dtype, copy=False), phases
        with np.errstate(over="ignore"):  # a row with such angles is far
            return self.scales.astype(dtype, copy=False), phases

    def _make_dense(self, block: Block, dtype: np.dtype[Any]) -> Array:
        if self.hash_dim is None:
            return _orthogonal.make_dense(block, self.dense_width, dtype)
        sketch = np.zeros((block.n_rows, self.hash_dim), dtype)
        _loops.count_sketch_dense(*block, self.sketch_key, sketch)
        n_added = self.dense_width - self.hash_dim
        return np.pad(sketch, [(0, 0), (0, n_added)]) if n_added else sketch

    def multiply(self, dense: Array) -> Array:
        """Return each row's products with all blocks, before scaling."""
        if self.transform_type == "orthogonal":
            return self.orthogonal.multiply(dense)
        out = np.empty((len(dense), self.signs.size), dense.dtype)
        if self.transform_type == "hadamard":
            _loops.multiply(dense, self.signs, self.permutations, self.normals, out)
            return out
        width = dense.shape[1]
        for block in range(len(self.signs)):
            spectrum: Any = scipy.fft.rfft(dense * self.signs[block].astype(dense.dtype), axis=1)
            # The two ends of the spectrum are real; the other values are turned by complex normal
            # numbers.
            normals = self.normals[block].astype(dense.dtype)
            middle = (normals[1:-1:2] + 1j * normals[2:-1:2]) * dense.dtype.type(np.sqrt(0.5))
            turned = spectrum.take(1 + self.permutations[block], axis=1)
            _portable_math.multiply_complex(turned, middle)
            spectrum[:, 1:-1] = turned
            spectrum[:, 0] *= normals[0]
            spectrum[:, -1] *= normals[-1]
            out[:, block * width : (block + 1) * width] = scipy.fft.irfft(
                spectrum, n=width, axis=1, overwrite_x=True
            )
        out *= width
        return out


@random_map
class Fastfood(SparseMap[Array]):
    r"""Fastfood features of each row: Gaussian and Matern kernels, on average.

    These are random Fourier features whose random matrix is a product of diagonals, a permutation
    and two fast transforms. A feature costs O(log d), in time and in memory. With a dense matrix it
    costs O(d).

    Let d' be the least power of two that is d or more. Each block of d' projections is

    .. math:: V = \frac{\sqrt{2 \gamma}}{\sqrt{d'}} S H G \Pi H B,

    where B has random signs, H is the Walsh-Hadamard transform, :math:`\Pi` a permutation, G has
    normal numbers, and S scales the rows of V to random lengths. Features are the cosines and sines
    of the projections.

    Parameters
    ----------
    kernel : {"rbf", "matern"}, default="rbf"
        Name of the kernel. "rbf" is the Gaussian kernel :math:`e^{-\gamma \|x - y\|^2}`. "matern"
        takes as lengths the norms of sums of `degree` points that are uniform in the unit ball of
        d' dimensions:

        .. math:: k(x, y) = \left( \Gamma(d'/2 + 1) \, (2 / z)^{d'/2} J_{d'/2}(z) \right)^t, \qquad
                  z = \sqrt{2 \gamma} \, \|x - y\|,

        t the `degree`. Near 0 it falls as :math:`e^{-\gamma t \|x - y\|^2 / (d' + 2)}`, so that
        `gamma` should be about ``(d' + 2) / degree`` times what it would be for "rbf".
    gamma : float, "scale" or "median", default=1.0
        Factor of the squared distance, [allowed], as in scikit-learn's ``rbf_kernel``. "scale"
        takes ``1 / (n_features * X.var())`` of the matrix given to ``fit``; "median" makes the
        kernel ``exp(-1/2)`` at the median distance of a sample of 256 rows; for "matern" both are
        multiplied by ``(d' + 2) / degree``. Both are a first guess: search around it.
    degree : int, default=2
        Degree of the Matern kernel, [allowed]; for "matern" only.
    n_components : int, default=1024
        Number of features, [allowed]: cosines and sines in turn; the last one of an odd number
        is a cosine with a random phase. The error of a kernel value falls as
        ``1 / sqrt(n_components)``.
    transform_type : {"hadamard", "fft", "orthogonal"}, default="hadamard"
        The fast transform. "orthogonal", for "rbf" and rows of at most 8,192 columns, takes
        orthogonal vectors instead of Fastfood's [2]_: if rows are close, the error is several
        times smaller (see Notes). "fft" uses the real Fourier transforms of scipy.fft instead of
        both Hadamard transforms, and complex normal numbers between them. It costs more, and is
        meant for comparisons.
    hash_dim : int or None, default=None
        Width to which rows are count-sketched first, [allowed]. Inner products stay the same on
        average, with a variance of about ``|x|**2 |y|**2 / hash_dim``, so the kernel gets noise.
        None leaves rows of up to 131,072 columns unchanged; wider ones are sketched to 16,384, with
        a warning. `sparsemaps map`, which cannot know the width beforehand, needs a number.
    [random_state, n_jobs]

    Attributes
    ----------
    gamma_ : float
        The value of `gamma` in use.
    hash_dim_ : int or None
        The width that rows are sketched to; None if they are not.
    [n_features_in_, feature_names_in_, seed_]

    Warns
    -----
    UserWarning
        In ``fit``, if rows are so wide that they will be sketched though `hash_dim` is None.

    See Also
    --------
    RandomFourier : The same kernels, and others, by vectors of independent entries; faster if
        rows are very sparse, and needs no dense row.

    Notes
    -----
    Rows are made dense a few at a time: with their products, they take up to 2 MB per thread, or
    the memory of one row if that is more. The random numbers, up to 13 bytes for each of
    n_components / 2 projections (rounded up to d'), are made in ``fit``.

    Features of one block are not independent. With v the difference of two rows, times the root of
    2 gamma, the variance of one (cos, sin) pair's product for "rbf" is
    :math:`\frac12 (1 - e^{-\|v\|^2})^2`, and the variance of the sum over a block is at most
    :math:`\frac{d'}2 (1 - e^{-\|v\|^2})^2 + d' C(\|v\|)` with
    :math:`C(\alpha) = 6 \alpha^4 (e^{-\alpha^2} + \alpha^2 / 3)` [1]_. That bound is loose. The
    covariance of the products of two pairs of one block is, for rows that differ in one column,

    .. math:: {}_1F_1(d', d' / 2, -\|v\|^2 / 2) - e^{-\|v\|^2},

    which is negative for close rows. Other rows add to it about
    :math:`\frac1{d'} \|v\|^4 e^{-\|v\|^2} (1 - \sum_i v_i^4 / \|v\|^4)`: a kernel value of close
    rows of many columns has up to twice the variance that it has by `RandomFourier`.
    `sparsemaps.approximation` uses the whole series.

    If `n_components` is odd, the cosine with a random phase has the variance of the offset form of
    `RandomFourier`, which for close rows is larger than the variance of all pairs together.

    A row with more than an eighth of its angles above 2^44 turns raises an error, because float64
    hardly represents their fractions. float32 rows with this many angles above 64 turns, or more
    than half above 4 turns, are mapped in float64, which takes twice as long. The first 64 angles
    of a row decide.

    With either transform, each projection is exactly normal for "rbf": apart from G, the matrix is
    orthogonal, and S divides by the norm of G.

    With "orthogonal" a block is
    :math:`\sqrt{2 \gamma} S H D_3 H D_2 H D_1`, H normalised, with three diagonals of random
    signs, random lengths S of the :math:`\chi` distribution and d' of at least 128. The
    variance of a kernel value is the one above without the last term, for all rows. Divided by the
    variance of independent features, with s pairs of a block, it is

    .. math:: 1 + \frac{(s - 1) \left( {}_1F_1(d', d' / 2, -\|v\|^2 / 2) - e^{-\|v\|^2} \right)}
                       {\frac12 (1 - e^{-\|v\|^2})^2},

    .02, .09 and .33 for :math:`\|v\|` = .25, 1 and 1.5 and a whole block of 128. It is exact for
    directions that are uniform; those here are nearly so. Nothing is gained if rows have far
    more columns than the map has components.

    References
    ----------
    .. [1] Q. Le, T. Sarlos, A. Smola, "Fastfood - approximating kernel expansions in loglinear
       time", ICML 2013.
    .. [2] F. Yu, A. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar, "Orthogonal random
       features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> from sparsemaps import Fastfood
    >>> X = np.array([[0.6, 0.8, 0.0], [0.0, 0.8, 0.6]])
    >>> Z = Fastfood(gamma=0.5, n_components=4096, random_state=0).fit_transform(X)
    >>> Z.shape
    (2, 4096)
    >>> bool(np.allclose(Z @ Z.T, rbf_kernel(X, gamma=0.5), atol=0.05))
    True
    """

    _about = About(
        command="fastfood",
        help="Gaussian or Matern kernel, by fast transforms",
    )
    law_class = FastfoodLaw
    draw_class = FastfoodDraw

    kernel: Literal["rbf", "matern"] = Choice("rbf", "matern").default("rbf")
    gamma: _bandwidth.Gamma = NumberOr("scale", "median").default(1.0)
    degree: int = Int(1, 64).default(2)
    n_components: int = Size(1, LARGEST_INT32).default(1024)
    transform_type: Literal["hadamard", "fft", "orthogonal"] = Choice(
        "hadamard", "fft", "orthogonal"
    ).default("hadamard")
    hash_dim: int | None = Int(1, 2**20, none=True).default(None)
    random_state: RandomState = None
    n_jobs: int | None = None

    def _check_together(self) -> None:
        if self.transform_type == "orthogonal" and self.kernel != "rbf":
            raise ValueError(
                f"{setting('transform_type', 'orthogonal')} is for {setting('kernel', 'rbf')} only"
            )

    def _learn(self, n_columns: int | None, rows: RowReader | None) -> dict[str, Any]:
        hash_dim = self.hash_dim
        if self.transform_type == "orthogonal":
            self._padded_width(hash_dim or n_columns)  # checks the width
        if hash_dim is None and n_columns is None:
            rule = "a number if the width of rows is not known"
            raise ParameterError("hash_dim", absent(), rule)
        if hash_dim is None and n_columns is not None and n_columns > MAX_DENSE_WIDTH:
            hash_dim = DEFAULT_HASH_DIM
            warnings.warn(
                f"rows of {n_columns} columns will be count-sketched to {DEFAULT_HASH_DIM} "
                "first; hash_dim sets another number",
                UserWarning,
                stacklevel=4,
            )
        gamma = _bandwidth.choose(self.gamma, "squared", rows)
        if self.kernel == "matern" and isinstance(self.gamma, str):
            gamma *= (self._padded_width(hash_dim or n_columns or 1) + 2) / self.degree
        return {"gamma": gamma, "hash_dim": hash_dim}

    def _padded_width(self, length: int | None) -> int:
        """Return d' for rows of `length` columns."""
        if self.transform_type == "orthogonal":
            return _orthogonal.padded_width("transform_type", self.transform_type, length)
        assert length is not None
        return 1 << max(int(length - 1).bit_length(), 1)

    def _law_facts(self) -> dict[str, Any]:
        width = self.hash_dim or self.n_columns
        return {
            "is_orthogonal": self.transform_type == "orthogonal",
            "is_hashed": self.hash_dim is not None,
            "widths": self._all_widths() if width is None else (self._padded_width(width),),
        }

    def _all_widths(self) -> tuple[int, ...]:
        """Return all possible widths of blocks, if rows may have any width."""
        if self.transform_type == "orthogonal":
            least, most = _orthogonal.LEAST_WIDTH, _orthogonal.LARGEST_WIDTH
        else:
            least, most = 2, MAX_DENSE_WIDTH
        return tuple(2**k for k in range(least.bit_length() - 1, most.bit_length()))
