"""Labels of the records of files: `predict_files`, and `filter_files` of those of one label."""

import dataclasses
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from sparsemaps._tools import _checks, _output_files, _text_input
from sparsemaps._tools._escapes import escaped
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import IDS, expand, refuse_changes, spooled
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files import _map
from sparsemaps.files._bad_table import BadTable, opened_table, path_of
from sparsemaps.files._coded_records import holds_codes
from sparsemaps.files._job_options import Svmlight, Texts
from sparsemaps.files._kept_records import Selection, check_outputs, write_kept
from sparsemaps.files._learning import Model, name_of, rows_of
from sparsemaps.files._map import OutputPlan, make_plan
from sparsemaps.files._row_names import names_of_rows
from sparsemaps.files._rows import InputBlock, codes_of, read_rows
from sparsemaps.files._tasks import How, Running
from sparsemaps.files._text_rows import Source, TextRows
from sparsemaps.linear import KernelClassifier
from sparsemaps.linear._classifier import probabilities
from sparsemaps.linear._model import scores_of
from sparsemaps.linear._model_checks import number_of_label, refuse_other_codes
from sparsemaps.linear._model_file import digest_of

_CODED_ROWS = 2**16
"""Rows of a file of codes whose scores are computed together."""


UNKNOWN = ""
"""The label of a record without samples, such as a text without an n-gram: no model knows it."""


class LabelledFile(NamedTuple):
    """The result of `predict_files`."""

    n_records: int
    n_unknown: int
    """Records without an n-gram or an entry, which have no label."""


class FilteredFile(NamedTuple):
    """The result of `filter_files`."""

    n_records: int
    n_kept: int
    n_unknown: int


