"""``python -m experiments.near_duplicates --data DIRECTORY -o RESULTS``: texts without their
near-duplicates, by sparsemaps, datasketch, rensa, FastSketchLSH, gaoya, datatrove and text-dedup.

DIRECTORY has texts.jsonl.xz and pages.jsonl.xz, JSON Lines with a field `text`; those that are
missing are left out. Each tool runs in a process of its own, by one thread: from the file, by word
n-grams and as many hashes, to the records that it removes, twice. Then each removed record is
compared with all records that remain, by the exact similarity. Peers that are not installed are
left out: ``pip install datasketch rensa fastsketchlsh gaoya datatrove spacy text-dedup``.
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
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from experiments import report, runner
from sparsemaps import MinHash, files

SOURCES = {"texts": 15_000, "pages": 1_430}
"""Files, and the default number of texts of each: as many as slower tools process in minutes."""

SIZES = (3, 5)  # of word n-grams
THRESHOLD = 0.8
N_HASHES = 256
BANDS = (19, 13)
"""Settings of datatrove, which requires the user to choose: bands, and hashes per band. A pair of
similarity (1/19)^(1/13) = 0.80 shares a band with a probability of about 0.63, as in datasketch's
default."""

N_BANDS = 32
"""Settings of libraries that compare the hashes of texts in the same band: at 0.8, a pair shares
one of 32 bands of 8 hashes with a probability of 0.997."""

MAX_DF, MIN_OWN = 100, 12
"""sparsemaps without n-grams that many records share (experiments.own_ngrams)."""

OWN_NGRAMS = f"sparsemaps --max-df {MAX_DF} --min-own {MIN_OWN}"

COLUMNS = (
    "texts (near pairs)", "words", "tool", "removed", "near no remaining text, %",
    "near pairs left", "CPU, s", "second run, s", "MB/s", "bytes a text", "peak MB",
    "same answer again",
)  # fmt: skip


Words = Callable[[str], list[str]]
"""Return the words of a text, in order."""

between_blanks: Words = str.split
without_punctuation: Words = re.compile(r"\w+").findall


class Work(NamedTuple):
    """The task of a tool."""

    source: Path
    n: int
    folder: Path  # for files of the tool


Removed = Iterator[int]
"""The numbers, from 0, of the records that a tool removes."""


# ---- the tools -----------------------------------------------------------------------------------


def deduplicated(work: Work, **options: Any) -> Removed:
    table = work.folder / "removed.tsv"
    files.deduplicate_files(
        MinHash(n_hashes=N_HASHES, random_state=0), str(work.source),
        str(work.folder / "kept.jsonl"), removed=str(table),
        threshold=THRESHOLD, progress=False, **{"source": f"word:{work.n}", **options},
    )  # fmt: skip
    for line in table.read_text(encoding="utf-8").splitlines()[1:]:
        yield int(line.split("\t")[0]) - 1


def sparsemaps(work: Work) -> Removed:
    return deduplicated(work)


def sparsemaps_exact(work: Work) -> Removed:
    return deduplicated(work, exact=True)


def sparsemaps_own_ngrams(work: Work) -> Removed:
    return deduplicated(work, source=files.Texts(f"word:{work.n}", max_df=MAX_DF, min_own=MIN_OWN))


def ngrams_of(work: Work, words_of: Words = between_blanks) -> Iterator[set[str]]:
    """Yield the sets for Python libraries, by the same rule as the sets of sparsemaps."""
    with open(work.source, encoding="utf-8") as file:
        for line in file:
            words = words_of(json.loads(line)["text"].lower())
            yield {" ".join(words[k : k + work.n]) for k in range(len(words) - work.n + 1)}


def datasketch(work: Work) -> Removed:
    """Query the index for each text, compare with its results, and insert texts without
    near-duplicates."""
    from datasketch import MinHash as Hash
    from datasketch import MinHashLSH

    index = MinHashLSH(threshold=THRESHOLD, num_perm=N_HASHES)
    hashes: dict[int, Any] = {}
    for row, ngrams in enumerate(ngrams_of(work)):
        if not ngrams:
            continue
        made = Hash(num_perm=N_HASHES, seed=1)
        made.update_batch([ngram.encode() for ngram in ngrams])
        if any(made.jaccard(hashes[other]) >= THRESHOLD for other in index.query(made)):
            yield row
        else:
            index.insert(row, made)
            hashes[row] = made


def rensa(work: Work) -> Removed:
    from rensa import RMinHash, RMinHashDeduplicator

    index = RMinHashDeduplicator(THRESHOLD, N_HASHES, True, N_BANDS)
    for row, ngrams in enumerate(ngrams_of(work)):
        if ngrams:
            made = RMinHash(num_perm=N_HASHES, seed=42)
            made.update(list(ngrams))
            if not index.add(str(row), made):
                yield row


def fastsketchlsh(work: Work) -> Removed:
    """Search like datasketch: the tool's own flags tell which rows share a band, but not which
    record remains."""
    from FastSketchLSH import LSH, FastSimilaritySketch, estimate_jaccard

    rows, sets = [], []
    for row, ngrams in enumerate(ngrams_of(work)):
        if ngrams:
            rows.append(row)
            sets.append(list(ngrams))
    sketches = FastSimilaritySketch(N_HASHES).batch(sets, num_threads=1) if sets else []
    index = LSH(N_HASHES, N_BANDS, num_threads=1)
    inserted: list[Any] = []
    for row, sketch in zip(rows, np.asarray(sketches), strict=True):
        found = index.query(sketch)
        if any(estimate_jaccard(sketch, inserted[other]) >= THRESHOLD for other in found):
            yield row
        else:
            index.insert(sketch[None])
            inserted.append(sketch)


def gaoya(work: Work) -> Removed:
    """Query the index, which compares its results with its threshold, and insert texts without
    near-duplicates."""
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        32, THRESHOLD, N_BANDS, N_HASHES // N_BANDS, None, "word", True, (work.n, work.n)
    )
    with open(work.source, encoding="utf-8") as file:
        for row, line in enumerate(file):
            text = json.loads(line)["text"]
            if index.query(text):
                yield row
            else:
                index.insert_document(row, text)


def datatrove(work: Work) -> Removed:
    """Run its pipeline of four stages on local files, as one task."""
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
    for path in sorted(Path(at["removed"]).glob("*.remove")):
        yield from np.fromfile(path, "<u4").tolist()


def text_dedup(work: Work) -> Removed:
    """Run its command, which with `--debug` also writes the clusters."""
    arguments = [
        "--path", "json", "--data_files", str(work.source), "--split", "train",
        "--cache_dir", str(work.folder / "cache"), "--output", str(work.folder / "kept"),
        "--column", "text", "--batch_size", "10000", "--ngram", str(work.n), "--min_length", "1",
        "--num_perm", str(N_HASHES), "--threshold", str(THRESHOLD), "--num_proc", "1", "--debug",
    ]  # fmt: skip
    subprocess.run(
        [sys.executable, "-m", "text_dedup.minhash", *arguments],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    joined = pickle.loads((work.folder / "kept" / "uf.pkl").read_bytes())
    yield from (row for row in list(joined.parent) if joined.find(row) != row)


class Tool(NamedTuple):
    """A tool, the name of its package, and the bytes of a text's signature."""

    find: Callable[[Work], Removed]
    package: str
    n_bytes: int
    keeps: bool = False  # whether a second run reuses results
    is_program: bool = False  # it imports its modules again
    words: Words = between_blanks  # how it splits words


