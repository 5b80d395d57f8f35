"""Packed codes (.npy), which a job takes in place of records."""

from collections.abc import Iterator
from typing import IO, Any

from sparsemaps._io._sources import COMMENTS, IDS, InputFile
from sparsemaps._io._text_input import Text
from sparsemaps._io._urls import exists
from sparsemaps.records._batch import Batch
from sparsemaps.records._fields import Fields
from sparsemaps.records._format import Format, Raw, RecordWriter


class CodeRecords(Format):
    """Codes are made of records, which cannot be read of them."""

    name, title, endings = "codes", "packed codes", (".npy",)
    has_fields = False
    is_streamed = False

    def batches(self, text: Text, fields: Fields, n_bytes: int) -> Iterator[Batch]:
        raise _no_records(text)

    def raw(self, piece: Any, fields: Fields) -> Raw:
        raise NotImplementedError

    def writer(self, file: IO[bytes]) -> RecordWriter:
        raise NotImplementedError


def _no_records(text: Text) -> ValueError:
    return ValueError(f"{text.name}codes have no records that can be read")


def recipe_of(input: InputFile) -> list[Any]:
    """Return the facts that decide a file of codes, and the ids and comments of its rows."""
    paths = [input.path + ending for ending in (IDS, COMMENTS)]
    beside = [InputFile(path).recipe for path in paths if exists(path)]
    return [input.recipe, *beside]
