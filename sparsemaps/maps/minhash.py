"""MinHash: the Jaccard similarity of sets as collisions of samples."""

from typing import Any

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _seeding
from sparsemaps._tools._allowed import LARGEST_N_HASHES, About, Int, Size
from sparsemaps._tools._typing import Array, CsrMatrix, MatrixLike, RandomState
from sparsemaps.laws._sampled import JaccardLaw
from sparsemaps.maps._draw import CodesDraw
from sparsemaps.maps._sampled_map import SampledMap
from sparsemaps.maps._sparse_map import random_map


class MinHashDraw(CodesDraw):
    """The hashes of set members."""

    def prepare(self) -> None:
        self.keys = _seeding.keys(self.seed, "minhash", 2)

    def write(self, block: Block, layout: int, out: Array) -> None:
        _loops.minhash_codes(
            block.indices, block.indptr, *self.keys, self.size, self.bits, layout, out
        )


@random_map
class MinHash(SampledMap[CsrMatrix]):
    r"""MinHash of each row's set of columns: one-hot features of the Jaccard similarity.

    A row represents the set of its nonzero columns. Each of `n_hashes` samples picks one member of
    the set. The sets of two rows agree in a sample with probability

    .. math:: J(A, B) = \frac{|A \cap B|}{|A \cup B|}.

    For each sample, `bits` bits of a hash of the member choose one of :math:`2^b` columns. That
    column gets a 1. A row of the output thus has `n_hashes` nonzeros, and a linear model on the
    output has the Jaccard similarity as its kernel. Packed codes (``encode``) are used to find
    near-duplicates.

    Parameters
    ----------
    n_hashes : int, default=256
        Number of samples, [allowed]. The standard error of the estimated similarity is at most
        ``sqrt(J * (1 - J) / n_hashes)``. With another `n_hashes`, all samples change; increasing it
        does not extend the existing samples.
    bits : int, default=8
        Number of bits kept of a sample's hash, [allowed] ("b-bit"). Samples that differ agree in
        them with probability ``2**-bits``, so that the output's inner product is
        ``J + (1 - J) / 2**bits`` on average; ``sparsemaps.codes.kernel_from_collisions`` corrects
        this, and gives the standard error.
    [random_state, n_jobs, attributes]

    See Also
    --------
    ConsistentWeightedSampling : The same for weighted rows, with the min-max kernel.
    sparsemaps.codes : Comparing packed codes.

    Notes
    -----
    Use it for rows that represent sets, or whose values do not matter, such as the words or n-grams
    of a text. If the values matter, use `ConsistentWeightedSampling`, which has the same kernel for
    binary rows and costs more. A column with a value of either sign is a member; a stored zero is
    not. Scaling the rows changes nothing.

    Output is CSR of shape (n_samples, n_hashes * 2**bits) with exactly `n_hashes` entries a row,
    each ``1 / sqrt(n_hashes)``; sample j has the columns from ``j * 2**bits``. A linear model has
    classes * width coefficients. A row without members has no samples, and no entries in the
    output.

    The samples come from fast similarity sketching [3]_: in each round, every member goes to a
    random bin, and a bin that was empty before the round keeps the member with the least random
    value; the rounds end when no bin is empty. Sample j is the member of bin j. Each sample has the
    distribution of a minhash [1]_, and their mean has at most the error of independent minhashes.
    The cost is O(entries + n_hashes log n_hashes) a row instead of O(entries * n_hashes). Each
    sample has its own hash for its bits, so that agreements by chance [2]_ are independent too.

    References
    ----------
    .. [1] A. Broder, "On the resemblance and containment of documents", SEQUENCES 1997.
    .. [2] P. Li, C. Koenig, "b-bit minwise hashing", WWW 2010.
    .. [3] S. Dahlgaard, M. Knudsen, M. Thorup, "Fast similarity sketching", FOCS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import MinHash, codes
    >>> X = np.array([[1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 0]])
    >>> minhash = MinHash(n_hashes=4096, bits=4, random_state=0).fit(X)
    >>> A = minhash.encode(X)
    >>> A.shape
    (2, 2048)
    >>> estimate = codes.kernel_from_collisions(codes.collisions(A, A, 4), 4096, 4)[0, 1]
    >>> bool(abs(estimate - 3 / 5) < 0.04)
    True
    """

    _about = About(
        command="minhash",
        help="Jaccard kernel of the sets of non-zero columns, by minhash",
    )
    law_class = JaccardLaw
    draw_class = MinHashDraw

    n_hashes: int = Size(1, LARGEST_N_HASHES).default(256)
    bits: int = Int(1, 16).default(8)
    random_state: RandomState = None
    n_jobs: int | None = None

    def sample(self, X: MatrixLike) -> Array:
        """Return the full samples of each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in ``transform``.

        Returns
        -------
        members : ndarray of int64, shape (n_samples, n_hashes)
            Columns of the row's members; -1 in a row without members.

        Raises
        ------
        ValueError
            As in ``transform``.
        """
        draw: Any = self.draw
        work = self._work(X)
        key = draw.keys[0]
        out = np.empty((work.rows.n_rows, draw.size), np.int64)
        work.each_block(
            lambda block, out: _loops.minhash_samples(block.indices, block.indptr, key, out), out
        )
        return out
