"""The files that explain the removals: two tables and a report."""

import bisect
import contextlib
import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from sparsemaps._io import _output_files
from sparsemaps._io._array_files import ArrayKind, read_array
from sparsemaps._io._sources import BAD
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import Array, Destination
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._bad_records import join_tables
from sparsemaps.files._coded_records import Delivery
from sparsemaps.files._dedup_plan import CLUSTERS, CODES, REMOVED, DedupPlan
from sparsemaps.files._frames import Judged, frames_of, judge
from sparsemaps.files._frequency_stages import FREQUENCIES, with_table
from sparsemaps.files._removed_records import read_removals
from sparsemaps.files._report import (
    N_GROUPS,
    FrameExample,
    Group,
    OwnNgramsShown,
    Pair,
    Report,
    draw_pairs,
    render,
)
from sparsemaps.files._row_names import names_of_rows, write_table
from sparsemaps.files._row_source import Source
from sparsemaps.files._rows import read_each
from sparsemaps.neighbors._removals import Removals
from sparsemaps.text._own_ngrams import OwnNgrams


def write_evidence(
    plan: DedupPlan, files: Mapping[str, str], counts: Mapping[str, int], n_jobs: int | None
) -> None:
    """Write the requested tables and report. `files` are the results of stages."""
    n_records, tables, against = counts["records"], plan.tables, plan.earlier
    codes = files[CODES]
    if tables.clusters is not None:
        kind = ArrayKind(np.uint32, (n_records,))
        numbers = read_array(files[CLUSTERS], kind, mmap=True)
        write_clusters(tables.clusters, numbers, codes)
    if tables.aside is not None:
        join_tables(tables.aside, [codes + BAD])
    if tables.removed is None and tables.report is None:
        return
    found = read_removals(files[REMOVED], n_records, against)
    with names_of(n_records, codes, against) as name_of:
        if tables.removed is not None:
            write_removals(tables.removed, found, name_of)
        if tables.report is not None:
            report = report_of(plan, found, counts, name_of, files.get(FREQUENCIES), n_jobs)
            with _output_files.atomic_output(tables.report) as file:
                file.writelines(piece.encode() for piece in render(report))


# ---- the report ---------------------------------------------------------------------------------


def report_of(
    plan: DedupPlan,
    found: Removals,
    counts: Mapping[str, int],
    name_of: Callable[[int], str],
    table: str | None,
    n_jobs: int | None,
) -> Report:
    """Return the contents of the report. The texts of earlier deliveries are unknown. `table` is
    the file of frequencies, if records are compared by their own n-grams."""
    threshold = plan.search.threshold
    source: Any = plan.job.source
    own: OwnNgrams | None = None
    judged: Judged | None = None
    if table is not None:
        with_own: Any = with_table(plan.job, table).source
        own, unnumbered = with_own.vectorizer, dataclasses.replace(source, numbers_labels=False)
        judged = judge(unnumbered, with_own.vectorizer, plan.inputs, n_jobs)
    shown = draw_pairs(found.similarity, threshold)
    witnesses, sizes = np.unique(found.witness, return_counts=True)
    largest = witnesses[np.argsort(-sizes, kind="stable")[:N_GROUPS]]
    examples = [] if judged is None else [group.row for group in judged.groups]
    rows = np.concatenate([found.removed[shown], found.witness[shown], largest, examples])
    texts, sources = _texts_of(source, plan.inputs, rows.astype(np.int64))
    groups = []
    for witness in largest.tolist():
        similarity = found.similarity[found.witness == witness]
        least = float(similarity.min())
        groups.append(Group(name_of(witness), len(similarity), least, texts.get(witness)))
    pairs = [
        Pair(
            name_of(row),
            name_of(witness),
            similarity,
            texts.get(row),
            texts.get(witness),
            sources.get(row, ""),
            _sets_of(own, texts.get(row)),
            _sets_of(own, texts.get(witness)),
        )
        for row, witness, similarity in zip(
            *(column[shown].tolist() for column in found), strict=True
        )
    ]
    shown_own = None
    if own is not None and judged is not None:
        shown_own = _own_shown(own, judged, texts, name_of)
    return Report(
        _settings(plan), counts, threshold, found.similarity, sizes, groups, pairs, shown_own
    )


def _own_shown(
    own: OwnNgrams, judged: Judged, texts: dict[int, str], name_of: Callable[[int], str]
) -> OwnNgramsShown:
    """Return the report's contents on own n-grams and frames."""
    about = (
        f"An n-gram is common if it is in more than {counted(own.max_df, 'records', ',')}. The "
        "other n-grams of a record are its own. A record with "
        f"{counted(own.min_own, 'own n-grams', ',')} or more is judged by them alone, and any "
        "other record by all its n-grams."
    )
    counts = {
        "judged by own n-grams": judged.n_by_own,
        "of them, with common n-grams too": judged.n_with_frame,
        "judged by all n-grams": judged.n_by_all,
    }
    frames = [
        FrameExample(
            frame.n_records,
            name_of(frame.row),
            f"common, and not counted: {frame.n_common:,} of its "
            f"{counted(frame.n_ngrams, 'n-grams', ',')}",
            texts[frame.row],
        )
        for frame in frames_of(judged.groups, texts, own)
    ]
    return OwnNgramsShown(about, counts, frames, own.is_common)


