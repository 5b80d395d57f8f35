"""Count sketch: the linear kernel, in a chosen number of columns."""

from operator import attrgetter

import numpy as np

from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _seeding
from sparsemaps._tools._allowed import LARGEST_INT32, About, Bool, Size
from sparsemaps._tools._typing import Matrix, RandomState
from sparsemaps.laws._inner_products import CountSketchLaw
from sparsemaps.maps._csr_output import make_csr
from sparsemaps.maps._draw import Draw, Work
from sparsemaps.maps._sparse_map import SparseMap, random_map


class CountSketchDraw(Draw):
    """The hashes of columns."""

    def transform(self, work: Work) -> Matrix:
        rows = work.rows
        key = _seeding.keys(self.seed, "count_sketch", 3)
        if not self.dense_output:
            return make_csr(
                work,
                lambda lengths: np.minimum(lengths, self.n_components),
                lambda block, *out: _loops.count_sketch_csr(
                    *block, key, self.n_components, rows.n_columns, *out
                ),
                self.n_components,
                attrgetter("is_extreme"),
            )
        sketches = np.zeros((rows.n_rows, self.n_components), rows.dtype)
        work.fill(
            lambda block, out: _loops.count_sketch_dense(*block, key, out),
            sketches,
            attrgetter("is_extreme"),
        )
        return sketches


@random_map
class CountSketch(SparseMap[Matrix]):
    r"""Count sketch of each row: inner products stay the same on average.

    A hash maps column :math:`i` to one of `n_components` buckets :math:`h(i)` and to a sign
    :math:`s(i)`. The sketch is :math:`(Cx)_j = \sum_{i: h(i) = j} s(i) x_i`. Then :math:`E \langle
    Cx, Cy \rangle = \langle x, y \rangle`, with variance

    .. math:: \frac{1}{D} \Big( \sum_{i \ne j} x_i^2 y_j^2 + \sum_{i \ne j} x_i y_i x_j y_j \Big)
              \le \frac{1}{D} \big( \langle x, y \rangle^2 + \|x\|^2 \|y\|^2 \big),

    where :math:`D` is `n_components`.

    Parameters
    ----------
    n_components : int, default=1024
        Width of the output, [allowed]; it need not be a power of two. The error of an inner
        product of unit rows is about ``sqrt(2 / n_components)`` at most.
    dense_output : bool, default=False
        Return an ndarray. By default the output is CSR, which is never denser than the input and
        has no zeros; choose dense output if `n_components` is close to the number of entries per
        row.
    [random_state, n_jobs, attributes]

    See Also
    --------
    ConsistentWeightedSampling : The min-max kernel, as one-hot samples.
    sklearn.feature_extraction.FeatureHasher : The same sketch, of dictionaries and strings.
    sklearn.random_projection.SparseRandomProjection : Stores its projection, of the size of the
        input's columns.

    Notes
    -----
    Bucket and sign come from a single strongly universal hash of the column. Nothing is stored, so
    any number of columns is possible. Cost: O(entries).

    References
    ----------
    .. [1] M. Charikar, K. Chen, M. Farach-Colton, "Finding frequent items in data streams", ICALP
       2002.
    .. [2] N. Pham, R. Pagh, "Fast and scalable polynomial kernels via explicit feature maps", KDD
       2013, section 3.1.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from sparsemaps import CountSketch
    >>> X = sp.csr_array(([3.0, 4.0, 5.0], ([0, 0, 1], [7, 2**40, 7])), shape=(2, 2**40 + 1))
    >>> Z = CountSketch(n_components=16, random_state=0).fit_transform(X)
    >>> Z.shape
    (2, 16)
    >>> abs(Z).toarray().max(axis=1).tolist()
    [4.0, 5.0]
    """

    _about = About(
        command="count-sketch",
        help="linear kernel, by a sketch of fewer columns",
    )
    law_class = CountSketchLaw
    draw_class = CountSketchDraw

    n_components: int = Size(1, LARGEST_INT32).default(1024)
    dense_output: bool = Bool(is_option=False).default(False)
    random_state: RandomState = None
    n_jobs: int | None = None