TOOLS = {
    "sparsemaps": Tool(sparsemaps, "sparsemaps", N_HASHES + 4, keeps=True),
    OWN_NGRAMS: Tool(sparsemaps_own_ngrams, "sparsemaps", N_HASHES + 4),
    "sparsemaps --exact": Tool(sparsemaps_exact, "sparsemaps", N_HASHES + 4, keeps=True),
    "datasketch": Tool(datasketch, "datasketch", 8 * N_HASHES),
    "rensa": Tool(rensa, "rensa", 4 * N_HASHES),
    "FastSketchLSH": Tool(fastsketchlsh, "FastSketchLSH", 8 * N_HASHES),
    "gaoya": Tool(gaoya, "gaoya", 4 * N_HASHES),
    "datatrove": Tool(
        datatrove, "datatrove", BANDS[0] * (4 * BANDS[1] + 4), keeps=True, words=without_punctuation
    ),
    "text-dedup": Tool(
        text_dedup,
        "text_dedup",
        8 * N_HASHES,
        keeps=True,
        is_program=True,
        words=without_punctuation,
    ),
}


# ---- a run of a tool -----------------------------------------------------------------------------


def run_here(name: str, work: Work) -> None:
    """Run a tool in this process, and print its measurements and results as JSON."""
    start = cpu_time()
    preload(name)
    begun = cpu_time()
    removed = sorted(set(TOOLS[name].find(work)))
    seconds = cpu_time() - begun
    if TOOLS[name].is_program:
        seconds -= begun - start
    peaks = [peak_memory(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]
    found = {"seconds": seconds, "peak_mb": max(peaks) / 1024, "removed": removed}
    (work.folder / "found.json").write_text(json.dumps(found), encoding="utf-8")


WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)


