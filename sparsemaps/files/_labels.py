"""Labels of the records of files: `predict_files`, and `filter_files` of those of one label."""

import dataclasses
import os
from collections.abc import Iterator
from contextlib import ExitStack, nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _checks, _output_files, _text_input
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._locks import one_writer
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import (
    IDS,
    RECORD,
    InputFile,
    expand,
    is_directory,
    known_inputs,
    refuse_changes,
    spooled,
)
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._coded_records import holds_codes
from sparsemaps.files._job_options import Svmlight, Texts
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._learning import Model, name_of, rows_of
from sparsemaps.files._map import listing as outputs_listing
from sparsemaps.files._map import outputs_of
from sparsemaps.files._results import Results, counts
from sparsemaps.files._row_names import names_of_rows
from sparsemaps.files._rows import InputBlock, LibsvmRows, codes_of, read_rows
from sparsemaps.files._tasks import How, Listing, Running, Stage, Task
from sparsemaps.files._text_rows import TextRows
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.linear._model import scores_of
from sparsemaps.linear._model_checks import refuse_other_codes
from sparsemaps.linear._model_file import digest_of

_CODED_ROWS = 2**16
"""Rows of a file of codes whose scores are computed together."""


class LabelledFile(NamedTuple):
    """The result of `predict_files`."""

    n_records: int


class FilteredFile(NamedTuple):
    """The result of `filter_files`."""

    n_records: int
    n_kept: int


def predict_files(
    model: Model,
    inputs: Any,
    output: Any,
    *,
    source: Texts | Svmlight | None = None,
    explain: int = 0,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = True,
    task: tuple[str, int, int] | None = None,
) -> LabelledFile:
    r"""Write the label and the scores of each record of files.

    The command ``sparsemaps predict`` calls this function. A line of the output has the number of a
    record, from 1 through all inputs, or its id. Its label follows, and then the score of each
    class. For two classes there is one score, that of the second class. A regressor gives its
    number in place of label and scores. Tabs separate the columns. The output appears when it is
    complete.

    Parameters
    ----------
    model : KernelClassifier or KernelRegressor
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        As for `train_files`; labels are not read. They are read once, a block at a time.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); "-" is standard output. A directory, which is one
        that exists or a name that ends in a slash, gets one output for each input, of the input's
        name without its ending of compression and with ".tsv"; records then count from 1 in each.
    source : Texts, Svmlight or None, default=None
        What the inputs are; of texts, the model's vectorizer is the analyzer.
    n_jobs, progress
        As for `map_files`.
    explain : int, default=0
        For models of texts, how many n-grams to write in further columns, with what they add to the
        score of the label: those that add or take away most, as ``model.explain`` gives them.
    resume : bool, default=True
        For an output that is a directory, whether to take outputs that are complete already. A file
        OUTPUT.json beside each output records the model, the options, and the path, size and time
        of the input. Where one of these is another one, the output is made again.
    task : tuple (stage, i, n) or None, default=None
        For an output that is a directory: ("predict", i, n) makes only those outputs whose numbers
        are i modulo n. So n processes, on machines that share the directory, make all of them.

    Returns
    -------
    answer : LabelledFile
        The number of records (`n_records`); of a `task` those of the outputs that it has made.

    Raises
    ------
    ValueError
        If a parameter is not allowed, codes are of another map, or a line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import predict_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> model = model.fit([[1, 0, 1], [0, 1, 0]], ["a", "b"])
    >>> out = BytesIO()
    >>> predict_files(model, BytesIO(b"0 2:1\n0 1:1 3:1\n"), out).n_records
    2
    >>> [line.split(b"\t")[1] for line in out.getvalue().splitlines()]
    [b'b', b'a']
    """
    plan = predict_plan(model, inputs, output, source=source, explain=explain, n_jobs=n_jobs)
    answer: LabelledFile = run(plan, Running.of(progress, resume, task))
    return answer


