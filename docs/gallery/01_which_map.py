"""
Which map for so many bytes a row?
==================================

On handwritten digits a linear model reaches 95 %, boosted trees 96 %, and an SVM with the exact
Gaussian kernel 99 %. A linear model on the features of a map lies between. Where it lies depends on
the map and on the bytes a row: one-hot maps are counted as packed codes (`encode`), dense ones as
float32.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from sparsemaps import (
    ConsistentWeightedSampling,
    RandomBinning,
    RandomFourier,
    SignProjection,
    TensorSketch,
)

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
unit, unit_test = normalize(X), normalize(X_test)


def accuracy(features, train, test):
    model = LinearSVC(random_state=0).fit(features.fit_transform(train), y)
    return 100 * model.score(features.transform(test), y_test)


# %%
# Each map in several sizes. The sizes of a row: k codes of b bits are k b / 8 bytes.

sizes = [32, 64, 128, 256, 512]
same = {"random_state": 0}
maps = {
    "min-max, 8 bits": (1, X, X_test, lambda k: ConsistentWeightedSampling(n_hashes=k, **same)),
    "min-max, 2 bits": (
        1 / 4, X, X_test, lambda k: ConsistentWeightedSampling(n_hashes=k, bits=2, **same)
    ),
    "acos, 1 bit": (1 / 8, X, X_test, lambda k: SignProjection(n_hashes=k, **same)),
    "Laplacian, 8 bits": (
        1, unit, unit_test, lambda k: RandomBinning(n_grids=k, n_bins=256, gamma=0.3, **same)
    ),
    "Gaussian, float32": (
        4, unit, unit_test, lambda k: RandomFourier(n_components=k, gamma=2, **same)
    ),
    "polynomial, float32": (
        4, unit, unit_test, lambda k: TensorSketch(n_components=k, degree=3, coef0=1, **same)
    ),
}  # fmt: skip
curves = {
    name: [(size * k, accuracy(make(k), train, test)) for k in sizes]
    for name, (size, train, test, make) in maps.items()
}
linear = 100 * LinearSVC(random_state=0).fit(unit, y).score(unit_test, y_test)
trees = HistGradientBoostingClassifier(max_features=0.3, random_state=0).fit(X, y)
plain = {
    "linear, on the pixels": (linear, "--"),
    "boosted trees": (100 * trees.score(X_test, y_test), ":"),
    "SVM, exact Gaussian kernel": (100 * SVC(C=10).fit(X, y).score(X_test, y_test), "-."),
}

# %%
# Accuracy against the size of a row.

figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for name, points in curves.items():
    ax.semilogx(*zip(*points), "o-", markersize=4, label=name)
for name, (score, style) in plain.items():
    ax.axhline(score, color="black", linewidth=1, linestyle=style, label=name)
    print(f"{name}: {score:.1f} %")
ax.set(xlabel="bytes a row", ylabel="test accuracy, %", title="handwritten digits")
figure.legend(loc="outside lower center", ncols=3, fontsize=10)
plt.show()

# %%
# Codes of one or two bits a sample reach the linear model with some 40 bytes a row; float32
# features need 250 and more. From a kilobyte on the Gaussian features are ahead of all maps, and
# near the exact kernel. With so few rows, take the exact kernel.
