"""``python -m experiments.time_to_label DIRECTORY``: how soon a row has its label.

The digits of mnist (``mnist.train.svm.xz``, ``mnist.test.svm.xz`` in the directory), trained on
10,000 rows: accuracy, the time of training, and the time from a row to its label, by one thread.
Times are of the processor.
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
from sparsemaps import ConsistentWeightedSampling
from sparsemaps.kernels import min_max_kernel


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
    parser = argparse.ArgumentParser(prog="python -m experiments.time_to_label")
    parser.add_argument("directory", help="where the LIBSVM files of mnist are")
    options = parser.parse_args()
    with threadpool_limits(1):
        label(options.directory)
    names = ("numpy", "scipy", "scikit-learn")
    print(f"\n{machine()}; Python {platform.python_version()}, ", end="")
    print(", ".join(f"{name} {version(name)}" for name in names))


if __name__ == "__main__":
    main()
