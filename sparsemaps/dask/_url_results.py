"""Results of a job on any file system that fsspec knows."""

import contextlib
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import fsspec

from sparsemaps._io._locks import one_writer
from sparsemaps.dask._ranges import full_name, is_local
from sparsemaps.files._results import Results

_TEMPORARY = re.compile(
    r"\.((part-\d{6}\.[a-z.]+|_sparsemaps\.json)\.)?[0-9a-f]{32}\.tmp"
    r"|\.sparsemaps-[0-9a-f]{16}\.tmp"
)
"""Names of files that are not complete."""

MARK = "_sparsemaps.json"
"""The file of a directory of parts."""


class UrlResults(Results):
    """Results in a directory by its path or URL.

    Files are written to a folder of this machine first, unless the directory is on it, and appear
    under their names when they are complete. The options are those of fsspec.
    """

    def __init__(self, directory: Any, storage_options: Mapping[str, Any] | None) -> None:
        self._fs, path = fsspec.core.url_to_fs(os.fspath(directory), **(storage_options or {}))
        super().__init__(full_name(self._fs, path))
        self._place = path.rstrip("/") or "/"

    def path(self, name: str) -> str:
        return f"{self.folder.rstrip('/')}/{name}"

    def begin(self) -> None:
        """Make the directory, and the file that says that its parts are those of this function. It
        is an error if there are parts without it."""
        self._fs.makedirs(self._place, exist_ok=True)
        there = self._names()
        if MARK in there:
            return
        if any(name.startswith("part-") for name in there):
            raise ValueError(
                f"{self.folder} has files part-..., and no {MARK} that says what they are; take "
                "another directory"
            )
        self._write(MARK, b'{"parts": "each is described by its own record, PART.json"}\n')

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Return one writer at a time; file systems of other machines have no locks."""
        return one_writer(self._place) if is_local(self._fs) else contextlib.nullcontext()

    def end(self, names: Sequence[str]) -> None:
        """Remove parts that an earlier run has made and this one has not, and temporary files of
        tasks that were ended."""
        there, own = self._names(), tuple(names)
        for name in there:
            is_other = name.startswith("part-") and not name.startswith(own)
            if is_other or _TEMPORARY.fullmatch(name):
                with contextlib.suppress(FileNotFoundError):  # by a task that ended just now
                    self._fs.rm_file(f"{self._place}/{name}")

    def refuse_inputs(self, inputs: Iterable[str]) -> None:
        """Raise a ValueError if an input has the name of a file that is written or removed."""
        place = os.path.realpath if is_local(self._fs) else str
        begins = place(self._place) if is_local(self._fs) else self.folder.rstrip("/")
        for path in inputs:
            name = place(path).removeprefix(f"{begins}/")
            if name.startswith(("part-", ".sparsemaps-", MARK)):
                raise ValueError(
                    f"the input {path} has the name of a file that is written to {self.folder}; "
                    "take another directory"
                )

    def _names(self) -> set[str]:
        self._fs.invalidate_cache(self._place)
        return {os.path.basename(str(name)) for name in self._fs.ls(self._place, detail=False)}

    @contextlib.contextmanager
    def _making(self, file: str, endings: Sequence[str], output: str | None) -> Iterator[str]:
        if is_local(self._fs):
            with super()._making(file, endings, output) as local:
                yield local
            return
        with tempfile.TemporaryDirectory() as folder:
            local = os.path.join(folder, file)
            yield local
            for ending in (*endings[1:], ""):  # the part itself appears last
                if os.path.exists(local + ending):
                    temporary = f"{self._place}/.{uuid.uuid4().hex}.tmp"
                    self._fs.put_file(local + ending, temporary)
                    self._fs.mv(temporary, f"{self._place}/{file}{ending}")

    def read(self, name: str) -> bytes:
        if is_local(self._fs):
            return super().read(name)
        try:
            content: bytes = self._fs.cat_file(f"{self._place}/{name}")
        except FileNotFoundError:
            return b""
        return content

    def _write(self, name: str, content: bytes) -> None:
        temporary = f"{self._place}/.{uuid.uuid4().hex}.tmp"
        self._fs.pipe_file(temporary, content)
        self._fs.mv(temporary, f"{self._place}/{name}")

    def _size(self, name: str) -> int | None:
        if is_local(self._fs):
            return super()._size(name)
        try:
            return int(self._fs.size(f"{self._place}/{name}"))
        except FileNotFoundError:
            return None

    def _move(self, name: str, target: str) -> None:
        if is_local(self._fs):
            super()._move(name, target)
        else:
            self._fs.mv(f"{self._place}/{name}", f"{self._place}/{target}")

    def _remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(f"{self._place}/{name}")
