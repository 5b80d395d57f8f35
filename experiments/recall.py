"""``python -m experiments.recall --data DIRECTORY -o RESULTS``: the near pairs of real texts that
the search by bands misses at its default recall, over seeds.

DIRECTORY has texts.jsonl.xz. Each seed has its own codes. The search at recall 1 lists the pairs
whose estimate reaches the threshold; the table has the share of them that the default misses.
"""

import argparse
import lzma
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from experiments import report, runner
from sparsemaps import MinHash
from sparsemaps.files import similar_pairs_of_files

ANALYZER, THRESHOLD = "word:3", 0.8
RANGES = ((0.80, 0.82), (0.82, 0.85), (0.85, 0.90), (0.90, 1.01))
COLUMNS = ("search", "estimate", "pairs", "missed, %", "standard error", "least", "most")
NOTES = (
    "Pairs of texts.jsonl by {analyzer} and 256 samples whose estimated similarity reaches "
    "{threshold}, and the share of them that the search misses at the default recall of 0.95: the "
    "mean over {seeds} seeds, its standard error, and the least and the most of one seed. Between "
    "two halves: the texts are cut into two halves at random, and a pair has a text of each. "
    "{machine}; `{command}`"
)


def pairs(seed: int, inputs: Path, other: Path | None, folder: Path, recall: float) -> Any:
    out = folder / "pairs.tsv"
    similar_pairs_of_files(
        MinHash(random_state=seed), str(inputs), str(out), other=other and str(other),
        source=ANALYZER, threshold=THRESHOLD, recall=recall, resume=False, progress=False,
    )  # fmt: skip
    return np.loadtxt(out, ndmin=2)


def missed(seed: int, inputs: Path, other: Path | None, folder: Path) -> list[tuple[int, float]]:
    """Return, for each range of estimates, the number of pairs and the share that is missed."""
    every, found = (pairs(seed, inputs, other, folder, recall) for recall in (1.0, 0.95))
    numbers = [table[:, 0].astype(np.int64) << 32 | table[:, 1].astype(np.int64)
               for table in (every, found)]  # fmt: skip
    is_found = np.isin(*numbers)
    within = [(low <= every[:, 2]) & (every[:, 2] < high) for low, high in RANGES]
    return [(int(rows.sum()), 100 * float(1 - is_found[rows].mean())) for rows in within]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.recall", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory of texts.jsonl.xz")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where the table goes")
    parser.add_argument("--seeds", type=int, default=16, help="how many (16)")
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with lzma.open(options.data / "texts.jsonl.xz", "rb") as file:
            lines = file.readlines()
        order = np.random.default_rng(0).permutation(len(lines))
        half = len(lines) // 2
        parts = {"all": range(len(lines)), "old": order[:half], "new": order[half:]}
        for part, chosen in parts.items():
            (folder / f"{part}.jsonl").write_bytes(b"".join(lines[i] for i in chosen))
        cases = {
            "within all": (folder / "all.jsonl", None),
            "between two halves": (folder / "new.jsonl", folder / "old.jsonl"),
        }
        for case, (inputs, other) in cases.items():
            seen = np.array([missed(seed, inputs, other, folder) for seed in range(options.seeds)])
            for (low, high), of_range in zip(RANGES, seen.transpose(1, 2, 0), strict=True):
                n_pairs, share = of_range
                rows.append([
                    case, f"{low:.2f} to {min(high, 1):.2f}", f"{n_pairs.mean():,.0f}",
                    f"{share.mean():.2f}", f"{share.std() / options.seeds**0.5:.2f}",
                    f"{share.min():.2f}", f"{share.max():.2f}",
                ])  # fmt: skip
    command = f"python -m experiments.recall --data DIRECTORY -o RESULTS --seeds {options.seeds}"
    notes = NOTES.format(analyzer=ANALYZER, threshold=THRESHOLD, seeds=options.seeds,
                         machine=runner.machine(), command=command)  # fmt: skip
    report.write_table(
        options.results / "near-duplicates-recall",
        "Near pairs that a search misses",
        COLUMNS,
        rows,
        notes,
    )


if __name__ == "__main__":
    main()