def filter_files(
    model: KernelClassifier,
    inputs: Any,
    output: Any,
    *,
    label: Any,
    min_score: float | None = None,
    source: Texts | Svmlight | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = True,
    task: tuple[str, int, int] | None = None,
) -> FilteredFile:
    r"""Write the records of files that have a label, byte for byte and in their order.

    The command ``sparsemaps filter`` calls this function. The inputs are read twice: once for the
    scores, and once for the records. In between, a record takes one byte of memory. The output
    appears when it is complete.

    Parameters
    ----------
    model : KernelClassifier
        A model that is fitted.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files, or texts if the model has a vectorizer, of one format if they go to one
        file. Labels are not read.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz, .zst); Parquet, if the inputs are; "-" is standard
        output. A directory, which is one that exists or a name that ends in a slash, gets one
        output for each input, of the input's name.
    label : object
        A class of the model, or its text.
    min_score : float or None, default=None
        The least score of that class; None takes the records whose score is highest for it. Of two
        classes, the score of the first is that of the second times -1.
    source, n_jobs, progress
        As for `predict_files`.
    resume, task
        As for `predict_files`; the stage is "filter".

    Returns
    -------
    answer : FilteredFile
        The numbers of records (`n_records`) and of those that are written (`n_kept`); of a `task`
        those of the outputs that it has made.

    Raises
    ------
    ValueError
        If a parameter is not allowed, the model has no such class, an input changes meanwhile, or a
        line is not of its format.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.files import filter_files
    >>> from sparsemaps.linear import KernelClassifier
    >>> model = KernelClassifier(MinHash(random_state=0), random_state=0)
    >>> model = model.fit([[1, 0, 1], [0, 1, 0]], ["a", "b"])
    >>> out = BytesIO()
    >>> filter_files(model, BytesIO(b"0 2:1 # kept\n0 1:1 3:1\n"), out, label="b")
    FilteredFile(n_records=2, n_kept=1)
    >>> out.getvalue()
    b'0 2:1 # kept\n'
    """
    plan = filter_plan(
        model, inputs, output, label=label, min_score=min_score, source=source, n_jobs=n_jobs
    )
    answer: FilteredFile = run(plan, Running.of(progress, resume, task))
    return answer


# ---- the plan ------------------------------------------------------------------------------------


class Plan(NamedTuple):
    """The model, the inputs and the outputs, after a check of all options."""

    model: Model
    source: LibsvmRows | TextRows
    inputs: list[Any]
    output: Any
    names: list[Any]
    """The files that are written: `output`, or in this directory one for each input."""
    n_jobs: int | None
    explain: int
    is_wanted: "_Rule | None"
    """The rule of the records that are written; None for `predict_files`, which writes lines about
    all."""

    @property
    def stage(self) -> str:
        return "predict" if self.is_wanted is None else "filter"

    @property
    def is_shared(self) -> bool:
        """Whether several processes can make the outputs."""
        return is_directory(self.output)


def predict_plan(
    model: Model,
    inputs: Any,
    output: Any,
    *,
    source: Texts | Svmlight | None,
    explain: int,
    n_jobs: int | None,
) -> Plan:
    """The plan of `predict_files`."""
    explain = _checks.check_int("explain", explain, 0, _checks.LARGEST_INT32)
    plan = _plan(model, inputs, output, source, n_jobs, explain=explain)
    if explain and (not isinstance(plan.source, TextRows) or any(map(holds_codes, plan.inputs))):
        raise ValueError(f"{setting('explain', explain)} is for texts")
    return plan


def filter_plan(
    model: Any,
    inputs: Any,
    output: Any,
    *,
    label: Any,
    min_score: float | None,
    source: Texts | Svmlight | None,
    n_jobs: int | None,
) -> Plan:
    """The plan of `filter_files`."""
    if not isinstance(model, KernelClassifier):
        raise ValueError(f"records are chosen by a KernelClassifier, got a {type(model).__name__}")
    is_wanted = _rule(model, label, min_score)
    plan = _plan(model, inputs, output, source, n_jobs, is_wanted=is_wanted)
    for input in plan.inputs:
        if holds_codes(input):
            raise ValueError(f"{input} has codes, from which records cannot be written")
    if plan.is_shared:
        pairs = zip(plan.names, plan.inputs, strict=True)
        check_outputs(plan.source, [(name, [input]) for name, input in pairs])
    return plan


