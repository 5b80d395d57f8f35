"""Results of a job in a folder, each with the recipe that it was made by."""

import contextlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

from sparsemaps._io import _output_files, _text_input, _urls
from sparsemaps._io._array_files import ArrayKind, read_array, save_array
from sparsemaps._io._folders import Folder, UrlFolder, writing
from sparsemaps._io._sources import BESIDE, RECEIPT
from sparsemaps._io._steps import Steps
from sparsemaps._tools._typing import Array
from sparsemaps.files._recipes import digest, read_receipt

FOLDER_ENDING = ".stages"
"""The ending of the name of the folder of results, after the name of the output."""

_DIGITS = 16
"""The number of digits of a digest in names."""

_BESIDE = "|".join(map(re.escape, (*BESIDE, RECEIPT)))

_HIDDEN = rf"\.sparsemaps-[0-9a-f]{{{_DIGITS}}}(\.(gz|bz2|xz|zst))?({_BESIDE})?"
"""Names of outputs that have not been delivered, and of the files beside them."""


def files_named(stem: str) -> str:
    """Return a regular expression: the names of the files of results of any recipe, whose names
    without digest and ending match another one."""
    return rf"{stem}-[0-9a-f]{{{_DIGITS}}}(\.[a-z.]+)?"


_RESULT = rf"{files_named('[a-z]+(-[a-z0-9]+)*')}|{_HIDDEN}"
"""Names of the files of results in a folder that has nothing else."""


class Place(NamedTuple):
    """The recipe of a result, and where its files are. All names are from the folder of results."""

    recipe: Any
    endings: Sequence[str]
    """Endings of the names of its files."""
    file: str
    """The name of its file, which no other recipe has; of an output, its path."""
    receipt: str
    """The name of its receipt, without the ending of receipts."""
    undelivered: str
    """The name that both have until `Results.deliver` gives an output its own; the same for all
    other results."""

    @classmethod
    def of(
        cls,
        name: str,
        recipe: Any,
        endings: Sequence[str] = ("",),
        output: str | None = None,
        maker: str | None = None,
    ) -> "Place":
        """Return the place of a result. The path of an `output` does not depend on its recipe;
        `name` then names its receipt. A `maker` makes an output under a name that no other
        maker has, and delivers it itself."""
        if output is None:
            stem, dot, ending = name.partition(".")
            file = f"{stem}-{digest(recipe)[:_DIGITS]}{dot}{ending}"
            return cls(recipe, endings, file, file, file)
        # Short, as the name of an output may be as long as names can be; it chooses a compression.
        ending = output.removeprefix(_text_input.without_compression(output))
        made_of = [name, recipe] if maker is None else [name, recipe, maker]
        hidden = f".sparsemaps-{digest(made_of)[:_DIGITS]}{ending}"
        return cls(recipe, endings, output, name, hidden)


class Result(NamedTuple):
    """The value of a result, for JSON, and the path or URL of its file; of an output, its path
    after delivery."""

    value: Any
    path: str
    is_new: bool
    """Whether it was made now, and not there before. An output is new until it is delivered, also
    one that a run made before it was killed."""


