"""``python -m experiments.frequencies -o RESULTS``: what a table of frequencies must hold.

A corpus of 10^9 records has 10^10 to 10^11 distinct n-grams, so thousands of them share a bucket of
any table that fits in memory. A bucket then counts an n-gram and the sum of the frequencies of
others. Here this sum is drawn from its distribution: an n-gram has a frequency of at least k with
probability k^(-1/a), by Zipf's law with exponent a. No records are made.

- Models: the mean weight of n-grams of a true frequency, by tables of one to four rows (the least
  of as many counts) in equal memory.
- Near-duplicates: the smallest `max_df` that a table decides. n-grams in at most half as many
  records must be found rare, and n-grams in twice as many common, but for 1 % of them. A share of
  the records may count for all.

With ``--data DIRECTORY``, which has news20_bydate.train.svm and news20_bydate.test.svm, also the
accuracy of a linear SVM on words that tables of fewer and fewer buckets weight.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from experiments import datasets, report
from sparsemaps.text import IdfWeights

N_RECORDS = 10**9
LOADS = 0.1, 1, 10, 100, 1000, 10_000
SHARES = 1, 1 / 4, 1 / 16, 1 / 64, 1 / 256
N_ROWS = 1, 2, 3, 4
EXPONENTS = {"words": 1.0, "n-grams": 0.7}
"""Half of the n-grams are in one record; 63 %. In 67,801 texts it is 47 % of words, 57 % of runs of
two words, 68 % of runs of five."""
FREQUENCIES = 1, 10, 1000
WRONG = 0.01
N_BUCKETS = 2**22, 2**16, 2**12, 2**9, 2**6, 2**3


def frequencies(exponent: float) -> tuple[Any, Any]:
    """Return frequencies of n-grams with their probabilities: each up to 64, then in steps of a
    tenth."""
    starts = np.r_[1:65, np.geomspace(65, N_RECORDS, 120)]
    at_least = starts ** (-1 / exponent)
    sizes = np.sqrt(starts[:-1] * np.maximum(starts[1:] - 1, starts[:-1]))
    shares = at_least[:-1] - at_least[1:]
    return sizes, shares / shares.sum()


def others(draw: Any, exponent: float, load: float, n: int, share: float = 1) -> Any:
    """Return the contents of n buckets of `load` n-grams each, if a share of the records is
    counted."""
    total = np.zeros(n)
    for size, probability in zip(*frequencies(exponent), strict=True):
        together = size * draw.poisson(load * probability, n)
        total += together if share == 1 else draw.poisson(share * together)
    return total


def least_of_rows(
    draw: Any, exponent: float, load: float, n: int, n_rows: int, share: float = 1
) -> Any:
    """Return the least count of other n-grams in an n-gram's buckets, for tables in equal
    memory."""
    rows = (others(draw, exponent, load * n_rows, n, share) for _ in range(n_rows))
    return np.minimum.reduce(list(rows))


def weights(df: Any, power: float = 2) -> Any:
    """Return the weights of `IdfWeights`."""
    df = np.minimum(df, N_RECORDS)
    return (np.log((N_RECORDS + 1) / (df + 1)) / math.log((N_RECORDS + 1) / 2)) ** power


def smallest_max_df(noise: Any, share: float) -> int:
    """Return the smallest max_df that is decided correctly in all but `WRONG` of the cases, with
    the best threshold on the counts."""
    for number in np.unique(np.geomspace(1, 1e7, 240).round()):
        if share == 1:
            found = np.mean(number / 2 + noise >= 2 * number) <= WRONG
        else:
            threshold = stats.poisson.ppf(WRONG, 2 * number * share) - 1
            room = threshold - noise
            too_many = np.where(room < 0, 1, stats.poisson.sf(room, number * share / 2))
            found = threshold >= 0 and too_many.mean() <= WRONG
        if found:
            return int(number)
    return 10**7


def of_models(n: int) -> list[list[str]]:
    draw, rows = np.random.default_rng(0), []
    for name, exponent in EXPONENTS.items():
        for load in LOADS:
            row = [name, f"{load:,g}"]
            for n_rows in N_ROWS:
                noise = least_of_rows(draw, exponent, load, n, n_rows)
                row.append(" / ".join(f"{weights(df + noise).mean():.2f}" for df in FREQUENCIES))
            rows.append(row)
    return rows


def of_near_duplicates(n: int) -> list[list[str]]:
    draw, rows = np.random.default_rng(0), []
    for load in LOADS:
        for n_rows in (1, 2):
            noise = (
                least_of_rows(draw, EXPONENTS["n-grams"], load, n, n_rows, share)
                for share in SHARES
            )
            decided = map(smallest_max_df, noise, SHARES)
            rows.append([f"{load:,g}", str(n_rows), *(f"{number:,}" for number in decided)])
    return rows


def of_words(directory: str) -> list[list[str]]:
    split = datasets.load(directory, "news20_bydate")
    n_words = len(np.unique(split.X.indices))
    rows = []
    for n_buckets in N_BUCKETS:
        idf = IdfWeights(power=1, n_buckets=n_buckets).fit(split.X)
        X, X_test = (normalize(idf.transform(A)) for A in (split.X, split.X_test))
        accuracy = 100 * LinearSVC(random_state=0).fit(X, split.y).score(X_test, split.y_test)
        load = n_words / n_buckets
        rows.append([f"{n_buckets:,}", f"{load:,.{2 * (load < 1)}f}", f"{accuracy:.1f}"])
    return rows


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.frequencies", description=__doc__)
    parser.add_argument("-o", "--results", type=Path, required=True, help="where tables go")
    parser.add_argument("--buckets", type=int, default=20_000, help="buckets that are drawn")
    parser.add_argument("--data", help="where news20_bydate is")
    options = parser.parse_args(arguments)
    true = " / ".join(f"{weights(df):.2f}" for df in FREQUENCIES)
    report.write_table(
        options.results / "frequencies-models",
        "Weights by a table of frequencies",
        ["n-grams", "n-grams a bucket", *(f"{n} row{'s' * (n > 1)}" for n in N_ROWS)],
        of_models(options.buckets),
        "Mean weights (power 2, 10^9 records) of n-grams that 1 / 10 / 1,000 records have; true "
        f"are {true}. The tables of each line take the same memory.",
    )
    report.write_table(
        options.results / "frequencies-near-duplicates",
        "The smallest max_df that a table decides",
        [
            *("n-grams a bucket", "rows"),
            "all records" if SHARES[0] == 1 else "",
            *(f"1 of {round(1 / share)}" for share in SHARES[1:]),
        ],
        of_near_duplicates(options.buckets),
        "n-grams in max_df / 2 records are found rare, and those in 2 max_df common, except "
        "for 1 %. "
        "One or two rows in the same memory; all records count, or a share of them.",
    )
    if options.data is not None:
        report.write_table(
            options.results / "frequencies-words",
            "Words that tables of fewer and fewer buckets weight",
            ["buckets", "words a bucket", "accuracy, %"],
            of_words(options.data),
            "A linear SVM (C = 1) on news20: rows of unit length, power 1.",
        )


if __name__ == "__main__":
    main()
