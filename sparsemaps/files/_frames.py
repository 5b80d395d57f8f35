"""Records that are compared by their own n-grams, and the boilerplate ("frames") that they
share."""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools._blocks import sums_of_rows
from sparsemaps._tools._typing import Array
from sparsemaps.files._rows import read_rows
from sparsemaps.files._text_rows import TextRows
from sparsemaps.records._batch import Batch
from sparsemaps.text._own_ngrams import OwnNgrams

N_FRAMES = 10
"""Number of listed frames."""

_CANDIDATES = 4 * N_FRAMES
"""Number of groups to compare, since several groups may have the same frame."""

_MOST_GROUPS = 2**18
"""Number of groups to retain while records are read: those with the most common n-grams."""

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class FrameGroup(NamedTuple):
    """Records that share common n-grams: the first record and the number of records."""

    row: int
    n_records: int


class Judged(NamedTuple):
    """The numbers of records compared by their own n-grams, of those among them that also have
    common n-grams, and of records compared by all n-grams; and the groups of records with a
    frame."""

    n_by_own: int
    n_with_frame: int
    n_by_all: int
    groups: list[FrameGroup]


def judge(source: TextRows, own: OwnNgrams, inputs: Iterable[Any], n_jobs: int | None) -> Judged:
    """Read all records and return how they are compared. Records are numbered from 0 through all
    inputs.

    A hash selects one of the common n-grams of each record. Records that are compared by their own
    n-grams form a group if their selected n-grams are equal.
    """

    def look(block: Batch) -> tuple[int, int, Array, Array, Array]:
        return _looked_at(own, block.X)

    n_by_own = n_rows = n_with_frame = 0
    groups: dict[int, list[int]] = {}  # number of common n-grams, number of records, first record
    for input in inputs:
        with contextlib.closing(read_rows(source, input, look, n_jobs=n_jobs)) as blocks:
            for n, by_own, rows, chosen, n_common in blocks:
                n_by_own += by_own
                n_with_frame += len(rows)
                each = zip(rows.tolist(), chosen.tolist(), n_common.tolist(), strict=True)
                for row, name, n_of_row in each:
                    group = groups.setdefault(name, [0, 0, n_rows + row])
                    group[0] += n_of_row
                    group[1] += 1
                n_rows += n
                if len(groups) > 2 * _MOST_GROUPS:
                    groups = dict(_largest(groups, _MOST_GROUPS))
    found = [
        FrameGroup(row, n_records)
        for _, (_, n_records, row) in _largest(groups, _CANDIDATES)
        if n_records > 1
    ]
    return Judged(n_by_own, n_with_frame, n_rows - n_by_own, found)


def _largest(groups: dict[int, list[int]], n: int) -> list[tuple[int, list[int]]]:
    """Return the `n` groups with the most common n-grams; among equal ones, the first."""
    return sorted(groups.items(), key=lambda item: -item[1][0])[:n]


def _looked_at(own: OwnNgrams, X: Any) -> tuple[int, int, Array, Array, Array]:
    """Return the number of rows and the number of rows compared by their own n-grams. For the
    latter rows that also have common n-grams, return the rows, one common n-gram of each, selected
    by a hash, and the numbers of common n-grams."""
    ends = np.concatenate([[0], X.indptr[1:]])
    sizes = np.diff(ends)
    is_common = own.common(X.indices)
    n_own = sums_of_rows(~is_common, ends[1:])
    by_own = n_own >= own.min_own
    rows = np.flatnonzero(by_own & (n_own < sizes))
    with np.errstate(over="ignore"):
        hashes = (X.indices.astype(np.uint64) + np.uint64(1)) * _FACTOR
    hashes[~is_common] = np.iinfo(np.uint64).max
    # Take the least hash of each row, from its start to its end. Every other part is between rows.
    parts = np.stack([ends[:-1][rows], ends[1:][rows]], axis=1).ravel()
    chosen = np.minimum.reduceat(np.append(hashes, np.uint64(0)), parts)[::2]
    return X.shape[0], int(by_own.sum()), rows, chosen, (sizes - n_own)[rows]


class Frame(NamedTuple):
    """A frame: the number of records with it, the first record, the number of common n-grams of
    that record, and the number of all its n-grams."""

    n_records: int
    row: int
    n_common: int
    n_ngrams: int


def frames_of(groups: Sequence[FrameGroup], texts: dict[int, str], own: OwnNgrams) -> list[Frame]:
    """Return the frames of groups, largest first. Groups share a frame if their first records share
    at least half of the common n-grams of each. Groups of few records are not frames."""
    found: list[Frame] = []
    sets: list[Array] = []
    for group in groups:
        if group.row not in texts:
            continue
        columns = own.vectorizer.transform([texts[group.row]]).indices
        common = columns[own.common(columns)]
        for number, other in enumerate(sets):
            shared = len(np.intersect1d(common, other))
            if 2 * shared >= max(len(common), len(other)):
                n_records = found[number].n_records + group.n_records
                found[number] = found[number]._replace(n_records=n_records)
                break
        else:
            found.append(Frame(group.n_records, group.row, len(common), len(columns)))
            sets.append(common)
    return [frame for frame in found if 2 * frame.n_records > own.max_df][:N_FRAMES]
