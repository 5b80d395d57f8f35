"""The subcommands pairs and dedup."""

import argparse

from sparsemaps._io._sources import expand
from sparsemaps._tools._plurals import counted
from sparsemaps.cli._given import (
    make_map,
    refuse_other_options,
    run_plan,
    source_by_names,
    value_of,
)
from sparsemaps.cli._last_line import say, say_if_empty, words_of
from sparsemaps.files._dedup import Dedup
from sparsemaps.files._job_options import Aside, PairSearch, Removal, Search, Tables
from sparsemaps.files._pairs import PairsPlan
from sparsemaps.records._table import holds_codes

_FRAME = 100
"""Records of a larger cluster may only share boilerplate."""


def pairs(options: argparse.Namespace) -> None:
    inputs, other = expand(options.inputs), options.other and expand(options.other)
    read = [*inputs, *(other or [])]
    coded = [path for path in read if holds_codes(path)]
    if coded:
        refuse_other_options(options, coded[0])
    made = None if coded else make_map(options)
    source = source_by_names(options, [path for path in read if not holds_codes(path)])
    search, aside = value_of(options, PairSearch), value_of(options, Aside).aside
    plan = PairsPlan.of(made, inputs, options.output, other, source, search, aside)
    answer = run_plan(options, plan)
    if answer is None:
        return
    sides = (options.inputs, answer.n_rows), (options.other, answer.n_other)
    for inputs, n_rows in sides:
        if inputs:
            say_if_empty(inputs, n_rows, "rows")
    figures = {
        "rows": answer.n_rows, "other rows": answer.n_other, "pairs": answer.n_pairs,
        "bad": answer.n_bad,
    }  # fmt: skip
    say(options, words_of(figures), answer)


def dedup(options: argparse.Namespace) -> None:
    search, tables = value_of(options, Search), value_of(options, Tables)
    inputs, removal = expand(options.inputs), value_of(options, Removal)
    source, made = source_by_names(options, inputs), make_map(options)
    plan = Dedup.of(made, inputs, options.output, source, search, removal, tables)
    result = run_plan(options, plan)
    if result is None:
        return
    say_if_empty(options.inputs, result.n_records)
    said = result.named_counts().items()
    figures = ", ".join(counted(n, words) for words, n in said if n or words in ("records", "kept"))
    figures += f"; {counted(result.n_clusters, 'clusters')} of several, largest {result.largest}"
    if result.largest > _FRAME and getattr(source, "max_df", 0) is None:
        figures += " (if these share no more than a frame, see --max-df)"
    say(options, figures, result)
