"""``python -m experiments.near_duplicates --data DIRECTORY -o RESULTS``: near-duplicates of texts
by sparsemaps, datasketch, rensa, datatrove and text-dedup.

DIRECTORY has texts.jsonl.xz and pages.jsonl.xz, JSON Lines with a field `text`; those that are
missing are left out. Each tool runs in a process of its own, by one thread: from the file, by word
n-grams and as many hashes, to pairs or clusters, twice. Peers that are not installed are left out:
``pip install datasketch rensa datatrove text-dedup``.
"""

import argparse
import datetime
import importlib.metadata
import importlib.util
import itertools
import json
import lzma
import os
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments import report, runner
from sparsemaps import MinHash, files
from sparsemaps.neighbors import clusters

SOURCES = {"texts": 15_000, "pages": 1_430}
"""Files, and how many texts of each are taken by default: so many as slower tools do in minutes."""

SIZES = (3, 5)  # of word n-grams
THRESHOLD = 0.8
N_HASHES = 256
BANDS = (19, 13)
"""Of peers that leave the choice to the user: bands, and hashes of each; a pair of similarity
(1/19)^(1/13) = 0.80 shares one with a probability of about 0.63, as datasketch's default has it."""

COLUMNS = (
    "texts of", "words", "tool", "CPU, s", "second run, s", "MB/s", "bytes a text", "peak MB",
    "pairs", "precision, %", "recall, %", "same answer again",
)  # fmt: skip


class Work(NamedTuple):
    """What a tool is to do."""

    source: Path
    n: int
    folder: Path  # for what the tool keeps


Pairs = Iterator[tuple[int, int]]


# ---- the tools -----------------------------------------------------------------------------------


def sparsemaps(work: Work) -> Pairs:
    out = work.folder / "pairs.tsv"
    files.similar_pairs_of_files(
        MinHash(n_hashes=N_HASHES, random_state=0), str(work.source), str(out),
        source=f"word:{work.n}", threshold=THRESHOLD, progress=False,
    )  # fmt: skip
    for line in out.read_text(encoding="utf-8").splitlines():
        i, j, _ = line.split("\t")
        yield int(i) - 1, int(j) - 1


def sparsemaps_dedup(work: Work) -> Pairs:
    """The texts that are kept, and a table of clusters."""
    kept, table = str(work.folder / "kept.jsonl"), work.folder / "clusters.tsv"
    files.deduplicate_files(
        MinHash(n_hashes=N_HASHES, random_state=0), str(work.source), kept, clusters=str(table),
        source=f"word:{work.n}", threshold=THRESHOLD, progress=False,
    )  # fmt: skip
    first: dict[str, int] = {}
    for line in table.read_text(encoding="utf-8").splitlines():
        row, cluster = line.split("\t")
        number = int(row) - 1
        if first.setdefault(cluster, number) != number:
            yield first[cluster], number


def ngrams_of(work: Work) -> Iterator[set[str]]:
    """The sets that libraries of Python are given; by the same rule as those of sparsemaps."""
    with open(work.source, encoding="utf-8") as file:
        for line in file:
            words = json.loads(line)["text"].lower().split()
            yield {" ".join(words[k : k + work.n]) for k in range(len(words) - work.n + 1)}


def pairs_by_index(work: Work, index: Any, hash_of: Callable[[set[str]], Any]) -> Pairs:
    """Ask the index of a library for each text, compare with what it finds, and insert the text."""
    hashes: dict[int, Any] = {}
    for row, ngrams in enumerate(ngrams_of(work)):
        if ngrams:
            made = hash_of(ngrams)
            for other in sorted(index.query(made)):
                if made.jaccard(hashes[other]) >= THRESHOLD:
                    yield other, row
            index.insert(row, made)
            hashes[row] = made


def datasketch(work: Work) -> Pairs:
    from datasketch import MinHash as Hash
    from datasketch import MinHashLSH

    def hash_of(ngrams: set[str]) -> Any:
        made = Hash(num_perm=N_HASHES, seed=1)
        made.update_batch([ngram.encode() for ngram in ngrams])
        return made

    index = MinHashLSH(threshold=THRESHOLD, num_perm=N_HASHES)
    yield from pairs_by_index(work, index, hash_of)


def rensa(work: Work) -> Pairs:
    from rensa import RMinHash, RMinHashLSH

    def hash_of(ngrams: set[str]) -> Any:
        made = RMinHash(num_perm=N_HASHES, seed=1)
        made.update(list(ngrams))
        return made

    index = RMinHashLSH(threshold=THRESHOLD, num_perm=N_HASHES, num_bands=16)
    yield from pairs_by_index(work, index, hash_of)


