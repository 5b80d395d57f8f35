"""The file of an index: its codes, its parameters, and its tables of bands.

The file is a file of packed codes (`sparsemaps.codes._file`) with further arrays and entries. If
the index stores its rows, they are in a second file, ``path + ".rows.npz"``.
"""

import contextlib
import os
import secrets
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import scipy.sparse as sp

from sparsemaps._input import _sparse
from sparsemaps._io import _output_files, _text_input
from sparsemaps._io._array_files import read_csr
from sparsemaps._io._described_files import damage_named
from sparsemaps._tools import _checks
from sparsemaps._tools._plurals import counted
from sparsemaps.codes import _file
from sparsemaps.codes._packed import PackedCodes, open_file, save_blocks
from sparsemaps.maps import _config
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._bands import Bands
from sparsemaps.neighbors._index_rows import IndexRows, Target
from sparsemaps.neighbors._tables import BandTables

_VERSION = 1
_PARAMETERS = "n_neighbors", "radius", "algorithm", "recall", "rerank"
ROWS = ".rows.npz"
"""Suffix of the file that holds the rows of an index."""


class SavedAs(NamedTuple):
    """The file from or to which an index was last loaded or saved, and the random ID of that
    save."""

    path: str = ""
    number: Any = None


def save(path: str, index_rows: IndexRows, parameters: dict[str, Any], before: SavedAs) -> SavedAs:
    """Write an index with the given parameters, as of one moment. `before` is its last file."""
    with index_rows.lock:
        _refuse_overwriting(path, before)
        number = secrets.token_hex(8)
        description: dict[str, Any] = {
            "index": {name: parameters[name] for name in _PARAMETERS},
            "index_version": _VERSION,
            "saved": number,
        }
        state, tables, further = index_rows.state, index_rows.tables(), {}
        if tables is not None and state.bands is not None and state.target is not None:
            further = {"heads": tables.heads, "links": tables.links[: state.n_rows]}
            description["bands"] = [*state.bands, *state.target, index_rows.hash_key]
        with contextlib.ExitStack() as stack:
            if state.rows is not None:  # moved into place after the codes
                file = stack.enter_context(_output_files.atomic_output(path + ROWS))
                sp.save_npz(file, state.rows.stacked(), compressed=False)
            save_blocks(path, index_rows.codes(state), description, further)
    return SavedAs(os.path.realpath(path), number)


def _refuse_overwriting(path: str, before: SavedAs) -> None:
    """Raise if writing would overwrite an index that another writer has saved."""
    if before.path != os.path.realpath(path) or not os.path.exists(path):
        return
    if open_file(path, "r")[1].description.get("saved") != before.number:
        raise ValueError(f"{path} now holds a different index: save under another name")


def load(path: str, make: Callable[..., Any], mmap_mode: Literal["r", "c"] | None) -> Any:
    """Return the index in a file; ``make(map=..., **parameters)`` returns one without rows."""
    codes, contents = open_file(path, mmap_mode)
    description = contents.description
    if "index" not in description:
        raise ValueError(f"{path} holds packed codes and no index: use PackedCodes.load")
    version = description.get("index_version")
    if version != _VERSION:
        raise ValueError(
            f"{path} holds an index of version {version}; this version of sparsemaps reads "
            f"version {_VERSION}"
        )
    parameters = description["index"]
    if not isinstance(parameters, dict) or set(parameters) != set(_PARAMETERS):
        raise ValueError(f"{path} is damaged: its parameters cannot be read")
    try:
        index = make(**{"map": _config.from_config(codes.config), **parameters})
        index._check_parameters()
    except (ValueError, OverflowError, RecursionError) as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    if not _are_codes_of(codes, index.map):
        raise ValueError(f"{path} is damaged: its codes do not belong to its map")
    rows = _load_rows(path + ROWS, len(codes)) if index.rerank else None
    index._index_rows = _rows_with_tables(path, codes, rows, contents)
    index._saved = SavedAs(os.path.realpath(path), description.get("saved"))
    return index


def _rows_with_tables(
    path: str, codes: PackedCodes, rows: object, contents: _file.Contents
) -> IndexRows:
    """Return the rows in a file, with its tables if it has any."""
    description, further = contents.description, contents.further
    if "bands" not in description:
        return IndexRows(codes, rows)
    with damage_named(path, "its tables"):
        *bands, least, recall, hash_key = description["bands"]
        bands = Bands(*(_checks.check_int("bands", n, 1, codes.n_hashes) for n in bands))
        least = _checks.check_int("least", least, 1, codes.n_hashes)
        target = Target(least, _search.check_share("recall", recall))
        hash_key = _checks.check_int("hash_key", hash_key, 0, 2**64 - 1)
        tables = BandTables(further["heads"], further["links"])
        if not tables.are_of(len(codes), bands, codes.n_hashes):
            raise ValueError
    return IndexRows(codes, rows, tables, target, bands, hash_key)


def _are_codes_of(codes: PackedCodes, map: Any) -> bool:
    """Return whether codes have the same form as a map's codes."""
    if map.size != codes.n_hashes:  # checked first, so that a damaged file cannot make huge rows
        return False
    # Encode no rows, because a damaged file may claim rows of any size.
    made = map.encode(sp.csr_array((0, map.n_columns or 1)), packed=True)
    facts = [(each.law, each.n_hashes, each.shape[1]) for each in (made, codes)]
    return facts[0] == facts[1]


def _load_rows(path: str, n_rows: int) -> Any:
    """Return the rows of an index as valid CSR."""
    with _text_input.array_errors_naming(f"{path} holds no sound sparse matrix"):
        rows = _sparse.sound_matrix(read_csr(path), "the matrix")
    if rows.shape[0] != n_rows:
        wanted = counted(n_rows, "rows")
        raise ValueError(f"{path} must have the {wanted} of the index, got {rows.shape[0]}")
    return rows
