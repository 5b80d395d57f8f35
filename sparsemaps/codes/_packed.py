"""Packed codes, with a description of their map and a mark for rows with samples."""

import mmap
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt

from sparsemaps._loops import codes as _loops
from sparsemaps._loops.codes import PACKED
from sparsemaps._tools import _checks
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, Bytes, Floats, StrPath
from sparsemaps.codes import _file
from sparsemaps.codes._code_checks import (
    LARGEST_N_BITS,
    TEXTS,
    check_codes,
    check_sizes,
    check_sizes_of_sets,
    refuse_different,
    rows_with_bits,
)
from sparsemaps.laws._agreement import AgreementLaw, ByChance, ProductCounts, law_described_by

_CALL_BITS = 2**36
"""Bits that a call of the compiled loops compares in a tenth of a second. Signals are handled
between calls."""

_PART_CODES = 2**20
"""Codes unpacked at a time."""


class PackedCodes:
    """Packed codes, with the map that made them and the law of its codes.

    ``encode(X, packed=True)`` of a map returns them. All functions of `sparsemaps.codes` and
    `sparsemaps.neighbors` accept them without further parameters. Codes of two maps can be compared
    if their class, parameters, seed and scheme of random numbers are equal and, for texts, their
    vectorizers too. Otherwise, a comparison raises an error. Codes of a matrix have no vectorizer,
    and can be compared with codes of any texts.

    Parameters
    ----------
    array : ndarray of uint8, shape (n_rows, n_bytes)
        The codes, as returned by ``encode(X)``.
    bits : int
        Bits of a code, 1 to 24, and at most the bits of a row.
    config : dict
        ``to_config()`` of the map. Codes of texts also have the key "texts": the class of the
        vectorizer and the parameters that determine the rows. The dictionary is compared, saved and
        displayed; only the parameters below affect estimates.
    n_hashes : int or None, default=None
        Number of codes per row; None means as many as its bytes hold.
    sampled : array-like of bool, shape (n_rows,), or None, default=None
        Which rows have samples; None means all rows with a nonzero bit. Functions of
        `sparsemaps.neighbors` never return the other rows.
    law : ByChance, BySigns, ByProduct or None, default=None
        The law that relates the kernel to the number of agreeing codes. None means
        ``ByChance(bits)``.
    sizes : array-like of int, shape (n_rows,), or None, default=None
        For codes of `MinHash`, the number of members of each set, at most 2**32 - 1, which
        `sparsemaps.neighbors.contained_pairs` needs. None if unknown.

    Attributes
    ----------
    array, bits, config, n_hashes, sampled, law, sizes
        As above; `sampled` is an array, `sizes` an array of uint32 or None.
    shape : tuple of int
        The shape of `array`.

    Raises
    ------
    ValueError
        If a parameter does not have the form above.

    Notes
    -----
    `save` writes a NumPy file (``numpy.load`` reads its array) with more data at its end: one bit
    per row for `sampled`, and the rest as JSON, with the law by name. `load` maps the array into
    memory, so that an index of many gigabytes opens at once, and only the parts in use are read.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import MinHash
    >>> X = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    >>> A = MinHash(n_hashes=512, bits=4, random_state=0).fit(X).encode(X, packed=True)
    >>> len(A), A.law, A.sampled.tolist()
    (3, ByChance(bits=4, chance=0.0625), [True, True, False])
    >>> from sparsemaps import codes
    >>> counts = codes.collisions(A[:1], A[1:2])
    >>> bool(abs(codes.kernel_from_collisions(counts, A)[0, 0] - 2 / 3) < 0.1)
    True
    """

    def __init__(
        self,
        array: Array,
        bits: int,
        config: Mapping[str, Any],
        *,
        n_hashes: int | None = None,
        sampled: Array | None = None,
        law: AgreementLaw | None = None,
        sizes: Array | None = None,
    ) -> None:
        self.array: Bytes = check_codes("array", array)
        self.bits, self.n_hashes = check_sizes("array", self.array, bits, n_hashes)
        if not isinstance(config, Mapping):
            raise ValueError(f"config must be a dictionary, got {config!r}")
        self.config = dict(config)
        self.law = ByChance(self.bits) if law is None else law
        if not isinstance(self.law, AgreementLaw) or self.law.bits != self.bits:
            raise ValueError(f"law must be a law of codes of {self.bits} bits, got {law!r}")
        if sampled is not None:
            self.sampled = np.ascontiguousarray(sampled, dtype=bool)
            if self.sampled.shape != (len(self.array),):
                raise ValueError(
                    f"sampled must be of shape ({len(self.array)},), got {self.sampled.shape}"
                )
        self.sizes = None if sizes is None else check_sizes_of_sets(sizes, len(self.array))

    @cached_property  # not needed to compare rows
    def sampled(self) -> npt.NDArray[np.bool_]:
        """Which rows have samples."""
        return rows_with_bits(self.array)

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.array.shape
        return shape

    no_matrix = (
        "of codes, sparsemaps.neighbors has similar_pairs, contained_pairs, removals, top_k and "
        "KernelNeighbors, and sparsemaps.linear its estimators"
    )
    """End of the error message of functions that take a matrix and no codes."""

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: Any) -> "PackedCodes":
        """Return some rows, given by a slice, an array of row numbers or of bools, or one row
        number."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        sizes = None if self.sizes is None else self.sizes[rows]
        return with_rows(self, self.array[rows], self.sampled[rows], sizes)

    @classmethod
    def concatenate(cls, blocks: "Sequence[PackedCodes]") -> "PackedCodes":
        """Concatenate blocks of codes from the same map.

        Parameters
        ----------
        blocks : sequence of PackedCodes
            At least one block, all from the same map; they may be mapped into memory.

        Returns
        -------
        codes : PackedCodes
            A copy of all rows, even of a single block. It has `sizes` if all blocks have them.

        Raises
        ------
        ValueError
            If no block is given, or the blocks come from different maps.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsemaps import MinHash
        >>> from sparsemaps.codes import PackedCodes
        >>> minhash = MinHash(random_state=0).fit_any_width()
        >>> A = minhash.encode(np.eye(3), packed=True)
        >>> B = minhash.encode(np.ones((2, 4)), packed=True)
        >>> PackedCodes.concatenate([A, B])
        PackedCodes(5 rows of 256 codes of 8 bits, MinHash)
        """
        blocks = list(blocks)
        if not blocks:
            raise ValueError("blocks must have at least one PackedCodes, got none")
        for number, codes in enumerate(blocks):
            blocks[number] = checked(f"block {number}", codes)
        # The first block with a vectorizer, or else the first block.
        known = next((n for n, codes in enumerate(blocks) if TEXTS in codes.config), 0)
        for number, codes in enumerate(blocks):
            refuse_different(f"block {known} and block {number}", blocks[known], codes)
        like, sampled, sizes = joined_facts(blocks)
        array = np.concatenate([np.asarray(codes.array) for codes in blocks])
        return with_rows(like, array, sampled, sizes)

    def part(self, which: int) -> "PackedCodes":
        """Return the codes of one of the maps of a `KernelProduct`.

        Parameters
        ----------
        which : int
            Number of the map, counted from 0.

        Returns
        -------
        codes : PackedCodes
            The bits of that map alone, with the config of the product.

        Raises
        ------
        ValueError
            If the codes have no such part.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsemaps import KernelProduct, codes
        >>> X = np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 2.0]])
        >>> A = KernelProduct(random_state=0).fit(X).encode(X, packed=True)
        >>> A.bits, A.part(0).bits, A.part(1).bits
        (9, 8, 1)
        """
        self = checked("the codes", self)
        parts = self.law.parts
        which = _checks.check_int("which", which, 0, max(len(parts) - 1, 0))
        if not parts:
            raise ValueError("codes of one map have no parts")
        law = parts[which]
        bits = law.bits
        below = sum(other.bits for other in parts[which + 1 :])
        array = np.empty((len(self), (self.n_hashes * bits + 7) // 8), np.uint8)
        step = max(1, _PART_CODES // self.n_hashes)
        for start in range(0, len(self), step):
            rows = self.array[start : start + step]
            numbers = unpacked(rows, self.bits, self.n_hashes)
            numbers >>= below
            numbers &= 2**bits - 1
            _loops.write(numbers, bits, PACKED, array[start : start + step])
        return PackedCodes(
            array, bits, self.config, n_hashes=self.n_hashes, sampled=self.sampled, law=law
        )

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        array = np.asarray(self.array, dtype)
        return array.copy() if copy else array

    def __repr__(self) -> str:
        return (
            f"PackedCodes({counted(len(self), 'rows')} of {counted(self.n_hashes, 'codes')} of "
            f"{counted(self.bits, 'bits')}, {self.config.get('class')})"
        )

    def save(self, path: StrPath, about: Mapping[str, Any] | None = None) -> None:
        """Write a file for `load`. The file appears only when it is complete.

        Parameters
        ----------
        path : str or path-like
            The file; its name usually ends in ".npy".
        about : dict or None, default=None
            Further data to store in the file. ``json.dumps`` must accept it.
        """
        save_blocks(path, [checked("the codes", self)], about)

    @classmethod
    def load(cls, path: StrPath, *, mmap_mode: Literal["r", "c"] | None = "r") -> "PackedCodes":
        """Open a file written by `save`.

        Parameters
        ----------
        path : str or path-like
            The file.
        mmap_mode : {"r", "c"} or None, default="r"
            Mode of the memory map, as in ``numpy.load``; None reads the array.

        Returns
        -------
        codes : PackedCodes

        Raises
        ------
        ValueError
            If the file does not hold packed codes, is truncated, or has another scheme of random
            numbers.
        """
        return open_file(os.fspath(path), mmap_mode)[0]

    @overload
    def kernel(
        self, counts: npt.ArrayLike | ProductCounts, *, return_std: Literal[False] = ...
    ) -> Floats: ...

    @overload
    def kernel(
        self, counts: npt.ArrayLike | ProductCounts, *, return_std: Literal[True]
    ) -> tuple[Floats, Floats]: ...

    @overload
    def kernel(
        self, counts: npt.ArrayLike | ProductCounts, *, return_std: bool
    ) -> Floats | tuple[Floats, Floats]: ...

    def kernel(
        self, counts: npt.ArrayLike | ProductCounts, *, return_std: bool = False
    ) -> Floats | tuple[Floats, Floats]:
        """Estimate the kernel from the number of agreeing codes.

        Parameters
        ----------
        counts : array-like of int, or ProductCounts
            The result of ``agreements(A, B)``: the number of agreeing codes; for codes of a
            `KernelProduct` with a map whose codes agree by chance, the counts for the joint codes
            and for the codes of each map.
        return_std : bool, default=False
            Whether to return the standard errors too.

        Returns
        -------
        kernel, std : ndarray of float64
            As in ``sparsemaps.codes.kernel_from_collisions``. For bits of `RandomFourier`, the
            equation is solved for the Gaussian or the Laplacian kernel, and the result is at least
            0.

        Raises
        ------
        ValueError
            If the codes have no estimate (codes of `RandomFourier` with another kernel, and codes
            of a product of more than two maps whose codes agree by chance); if the counts of each
            map are missing; or if a count is not from 0 to `n_hashes`.
        """
        if isinstance(counts, PackedCodes):
            raise ValueError(
                "counts must be numbers of codes that agree, got PackedCodes: give collisions(A, B)"
            )
        if not isinstance(self.law, AgreementLaw):
            raise ValueError(f"law must be a law of codes, got {self.law!r}")
        n_hashes = _checks.check_int("n_hashes", self.n_hashes, 1, LARGEST_N_BITS)
        estimate = self.law.estimate(counts, n_hashes)
        return estimate if return_std else estimate[0]


def unpacked(array: Array, bits: int, n_hashes: int) -> Array:
    """Return the codes of rows as int32."""
    numbers = np.empty((len(array), n_hashes), np.int32)
    _loops.unpack(array, bits, numbers)
    return numbers


def with_rows(
    like: PackedCodes, array: Array, sampled: Array | None, sizes: Array | None = None
) -> PackedCodes:
    """Return codes of the map of `like`. If `sampled` is None, all rows with a nonzero bit have
    samples."""
    return PackedCodes(
        array, like.bits, like.config, n_hashes=like.n_hashes, sampled=sampled, law=like.law,
        sizes=sizes,
    )  # fmt: skip


def gathered(sets: Sequence[PackedCodes], numbers: Array) -> PackedCodes:
    """Return the codes of some rows of several sets from the same map, numbered through all sets.
    All count as rows with samples. They are read in ascending order."""
    array = np.empty((len(numbers), sets[0].shape[1]), np.uint8)
    order = np.argsort(numbers, kind="stable")
    ascending, first = numbers[order], 0
    for codes in sets:
        start, stop = np.searchsorted(ascending, [first, first + len(codes)])
        array[order[start:stop]] = codes.array[ascending[start:stop] - first]
        first += len(codes)
    return with_rows(sets[0], array, np.ones(len(array), bool))


def checked(name: str, codes: object) -> PackedCodes:
    """Return a copy of `codes`, because anybody can set its attributes. Raise a ValueError that
    begins with `name` if these are inconsistent. Compiled code reads only codes that this function
    has checked."""
    if not isinstance(codes, PackedCodes):
        raise ValueError(f"{name} must be PackedCodes, got {type(codes).__name__}")
    try:
        file = mapped_file(codes.array)
        if file is not None and file.size() < len(file):
            # Reading bytes beyond the end of the file would kill the process by a signal.
            size = file.size()
            raise ValueError(f"the file was cut short after it was opened, to {size} bytes")
        return with_rows(codes, codes.array, vars(codes).get("sampled"), codes.sizes)
    except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(f"{name}: {error}") from None


def mapped_file(array: object) -> mmap.mmap | None:
    """Return the memory map that contains an array, or None for an array in memory."""
    while array is not None and not isinstance(array, mmap.mmap):
        array = getattr(array, "base", None)
    return array


def joined_facts(blocks: Iterable[PackedCodes]) -> tuple[PackedCodes, Array, Array | None]:
    """Return what several blocks from the same map have in common: no rows of the first block with
    a vectorizer, or else of the first block; which rows have samples; and the set sizes if all
    blocks have them."""
    like: PackedCodes | None = None
    sampled, sizes = [], []
    for codes in blocks:
        if like is None or (TEXTS in codes.config and TEXTS not in like.config):
            like = codes[:0]
        sampled.append(codes.sampled)
        if codes.sizes is not None:
            sizes.append(np.array(codes.sizes))  # a copy, because the mapped file may be closed
    assert like is not None
    has_sizes = len(sizes) == len(sampled)
    return like, np.concatenate(sampled), np.concatenate(sizes) if has_sizes else None


def open_file(path: str, mmap_mode: Literal["r", "c"] | None) -> tuple[PackedCodes, _file.Contents]:
    """Return the codes of a file, and its full contents."""
    contents = _file.read(path, mmap_mode)
    description = contents.description
    try:
        law, n_hashes = law_described_by(description["law"]), description["n_hashes"]
        if n_hashes is None:
            raise ValueError("n_hashes must be a number")
        codes = PackedCodes(
            contents.array, law.bits, description["config"], n_hashes=n_hashes,
            sampled=contents.sampled, law=law, sizes=contents.further.get("sizes"),
        )  # fmt: skip
    except KeyError as error:
        raise ValueError(f"{path} is damaged: its description has no {error}") from None
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    return codes, contents


def save_blocks(
    path: StrPath,
    blocks: Iterable[PackedCodes],
    about: Mapping[str, Any] | None = None,
    further: Mapping[str, Array] | None = None,
) -> None:
    """Write blocks of codes from the same map to one file, as `PackedCodes.save` does. `blocks` is
    iterated twice and must yield the same blocks each time."""
    rest = rest_of_file(blocks, about, further)
    _file.write(path, (codes.array for codes in blocks), rest)


def rest_of_file(
    blocks: Iterable[PackedCodes],
    about: Mapping[str, Any] | None = None,
    further: Mapping[str, Array] | None = None,
) -> _file.Rest:
    """Return what follows the codes of some blocks in a file. The arrays of blocks are not used."""
    like, sampled, sizes = joined_facts(blocks)
    further = {**(further or {}), **({} if sizes is None else {"sizes": sizes})}
    facts = {"config": like.config, "n_hashes": like.n_hashes, "law": like.law.described()}
    shape = len(sampled), like.shape[1]
    return _file.Rest(shape, sampled, {**(about or {}), **facts}, further)


@dataclass(frozen=True)
class CodesOfFiles:
    """The codes of several files of one map, mapped into memory one file after another."""

    paths: Sequence[str]

    def __iter__(self) -> Iterator[PackedCodes]:
        first = PackedCodes.load(self.paths[0])
        for path in self.paths:
            codes = PackedCodes.load(path)
            refuse_different(f"{self.paths[0]} and {path}", first, codes)
            yield codes


def rows_a_call(n_queries: int, row_bits: int) -> int:
    """Return the number of rows of `row_bits` bits that one call of the compiled loops compares
    with the queries."""
    return max(1, _CALL_BITS // (max(n_queries, 1) * max(row_bits, 64)))


def as_packed(name: str, codes: object, bits: int | None, n_hashes: int | None) -> PackedCodes:
    """Return the argument of a public function, packed codes or a plain array, as `PackedCodes`.

    In a plain array, rows whose bits are all 0 have no samples. In rows of fewer than 64 bits, all
    bits may be 0 by chance, so all these rows have samples.
    """
    if isinstance(codes, PackedCodes):
        codes = checked(name, codes)
        for what, value, known in (
            ("bits", bits, codes.bits),
            ("n_hashes", n_hashes, codes.n_hashes),
        ):
            if value is not None and value != known:
                raise ValueError(f"{what} must be {known}, as in {name}, got {value!r}")
        return codes
    array = check_codes(name, codes)
    if bits is None:
        raise ValueError(
            f"bits must be given if {name} is a plain array; encode(X, packed=True) of a map "
            "returns codes that store them"
        )
    bits, n_hashes = check_sizes(name, array, bits, n_hashes)
    return PackedCodes(
        array, bits, {}, n_hashes=n_hashes, sampled=_all_sampled(array, bits * n_hashes)
    )


def as_packed_pair(
    names: tuple[str, str], A: object, B: object, bits: int | None, n_hashes: int | None
) -> tuple[PackedCodes, PackedCodes]:
    """Return two arguments to be compared, as `as_packed` does. A plain array takes the map of the
    other argument."""
    both: list[Any] = [
        checked(name, codes) if isinstance(codes, PackedCodes) else check_codes(name, codes)
        for name, codes in zip(names, (A, B), strict=True)
    ]
    is_packed = [isinstance(codes, PackedCodes) for codes in both]
    if all(is_packed):
        refuse_different(" and ".join(names), *both)
    which = is_packed.index(True) if any(is_packed) else 0
    known = as_packed(names[which], both[which], bits, n_hashes)
    lengths = [codes.shape[1] for codes in both]
    if lengths[0] != lengths[1]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have rows of the same length, got {lengths[0]} and "
            f"{counted(lengths[1], 'bytes')}"
        )
    one, other = (
        codes
        if isinstance(codes, PackedCodes)
        else with_rows(known, codes, _all_sampled(codes, known.bits * known.n_hashes))
        for codes in both
    )
    return one, other


def _all_sampled(array: Array, n_bits: int) -> Array | None:
    """Return True for each row if all bits of a row may be 0 by chance, else None."""
    return None if n_bits >= 64 else np.ones(len(array), bool)
