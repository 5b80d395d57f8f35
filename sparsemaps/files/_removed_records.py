"""Which records are removed by rule "kept", and why: a result of a job, and a table."""

import mmap
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _output_files
from sparsemaps._tools._array_files import ArrayKind, read_array
from sparsemaps._tools._sources import IDS
from sparsemaps._tools._stages import Stages
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes, save_blocks
from sparsemaps.files._coded_records import Codes, Earlier, Search, copies, rows_of
from sparsemaps.files._job import Job
from sparsemaps.files._results import save_array
from sparsemaps.files._tasks import How
from sparsemaps.neighbors import _removals, _search
from sparsemaps.neighbors._exact import exact_pairs
from sparsemaps.neighbors._removals import Near, Removals

SIMILARITY = ".similarity.npy"
"""The ending of the name of the file beside that of removed records."""

_EARLIER = "-earlier.npy"


def find_removals(
    job: Job, search: Search, keep: str, inputs: list[Any], codes: Codes,
    against: Sequence[Earlier], path: str, how: How, steps: Stages,
) -> int:  # fmt: skip
    """Write removed records with their witnesses, and how similar they are; returns their
    number."""
    own = codes.load()
    with ExitStack() as stack:
        earlier = _earlier_codes(against, path + _EARLIER, stack)
        near = _near(job, search, inputs, own, earlier, os.path.dirname(path), how, stack)
        key = None if keep == "first" else -codes.lengths().astype(np.int64)
        found = _removals.removed_rows(
            own, earlier, near, key, _search.MAX_BUCKET, how.n_jobs, stages=steps
        )
    found = _with_copies(found, *copies(codes.digests()))
    save_array(path, np.stack(found[:2]).astype(np.uint32))
    save_array(path + SIMILARITY, found.similarity)
    return len(found.removed)


def read_removals(path: str, n_records: int, against: Sequence[Earlier]) -> Removals:
    """The removals of a file; a ValueError if it is damaged."""
    n_earlier = sum(len(PackedCodes.load(earlier.codes)) for earlier in against)
    most = max(0, n_records - 1), max(0, n_records + n_earlier - 1)
    removed, witness = read_array(path, ArrayKind(np.uint32, (2, None), most))
    similarity = read_array(path + SIMILARITY, ArrayKind(np.float64, (len(removed),)))
    return Removals(removed.astype(np.int64), witness.astype(np.int64), similarity)


def _earlier_codes(against: Sequence[Earlier], path: str, stack: ExitStack) -> PackedCodes | None:
    """The codes of all earlier deliveries. Several are joined in a temporary file."""
    sets = [earlier.load() for earlier in against]
    if len(sets) < 2:
        return sets[0] if sets else None
    save_blocks(path, sets)
    stack.callback(os.unlink, path)
    return PackedCodes.load(path)


def _near(
    job: Job,
    search: Search,
    inputs: list[Any],
    codes: PackedCodes,
    earlier: PackedCodes | None,
    folder: str,
    how: How,
    stack: ExitStack,
) -> Near:
    """Which pairs are near: by the estimates, or by the exact kernel, for which the rows that may
    be in a pair are read once more. Of earlier deliveries only the codes are known."""
    near = _removals.by_estimate(codes, earlier, search.threshold, search.recall)
    if not search.exact:
        return near
    n_given = 0 if earlier is None else len(earlier)
    rows: list[Any] = []

    def prepare(wanted: Array) -> None:
        is_wanted = np.zeros(len(codes), bool)
        is_wanted[wanted] = True
        X = rows_of(job, inputs, is_wanted, folder, how, stack)
        rows[:] = [np.cumsum(is_wanted, dtype=np.int32) - 1, X]

    def similarity(i: Array, j: Array, differing: Array) -> Array:
        place, X = rows
        values = np.empty(len(i))
        is_given = i < n_given
        values[is_given] = near.similarity(i[is_given], j[is_given], differing[is_given])
        own = np.flatnonzero(~is_given)
        own = own[np.argsort(i[own], kind="stable")]
        one, other = place[i[own] - n_given], place[j[own] - n_given]
        values[own] = exact_pairs(job.map, X, X, one, other)
        return values

    least, recall = _search.for_candidates(codes, search.threshold, search.recall)
    return Near(least, recall, search.threshold, similarity, prepare)


