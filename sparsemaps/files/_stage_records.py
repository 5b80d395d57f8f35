"""The stages of a job, which are kept in a folder, each with a record of what it was made of."""

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparsemaps._tools._locks import one_writer
from sparsemaps._tools._output_files import remove_temporaries
from sparsemaps._tools._sources import RECORD
from sparsemaps.files._record import record_beside, write_beside


class StageRecords:
    """A folder of files, of which a stage is complete where its record is there.

    Parameters
    ----------
    folder : str
        It is made, unless it is there, in a folder that is.
    resume : bool
        Whether stages of an earlier run count.
    """

    def __init__(self, folder: str, resume: bool) -> None:
        self.folder, self.resume = folder, resume

    @contextlib.contextmanager
    def open(self) -> Iterator[None]:
        """Lock the folder. It is removed at the end if it is empty."""
        try:
            with one_writer(self.folder):
                remove_temporaries(self.folder)
                yield
        finally:
            with contextlib.suppress(OSError):
                os.rmdir(self.folder)

    def path(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def record(self, stage: str) -> dict[str, Any] | None:
        """What a stage of an earlier run was made of, if that counts."""
        return record_beside(self.path(stage)) if self.resume else None

    def has(self, stage: str, record: Mapping[str, Any]) -> bool:
        """Whether a stage is complete, and made of this."""
        return self.record(stage) == json.loads(json.dumps(record))

    def begin(self, stage: str) -> None:
        """Say that a stage is made anew."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path(stage + RECORD))

    def finish(self, stage: str, record: Mapping[str, Any]) -> None:
        """Say that a stage is complete."""
        write_beside(self.path(stage), record, synced=True)

    def remove(self, names: str) -> None:
        """Remove the files of these names."""
        for name in os.listdir(self.folder):
            if re.fullmatch(names, name):
                os.unlink(self.path(name))
