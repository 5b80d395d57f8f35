"""``sparsemaps pairs``: near-duplicates among the rows of files."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from sparsemaps import neighbors
from sparsemaps._tools import _output_files, _threads
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import expand
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._job import source_of
from sparsemaps.files._rows import InputBlock, apply, comments_of, read_rows, stacked
from sparsemaps.files._text_rows import TextRows
from sparsemaps.maps._sparse_map import as_fitted
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._exact import exact_pairs

_LINES = 2**14
"""Lines that are written at a time."""


def write_pairs(
    map: Any,
    inputs: Any,
    output: Any,
    threshold: float,
    *,
    exact: bool = False,
    recall: float = 0.95,
    texts: str | None = None,
    n_jobs: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> tuple[int, int]:
    """Write pairs of rows of files, and return the numbers of rows and of pairs.

    Lines of the output have the numbers of two rows, from 1, or their ids, and their similarity
    with six decimals; where LIBSVM files have comments, those of the two lines follow. Columns are
    separated by tabs. Files are read once, one after the other; their codes are kept, and with
    `exact` their rows. `texts` and `options` are those of `map_files` that say what inputs are.
    """
    _search.check_share("threshold", threshold)
    _search.check_share("recall", recall)
    _threads.resolve_n_jobs(n_jobs)
    map = as_fitted(map)
    source, _ = source_of(map, texts, **options)
    paths = expand(inputs)
    _output_files.refuse_clashes(paths, [(output, _output_files.OUTPUT)])
    if isinstance(source, TextRows):
        for path in paths:
            source.format_of(path)
    blocks: list[PackedCodes] = []
    matrices: list[Any] = []
    comments: dict[int, str] = {}
    ids: list[str] = []
    n_rows = 0
    with (
        _output_files.atomic_output(output) as out,
        FileProgress(paths, progress) as bar,
    ):
        convert = partial(_encode, map, keep=exact)
        for path in paths:
            for found in read_rows(source, path, convert, n_jobs=n_jobs, bar=bar):
                blocks.append(found.codes)
                matrices.append(found.X)
                comments.update((n_rows + row, comment) for row, comment in found.comments)
                ids += found.ids
                n_rows += len(found.codes)
        if not n_rows:
            return 0, 0
        i, j, similarity = _find(
            map, PackedCodes.concatenate(blocks), matrices, threshold, exact, recall, n_jobs
        )
        for start in range(0, len(i), _LINES):
            some = slice(start, start + _LINES)
            columns = i[some].tolist(), j[some].tolist(), similarity[some].tolist()
            lines = [_line(*pair, ids, comments) for pair in zip(*columns, strict=True)]
            out.write("".join(lines).encode("utf-8", "surrogateescape"))
    return n_rows, len(i)


class _Rows(NamedTuple):
    """What is kept of some rows."""

    codes: PackedCodes
    X: Any
    comments: list[tuple[int, str]]
    ids: list[str]


def _encode(map: Any, block: InputBlock, *, keep: bool) -> _Rows:
    codes: PackedCodes = apply(map, partial(map.encode, packed=True), block)
    comments = list(_comments(block.text))
    return _Rows(codes, block.X if keep else None, comments, block.ids or [])


def _comments(text: bytes) -> Iterator[tuple[int, str]]:
    """The numbers of rows that have a comment, and the comments."""
    for row, comment in comments_of(text) if b"#" in text else ():
        if row is not None and comment is not None:
            yield row, " ".join(comment.decode("utf-8", "surrogateescape").split())


def _find(
    map: Any,
    codes: PackedCodes,
    matrices: list[Any],
    threshold: float,
    exact: bool,
    recall: float,
    n_jobs: int | None,
) -> tuple[Array, Array, Array]:
    if not exact:
        return neighbors.similar_pairs(codes, threshold, recall=recall, n_jobs=n_jobs)
    i, j = _search.candidates(codes, None, threshold, recall, n_jobs)
    rows = stacked(matrices, max(1, *(X.shape[1] for X in matrices)))
    similarity = exact_pairs(map, rows, rows, i, j)
    kept = similarity >= threshold - 1e-12
    return i[kept], j[kept], similarity[kept]


def _line(i: int, j: int, similarity: float, ids: list[str], comments: dict[int, str]) -> str:
    one, two = (ids[i], ids[j]) if ids else (i + 1, j + 1)
    line = f"{one}\t{two}\t{similarity:.6f}"
    if comments:
        line += f"\t{comments.get(i, '')}\t{comments.get(j, '')}"
    return line + "\n"
