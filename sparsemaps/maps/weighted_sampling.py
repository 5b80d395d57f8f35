"""Consistent weighted sampling: the min-max kernel as collisions of samples."""

from typing import Any, Literal

import numpy as np

from sparsemaps._input._row_reader import Block
from sparsemaps._loops import maps as _loops
from sparsemaps._tools import _seeding
from sparsemaps._tools._allowed import LARGEST_N_HASHES, About, Bool, Choice, Int, Real, Size
from sparsemaps._tools._parameters import ParameterError, named, offered, setting
from sparsemaps._tools._typing import Array, CsrMatrix, MatrixLike, RandomState
from sparsemaps.laws._sampled import MinMaxLaw
from sparsemaps.maps._draw import CodesDraw
from sparsemaps.maps._sampled_map import SampledMap
from sparsemaps.maps._sparse_map import random_map

_LARGEST_LOGARITHM = 2000
"""The largest absolute logarithm of a value to the power: t* of "icws" are then below 2**31."""


class WeightedSamplingDraw(CodesDraw):
    """The random numbers of columns, and the power of their weights."""

    def prepare(self) -> None:
        # The keys of the samples and of their codes.
        self.keys = _seeding.keys(self.seed, "weighted_sampling", 2, self.method)

    def checked(self, block: Block) -> Block:
        """Return the block. Raise if powers of its values exceed the samplers' range."""
        if self.power > 2:  # the logarithms of all float64 are below 750
            values = block.values[block.indptr[0] : block.indptr[-1]].astype(float)
            beyond = abs(np.log(abs(values))) > _LARGEST_LOGARITHM / float(self.power)
            if beyond.any():
                entry = int(block.indptr[0]) + int(np.argmax(beyond))
                row = int(np.searchsorted(block.indptr, entry, side="right")) - 1
                raise block.error(
                    row,
                    f"to the power of {self.power} it is beyond e^2000 or below e^-2000: "
                    f"{named('power')} must be smaller",
                    entry,
                )
        return block

    def write(self, block: Block, layout: int, out: Array) -> None:
        codes = self.size, self.bits, self.t_bits, layout, out
        self._sample(_loops.sample_codes, block, self.keys, codes)

    def write_samples(self, block: Block, columns: Array, t: Array) -> None:
        """Write the full samples of a block's rows."""
        self._sample(_loops.whole_samples, block, self.keys[:1], (columns, t))

    def _sample(self, loop: Any, block: Block, keys: Any, out: tuple[Any, ...]) -> None:
        weights = self.signed, float(self.power), float(self.resolution)
        row = loop(self.method == "levels", *self.checked(block), *keys, *weights, *out)
        if row >= 0:
            resolution = offered("resolution", self.resolution) or "this resolution"
            raise block.error(
                row,
                f"with {resolution} the entry has 2^31 levels or more, or the row more than 2^34: "
                f"{named('resolution')} must be smaller",
            )


