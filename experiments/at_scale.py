"""``python -m experiments.at_scale WHAT``: the constants and checks of docs/at_scale.md.

costs    CPU time and bytes of a row of web-spam's shape, one thread, file to file
tasks    CPU time of Dask's scheduler and client for a task
scaling  one worker on n parts, two workers on 2 n parts: the time should stay
mapped   near-duplicates of packed codes that are mapped into memory, on this machine
removed  which rows of such codes are removed, and as near which kept row
records  records without near-duplicates, from file to file, on this machine
training a linear model on packed codes that are mapped into memory, on this machine

CPU time is that of the processes, so that others on the machine do not count; the rest is by the
clock, least of several runs.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from distributed import Client, LocalCluster

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    MinHash,
    SignProjection,
)
from sparsemaps._tools._seeding import SCHEME
from sparsemaps.codes import PackedCodes, _file
from sparsemaps.codes._packed import description_of
from sparsemaps.dask import Workers
from sparsemaps.files import deduplicate_files, map_files
from sparsemaps.libsvm import dump_svmlight_file, iter_svmlight_file

SHAPES = {"web-spam trigrams": (300, 16_600_000, 3700), "text": (10_000, 47_000, 75)}


def write_rows(path: Path, n_rows: int, n_columns: int, n_entries: int, seed: int = 0) -> None:
    """Write rows with about the given number of entries in random columns, with values of four
    digits."""
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(n_entries, n_rows)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    columns = [np.sort(rng.choice(n_columns, n, replace=False, shuffle=False)) for n in lengths]
    values = rng.integers(1, 10_000, indptr[-1]) / 10_000
    X = sp.csr_matrix((values, np.concatenate(columns), indptr), shape=(n_rows, n_columns))
    dump_svmlight_file(X, rng.integers(0, 2, n_rows), str(path), zero_based=False)


def cpu_time(function: Callable[[], Any], n_runs: int = 3) -> float:
    def once() -> float:
        start = time.process_time()
        function()
        return time.process_time() - start

    return min(once() for _ in range(n_runs))


def costs(folder: Path) -> None:
    maps = {
        "CountSketch(n_components=1024)": CountSketch(n_components=1024, random_state=0),
        "MinHash(n_hashes=512)": MinHash(n_hashes=512, random_state=0),
        "ConsistentWeightedSampling(n_hashes=512)": ConsistentWeightedSampling(
            n_hashes=512, random_state=0
        ),
        "ConsistentWeightedSampling(n_hashes=512, method='levels')": ConsistentWeightedSampling(
            n_hashes=512, method="levels", resolution=32, random_state=0
        ),
        "SignProjection(n_hashes=512)": SignProjection(n_hashes=512, random_state=0),
    }
    print("| rows | map | format | in, kB/row | out, kB/row | CPU, µs/row | MB/s in |")
    print("|---|---|---|---|---|---|---|")
    for shape, (n_rows, n_columns, n_entries) in SHAPES.items():
        path = folder / "rows.svm"
        write_rows(path, n_rows, n_columns, n_entries)
        size = path.stat().st_size
        found = [("reading alone", "", 0, cpu_time(partial(_read, path)))]
        for name, map in maps.items():
            for format in ("svmlight", "npy"):
                is_coded = not isinstance(map, CountSketch)
                if format == "npy" and not is_coded:
                    continue
                out = folder / f"out.{format}"
                run = partial(
                    map_files, map, str(path), str(out),
                    format=format, ones=is_coded and format == "svmlight", resume=False,
                )  # fmt: skip
                seconds = cpu_time(run)
                out_size = sum(Path(part).stat().st_size for part in run())
                found.append((name, format, out_size, seconds))
        for name, format, out_size, seconds in found:
            print(
                f"| {shape} | {name} | {format} | {size / n_rows / 1e3:.1f} "
                f"| {out_size / n_rows / 1e3:.2f} | {seconds / n_rows * 1e6:.0f} "
                f"| {size / seconds / 1e6:.0f} |"
            )


def _read(path: Path) -> None:
    for _ in iter_svmlight_file(str(path)):
        pass


def cluster(n_workers: int, memory: str = "4GB") -> LocalCluster:
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, memory_limit=memory, dashboard_address=None
    )


def tasks(folder: Path, n_tasks: int = 2000) -> None:
    with cluster(1) as workers, Client(workers) as client:
        engine = Workers(client)
        seconds = cpu_time(lambda: list(engine.run(abs, range(n_tasks))), 2)
    print(f"scheduler and client: {seconds / n_tasks * 1e3:.2f} ms of CPU a task")


def scaling(folder: Path, n_parts: int = 4, n_runs: int = 8) -> None:
    cws = ConsistentWeightedSampling(n_hashes=512, random_state=0)
    n_rows, n_columns, n_entries = SHAPES["web-spam trigrams"]
    paths = [folder / f"{number}.svm" for number in range(2 * n_parts)]
    for number, path in enumerate(paths):
        write_rows(path, 2 * n_rows // n_parts, n_columns, n_entries, seed=number)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    for run in range(n_runs):
        for n_workers in (1, 2):
            with cluster(n_workers) as workers, Client(workers) as client:
                before = sum(client.run(time.process_time).values())
                start = time.perf_counter()
                own, out = (
                    list(map(str, paths[: n_parts * n_workers])),
                    f"{folder}/{run}-{n_workers}/",
                )
                map_files(cws, own, out, engine=Workers(client))
                seconds[n_workers].append(time.perf_counter() - start)
                cpu[n_workers].append(sum(client.run(time.process_time).values()) - before)
    for n_workers, found in seconds.items():
        print(
            f"{n_workers} worker(s): {min(found):.1f} s at least, median {np.median(found):.1f} s; "
            f"CPU of a worker {min(cpu[n_workers]) / n_workers:.2f} s"
        )


def codes_with_copies(block: npt.NDArray[Any], n_bytes: int) -> npt.NDArray[Any]:
    """Return random codes. Every hundredth row is the previous one with a tenth of its bytes
    new."""
    rng = np.random.default_rng(int(block[0]))
    codes = rng.integers(0, 256, (len(block), n_bytes), dtype=np.uint8)
    copies = np.arange(100, len(codes), 100)
    new = rng.random((len(copies), n_bytes)) < 0.1
    codes[copies] = np.where(new, codes[copies], codes[copies - 1])
    return codes


SIZES = (2, 4, 8, 16, 32, 64)


def codes_of_families(
    block: npt.NDArray[Any], n_bytes: int, share: float = 0.355
) -> npt.NDArray[Any]:
    """Return random codes, a share of them in families of `SIZES`, the same number of each. In a
    family, a row is the first one with a twentieth of its bytes new. Families are spread over the
    block."""
    rng = np.random.default_rng(int(block[0]))
    codes = rng.integers(0, 256, (len(block), n_bytes), dtype=np.uint8)
    n_each = round(share * len(block) / sum(SIZES))
    sizes = np.repeat(SIZES, n_each)
    first = np.repeat(np.cumsum(sizes) - sizes, sizes)
    for start in range(0, len(first), 2**16):
        some = np.arange(start, min(start + 2**16, len(first)))
        is_new = rng.integers(0, 20, (len(some), n_bytes), dtype=np.uint8) == 0
        is_new |= (first[some] == some)[:, None]
        codes[some] = np.where(is_new, codes[some], codes[first[some]])
    return codes[rng.permutation(len(block))]


class Watch(threading.Thread):
    """Return the peak memory of a process, without files that are mapped into it."""

    def __init__(self, pid: int | str = "self") -> None:
        super().__init__(daemon=True)
        self.path = Path(f"/proc/{pid}/status")
        self.peak_kb, self.done = 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.1):
            lines = self.path.read_text(encoding="ascii").splitlines()
            own = next((line for line in lines if line.startswith("RssAnon:")), "RssAnon: 0")
            self.peak_kb = max(self.peak_kb, int(own.split()[1]))


SEARCH = """
import sys
from sparsemaps.files import similar_pairs_of_files
codes, out, n_jobs, max_bytes = sys.argv[1:]
similar_pairs_of_files(None, codes, out, threshold=0.8, progress=False,
                       n_jobs=int(n_jobs), max_bytes=int(max_bytes))
