"""Packed codes with the configuration of their map, and which rows have samples."""

import json
import os
import struct
import tokenize
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy import special

from sparsemaps import _files, _seeding, _validation
from sparsemaps._typing import Array

_FOOTER = struct.Struct("<Q8s")
_MAGIC = b"SMCODES1"


class PackedCodes:
    """Packed codes with the configuration of the map that made them.

    ``encode(X, packed=True)`` of a map returns them. All functions of `sparsemaps.codes` and
    `sparsemaps.neighbors` take them, need no parameters then, and refuse to compare codes of maps
    that differ in class, parameters, seed or scheme of random numbers.

    Parameters
    ----------
    array : ndarray of uint8, shape (n_rows, n_bytes)
        The codes, as ``encode(X)`` returns them.
    bits : int
        Bits of a code, 1 to 24.
    config : dict
        ``to_config()`` of the map.
    n_hashes : int or None, default=None
        How many codes a row has; None is as many as its bytes hold.
    sampled : array-like of bool, shape (n_rows,), or None, default=None
        Which rows have samples. None takes all rows of which not all bits are 0. The others
        are never found as neighbours.

    Attributes
    ----------
    array, bits, config, n_hashes, sampled
        As above; `sampled` is an array.
    shape : tuple of int
        That of `array`.

    Notes
    -----
    A file of `save` is a NumPy file (``numpy.load`` reads its array) with more data at its
    end: one bit a row for `sampled`, and the rest as JSON. `load` maps the array into memory, so
    that an index of many gigabytes opens at once, and only the parts in use are read.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemaps import MinHash
    >>> X = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [0, 0, 0, 0]])
    >>> A = MinHash(n_hashes=512, bits=4, random_state=0).fit(X).encode(X, packed=True)
    >>> len(A), A.bits, A.sampled.tolist()
    (3, 4, [True, True, False])
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
    ) -> None:
        self.array = check_codes("array", array)
        self.bits = _validation.check_int("bits", bits, 1, 24)
        self.config = dict(config)
        most = 8 * self.array.shape[1] // self.bits
        self.n_hashes = most
        if n_hashes is not None:
            self.n_hashes = _validation.check_int("n_hashes", n_hashes, 1, most)
        if sampled is None:
            sampled = rows_with_bits(self.array)
        self.sampled = np.ascontiguousarray(sampled, dtype=bool)
        if self.sampled.shape != (len(self.array),):
            raise ValueError(
                f"sampled must be of shape ({len(self.array)},), got {self.sampled.shape}"
            )

    @property
    def shape(self) -> tuple[int, ...]:
        shape: tuple[int, ...] = self.array.shape
        return shape

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: Any) -> "PackedCodes":
        """Some rows: a slice, an array of row numbers or of bools, or the number of one row."""
        if isinstance(rows, (int, np.integer)):
            rows = [rows]
        return PackedCodes(
            self.array[rows],
            self.bits,
            self.config,
            n_hashes=self.n_hashes,
            sampled=self.sampled[rows],
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = np.asarray(self.array, dtype)
        return array.copy() if copy else array

    def __repr__(self) -> str:
        return (
            f"PackedCodes({len(self)} rows of {self.n_hashes} codes of {self.bits} bits, "
            f"{self.config.get('class')})"
        )

    def save(self, path: Any, about: Mapping[str, Any] | None = None) -> None:
        """Write a file for `load`; it appears only when it is complete.

        Parameters
        ----------
        path : str or path-like
            The file; its name usually ends in ".npy".
        about : dict or None, default=None
            Further data to keep in the file, which ``json.dumps`` takes.
        """
        about = {
            **(about or {}),
            "bits": self.bits,
            "n_hashes": self.n_hashes,
            "shape": list(self.shape),
            "config": self.config,
        }
        text = json.dumps(about).encode()
        with _files.atomic_output(path) as file:
            np.lib.format.write_array(file, self.array, allow_pickle=False)
            file.write(np.packbits(self.sampled, bitorder="little").tobytes())
            file.write(text)
            file.write(_FOOTER.pack(len(text), _MAGIC))

    @classmethod
    def load(cls, path: Any, *, mmap_mode: Literal["r", "c"] | None = "r") -> "PackedCodes":
        """Open a file of `save`.

        Parameters
        ----------
        path : str or path-like
            The file.
        mmap_mode : {"r", "c"} or None, default="r"
            How the array is mapped into memory, as in ``numpy.load``; None reads it.

        Returns
        -------
        codes : PackedCodes

        Raises
        ------
        ValueError
            If the file does not hold packed codes, is cut short, or has another scheme of random
            numbers.
        """
        return cls._open(os.fspath(path), mmap_mode)[0]

    @classmethod
    def _open(cls, path: str, mmap_mode: Any) -> "tuple[PackedCodes, dict[str, Any]]":
        """The codes of a file, and all that is kept beside them."""
        size = os.path.getsize(path)
        with open(path, "rb") as file:
            file.seek(max(size - _FOOTER.size, 0))
            end = file.read()
            if len(end) != _FOOTER.size or not end.endswith(_MAGIC):
                raise ValueError(f"{path} is no file of packed codes, or is cut short")
            n_text, _ = _FOOTER.unpack(end)
            try:
                file.seek(size - _FOOTER.size - n_text)
                about = _check_description(json.loads(file.read(n_text)), size)
            except (OSError, ValueError, KeyError, TypeError, RecursionError):
                raise ValueError(f"{path} is damaged: its description cannot be read") from None
            n_rows, n_bytes = about["shape"]
            scheme = about["config"].get("scheme")
            if scheme != _seeding.SCHEME:
                raise ValueError(
                    f"{path} holds codes of scheme {scheme} of random numbers; this version of "
                    f"sparsemaps has scheme {_seeding.SCHEME}"
                )
            n_mask = (n_rows + 7) // 8
            array_bytes = size - _FOOTER.size - n_text - n_mask
            file.seek(max(array_bytes, 0))
            mask = np.frombuffer(file.read(n_mask), np.uint8)
        try:
            array = np.load(path, mmap_mode=mmap_mode, allow_pickle=False)
        except (ValueError, OverflowError, tokenize.TokenError) as error:
            raise ValueError(f"{path} is damaged: {error}") from None
        header = array_bytes - n_rows * n_bytes
        if array.shape != (n_rows, n_bytes) or array.dtype != np.uint8 or not 0 < header < 2**16:
            raise ValueError(f"{path} is damaged: its array is not of shape ({n_rows}, {n_bytes})")
        sampled = np.unpackbits(mask, count=n_rows, bitorder="little").astype(bool)
        codes = cls(
            array, about["bits"], about["config"], n_hashes=about["n_hashes"], sampled=sampled
        )
        return codes, about

    def kernel(self, counts: Array, *, return_std: bool = False) -> Any:
        """Estimate the kernel from the number of codes that agree.

        Parameters
        ----------
        counts : array-like of int
            How many codes agree, of all codes of a row.
        return_std : bool, default=False
            Return the standard errors too.

        Returns
        -------
        kernel, std : ndarray of float64
            As ``sparsemaps.codes.kernel_from_collisions``. The agreement by chance is that of the
            map: 2**-bits, none for `SignProjection` and `KernelProduct`. Bits of `RandomFourier`
            are solved for the Gaussian or the Laplacian kernel; the result is at least 0.

        Raises
        ------
        ValueError
            If the codes are those of `RandomFourier` with another kernel.
        """
        if self.config.get("class") == "RandomFourier":
            return kernel_of_signs(
                counts, self.n_hashes, self.config["parameters"]["kernel"], return_std
            )
        return kernel_of_counts(counts, self.n_hashes, self._chance(), return_std)

    def _chance(self) -> float:
        """How often codes of samples that differ agree."""
        name, parameters = self.config.get("class"), self.config.get("parameters", {})
        if name in ("SignProjection", "KernelProduct"):
            return 0.0
        n_columns = self.config.get("n_features")
        if name == "ConsistentWeightedSampling" and n_columns is not None:
            n_columns *= 2 if parameters.get("signed") else 1
            if n_columns <= 2 ** parameters["bits"] and not parameters.get("t_bits"):
                return 0.0  # codes are whole columns
        return 2.0**-self.bits


def _check_description(about: Any, size: int) -> dict[str, Any]:
    """What a file of so many bytes says of its codes; an error where it has not that form."""
    n_rows, n_bytes = about["shape"]
    _validation.check_int("n_rows", n_rows, 0, 8 * size)
    _validation.check_int("n_bytes", n_bytes, 1, size)
    bits = _validation.check_int("bits", about["bits"], 1, 24)
    _validation.check_int("n_hashes", about["n_hashes"], 1, 8 * n_bytes // bits)
    config = about["config"]
    if not (isinstance(config, dict) and isinstance(config.get("class", ""), str)):
        raise ValueError(f"config must be a dictionary with the name of a class, got {config!r}")
    if not isinstance(config.get("parameters", {}), dict):
        raise ValueError(f"parameters must be a dictionary, got {config['parameters']!r}")
    return dict(about)


def check_codes(name: str, codes: Array) -> Array:
    """`codes` as an array of packed codes."""
    codes = np.asarray(codes)
    if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] == 0:
        raise ValueError(
            f"{name} must be a two-dimensional array of uint8 with at least one byte a row, got "
            f"shape {codes.shape} of {codes.dtype}"
        )
    return np.ascontiguousarray(codes)


def rows_with_bits(codes: Array, step: int = 2**16) -> Array:
    """Which rows have a bit that is not 0."""
    found = np.empty(len(codes), bool)
    for start in range(0, len(codes), step):
        codes[start : start + step].any(axis=1, out=found[start : start + step])
    return found


def refuse_different(names: str, A: PackedCodes, B: PackedCodes) -> None:
    """Raise where codes of the two do not compare."""

    def about(codes: PackedCodes) -> dict[str, Any]:
        parts = {key: value for key, value in codes.config.items() if key != "n_features"}
        return {**parts, "bits": codes.bits, "n_hashes": codes.n_hashes}

    one, other = about(A), about(B)
    for key in {**one, **other}:
        if one.get(key) != other.get(key):
            raise ValueError(
                f"{names} must be codes of the same map: their {key} are {one.get(key)} and "
                f"{other.get(key)}"
            )


def kernel_of_counts(counts: Array, n_hashes: int, chance: float, return_std: bool) -> Any:
    """The kernel where samples that differ agree with probability `chance`."""
    rate = _rate(counts, n_hashes)
    kernel = (rate - chance) / (1 - chance)
    if not return_std:
        return kernel
    return kernel, np.sqrt(rate * (1 - rate) / n_hashes) / (1 - chance)


def kernel_of_signs(counts: Array, n_hashes: int, kernel: str, return_std: bool) -> Any:
    """The kernel from bits of Fourier features."""
    rate = _rate(counts, n_hashes)
    rates, values = _signs_table(kernel)
    found = np.interp(rate, rates, values)
    if not return_std:
        return found
    slope = np.interp(rate, rates, np.gradient(values, rates))
    return found, np.sqrt(rate * (1 - rate) / n_hashes) * slope


def _rate(counts: Array, n_hashes: int) -> Array:
    counts = np.asarray(counts)
    if counts.size and not (counts.min() >= 0 and counts.max() <= n_hashes):
        raise ValueError(
            f"counts must be from 0 to n_hashes = {n_hashes}, got {counts.min()} to {counts.max()}"
        )
    return counts / n_hashes


@lru_cache
def _signs_table(kernel: str) -> tuple[Array, Array]:
    """Rates at which bits agree, ascending, and the kernel's values there."""
    if kernel == "rbf":  # K(c delta) = K**(c * c)
        roots = np.linspace(5, 0, 5001)
        total = np.zeros(len(roots))
        for odd in range(1, 8001, 2):
            total += np.exp(-((odd * roots) ** 2)) / odd**2
        total[-1] = np.pi**2 / 8
        values = np.exp(-(roots**2))
    elif kernel == "laplacian":  # K(c delta) = K**c
        values = np.concatenate([np.linspace(0, 0.99, 2000), 1 - np.geomspace(0.0099, 1e-9, 2000)])
        values = np.append(values, 1.0)
        total = (special.spence(1 - values) - special.spence(1 + values)) / 2
    else:
        raise ValueError(
            f"of bits of Fourier features, kernel='rbf' and 'laplacian' have an estimate, not "
            f"{kernel!r}: the rate at which they agree is no function of the kernel alone"
        )
    return 0.5 + 4 / np.pi**2 * total, values


