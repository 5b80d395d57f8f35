"""``python -m experiments.densified -o RESULTS``: many samples of a set, by fast similarity
sketching (MinHash) and by one permutation with optimal densification (Shrivastava, ICML 2017).

Both hash each member, and then fill the samples that no member has reached. The first throws all
members again until every sample is reached; in the second, each empty sample looks for a full one.
The table has the number of hashes of a set, and the variance of the estimated similarity of two
sets.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from experiments import report
from sparsemaps import MinHash

Array = np.ndarray[Any, Any]

SIZES = (20, 200, 1_000, 4_000, 16_000, 100_000)
SAMPLES = (4_096, 16_384)
COLUMNS = (
    "samples", "members", "hashes, MinHash", "hashes, densified", "variance, MinHash",
    "variance, densified", "hashes for equal variance, densified / MinHash",
)  # fmt: skip
NOTES = (
    "The variance of the estimated Jaccard similarity of two sets that share half of their union, "
    "as a multiple of J (1 − J) / samples, which is that of independent samples; from {seeds} "
    "seeds, so that its standard error is {error:.0%} of it. Hashes: of one set; for MinHash the "
    "mean of ten. The last column multiplies hashes by variances, as both grow in proportion where "
    "most samples are empty: above 1, MinHash needs fewer. `{command}`"
)


def densified(one: Array, other: Array, k: int, rng: Any) -> tuple[float, int]:
    """Return the share of samples in which two sets agree, and the number of hashes of the first
    set."""
    members = np.union1d(one, other)
    bins, values = rng.integers(0, k, len(members)), rng.random(len(members))
    tables = []
    for chosen in (one, other):
        least = np.full(k, np.inf)
        at = np.searchsorted(members, chosen)
        np.minimum.at(least, bins[at], values[at])
        tables.append(least)
    empty = [np.flatnonzero(np.isinf(table)) for table in tables]
    full = [~np.isinf(table) for table in tables]
    n_hashes, attempts = len(one) + len(empty[0]), 0
    while any(len(left) for left in empty):
        look = rng.integers(0, k, k)  # the attempt of each sample, the same for both sets
        for i, table in enumerate(tables):
            found = full[i][look[empty[i]]]
            table[empty[i][found]] = table[look[empty[i][found]]]
            empty[i] = empty[i][~found]
        attempts += 1
        n_hashes += len(empty[0])
    return float((tables[0] == tables[1]).mean()), n_hashes


def sketched(n: int, k: int, rng: Any) -> int:
    """Return the number of hashes of a set of n members by fast similarity sketching: n per
    round."""
    empty, n_hashes, rounds = np.ones(k, bool), 0, 0
    while empty.any():
        # From round k on, each round fills one sample.
        empty[rng.integers(0, k, n) if rounds < k else rounds - k] = False
        rounds += 1
        n_hashes += n
    return n_hashes


def row(k: int, n: int, n_seeds: int) -> list[str]:
    rng = np.random.default_rng(0)
    shared = 2 * n // 3
    members = rng.choice(2**30, 2 * n - shared, replace=False)
    one, other = np.sort(members[:n]), np.sort(members[n - shared :])
    J = shared / len(members)
    columns = np.concatenate([one, other])
    X = sp.csr_array((np.ones(2 * n), columns, [0, n, 2 * n]), shape=(2, 2**30))
    ours, theirs, n_theirs = [], [], []
    for seed in range(n_seeds):
        samples = MinHash(n_hashes=k, random_state=seed, n_jobs=1).fit(X).sample(X)
        ours.append((samples[0] == samples[1]).mean())
        agree, n_hashes = densified(one, other, k, np.random.default_rng(seed))
        theirs.append(agree)
        n_theirs.append(n_hashes)
    n_ours = np.mean([sketched(n, k, rng) for _ in range(10)])
    unit = J * (1 - J) / k
    variances = np.var(ours) / unit, np.var(theirs) / unit
    ratio = np.mean(n_theirs) * variances[1] / (n_ours * variances[0])
    return [
        f"{k:,}", f"{n:,}", f"{n_ours:,.0f}", f"{np.mean(n_theirs):,.0f}",
        f"{variances[0]:.2f}", f"{variances[1]:.2f}", f"{ratio:.2g}",
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.densified", description=__doc__)
    parser.add_argument("-o", "--results", type=Path, required=True, help="where the table goes")
    parser.add_argument("--seeds", type=int, default=200, help="for each variance (200)")
    options = parser.parse_args(arguments)
    command = f"python -m experiments.densified -o RESULTS --seeds {options.seeds}"
    rows = [row(k, n, options.seeds) for k in SAMPLES for n in SIZES]
    notes = NOTES.format(seeds=options.seeds, error=(2 / options.seeds) ** 0.5, command=command)
    report.write_table(
        options.results / "minhash-densified", "Many samples of a set", COLUMNS, rows, notes
    )


if __name__ == "__main__":
    main()