def _sets_of(own: OwnNgrams | None, text: str | None) -> str:
    """Describe the n-grams of a text that count; return an empty text if all n-grams always
    count."""
    if own is None or text is None:
        return ""
    columns = own.vectorizer.transform([text]).indices
    n_own = int(own.n_own(columns, np.array([len(columns)]))[0])
    if n_own >= own.min_own:
        return f"judged by {counted(n_own, 'own n-grams', ',')} of {len(columns):,}"
    return f"judged by all {counted(len(columns), 'n-grams', ',')}; its own: {n_own:,}"


def _settings(plan: DedupPlan) -> dict[str, str]:
    config = plan.job.map.to_config()
    given = plan.job.source.given
    own = {field.name: getattr(given, field.name) for field in dataclasses.fields(given)}
    rows = own.pop("analyzer", "rows of LIBSVM files")
    others = {name: value for name, value in own.items() if value != getattr(type(given), name)}
    settings = {
        "inputs": ", ".join(str(getattr(input, "path", input)) for input in plan.inputs),
        "map": f"{config['class']}{_listed(config['parameters'])}, seed {config['seed']}",
        "n-grams": f"{rows}{_listed(others)}",
        **plan.search.recipe,
        "similarity": "jaccard" if plan.job.map.law.is_of_sets else "kernel of the map",
        "keep": plan.removal.keep,
        "against": ", ".join(str(earlier.codes) for earlier in plan.earlier) or "nothing",
    }
    return {
        name: one if isinstance(one, str) else json.dumps(one) for name, one in settings.items()
    }


def _listed(parameters: Mapping[str, Any]) -> str:
    return "".join(f", {name} {value}" for name, value in parameters.items())


def _texts_of(
    source: Source, inputs: Iterable[Any], rows: Array
) -> tuple[dict[int, str], dict[int, str]]:
    """Return the texts and the inputs of the given records. Records are numbered from 0 through all
    inputs."""
    wanted = np.unique(rows)
    found: dict[int, str] = {}
    places: dict[int, str] = {}
    first = 0
    for input in inputs:
        with contextlib.closing(read_each(source, input, source.texts)) as pieces:
            for texts in pieces:
                if not len(wanted) or first > wanted[-1]:
                    return found, places
                start, stop = np.searchsorted(wanted, (first, first + len(texts)))
                found |= {row: str(texts[row - first]) for row in wanted[start:stop].tolist()}
                name = str(getattr(input, "path", input))
                places |= dict.fromkeys(wanted[start:stop].tolist(), name)
                first += len(texts)
    return found, places


# ---- tables --------------------------------------------------------------------------------------


def write_removals(output: Destination, found: Removals, name_of: Callable[[int], str]) -> None:
    """Write a table of removed records, each with the kept record that it duplicates and their
    similarity."""

    def line(row: int, witness: int, similarity: float) -> str:
        return f"{name_of(row)}\t{name_of(witness)}\t{similarity:.6f}\n"

    with _output_files.atomic_output(output) as file:
        file.write(b"removed\tkept\tsimilarity\n")
        write_table(file, found, line)


@contextmanager
def names_of(
    n_records: int, codes: str, against: Sequence[Delivery]
) -> Iterator[Callable[[int], str]]:
    """Yield a function from a row to the name of its record: the id, or else the number from 1. A
    record of an earlier delivery is named DELIVERY:record."""
    with ExitStack() as stack:
        firsts, prefixes = [0], [""]
        names = [stack.enter_context(names_of_rows(codes, n_records))]
        first = n_records
        for earlier in against:
            path, n = earlier.codes.path, len(PackedCodes.load(earlier.codes))
            label = os.path.dirname(path) if earlier.kept is not None else path
            firsts.append(first)
            prefixes.append(f"{escaped(label)}:")
            names.append(stack.enter_context(names_of_rows(path, n)))
            first += n

        def name_of(row: int) -> str:
            which = bisect.bisect(firsts, row) - 1
            return prefixes[which] + names[which](row - firsts[which])

        yield name_of


def write_clusters(output: Destination, numbers: Array, codes: str) -> None:
    """Write lines with a record's number or id, and the number of its cluster. Numbers count from
    1."""
    with names_of_rows(codes, len(numbers)) as name_of, _output_files.atomic_output(output) as file:
        columns = np.arange(len(numbers)), numbers
        write_table(file, columns, lambda row, number: f"{name_of(row)}\t{number + 1}\n")
