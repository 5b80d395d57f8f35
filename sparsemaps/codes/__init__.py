"""Packed codes of sampled maps: comparing, unpacking, one-hot features.

`encode` of a sampled map returns packed codes. A row of codes is a bit string, lowest bit first:
`n_hashes` codes of `bits` bits each, then zeros up to the next byte. A row without samples is all
zeros, and the functions here compare it as if its codes were 0. `PackedCodes` marks such rows, and
results of `sparsemaps.neighbors` never include them.

- This file has the public functions on packed codes.
- ``_packed`` has `PackedCodes`, and `as_packed`, with which every public function reads codes.
- ``_code_checks`` checks arrays and sizes, and whether codes come from the same map.
- ``_file`` reads and writes files of codes.

``laws`` has the kernel estimates. ``maps`` makes codes; ``neighbors``, ``linear``, ``files`` and
``cli`` use them.

The three nearest neighbours of each digit by the share of agreeing codes; the first is the digit
itself:

>>> import numpy as np
>>> from sklearn.datasets import load_digits
>>> from sparsemaps import ConsistentWeightedSampling, codes
>>> X, y = load_digits(return_X_y=True)
>>> A = ConsistentWeightedSampling(n_hashes=256, bits=8, random_state=0).fit(X).encode(X)
>>> counts = codes.collisions(A, A, 8)
>>> nearest = np.argsort(-counts, axis=1, kind="stable")[:, :3]
>>> bool((nearest[:, 0] == np.arange(len(y))).all())
True
>>> bool((y[nearest[:, 1]] == y).mean() > 0.95)
True
"""

from typing import Any, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._loops import codes as _loops
from sparsemaps._tools import _blocks, _checks, _threads
from sparsemaps._tools._allowed import LARGEST_BITS
from sparsemaps._tools._typing import Array, Counts, CsrMatrix, Floats
from sparsemaps.codes import _packed
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.laws._agreement import ByChance, ByProduct, BySigns, ProductCounts
from sparsemaps.libsvm import _write

__all__ = [
    "ByChance",
    "ByProduct",
    "BySigns",
    "PackedCodes",
    "ProductCounts",
    "agreements",
    "collisions",
    "dump_svmlight_file",
    "hamming",
    "kernel_from_collisions",
    "to_csr",
    "unpack",
]

Codes: TypeAlias = PackedCodes | Array

_BLOCK_QUERIES = 256
"""Rows that one call of the compiled loops compares with all others."""

_BLOCK_CODES = 2**16
"""Codes that are formatted and written together: 0.5 to 3 MB of text."""


def hamming(A: Codes, B: Codes, *, n_jobs: int | None = None) -> Counts:
    """Count the differing bits for all pairs of rows.

    Parameters
    ----------
    A : PackedCodes or ndarray of uint8, shape (n_A, n_bytes)
        Packed codes.
    B : PackedCodes or ndarray of uint8, shape (n_B, n_bytes)
        Packed codes from the same map.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors.

    Returns
    -------
    counts : ndarray of int32, shape (n_A, n_B)
        For `SignProjection`, ``1 - counts / n_hashes`` estimates the acos kernel K with standard
        error ``sqrt(K * (1 - K) / n_hashes)``.

    Raises
    ------
    ValueError
        If `A` and `B` are not two-dimensional arrays of uint8 with rows of equal length, or are
        `PackedCodes` from different maps.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import codes
    >>> A = np.array([[0b0011, 0], [0b1111, 1]], dtype=np.uint8)
    >>> codes.hamming(A, A)
    array([[0, 3],
           [3, 0]], dtype=int32)
    """
    packed = any(isinstance(codes, PackedCodes) for codes in (A, B))
    A, B = _packed.as_packed_pair(("A", "B"), A, B, None if packed else 1, None)
    return _count(A.array, B.array, 1, A.bits * A.n_hashes, False, n_jobs)