def unwrap(name: str, codes: Any, bits: int | None, n_hashes: int | None) -> tuple[Array, int, int]:
    """The array of codes, the bits of a code and the codes of a row."""
    if isinstance(codes, PackedCodes):
        for what, given, known in (
            ("bits", bits, codes.bits),
            ("n_hashes", n_hashes, codes.n_hashes),
        ):
            if given is not None and given != known:
                raise ValueError(f"{what} must be that of {name}, {known}, got {given!r}")
        return codes.array, codes.bits, codes.n_hashes
    array = check_codes(name, codes)
    if bits is None:
        raise ValueError(f"bits must be given where {name} is a plain array")
    bits = _validation.check_int("bits", bits, 1, 24)
    most = 8 * array.shape[1] // bits
    if n_hashes is not None:
        most = _validation.check_int("n_hashes", n_hashes, 1, most)
    return array, bits, most


def unwrap_pair(
    names: tuple[str, str], A: Any, B: Any, bits: int | None, n_hashes: int | None
) -> tuple[Array, Array, int, int]:
    """The same for two that are to be compared; one of them may be a plain array."""
    packed = next((codes for codes in (A, B) if isinstance(codes, PackedCodes)), None)
    if packed is not None:
        if isinstance(A, PackedCodes) and isinstance(B, PackedCodes):
            refuse_different(" and ".join(names), A, B)
        _, bits, n_hashes = unwrap(names[0 if packed is A else 1], packed, bits, n_hashes)
    A, bits_, n_hashes_ = unwrap(names[0], A, bits, n_hashes)
    B = B.array if isinstance(B, PackedCodes) else check_codes(names[1], B)
    if A.shape[1] != B.shape[1]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have rows of one length, got {A.shape[1]} and "
            f"{B.shape[1]} bytes"
        )
    return A, B, bits_, n_hashes_