def _with_copies(found: Removals, first: Array, later: Array) -> Removals:
    """The removals, with those of records without samples: each is near the first of its equals."""
    removed = np.concatenate([found.removed, later])
    order = np.argsort(removed)
    witness = np.concatenate([found.witness, first])[order]
    similarity = np.concatenate([found.similarity, np.ones(len(later))])[order]
    return Removals(removed[order], witness, similarity)


def leaders(found: Removals, n_records: int) -> Array:
    """Of each removed record, a record of the same cluster: its witness, or the first one that is
    near the same record of an earlier delivery."""
    is_earlier = found.witness >= n_records
    leader = found.witness.copy()
    _, first, which = np.unique(found.witness[is_earlier], return_index=True, return_inverse=True)
    leader[is_earlier] = found.removed[is_earlier][first][which]
    return leader


# ---- the table of removals -----------------------------------------------------------------------

_LINES = 2**14
"""Lines that are written at a time."""

HEADER = "removed\tkept\tsimilarity\n"


class _Names(NamedTuple):
    """What the records of a delivery are called: by their ids, or else by numbers from 1."""

    first: int
    n: int
    prefix: str
    name: Callable[[int], str]


def write_removals(output: Any, found: Removals, name_of: Callable[[int], str]) -> None:
    """Write lines of a removed record, the kept record that it is near, and their similarity."""
    with _output_files.atomic_output(output) as file:
        file.write(HEADER.encode())
        for start in range(0, len(found.removed), _LINES):
            some = slice(start, start + _LINES)
            lines = [
                f"{name_of(row)}\t{name_of(witness)}\t{similarity:.6f}\n"
                for row, witness, similarity in zip(
                    *(column[some].tolist() for column in found), strict=True
                )
            ]
            file.write("".join(lines).encode("utf-8", "surrogateescape"))


@contextmanager
def names_of(
    n_records: int, codes: str, against: Sequence[Earlier]
) -> Iterator[Callable[[int], str]]:
    """A function from a row to the name of its record. A record of an earlier delivery is
    DELIVERY:record."""
    with ExitStack() as stack:
        names = [_Names(0, n_records, "", stack.enter_context(_ids(codes + IDS)))]
        first = n_records
        for earlier in against:
            path, n = earlier.codes.path, len(PackedCodes.load(earlier.codes))
            label = os.path.dirname(path) if earlier.kept is not None else path
            name = stack.enter_context(_ids(path + IDS))
            names.append(_Names(first, n, f"{label}:", name))
            first += n
        yield lambda row: _name_of(row, names)


def _name_of(row: int, names: list[_Names]) -> str:
    for one in names:
        if row < one.first + one.n:
            return one.prefix + one.name(row - one.first)
    raise AssertionError(row)


@contextmanager
def _ids(path: str) -> Iterator[Callable[[int], str]]:
    """A function from the number of a record to its id, which is a line of the file; from 1 on if
    there is no file."""
    if not os.path.exists(path) or not os.path.getsize(path):
        yield lambda row: str(row + 1)
        return
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
        ends = _ends_of_lines(lines)
        yield lambda row: lines[int(ends[row]) : int(ends[row + 1]) - 1].decode(
            "utf-8", "surrogateescape"
        )


def _ends_of_lines(lines: mmap.mmap) -> Array:
    parts = [np.zeros(1, np.int64)]
    for start in range(0, len(lines), 2**24):
        block = np.frombuffer(lines[start : start + 2**24], np.uint8)
        parts.append(np.flatnonzero(block == ord("\n")) + (start + 1))
    return np.concatenate(parts)