def _plan(
    model: Model,
    inputs: Any,
    output: Any,
    source: Any,
    n_jobs: int | None,
    explain: int = 0,
    is_wanted: "_Rule | None" = None,
) -> Plan:
    """A plan, after a check of all names. No output may be an input."""
    paths = expand(inputs)
    rows = rows_of(model.map_, getattr(model, "vectorizer_", None), source, paths)

    def name_of_output(name: str) -> str:
        return name if is_wanted is not None else f"{_text_input.without_compression(name)}.tsv"

    outputs = outputs_of(paths, output, name_of_output)
    written = [(name, words) for name, _, words in outputs]
    if is_directory(output):
        written += [(f"{name}{RECORD}", words) for name, words in written]
    _output_files.refuse_clashes(paths, written)
    names = [name for name, _, _ in outputs]
    return Plan(model, rows, known_inputs(paths), output, names, n_jobs, explain, is_wanted)


def listing(plan: Plan) -> Listing:
    return outputs_listing(plan.inputs, plan.output, plan.stage)


def run(plan: Plan, running: Running) -> Any:
    """Write the output, or all outputs, or those of a share: the numbers of records."""
    running.check(lambda: listing(plan))
    if plan.is_shared:
        os.makedirs(plan.output, exist_ok=True)
        results = Results(os.path.abspath(plan.output))
        with one_writer(results.folder, shared=running.is_share):
            made = running.run([_stage(plan)], results, plan.n_jobs)[plan.stage]
        numbers = [counts(result, 2) for result in made]
    else:
        with ExitStack() as stack:
            inputs = plan.inputs
            if plan.is_wanted is not None:
                inputs = spooled(inputs, stack)
                check_outputs(plan.source, [(plan.output, inputs)])
            numbers = [_write(plan, inputs, plan.output, running.progress)]
    n_records, n_kept = (sum(number[which] for number in numbers) for which in (0, 1))
    return LabelledFile(n_records) if plan.is_wanted is None else FilteredFile(n_records, n_kept)


def _stage(plan: Plan) -> Stage:
    options: dict[str, Any] = {"explain": plan.explain}
    if plan.is_wanted is not None:
        options = {"rule": plan.is_wanted}
    options["source"] = dataclasses.asdict(plan.source.given)
    whole = {"model": digest_of(plan.model), "options": options}
    tasks = []
    for input, output in zip(plan.inputs, plan.names, strict=True):
        recipe = {**whole, "input": [*input.recipe, plan.source.format_of(input)]}
        if os.path.exists(os.fspath(input) + IDS):
            recipe["ids"] = InputFile(os.fspath(input) + IDS).recipe
        tasks.append(Task(os.path.basename(output), recipe, input, input.n_bytes))
    alone = plan._replace(inputs=[], names=[], output=None)
    return Stage(plan.stage, tasks, partial(_one_task, alone))


def _one_task(plan: Plan, input: Any, path: str, how: How) -> list[int]:
    """Make the output of an input."""
    return _write(plan._replace(n_jobs=how.n_jobs), [input], path, False, how.bar)


def _write(
    plan: Plan, inputs: list[Any], output: Any, progress: bool | None, bar: Any = None
) -> list[int]:
    """Write lines about the records of some inputs, or records: the numbers of all, and of those
    that are written. A `bar` of the first reading is made unless there is one."""
    write = _write_lines if plan.is_wanted is None else _write_records
    with _output_files.atomic_output(output) as file:
        first = FileProgress(inputs, progress, "scores") if bar is None else nullcontext(bar)
        numbers = write(plan, inputs, file, first, progress)
        refuse_changes(inputs)
    return numbers


def _write_lines(
    plan: Plan, inputs: list[Any], file: Any, first: Any, progress: bool | None
) -> list[int]:
    names, n_records = _names_of(plan.model), 0
    with first as bar:
        for _, part in _scored(plan, inputs, bar):
            ids = part.ids or range(n_records + 1, n_records + 1 + len(part.scores))
            file.write(_lines(names, part, ids))
            n_records += len(part.scores)
    return [n_records, n_records]


