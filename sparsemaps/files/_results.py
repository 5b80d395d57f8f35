"""Results of a job in a folder, each with its recipe."""

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
from sparsemaps._io._sources import BESIDE, RECEIPT, STAGES
from sparsemaps._io._steps import Steps
from sparsemaps._tools._typing import Array
from sparsemaps.files._recipes import digest, read_receipt

_DIGITS = 16
"""Number of digits of digests in names."""

_BESIDE = "|".join(map(re.escape, (*BESIDE, RECEIPT)))

_HIDDEN = rf"\.sparsemaps-[0-9a-f]{{{_DIGITS}}}(\.(gz|bz2|xz|zst))?({_BESIDE})?"
"""Names of outputs that have not been delivered, and of the files next to them."""


def files_named(stem: str) -> str:
    """Return a regular expression for the file names of results with any recipe, whose names
    without digest and ending match `stem`."""
    return rf"{stem}-[0-9a-f]{{{_DIGITS}}}(\.[a-z.]+)?"


_RESULT = rf"{files_named('[a-z]+(-[a-z0-9]+)*')}|{_HIDDEN}"
"""Names of the files of results, in a folder that contains only results."""


class Place(NamedTuple):
    """The recipe of a result, and the places of its files. All names are relative to the folder of
    results."""

    recipe: Any
    endings: Sequence[str]
    """Name endings of its files."""
    file: str
    """The name of its file, which is unique to the recipe; for an output, its path."""
    is_output: bool
    receipt: str
    """The name of its receipt, without the ending of receipts."""
    undelivered: str
    """The name of both files until `Results.deliver` renames an output; for other results, the same
    name."""

    @classmethod
    def of(
        cls,
        name: str,
        recipe: Any,
        endings: Sequence[str] = ("",),
        output: str | None = None,
        maker: str | None = None,
    ) -> "Place":
        """Return the place of a result. The path of an `output` does not depend on its recipe, and
        `name` is then the name of its receipt. A `maker` makes an output under a name that no other
        maker uses, and delivers it itself."""
        if output is None:
            stem, dot, ending = name.partition(".")
            file = f"{stem}-{digest(recipe)[:_DIGITS]}{dot}{ending}"
            return cls(recipe, endings, file, False, file, file)
        # The name is short, since the name of an output may have the largest allowed length. Its
        # ending determines the compression.
        ending = output.removeprefix(_text_input.without_compression(output))
        made_of = [name, recipe] if maker is None else [name, recipe, maker]
        hidden = f".sparsemaps-{digest(made_of)[:_DIGITS]}{ending}"
        return cls(recipe, endings, output, True, name, hidden)


class Result(NamedTuple):
    """The value of a result, for JSON, and the path or URL of its file. For an output, this is the
    path after delivery."""

    value: Any
    path: str
    is_new: bool
    """Whether it was made now rather than found. An output is new until it is delivered, even if an
    earlier run made it and was killed."""


