"""Random projections: inner products by random vectors, and sums of differences by Cauchy ones."""

from operator import attrgetter
from typing import Literal

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _blocks, _seeding
from sparsemaps._tools._allowed import LARGEST_INT32, About, Choice, Size
from sparsemaps._tools._parameters import setting
from sparsemaps._tools._typing import Array, MatrixLike, RandomState
from sparsemaps.laws._inner_products import ProjectionLaw
from sparsemaps.maps._draw import Draw, Work
from sparsemaps.maps._sparse_map import SparseMap, random_map

_DISTRIBUTIONS = {
    "gaussian": _loops.NORMAL,
    "rademacher": _loops.RADEMACHER,
    "cauchy": _loops.CAUCHY,
}
"""The distribution of the random vectors."""


class ProjectionDraw(Draw):
    """The random vectors."""

    def transform(self, work: Work) -> Array:
        rows = work.rows
        key = _seeding.keys(self.seed, "random_projection", 1, self.distribution)[0]
        vectors = key, _DISTRIBUTIONS[self.distribution], self.n_components
        scale = 1 if self.distribution == "cauchy" else 1 / np.sqrt(self.n_components)
        factor = rows.dtype.type(scale)
        out = np.empty((rows.n_rows, self.n_components), rows.dtype)

        def write(block: Block, out: Array) -> None:
            _loops.project(*block, *vectors, out)
            out *= factor

        work.fill(write, out, attrgetter("is_extreme"))
        return out


@random_map
class RandomProjection(SparseMap[Array]):
    r"""Random projections of each row: inner products stay the same on average.

    Component j is :math:`z_j(x) = \langle w_j, x \rangle / \sqrt D`, with D `n_components` and
    vectors :math:`w_j` of independent entries. For normal entries :math:`E \langle z(x), z(y)
    \rangle = \langle x, y \rangle`, with variance

    .. math:: \frac{1}{D} \big( \|x\|^2 \|y\|^2 + \langle x, y \rangle^2 \big).

    For random signs, the variance is smaller by :math:`\frac2D \sum_i x_i^2 y_i^2`. Cauchy vectors
    are for sums of absolute differences. Then :math:`z_j(x) = \langle w_j, x \rangle`, and the
    median of :math:`|z_j(x) - z_j(y)|` is :math:`\|x - y\|_1`.

    Parameters
    ----------
    n_components : int, default=1024
        Width of the output, [allowed]. The error of an inner product of unit rows is about
        ``sqrt(2 / n_components)`` at most; more components extend the first ones, up to the factor.
    distribution : {"gaussian", "rademacher", "cauchy"}, default="gaussian"
        Distribution of the random vectors' entries. "gaussian" components are normal, whatever the
        row. "rademacher" takes random signs, at a fraction of the cost if rows share few
        columns.
        "cauchy" is for `approximate_l1`; its inner products have no mean.
    [random_state, n_jobs, attributes]

    See Also
    --------
    CountSketch : Inner products too, with the same variance, at the cost of one addition per entry.
    SignProjection : The signs of the projections, as bits.
    sklearn.random_projection.GaussianRandomProjection : The same projections, by a stored matrix.
    sklearn.random_projection.SparseRandomProjection : By a stored matrix of few entries.

    Notes
    -----
    The random vectors are a function of (seed, column, component) and are not stored, so any number
    of columns up to 2**62 is possible. Cost: O(entries * n_components). `CountSketch` costs less
    and has the same variance; use projections if each component must be a mean over the whole row:
    in `KernelProduct`, for quantization, or for Cauchy vectors.

    References
    ----------
    .. [1] D. Achlioptas, "Database-friendly random projections", PODS 2001.
    .. [2] P. Indyk, "Stable distributions, pseudorandom generators, embeddings and data stream
       computation", Journal of the ACM 53, 2006.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sparsemaps import RandomProjection
    >>> X = sp.csr_array(([0.6, 0.8, 1.0], ([0, 0, 1], [7, 2**40, 7])), shape=(2, 2**40 + 1))
    >>> Z = RandomProjection(n_components=4096, random_state=0).fit_transform(X)
    >>> Z.shape
    (2, 4096)
    >>> bool(abs(Z[0] @ Z[1] - 0.6) < 0.1)
    True

    Sums of absolute differences, here 0.4 + 0.8:

    >>> cauchy = RandomProjection(n_components=4096, distribution="cauchy", random_state=0)
    >>> Z = cauchy.fit_transform(X)
    >>> bool(abs(cauchy.approximate_l1(Z)[0, 1] - 1.2) < 0.15)
    True
    """

    _about = About(
        command="projection",
        help="linear kernel, by random vectors; cauchy: sums of differences",
    )
    law_class = ProjectionLaw
    draw_class = ProjectionDraw

    n_components: int = Size(1, LARGEST_INT32).default(1024)
    distribution: Literal["gaussian", "rademacher", "cauchy"] = Choice(
        "gaussian", "rademacher", "cauchy"
    ).default("gaussian")
    random_state: RandomState = None
    n_jobs: int | None = None

    def approximate_l1(self, Z: MatrixLike, W: MatrixLike | None = None) -> Array:
        """Estimate the sums of absolute differences between rows from their Cauchy projections.

        Parameters
        ----------
        Z : array-like of shape (n_Z, n_components)
            Output of ``transform`` with ``distribution="cauchy"``.
        W : array-like of shape (n_W, n_components) or None, default=None
            Output of ``transform`` for other rows; None means `Z`.

        Returns
        -------
        distances : ndarray of shape (n_Z, n_W)
            Medians of the absolute differences of components, in the type of `Z`. The standard
            error of a distance d is about ``pi / 2 * d / sqrt(n_components)``.

        Raises
        ------
        ValueError
            If the distribution is not "cauchy", or the width of `Z` or `W` is not `n_components`.
        """
        draw = self.draw
        if draw.distribution != "cauchy":
            raise ValueError(
                f"approximate_l1 is for {setting('distribution', 'cauchy')}, got "
                f"{setting('distribution', draw.distribution)}"
            )
        first = _projections("Z", Z, draw.size)
        second = first if W is None else _projections("W", W, draw.size)
        out = np.empty((len(first), len(second)), np.result_type(first, second))
        row_bytes = draw.n_components * out.itemsize
        for row, projections in enumerate(first):
            for start, stop in _blocks.cut_by_bytes(len(second), row_bytes):
                differences = np.abs(second[start:stop] - projections)
                out[row, start:stop] = np.median(differences, axis=1, overwrite_input=True)
        return out


def _projections(name: str, Z: MatrixLike, n: int) -> Array:
    array = np.asarray(Z)
    if array.dtype.kind != "f" or array.ndim != 2 or array.shape[1] != n:
        raise ValueError(
            f"{name} must be an array of floats of shape (n, {n}), as "
            f"transform returns it, got {array.dtype} of shape {array.shape}"
        )
    return array
