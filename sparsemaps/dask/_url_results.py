"""Results of a job on any file system that fsspec knows."""

import contextlib
import os
import re
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import fsspec

from sparsemaps.dask._ranges import full_name, is_local
from sparsemaps.files._results import Results

_TEMPORARY = re.compile(
    r"\.(part-\d{6}\.[a-z.]+|_sparsemaps\.json)\.[0-9a-f]{32}\.tmp|\.sparsemaps-[0-9a-f]{16}\.tmp"
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
        fs, path = fsspec.core.url_to_fs(os.fspath(directory), **(storage_options or {}))
        super().__init__(full_name(fs, path))
        self._storage_options = storage_options

    def full_name(self, name: str) -> str:
        return f"{self.folder.rstrip('/')}/{name}"

    def begin(self) -> None:
        """Make the directory, and the file that says that its parts are those of this function. It
        is an error if there are parts without it."""
        fs, path = self._open()
        fs.makedirs(path, exist_ok=True)
        there = self._names()
        if MARK in there:
            return
        if any(name.startswith("part-") for name in there):
            raise ValueError(
                f"{self.folder} has files part-..., and no {MARK} that says what they are; take "
                "another directory"
            )
        self._write(MARK, b'{"parts": "each is described by its own record, PART.json"}\n')

    def end(self, names: Sequence[str]) -> None:
        """Remove parts that an earlier run has made and this one has not, and temporary files of
        tasks that were ended."""
        fs, path = self._open()
        there, own = self._names(), tuple(names)
        for name in there:
            is_other = name.startswith("part-") and not name.startswith(own)
            if is_other or _TEMPORARY.fullmatch(name):
                with contextlib.suppress(FileNotFoundError):  # by a task that ended just now
                    fs.rm_file(f"{path}/{name}")

    def refuse_inputs(self, inputs: Iterable[str]) -> None:
        """Raise a ValueError if an input has the name of a file that is written or removed."""
        fs, directory = self._open()
        place = os.path.realpath if is_local(fs) else str
        begins = place(directory) if is_local(fs) else self.folder.rstrip("/")
        for path in inputs:
            name = place(path).removeprefix(f"{begins}/")
            if name.startswith(("part-", ".part-", ".sparsemaps-", MARK)):
                raise ValueError(
                    f"the input {path} has the name of a file that is written to {self.folder}; "
                    "take another directory"
                )

    def _open(self) -> tuple[Any, str]:
        fs, path = fsspec.core.url_to_fs(self.folder, **(self._storage_options or {}))
        return fs, path.rstrip("/") or "/"

    def _names(self) -> set[str]:
        fs, path = self._open()
        fs.invalidate_cache(path)
        return {os.path.basename(str(name)) for name in fs.ls(path, detail=False)}

    @contextlib.contextmanager
    def _making(self, name: str, endings: Sequence[str]) -> Iterator[str]:
        fs, path = self._open()
        if is_local(fs):
            with super()._making(f"{path}/{name}", endings) as local:
                yield local
            return
        with tempfile.TemporaryDirectory() as folder:
            local = os.path.join(folder, name)
            yield local
            for ending in (*endings[1:], ""):  # the part itself appears last
                if os.path.exists(local + ending):
                    temporary = f"{path}/.{name}{ending}.{uuid.uuid4().hex}.tmp"
                    fs.put_file(local + ending, temporary)
                    fs.mv(temporary, f"{path}/{name}{ending}")

    def read(self, name: str) -> bytes:
        fs, path = self._open()
        try:
            content: bytes = fs.cat_file(f"{path}/{name}")
        except FileNotFoundError:
            return b""
        return content

    def _write(self, name: str, content: bytes) -> None:
        fs, path = self._open()
        temporary = f"{path}/.{name}.{uuid.uuid4().hex}.tmp"
        fs.pipe_file(temporary, content)
        fs.mv(temporary, f"{path}/{name}")

    def _size(self, name: str) -> int | None:
        fs, path = self._open()
        try:
            return int(fs.size(f"{path}/{name}"))
        except FileNotFoundError:
            return None

    def _remove(self, name: str) -> None:
        fs, path = self._open()
        with contextlib.suppress(FileNotFoundError):
            fs.rm_file(f"{path}/{name}")