def collisions(
    A: Codes,
    B: Codes,
    bits: int | None = None,
    *,
    n_hashes: int | None = None,
    n_jobs: int | None = None,
) -> Counts:
    """Count the agreeing codes for all pairs of rows.

    Parameters
    ----------
    A : PackedCodes or ndarray of uint8, shape (n_A, n_bytes)
        Packed codes.
    B : PackedCodes or ndarray of uint8, shape (n_B, n_bytes)
        Packed codes from the same map.
    bits : int or None, default=None
        Bits of a code, 1 to 24; not needed for `PackedCodes`. Codes of 1, 2, 4, 8 or 16 bits are
        compared faster than others.
    n_hashes : int or None, default=None
        Number of codes per row. None means as many as its bytes hold; if a row has fewer, the zeros
        at its end count as agreeing codes.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors.

    Returns
    -------
    counts : ndarray of int32, shape (n_A, n_B)
        `kernel_from_collisions` says what they estimate.

    Raises
    ------
    ValueError
        If `A` and `B` are not two-dimensional arrays of uint8 with rows of equal length that hold
        `n_hashes` codes, or are `PackedCodes` from different maps; or if `bits` is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import codes
    >>> A = np.array([[1, 2, 3], [1, 5, 3]], dtype=np.uint8)
    >>> codes.collisions(A, A, 8)
    array([[3, 2],
           [2, 3]], dtype=int32)
    """
    A, B = _packed.as_packed_pair(("A", "B"), A, B, bits, n_hashes)
    return _count(A.array, B.array, A.bits, A.n_hashes, True, n_jobs)


def agreements(
    A: PackedCodes, B: PackedCodes, *, n_jobs: int | None = None
) -> Counts | ProductCounts:
    """Count, for all pairs of rows, the agreements that the kernel estimate needs.

    Parameters
    ----------
    A, B : PackedCodes
        Packed codes from the same map.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors.

    Returns
    -------
    counts : ndarray of int32, shape (n_A, n_B), or ProductCounts
        The `collisions`. For a `KernelProduct` of two maps, if codes of either map agree by chance,
        the collisions of the joint codes, of the first map's codes and of the second map's codes.

    Raises
    ------
    ValueError
        If `A` or `B` is not `PackedCodes`, or they come from different maps.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import KernelProduct, codes
    >>> X = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 2.0]])
    >>> A = KernelProduct(random_state=0).fit(X).encode(X, packed=True)
    >>> counts = codes.agreements(A, A)
    >>> counts.both.shape, A.kernel(counts).shape
    ((2, 2), (2, 2))
    """
    for name, codes in (("A", A), ("B", B)):
        _packed.checked(name, codes)
    both = collisions(A, B, n_jobs=n_jobs)
    if not A.law.needs_parts:
        return both
    parts = (collisions(A.part(which), B.part(which), n_jobs=n_jobs) for which in (0, 1))
    return ProductCounts(both, *parts)


@overload
def kernel_from_collisions(
    counts: npt.ArrayLike | ProductCounts,
    n_hashes: int | PackedCodes,
    bits: int | None = ...,
    *,
    return_std: Literal[False] = ...,
) -> Floats: ...


@overload
def kernel_from_collisions(
    counts: npt.ArrayLike | ProductCounts,
    n_hashes: int | PackedCodes,
    bits: int | None = ...,
    *,
    return_std: Literal[True],
) -> tuple[Floats, Floats]: ...


