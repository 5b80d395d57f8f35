"""The contents of the report of a deduplication: its figures, and the texts of some records."""

import contextlib
import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from sparsemaps._tools._typing import Array
from sparsemaps.files._dedup_plan import DedupPlan
from sparsemaps.files._job_options import Svmlight, Texts
from sparsemaps.files._report import N_GROUPS, WORDS, Group, Pair, Report, draw_pairs
from sparsemaps.files._rows import Source, read_each
from sparsemaps.neighbors._removals import Removals


def report_of(
    plan: DedupPlan,
    inputs: Iterable[Any],
    found: Removals,
    counts: Mapping[str, int],
    name_of: Callable[[int], str],
) -> Report:
    """The contents of the report. Of records of earlier deliveries no text is known."""
    threshold = plan.search.threshold
    shown = draw_pairs(found.similarity, threshold)
    witnesses, sizes = np.unique(found.witness, return_counts=True)
    largest = witnesses[np.argsort(-sizes, kind="stable")[:N_GROUPS]]
    rows = np.concatenate([found.removed[shown], found.witness[shown], largest])
    texts = _texts_of(plan.job.source, inputs, rows)
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
    settings, words = _settings(plan), WORDS[plan.search.similarity]
    return Report(settings, counts, threshold, found.similarity, sizes, groups, pairs, words)


def _settings(plan: DedupPlan) -> dict[str, str]:
    """The settings that a report shows."""
    config = plan.job.map.to_config()
    given = plan.job.source.given
    rows = f"rows of LIBSVM files{_others(given)}"
    if isinstance(given, Texts):
        rows = given.analyzer + _others(given, "analyzer")
    settings = {
        "inputs": ", ".join(str(getattr(input, "path", input)) for input in plan.inputs),
        "map": f"{config['class']}{_listed(config['parameters'])}, seed {config['seed']}",
        "n-grams": rows,
        **plan.search.recipe,
        "keep": plan.rule.keep,
        "against": ", ".join(str(earlier.codes) for earlier in plan.rule.against) or "nothing",
    }
    return {
        name: one if isinstance(one, str) else json.dumps(one) for name, one in settings.items()
    }


def _others(given: Texts | Svmlight, *shown: str) -> str:
    """The parameters that are not the defaults."""
    return _listed(
        {
            field.name: getattr(given, field.name)
            for field in dataclasses.fields(given)
            if field.name not in shown and getattr(given, field.name) != field.default
        }
    )


def _listed(parameters: Mapping[str, Any]) -> str:
    return "".join(f", {name} {value}" for name, value in parameters.items())


def _texts_of(source: Source, inputs: Iterable[Any], rows: Array) -> dict[int, str]:
    """The texts of some records. Records are numbered from 0 through all inputs."""
    wanted = np.unique(rows)
    found: dict[int, str] = {}
    first = 0
    for input in inputs:
        with contextlib.closing(read_each(source, input, source.texts)) as pieces:
            for texts in pieces:
                if not len(wanted) or first > wanted[-1]:
                    return found
                start, stop = np.searchsorted(wanted, (first, first + len(texts)))
                found |= {row: str(texts[row - first]) for row in wanted[start:stop].tolist()}
                first += len(texts)
    return found
