"""Cells, the unit of work: each is run once, stored as a file, and read by the code that draws
it."""

import hashlib
import importlib
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits
from tqdm import tqdm


@dataclass(frozen=True)
class Cell:
    """A function of this package, by name, and its parameters (JSON values).

    The function is called with the data directory and the parameters, and returns a dict of JSON
    values. `data` names the data set that it needs.
    """

    function: str
    parameters: dict[str, Any]
    data: str | None = None

    @property
    def key(self) -> str:
        """A file name that stands for function and parameters."""
        text = json.dumps([self.function, self.parameters], sort_keys=True)
        name = self.function.rpartition(":")[2]
        return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class Options:
    """What the command was asked for."""

    data: str
    results: Path
    quick: bool = False
    seeds: int = 3
    rows: int | None = None
    jobs: int = 1
    minutes: float | None = None


@dataclass(frozen=True)
class Experiment:
    """A table or figure: its cells, and what writes it once they are run."""

    name: str
    title: str
    cells: Callable[[Options], list[Cell]]
    write: Callable[[Options, "Results"], None]
    notes: str = ""


@dataclass
class Results:
    """The results that are kept, and how many seconds those took that were asked for."""

    directory: Path
    found: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0

    def __call__(self, cell: Cell) -> dict[str, Any] | None:
        """The result of a cell, or None if it was not run."""
        if cell.key not in self.found:
            path = self.directory / f"{cell.key}.json"
            if not path.exists():
                return None
            kept = json.loads(path.read_text(encoding="utf-8"))
            self.found[cell.key] = kept["result"]
            self.seconds += kept["seconds"]
        result: dict[str, Any] = self.found[cell.key]
        return result


def run_cell(cell: Cell, data: str, deadline: float = math.inf) -> dict[str, Any] | None:
    """Run a cell in one thread, as times are those of the CPU; None if it is after `deadline`."""
    if time.time() > deadline:
        return None
    module, _, name = cell.function.partition(":")
    function = getattr(importlib.import_module(module), name)
    start = time.process_time()
    with threadpool_limits(1):
        result = function(data, **cell.parameters)
    return {
        "function": cell.function,
        "parameters": cell.parameters,
        "result": result,
        "seconds": round(time.process_time() - start, 3),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """What the figures depend on."""
    names = ("sparsemaps", "numpy", "scipy", "scikit-learn")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def machine() -> str:
    """The processor and the system, in a line."""
    name = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line.partition(":")[2].strip() for line in lines if "model name" in line)
    except (OSError, StopIteration):
        pass
    return f"{name}, {os.cpu_count()} processors, {platform.system()}"


def run(cells: Iterable[Cell], options: Options) -> Results:
    """Run the cells that have no result yet, `jobs` at a time."""
    from experiments import datasets

    directory = options.results / "cells"
    directory.mkdir(parents=True, exist_ok=True)
    results = Results(directory)
    wanted = {cell.key: cell for cell in cells}
    missing = [
        cell
        for cell in wanted.values()
        if results(cell) is None and (cell.data is None or datasets.has(options.data, cell.data))
    ]
    deadline = math.inf if options.minutes is None else time.time() + 60 * options.minutes
    with (
        tqdm(total=len(missing), desc="experiments", unit="cell", disable=None) as bar,
        ProcessPoolExecutor(options.jobs) as pool,
    ):
        futures = {pool.submit(run_cell, cell, options.data, deadline): cell for cell in missing}
        for future in as_completed(futures):
            result = future.result()
            if result is not None:
                _keep(directory, futures[future], result)
                bar.update()
    return results


def _keep(directory: Path, cell: Cell, result: dict[str, Any]) -> None:
    """Write a result; the file appears when it is complete."""
    temporary = directory / f".{cell.key}.tmp"
    temporary.write_text(json.dumps(result, indent=1), encoding="utf-8")
    temporary.replace(directory / f"{cell.key}.json")