def kernel_from_collisions(
    counts: npt.ArrayLike | ProductCounts,
    n_hashes: int | PackedCodes,
    bits: int | None = None,
    *,
    return_std: bool = False,
) -> Floats | tuple[Floats, Floats]:
    """Estimate the kernel from the number of agreeing codes.

    Different samples can have equal codes: codes of `bits` bits agree by chance with probability
    ``2 ** -bits``. The rate of agreement is therefore ``K + (1 - K) / 2 ** bits``. The function
    solves this equation for the kernel K.

    Parameters
    ----------
    counts : array-like of int, or ProductCounts
        Collisions among `n_hashes` codes; for codes of a `KernelProduct`, the result of
        `agreements`.
    n_hashes : int or PackedCodes
        Number of codes per row; or the codes themselves, which also determine how the kernel
        follows from the rate of agreement. `bits` is then not needed.
    bits : int or None, default=None
        Bits of a code, 1 to 24, including `t_bits` of `ConsistentWeightedSampling`. For codes of
        `SignProjection`, `RandomFourier` and `KernelProduct`, pass the codes themselves, because
        their rates of agreement follow other laws.
    return_std : bool, default=False
        Whether to return the standard errors too.

    Returns
    -------
    kernel : ndarray of float64
        Estimates, which may be slightly below 0. They are unbiased if samples agree at the rate of
        the kernel: for `MinHash`, `RandomBinning`, and the acos kernel of `SignProjection`.
    std : ndarray of float64
        Standard errors ``sqrt(p * (1 - p) / n_hashes) / (1 - 2 ** -bits)``. Here p is the rate of
        agreement after adding two agreeing and two differing codes, so that the error is not 0 if
        no codes or all codes agree. Only if `return_std`.

    Notes
    -----
    A sample of `ConsistentWeightedSampling` is a column and a number t. Its code has bits of t only
    if `t_bits` is positive. Without `t_bits`, codes of equal columns and different t always agree,
    so the estimate is too high, however many samples there are: by some thousandths, or by a few
    hundredths if rows have few or heavy entries. With `t_bits`, such codes agree with probability
    ``2 ** -t_bits``, and the bias is ``2 ** t_bits`` times smaller.

    References
    ----------
    .. [1] P. Li, C. Koenig, "b-bit minwise hashing", WWW 2010.

    Examples
    --------
    >>> from sparsemaps import codes
    >>> codes.kernel_from_collisions([256, 128, 1], 256, 8).round(3).tolist()
    [1.0, 0.498, 0.0]
    """
    if isinstance(n_hashes, PackedCodes):
        return n_hashes.kernel(counts, return_std=return_std)
    n_hashes = _checks.check_int("n_hashes", n_hashes, 1, _checks.LARGEST_INT32)
    bits = _checks.check_int("bits", bits, 1, LARGEST_BITS)
    estimate = ByChance(bits).estimate(counts, n_hashes)
    return estimate if return_std else estimate[0]


def unpack(codes: Codes, bits: int | None = None, *, n_hashes: int | None = None) -> Counts:
    """Return the codes as numbers.

    Parameters
    ----------
    codes : PackedCodes or ndarray of uint8, shape (n_rows, n_bytes)
        Packed codes.
    bits : int or None, default=None
        Bits of a code, 1 to 24; not needed for `PackedCodes`.
    n_hashes : int or None, default=None
        Number of codes per row; None means as many as its bytes hold.

    Returns
    -------
    numbers : ndarray of int32, shape (n_rows, n_hashes)
        The codes, 0 to ``2 ** bits - 1``.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import codes
    >>> codes.unpack(np.array([[0b11100100]], dtype=np.uint8), 2)
    array([[0, 1, 2, 3]], dtype=int32)
    """
    known = _packed.as_packed("codes", codes, bits, n_hashes)
    return _packed.unpacked(known.array, known.bits, known.n_hashes)


def to_csr(
    codes: Codes,
    bits: int | None = None,
    *,
    n_hashes: int | None = None,
    dtype: npt.DTypeLike = np.float64,
) -> CsrMatrix:
    """Return the codes as one-hot features, as ``transform`` does for rows with samples.

    Parameters
    ----------
    codes : PackedCodes or ndarray of uint8, shape (n_rows, n_bytes)
        Packed codes. A row without samples counts as a row of zero codes, even in `PackedCodes`.
    bits : int or None, default=None
        Bits of a code, 1 to 24; not needed for `PackedCodes`.
    n_hashes : int or None, default=None
        Number of codes per row; None means as many as its bytes hold.
    dtype : {float64, float32}, default=float64
        Type of the values.

    Returns
    -------
    X : csr_array of shape (n_rows, n_hashes * 2**bits)
        ``1 / sqrt(n_hashes)`` in column ``j * 2**bits + code`` for code j.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import codes
    >>> codes.to_csr(np.array([[0b1101]], dtype=np.uint8), 2, n_hashes=2).toarray().round(1)
    array([[0. , 0.7, 0. , 0. , 0. , 0. , 0. , 0.7]])
    """
    dtype = np.dtype(dtype)
    if dtype not in (np.float32, np.float64):
        raise ValueError(f"dtype must be float64 or float32, got {dtype}")
    known = _packed.as_packed("codes", codes, bits, n_hashes)
    bits = known.bits
    numbers = unpack(known)
    n_rows, n_hashes = numbers.shape
    width = n_hashes << bits
    index_type = _sparse.index_type(max(width, n_rows * n_hashes))
    columns: Any = numbers.astype(index_type, copy=False)
    firsts: Any = np.arange(n_hashes, dtype=index_type)
    columns += firsts << bits
    values = np.full(columns.size, 1 / np.sqrt(n_hashes), dtype)
    indptr = np.arange(n_rows + 1, dtype=index_type) * n_hashes
    return sp.csr_array((values, columns.reshape(-1), indptr), shape=(n_rows, width))