def predict_files(
    model: Model,
    inputs: Any,
    output: Any,
    *,
    source: Texts | Svmlight | None = None,
    proba: bool = False,
    explain: int = 0,
    bad_records: Any = "error",
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = True,
    task: tuple[str, int, int] | None = None,
    client: Any = None,
) -> LabelledFile:
    r"""Write the label and the scores of each record of files.

    The command ``sparsemaps predict`` calls this function. A line of the output has the number of a
    record, from 1 through all inputs, or its id. Its label follows, and then the score of each
    class. For two classes there is one score, that of the second class. A regressor gives its
    number in place of label and scores. A record without an n-gram, or a row without an entry, is
    unknown: its label, or its number by a regressor, is empty. Tabs separate the columns. The
    output appears when it is complete.

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
    bad_records : str or path-like, default="error"
        As for `deduplicate_files`: a table of the records that cannot be read, which are set aside.
        For one output, not for a directory. It is an error if all records are bad.
    n_jobs, progress
        As for `map_files`.
    proba : bool, default=False
        Whether to write the probability of each class in place of its score, also of both classes
        of two. The model must be calibrated, or of ``loss="log_loss"``. The label is that of the
        highest score all the same.
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
    client : distributed.Client or None, default=None
        The workers of Dask that make the outputs of a directory, one each; they reach its path and
        those of the inputs. The outputs are the same.

    Returns
    -------
    answer : LabelledFile
        The numbers of records (`n_records`) and of those that are unknown (`n_unknown`); of a
        `task` those of the outputs that it has made.

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
    bad = path_of(bad_records)
    plan = plan_of(model, inputs, output, source, n_jobs, explain, proba=proba, bad_records=bad)
    answer: LabelledFile = run(plan, Running.of(progress, resume, task, client))
    return answer


def filter_files(
    model: KernelClassifier,
    inputs: Any,
    output: Any,
    *,
    label: Any,
    min_score: float | None = None,
    source: Texts | Svmlight | None = None,
    bad_records: Any = "error",
    n_jobs: int | None = None,
    progress: bool | None = None,
    resume: bool = True,
    task: tuple[str, int, int] | None = None,
    client: Any = None,
) -> FilteredFile:
    r"""Write the records of files that have a label, byte for byte and in their order.

    The command ``sparsemaps filter`` calls this function. The inputs are read twice: once for the
    scores, and once for the records. In between, a record takes one byte of memory. Unknown
    records, as of `predict_files`, have no label and are not written. The output appears when it is
    complete.

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
        A class of the model, compared as it is: "1" is not 1.
    min_score : float or None, default=None
        The least score of that class; None takes the records whose score is highest for it. Of two
        classes, the score of the first is that of the second times -1.
    source, bad_records, n_jobs, progress
        As for `predict_files`.
    resume, task, client
        As for `predict_files`; the stage is "filter".

    Returns
    -------
    answer : FilteredFile
        The numbers of records (`n_records`), of those that are written (`n_kept`) and of those that
        are unknown (`n_unknown`); of a `task` those of the outputs that it has made.

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
    FilteredFile(n_records=2, n_kept=1, n_unknown=0)
    >>> out.getvalue()
    b'0 2:1 # kept\n'
    """
    rule = rule_of(model, label, min_score)
    bad = path_of(bad_records)
    plan = plan_of(model, inputs, output, source, n_jobs, rule=rule, bad_records=bad)
    answer: FilteredFile = run(plan, Running.of(progress, resume, task, client))
    return answer


# ---- the job -------------------------------------------------------------------------------------


class Labelling(NamedTuple):
    """A job that writes lines about records, with their scores by a model, or the records of a
    label. It takes the place of a `Job`."""

    model: Model
    source: Source
    n_jobs: int | None
    explain: int = 0
    proba: bool = False
    rule: "_Rule | None" = None
    """The rule of the records that are written; None for `predict_files`, which writes lines about
    all."""
    beside: tuple[str, ...] = ()
    n_counts: int = 3
    bad_records: Any = None
    """The path of a table of records that are set aside; None if there is none."""

    @property
    def name(self) -> str:
        return "predict" if self.rule is None else "filter"

    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        """Raise a ValueError where inputs cannot be read, or not go to their output."""
        coded = [input for _, inputs in outputs for input in inputs if holds_codes(input)]
        if self.explain and (coded or not isinstance(self.source, TextRows)):
            raise ValueError(f"{setting('explain', self.explain)} is for texts")
        if self.rule is not None:
            if coded:
                raise ValueError(f"{coded[0]} has codes, from which records cannot be written")
            check_outputs(self.source, outputs)

    def prepared(self, inputs: list[Any], stack: ExitStack) -> "tuple[Labelling, list[Any]]":
        """The job, and inputs that can be read as often as it does."""
        return self, inputs if self.rule is None else spooled(inputs, stack)

    def recipe(self) -> dict[str, Any]:
        """The model and the options, which decide an output beside its inputs."""
        options: dict[str, Any] = {"explain": self.explain}
        if self.rule is not None:
            options = {"rule": self.rule}
        elif self.proba:
            options["proba"] = True
        options["unknown"] = UNKNOWN
        options["source"] = dataclasses.asdict(self.source.given)
        return {"model": digest_of(self.model), "options": options}

    def name_of_output(self, name: str) -> str:
        """The name of an output in a directory, by that of its input."""
        plain = _text_input.without_compression(name)
        return f"{plain}.tsv" if self.rule is None else name

    def run(self, inputs: list[Any], output: Any, how: How) -> list[list[int]]:
        """Write lines about the records of some inputs, or records; returns the numbers of all
        records of each, of those that are written, and of those that are unknown."""
        write = self._write_lines if self.rule is None else self._write_records
        with (
            _output_files.atomic_output(output) as file,
            opened_table(self.bad_records) as aside,
        ):
            numbers = write(inputs, file, how, aside)
            if aside is not None:
                aside.finish()
            refuse_changes(inputs)
        return numbers

    def make(self, input: Any, path: str, how: How) -> list[int]:
        return self.run([input], path, how)[0]

    def _write_lines(
        self, inputs: list[Any], file: Any, how: How, aside: BadTable | None
    ) -> list[list[int]]:
        names, n_records, n_unknown = None, [0] * len(inputs), [0] * len(inputs)
        if isinstance(self.model, KernelClassifier):
            names = [escaped(name_of(label)) for label in self.model.classes_.tolist()]
        for number, part in self.scored(inputs, how, aside):
            first = sum(n_records) + 1
            ids = part.ids or range(first, first + len(part.scores))
            columns = part.scores
            if self.proba and isinstance(self.model, KernelClassifier):
                columns = probabilities(self.model, part.scores)
            file.write(_lines(names, part, columns, ids))
            n_records[number] += len(part.scores)
            n_unknown[number] += int((~part.known).sum())
        return [[n, n, unknown] for n, unknown in zip(n_records, n_unknown, strict=True)]

    def _write_records(
        self, inputs: list[Any], file: Any, how: How, aside: BadTable | None
    ) -> list[list[int]]:
        assert self.rule is not None
        kept: list[list[Array]] = [[np.zeros(0, bool)] for _ in inputs]
        n_unknown = [0] * len(inputs)
        for number, part in self.scored(inputs, how, aside):
            kept[number].append(self.rule.of(part.scores) & part.known)
            n_unknown[number] += int((~part.known).sum())
        selections = list(map(Selection, inputs, map(np.concatenate, kept)))
        with FileProgress(inputs, how.bar is None and how.progress, "records") as bar:
            write_kept(self.source, selections, file, how.n_jobs, bar)
        return [
            [len(one.kept), int(one.kept.sum()), unknown]
            for one, unknown in zip(selections, n_unknown, strict=True)
        ]

    def scored(
        self, inputs: list[Any], how: How, aside: BadTable | None
    ) -> Iterator[tuple[int, "_Scored"]]:
        """The scores of the records of each input, and its number, a block at a time."""

        def convert(block: InputBlock) -> _Scored:
            codes = codes_of(self.model.map_, block)
            reasons = None
            if self.explain:
                texts = (str(text) for text in block.texts)
                reasons = [self.model.explain(text)[: self.explain] for text in texts]
            return _Scored(scores_of(self.model, codes), codes.sampled, block.ids, reasons)

        with how.reading(inputs, "scores") as bar:
            for number, input in enumerate(inputs):
                if holds_codes(input):
                    parts = _scored_codes(self.model, input, bar)
                else:
                    reading: dict[str, Any] = {"n_jobs": how.n_jobs, "bar": bar, "aside": aside}
                    parts = read_rows(self.source, input, convert, **reading)
                for part in parts:
                    yield number, part


def plan_of(
    model: Any,
    inputs: Any,
    output: Any,
    source: Any,
    n_jobs: int | None,
    explain: int = 0,
    proba: bool = False,
    rule: "_Rule | None" = None,
    bad_records: Any = None,
) -> OutputPlan:
    """The plan of `predict_files`, or with a rule, of `filter_files`."""
    _checks.check_bool("proba", proba)
    if proba and not hasattr(model, "predict_proba"):
        needed = "a classifier that is calibrated, or of the loss log_loss"
        raise ValueError(f"{setting('proba', True)} needs {needed}")
    explain = _checks.check_int("explain", explain, 0, _checks.LARGEST_INT32)
    rows = rows_of(model.map_, getattr(model, "vectorizer_", None), source, expand(inputs))
    rows = rows._replace(sets_aside=bad_records is not None)
    job = Labelling(model, rows, n_jobs, explain, proba, rule, bad_records=bad_records)
    return make_plan(job, inputs, output)


listing = _map.listing


def run(plan: OutputPlan, running: Running) -> Any:
    """Write the output, or all outputs, or those of a share: the numbers of records."""
    numbers = [made.numbers for made in _map.run(plan, running)]
    n_records, n_kept, n_unknown = (sum(one[which] for one in numbers) for which in range(3))
    if plan.job.rule is None:
        return LabelledFile(n_records, n_unknown)
    return FilteredFile(n_records, n_kept, n_unknown)


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


def rule_of(model: Any, label: Any, min_score: float | None) -> _Rule:
    if not isinstance(model, KernelClassifier):
        raise ValueError(f"records are chosen by a KernelClassifier, got a {type(model).__name__}")
    number = number_of_label(model.classes_, label)
    if number is None:
        shown = ", ".join(repr(one) for one in model.classes_[:20].tolist())
        raise ParameterError("label", repr(label), f"a class of the model ({shown})")
    if min_score is not None:
        min_score = _checks.check_real("min_score", min_score)
    return _Rule(number, min_score)


# ---- scores --------------------------------------------------------------------------------------


class _Scored(NamedTuple):
    """Records with their scores, one column for each model."""

    scores: Array
    known: Array
    """Which records have samples. The score of the others is the intercept."""
    ids: list[str] | None
    reasons: list[list[tuple[str, float]]] | None = None
    """For each text, the n-grams that add most to its score."""


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
            yield _Scored(scores_of(model, some), some.sampled, ids)
    bar.add(os.path.getsize(path), len(codes))


def _lines(names: list[str] | None, part: _Scored, numbers: Array, ids: Any) -> bytes:
    """Lines about records; `names` are those of the classes, None for a regressor, and `numbers`
    the columns of the classes."""
    lines = []
    reasons = part.reasons or [[]] * len(part.scores)
    rows = zip(
        ids, part.scores.tolist(), numbers.tolist(), part.known.tolist(), reasons, strict=True
    )
    for id, row, of_classes, is_known, ngrams in rows:
        if names is None:
            columns = [f"{row[0]:.9g}" if is_known else UNKNOWN]
        else:
            best = int(row[0] > 0) if len(row) == 1 else max(range(len(row)), key=row.__getitem__)
            columns = [
                names[best] if is_known else UNKNOWN,
                *(f"{number:.6g}" for number in of_classes),
            ]
        columns += [f"{escaped(ngram)} {share:+.4g}" for ngram, share in ngrams]
        lines.append("\t".join([str(id), *columns]) + "\n")
    return "".join(lines).encode("utf-8", "surrogatepass")
