"""Mapping LIBSVM files to files."""

import itertools
import os
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from sparsemaps._tools import _output_files, _text_input, _threads
from sparsemaps._tools._checks import LARGEST_INT32, check_bool, check_int
from sparsemaps._tools._locks import one_writer
from sparsemaps._tools._parameters import ParameterError, setting
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import (
    RECORD,
    InputFile,
    expand,
    is_directory,
    is_regular,
    is_standard,
    known_inputs,
)
from sparsemaps.files._job import Job, MappedFile, Names, make_job, make_text_job
from sparsemaps.files._record import difference, record_beside, write_beside
from sparsemaps.files._text_rows import TextRows, refuse_pipe

_SMALL_BYTES = 2**23
"""Threads divide a file of at least this size among them; smaller ones they take one each."""


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

    The command ``sparsemaps map`` calls this function. Rows are read, mapped and written block by
    block. Labels, of which a row may have several, and numbers of ``qid:`` are copied to the
    output. A file appears only when it is complete.

    Parameters
    ----------
    map : map of sparsemaps
        A fitted map is used as it is. Of other maps, a copy is fitted for rows of any width; choose
        a `random_state`, so that other files are mapped in the same way.
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
        A comment at the beginning of text; True writes the map and its parameters. LIBSVM's own
        programs do not read comments.
    texts : str or None, default=None
        Not None says that the inputs are raw texts, whose rows are their n-grams. It is the
        analyzer with the sizes of n-grams, such as "word:5", "char:3-5", "char_wb:3" or "byte:3".
        Columns are hashes of n-grams, below ``2**31 - 2``; for "byte" they are exact. Letters are
        lowered, but not for "byte". Rows are sets of n-grams for `MinHash`, and counts without a
        norm for other maps.
    field : str, default="text"
        For texts, the field of a record of .jsonl, or the column of .parquet. In .txt, each line is
        a text.
    label_field : str or None, default=None
        For texts, the field of labels; without it labels are 0. Labels that are strings are
        numbered from 0 in sorted order, and OUTPUT.classes.tsv has the numbers and the labels. The
        inputs are then read twice, and those from a pipe are kept in a temporary file.
    id_field : str or None, default=None
        For texts, the field of ids. Format "svmlight" has them as comments; the other formats have
        them in OUTPUT.ids.txt, one a line.
    token_pattern : str or None, default=None
        For texts, a regular expression for words; None is ``\S+``.
    text_format : {"txt", "jsonl", "parquet"} or None, default=None
        For texts, the format of all inputs; None takes it from their names. Pipes and file objects
        need it.
    n_jobs : int or None, default=None
        Threads; None is 1, -1 all processors. The output does not depend on it. The threads divide
        each file. Of files below 8 MB that have an output each, every thread takes another file.
        The map's own `n_jobs` is used where this is 1.
    progress : bool or None, default=None
        Whether to show a bar on standard error; None shows it if standard error is a terminal.
    comments : bool, default=False
        Whether to keep the comments of the inputs (format "svmlight").
    resume : bool, default=False
        Whether to skip the outputs in the directory that are complete already. A file OUTPUT.json
        beside each output records the map, the options, and the size and time of the input. An
        input that has changed since is mapped again; another map or option is an error.
    shard : tuple of two int or None, default=None
        (i, n) maps every n-th of the inputs, starting with the i-th; i is numbered from 1. n
        processes with i = 1, ..., n map all inputs, all to the same directory.
    max_line_bytes : int, default=2**30
        A longer line is an error: a small compressed file can hold one that fills the memory.

    Returns
    -------
    files : list of MappedFile
        For each input its `input`, `output`, `n_rows`, and `skipped`.

    Raises
    ------
    ValueError
        If a parameter is not allowed, an output is an input, or two inputs have the same output. If
        a line is not of the format, or the map refuses its row; the error names file, line and
        reason. Complete outputs remain.
    OSError
        If a file cannot be read or written.

    See Also
    --------
    sparsemaps.libsvm.iter_svmlight_file : Blocks of the rows of a file.

    Examples
    --------
    >>> from io import BytesIO
    >>> from sparsemaps import ConsistentWeightedSampling
    >>> from sparsemaps.files import map_files
    >>> cws = ConsistentWeightedSampling(n_hashes=3, bits=2, random_state=0)
    >>> file = BytesIO()
    >>> mapped = map_files(cws, BytesIO(b"1 1:0.5 3:2\n-1 2:7\n"), file, ones=True)
    >>> mapped[0].n_rows
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
    job: Job,
    inputs: Any,
    output: Any,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    progress: bool | None = None,
) -> list[MappedFile]:
    """Map inputs to one output, or each to its own. All names are compared first."""
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
    job.check_formats(paths)
    with ExitStack() as stack:
        job, read = job.prepared(known_inputs(paths), stack)
        if isinstance(job.source, TextRows):
            refuse_pipe(job.source, output)
        bar = stack.enter_context(FileProgress(paths, progress))
        mapped = job.run(read, output, bar)
    return [file._replace(input=path) for file, path in zip(mapped, paths, strict=True)]