"""


def search(name: str, arguments: list[str], kill_after: float = 0) -> None:
    """Search pairs in a separate process, which SIGKILL ends after the given seconds, if any."""
    run(name, [sys.executable, "-c", SEARCH, *arguments], kill_after, f"{arguments[2]} threads, ")


def run(name: str, command: list[str], kill_after: float = 0, how: str = "") -> None:
    """Run a process, which SIGKILL ends after the given seconds, if any; print its time and
    memory."""
    start = time.perf_counter()
    program = subprocess.Popen(command)
    watch = Watch(program.pid)
    watch.start()
    if kill_after:
        time.sleep(kill_after)
        program.kill()
    _, status, used = os.wait4(program.pid, 0)
    watch.done.set()
    seconds, cpu = time.perf_counter() - start, used.ru_utime + used.ru_stime
    print(f"{name}: status {status}, {seconds:.0f} s by the clock, {cpu:.0f} s of CPU time, of it "
          f"{used.ru_stime:.0f} s of the system, {how}load "
          f"{os.getloadavg()[0]:.1f}; memory beside the file {watch.peak_kb / 1e6:.2f} GB at its "
          "peak", flush=True)  # fmt: skip


def write_codes(path: Path, n_rows: int, n_bytes: int, make: Callable[..., Any]) -> None:
    """Write the codes that `make` makes for a million rows at a time."""
    start, cpu, step = time.perf_counter(), time.process_time(), 1_000_000
    about = description_of(PackedCodes(np.zeros((1, n_bytes), np.uint8), 8, {"scheme": SCHEME}))
    blocks = (
        make(np.arange(first, min(first + step, n_rows)), n_bytes)
        for first in range(0, n_rows, step)
    )
    _file.write(path, blocks, np.ones(n_rows, bool), about, {})
    print(f"{path.stat().st_size / 1e9:.1f} GB of codes written in "
          f"{time.perf_counter() - start:.0f} s by the clock, {time.process_time() - cpu:.0f} s of "
          "CPU time", flush=True)  # fmt: skip


def mapped(
    folder: Path, n_rows: int = 100_000_000, n_bytes: int = 16, n_jobs: int = 1,
    max_bytes: int = 2**30, kill_after: int = 0,
) -> None:  # fmt: skip
    path, out, step = folder / "codes.npy", folder / "pairs.tsv", 1_000_000
    write_codes(path, n_rows, n_bytes, codes_with_copies)
    arguments = [str(path), str(out), str(n_jobs), str(max_bytes)]
    if kill_after:
        search("run that is killed", arguments, kill_after)
        kept = sorted(one.name for one in folder.glob("pairs.tsv.stages/search-*.npy"))
        print(f"{len(kept)} stages are kept: {', '.join(kept)}", flush=True)
    search("run", arguments)
    i, j, _ = np.fromfile(out, sep="\t").reshape(-1, 3).T
    n_planted = len(range(0, n_rows, step)) * (step // 100 - 1)
    print(f"{n_rows:,} codes of {n_bytes} bytes: {len(i):,} pairs")
    print(f"planted {n_planted:,}; {np.sum((j == i + 1) & (i % 100 == 0)):,} of them found")


REMOVE = """
import sys
from sparsemaps.codes import PackedCodes
from sparsemaps.neighbors import removals
codes, folder, n_jobs, max_bytes = sys.argv[1:]
found = removals(PackedCodes.load(codes), 0.8, folder=folder, n_jobs=int(n_jobs),
                 max_bytes=int(max_bytes))