@random_map
class ConsistentWeightedSampling(SampledMap[CsrMatrix]):
    r"""Consistent weighted sampling of each row: one-hot features of the min-max kernel.

    Each of `n_hashes` samples picks one entry of a row: the column :math:`i^*`, and a number
    :math:`t^*` that stands for its weight. Two rows agree in a sample with probability

    .. math:: \mathrm{MM}(u, v) = \frac{\sum_i \min(u_i, v_i)}{\sum_i \max(u_i, v_i)}.

    For each sample, b bits of a hash of :math:`i^*` choose one of :math:`2^b` columns. That column
    gets a 1. So a row of the output has `n_hashes` non-zeros, and a linear learner on the output
    works with the min-max kernel. For binary rows the kernel is the Jaccard similarity, and the
    samples are minhashes.

    Parameters
    ----------
    n_hashes : int, default=256
        Number of samples, [allowed]. The standard error of the estimated kernel is
        ``sqrt(MM * (1 - MM) / n_hashes)``. With "icws", more samples extend the first ones.
    bits : int, default=8
        Number of bits kept of a hash of i*, [allowed] ("b-bit"). Different columns agree in them
        with probability ``2**-bits``, whatever the columns and the width of the rows.
    t_bits : int, default=0
        Number of bits of a hash of (i*, t*) above those, [allowed]. Without such bits
        ("0-bit"), the output is narrow, and estimates are a little too high if rows have many
        entries (see Notes). Use a few bits if rows have few columns, and for `signed` data.
        Must be 0 with "levels", whose `bits` come from a hash of (i*, t*).
    method : {"icws", "levels"}, default="icws"
        The sampling method. Use "levels" for counts and for long rows. It rounds values to
        whole levels (see `resolution`), and samples pairs of a column and a level [4]_ [5]_, at a
        cost of O(entries + n_hashes log n_hashes). It is exact for counts. "icws" is improved
        consistent weighted sampling [1]_, exact for all values, at a cost of O(entries * n_hashes);
        rows that have columns in common share much of it. The two methods draw different samples.
    resolution : float, default=1.0
        Number of levels of the value 1 with "levels", [allowed]. Whole numbers of levels are
        exact: leave it at 1 for counts. A fraction of a level becomes one with that probability,
        in the same way for all rows. Must be 1 with "icws".
    signed : bool, default=False
        Allow values of both signs, for the generalized min-max kernel [3]_: column i becomes column
        2 i for its positive values, and column 2 i + 1 for its negative ones.
    power : float, default=1.0
        Power p that absolute values are raised to first, [allowed]. The kernel is then
        :math:`\sum_i \min(u_i, v_i)^p / \sum_i \max(u_i, v_i)^p` [3]_. Below 1 it weighs large and
        small values more alike: try 0.25 and 0.5 on counts and frequencies; with "levels", raise
        `resolution` too, as the powers are rounded. Only the logarithm of
        a value is multiplied by p, so that the powers may be beyond float64: from e**-2000 to
        e**2000. The power of ``exact_kernel`` must bring all values, divided by one number, into
        the range of float64.
    [random_state, n_jobs, attributes]

    See Also
    --------
    CountSketch : The linear kernel.

    Notes
    -----
    Output is CSR of shape (n_samples, n_hashes * 2**(bits + t_bits)) with exactly `n_hashes`
    entries a row, each ``1 / sqrt(n_hashes)``, so that inner products estimate the kernel; sample j
    has the columns from ``j * 2**(bits + t_bits)``, with the bits for (i*, t*) above those for i*.
    A linear model has classes * width coefficients. A row without positive entries has no sample,
    and no entries in the output.

    Samples (i*, t*) of two rows agree with a probability of exactly MM; with "levels", MM of the
    rounded rows. Codes agree more often, for two reasons.

    - Different samples agree by chance in ``2**-(bits + t_bits)`` of all cases. The output's inner
      product includes this; ``sparsemaps.codes.kernel_from_collisions`` subtracts it.
    - By "icws", two rows may have the same i* with different t*, in some percent of the samples,
      more if rows have few or heavy entries. Codes without `t_bits` agree there, and the
      estimate is too high by that share, however many samples there are: by .0055 on average
      (standard error .0003) over pairs of scikit-learn's digits, by up to .02 for single pairs.
      With `t_bits`, only ``2**-t_bits`` of them agree: ``t_bits=4`` leaves .0003.

    By "levels", a value x is n = ``resolution * x`` whole levels, and a row is the set of its pairs
    (column, level) with levels below n. The samples come from fast similarity sketching, as in
    `MinHash`: their mean has at most the error of independent samples, and with another
    `n_hashes` all of them change. Of a fraction f of a level, a hash of the column and the level
    makes a whole one with probability f, for all rows alike. So levels are right on average, and
    all samples of two rows share the error of rounding: its variance is at most V / U^2, to first
    order, where U is the sum of the larger levels and V the sum of f (1 - f) over the fractions of
    both rows. Its bias is smaller than that. ``min_components`` and ``kernel_error`` count it; a
    standard error of .1 to .2 times the error of 512 samples takes 60 levels an entry in rows of 20
    entries, 16 in rows of 100, and 4 in rows of 2,000. Values above 0 may have no level; a row in
    which none has one has no sample. An entry has fewer than 2^31 levels, and a row at most 2^34.
    More levels cost little: most levels of a heavy entry cannot win, and are skipped.

    By "icws", the weight of an entry enters through the logarithm, in 24 bits: float32 and float64
    input of the same values give the same samples, and so do weights closer than a relative 1e-7 or
    so. Scaling all rows by one factor keeps their kernel, but draws other samples.

    Which method costs less, as measured (``asv_bench``, ``LevelsAgainstOthers``; 512 samples):
    for counts "levels", 2.3 times less than "icws" if rows have 85 entries in 254 columns that
    all share, 8 times if they have 73 in 47,000, and 220 times at 3,300 entries of their own.
    For real values "levels" too, if they may be rounded to a tenth of the error of the samples:
    from 20 entries a row on if rows have columns of their own, and from 200 if all share them
    (64 samples: from 60 and 700). "icws" costs less for shorter rows, and rounds none.

    References
    ----------
    .. [1] S. Ioffe, "Improved consistent sampling, weighted minhash and L1 sketching", ICDM 2010.
    .. [2] P. Li, "0-bit consistent weighted sampling", KDD 2015.
    .. [3] P. Li, "Linearized GMM kernels and normalized random Fourier features", KDD 2017; with
       powers in "Tunable GMM kernels", 2017.
    .. [4] T. Haveliwala, A. Gionis, P. Indyk, "Scalable techniques for clustering the web", WebDB
       2000.
    .. [5] S. Dahlgaard, M. Knudsen, M. Thorup, "Fast similarity sketching", FOCS 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> X = np.array([[4.0, 1.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
    >>> cws = ConsistentWeightedSampling(n_hashes=4096, bits=2, t_bits=6, random_state=0)
    >>> Z = cws.fit_transform(X)
    >>> Z.shape, Z.nnz
    ((2, 1048576), 8192)
    >>> exact = np.minimum(X[0], X[1]).sum() / np.maximum(X[0], X[1]).sum()
    >>> bool(abs((Z @ Z.T)[0, 1] - exact) < 0.03)
    True
    """

    _about = About(
        command="minmax",
        help="min-max kernel, by consistent weighted sampling; values >= 0, or --signed",
    )
    law_class = MinMaxLaw
    draw_class = WeightedSamplingDraw

    n_hashes: int = Size(1, LARGEST_N_HASHES).default(256)
    bits: int = Int(1, 16).default(8)
    t_bits: int = Int(0, 8).default(0)
    method: Literal["icws", "levels"] = Choice("icws", "levels").default("icws")
    resolution: float = Real(above=0).default(1.0)
    signed: bool = Bool().default(False)
    power: float = Real(above=0).default(1.0)
    random_state: RandomState = None
    n_jobs: int | None = None

    def sample(self, X: MatrixLike) -> tuple[Array, Array]:
        """Draw the whole samples of each row of `X`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in ``transform``.

        Returns
        -------
        i : ndarray of int64, shape (n_samples, n_hashes)
            The columns i*; if `signed`, 2 i or 2 i + 1. -1 in a row without positive entries.
        t : ndarray of int64, shape (n_samples, n_hashes)
            The numbers t*, of either sign. Of "levels", the levels, from 0. -1 in a row without
            positive entries, or without levels.

        Raises
        ------
        ValueError
            As in ``transform``; and if `signed` and there are more than 2**62 columns.
        """
        draw: Any = self.draw
        work = self._work(X)
        rows = work.rows
        if draw.signed and rows.n_columns > 2**62:
            raise ValueError(
                f"signed samples double the columns: at most 2**62 of them, got {rows.n_columns}"
            )
        columns = np.empty((rows.n_rows, draw.size), np.int64)
        t = np.empty((rows.n_rows, draw.size), np.int64)
        work.each_block(draw.write_samples, columns, t)
        return columns, t

    def _check_together(self) -> None:
        if self.method == "levels":
            if self.t_bits:
                levels = setting("method", "levels")
                rule = f"0 with {levels}, whose codes have bits of a hash of (i*, t*)"
                raise ParameterError("t_bits", str(self.t_bits), rule)
        elif self.resolution != 1:
            given, levels = setting("resolution", self.resolution), setting("method", "levels")
            raise ValueError(f"{given} is for {levels} only")

    def _law_facts(self) -> dict[str, Any]:
        return {"bits": self.bits + self.t_bits}