class Results:
    """Results of a job, as files of a folder. A result is complete or not there.

    A recipe has all that decides a result, and the name of a result has a part of the recipe's
    digest. So two recipes never share a file: a task that was left over from another run writes
    beside the results of this one. Beside the files of a result is its receipt, NAME.json: the
    recipe, the sizes of the files, and a value for JSON. The receipt is removed before the files
    are written, and written after them. So a result of an equal recipe is not made again.

    A task makes an output under a hidden name of its own, and whoever has locked the folder
    delivers it.

    `is_shared` says that other processes may work with the files, and `is_own` that the folder has
    nothing but results. `scratch` is a folder of this machine for temporary files, and ``path`` a
    function from the name of a file to its path or URL.
    """

    def __init__(self, folder: str, *, is_shared: bool = False, is_own: bool = False) -> None:
        is_here = not _urls.is_url(folder)
        self._files = Folder(folder) if is_here else UrlFolder(folder)
        self.folder, self.scratch = folder, folder if is_here else tempfile.gettempdir()
        self.path = self._files.place
        self._is_shared, self._is_own = is_shared, is_own

    def find(self, place: Place, *, delivered: bool = True) -> Result | None:
        """Return a result of an equal recipe whose files have the sizes of then, or None. An
        output is found after it was delivered, or before; not if another program, or another job,
        has written to it since."""
        name, file = (
            (place.receipt, place.file) if delivered else (place.undelivered, place.undelivered)
        )
        receipt = read_receipt(self._files.read(name + RECEIPT))
        if not isinstance(receipt.get("files"), dict):
            return None
        as_read = json.loads(json.dumps(place.recipe))
        if receipt.get("recipe") != as_read or receipt.get("value") is None:
            return None
        base = os.path.basename(file)
        allowed = {base + ending for ending in ("", *BESIDE)}  # whatever a receipt says
        if not receipt["files"].keys() <= allowed or (
            "" in place.endings and base not in receipt["files"]
        ):
            return None
        folder = file.removesuffix(base)
        if any(self._files.size(folder + one) != n for one, n in receipt["files"].items()):
            return None
        if delivered and file != place.undelivered:  # an output
            names = (name + RECEIPT, *(folder + one for one in receipt["files"]))
            written, *times = map(self._files.time, names)
            if any(None not in (time, written) and time > written for time in times):
                return None
        return Result(receipt["value"], self.path(file), is_new=False)

    def made(self, place: Place, make: Callable[[str], Any]) -> Result:
        """Make a result unless it is there, and return it. An output is then to be delivered.

        ``make(path)`` writes files to `path` with the endings of the place, and returns the value,
        which is not None.
        """
        file, is_output = place.undelivered, place.undelivered != place.file
        found = self.find(place)
        if found is None and is_output:
            found = self.find(place, delivered=False)
            found = found and found._replace(path=self.path(place.file), is_new=True)
        if found is not None:
            return found
        # Another process may have written the files just now, with the same content.
        stale = (RECEIPT,) if self._is_shared else (RECEIPT, "", *BESIDE)
        self._files.remove(file + ending for ending in stale)
        try:
            output = place.file if is_output else None
            with self._files.making(file, place.endings, output) as path:
                value = make(path)
                assert value is not None
        except BaseException:
            self._files.remove(file + one for one in place.endings)  # that appeared before it
            raise
        sizes = {file + ending: self._files.size(file + ending) for ending in place.endings}
        self._write_receipt(file, place, sizes, value)
        return Result(json.loads(json.dumps(value)), self.path(place.file), is_new=True)

    def deliver(self, place: Place) -> None:
        """Give an output that was made its name, and write its receipt, last. If the process is
        killed before that, the next run makes the output again. The process has locked the
        folder."""
        name, output = place.receipt, place.file
        found = self.find(place, delivered=False)
        if self.find(place) is not None:  # another maker was first
            if found is not None:
                made = place.undelivered
                self._files.remove([made + RECEIPT, *(made + one for one in place.endings)])
            return
        if found is None:
            raise ValueError(f"{self.path(output)} has been removed meanwhile; run again")
        self._files.remove([name + RECEIPT])
        every = [(place.undelivered + ending, output + ending) for ending in place.endings]
        sizes = {target: self._files.size(made) for made, target in every}
        self._files.deliver(every)
        self._write_receipt(name, place, sizes, found.value)
        self._files.remove([place.undelivered + RECEIPT])

    def value(self, file: str, digest_of_recipe: str) -> Any:
        """Return the value of the result in a file; None if it is not there."""
        receipt = read_receipt(self._files.read(file + RECEIPT))
        return receipt.get("value") if digest(receipt.get("recipe")) == digest_of_recipe else None

    def counts(self, file: str, digest_of_recipe: str, n: int) -> list[int]:
        """Return the value of the result in a file, which is `n` counts; a ValueError if it is not
        there."""
        value, path = self.value(file, digest_of_recipe), self.path(file)
        if value is None:
            raise ValueError(f"{path} has been removed meanwhile")
        return counts(value, n, path)

    def forget(self, place: Place) -> None:
        """Let a result count as not there."""
        for name in {place.receipt, place.undelivered}:
            self._files.remove([name + RECEIPT])

    def remove(self, names: str, but: Container[str] = ()) -> None:
        """Remove the files of the folder whose names match a regular expression, except some,
        unless it is shared."""
        if not self._is_shared:
            here = self._files.names()
            self._files.remove([one for one in here if re.fullmatch(names, one) and one not in but])

    def remove_others(self, kept: Iterable[str]) -> None:
        """Remove all results but those in the files `kept`, unless the folder is shared; in a
        folder that has other files too, only outputs that were not delivered."""
        stay = {file + ending for file in kept for ending in ("", RECEIPT, *BESIDE)}
        self.remove(_RESULT if self._is_own else _HIDDEN, stay)

    def remove_outputs(self, outputs: Iterable[str]) -> None:
        """Remove outputs by their paths, whatever made them. Their receipts stay, and fit no file
        then."""
        self._files.remove(outputs)

    def publish(self, names_of_files: Mapping[str, str]) -> None:
        """Give results of a run that is complete names without a digest, too. So a reader of the
        folder finds the results of one run: of an earlier run until then, and of this one
        afterwards."""
        here = set(self._files.names()) if names_of_files else set()
        changed = [
            pair
            for name, file in names_of_files.items()
            for ending in ("", *BESIDE)
            if not here.isdisjoint(pair := (name + ending, file + ending))
            and not self._files.are_one(*pair)
        ]
        for name, _ in reversed(changed):
            self._files.remove([name])
        for name, file in changed:
            if self._files.size(file) is not None:
                self._files.link(file, name)

    def _write_receipt(
        self, name: str, place: Place, sizes: dict[str, int | None], value: object
    ) -> None:
        files = {os.path.basename(file): n for file, n in sizes.items() if n is not None}
        receipt = {"recipe": place.recipe, "files": files, "value": value}
        self._files.write(name + RECEIPT, json.dumps(receipt).encode() + b"\n")


