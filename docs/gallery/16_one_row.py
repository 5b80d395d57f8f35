"""
How long does it take to label one row?
=======================================

A service receives one row and must answer. A map with a linear model does the same work for every
row. An SVM with the exact kernel compares the row with all training rows.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.kernels import min_max_kernel

# %%
# Generate more training rows from the digits by changing pixels by one.

rng = np.random.default_rng(0)
X, y = load_digits(return_X_y=True)
X_test, y_test = sp.csr_array(X[1297:]), y[1297:]


def training_rows(n):
    rows = rng.integers(0, 1297, n)
    return sp.csr_array(np.clip(X[rows] + rng.integers(-1, 2, (n, 64)) * (X[rows] > 0), 0, 16)), y[
        rows
    ]


def microseconds(predict):
    """The median time of one row's label, of the processor."""
    times = []
    for row in range(200):
        one = X_test[[row]]
        start = time.process_time()
        predict(one)
        times.append(time.process_time() - start)
    return 1e6 * np.median(times)


sizes = [500, 1000, 2000, 4000]
curves = {
    "SVM with the exact kernel": [],
    "map and linear SVM": [],
    "linear SVM, on the pixels": [],
}
for n in sizes:
    Z, labels = training_rows(n)
    svm = SVC(kernel="precomputed", C=10).fit(min_max_kernel(Z), labels)
    pipeline = make_pipeline(
        ConsistentWeightedSampling(n_hashes=512, random_state=0), LinearSVC(random_state=0)
    ).fit(Z, labels)
    exact = 100 * svm.score(min_max_kernel(X_test, Z), y_test)
    print(f"{n} rows: exact {exact:.1f} %, map {100 * pipeline.score(X_test, y_test):.1f} %")

    linear = make_pipeline(Normalizer(), LinearSVC(random_state=0)).fit(Z, labels)
    print(f"  linear, on the pixels {100 * linear.score(X_test, y_test):.1f} %")

    def by_kernel(row, svm=svm, Z=Z):
        return svm.predict(min_max_kernel(row, Z))

    curves["SVM with the exact kernel"].append(microseconds(by_kernel))
    curves["map and linear SVM"].append(microseconds(pipeline.predict))
    curves["linear SVM, on the pixels"].append(microseconds(linear.predict))

# %%

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
for name, values in curves.items():
    ax.plot(sizes, values, "o-", markersize=4, label=name)
ax.set(xlabel="training rows", ylabel="µs from a row to its label", ylim=(0, None))
ax.set_xticks(sizes)
ax.legend(loc="upper left", fontsize=10)
plt.show()

# %%
# The time of the linear models does not depend on the number of training rows, whereas the time of
# the exact SVM grows with it. Of the linear models, the one on the map is more accurate. The exact
# SVM is the most accurate. On the pixels, hardly any of the time is for the product with the
# weights. scikit-learn checks the row twice, in `Normalizer` and in `LinearSVC`.
