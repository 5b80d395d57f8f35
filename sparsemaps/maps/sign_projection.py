"""Sign projections: the acos and acos-chi-square kernels as collisions of bits."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import codes as _codes
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _seeding
from sparsemaps._tools._allowed import LARGEST_N_HASHES, About, Bool, Choice, Size
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Array, Matrix, RandomState
from sparsemaps.kernels._gram import scaled_by_powers_of_two
from sparsemaps.laws._sampled import SignsLaw
from sparsemaps.maps import _orthogonal
from sparsemaps.maps._draw import CodesDraw, Work
from sparsemaps.maps._sampled_map import SampledMap
from sparsemaps.maps._sparse_map import random_map

_VECTORS = {
    ("acos", None): _loops.NORMAL,
    ("acos", "rademacher"): _loops.RADEMACHER,
    ("acos", "orthogonal"): None,
    ("acos_chi2", None): _loops.CAUCHY,
}
"""Distribution of the random vectors; None for blocks of orthogonal vectors."""


class SignsDraw(CodesDraw):
    """The random vectors."""

    @property
    def width(self) -> int:
        return self.size if self.dense_output else super().width

    def prepare(self) -> None:
        if self.distribution == "orthogonal":
            width = _orthogonal.padded_width("distribution", "orthogonal", self.n_columns)
            key = self.vectors[0]
            self._blocks = _orthogonal.OrthogonalBlocks(int(key), self.size, width)

    def _orthogonal_signs(self, block: Block, doubtful: Array) -> Iterator[tuple[slice, Array]]:
        """Yield ranges of a block's rows, and which of their projections are not negative. Set
        `doubtful` for rows with a sign that float32 may have rounded away."""
        dtype = block.values.dtype
        for part, here in block.parts((self.size + 2 * self._blocks.width) * dtype.itemsize):
            dense = _orthogonal.make_dense(part, self._blocks.width, dtype)
            projections = np.ascontiguousarray(self._blocks.multiply(dense)[:, : self.size])
            _loops.settle_zeros(
                *part, self.vectors[1], projections, self._blocks.width, doubtful[here]
            )
            yield here, projections >= 0

    @property
    def vectors(self) -> tuple[np.uint64, np.uint64, Any, int]:
        """Arguments for the random vectors: their key, the key of the vectors that decide the signs
        of projections of 0, their distribution, and their number."""
        vectors = self.kernel, self.distribution
        key, zeros_key = _seeding.keys(self.seed, "sign_projection", 2, *vectors)
        return key, zeros_key, _VECTORS[vectors], self.size

    def transform(self, work: Work) -> Matrix:
        rows = work.rows
        if not self.dense_output:
            return super().transform(work)
        out = np.empty((rows.n_rows, self.size), rows.dtype)
        one = 1 / np.sqrt(self.size)

        def write_signs(block: Block, out: Array, doubtful: Array) -> None:
            if self.distribution == "orthogonal":
                for here, signs in self._orthogonal_signs(block, doubtful):
                    out[here] = np.where(signs, one, -one)
                return
            key, zeros_key, *vectors = self.vectors
            _loops.project(
                *block, key, *vectors, out, one=one, zeros_key=zeros_key, doubtful=doubtful
            )

        work.each_block(partial(_write_right_signs, write_signs), out)
        return out

    def write(self, block: Block, layout: int, out: Array) -> None:
        def write_codes(block: Block, out: Array, doubtful: Array) -> None:
            if self.distribution == "orthogonal":
                for here, signs in self._orthogonal_signs(block, doubtful):
                    _codes.write(signs.astype(np.int32), 1, layout, out[here])
                return
            _loops.project_to_codes(*block, *self.vectors, layout, out, doubtful)

        _write_right_signs(write_codes, block, out)


def _write_right_signs(
    write: Callable[[Block, Array, Array], None], block: Block, out: Array
) -> None:
    """Write the signs of a block's rows to `out` by `write`, which also marks the rows with a sign
    that float32 may have rounded away. Write these rows once more in float64, and rows with extreme
    values too, all scaled by powers of two, which changes no sign."""
    doubtful = np.zeros(block.n_rows, np.uint8)
    write(block, out, doubtful)
    doubtful[block.extreme_rows()] = 1
    rows = np.flatnonzero(doubtful)
    if len(rows):
        again = block.chosen(rows)
        again = again._replace(values=scaled_by_powers_of_two(again))
        dtype = np.dtype(float) if out.dtype.kind == "f" else out.dtype
        signs = np.empty((len(rows), out.shape[1]), dtype)
        write(again, signs, np.zeros(len(rows), np.uint8))
        out[rows] = signs


@random_map
class SignProjection(SampledMap[Matrix]):
    r"""Signs of random projections of each row: features of the acos and acos-chi-square kernels.

    Each of `n_hashes` bits is 1 if the inner product of the row with a random vector is positive.
    For normal vectors, two rows agree in a bit with probability

    .. math:: \mathrm{acos}(u, v) = 1 - \frac{1}{\pi} \arccos \rho(u, v), \qquad
              \rho = \frac{\langle u, v \rangle}{\|u\| \|v\|}.

    Cauchy vectors are for rows without negative values. Then :math:`\rho_{\chi^2} = \sum_i 2 u_i
    v_i / (u_i + v_i)` of the rows scaled to sum 1 takes the place of :math:`\rho`, to a good
    approximation.

    Parameters
    ----------
    kernel : {"acos", "acos_chi2"}, default="acos"
        Name of the kernel, "acos" for values of both signs, "acos_chi2" for values >= 0, such as
        histograms.
    n_hashes : int, default=256
        Number of bits, [allowed]. The standard error of an estimated kernel value K is
        ``sqrt(K * (1 - K) / n_hashes)``; more bits extend the first ones.
    distribution : {None, "rademacher", "orthogonal"}, default=None
        Distribution of the random vectors, for "acos". None takes the kernel's. "rademacher" are
        random signs, which cost a fraction of normal ones if rows share few columns. It is
        approximate for short rows, see Notes. "orthogonal", for rows of at most 8,192 columns,
        takes blocks of orthogonal vectors [3]_, whose variance is lower (see Notes), at the cost of
        a fast transform of the dense row. A map that is fitted for rows of any width, such as rows
        of files, does not allow it.
    dense_output : bool, default=False
        Return an ndarray of ``-1 / sqrt(n_hashes)`` and ``1 / sqrt(n_hashes)``, whose inner
        products estimate 2 K - 1; otherwise one-hot CSR, whose inner products estimate K.
    [random_state, n_jobs, attributes]

    See Also
    --------
    ConsistentWeightedSampling : The min-max kernel, of rows without negative values.
    RandomFourier : Gaussian and other kernels of the distance.
    sklearn.random_projection.GaussianRandomProjection : The projections, by a stored matrix.

    Notes
    -----
    One-hot output is CSR of shape (n_samples, 2 * n_hashes) with exactly `n_hashes` entries a row:
    in column 2 j if bit j is 0, and in column 2 j + 1 if it is 1. A linear model has classes *
    width coefficients. The bits do not change when a row is multiplied by a positive number, so
    rows need not be scaled to length or sum 1.

    A projection that is 0, as may happen with "rademacher" and "orthogonal" vectors for rows of few
    equal entries, gets the sign of a second projection, on a separate normal vector; if that is 0
    too, the sign of its first term. This is the sign that adding an infinitely small normal vector
    to the first one would give. Therefore x and -x never agree. For a row without entries, all bits
    are 1. With "rademacher", rows with many such projections cost several times as much as others:
    for 100 equal entries, six times if they are whole numbers, and otherwise nine times.

    Random signs are not rotation invariant. Projections of rows with few entries, or with one entry
    much larger than the others, take few values. Two rows of three entries of size 1, two of them
    in common, agree with probability 3/4 in a bit, while acos is .732. The difference is of the
    order of 1 / m for rows of m entries of similar size.

    Bits of one block of d "orthogonal" vectors, d the number of columns rounded up to a power of
    two of at least 128, have a negative covariance. With all d bits, the variance is .60 times the
    variance of independent bits at K = 1/2, and approaches it for equal rows. The formula assumes
    uniform directions, which holds only roughly for rows of one or two entries.
    `sparsemaps.approximation.kernel_error` uses it for a fitted map; `min_components` treats the
    bits as independent, and therefore returns more bits than necessary.

    For "acos_chi2", the formula is an approximation [2]_: bits agree somewhat more often than the
    formula says. The measured difference is 0.01 to 0.02 for rows of 200 entries of gamma
    distribution, and between -0.004 and 0.031 for pairs of rows of one to three entries.

    The random vectors are a function of (seed, column, component) and are not stored. float32 rows
    have the bits of the same numbers in float64: sums are made in float32, and a row is computed
    again in float64 if it has a value of 2^24 or more, or a sum that is 0 to the precision of
    float32. In float64, a sum that is 0 up to rounding may have either sign.
    Cost: O(entries * n_hashes).

    References
    ----------
    .. [1] M. Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002.
    .. [2] P. Li, G. Samorodnitsky, J. Hopcroft, "Sign Cauchy projections and chi-square kernel",
       NIPS 2013.
    .. [3] F. Yu, A. Suresh, K. Choromanski, D. Holtmann-Rice, S. Kumar, "Orthogonal random
       features", NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import SignProjection
    >>> X = np.array([[3.0, 4.0, 0.0], [0.0, 4.0, -3.0]])
    >>> signs = SignProjection(n_hashes=4096, random_state=0).fit(X)
    >>> Z = signs.transform(X)
    >>> Z.shape, Z.nnz
    ((2, 8192), 8192)
    >>> exact = 1 - np.arccos(16 / 25) / np.pi
    >>> bool(abs((Z @ Z.T)[0, 1] - exact) < 0.04)
    True

    From packed bits, with the standard error of the estimate:

    >>> from sparsemaps.codes import hamming
    >>> codes = signs.encode(X)
    >>> codes.shape
    (2, 512)
    >>> K = 1 - hamming(codes, codes)[0, 1] / 4096
    >>> bool(abs(K - exact) < 5 * np.sqrt(exact * (1 - exact) / 4096))
    True
    """

    _about = About(
        command="signs",
        help="acos or acos-chi-square kernel, by signs of random projections",
    )
    law_class = SignsLaw
    draw_class = SignsDraw

    kernel: Literal["acos", "acos_chi2"] = Choice("acos", "acos_chi2").default("acos")
    n_hashes: int = Size(1, LARGEST_N_HASHES).default(256)
    distribution: Literal["rademacher", "orthogonal"] | None = Choice(
        "rademacher", "orthogonal", none=True
    ).default(None)
    dense_output: bool = Bool(is_option=False).default(False)
    random_state: RandomState = None
    n_jobs: int | None = None

    def _check_together(self) -> None:
        if self.distribution is not None and self.kernel != "acos":
            raise ValueError(
                f"{setting('distribution', self.distribution)} is for "
                f"{setting('kernel', 'acos')} only"
            )

    def _law_facts(self) -> dict[str, Any]:
        if self.distribution != "orthogonal" or self.n_columns is None:
            return {}
        width = _orthogonal.padded_width("distribution", "orthogonal", self.n_columns)
        return {"width": width}