@contextlib.contextmanager
def opened(folder: str | None, *, shared: bool = False) -> Iterator[Results]:
    """Yield the results in a folder, which is locked, as by `writing`, and removed at the end if it
    is empty. None is a temporary folder."""
    if folder is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Results(folder)
        return
    if _urls.is_url(folder):
        with writing(folder):
            yield Results(folder, is_shared=shared, is_own=True)
        return
    _output_files.make_folder_like(folder, folder.removesuffix(FOLDER_ENDING))
    try:
        with writing(folder, shared=shared):
            yield Results(folder, is_shared=shared, is_own=True)
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


NOWHERE = Results("", is_shared=True)
"""No folder, for a listing of stages that are not run."""


def counts(value: object, n: int, result: str) -> list[int]:
    """Return the value of a result, which must be `n` counts: its receipt may be damaged. One count
    may come without a list."""
    found: list[Any] = value if isinstance(value, list) else [value]
    if len(found) != n or not all(type(count) is int and count >= 0 for count in found):
        raise ValueError(
            f"the receipt of {result} is damaged: expected {n} counts; found {value!r}"
        )
    return found


# ---- steps of a search ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KeptSteps(Steps):
    """The steps of a search whose results are kept, for ``sparsemaps.neighbors``. Their names begin
    with `prefix`."""

    results: Results
    prefix: str
    recipe: Any

    def drawn(self, name: str, make: Callable[[], Any]) -> "tuple[Any, KeptSteps]":
        """Return the value that ``make()`` returned once, and the steps whose results depend on
        it."""
        place = Place.of(self.prefix + name, self.recipe, ())
        value = self.results.made(place, lambda _: make()).value
        return value, replace(self, recipe=[self.recipe, value])

    def array(self, name: str, kind: ArrayKind, make: Callable[[], Array]) -> Array:
        """Return the array of this kind that ``make()`` returns, also if the array of an earlier
        run is damaged."""
        made: list[Array] = []

        def write(path: str) -> bool:
            made.append(make())
            save_array(path, made[0])
            return True

        place = Place.of(f"{self.prefix}{name}.npy", self.recipe)
        path = self.results.made(place, write).path
        if made:
            return made[0]
        with contextlib.suppress(FileNotFoundError, ValueError):
            return read_array(path, kind)
        self.results.forget(place)
        return self.array(name, kind, make)

    def within(self, name: str, shown: bool | None = False) -> Self:
        shown = shown if self.share is None else self.shown
        return replace(self, prefix=f"{self.prefix}{name}-", shown=shown)
