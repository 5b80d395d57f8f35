"""The contents of the report of a deduplication: its figures, and the texts of some records."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from sparsemaps._tools._typing import Array
from sparsemaps.files._report import N_GROUPS, WORDS, Group, Pair, Report, draw_pairs
from sparsemaps.files._rows import Source, read_pieces
from sparsemaps.neighbors._removals import Removals


def report_of(
    found: Removals,
    settings: Mapping[str, Any],
    counts: Mapping[str, int],
    name_of: Callable[[int], str],
    read_texts: Callable[[Array], Mapping[int, str]],
) -> Report:
    """The contents of the report. `read_texts` gives texts of rows, as far as they are known."""
    threshold = float(settings["threshold"])
    shown = draw_pairs(found.similarity, threshold)
    witnesses, sizes = np.unique(found.witness, return_counts=True)
    largest = witnesses[np.argsort(-sizes, kind="stable")[:N_GROUPS]]
    texts = read_texts(np.concatenate([found.removed[shown], found.witness[shown], largest]))
    groups = []
    for witness in largest.tolist():
        similarity = found.similarity[found.witness == witness]
        least = float(similarity.min())
        groups.append(Group(name_of(witness), len(similarity), least, texts.get(witness)))
    pairs = [
        Pair(name_of(row), name_of(witness), similarity, texts.get(row), texts.get(witness))
        for row, witness, similarity in zip(
            *(column[shown].tolist() for column in found), strict=True
        )
    ]
    shown_settings = {name: _shown(value) for name, value in settings.items()}
    words = WORDS[settings["similarity"]]
    return Report(shown_settings, counts, threshold, found.similarity, sizes, groups, pairs, words)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)


def texts_of(source: Source, inputs: Iterable[Any], rows: Array) -> dict[int, str]:
    """The texts of some records. Records are numbered from 0 through all inputs."""
    wanted = np.unique(rows)
    found: dict[int, str] = {}
    for first, texts in _numbered(source, inputs):
        here = wanted[np.searchsorted(wanted, first) : np.searchsorted(wanted, first + len(texts))]
        found |= {row: str(texts[row - first]) for row in here.tolist()}
        if not len(wanted) or first + len(texts) > wanted[-1]:
            break
    return found


def _numbered(source: Source, inputs: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """The number of the first record, and the texts, of each piece of the inputs."""

    def step(piece: Any) -> tuple[tuple[Any, int], int]:
        texts = source.texts(piece)
        return (texts, len(texts)), 0

    first = 0
    for input in inputs:
        pieces = read_pieces(source, input, step, n_jobs=None)
        with contextlib.closing(pieces):
            for texts in pieces:
                yield first, texts
                first += len(texts)
