"""Two jobs from end to end, beside other libraries, by one thread.

    python -m experiments.beside_peers pairs texts.jsonl
    python -m experiments.beside_peers label DIRECTORY

The first finds the pairs of texts whose sets of runs of three words have a Jaccard similarity of
0.8 or more; the lines of the file are JSON objects with a field `text`. The second tells the digits
of mnist (``mnist.train.svm.xz``, ``mnist.test.svm.xz`` in the directory), trained on 10,000 rows:
accuracy, the time of training, and the time from a row to its label. Times are of the processor.
"""

import argparse
import platform
import time
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from experiments import datasets
from experiments.runner import machine
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.kernels import min_max_kernel
from sparsemaps.neighbors import similar_pairs
from sparsemaps.text import HashingVectorizer, iter_records

THRESHOLD = 0.8
N_HASHES = 256


def ours(texts: list[str]) -> tuple[int, float, float]:
    """Pairs found, and the seconds to codes and to pairs."""
    vectorizer = HashingVectorizer(
        ngram_range=(3, 3), token_pattern=r"\S+", binary=True, norm=None, alternate_sign=False,
        n_features=2**31 - 2,
    )  # fmt: skip
    minhash = MinHash(n_hashes=N_HASHES, random_state=0).fit_any_width()
    start = time.process_time()
    codes = minhash.encode_texts(vectorizer, texts, packed=True)
    middle = time.process_time()
    first, *_ = similar_pairs(codes, THRESHOLD)
    return len(first), middle - start, time.process_time() - middle


def runs_of_words(text: str) -> list[str]:
    """The set of runs of three words, or the whole text if it has fewer words."""
    words = text.lower().split()
    return list({" ".join(words[i : i + 3]) for i in range(max(len(words) - 2, 1))})


def by_rensa(texts: list[str]) -> tuple[int, float, float]:
    """As `ours`, by rensa."""
    from rensa import RMinHash, RMinHashLSH

    start = time.process_time()
    hashes = []
    for text in texts:
        hashed = RMinHash(num_perm=N_HASHES, seed=0)
        hashed.update(runs_of_words(text))
        hashes.append(hashed)
    middle = time.process_time()
    index = RMinHashLSH(threshold=THRESHOLD, num_perm=N_HASHES, num_bands=32)
    n_pairs = 0
    for row, hashed in enumerate(hashes):
        n_pairs += sum(hashed.jaccard(hashes[i]) >= THRESHOLD for i in index.query(hashed))
        index.insert(row, hashed)
    return n_pairs, middle - start, time.process_time() - middle


def by_datasketch(texts: list[str]) -> tuple[int, float, float]:
    """As `ours`, by datasketch."""
    from datasketch import MinHash as DatasketchMinHash
    from datasketch import MinHashLSH

    start = time.process_time()
    sets = [[member.encode() for member in runs_of_words(text)] for text in texts]
    hashes = DatasketchMinHash.bulk(sets, num_perm=N_HASHES, seed=0)
    middle = time.process_time()
    index = MinHashLSH(threshold=THRESHOLD, num_perm=N_HASHES)
    n_pairs = 0
    for row, hashed in enumerate(hashes):
        n_pairs += sum(hashed.jaccard(hashes[i]) >= THRESHOLD for i in index.query(hashed))
        index.insert(row, hashed)
    return n_pairs, middle - start, time.process_time() - middle


def pairs(path: str) -> None:
    texts = [text for batch in iter_records(path) for text in batch.texts]
    print(f"{len(texts):,} texts, {sum(map(len, texts)) / 1e6:.0f} million characters\n")
    print("| | pairs | texts to codes, s | codes to pairs, s | all, s |\n|---|---|---|---|---|")
    for name, find in (("sparsemaps", ours), ("rensa", by_rensa), ("datasketch", by_datasketch)):
        label = name if name == "sparsemaps" else f"{name} {version(name)}"
        n_pairs, to_codes, to_pairs = find(texts)
        both = to_codes + to_pairs
        print(
            f"| {label} | {n_pairs:,} | {to_codes:.2f} | {to_pairs:.2f} | {both:.2f} |", flush=True
        )


def label(directory: str) -> None:
    split = datasets.load(directory, "mnist", 10_000)
    X, X_test = split.X / 255, split.X_test / 255
    cws = ConsistentWeightedSampling(n_hashes=1024, random_state=0).fit(X)

    def gram(rows: Any) -> Any:
        return min_max_kernel(rows, X)

    ways: list[tuple[str, Any, Any]] = [
        ("linear SVM", lambda rows: rows, LinearSVC(C=0.1, tol=1e-2, max_iter=200)),
        ("map and linear SVM", cws.transform, LinearSVC(tol=1e-2, max_iter=100)),
        ("SVM, exact min-max kernel", gram, SVC(kernel="precomputed", C=10)),
        ("SVM, Gaussian kernel", lambda rows: rows, SVC(C=10)),
        ("boosted trees", lambda rows: rows.toarray(), HistGradientBoostingClassifier()),
    ]
    print(f"{X.shape[0]:,} training rows, {X_test.shape[0]:,} test rows\n")
    print("| | accuracy, % | training, s | µs a label |\n|---|---|---|---|")
    for name, prepare, model in ways:
        start = time.process_time()
        model.fit(prepare(X), split.y)
        middle = time.process_time()
        accuracy = 100 * np.mean(model.predict(prepare(X_test)) == split.y_test)
        a_label = 1e6 * (time.process_time() - middle) / X_test.shape[0]
        print(f"| {name} | {accuracy:.1f} | {middle - start:.1f} | {a_label:.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.beside_peers")
    parser.add_argument("job", choices=("pairs", "label"))
    parser.add_argument("data", help="a file of texts, or a directory of LIBSVM files")
    options = parser.parse_args()
    with threadpool_limits(1):
        {"pairs": pairs, "label": label}[options.job](options.data)
    names = ("numpy", "scipy", "scikit-learn")
    print(f"\n{machine()}; Python {platform.python_version()}, ", end="")
    print(", ".join(f"{name} {version(name)}" for name in names))


if __name__ == "__main__":
    main()
