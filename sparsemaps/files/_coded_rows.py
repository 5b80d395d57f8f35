"""Rows of inputs as packed codes, with their names: of LIBSVM files, texts and files of codes."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import scipy.sparse as sp

from sparsemaps._tools._checks import LARGEST_INT, check_int
from sparsemaps._tools._progress import FileProgress
from sparsemaps._tools._sources import IDS, is_regular
from sparsemaps._tools._stages import KeptStages, Stages
from sparsemaps._tools._typing import Array
from sparsemaps.codes._code_checks import TEXTS, refuse_different
from sparsemaps.codes._packed import PackedCodes, save_blocks
from sparsemaps.files._rows import InputBlock, Source, apply, comments_of, read_rows


def holds_codes(path: Any) -> bool:
    """Whether an input is a file of packed codes, by its name."""
    return is_regular(path) and os.fspath(path).endswith(".npy")


class RowNames:
    """What rows are called in an output: their ids, or their numbers, which count from 1; and the
    comments of their lines."""

    def __init__(self) -> None:
        self._ids: list[tuple[int, Any]] = []  # of inputs: number of rows, ids or a file of them
        self.comments: dict[int, str] = {}
        self.n_rows = 0

    def add(self, n_rows: int, ids: Any, comments: list[tuple[int, str]]) -> None:
        """Add rows, whose ids are a list, lines of a file with this name, or None."""
        self.comments.update((self.n_rows + row, comment) for row, comment in comments)
        self._ids.append((n_rows, ids))
        self.n_rows += n_rows

    def lookup(self, rows: Array) -> Callable[[int], str]:
        """What gives the names of some rows, which ascend."""
        if any(ids is None for _, ids in self._ids):
            return lambda row: str(row + 1)
        names: dict[int, str] = {}
        first = 0
        for n_rows, ids in self._ids:
            wanted = set((rows[(rows >= first) & (rows < first + n_rows)] - first).tolist())
            names |= {first + row: id for row, id in _numbered(ids) if row in wanted}
            first += n_rows
        return names.__getitem__

    def to_json(self) -> list[Any]:
        return [self._ids, list(self.comments.items())]

    @classmethod
    def from_json(cls, kept: Any) -> "RowNames":
        names = cls()
        try:
            for n_rows, ids in kept[0]:
                if not isinstance(ids, (str, list, type(None))):
                    raise TypeError
                names.add(check_int("the number of rows", n_rows, 0, LARGEST_INT), ids, [])
            names.comments = {int(row): str(comment) for row, comment in kept[1]}
        except (TypeError, ValueError, LookupError):
            raise ValueError("the names of rows of an earlier run are damaged") from None
        return names


def _numbered(ids: Any) -> Iterator[tuple[int, str]]:
    if isinstance(ids, list):
        yield from enumerate(ids)
        return
    with open(ids, encoding="utf-8", newline="\n") as file:
        for row, line in enumerate(file):
            yield row, line.removesuffix("\n")


class CodedRows(NamedTuple):
    """The rows of some inputs, one behind the other; `codes` is None where there are none."""

    codes: PackedCodes | None
    X: list[Any]
    names: RowNames


class _Rows(NamedTuple):
    """What is kept of some rows."""

    codes: PackedCodes
    X: Any
    comments: list[tuple[int, str]]
    ids: list[str] | None


class Encoder:
    """What makes codes of inputs, all of one map.

    Parameters
    ----------
    map : fitted map or None
        None where all inputs are files of codes.
    source : Source
        What other inputs are.
    texts : dict or None
        Of texts, the description of the vectorizer.
    keep_rows : bool
        Whether to keep the rows too.
    """

    def __init__(
        self, map: Any, source: Source, texts: dict[str, Any] | None, keep_rows: bool
    ) -> None:
        self._map, self._source, self._texts, self._keep_rows = map, source, texts, keep_rows
        self._known: tuple[str, PackedCodes] | None = None
        if map is not None:
            empty = sp.csr_array((0, map._n_columns or 1))
            self._known = "rows of the map", self._named(map.encode(empty, packed=True))

    def open(self, path: Any) -> PackedCodes:
        """The codes of a file; an error if they do not compare with those before."""
        codes = PackedCodes.load(path)
        self._check(str(path), codes)
        return codes

    def _check(self, name: str, codes: PackedCodes) -> None:
        before = self._known or (name, codes)
        refuse_different(f"{before[0]} and {name}", before[1], codes)
        if self._known is None or TEXTS not in before[1].config:
            self._known = name, codes[:0]

    def read(
        self,
        which: str,
        paths: list[Any],
        bar: FileProgress,
        n_jobs: int | None,
        stages: Stages,
        folder: str | None,
    ) -> CodedRows:
        """The rows of inputs. Codes of several, if files of codes are among them, are joined in
        a file of `folder`; with stages that are kept, codes of any inputs are."""
        if len(paths) == 1 and holds_codes(paths[0]):
            names, blocks = RowNames(), [self._coded(paths[0], bar)]
            names.add(len(blocks[0]), _ids_beside(paths[0]), [])
            return CodedRows(blocks[0], [], names)
        kept = stages.path(f"{which}-codes.npy") if isinstance(stages, KeptStages) else None
        if kept is not None and not self._keep_rows and os.path.exists(kept):
            names = RowNames.from_json(stages.value(f"{which}-names", list))
            return CodedRows(self.open(kept), [], names)
        names, blocks, matrices = self._blocks(paths, bar, n_jobs)
        if not blocks:
            return CodedRows(None, matrices, names)
        if kept is None and folder is not None and any(map(holds_codes, paths)):
            kept = os.path.join(folder, f"{which}-codes.npy")
        if kept is None or self._keep_rows:
            return CodedRows(PackedCodes.concatenate(blocks), matrices, names)
        stages.value(f"{which}-names", names.to_json)
        save_blocks(kept, blocks)
        del blocks
        return CodedRows(PackedCodes.load(kept), matrices, names)

    def _blocks(
        self, paths: list[Any], bar: FileProgress, n_jobs: int | None
    ) -> tuple[RowNames, list[PackedCodes], list[Any]]:
        names, blocks, matrices = RowNames(), [], []
        for path in paths:
            if holds_codes(path):
                blocks.append(self._coded(path, bar))
                names.add(len(blocks[-1]), _ids_beside(path), [])
                continue
            for block in read_rows(self._source, path, self._encode, n_jobs=n_jobs, bar=bar):
                self._check(str(path), block.codes)
                blocks.append(block.codes)
                matrices.append(block.X)
                names.add(len(block.codes), block.ids, block.comments)
        return names, blocks, matrices

    def _encode(self, block: InputBlock) -> _Rows:
        codes = self._named(apply(self._map, partial(self._map.encode, packed=True), block))
        rows = block.X if self._keep_rows else None
        return _Rows(codes, rows, list(_comments(block.text)), block.ids)

    def _named(self, codes: PackedCodes) -> PackedCodes:
        """Codes that know the vectorizer of their rows."""
        if self._texts is not None:
            codes.config[TEXTS] = self._texts
        return codes

    def _coded(self, path: Any, bar: FileProgress) -> PackedCodes:
        codes = self.open(path)
        bar.add(os.path.getsize(path), len(codes))
        return codes


def _comments(text: bytes) -> Iterator[tuple[int, str]]:
    """The numbers of rows that have a comment, and the comments."""
    for row, comment in comments_of(text) if b"#" in text else ():
        if row is not None and comment is not None:
            yield row, " ".join(comment.decode("utf-8", "surrogateescape").split())


def _ids_beside(path: Any) -> str | None:
    """The file of ids that was written beside codes, if there is one."""
    name = os.fspath(path) + IDS
    return name if os.path.exists(name) else None
