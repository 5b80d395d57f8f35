"""Mapping LIBSVM files to files."""

import itertools
import json
import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from sparsemaps._tools import _output_files, _text_input, _threads
from sparsemaps._tools._checks import LARGEST_INT, check_bool, check_choice, check_int
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import CLASSES, RECORD, expand, is_directory, is_pipe
from sparsemaps.files._formats import FORMATS, FormatOptions, OutputFormat, rows_at_once
from sparsemaps.files._record import difference, make_record, read_record
from sparsemaps.files._rows import Block, LibsvmRows, Source, read_rows
from sparsemaps.files._text_rows import TextRows, number_labels, refuse_pipe, text_rows, width_of
from sparsemaps.maps._sparse_map import as_fitted

_SMALL_BYTES = 2**23
"""Threads divide a file of at least this size among them; smaller ones they take one each."""


class MappedFile(NamedTuple):
    """An input, the output of its rows, the number of rows, and whether the output was complete
    before (`resume`); the number of rows is then that of the earlier run."""

    input: Any
    output: Any
    n_rows: int
    skipped: bool


def map_files(
    map: Any,
    inputs: Any,
    output: Any,
    *,
    zero_based: bool = False,
    ones: bool = False,
    format: str = "svmlight",
    header: bool | str = False,
    texts: str | None = None,
    field: str = "text",
    label_field: str | None = None,
    id_field: str | None = None,
    token_pattern: str | None = None,
    text_format: str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    comments: bool = False,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> list[MappedFile]:
    r"""Map the rows of LIBSVM files, in bounded memory.

    This is what ``sparsemaps map`` does. Rows are read, mapped and written block by block; labels,
    several labels of a row, and numbers of ``qid:`` are copied to the output. A file appears only
    when it is complete.

    Parameters
    ----------
    map : map of sparsemaps
        Used as it is if it is fitted. Otherwise a copy is fitted for rows of any width, and `map`
        stays as it is; give it a `random_state`, so that other files are mapped in the same way.
    inputs : str, path-like, file-like, or a sequence of these
        LIBSVM files (.gz, .bz2, .xz); "-" is standard input. A directory stands for its files in
        the order of their names, without hidden ones and those that this function writes beside
        its outputs; a pattern with ``*``, ``?`` or ``[`` for the files that match.
    output : str, path-like or file-like
        The file to write (.gz, .bz2, .xz for format "svmlight"); "-" is standard output. A
        directory, which is one that exists or a name that ends in a slash, gets one output for each
        input: of the input's name, without its ending of compression, and with ".npy" or ".npz"
        in those formats, or ".svm" for texts.
    zero_based : bool, default=False
        Whether the indices of the inputs count from 0. Those written count from 1.
    ones : bool, default=False
        Write one-hot features as 1, not as ``1 / sqrt(n_hashes)``. For maps with one-hot output
        only.
    format : {"svmlight", "npy", "npz"}, default="svmlight"
        "svmlight" is LIBSVM text. "npy" is the packed codes of ``encode``, for
        `sparsemaps.codes.PackedCodes.load`, and an array of uint8 for
        ``numpy.load(..., mmap_mode="r")``; labels go to OUTPUT.labels.npy and query ids to
        OUTPUT.qids.npy. "npz" is a CSR matrix for ``scipy.sparse.load_npz``, with `labels` and
        `query_ids` in the same file. The last two take one label a row.
    header : bool or str, default=False
        Begin text with a comment: a given one, or the map and its parameters if True. LIBSVM's own
        programs do not read comments.
    texts : str or None, default=None
        The inputs are raw texts, and rows are their n-grams: the analyzer and the sizes, such as
        "word:5", "char:3-5", "char_wb:3" or "byte:3". Columns are hashes of n-grams, below
        ``2**31 - 2``; of "byte", they are exact. Letters become small ones, but not for "byte".
        Rows are sets of n-grams for `MinHash`, and counts without a norm for other maps.
    field : str, default="text"
        Of texts: the field of a record of .jsonl, or the column of .parquet. In .txt, each line is
        a text.
    label_field : str or None, default=None
        Of texts: the field of labels, which are 0 without it. Labels that are strings are numbered
        from 0 in sorted order, and OUTPUT.classes.tsv has the numbers and the labels; the inputs
        are read twice for it, and what comes from a pipe is kept in a temporary file.
    id_field : str or None, default=None
        Of texts: the field of ids. They become comments in format "svmlight"; in the others they go
        to OUTPUT.ids.txt, one a line.
    token_pattern : str or None, default=None
        Of texts: what a word is, a regular expression; None is ``\S+``.
    text_format : {"txt", "jsonl", "parquet"} or None, default=None
        Of texts: the format of all inputs; None follows the names. Pipes and file objects need it.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The output does not depend on it. They divide a file
        among them; of many files below 8 MB, each of an output of its own, they take one each. The
        map's own `n_jobs` counts where this is 1.
    progress : bool or None, default=None
        Show a bar on standard error; None shows it if that is a terminal.
    comments : bool, default=False
        Keep the comments of the inputs (format "svmlight").
    resume : bool, default=False
        Skip the outputs in the directory that are complete already. A file OUTPUT.json beside each
        records the map, the options, and the size and time of the input. An input that
        has changed since is mapped again; another map or option is an error.
    shard : tuple of two int or None, default=None
        (i, n) maps every n-th of the inputs, starting with the i-th; i counts from 1. n processes
        with i = 1, ..., n map all of them, all to the same directory.
    max_line_bytes : int, default=2**30
        A longer line is an error: a small compressed file can hold one that fills the memory.

    Returns
    -------
    files : list of MappedFile
        For each input its `input`, `output`, `n_rows`, and `skipped`.

    Raises
    ------
    ValueError
        If a parameter is not allowed, an output is an input, two inputs have the same
        output, or a line is not of the format or not what the map takes: with file, line and
        reason. Outputs that are complete remain.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    iter_svmlight_file : Blocks of rows, for other uses.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.files import map_files
    >>> cws = ConsistentWeightedSampling(n_hashes=3, bits=2, random_state=0)
    >>> file = BytesIO()
    >>> done = map_files(cws, BytesIO(b"1 1:0.5 3:2\n-1 2:7\n"), file, ones=True)
    >>> done[0].n_rows
    2
    >>> file.getvalue()
    b'1 1:1 8:1 12:1\n-1 4:1 5:1 11:1\n'
    """
    check_bool("resume", resume)
    job = make_job(
        map, zero_based=zero_based, ones=ones, format=format, header=header, texts=texts,
        field=field, label_field=label_field, id_field=id_field, token_pattern=token_pattern,
        text_format=text_format, n_jobs=n_jobs, comments=comments, max_line_bytes=max_line_bytes,
    )  # fmt: skip
    return _run(job, inputs, output, bool(resume), shard, progress)


def _run(
    job: "Job",
    inputs: Any,
    output: Any,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    progress: bool | None = None,
) -> list[MappedFile]:
    """Map inputs to one output, or one each; all names are compared first."""
    paths, format = expand(inputs), job.format
    if is_directory(output):
        return _map_each(job, paths, os.fspath(output), resume, shard, progress)
    if resume or shard is not None:
        raise ValueError("resume and shard are for an output that is a directory")
    if format != "svmlight" and (hasattr(output, "write") or os.fspath(output) == "-"):
        raise ValueError(f"{setting('format', format)} needs a file to write to, not a pipe")
    name = "" if hasattr(output, "write") else os.fspath(output)
    if format != "svmlight" and _text_input.without_compression(name) != name:
        raise ValueError(
            f"{setting('format', format)} is not compressed: leave out the ending of {output}"
        )
    _output_files.refuse_clashes(paths, written(paths, output, job.names()))
    with ExitStack() as stack:
        job, read = job.prepared(paths, stack)
        if isinstance(job.source, TextRows):
            refuse_pipe(job.source, output)
        bar = stack.enter_context(FileProgress(paths, progress))
        done = job.run(read, output, bar)
    return [file._replace(input=path) for file, path in zip(done, paths, strict=True)]


class Names(NamedTuple):
    """How outputs are named: by the format, and whether the inputs are texts and have labels."""

    format: str
    are_texts: bool
    have_labels: bool

    @property
    def ending(self) -> str:
        """What is added to the name of an input."""
        if self.format != "svmlight":
            return f".{self.format}"
        return ".svm" if self.are_texts else ""

    @property
    def beside(self) -> tuple[str, ...]:
        """What the names of files end with that may be beside an output."""
        return (*FORMATS[self.format].beside, *([CLASSES] if self.have_labels else []))


def written(paths: list[Any], output: Any, names_of: Names) -> list[tuple[Any, str]]:
    """All files that mapping these inputs writes, each with what it is."""
    is_many = is_directory(output)
    pairs = (
        _outputs(paths, os.fspath(output), names_of.ending).items() if is_many else [(output, None)]
    )
    names: list[tuple[Any, str]] = []
    for name, path in pairs:
        names.append((name, f"the output of {path}" if is_many else _output_files.OUTPUT))
        if hasattr(name, "write") or is_pipe(name):
            continue
        endings = (*names_of.beside, *([RECORD] if is_many else []))
        names += [(os.fspath(name) + ending, f"a file beside {name}") for ending in endings]
    return names


class Job(NamedTuple):
    """What is done to each input. Without a map, the rows are written as they are."""

    map: Any
    source: Source
    options: FormatOptions
    format: str
    n_jobs: int | None

    def prepared(self, inputs: list[Any], stack: ExitStack) -> "tuple[Job, list[Any]]":
        """The job with what it must know of all inputs, which are checked, and what to read."""
        if not isinstance(self.source, TextRows):
            return self, inputs
        for given in inputs:
            self.source.format_of(given)
        source, inputs = number_labels(self.source, inputs, self.n_jobs, stack)
        return self._replace(source=source), inputs

    def run(
        self, inputs: Sequence[Any], output: Any, bar: FileProgress | None = None
    ) -> list[MappedFile]:
        """Map some inputs to one output."""
        with ExitStack() as stack:
            target = FORMATS[self.format](self.map, output, self.options, stack)
            table = self.source.classes_table()
            if table is not None:
                path = os.fspath(output) + CLASSES
                stack.enter_context(_output_files.atomic_output(path)).write(table)
            done = [MappedFile(one, output, self._map(one, target, bar), False) for one in inputs]
            target.finish()
        return done

    def _map(self, given: Any, target: OutputFormat, bar: FileProgress | None) -> int:
        """Map an input; returns the number of rows."""

        def convert(block: Block) -> tuple[Any, int]:
            return target.convert(block), block.n_rows

        n_rows = 0
        max_rows = None if self.map is None else rows_at_once(self.map._size)
        for converted, n_more in read_rows(
            self.source, given, convert, n_jobs=self.n_jobs, bar=bar, max_rows=max_rows
        ):
            target.write(converted)
            n_rows += n_more
        return n_rows

    def record(self, **more: Any) -> dict[str, Any]:
        """What outputs are made of, for resuming."""
        source, output = self.source.options(), self.options._asdict()
        options = {"format": self.format, **source, **output, **more}
        return make_record(self.map, options)

    def is_cut(self, path: str) -> bool:
        """Whether ranges of bytes of an input are inputs; those of Parquet are not."""
        return not isinstance(self.source, TextRows) or self.source.format_of(path) != "parquet"

    def names(self) -> Names:
        """How outputs are named."""
        is_text = isinstance(self.source, TextRows)
        return Names(self.format, is_text, self.source.label_field is not None)


def make_job(
    map: Any,
    *,
    zero_based: bool = False,
    ones: bool = False,
    format: str = "svmlight",
    header: bool | str = False,
    texts: str | None = None,
    field: str = "text",
    label_field: str | None = None,
    id_field: str | None = None,
    token_pattern: str | None = None,
    text_format: str | None = None,
    n_jobs: int | None = None,
    comments: bool = False,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> Job:
    """A job of the options of `map_files`, which are checked."""
    check_choice("format", format, tuple(FORMATS))
    _threads.resolve_n_jobs(n_jobs)
    for name, value in (("comments", comments), ("zero_based", zero_based), ("ones", ones)):
        check_bool(name, value)
    fitted = as_fitted(map)
    if ones and not fitted.is_one_hot:
        raise ValueError(f"{setting('ones', True)} is for maps with one-hot output")
    if ones and format == "npy":
        raise ValueError(
            f"{setting('ones', True)} is not for {setting('format', 'npy')}: packed codes have no "
            "values"
        )
    if format == "npy" and not fitted.has_codes:
        raise ValueError(f"{setting('format', 'npy')} is for maps with codes")
    if comments and format != "svmlight":
        raise ValueError(f"{setting('comments', True)} is for {setting('format', 'svmlight')}")
    title = " ".join(repr(map).split()) if header is True else header or ""
    source, about = source_of(
        fitted, texts, zero_based=zero_based, field=field, label_field=label_field,
        id_field=id_field, token_pattern=token_pattern, text_format=text_format,
        max_line_bytes=max_line_bytes,
    )  # fmt: skip
    if comments and texts is not None:
        raise ValueError(f"{setting('comments', True)} is for LIBSVM files, not for texts")
    options = FormatOptions(bool(ones), bool(comments), title, about, id_field is not None)
    return Job(fitted, source, options, format, n_jobs)


def source_of(
    map: Any,
    texts: str | None,
    *,
    zero_based: bool = False,
    field: str = "text",
    label_field: str | None = None,
    id_field: str | None = None,
    token_pattern: str | None = None,
    text_format: str | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> tuple[Source, dict[str, Any] | None]:
    """What inputs are for a fitted map, and the description of the vectorizer of texts."""
    check_int("max_line_bytes", max_line_bytes, 1, LARGEST_INT)
    if texts is None:
        for name, value in (
            ("label_field", label_field), ("id_field", id_field),
            ("token_pattern", token_pattern), ("text_format", text_format),
        ):  # fmt: skip
            if value is not None:
                raise ValueError(f"{setting(name, value)} is for texts")
        return LibsvmRows(bool(zero_based), int(max_line_bytes)), None
    if zero_based:
        raise ValueError(f"{setting('zero_based', True)} is for LIBSVM files, not for texts")
    # They are slow to import, as scikit-learn's are.
    from sparsemaps.text._analyzers import vectorizer_config, vectorizer_of

    is_set = not map._values_matter
    vectorizer = vectorizer_of(texts, token_pattern=token_pattern, binary=is_set)
    width = width_of(vectorizer)
    if map._n_columns not in (None, width):
        raise ValueError(
            f"the map was fitted to {map._n_columns} columns, and rows of texts by {texts} have "
            f"{width}"
        )
    source = text_rows(
        vectorizer, field=field, label_field=label_field, id_field=id_field,
        text_format=text_format, max_line_bytes=max_line_bytes,
    )  # fmt: skip
    return source, vectorizer_config(vectorizer, values=not is_set)


def text_files(
    vectorizer: Any,
    inputs: Any,
    output: Any,
    *,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options_of_texts: Any,
) -> list[MappedFile]:
    """Write the rows that a vectorizer makes of texts, for ``sparsemaps text``."""
    from sparsemaps.text._analyzers import vectorizer_config

    _threads.resolve_n_jobs(n_jobs)
    source = text_rows(vectorizer, **options_of_texts)
    options = FormatOptions(False, False, "", vectorizer_config(vectorizer), source.has_ids)
    job = Job(None, source, options, "svmlight", n_jobs)
    return _run(job, inputs, output, resume, shard, progress)


# ---- a directory of outputs ----------------------------------------------------------------------


def _map_each(
    job: Job,
    paths: list[Any],
    directory: str,
    resume: bool,
    shard: tuple[int, int] | None,
    progress: bool | None,
) -> list[MappedFile]:
    """Map each input to an output of its own."""
    pairs = [
        (path, output) for output, path in _outputs(paths, directory, job.names().ending).items()
    ]
    if shard is not None:
        i, n = _check_shard(shard)
        pairs = pairs[i - 1 :: n]
    _output_files.refuse_clashes(paths, written(paths, directory, job.names()))
    with ExitStack() as stack:
        job, _ = job.prepared(paths, stack)  # of all inputs, also those of other shards
    os.makedirs(directory, exist_ok=True)
    record = job.record()
    done: dict[str, MappedFile] = {}
    if resume:
        for path, output in pairs:
            n_rows = _finished(record, path, output)
            if n_rows is not None:
                done[output] = MappedFile(path, output, n_rows, True)
    to_do = [pair for pair in pairs if pair[1] not in done]
    with FileProgress([path for path, _ in to_do], progress) as bar:

        def map_one(path: str, output: str, n_jobs: int | None = None) -> MappedFile:
            return _map_to(job._replace(n_jobs=n_jobs), record, path, output, bar)

        for is_small, some in itertools.groupby(to_do, _is_small):
            if is_small:
                done |= {file.output: file for file in _threads.stream(map_one, some, job.n_jobs)}
            else:
                done |= {output: map_one(path, output, job.n_jobs) for path, output in some}
    return [done[output] for _, output in pairs]


def _is_small(pair: tuple[str, str]) -> bool:
    """Whether an input has too few blocks for several threads; they take one file each then."""
    return os.stat(pair[0]).st_size < _SMALL_BYTES


def _map_to(
    job: Job, record: dict[str, Any], path: str, output: str, bar: FileProgress
) -> MappedFile:
    """Map an input to an output of its own, and write a record of both beside it."""
    about_input = _about_input(path)  # before the input is read, which may change
    _remove(output + RECORD)
    for ending in job.names().beside:
        _remove(output + ending)
    (done,) = job.run([path], output, bar)
    record = {
        **record,
        "input": about_input,
        "n_rows": done.n_rows,
        "output_size": os.path.getsize(output),
    }
    with _output_files.atomic_output(output + RECORD, synced=False) as file:
        file.write(json.dumps(record).encode() + b"\n")
    return done


def _about_input(path: str) -> dict[str, int]:
    found = os.stat(path)
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns}


def _finished(record: dict[str, Any], path: str, output: str) -> int | None:
    """How many rows an output has that is complete, or None; an error if it is of another map."""
    try:
        with open(output + RECORD, "rb") as file:
            found = read_record(file.read())
        size = os.path.getsize(output)
    except FileNotFoundError:
        return None
    if found is None or not isinstance(found.get("n_rows"), int):
        return None
    other = difference({name: found.get(name) for name in record}, record)
    if other is not None:
        raise ValueError(
            f"{output} is of another map or command: made with {other}; write to another "
            "directory, or remove it"
        )
    if found.get("input") != _about_input(path) or found.get("output_size") != size:
        return None
    n_rows: int = found["n_rows"]
    return n_rows if n_rows >= 0 else None


def _outputs(paths: list[Any], directory: str, ending: str) -> dict[str, Any]:
    """The outputs, each with its input; an error if two inputs have the same."""
    outputs: dict[str, Any] = {}
    for path in paths:
        if not isinstance(path, (str, os.PathLike)) or is_pipe(path):
            raise ValueError("an output directory needs inputs that are files")
        name = _text_input.without_compression(os.path.basename(os.fspath(path))) + ending
        output = os.path.join(directory, name)
        if output in outputs:
            raise ValueError(f"{outputs[output]} and {path} have the same output {output}")
        outputs[output] = path
    return outputs


def _check_shard(shard: Any) -> tuple[int, int]:
    try:
        i, n = shard
    except (TypeError, ValueError):
        raise ParameterError("shard", repr(shard), "two integers (i, n)") from None
    n = check_int("the second number of shard", n, 1, 2**31 - 1)
    return check_int("the first number of shard", i, 1, n), n


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
