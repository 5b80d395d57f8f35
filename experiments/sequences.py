"""``python -m experiments.sequences --data DIRECTORY -o RESULTS``: similarity of sequences
by counts of their k-mers, beside sourmash.

DIRECTORY is the source distribution of Biopython, unpacked: ``pip download --no-deps --no-binary
biopython biopython``. It has 94 genes of orchids and the chloroplast of a thale cress. Further:
``pip install biopython sourmash``.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from experiments import report, runner
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.codes import collisions, kernel_from_collisions
from sparsemaps.text import HashingVectorizer

COMPLEMENT = str.maketrans("ACGT", "TGCA")
RATES = (0.001, 0.01, 0.03)
"""Shares of bases that are changed in copies of the chloroplast."""


def reverse(sequence: str) -> str:
    return sequence.translate(COMPLEMENT)[::-1]


def kmers(sequence: str, k: int) -> Counter[str]:
    """Counts of k-mers, where a k-mer and its reverse complement are one."""
    other, n = reverse(sequence), len(sequence)
    pairs = ((sequence[i : i + k], other[n - i - k : n - i]) for i in range(n - k + 1))
    return Counter(min(pair) for pair in pairs if set(pair[0]) <= set("ACGT"))


def similarity(a: Counter[str], b: Counter[str], *, counts: bool = True) -> float:
    """Weighted Jaccard similarity, or that of the sets."""
    if not counts:
        return len(a.keys() & b.keys()) / len(a.keys() | b.keys())
    common = (a & b).total()
    return common / (a.total() + b.total() - common)


def exact(counters: Sequence[Counter[str]], *, counts: bool = True) -> Any:
    return np.array([[similarity(a, b, counts=counts) for b in counters] for a in counters])


def words(k: int) -> HashingVectorizer:
    """Counts of all words of k bases, which overlap."""
    overlapping = {"token_pattern": rf"(?=([ACGT]{{{k}}}))", "lowercase": False}
    settings = {"norm": None, "alternate_sign": False, "n_features": 2**31 - 2}
    return HashingVectorizer(**settings, **overlapping)


def of_codes(
    sequences: Sequence[str], vectorizer: Any, seed: int, *, counts: bool = True, n: int = 512
) -> Any:
    """Estimates from n samples of 8 bits."""
    settings: dict[str, Any] = {"n_hashes": n, "random_state": seed}
    if counts:
        samples: Any = ConsistentWeightedSampling(method="levels", **settings)
    else:
        samples = MinHash(**settings)
    both = [f"{sequence} {reverse(sequence)}" for sequence in sequences]
    codes = samples.fit_any_width().encode_texts(vectorizer, both)
    return kernel_from_collisions(collisions(codes, codes, 8), n, 8)


def of_sourmash(sequences: Sequence[str], k: int, seed: int, **settings: Any) -> Any:
    """Estimates of sourmash; with abundances, its angular similarity."""
    import sourmash

    sketches = []
    for sequence in sequences:
        sketch = sourmash.MinHash(ksize=k, seed=seed + 1, **settings)
        sketch.add_sequence(sequence, True)
        sketches.append(sketch)
    return np.array([[a.similarity(b) for b in sketches] for a in sketches])


Tool = tuple[str, str, str, Callable[[Sequence[str], int, int], Any]]


def tools(scaled: int) -> list[Tool]:
    """Each tool: its name, what it estimates, bytes, function."""
    return [
        ("sparsemaps", "counts", "512", lambda s, k, r: of_codes(s, words(k), r)),
        ("sparsemaps, char:k", "counts", "512", lambda s, k, r: of_codes(s, f"char:{k}", r)),
        ("sparsemaps", "sets", "512", lambda s, k, r: of_codes(s, words(k), r, counts=False)),
        ("sourmash, num=64", "sets", "512", lambda s, k, r: of_sourmash(s, k, r, n=64)),
        (
            f"sourmash, scaled={scaled}",
            "sets",
            "8 a hash",
            lambda s, k, r: of_sourmash(s, k, r, n=0, scaled=scaled),
        ),
        (
            f"sourmash, scaled={scaled}, abundances",
            "angles of counts",
            "16 a hash",
            lambda s, k, r: of_sourmash(s, k, r, n=0, scaled=scaled, track_abundance=True),
        ),
    ]


def measured(
    name: str, sequences: Sequence[str], k: int, groups: Any, scaled: int, n_seeds: int
) -> list[list[str]]:
    """A line for each tool: its error, how often the nearest is of the same group, and CPU."""
    counters = [kmers(sequence, k) for sequence in sequences]
    truth = {"counts": exact(counters), "sets": exact(counters, counts=False)}
    pairs = np.triu_indices(len(sequences), 1)

    def same(estimates: Any) -> str:
        if groups is None:
            return "–"
        order = np.argmax(estimates - 2 * np.eye(len(groups)), axis=1)
        return f"{100 * np.mean(groups[order] == groups):.1f}"

    lines = [[name, str(k), f"exact, {of}", of, "–", "–", same(truth[of]), "–"] for of in truth]
    for tool, of, n_bytes, function in tools(scaled):
        function([sequence[:100] for sequence in sequences[:2]], k, 0)  # which imports
        start = time.process_time()
        found = [function(sequences, k, seed) for seed in range(n_seeds)]
        seconds = (time.process_time() - start) / n_seeds / len(sequences)
        errors = [
            f"{np.sqrt(np.mean([(e - truth[of])[pairs] ** 2 for e in found])):.4f}"
            if of in truth
            else "–"
        ]
        groups_right = "–"
        if groups is not None:
            groups_right = f"{np.mean([float(same(e)) for e in found]):.1f}"
        lines.append(
            [name, str(k), tool, of, n_bytes, *errors, groups_right, f"{1000 * seconds:.2f}"]
        )
        print(*lines[-1], sep=" | ", flush=True)
    return lines


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.sequences", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="Biopython's sources, unpacked")
    parser.add_argument("-o", "--results", type=Path, required=True, help="where the table goes")
    parser.add_argument("--seeds", type=int, default=10, help="seeds of hashes (10)")
    options = parser.parse_args(arguments)
    from Bio import SeqIO

    orchids = [*SeqIO.parse(options.data / "Doc" / "examples" / "ls_orchid.gbk", "genbank")]
    genera = np.array([record.annotations["organism"].split()[0] for record in orchids])
    genes = [str(record.seq).upper() for record in orchids]
    chloroplast = str(
        SeqIO.read(options.data / "Tests" / "GenBank" / "NC_000932.gb", "genbank").seq
    ).upper()
    rng, copies = np.random.default_rng(0), [chloroplast]
    for rate in RATES:
        bases = np.array([*chloroplast])
        places = rng.random(len(bases)) < rate
        bases[places] = rng.choice([*"ACGT"], places.sum())
        copies.append("".join(bases))
    with threadpool_limits(1):
        rows = []
        for k in (3, 7):
            rows += measured("genes", genes, k, genera, 1, options.seeds)
        rows += measured("chloroplasts", copies, 21, None, 1000, options.seeds)
    names = ("biopython", "sourmash", "numpy", "sparsemaps")
    report.write_table(
        options.results / "counts-sequences", "Sequences by their k-mers",
        ["sequences", "k", "tool", "similarity of", "bytes", "error", "same genus, %", "ms each"],
        rows,
        f"{len(genes)} genes of orchids of {np.mean([*map(len, genes)]):.0f} bases, and a "
        f"chloroplast of {len(chloroplast):,} with {len(RATES)} copies in which "
        f"{', '.join(f'{100 * rate:g}' for rate in RATES)} % of the bases are drawn anew. Error: "
        "root mean square over pairs, against the exact similarity of the same kind. sparsemaps: "
        "512 samples of 8 bits. Same genus: of the most similar other gene. ms: sketches of all "
        "sequences and comparison of all "
        f"pairs, CPU time for each sequence. {options.seeds} seeds. "
        f"`python -m experiments.sequences --data DIRECTORY -o RESULTS`; {runner.machine()}; "
        f"{', '.join(f'{name} {version(name)}' for name in names)}.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
