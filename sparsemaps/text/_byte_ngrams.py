"""Counts of byte n-grams at exact columns."""

import operator
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from sparsemaps._input import _sparse
from sparsemaps._loops import text as _text
from sparsemaps._tools import _checks, _sklearn
from sparsemaps._tools._typing import CsrMatrix
from sparsemaps.text import _inputs
from sparsemaps.text._csr import make_rows

LONGEST = 7
"""Largest number of bytes of an n-gram, since a column is a 64-bit integer."""

_DTYPES = ("float64", "float32", "int64", "int32")


class ByteNgrams(_sklearn.TransformerMixin, _sklearn.BaseEstimator, auto_wrap_output_keys=None):
    """Counts of byte n-grams, one column for each possible n-gram, without a hash.

    The column of an n-gram is its n bytes as a big-endian number. The columns of shorter sizes in
    the range come first. Therefore equal n-grams have equal columns, different n-grams have
    different columns, and the n-gram can be recovered from the column. The columns do not depend on
    a language, and every text is allowed.

    Parameters
    ----------
    ngram_range : (int, int), default=(3, 3)
        Least and greatest number of bytes, from 1 to 7. The output has ``256**n`` columns for each
        size n. Sizes 1 to 3 are usual; a greater one gives int64 indices.
    binary : bool, default=False
        Whether to set the value of each n-gram that occurs to 1 instead of its count. `MinHash`
        compares sets of n-grams.
    lowercase : bool, default=False
        Whether to lower ASCII letters first. Other letters stay unchanged.
    dtype : {float64, float32, int64, int32}, default=float64
        Type of the counts.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 all processors.

    Notes
    -----
    A str is encoded as UTF-8 and has the same row as these bytes. Nothing is fitted: ``transform``
    can be called alone, and never depends on other texts.

    References
    ----------
    The "webspam (trigram)" data set of the LIBSVM site contains such counts of three bytes.

    Examples
    --------
    >>> from sparsemaps.text import ByteNgrams
    >>> X = ByteNgrams().fit_transform(["abcabc", b"bca"])
    >>> X.shape
    (2, 16777216)
    >>> [int(column).to_bytes(3, "big") for column in X.indices], X.data.tolist()
    ([b'abc', b'bca', b'cab', b'bca'], [2.0, 1.0, 1.0, 1.0])
    """

    def __init__(
        self,
        *,
        ngram_range: tuple[int, int] = (3, 3),
        binary: bool = False,
        lowercase: bool = False,
        dtype: npt.DTypeLike = np.float64,
        n_jobs: int | None = None,
    ) -> None:
        self.ngram_range = ngram_range
        self.binary = binary
        self.lowercase = lowercase
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[Any], y: object = None) -> Self:
        """Check the parameters. Texts are not read.

        Parameters
        ----------
        X : iterable of str or bytes
        y : ignored

        Returns
        -------
        self : ByteNgrams

        Raises
        ------
        ValueError
            If a parameter is not allowed, or if `X` is a single text.
        """
        self._check(X)
        return self

    if TYPE_CHECKING:

        def fit_transform(self, X: Iterable[Any], y: object = None) -> CsrMatrix: ...

    def transform(self, X: Iterable[Any]) -> CsrMatrix:
        """Count the n-grams of each text.

        Parameters
        ----------
        X : iterable of str or bytes
            A list, a generator, a NumPy array, a pandas or polars series, or an array of strings
            that has Arrow's ``__arrow_c_stream__`` or ``__arrow_c_array__``.

        Returns
        -------
        Z : CSR matrix of shape (n_texts, n_features_out)
            Columns ascend in each row. A ``csr_array`` if scikit-learn's ``sparse_interface``
            is "sparray".

        Raises
        ------
        ValueError
            If a text is neither str nor bytes, or cannot be encoded; the message has its number,
            from 0. Also in the cases of `fit`.
        """
        self._check(X)
        blocks, n_texts = _inputs.blocks(X), operator.length_hint(X)
        width, dtype = self.n_features_out, np.dtype(self.dtype)
        return make_rows(self._compiled(), blocks, n_texts, width, dtype, self.n_jobs)

    def _compiled(self) -> Any:
        """Return the compiled loops."""
        self._check(())
        return _text.ByteCounter(
            ngram_range=self._sizes(),
            binary=self.binary,
            lowercase=self.lowercase,
            dtype=np.float32 if np.dtype(self.dtype) == np.float32 else np.float64,
            index_type=_sparse.index_type(self.n_features_out),
        )

    @property
    def n_features_out(self) -> int:
        """Number of columns of the output."""
        low, high = self._sizes()
        return int(sum(256**n for n in range(low, high + 1)))

    def _sizes(self) -> tuple[int, int]:
        try:
            low, high = map(operator.index, self.ngram_range)
        except (TypeError, ValueError):
            low = high = 0
        if not 1 <= low <= high <= LONGEST:
            raise ValueError(
                f"ngram_range must be two integers (low, high) with 1 <= low <= high <= {LONGEST}, "
                f"got {self.ngram_range!r}"
            )
        return low, high

    def _check(self, X: object) -> None:
        """Raise ValueError for invalid parameters, or if `X` is a single text."""
        _checks.check_bool("binary", self.binary)
        _checks.check_bool("lowercase", self.lowercase)
        try:
            known = np.dtype(self.dtype).name in _DTYPES and np.dtype(self.dtype).isnative
        except TypeError:
            known = False
        if not known:
            raise ValueError(f"dtype must be {' or '.join(_DTYPES)}, got {self.dtype!r}")
        if isinstance(X, (str, bytes)):
            raise ValueError(f"X must be an iterable of texts, got a single {type(X).__name__}")
        self._sizes()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
