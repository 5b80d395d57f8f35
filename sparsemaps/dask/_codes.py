"""Packed codes in Dask arrays, with the configuration of their map."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import dask.array as da
import dask.base
import numpy as np

from sparsemaps._tools._typing import Array
from sparsemaps.codes import _packed
from sparsemaps.codes._code_checks import rows_with_bits


class DaskPackedCodes:
    """Packed codes in a Dask array, with the configuration of the map that made them.

    ``encode(map, X, packed=True)`` returns them, and `similar_pairs` takes them. They are
    `sparsemaps.codes.PackedCodes` whose arrays are Dask's.

    Parameters
    ----------
    array : dask array of uint8, shape (n_rows, n_bytes)
        The codes.
    bits : int
        Bits of a code, 1 to 24, and at most as many as a row has.
    config : dict
        ``to_config()`` of the map.
    n_hashes : int or None, default=None
        How many codes a row has; None is as many as its bytes hold.
    sampled : dask array of bool, shape (n_rows,), or None, default=None
        Which rows have samples, in the blocks of `array`. None takes all rows of which not all bits
        are 0. No pair has any of the other rows.
    chance : float or None, default=None
    estimator : str, default="chance"
    parts : sequence of (bits, chance), default=()
        As in `sparsemaps.codes.PackedCodes`.

    Attributes
    ----------
    array, bits, config, n_hashes, sampled, chance, estimator, parts
        As above; `sampled` is an array.
    shape : tuple
        That of `array`.

    Raises
    ------
    ValueError
        If a parameter is not of the form above.

    Examples
    --------
    Codes of a file, with the map that made them:

    >>> import dask.array as da, numpy as np
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.dask import DaskPackedCodes
    >>> X = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    >>> minhash = MinHash(n_hashes=64, random_state=0).fit(X)
    >>> blocks = da.from_array(minhash.encode(X), chunks=(2, 64))
    >>> codes = DaskPackedCodes(blocks, 8, minhash.to_config())
    >>> codes.shape, codes.compute()
    ((3, 64), PackedCodes(3 rows of 64 codes of 8 bits, MinHash))
    """

    def __init__(
        self,
        array: Any,
        bits: int,
        config: Mapping[str, Any],
        *,
        n_hashes: int | None = None,
        sampled: Any = None,
        chance: float | None = None,
        estimator: str = "chance",
        parts: Sequence[Sequence[Any]] = (),
    ) -> None:
        self.array = one_block_a_row("array", array)
        none = _packed.PackedCodes(
            without_rows(self.array),
            bits,
            config,
            n_hashes=n_hashes,
            chance=chance,
            estimator=estimator,
            parts=parts,
        )
        self.bits, self.config, self.n_hashes = none.bits, none.config, none.n_hashes
        self.chance, self.estimator, self.parts = none.chance, none.estimator, none.parts
        self._without_rows = none
        if sampled is None:
            sampled = self.array.map_blocks(
                rows_with_bits, drop_axis=1, dtype=bool, meta=np.empty(0, bool)
            )
        elif not isinstance(sampled, da.Array) or sampled.numblocks != self.array.numblocks[:1]:
            raise ValueError("sampled must be a Dask array of bool in the blocks of array")
        self.sampled = sampled

    @property
    def shape(self) -> tuple[Any, ...]:
        shape: tuple[Any, ...] = self.array.shape
        return shape

    def __repr__(self) -> str:
        return (
            f"DaskPackedCodes({self.shape[0]} rows of {self.n_hashes} codes of {self.bits} bits, "
            f"{self.config.get('class')}, in {self.array.numblocks[0]} blocks)"
        )

    def persist(self, **options: Any) -> "DaskPackedCodes":
        """These codes with arrays in the memory of the workers; `options` are those of
        ``dask.persist``."""
        return self._with(*dask.base.persist(self.array, self.sampled, **options))

    def compute(self, **options: Any) -> _packed.PackedCodes:
        """These codes in the memory of this process; `options` are those of ``dask.compute``."""
        array, sampled = dask.base.compute(self.array, self.sampled, **options)
        return self._without_rows._with_rows(array, sampled)

    def compute_chunk_sizes(self) -> Self:
        """Compute the lengths of blocks that are not known; returns the codes themselves."""
        self.array.compute_chunk_sizes()
        self.sampled._chunks = self.array.chunks[:1]
        return self

    def _with(self, array: Any, sampled: Any) -> "DaskPackedCodes":
        return like(self._without_rows, array, sampled)


def like(known: _packed.PackedCodes, array: Any, sampled: Any) -> DaskPackedCodes:
    """Codes of the same map as `known`."""
    return DaskPackedCodes(array, known.bits, known.config, sampled=sampled, **known._facts())


def one_block_a_row(name: str, array: Any) -> Any:
    """`array`, which must be packed codes in a Dask array, with each row in one block."""
    if not isinstance(array, da.Array) or array.ndim != 2 or array.dtype != np.uint8:
        raise ValueError(f"{name} must be a two-dimensional Dask array of uint8")
    return array.rechunk({1: -1}) if array.numblocks[1] > 1 else array


def without_rows(array: Any) -> Array:
    """An array of no rows, as wide as a Dask array."""
    return np.empty((0, int(array.shape[1])), np.uint8)