class Results:
    """Results of a job, as files in a folder. A result is either complete or missing.

    A recipe has all that determines a result, and the name of a result includes digits of the
    recipe's digest. So two recipes never share a file, and a task left over from another run cannot
    overwrite the results of this one. Next to the files of a result is its receipt, NAME.json, with
    the recipe, the sizes of the files, and a value for JSON. The receipt is removed before the
    files are written, and written after them. So a result with an equal recipe is not made again.

    A task makes an output under a hidden name of its own, and the process that has locked the
    folder delivers it.

    `is_shared` means that other processes may use the files, and `is_own` that the folder contains
    only results. `scratch` is a local folder for temporary files, and ``path`` is a function from
    the name of a file to its path or URL.
    """

    def __init__(self, folder: str, *, is_shared: bool = False, is_own: bool = False) -> None:
        is_here = not _urls.is_url(folder)
        self._files = Folder(folder) if is_here else UrlFolder(folder)
        self.folder, self.scratch = folder, folder if is_here else tempfile.gettempdir()
        self.path = self._files.place
        self.is_shared, self._is_own = is_shared, is_own

    def find(self, place: Place) -> Result | None:
        """Return the result with an equal recipe, or None. An output must have been delivered, and
        not been written to since by another program or job."""
        found = self._recorded(place, place.receipt, place.file)
        if found is None:
            return None
        value, files = found
        if place.is_output:
            written, *times = map(self._files.time, [place.receipt + RECEIPT, *files])
            if any(None not in (time, written) and time > written for time in times):
                return None
        return Result(value, self.path(place.file), is_new=False)

    def _find_undelivered(self, place: Place) -> Result | None:
        """Return an output with an equal recipe that has not been delivered, or None."""
        found = self._recorded(place, place.undelivered, place.undelivered)
        return None if found is None else Result(found[0], self.path(place.file), is_new=True)

    def _recorded(self, place: Place, receipt: str, file: str) -> tuple[Any, list[str]] | None:
        """Return the value that a receipt records, and the names of the files: `file` and those
        next to it. Return None if the recipe differs, or if a file has another size. The receipt
        may have been modified by anyone, so it may name no other files."""
        said = read_receipt(self._files.read(receipt + RECEIPT))
        sizes, value = said.get("files"), said.get("value")
        if said.get("recipe") != json.loads(json.dumps(place.recipe)) or value is None:
            return None
        base = os.path.basename(file)
        folder, allowed = file.removesuffix(base), {base + ending for ending in ("", *BESIDE)}
        if not isinstance(sizes, dict) or not sizes.keys() <= allowed:
            return None
        if "" in place.endings and base not in sizes:
            return None
        if any(self._files.size(folder + name) != n for name, n in sizes.items()):
            return None
        return value, [folder + name for name in sizes]

    def made(self, place: Place, make: Callable[[str], Any]) -> Result:
        """Return a result, making it if it is missing. An output must then be delivered.

        ``make(path)`` writes files to `path` with the endings of the place, and returns the value,
        which must not be None.
        """
        file, found = place.undelivered, self.find(place)
        if found is None and place.is_output:
            found = self._find_undelivered(place)
        if found is not None:
            return found
        # Another process may just have written the files, with the same content.
        stale = (RECEIPT,) if self.is_shared else (RECEIPT, "", *BESIDE)
        self._files.remove(file + ending for ending in stale)
        try:
            output = place.file if place.is_output else None
            with self._files.making(file, place.endings, output) as path:
                value = make(path)
                assert value is not None
        except BaseException:
            self._files.remove(file + one for one in place.endings)  # made before the error
            raise
        sizes = {file + ending: self._files.size(file + ending) for ending in place.endings}
        self._write_receipt(file, place, sizes, value)
        return Result(json.loads(json.dumps(value)), self.path(place.file), is_new=True)

    def deliver(self, place: Place) -> None:
        """Rename an output to its final name, and write its receipt last. If the process is killed
        before that, the next run makes the output again. The process must hold the lock of the
        folder."""
        name, output = place.receipt, place.file
        found = self._find_undelivered(place)
        if self.find(place) is not None:  # another maker was faster
            if found is not None:
                made = place.undelivered
                self._files.remove([made + RECEIPT, *(made + one for one in place.endings)])
            return
        if found is None:
            raise ValueError(f"{self.path(output)} was removed during the run; run again")
        self._files.remove([name + RECEIPT])
        every = [(place.undelivered + ending, output + ending) for ending in place.endings]
        sizes = {target: self._files.size(made) for made, target in every}
        self._files.deliver(every)
        self._write_receipt(name, place, sizes, found.value)
        self._files.remove([place.undelivered + RECEIPT])

    def value(self, file: str, digest_of_recipe: str) -> Any:
        """Return the value of the result in a file; None if it is missing."""
        receipt = read_receipt(self._files.read(file + RECEIPT))
        return receipt.get("value") if digest(receipt.get("recipe")) == digest_of_recipe else None

    def counts(self, file: str, digest_of_recipe: str, n: int) -> list[int]:
        """Return the value of the result in a file, which must be `n` counts. Raise ValueError if
        it is missing."""
        value, path = self.value(file, digest_of_recipe), self.path(file)
        if value is None:
            raise ValueError(f"{path} was removed during the run")
        return counts(value, n, path)

    def forget(self, place: Place) -> None:
        """Make a result count as missing."""
        for name in {place.receipt, place.undelivered}:
            self._files.remove([name + RECEIPT])

    def remove(self, names: str, but: Container[str] = ()) -> None:
        """Remove the files of the folder whose names match a regular expression, except those in
        `but`. Do nothing if the folder is shared."""
        if not self.is_shared:
            here = self._files.names()
            self._files.remove([one for one in here if re.fullmatch(names, one) and one not in but])

    def remove_outputs(self, outputs: Iterable[str]) -> None:
        """Remove outputs by path, whatever made them. Their receipts stay, but then match no
        file."""
        self._files.remove(outputs)

    def complete(self, names_of_files: Mapping[str, str]) -> None:
        """Also give the results of a complete run names without a digest, and remove all others,
        unless the folder is shared. In a folder that also has other files, remove only undelivered
        outputs.

        Readers of the folder thus always find the results of one run: the earlier run until now,
        and this one from now on.
        """
        pairs = [
            (name + ending, file + ending)
            for name, file in names_of_files.items()
            for ending in ("", *BESIDE)
        ]
        here = set(self._files.names()) if pairs else set()
        present = (pair for pair in pairs if not here.isdisjoint(pair))
        changed = [pair for pair in present if not self._files.are_one(*pair)]
        for name, _ in reversed(changed):
            self._files.remove([name])
        for name, file in changed:
            if self._files.size(file) is not None:
                self._files.link(file, name)
        files = names_of_files.values()
        stay = {file + ending for file in files for ending in ("", RECEIPT, *BESIDE)}
        self.remove(_RESULT if self._is_own else _HIDDEN, stay)

    def _write_receipt(
        self, name: str, place: Place, sizes: dict[str, int | None], value: object
    ) -> None:
        files = {os.path.basename(file): n for file, n in sizes.items() if n is not None}
        receipt = {"recipe": place.recipe, "files": files, "value": value}
        self._files.write(name + RECEIPT, json.dumps(receipt).encode() + b"\n")