def _write_records(
    plan: Plan, inputs: list[Any], file: Any, first: Any, progress: bool | None
) -> list[int]:
    assert plan.is_wanted is not None
    kept: list[list[Array]] = [[np.zeros(0, bool)] for _ in inputs]
    with first as bar:
        for number, part in _scored(plan, inputs, bar):
            kept[number].append(plan.is_wanted.of(part.scores))
    some = list(map(np.concatenate, kept))
    with FileProgress(inputs, progress, "records") as records_bar:
        selections = list(map(Selection, inputs, some))
        write_kept(plan.source, selections, file, plan.n_jobs, records_bar)
    return [sum(map(len, some)), sum(int(one.sum()) for one in some)]


class _Rule(NamedTuple):
    """The scores of records that are written."""

    number: int
    """The number of the label among the classes."""
    min_score: float | None

    def of(self, scores: Array) -> Array:
        number, min_score = self
        if scores.shape[1] == 1:
            scores = np.hstack([-scores, scores])
            if min_score is None:  # of equal scores, the first, as predict has it
                return (scores[:, 1] > 0) == bool(number)
        if min_score is None:
            return scores.argmax(axis=1) == number
        return scores[:, number] >= min_score


def _rule(model: KernelClassifier, label: Any, min_score: float | None) -> _Rule:
    labels = model.classes_.tolist()
    found = [n for n, one in enumerate(labels) if one == label or name_of(one) == str(label)]
    if len(found) != 1:
        shown = ", ".join(name_of(one) for one in labels[:20])
        raise ParameterError("label", repr(label), f"a class of the model ({shown})")
    return _Rule(
        found[0], None if min_score is None else _checks.check_real("min_score", min_score)
    )


# ---- scores --------------------------------------------------------------------------------------


class _Scored(NamedTuple):
    """Records with their scores, one column for each model."""

    scores: Array
    ids: list[str] | None
    reasons: list[list[tuple[str, float]]] | None = None
    """For each text, the n-grams that add most to its score."""


def _scored(plan: Plan, inputs: list[Any], bar: Any) -> Iterator[tuple[int, _Scored]]:
    """The scores of the records of each input, and its number, a block at a time."""
    model = plan.model

    def convert(block: InputBlock) -> _Scored:
        codes = codes_of(model.map_, block)
        reasons = None
        if plan.explain:
            texts = (str(text) for text in block.texts)
            reasons = [model.explain(text)[: plan.explain] for text in texts]
        return _Scored(scores_of(model, codes), block.ids, reasons)

    for number, input in enumerate(inputs):
        if holds_codes(input):
            parts = _scored_codes(model, input, bar)
        else:
            parts = read_rows(plan.source, input, convert, n_jobs=plan.n_jobs, bar=bar)
        for part in parts:
            yield number, part


def _scored_codes(model: Model, path: Any, bar: Any) -> Iterator[_Scored]:
    """The scores of the records of a file of codes."""
    codes = PackedCodes.load(path)
    try:
        refuse_other_codes(model, codes)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    has_ids = os.path.exists(os.fspath(path) + IDS)
    with names_of_rows(path, len(codes)) as name:
        for start in range(0, len(codes), _CODED_ROWS):
            some = codes[start : start + _CODED_ROWS]
            ids = [name(start + row) for row in range(len(some))] if has_ids else None
            yield _Scored(scores_of(model, some), ids)
    bar.add(os.path.getsize(path), len(codes))


def _names_of(model: Model) -> list[str] | None:
    """The classes as a file has them; None for a regressor."""
    if isinstance(model, KernelRegressor):
        return None
    return [escaped(name_of(label)) for label in model.classes_.tolist()]


def _lines(names: list[str] | None, part: _Scored, ids: Any) -> bytes:
    lines = []
    reasons = part.reasons or [[]] * len(part.scores)
    for id, row, ngrams in zip(ids, part.scores.tolist(), reasons, strict=True):
        if names is None:
            columns = [f"{row[0]:.9g}"]
        else:
            best = int(row[0] > 0) if len(row) == 1 else max(range(len(row)), key=row.__getitem__)
            columns = [names[best], *(f"{score:.6g}" for score in row)]
        columns += [f"{escaped(ngram)} {share:+.4g}" for ngram, share in ngrams]
        lines.append("\t".join([str(id), *columns]) + "\n")
    return "".join(lines).encode("utf-8", "surrogatepass")
