"""Checks of packed codes: valid arrays, sizes that fit, and codes from the same map."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from sparsemaps._tools import _checks
from sparsemaps._tools._allowed import LARGEST_BITS
from sparsemaps._tools._parameters import absent, named, named_class, shown
from sparsemaps._tools._typing import Array

TEXTS = "texts"
"""Config key under which codes of texts store the vectorizer that made their rows."""

LARGEST_N_BITS = _checks.LARGEST_INT32
"""Largest number of bits in the codes of a row: counts of differing bits are 32-bit integers."""

LARGEST_SET = 2**32 - 1
"""Largest set size that is stored, in 32 bits. Larger sets are stored with this size."""


def check_sizes_of_sets(sizes: object, n_rows: int) -> Array:
    """Return `sizes` as uint32, one per row. Raise if they are invalid."""
    sizes = np.asarray(sizes)
    if sizes.shape != (n_rows,) or sizes.dtype.kind not in "iu":
        raise ValueError(
            f"sizes must be integers of shape ({n_rows},), got shape {sizes.shape} of {sizes.dtype}"
        )
    if (
        sizes.dtype != np.uint32
        and sizes.size
        and not 0 <= sizes.min() <= sizes.max() <= LARGEST_SET
    ):
        raise ValueError(
            f"sizes must be from 0 to {LARGEST_SET}, got {sizes.min()} to {sizes.max()}"
        )
    return np.ascontiguousarray(sizes, np.uint32)


def check_codes(name: str, codes: object) -> Array:
    """Return `codes` as a contiguous array of packed codes. Raise if they are invalid."""
    array = np.asarray(codes)
    if array.dtype != np.uint8 or array.ndim != 2 or array.shape[1] == 0:
        raise ValueError(
            f"{name} must be a two-dimensional array of uint8 with at least one byte per row, got "
            f"shape {array.shape} of {array.dtype}"
        )
    return np.ascontiguousarray(array)


def check_sizes(name: str, codes: Array, bits: object, n_hashes: object) -> tuple[int, int]:
    """Return the bits of a code and the number of codes per row. Raise if they do not fit into the
    rows of `codes`."""
    bits = _checks.check_int("bits", bits, 1, LARGEST_BITS)
    row_bits = 8 * codes.shape[1]
    if bits > row_bits:
        raise ValueError(f"bits of {name} must be at most {row_bits}, a row's bits, got {bits}")
    most = row_bits // bits
    if n_hashes is not None:
        most = _checks.check_int("n_hashes", n_hashes, 1, most)
    if bits * most > LARGEST_N_BITS:
        raise ValueError(f"rows of {name} must have at most {LARGEST_N_BITS} bits of codes")
    return bits, most


def rows_with_bits(codes: Array, step: int = 2**16) -> Array:
    """Return which rows have a nonzero bit, reading `step` rows at a time."""
    have_bits = np.empty(len(codes), bool)
    for start in range(0, len(codes), step):
        codes[start : start + step].any(axis=1, out=have_bits[start : start + step])
    return have_bits


class Codes(Protocol):
    """The attributes of `PackedCodes` that identify the map of the codes."""

    config: dict[str, Any]
    bits: int
    n_hashes: int
    law: Any


def refuse_different(names: str, A: Codes, B: Codes) -> None:
    """Raise unless both codes come from the same map and can therefore be compared."""

    def facts(codes: Codes) -> dict[str, Any]:
        return {
            **dict(_facts_of_map(codes.config)), "bits": codes.bits, "n_hashes": codes.n_hashes,
            "law": codes.law,
        }  # fmt: skip

    _refuse_other(f"{names} must be codes of the same map", facts(A), facts(B))
    texts: list[Any] = [codes.config.get(TEXTS) for codes in (A, B)]
    # Codes of a matrix have no vectorizer, and can be compared with codes of any texts.
    if None in texts or texts[0] == texts[1]:
        return
    refuse_other_texts(names, *texts)


def refuse_other_texts(names: str, *texts: Any) -> None:
    """Raise unless two vectorizers, given by the configurations in codes, make the same rows."""
    if not all(map(_describes_vectorizer, texts)):
        raise ValueError(f"{names} must have a vectorizer's class and parameters in {TEXTS!r}")
    rule = f"{names} must be codes of texts that were vectorized alike"
    _refuse_other(rule, *map(_facts_of_texts, texts))
    raise ValueError(rule)


def _describes_vectorizer(config: Any) -> bool:
    """Return whether a configuration has the form of a vectorizer's configuration."""
    if not isinstance(config, dict) or not isinstance(config.get("parameters"), dict):
        return False
    if not all(isinstance(config.get(part, {}), dict) for part in ("own", "idf")):
        return False
    return isinstance(config.get("idf", {}).get("parameters", {}), dict)


def _facts_of_map(config: dict[str, Any], where: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the name (followed by `where`) and value of each fact that determines a map's codes."""
    for name, value in config.items():
        if name == "parameters" and isinstance(value, dict):
            yield from _facts_of_map(value, where)
        elif name == "maps" and isinstance(value, list):
            for number, one in enumerate(value, 1):
                of_one = one if isinstance(one, dict) else {"class": one}
                yield from _facts_of_map(of_one, f" of map {number}")
        elif name not in ("n_features", TEXTS):
            yield name + where, value


def _facts_of_texts(config: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that determine the rows of texts, by name. "frequencies" is the digest of a
    table."""
    own, idf = config.get("own", {}), config.get("idf", {})
    if "table" in idf:
        own = {**own, "frequencies": idf["table"], **idf.get("parameters", {})}
    return {**config, **config["parameters"], **own, "parameters": 0, "own": 0, "idf": bool(idf)}


def _shown_fact(kind: str, value: Any) -> str:
    """Return a value as errors show it."""
    if value is None:
        return absent()
    return named_class(str(value)) if kind == "class" else shown(value)


def _refuse_other(rule: str, one: dict[str, Any], other: dict[str, Any]) -> None:
    for key in {**one, **other}:
        if one.get(key) == other.get(key):
            continue
        kind, _, of_map = key.partition(" of ")
        name = (kind if kind == "class" else named(kind)) + (f" of {of_map}" if of_map else "")
        first, second = (_shown_fact(kind, facts.get(key)) for facts in (one, other))
        raise ValueError(f"{rule}: {name} is {first} in one and {second} in the other")