def written(paths: list[Any], output: Any, names_of: Names) -> list[tuple[Any, str]]:
    """All files that mapping these inputs writes, each with words for it in an error."""
    is_many = is_directory(output)
    pairs = _outputs(paths, os.fspath(output), names_of.ending) if is_many else [(output, None)]
    names: list[tuple[Any, str]] = []
    for name, path in pairs:
        names.append((name, f"the output of {path}" if is_many else _output_files.OUTPUT))
        if hasattr(name, "write") or is_standard(name):
            continue
        endings = (*names_of.beside, *([RECORD] if is_many else []))
        names += [(os.fspath(name) + ending, f"a file beside {name}") for ending in endings]
    return names


def text_files(
    vectorizer: Any,
    inputs: Any,
    output: Any,
    *,
    resume: bool = False,
    shard: tuple[int, int] | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> list[MappedFile]:
    """Write the rows that a vectorizer makes of texts, for ``sparsemaps text``."""
    return _run(
        make_text_job(vectorizer, n_jobs, **options), inputs, output, resume, shard, progress
    )


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
    pairs = [(path, output) for output, path in _outputs(paths, directory, job.names().ending)]
    if shard is not None:
        i, n = _check_shard(shard)
        pairs = pairs[i - 1 :: n]
    _output_files.refuse_clashes(paths, written(paths, directory, job.names()))
    job.check_formats(paths)
    known = dict(zip(paths, known_inputs(paths), strict=True))
    with ExitStack() as stack:
        job, _ = job.prepared(list(known.values()), stack)  # also those of other shards
    os.makedirs(directory, exist_ok=True)
    known_pairs = [(known[path], output) for path, output in pairs]
    with one_writer(directory, shared=shard is not None):
        mapped = map_each_to(job, known_pairs, resume, progress)
    return [file._replace(input=os.fspath(file.input)) for file in mapped]


def map_each_to(
    job: Job,
    pairs: list[tuple[InputFile, str]],
    resume: bool,
    progress: bool | None,
    title: str = "",
) -> list[MappedFile]:
    """Map inputs to outputs of their own, with records beside them."""
    record = job.record()
    mapped: dict[str, MappedFile] = {}
    if resume:
        for path, output in pairs:
            n_rows = _finished(record, path, output)
            if n_rows is not None:
                mapped[output] = MappedFile(path, output, n_rows, True)
    to_do = [pair for pair in pairs if pair[1] not in mapped]
    with FileProgress([path for path, _ in to_do], progress, title) as bar:

        def map_one(path: InputFile, output: str, n_jobs: int | None = None) -> MappedFile:
            return _map_to(job._replace(n_jobs=n_jobs), record, path, output, bar)

        for is_small, some in itertools.groupby(to_do, _is_small):
            if is_small:
                mapped |= {file.output: file for file in _threads.stream(map_one, some, job.n_jobs)}
            else:
                mapped |= {output: map_one(path, output, job.n_jobs) for path, output in some}
    return [mapped[output] for _, output in pairs]


def _is_small(pair: tuple[InputFile, str]) -> bool:
    """Whether an input has too few blocks for several threads, so that each takes another file."""
    return pair[0].state["size"] < _SMALL_BYTES


def _map_to(
    job: Job, record: dict[str, Any], path: InputFile, output: str, bar: FileProgress
) -> MappedFile:
    """Map an input to an output of its own, and write a record of both beside it."""
    _remove(output + RECORD)
    for ending in job.names().beside:
        _remove(output + ending)
    (mapped,) = job.run([path], output, bar)
    record = {
        **record,
        "input": path.state,
        "n_rows": mapped.n_rows,
        "output_size": os.path.getsize(output),
    }
    write_beside(output, record, synced=False)
    return mapped


def _finished(record: dict[str, Any], path: InputFile, output: str) -> int | None:
    """The number of rows of a complete output; None if it is not. Another map is an error."""
    before = record_beside(output)
    if before is None or not os.path.exists(output):
        return None
    if not isinstance(before.get("n_rows"), int):
        return None
    other = difference({name: before.get(name) for name in record}, record)
    if other is not None:
        raise ValueError(
            f"{output} is of another map or command: made with {other}; write to another "
            "directory, or remove it"
        )
    size = os.path.getsize(output)
    if before.get("input") != path.state or before.get("output_size") != size:
        return None
    n_rows: int = before["n_rows"]
    return n_rows if n_rows >= 0 else None


def _outputs(paths: list[Any], directory: str, ending: str) -> list[tuple[str, Any]]:
    return one_each(paths, directory, lambda name: _text_input.without_compression(name) + ending)


def one_each(
    paths: list[Any], directory: str, name_of: Callable[[str], str]
) -> list[tuple[str, Any]]:
    """An output for each input, before it; an error if two inputs have the same."""
    outputs: dict[str, Any] = {}
    for path in paths:
        if not is_regular(path):
            raise ValueError("an output directory needs inputs that are files")
        output = os.path.join(directory, name_of(os.path.basename(os.fspath(path))))
        if output in outputs:
            raise ValueError(f"{outputs[output]} and {path} have the same output {output}")
        outputs[output] = path
    return list(outputs.items())


def _check_shard(shard: Any) -> tuple[int, int]:
    try:
        i, n = shard
    except (TypeError, ValueError):
        raise ParameterError("shard", repr(shard), "two integers (i, n)") from None
    n = check_int("the second number of shard", n, 1, LARGEST_INT32)
    return check_int("the first number of shard", i, 1, n), n


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.unlink(path)
