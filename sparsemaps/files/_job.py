"""The job that maps each input to an output: a source of rows, a map and an output format."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

from sparsemaps._io import _output_files, _text_input
from sparsemaps._io._progress import Progress
from sparsemaps._io._sources import CLASSES, Input, is_standard, n_bytes_of, refuse_changes
from sparsemaps._tools._parameters import named_class, not_with_codes, setting
from sparsemaps._tools._plurals import counted
from sparsemaps._tools._sklearn import width_of
from sparsemaps._tools._typing import Destination, StrPath, Vectorizer
from sparsemaps.files._bad_records import BadTable, opened_table
from sparsemaps.files._counted_rows import CountedRows
from sparsemaps.files._formats import FORMATS, FormatOptions, OutputFormat, rows_at_once
from sparsemaps.files._job_options import MappedRows, Svmlight, Texts
from sparsemaps.files._libsvm_rows import LibsvmRows
from sparsemaps.files._output_job import MadeOutput, OutputJob
from sparsemaps.files._row_source import Source
from sparsemaps.files._rows import read_counted, read_rows
from sparsemaps.files._tasks import TaskRun
from sparsemaps.files._text_rows import TextRows
from sparsemaps.maps._sparse_map import SparseMap, as_fitted
from sparsemaps.maps._texts import TextEncoder
from sparsemaps.records._batch import Batch


class MappedFile(NamedTuple):
    """An input, its output, the number of rows, and whether the output was already complete; the
    numbers of rows are then those of the earlier run."""

    input: Any
    output: Any
    n_rows: int
    skipped: bool
    n_empty: int = 0
    """Number of rows without an n-gram or entry."""
    n_bad: int = 0
    """Number of records that were set aside."""


@dataclass(frozen=True)
class Job(OutputJob):
    """A job that maps each input to an output. Without a map, the rows are written unchanged."""

    map: Any
    source: Source
    options: FormatOptions
    format: str
    bad_records: Any = None
    counted: CountedRows | None = None
    """Records whose n-grams have been counted, with these n-grams."""
    name: ClassVar[str] = "map"

    def prepared(
        self, inputs: list[Any], n_jobs: int | None, stack: ExitStack
    ) -> tuple[Self, list[Any]]:
        source, inputs = self.source.prepared(inputs, n_jobs, stack)
        return replace(self, source=source), inputs

    def check(self, outputs: list[tuple[Any, list[Any]]]) -> None:
        """Raise a ValueError if inputs cannot be written to their output."""
        said = setting("format", self.format)
        for output, inputs in outputs:
            for input in inputs:
                self.source.format(input)  # raises for unknown formats
            if FORMATS[self.format].is_text:
                continue
            if hasattr(output, "write") or is_standard(output):
                raise ValueError(f"{said} needs a file to write to, not a pipe")
            if _text_input.without_compression(os.fspath(output)) != os.fspath(output):
                raise ValueError(f"{said} is not compressed: leave out the ending of {output}")

    def run(
        self,
        inputs: Sequence[Any],
        output: Destination,
        run: TaskRun,
        bad_records: StrPath | None = None,
    ) -> list[list[int]]:
        """Map some inputs to one output. Return the numbers of rows and of rows without an entry
        for each input. If bad records are set aside, they go to the table `bad_records`, and their
        number is the third."""
        return [
            numbers[: self.n_counts] for numbers in self._run(inputs, output, run, bad_records)[0]
        ]

    def make(self, input: Input, is_first: bool, path: str, run: TaskRun) -> list[int]:
        """Map an input. Return the number of its rows, and of bad records before the first row.
        With `is_first`, the input begins with the first record of the job, and many bad records
        there are an error."""
        ((n_rows, *_),), aside = self._run([input], path, run, is_first=is_first)
        return [n_rows, 0 if aside is None else aside.n_leading]

    def _run(
        self,
        inputs: Sequence[Any],
        output: Destination,
        run: TaskRun,
        bad_records: StrPath | None = None,
        *,
        is_first: bool = False,
    ) -> tuple[list[list[int]], BadTable | None]:
        """Do the same as `run`, but return all three numbers of each input, and the table of bad
        records."""
        given, classes = self.source.given, self.source.classes_table()
        if classes and (hasattr(output, "write") or is_standard(output)):
            raise ValueError(
                f"the labels in {getattr(given, 'label_field', None)!r} are strings, whose numbers "
                "go to a table beside the output; write to a file"
            )
        with ExitStack() as stack:
            bar = stack.enter_context(run.reading(inputs))
            target = FORMATS[self.format](self.map, output, self.options, stack)
            if classes and isinstance(output, (str, os.PathLike)):
                path = os.fspath(output) + CLASSES
                stack.enter_context(_output_files.atomic_output(path)).write(classes)
            aside = table = stack.enter_context(opened_table(bad_records))
            if aside is None and self.source.sets_aside:
                aside = target.aside(is_first)
            numbers = [self._map(one, target, run.n_jobs, bar, aside) for one in inputs]
            if table is not None:
                table.finish()  # before a pipe gets an output without rows
            target.finish()
            refuse_changes(inputs)
        return numbers, aside

    @property
    def n_counts(self) -> int:
        """Number of counts per input: rows, rows without an entry, and bad records if these are set
        aside."""
        return 2 if self.bad_records is None else 3

    def answer(self, made: list[MadeOutput]) -> list[MappedFile]:
        return [
            MappedFile(one.input, one.output, n_rows, one.skipped, n_empty, sum(n_bad))
            for one in made
            for n_rows, n_empty, *n_bad in [one.numbers]
        ]

    def _map(
        self,
        input: Input,
        target: OutputFormat,
        n_jobs: int | None,
        bar: Progress,
        aside: BadTable | None,
    ) -> list[int]:
        def convert(block: Batch) -> tuple[tuple[Any, int], int]:
            return target.convert(block), block.n_rows

        n_rows, n_empty, n_bad = 0, 0, 0 if aside is None else aside.n_bad
        max_rows = None if self.map is None else rows_at_once(self.map.size)
        batches = None if self.counted is None else self.counted.take(input)
        if batches is None:
            rows = read_rows(
                self.source, input, convert, n_jobs=n_jobs, bar=bar, max_rows=max_rows, aside=aside
            )
        else:
            bar.add(n_bytes_of([input]), 0)
            rows = read_counted(self.source, input, batches, convert, n_jobs=n_jobs, aside=aside)
        for (converted, n_more_empty), n_more in rows:
            target.write(converted)
            n_rows += n_more
            n_empty += n_more_empty
            if batches is not None:
                bar.add(0, n_more)
        n_bad = 0 if aside is None else aside.n_bad - n_bad
        return [n_rows, n_empty, n_bad]

    def recipe(self) -> dict[str, Any]:
        config, map = None, self.map
        try:
            config = None if map is None else map.to_config()
        except ValueError:  # a parameter without a JSON form, such as the function of a density
            parameters = {name: repr(value) for name, value in map.get_params(deep=False).items()}
            del parameters["n_jobs"], parameters["random_state"]
            config = {"class": type(map).__name__, "parameters": parameters, "seed": map.seed_}
        source, output = self.source.options(), self.options._asdict()
        return {"map": config, "options": {"format": self.format, **source, **output}}

    def name_of_output(self, name: str) -> str:
        ending = f".{self.format}"
        if FORMATS[self.format].is_text:
            ending = ".svm" if self.source.has_ngrams else ""
        return _text_input.without_compression(name) + ending

    @property
    def beside(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*super().beside, *FORMATS[self.format].beside)))

    @classmethod
    def of_map(
        cls,
        map: SparseMap,
        source: Texts | Svmlight,
        written: MappedRows,
        bad_records: StrPath | None = None,
    ) -> "Job":
        """Return a job from the options of `map_files`."""
        ones, format, comments = written.ones, written.format, written.comments
        fitted, is_text = as_fitted(map), FORMATS[format].is_text
        if ones and not fitted.is_one_hot:
            raise ValueError(f"{setting('ones', True)} is for maps with one-hot output")
        if ones and not is_text:
            raise ValueError(
                f"{setting('ones', True)} is not for {setting('format', format)}: packed codes "
                "have no values"
            )
        if not (is_text or fitted.has_codes):
            raise ValueError(f"{setting('format', format)} is for maps with codes")
        if comments and not is_text:
            raise ValueError(f"{setting('comments', True)} is for {setting('format', 'svmlight')}")
        weights = written.weight_field
        if weights is not None and is_text:
            said = setting("weight_field", weights)
            raise ValueError(
                f"{said} is for {setting('format', 'npy')}: other rows have no weights"
            )
        title = " ".join(repr(map).split()) if written.header is True else written.header or ""
        refuse_options(source, "max_df")
        rows, of_texts = rows_for(fitted, source)
        if comments and rows.has_ngrams:
            raise ValueError(f"{setting('comments', True)} is for LIBSVM files, not for texts")
        options = FormatOptions(ones, comments, title, weights=weights, **of_texts)
        rows = rows.with_fields(weight=weights, sets_aside=bad_records is not None)
        return cls(fitted, rows, options, format, bad_records=bad_records)

    @classmethod
    def of_codes(
        cls,
        map: SparseMap,
        source: Texts | Svmlight,
        *,
        comments: bool = False,
        key_field: str | None = None,
        sets_aside: bool = False,
    ) -> "Job":
        """Return a job that makes codes of records without labels. It stores comments of lines next
        to the codes, or else checksums."""
        fitted = as_fitted(map)
        if not fitted.has_codes:
            raise not_with_codes(map)
        refuse_options(source, "idf")
        rows, of_texts = rows_for(fitted, source, numbers_labels=False)
        rows = rows.with_fields(key=key_field, sets_aside=sets_aside)
        options = FormatOptions(False, comments, "", checksums=not comments, **of_texts)
        return cls(fitted, rows, options, "records")

    @classmethod
    def of_text(
        cls, vectorizer: Vectorizer, texts: Texts, bad_records: StrPath | None = None
    ) -> "Job":
        """Return a job that writes the rows that a vectorizer computes from texts."""
        refuse_options(texts, "max_df", "idf")
        from sparsemaps.text._descriptions import vectorizer_config

        config = vectorizer_config(vectorizer)
        options = FormatOptions(False, False, "", config, texts.id_field is not None)
        rows = TextRows(vectorizer, texts, sets_aside=bad_records is not None)
        return cls(None, rows, options, "svmlight", bad_records=bad_records)


def rows_for(
    map: SparseMap, source: Texts | Svmlight, *, numbers_labels: bool = True
) -> tuple[Source, dict[str, Any]]:
    """Return the rows of inputs for a fitted map, and the fields of `FormatOptions` for texts."""
    if isinstance(source, Svmlight):
        return LibsvmRows(source), {}
    # These modules are imported here because they import scikit-learn's text modules, which is
    # slow.
    from sparsemaps.text._descriptions import vectorizer_config

    vectorizer = vectorizer_for(map, source)
    width = width_of(vectorizer)
    if map.n_columns not in (None, width):
        raise ValueError(
            f"the map was fitted to {counted(map.n_columns, 'columns')}, but texts by "
            f"{source.analyzer} have {width}"
        )
    config = vectorizer_config(vectorizer, values=not map.law.is_of_sets)
    encoder = TextEncoder(map, vectorizer) if map.has_codes else None
    of_texts = {"texts": config, "ids": source.id_field is not None}
    rows = TextRows(vectorizer, source, encoder=encoder, numbers_labels=numbers_labels)
    return rows, of_texts


def refuse_weights_of_sets(map: SparseMap, source: Texts) -> None:
    """Raise a ValueError if a map of sets would get weights."""
    if source.idf is not None and map.law.is_of_sets:
        raise ValueError(
            f"{setting('idf', source.idf)} weighs values, but {named_class(map)} maps sets: "
            "use min-max with levels"
        )


def vectorizer_for(map: SparseMap, texts: Texts) -> Any:
    """Return the vectorizer of texts for a map, after checking that they fit."""
    refuse_weights_of_sets(map, texts)
    from sparsemaps.text._analyzers import vectorizer_of

    return vectorizer_of(
        texts.analyzer, token_pattern=texts.token_pattern, normalize=texts.normalize,
        binary=map.law.is_of_sets,
    )  # fmt: skip


_JOBS_OF = {"max_df": "pairs and dedup", "idf": "map and train"}
"""Options of texts that only some jobs take, with these jobs."""


def refuse_options(source: object, *names: str) -> None:
    """Raise a ValueError if options of texts are given that other jobs take."""
    for name in names:
        value = getattr(source, name, None)
        if value is not None:
            raise ValueError(f"{setting(name, value)} is for {_JOBS_OF[name]}")
