"""The subcommands map, text, kernel, info and demo."""

import argparse
import json
import operator
import sys
import time
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

from sparsemaps._io import _output_files
from sparsemaps._io._sources import expand
from sparsemaps._tools._checks import LARGEST_INT32, check_int
from sparsemaps._tools._escapes import print_line
from sparsemaps._tools._parameters import ParameterError
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._typing import MatrixLike
from sparsemaps.cli import _given
from sparsemaps.cli._last_line import say, say_if_empty, words_of
from sparsemaps.cli._options import KERNELS, load
from sparsemaps.files import _kernel_matrix
from sparsemaps.files._job import Job
from sparsemaps.files._job_options import Aside, MappedRows, Svmlight, Texts
from sparsemaps.files._kinds_of_inputs import rows_unless_said
from sparsemaps.files._outputs import OutputPlan, folders_of


def demo(options: argparse.Namespace) -> None:
    from sparsemaps.cli import _demo

    start = time.perf_counter()
    figures = _demo.run(options.output, options.plot)
    sys.stdout.flush()
    words = f"{counted(figures['pairs'], 'pairs')}, {time.perf_counter() - start:.1f} s"
    say(options, words, figures)


def map(options: argparse.Namespace) -> None:
    made = _given.make_map(options)
    header = options.command if options.header else False
    written = _given.value_of(options, MappedRows, header=header)
    aside = _given.value_of(options, Aside).aside
    paths = expand(options.inputs)
    source = rows_unless_said(_given.source_of(options), paths)
    plan = OutputPlan.of(Job.of_map(made, source, written, aside), paths, options.output)
    names = plan.written
    if options.save_config is not None:
        names = [*names, (options.save_config, "the file of --save-config")]
    read = [] if options.config is None else [options.config]
    _output_files.refuse_clashes([*paths, *read], names, folders_of(options.output))
    if options.save_config is not None:
        with _output_files.atomic_output(options.save_config) as out:
            out.write(json.dumps(made.to_config(), indent=1).encode() + b"\n")
    _run(options, plan)


def _run(options: argparse.Namespace, plan: OutputPlan) -> None:
    made = _given.run_outputs(options, plan)
    if made is None:
        return
    for file in made:
        if not file.skipped:
            say_if_empty([file.input], file.n_rows, "rows")
    n_rows, n_empty, n_bad = (
        sum(getattr(file, name) for file in made) for name in ("n_rows", "n_empty", "n_bad")
    )
    without = "without an n-gram" if plan.job.source.has_ngrams else "without an entry"
    figures = {"rows": n_rows, without: n_empty, "bad": n_bad}
    say(options, words_of(figures), {"rows": n_rows, "empty": n_empty, "bad": n_bad})


def text(options: argparse.Namespace) -> None:
    from sparsemaps.text import ByteNgrams, HashingVectorizer

    parameters = {"n_features": options.n_features, "token_pattern": options.token_pattern}
    parameters = {name: value for name, value in parameters.items() if value is not None}
    if options.n_features is not None:
        check_int("n_features", options.n_features, 1, LARGEST_INT32 - 1)
    if options.ngram_range is not None:
        low, high = parameters["ngram_range"] = tuple(options.ngram_range)
        if not 1 <= low <= high:
            rule = "two sizes of at least 1, the least and the greatest"
            raise ParameterError("ngram_range", f"{low} {high}", rule)
    if options.analyzer != "word" and options.token_pattern is not None:
        raise ValueError("--token-pattern needs --analyzer word")
    make: Callable[..., Any] = partial(HashingVectorizer, analyzer=options.analyzer)
    if options.analyzer == "byte":
        make = ByteNgrams
        if options.n_features is not None:
            raise ValueError("--n-features is not for --analyzer byte, whose columns are exact")
    vectorizer = make(binary=options.binary, **parameters)
    if parameters:
        vectorizer.fit(["any"])  # raises for invalid ones
    aside = _given.value_of(options, Aside).aside
    texts = _given.value_of(options, Texts, analyzer=Texts.analyzer, token_pattern=None)
    paths = expand(options.inputs)
    job = Job.of_text(vectorizer, texts, aside)
    _run(options, OutputPlan.of(job, paths, options.output))


def kernel(options: argparse.Namespace) -> None:
    kind = KERNELS[options.kernel_name]
    parts = [load(path) for path in (kind.make, *kind.factors)]
    parameters = _given.parameters_of(options, kind)

    def function(X: MatrixLike, Y: MatrixLike | None = None) -> Any:
        return reduce(operator.mul, (part(X, Y, **parameters) for part in parts))

    paths = options.train, options.test, options.output
    how = {"n_jobs": options.n_jobs, "progress": options.progress}
    source = _given.svmlight_of(options) or Svmlight()
    n_rows = _kernel_matrix.write_kernel_file(function, *paths, source=source, **how)
    say_if_empty([options.test or options.train], n_rows, "rows")
    figures = {"rows": n_rows}
    say(options, words_of(figures), figures)


def info(options: argparse.Namespace) -> None:
    from sparsemaps.files import _summary  # slow, since it imports the models

    facts = _summary.summarize(options.input, n_jobs=options.n_jobs, progress=options.progress)
    lines = [fact.line for fact in facts]
    if options.json:
        lines = [json.dumps(dict(fact.item for fact in facts))]
    for line in lines:
        print_line(line)
    sys.stdout.flush()  # here, because main reports its errors