def dump_svmlight_file(
    codes: Codes,
    y: Any,
    f: Any,
    bits: int | None = None,
    *,
    ones: bool = False,
    zero_based: bool = True,
    comment: Any = None,
    n_jobs: int | None = None,
) -> None:
    """Write the codes as one-hot features with labels, as a LIBSVM file.

    The file equals the output of ``sparsemaps.libsvm.dump_svmlight_file(to_csr(codes, bits), y,
    f)``, which takes more time and memory.

    Parameters
    ----------
    codes : PackedCodes or ndarray of uint8, shape (n_rows, n_bytes)
        Packed codes. A row without samples counts as a row of zero codes, even in `PackedCodes`.
    y : array-like of shape (n_rows,)
        Labels.
    f : str, path-like or file-like
        Path, or file object opened in binary mode. A path that ends in ".gz", ".bz2", ".xz" or
        ".zst" is compressed. A file at a path appears only when it is complete.
    bits : int or None, default=None
        Bits of a code, 1 to 24; not needed for `PackedCodes`. For a plain array, a row has as many
        codes as its bytes hold.
    ones : bool, default=False
        Write 1 for every value instead of ``1 / sqrt(n_hashes)``, which makes the file two thirds
        smaller. A learner's parameter C must then be ``n_hashes`` times smaller.
    zero_based : bool, default=True
        Whether the indices written count from 0. LIBSVM's own programs need False.
    comment : str or bytes, default=None
        Comment to write first, as in `sparsemaps.libsvm.dump_svmlight_file`.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The file does not depend on it.

    Raises
    ------
    ValueError
        If shapes do not match, a label is not finite, or a parameter is invalid.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> from io import BytesIO
    >>> import numpy as np
    >>> from sparsemaps import codes
    >>> file = BytesIO()
    >>> array = np.array([[0b1101], [0b0010]], dtype=np.uint8)
    >>> A = codes.PackedCodes(array, 2, {}, n_hashes=2)
    >>> codes.dump_svmlight_file(A, [1, -1], file, ones=True, zero_based=False)
    >>> file.getvalue()
    b'1 2:1 8:1\\n-1 3:1 5:1\\n'
    """
    known = _packed.as_packed("codes", codes, bits, None)
    array, bits, n_hashes = known.array, known.bits, known.n_hashes
    _checks.check_bool("ones", ones)
    zero_based = _checks.check_bool("zero_based", zero_based)
    if sp.issparse(y):
        raise ValueError(f"y must be an array of shape ({len(array)},), got a sparse matrix")
    y = _write.labels_of_rows(y, fewest=0)
    if y.shape != (len(array),):
        raise ValueError(f"y must be of shape ({len(array)},), like the codes, got {y.shape}")
    _write.check_labels(y)

    def lines(start: int, stop: int) -> bytes:
        numbers = _packed.unpacked(array[start:stop], bits, n_hashes)
        heads = _write.one_label_each(y[start:stop])
        return _write.format_codes(numbers, bits, heads, zero_based=zero_based, ones=ones)

    blocks = _blocks.cut_rows(
        len(array), lambda row: row * n_hashes, _threads.resolve_n_jobs(n_jobs), _BLOCK_CODES
    )
    _write.write_lines(f, _write.format_header(comment, zero_based), lines, blocks, n_jobs)


def _count(
    A: Array, B: Array, bits: int, n_hashes: int, agreeing: bool, n_jobs: int | None
) -> Array:
    out = np.empty((len(A), len(B)), np.int32)

    def count(start: int, stop: int) -> None:
        step = _packed.rows_a_call(stop - start, bits * n_hashes)
        for first in range(0, len(B), step):
            last = first + step
            _loops.count_pairs(
                A[start:stop], B[first:last], bits, n_hashes, agreeing, out[start:stop, first:last]
            )

    # Ranges are long enough to make the cost of preparing the other rows negligible.
    n_threads = _threads.resolve_n_jobs(n_jobs)
    step = _BLOCK_QUERIES if n_threads == 1 else min(_BLOCK_QUERIES, -(-len(A) // n_threads))
    _threads.run(count, _blocks.ranges(0, len(A), max(step, 1)), n_jobs)
    return out