def datatrove(work: Work) -> Pairs:
    """Its pipeline of four stages on local files, one task."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import (
        MinhashDedupBuckets,
        MinhashDedupCluster,
        MinhashDedupFilter,
        MinhashDedupSignature,
    )
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers.jsonl import JsonlWriter
    from loguru import logger

    logger.remove()
    at = {name: str(work.folder / name) for name in ("signatures", "buckets", "removed", "kept")}
    config = MinhashConfig(n_grams=work.n, num_buckets=BANDS[0], hashes_per_bucket=BANDS[1])

    def read() -> Any:
        return JsonlReader(str(work.source.parent), glob_pattern=work.source.name)

    stages = (
        ([read(), MinhashDedupSignature(output_folder=at["signatures"], config=config)], 1),
        ([MinhashDedupBuckets(at["signatures"], at["buckets"], config=config)], BANDS[0]),
        ([MinhashDedupCluster(at["buckets"], at["removed"], config=config)], 1),
        ([read(), MinhashDedupFilter(at["removed"]), JsonlWriter(at["kept"])], 1),
    )
    for number, (stage, n_tasks) in enumerate(stages):
        logs = str(work.folder / f"logs{number}")
        LocalPipelineExecutor(stage, tasks=n_tasks, workers=1, logging_dir=logs).run()
    for path in sorted(Path(at["buckets"]).glob("*.dups")):
        for _, i, _, j in np.fromfile(path, "<u4").reshape(-1, 4).tolist():
            yield min(i, j), max(i, j)


def text_dedup(work: Work) -> Pairs:
    """Its command, which with `--debug` also writes the clusters."""
    arguments = [
        "--path", "json", "--data_files", str(work.source), "--split", "train",
        "--cache_dir", str(work.folder / "cache"), "--output", str(work.folder / "kept"),
        "--column", "text", "--batch_size", "10000", "--ngram", str(work.n), "--min_length", "1",
        "--num_perm", str(N_HASHES), "--threshold", str(THRESHOLD), "--num_proc", "1", "--debug",
    ]  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "text_dedup.minhash", *arguments],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    joined = pickle.loads((work.folder / "kept" / "uf.pkl").read_bytes())
    for row in list(joined.parent):
        if joined.find(row) != row:
            yield min(row, joined.find(row)), max(row, joined.find(row))


class Tool(NamedTuple):
    """A tool, the name of its package, and the bytes of a text's signature."""

    find: Callable[[Work], Pairs]
    package: str
    n_bytes: int
    lists: str = "pairs"  # or "clusters"
    keeps: bool = False  # what a second run takes
    is_program: bool = False  # which imports again what it needs


TOOLS = {
    "sparsemaps pairs": Tool(sparsemaps, "sparsemaps", N_HASHES + 4, keeps=True),
    "sparsemaps dedup": Tool(
        sparsemaps_dedup, "sparsemaps", N_HASHES + 4, lists="clusters", keeps=True
    ),
    "datasketch": Tool(datasketch, "datasketch", 8 * N_HASHES),
    "rensa": Tool(rensa, "rensa", 4 * N_HASHES),
    "datatrove": Tool(datatrove, "datatrove", BANDS[0] * (4 * BANDS[1] + 4), keeps=True),
    "text-dedup": Tool(
        text_dedup, "text_dedup", 8 * N_HASHES, lists="clusters", keeps=True, is_program=True
    ),
}


# ---- a run of a tool -----------------------------------------------------------------------------


