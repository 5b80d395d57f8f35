"""Nearest neighbours on packed codes: the ten rows with the most collisions, and their labels.

    python asv_bench/neighbours.py DIRECTORY news20_bydate

For each test row the ten nearest training rows, by codes and by the exact min-max kernel: how many
of them are the same, and how often their vote has the row's label. All pairs are never held: codes
are compared a block of test rows at a time.
"""

import argparse
import time

import numpy as np
from bits import load

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.codes import collisions
from sparsemaps.kernels import min_max_kernel

N_NEAREST = 10
STEP = 500


def nearest(similarities):
    """Places of the largest similarities, the first of equals first."""
    return np.argsort(-similarities, axis=1, kind="stable")[:, :N_NEAREST]


def vote(labels):
    """The most frequent label of each row."""
    return np.array([np.bincount(row).argmax() for row in labels])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory")
    parser.add_argument("name")
    parser.add_argument("--n-hashes", type=int, nargs="+", default=[64, 256, 1024])
    options = parser.parse_args()
    X, y, X_test, y_test = load(options.directory, options.name)
    y, y_test = y.astype(int), y_test.astype(int)
    kept, kept_test = np.diff(X.indptr) > 0, np.diff(X_test.indptr) > 0  # no codes for empty rows
    X, y, X_test, y_test = X[kept], y[kept], X_test[kept_test], y_test[kept_test]
    blocks = [slice(start, start + STEP) for start in range(0, X_test.shape[0], STEP)]
    start = time.perf_counter()
    exact = np.concatenate([nearest(min_max_kernel(X_test[rows], X)) for rows in blocks])
    seconds = time.perf_counter() - start
    accuracy = 100 * (vote(y[exact]) == y_test).mean()
    print(f"exact kernel: {accuracy:.2f} % by vote, {seconds:.1f} s", flush=True)
    for n_hashes in options.n_hashes:
        cws = ConsistentWeightedSampling(n_hashes=n_hashes, bits=8, random_state=0).fit(X)
        codes, test_codes = cws.encode(X), cws.encode(X_test)
        start = time.perf_counter()
        found = np.concatenate([nearest(collisions(test_codes[r], codes, 8)) for r in blocks])
        seconds = time.perf_counter() - start
        accuracy = 100 * (vote(y[found]) == y_test).mean()
        shared = np.mean([len(np.intersect1d(*pair)) for pair in zip(found, exact, strict=True)])
        print(
            f"k = {n_hashes}: {accuracy:.2f} % by vote, {shared:.1f} of ten the same, "
            f"{seconds:.1f} s, {codes.shape[1]} bytes a row",
            flush=True,
        )


if __name__ == "__main__":
    main()
