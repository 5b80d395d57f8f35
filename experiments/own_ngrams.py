"""``python -m experiments.own_ngrams --data DIRECTORY -o RESULTS``: what is removed as a
near-duplicate when n-grams that many records share do not count.

Natural texts, families of near copies, and pages with a common frame, for settings of `max_df` and
`min_own`, and with all n-grams. With ``--tools``, the installed tools of
`experiments.near_duplicates` and sparsemaps instead, in one thread.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import lzma
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from experiments import near_duplicates, report, runner
from sparsemaps import MinHash
from sparsemaps._input._row_reader import RowReader
from sparsemaps._input._sparse import open_sparse
from sparsemaps.neighbors import removals
from sparsemaps.text import _frequencies
from sparsemaps.text._analyzers import vectorizer_of
from sparsemaps.text._own_ngrams import OwnNgrams

THRESHOLD, N_HASHES = 0.8, 256

FAMILIES = (3, 10, 30, 100, 300, 1000)
"""Sizes of families of near copies: texts with one word changed."""

PAGES = ((300, 30, 500), (300, 10, 500), (300, 30, 60), (1000, 100, 500), (20, 20, 500))
"""Words of the frame, own words, and number of pages with the frame."""


def words(rng: Any, n: int) -> list[str]:
    return [f"v{word}" for word in rng.integers(0, 10**6, n)]


def groups(data: Path, n_natural: int, edits: int) -> Iterator[tuple[str, list[str]]]:
    """The name and the texts of each group of records."""
    rng = np.random.default_rng(0)
    with lzma.open(data / "texts.jsonl.xz", "rt", encoding="utf-8") as lines:
        natural = [json.loads(line)["text"] for line in islice(lines, n_natural)]
    yield "natural texts", natural
    copied = [text for text in natural if 60 <= len(text.split()) <= 300]
    for number, size in enumerate(FAMILIES):
        original = copied[37 * number + 5].split()
        family = []
        for _ in range(size):
            copy = list(original)
            for place in rng.integers(0, len(copy), edits):
                copy[place] = words(rng, 1)[0]
            family.append(" ".join(copy))
        yield f"family of {size:,}", family
    for n_frame, n_own, n_pages in PAGES:
        frame = words(rng, n_frame)
        half = n_frame // 2
        pages = [
            " ".join([*frame[:half], *words(rng, n_own), *frame[half:]]) for _ in range(n_pages)
        ]
        yield f"{n_pages} pages, {n_frame} + {n_own}", pages


def removed_of(vectorizer: Any, records: list[str]) -> Any:
    minhash = MinHash(n_hashes=N_HASHES, random_state=0)
    minhash.fit_any_width()
    codes = minhash.encode_texts(vectorizer, records, packed=True)
    removed = np.zeros(len(records), bool)
    removed[removals(codes, THRESHOLD).removed] = True
    return removed


def counted(vectorizer: Any, records: list[str], path: Path, n_buckets: int) -> None:
    table = _frequencies.Frequencies(n_buckets)
    for start in range(0, len(records), 2000):
        rows = vectorizer.transform(records[start : start + 2000])
        table.add(RowReader(open_sparse(rows, "rows"), None))
    _frequencies.write(path, table, {})


def removed_by_tools(records: list[str], n: int) -> Iterator[tuple[str, Any, float]]:
    """Yield the name of each tool, its removals, and its seconds of CPU time."""
    with tempfile.TemporaryDirectory() as name:
        source = Path(name) / "texts.jsonl"
        with open(source, "w", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": t}, ensure_ascii=False) + "\n" for t in records)
        for tool, about in near_duplicates.TOOLS.items():
            if importlib.util.find_spec(about.package):
                folder = Path(name) / tool
                found = near_duplicates.run(tool, near_duplicates.Work(source, n, folder))
                removed = np.zeros(len(records), bool)
                removed[found["removed"]] = True
                version = importlib.metadata.version(tool.split()[0])
                yield (
                    tool.replace("sparsemaps", f"sparsemaps {version}")
                    if " " in tool
                    else (f"{tool} {version}"),
                    removed,
                    found["seconds"],
                )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.own_ngrams", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory of the texts")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where the table goes")
    parser.add_argument("--analyzer", default="word:5", help="of n-grams (word:5)")
    parser.add_argument("--natural", type=int, default=20_000, help="natural texts (20000)")
    parser.add_argument("--edits", type=int, default=1, help="words changed in a copy (1)")
    parser.add_argument("--tools", action="store_true", help="compare tools instead of settings")
    parser.add_argument("--max-df", type=int, nargs="+", default=[10, 20, 50, 100, 300, 1000])
    parser.add_argument("--min-own", type=int, nargs="+", default=[1, 4, 8, 12, 20, 40])
    options = parser.parse_args(arguments)
    named = list(groups(options.data, options.natural, options.edits))
    records = [text for _, texts in named for text in texts]
    ends = np.cumsum([len(texts) for _, texts in named])
    vectorizer = vectorizer_of(options.analyzer, binary=True)

    def line(of: str, removed: Any) -> list[str]:
        counts = [int(part.sum()) for part in np.split(removed, ends[:-1])]
        families = sum(n for (name, _), n in zip(named, counts, strict=True) if "family" in name)
        others = [
            f"{n:,}" for (name, _), n in zip(named, counts, strict=True) if "family" not in name
        ]
        return [of, f"{families:,}", *others]

    every = sum(FAMILIES)
    columns = ["max_df, min_own", f"copies of families, of {every:,}"]
    columns += [name for name, _ in named if "family" not in name]
    if options.tools:
        rows = []
        for tool, removed, seconds in removed_by_tools(records, int(options.analyzer[5:])):
            rows.append([*line(tool, removed), f"{seconds:.2f}"])
            print(*rows[-1], sep=" | ", flush=True)
        columns = ["tool", *columns[1:], "CPU, s"]
        report.write_table(
            options.results / "own-ngrams-tools", "Removed records, by tool", columns, rows,
            f"{options.analyzer}, {near_duplicates.N_HASHES} hashes, threshold "
            f"{near_duplicates.THRESHOLD}, the records of the table before; CPU time of one "
            f"thread, without the time to import, on a busy machine. {len(records):,} records. "
            "`python -m experiments.own_ngrams --data DIRECTORY -o RESULTS --tools`; "
            f"{runner.machine()}.",
        )  # fmt: skip
        return
    rows = [line("all", removed_of(vectorizer, records))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        counted(vectorizer, records, path, 2**24)
        for max_df in options.max_df:
            for min_own in options.min_own:
                own = OwnNgrams(vectorizer, str(path), max_df, min_own)
                rows.append(line(f"{max_df}, {min_own}", removed_of(own, records)))
                print(*rows[-1], sep=" | ", flush=True)
    report.write_table(
        options.results / f"own-ngrams-{options.analyzer.replace(':', '-')}-{options.edits}",
        "Removed records, by the n-grams that count", columns, rows,
        f"{options.analyzer}, {N_HASHES} hashes, threshold {THRESHOLD}; all n-grams "
        f"count, or own ones by `max_df, min_own`; copies have {options.edits} "
        f"word{'s' if options.edits > 1 else ''} changed; pages of a frame of so "
        "many words and own words. `python -m experiments.own_ngrams --data DIRECTORY -o RESULTS "
        f"--edits {options.edits} --max-df {' '.join(map(str, options.max_df))} "
        f"--min-own {' '.join(map(str, options.min_own))}`.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