def run_here(name: str, work: Work) -> None:
    """Run a tool in this process, and print what it took and found as JSON."""
    start = cpu_time()
    preload(name)
    begun = cpu_time()
    pairs = sorted(set(TOOLS[name].find(work)))
    seconds = cpu_time() - begun
    if TOOLS[name].is_program:
        seconds -= begun - start
    peaks = [peak_memory(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]
    found = {"seconds": seconds, "peak_mb": max(peaks) / 1024, "pairs": pairs}
    (work.folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def cpu_time() -> float:
    used = [resource.getrusage(who) for who in WHO]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_memory() -> int:
    """Kilobytes; `getrusage` would also count those of the program that started this one."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])


def preload(name: str) -> None:
    """Import what a tool imports, and use it once, as small inputs would time that alone."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        path.write_text('{"text": "one two three four five six"}\n' * 2, encoding="utf-8")
        (Path(folder) / "kept").mkdir()
        list(TOOLS[name].find(Work(path, 3, Path(folder) / "kept")))


def run(name: str, work: Work) -> dict[str, Any]:
    """Run a tool in a new process."""
    work.folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    arguments = [str(work.source), str(work.n), str(work.folder)]
    subprocess.run(
        [sys.executable, "-m", "experiments.near_duplicates", "--run", name, *arguments],
        check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    found: dict[str, Any] = json.loads((work.folder / "found.json").read_text(encoding="utf-8"))
    return found


# ---- what is right -------------------------------------------------------------------------------


def exact_pairs(work: Work) -> tuple[Any, Any]:
    """The pairs of which the exact Jaccard similarity reaches the threshold, of all that are
    compared; of the pairs at the threshold, one in 10^9 is missed."""
    out = work.folder / "exact.tsv"
    work.folder.mkdir(parents=True, exist_ok=True)
    files.similar_pairs_of_files(
        MinHash(n_hashes=N_HASHES, random_state=1), str(work.source), str(out),
        source=f"word:{work.n}", threshold=THRESHOLD, recall=1.0, exact=True, progress=False,
    )  # fmt: skip
    pairs = np.loadtxt(out, ndmin=2).reshape(-1, 3)[:, :2].astype(np.int64) - 1
    return pairs[:, 0], pairs[:, 1]


def judge(found: dict[str, Any], exact: tuple[Any, Any], n_rows: int) -> tuple[float, float]:
    """The share of the tool's pairs that are right, and the share of right pairs whose texts are in
    one of its clusters."""
    pairs = np.array(found["pairs"], np.int64).reshape(-1, 2)
    right = set(zip(exact[0].tolist(), exact[1].tolist(), strict=True))
    n_right = sum(tuple(pair) in right for pair in pairs.tolist())
    number = clusters(pairs[:, 0], pairs[:, 1], n_rows)
    together = number[exact[0]] == number[exact[1]]
    return n_right / max(len(pairs), 1), float(together.mean()) if len(together) else 1.0


def measure(
    data: Path, results: Path, folder: Path, n_texts: dict[str, int]
) -> list[dict[str, Any]]:
    """What all tools took and found; what was measured before is kept in the results."""
    kept = results / "cells" / "near-duplicates.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    rows = [json.loads(line) for line in lines]
    done = {(row["source"], row["asked"], row["n"], row["tool"]) for row in rows}
    sources = {
        name: unpacked(data / f"{name}.jsonl.xz", folder, asked)
        for name, asked in n_texts.items()
        if (data / f"{name}.jsonl.xz").exists()
    }
    for n, (name, source) in itertools.product(SIZES, sources.items()):
        missing = [
            tool
            for tool, about in TOOLS.items()
            if (name, n_texts[name], n, tool) not in done
            and importlib.util.find_spec(about.package)
        ]
        if not missing:
            continue
        exact = exact_pairs(Work(source, n, folder / "exact"))
        for row in measure_case(missing, Work(source, n, folder / f"{name}-{n}"), exact):
            rows.append({"source": name, "asked": n_texts[name], **row})
            with open(kept, "a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return [row for row in rows if row["asked"] == n_texts[row["source"]]]


def unpacked(compressed: Path, folder: Path, n_texts: int) -> Path:
    """The first texts of a file, without the other fields: text-dedup ends in an error where
    later records have a field that the first ones lack."""
    source = folder / compressed.stem
    with lzma.open(compressed, "rb") as records, open(source, "w", encoding="utf-8") as texts:
        for record in itertools.islice(records, n_texts):
            text = {"text": json.loads(record)["text"]}
            texts.write(json.dumps(text, ensure_ascii=False) + "\n")
    return source


def measure_case(tools: list[str], work: Work, exact: tuple[Any, Any]) -> Iterator[dict[str, Any]]:
    """What tools took and found. They take turns, so that what else runs hits all alike."""
    n_rows = work.source.read_bytes().count(b"\n")
    rounds: list[dict[str, Any]] = []
    for number in range(2):
        found = {tool: run(tool, work._replace(folder=work.folder / f"{tool}-{number}"))
                 for tool in tools}  # fmt: skip
        rounds.append(found)
        seconds = {tool: round(found[tool]["seconds"], 2) for tool in tools}
        print(f"{work.source.stem}, {work.n} words, CPU seconds: {seconds}; load "
              f"{os.getloadavg()[0]:.1f}", flush=True)  # fmt: skip
    for tool in tools:
        first, again = (found[tool] for found in rounds)
        second = again
        if TOOLS[tool].keeps:
            second = run(tool, work._replace(folder=work.folder / f"{tool}-0"))
        precision, recall = judge(first, exact, n_rows)
        yield {
            "n_texts": n_rows, "bytes": work.source.stat().st_size, "n": work.n, "tool": tool,
            "seconds": min(first["seconds"], again["seconds"]), "second": second["seconds"],
            "peak_mb": first["peak_mb"], "n_pairs": len(first["pairs"]), "precision": precision,
            "recall": recall, "same": first["pairs"] == again["pairs"], "n_exact": len(exact[0]),
            "version": importlib.metadata.version(tool.split()[0]), "load": os.getloadavg()[0],
        }  # fmt: skip


# ---- the page ------------------------------------------------------------------------------------


def write(results: Path, rows: list[dict[str, Any]], command: str) -> None:
    lines = []
    for row in rows:
        lists = TOOLS[row["tool"]].lists
        lines.append([
            f"{row['source']} ({row['n_exact']:,} pairs)", row["n"], row["tool"],
            f"{row['seconds']:.2f}", f"{max(row['second'], 0):.2f}",
            f"{row['bytes'] / row['seconds'] / 1e6:.1f}", TOOLS[row["tool"]].n_bytes,
            f"{row['peak_mb']:.0f}",
            f"{row['n_pairs']:,}" if lists == "pairs" else "–",
            f"{100 * row['precision']:.1f}" if lists == "pairs" else "–",
            f"{100 * row['recall']:.1f}",
            "yes" if row["same"] else "no",
        ])  # fmt: skip
    versions = {row["tool"].split()[0]: row["version"] for row in rows}
    today = datetime.datetime.now(datetime.UTC).date()
    sizes = {row["source"]: (row["n_texts"], row["bytes"]) for row in rows}
    low, high = (f"{find(row['load'] for row in rows):.0f}" for find in (min, max))
    load = low if low == high else f"{low} to {high}"
    inputs = ", ".join(f"{name}: {n:,} texts, {b / 1e6:.0f} MB" for name, (n, b) in sizes.items())
    notes = (
        f"Pairs of a Jaccard similarity of at least {THRESHOLD} by word n-grams, {N_HASHES} hashes "
        f"({BANDS[0]} times {BANDS[1]} of datatrove), from JSON Lines to pairs or to kept texts; "
        f"{inputs}. CPU time of one thread, the lesser of two runs, without the time to import; "
        "the second run is in the folder of the first. Precision: pairs listed whose exact "
        "similarity reaches the threshold. Recall: pairs that do (their number is in the first "
        "column) and are in one cluster. Same answer: of two runs that share nothing. The "
        "libraries datasketch and rensa are given sets of n-grams that Python makes. datatrove "
        "divides texts into words by a rule of its own, lists the pairs that share a band without "
        "comparing them further, and also writes the texts that are kept; text-dedup writes these "
        f"and clusters. {', '.join(f'{tool} {number}' for tool, number in versions.items())}; "
        f"Python {sys.version.split()[0]}; {runner.machine()}, at a load of {load}; "
        f"{today}; `{command}`."
    )
    report.write_table(
        results / "near-duplicates", "Near-duplicates of texts, beside other tools", COLUMNS,
        lines, notes,
    )  # fmt: skip
    plot(results / "near-duplicates.svg", rows)


def plot(path: Path, rows: list[dict[str, Any]]) -> None:
    import matplotlib.pyplot as plt

    tools = [tool for tool in TOOLS if any(row["tool"] == tool for row in rows)]
    with plt.rc_context(report.STYLE):
        groups = list(dict.fromkeys((row["source"], row["n"]) for row in rows))
        figure, axes = report.panels(len(groups), 2, 3.4)
        for ax, (source, n) in zip(axes, groups, strict=True):
            ax.sharex(axes[0])
            for row in rows:
                if (row["source"], row["n"]) == (source, n):
                    speed, place = row["bytes"] / row["seconds"] / 1e6, tools.index(row["tool"])
                    ax.plot(speed, place, "o", color="C0" if "sparsemaps" in row["tool"] else "C7")
                    ax.annotate(
                        f"{100 * row['recall']:.1f} %", (speed, place), (7, 0),
                        textcoords="offset points", va="center",
                    )  # fmt: skip
            ax.set_xscale("log")
            ax.set_yticks(range(len(tools)), tools)
            ax.margins(x=0.2, y=0.12)
            ax.invert_yaxis()
            ax.set_title(f"{source}, {n} words")
        figure.supxlabel("MB of text a second and core; beside it, recall", fontsize=9)
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.near_duplicates",
                                     description=__doc__)  # fmt: skip
    parser.add_argument("--data", type=Path, help="directory of the texts")
    parser.add_argument("-o", "--results", type=Path, help="where table and plot go")
    for name, most in SOURCES.items():
        parser.add_argument(
            f"--{name}", type=int, default=most, help=f"at most so many of {name} ({most})"
        )
    parser.add_argument("--run", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.run:
        name, source, n, folder = options.run
        run_here(name, Work(Path(source), int(n), Path(folder)))
        return
    if options.data is None or options.results is None:
        parser.error("--data and -o are needed")
    n_texts = {name: getattr(options, name) for name in SOURCES}
    command = "python -m experiments.near_duplicates --data DIRECTORY -o RESULTS"
    command += "".join(f" --{name} {most}" for name, most in n_texts.items())
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(options.data, options.results, Path(folder), n_texts)
    write(options.results, rows, command)
    print(f"{time.perf_counter() - start:.0f} s in all")


if __name__ == "__main__":
    main()