def cpu_time() -> float:
    used = [resource.getrusage(who) for who in WHO]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak_memory() -> int:
    """Kilobytes; `getrusage` would include the memory of the parent program."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])


def preload(name: str) -> None:
    """Import a tool's modules and use it once, since small inputs would otherwise time only the
    imports."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "texts.jsonl"
        path.write_text('{"text": "one two three four five six"}\n' * 2, encoding="utf-8")
        (Path(folder) / "kept").mkdir()
        list(TOOLS[name].find(Work(path, 3, Path(folder) / "kept")))


def run(name: str, work: Work) -> dict[str, Any]:
    """Run a tool in a new process. If it fails, exit with the last line of its error."""
    work.folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    environment |= {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    arguments = [str(work.source), str(work.n), str(work.folder)]
    ended = subprocess.run(
        [sys.executable, "-m", "experiments.near_duplicates", "--run", name, *arguments],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    if ended.returncode:
        raise SystemExit(f"{name} cannot be measured: {ended.stderr.strip().splitlines()[-1]}")
    found: dict[str, Any] = json.loads((work.folder / "found.json").read_text(encoding="utf-8"))
    return found


# ---- what is right -------------------------------------------------------------------------------


def near_pairs(work: Work, words_of: Words) -> Any:
    """Return the pairs of texts whose exact Jaccard similarity reaches the threshold, by comparing
    all pairs.

    Return the n-grams of a text. A text with fewer words than an n-gram becomes one n-gram of all
    its words.
    """
    number: dict[str, int] = {}
    indices: list[int] = []
    indptr = [0]
    lines = work.source.read_text(encoding="utf-8").splitlines()
    for line, ngrams in zip(lines, ngrams_of(work, words_of), strict=True):
        ngrams = ngrams or {"\n" + " ".join(json.loads(line)["text"].lower().split())}
        indices += [number.setdefault(ngram, len(number)) for ngram in ngrams]
        indptr.append(len(indices))
    X = sp.csr_array((np.ones(len(indices), np.int32), indices, indptr))
    sizes, parts = np.diff(X.indptr), []
    for start in range(0, X.shape[0], 500):
        shared = (X[start : start + 500] @ X.T).tocoo()
        rows, columns = shared.row + start, shared.col
        near = shared.data >= THRESHOLD * (sizes[rows] + sizes[columns] - shared.data)
        parts.append(np.stack([rows, columns])[:, near & (rows != columns)])
    return np.concatenate(parts, axis=1)


def judge(found: dict[str, Any], near: Any, n_rows: int) -> tuple[int, int]:
    """Return the number of removed texts without a near-duplicate among the remaining ones, and the
    number of remaining near-duplicate pairs."""
    remains = np.ones(n_rows, bool)
    remains[found["removed"]] = False
    has_partner = np.zeros(n_rows, bool)
    has_partner[near[0, remains[near[1]]]] = True
    left = remains[near[0]] & remains[near[1]]
    return int((~remains & ~has_partner).sum()), int(left.sum()) // 2


def measure(
    data: Path, results: Path, folder: Path, n_texts: dict[str, int]
) -> list[dict[str, Any]]:
    """Return the measurements of all tools, reusing those in the results."""
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
            if tool != OWN_NGRAMS
            and (name, n_texts[name], n, tool) not in done
            and importlib.util.find_spec(about.package)
        ]
        if not missing:
            continue
        work = Work(source, n, folder)
        near = {words: near_pairs(work, words) for words in (between_blanks, without_punctuation)}
        for row in measure_case(missing, Work(source, n, folder / f"{name}-{n}"), near):
            rows.append({"source": name, "asked": n_texts[name], **row})
            with open(kept, "a", encoding="utf-8") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    return [row for row in rows if row["asked"] == n_texts[row["source"]]]


def unpacked(compressed: Path, folder: Path, n_texts: int) -> Path:
    """Copy the first texts of a file, without the other fields: text-dedup fails if later records
    have a field that the first ones lack."""
    source = folder / compressed.stem
    with lzma.open(compressed, "rb") as records, open(source, "w", encoding="utf-8") as texts:
        for record in itertools.islice(records, n_texts):
            text = {"text": json.loads(record)["text"]}
            texts.write(json.dumps(text, ensure_ascii=False) + "\n")
    return source


def measure_case(tools: list[str], work: Work, near: dict[Words, Any]) -> Iterator[dict[str, Any]]:
    """Yield the measurements of the tools, which run in turn, so that other load affects all
    alike."""
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
        alone, left = judge(first, near[TOOLS[tool].words], n_rows)
        yield {
            "n_texts": n_rows, "bytes": work.source.stat().st_size, "n": work.n, "tool": tool,
            "seconds": min(first["seconds"], again["seconds"]), "second": second["seconds"],
            "peak_mb": first["peak_mb"], "n_removed": len(first["removed"]), "alone": alone,
            "left": left, "same": first["removed"] == again["removed"],
            "n_near": near[between_blanks].shape[1] // 2,
            "version": importlib.metadata.version(tool.split()[0]), "load": os.getloadavg()[0],
        }  # fmt: skip


# ---- the page ------------------------------------------------------------------------------------


def write(results: Path, rows: list[dict[str, Any]], command: str) -> None:
    lines = [
        [
            f"{row['source']} ({row['n_near']:,})", row["n"], row["tool"],
            f"{row['n_removed']:,}", f"{100 * row['alone'] / max(row['n_removed'], 1):.1f}",
            f"{row['left']:,}",
            f"{row['seconds']:.2f}", f"{max(row['second'], 0):.2f}",
            f"{row['bytes'] / row['seconds'] / 1e6:.1f}", TOOLS[row["tool"]].n_bytes,
            f"{row['peak_mb']:.0f}",
            "yes" if row["same"] else "no",
        ]
        for row in rows
    ]  # fmt: skip
    versions = {row["tool"].split()[0]: row["version"] for row in rows}
    today = datetime.datetime.now(datetime.UTC).date()
    sizes = {row["source"]: (row["n_texts"], row["bytes"]) for row in rows}
    low, high = (f"{find(row['load'] for row in rows):.0f}" for find in (min, max))
    load = low if low == high else f"{low} to {high}"
    inputs = ", ".join(f"{name}: {n:,} texts, {b / 1e6:.0f} MB" for name, (n, b) in sizes.items())
    notes = (
        f"Texts without near-duplicates: Jaccard similarity of at least {THRESHOLD} by word "
        f"n-grams, {N_HASHES} hashes ({BANDS[0]} times {BANDS[1]} of datatrove), from JSON Lines "
        f"to the numbers of the removed texts; {inputs}. A removed text is near no remaining text "
        "if its exact similarity to each of them is below the threshold. Near pairs left: pairs of "
        "remaining texts whose exact similarity reaches the threshold. Exact similarities are "
        "those of all pairs, made in SciPy from lower-case words between blanks; for datatrove and "
        "text-dedup, which leave punctuation out, from letters and digits. CPU time of one thread, "
        "the lesser of two runs, without the time to import; the second run is in the "
        "folder of the first. Same answer: of two runs that share nothing. sparsemaps, datatrove "
        "and text-dedup also write the remaining texts. The libraries datasketch, rensa and "
        "FastSketchLSH are given sets of n-grams that Python makes; they keep a text if its "
        "estimated similarity to each text that they have kept is below the threshold. datatrove "
        "and text-dedup join all texts that share a band. "
        f"{', '.join(f'{tool} {number}' for tool, number in versions.items())}; "
        f"Python {sys.version.split()[0]}; {runner.machine()}, at a load of {load}; "
        f"{today}; `{command}`."
    )
    report.write_table(
        results / "near-duplicates", "Texts without near-duplicates, beside other tools", COLUMNS,
        lines, notes,
    )  # fmt: skip
    plot(results / "near-duplicates.svg", rows)


SHAPES = {3: "o", 5: "s"}
"""Markers by number of words of n-grams in the plot; those of pages are hollow."""


def plot(path: Path, rows: list[dict[str, Any]]) -> None:
    """Plot the share of removed texts without a near-duplicate among the remaining ones, for each
    tool."""
    import matplotlib.pyplot as plt

    with plt.rc_context(report.STYLE):
        tools = list(dict.fromkeys(row["tool"] for row in rows))
        figure, ax = plt.subplots(figsize=(5.2, 0.5 * len(tools) + 1.4), layout="constrained")
        for row in rows:
            color = "C0" if "sparsemaps" in row["tool"] else "C7"
            is_page = row["source"].startswith("pages")
            ax.plot(
                100 * row["alone"] / max(row["n_removed"], 1), tools.index(row["tool"]),
                SHAPES[row["n"]], color=color, markersize=8, clip_on=False,
                markerfacecolor="none" if is_page else color,
            )  # fmt: skip
        for n, shape in SHAPES.items():
            for source in ("texts", "pages"):
                ax.plot([], [], shape, color="black", label=f"{source}, runs of {n} words",
                        markerfacecolor="none" if source == "pages" else "black")  # fmt: skip
        ax.set_yticks(range(len(tools)), tools, fontsize=10)
        ax.set(ylim=(len(tools) - 0.5, -0.5), xlabel="removed texts that resemble no kept text, %")
        ax.set_xlim(left=0)
        figure.legend(loc="outside lower center", ncols=2)
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