@contextlib.contextmanager
def opened(folder: str | None, *, shared: bool = False) -> Iterator[Results]:
    """Yield the results in a folder, locked as by `writing`. The folder is removed at the end if it
    is empty. None is a temporary folder."""
    if folder is None:
        with tempfile.TemporaryDirectory() as folder:
            yield Results(folder)
        return
    if _urls.is_url(folder):
        with writing(folder):
            yield Results(folder, is_shared=shared, is_own=True)
        return
    _output_files.make_folder_like(folder, folder.removesuffix(STAGES))
    try:
        with writing(folder, shared=shared):
            yield Results(folder, is_shared=shared, is_own=True)
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


NOWHERE = Results("", is_shared=True)
"""No folder, for listing stages without running them."""


def counts(value: object, n: int, result: str) -> list[int]:
    """Return the value of a result, which must be `n` counts. Raise ValueError otherwise, since its
    receipt may be damaged. A single count need not be in a list."""
    found: list[Any] = value if isinstance(value, list) else [value]
    if len(found) != n or not all(type(count) is int and count >= 0 for count in found):
        raise ValueError(
            f"the receipt of {result} is damaged: expected {n} counts; found {value!r}"
        )
    return found


# ---- steps of a search ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class KeptSteps(Steps):
    """Steps of a search with stored results, for ``sparsemaps.neighbors``. Their names begin with
    `prefix`."""

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
        """Return the array of this kind that ``make()`` returns. A damaged array of an earlier run
        is made again."""
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
