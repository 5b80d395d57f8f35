"""``sparsemaps pairs``: near-duplicates among the rows of a LIBSVM file."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sparsemaps import neighbors
from sparsemaps._tools import _output_files, _text_input, _threads
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._rows import Block, LibsvmRows, apply, comments_of, read_rows, stacked
from sparsemaps.maps._sparse_map import as_fitted
from sparsemaps.neighbors import _search
from sparsemaps.neighbors._exact import exact_pairs

_LINES = 2**14
"""Lines that are written at a time."""


def write_pairs(
    map: Any,
    input: Any,
    output: Any,
    threshold: float,
    *,
    exact: bool = False,
    recall: float = 0.95,
    zero_based: bool = False,
    n_jobs: int | None = None,
    progress: bool | None = None,
    max_line_bytes: int = _text_input.MAX_LINE_BYTES,
) -> tuple[int, int]:
    """Write pairs of rows of a LIBSVM file, and return the numbers of rows and of pairs.

    Lines of the output have the numbers of two rows, from 1, and their similarity with six
    decimals; where the input has comments, those of the two lines follow. Columns are separated by
    tabs. The file is read once; its codes are kept, and with `exact` its rows.
    """
    _search.check_share("threshold", threshold)
    _search.check_share("recall", recall)
    _threads.resolve_n_jobs(n_jobs)
    _output_files.refuse_clashes([input], [(output, _output_files.OUTPUT)])
    map = as_fitted(map)
    blocks: list[PackedCodes] = []
    matrices: list[Any] = []
    comments: dict[int, str] = {}
    n_rows = 0
    with (
        _output_files.atomic_output(output) as out,
        FileProgress([input], progress) as bar,
    ):
        convert = partial(_encode, map, keep=exact)
        source = LibsvmRows(zero_based, max_line_bytes)
        for codes, X, found in read_rows(source, input, convert, n_jobs=n_jobs, bar=bar):
            blocks.append(codes)
            if exact:
                matrices.append(X)
            comments.update((n_rows + row, comment) for row, comment in found)
            n_rows += len(codes)
        if not n_rows:
            return 0, 0
        i, j, similarity = _find(
            map, PackedCodes.concatenate(blocks), matrices, threshold, exact, recall, n_jobs
        )
        for start in range(0, len(i), _LINES):
            some = slice(start, start + _LINES)
            columns = i[some].tolist(), j[some].tolist(), similarity[some].tolist()
            lines = [_line(*pair, comments) for pair in zip(*columns, strict=True)]
            out.write("".join(lines).encode("utf-8", "surrogateescape"))
    return n_rows, len(i)


def _encode(
    map: Any, block: Block, *, keep: bool
) -> tuple[PackedCodes, Any, list[tuple[int, str]]]:
    codes: PackedCodes = apply(map, partial(map.encode, packed=True), block)
    return codes, block.X if keep else None, list(_comments(block.text))


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


def _line(i: int, j: int, similarity: float, comments: dict[int, str]) -> str:
    line = f"{i + 1}\t{j + 1}\t{similarity:.6f}"
    if comments:
        line += f"\t{comments.get(i, '')}\t{comments.get(j, '')}"
    return line + "\n"
