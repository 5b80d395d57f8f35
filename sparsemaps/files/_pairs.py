"""``sparsemaps pairs``: near-duplicates among the rows of a LIBSVM file."""

from collections.abc import Callable
from functools import partial
from typing import Any

import scipy.sparse as sp

from sparsemaps import neighbors
from sparsemaps._tools import _output_files, _text_input, _threads
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import source
from sparsemaps._tools._typing import Array
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.files._blocks_of_map import Block, FittedMap, read_block
from sparsemaps.libsvm._pipeline import blocks_of, in_order
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
    fitted = FittedMap(map)
    blocks: list[PackedCodes] = []
    matrices: list[Any] = []
    comments: dict[int, str] = {}
    n_rows = 0
    convert = partial(_encode, fitted, zero_based=zero_based, keep=exact)
    with (
        _output_files.atomic_output(output) as out,
        FileProgress([input], progress) as bar,
        _text_input.open_text(source(input), max_line_bytes) as text,
    ):
        text.name = text.name or "standard input: "
        update = bar.reading(text)
        for codes, X, found in in_order(convert, blocks_of(text, n_jobs), n_jobs, text.name):
            blocks.append(codes)
            if exact:
                matrices.append(X)
            comments.update((n_rows + row, comment) for row, comment in found)
            n_rows += len(codes)
            update(len(codes))
        if not n_rows:
            return 0, 0
        i, j, similarity = _find(
            fitted.map,
            PackedCodes.concatenate(blocks),
            matrices,
            threshold,
            exact,
            recall,
            n_jobs,
        )
        for start in range(0, len(i), _LINES):
            some = slice(start, start + _LINES)
            columns = i[some].tolist(), j[some].tolist(), similarity[some].tolist()
            lines = [_line(*pair, comments) for pair in zip(*columns, strict=True)]
            out.write("".join(lines).encode("utf-8", "surrogateescape"))
    return n_rows, len(i)


def _encode(
    fitted: FittedMap, text: bytes, *, zero_based: bool, keep: bool
) -> tuple[tuple[PackedCodes, Any, list[tuple[int, str]]], int]:
    block, n_lines = read_block(text, zero_based)
    encode: Callable[[Any], Any] = partial(fitted.map.encode, packed=True)
    codes: PackedCodes = fitted._checked(encode, block, zero_based)
    return (codes, block.X if keep else None, list(_comments(block))), n_lines


def _comments(block: Block) -> Any:
    """The numbers of rows that have a comment, and the comments."""
    if b"#" not in block.text:
        return
    row = 0
    for line in block.text.split(b"\n"):
        content, hash_sign, comment = line.partition(b"#")
        if content.strip():
            if hash_sign:
                text = comment.decode("utf-8", "surrogateescape")
                yield row, " ".join(text.split())
            row += 1


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
    width = max(1, *(X.shape[1] for X in matrices))
    rows = sp.csr_array(
        sp.vstack([sp.csr_array((X.data, X.indices, X.indptr), (X.shape[0], width))
                   for X in matrices])
    )  # fmt: skip
    similarity = exact_pairs(map, rows, rows, i, j)
    kept = similarity >= threshold - 1e-12
    return i[kept], j[kept], similarity[kept]


def _line(i: int, j: int, similarity: float, comments: dict[int, str]) -> str:
    line = f"{i + 1}\t{j + 1}\t{similarity:.6f}"
    if comments:
        line += f"\t{comments.get(i, '')}\t{comments.get(j, '')}"
    return line + "\n"