print(f"{len(found.removed):,} rows are removed", flush=True)
"""


def removed(
    folder: Path, n_rows: int = 10_000_000, n_bytes: int = 256, n_jobs: int = 1,
    max_bytes: int = 2**28, families: int = 1,
) -> None:  # fmt: skip
    """Rule "kept", with families of several sizes (`families` = 1) or with copies of a row before
    (0). The rows that may be near others, and the answer, are in files."""
    path = folder / "codes.npy"
    write_codes(path, n_rows, n_bytes, codes_of_families if families else codes_with_copies)
    arguments = [str(path), str(folder), str(n_jobs), str(max_bytes)]
    run("removals", [sys.executable, "-c", REMOVE, *arguments], how=f"{n_jobs} threads, ")
    step = min(n_rows, 1_000_000)
    n_each = round(0.355 * step / sum(SIZES)) * (n_rows // step) if families else 0
    n_pairs = n_each * sum(size * (size - 1) // 2 for size in SIZES)
    n_copies = n_each * sum(size - 1 for size in SIZES) or n_rows // 100 - n_rows // step
    print(f"{n_rows:,} codes of {n_bytes} bytes, {n_copies:,} rows near an earlier one"
          + (f", {n_pairs:,} pairs in families" if families else ""))  # fmt: skip


def write_records(path: Path, n_rows: int, family: int) -> None:
    """Write lines of 20 words. In each family, lines differ from the first one in their last
    words."""
    rng = np.random.default_rng(0)
    digits = np.frombuffer(b"abcdefghijklmnop", np.uint8)
    step = family * (1_000_000 // family)
    with path.open("wb") as file:
        for first in range(0, n_rows, step):
            n = min(step, n_rows - first)
            lines = np.full((n, 20, 7), ord(" "), np.uint8)
            words = digits[rng.integers(0, 16, (-(-n // family), 20, 6), np.uint8)]
            lines[:, :, :6] = np.repeat(words, family, axis=0)[:n]
            lines[:, -1, :6] = digits[rng.integers(0, 16, (n, 6), np.uint8)]
            lines[:, -1, 6] = ord("\n")
            file.write(lines.data)


def records(folder: Path, n_rows: int = 10_000_000, family: int = 16, n_jobs: int = 1) -> None:
    write_records(folder / "in.txt", n_rows, family)
    watch = Watch()
    watch.start()
    start, cpu = time.perf_counter(), time.process_time()
    found = deduplicate_files(
        None, folder / "in.txt", folder / "out.txt", source="word:3", n_jobs=n_jobs, progress=False
    )
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    watch.done.set()
    sizes = (sum(path.stat().st_size for path in folder.glob(name)) for name in ("*.txt", "*/*"))
    on_disk, stages = (size / 1e9 for size in sizes)
    print(f"{n_rows:,} records, {found.n_kept:,} kept, {found.n_clusters:,} clusters, largest "
          f"{found.largest}; {seconds:.0f} s by the clock, {cpu:.0f} s of CPU time, {n_jobs} "
          f"threads; load {os.getloadavg()[0]:.1f}")  # fmt: skip
    print(f"texts {on_disk:.1f} GB, stages {stages:.1f} GB; "
          f"memory beside them {watch.peak_kb / 1e6:.2f} GB at its peak")  # fmt: skip


TRAIN = """
import sys
import numpy as np
from sparsemaps import from_config
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import KernelClassifier
codes = PackedCodes.load(sys.argv[1])
model = KernelClassifier(from_config(codes.config), tol=0.1, random_state=0)
model.fit(codes, np.load(sys.argv[2]))
some = slice(0, 100_000)
right = np.mean(model.predict(codes[some]) == np.load(sys.argv[2])[some])
print(f"read {model.n_iter_} times; {right:.2%} of 100,000 rows have their label", flush=True)
"""


def training(folder: Path, n_rows: int = 10_000_000, n_bytes: int = 256) -> None:
    """Measure training on two classes: a tenth of a row's codes depend on its class."""
    path, labels, step = folder / "codes.npy", folder / "labels.npy", 100_000
    config = MinHash(n_hashes=n_bytes, random_state=0).fit_any_width().to_config()
    of_class = np.random.default_rng(0).integers(0, 256, (2, n_bytes), np.uint8)
    y = np.random.default_rng(1).integers(0, 2, n_rows, np.uint8)
    np.save(labels, y)

    def block(first: int) -> npt.NDArray[Any]:
        rng, own = np.random.default_rng([2, first]), y[first : first + step]
        codes = rng.integers(0, 256, (len(own), n_bytes), np.uint8)
        is_own = rng.integers(0, 10, codes.shape, np.uint8) == 0
        return np.where(is_own, of_class[own], codes)

    about = description_of(PackedCodes(block(0)[:1], 8, config))
    blocks = (block(first) for first in range(0, n_rows, step))
    _file.write(path, blocks, np.ones(n_rows, bool), about, {})
    print(f"{path.stat().st_size / 1e9:.2f} GB of codes", flush=True)
    run("training", [sys.executable, "-c", TRAIN, str(path), str(labels)])


def main() -> None:
    functions = (costs, tasks, scaling, mapped, removed, records, training)
    choices: dict[str, Callable[..., None]] = {one.__name__: one for one in functions}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=choices)
    parser.add_argument("--folder", help="where files are made and removed")
    for name in ("n_rows", "n_bytes", "n_jobs", "max_bytes", "family", "families", "kill_after"):
        flag = "--" + name.replace("_", "-")
        parser.add_argument(flag, type=int, default=argparse.SUPPRESS, help=f"{name} of WHAT")
    options = vars(parser.parse_args())
    function, place = choices[options.pop("what")], options.pop("folder")
    with tempfile.TemporaryDirectory(dir=place) as folder:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        function(Path(folder), **options)


if __name__ == "__main__":
    main()
