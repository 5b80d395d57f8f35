"""
How many labels does a neighbour graph save?
============================================

Labels are expensive, but rows are not. scikit-learn's `LabelSpreading` propagates labels along a
graph of nearest neighbours, so that unlabelled rows help too. `KernelNeighbors` computes the graph,
here from the signs of 2,048 projections: 256 bytes per row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC, LinearSVC

from sparsemaps import SignProjection
from sparsemaps.neighbors import KernelNeighbors

X, y = load_digits(return_X_y=True)
signs = SignProjection(n_hashes=2048, random_state=0)


def graph_of(neighbours):
    graph = neighbours.fit(X).kneighbors_graph(n_neighbors=7)
    return graph.maximum(graph.T)  # neighbours are neighbours of each other


by_codes = graph_of(KernelNeighbors(signs))
by_distance = graph_of(NearestNeighbors())  # exact
pixels, features = normalize(X), signs.fit_transform(X)

# %%
# The same number of rows of each digit has a label. These rows are drawn five times. The task is to
# label all other rows.


def spread(graph, labelled):
    model = LabelSpreading(kernel=lambda X, Y: graph, alpha=0.95, max_iter=200, tol=1)
    return model.fit(X, np.where(labelled, y, -1)).transduction_


def linear(rows, labelled):
    return LinearSVC(tol=1e-2, random_state=0).fit(rows[labelled], y[labelled]).predict(rows)


def by_kernel(labelled):
    return SVC(C=10).fit(X[labelled], y[labelled]).predict(X)


ways = {
    "labels spread on the graph": (lambda labelled: spread(by_codes, labelled), "C0o-"),
    "the same by exact distances": (lambda labelled: spread(by_distance, labelled), "C1o-"),
    "linear, on features of the signs": (lambda labelled: linear(features, labelled), "C7o-"),
    "linear, on the pixels": (lambda labelled: linear(pixels, labelled), "k--"),
    "SVM, exact Gaussian kernel": (by_kernel, "k-."),
}
sizes = [1, 2, 4, 8, 16, 32]
curves = {name: np.zeros(len(sizes)) for name in ways}
for column, size in enumerate(sizes):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        labelled = np.zeros(len(y), bool)
        for digit in range(10):
            labelled[rng.choice(np.flatnonzero(y == digit), size, replace=False)] = True
        for name, (predict, _) in ways.items():
            right = predict(labelled)[~labelled] == y[~labelled]
            curves[name][column] += 20 * right.mean()

# %%

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
labels = [10 * size for size in sizes]
for name, (_, style) in ways.items():
    print(f"{name}: {np.round(curves[name], 1)}")
    ax.semilogx(labels, curves[name], style, markersize=4, label=name)
ax.set(xlabel=f"rows with a label, of {len(y)}", ylabel="accuracy on the others, %")
ax.set_xticks(labels, [str(label) for label in labels])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# With two labels per digit, the graph labels as many of the other rows correctly as a linear model
# does with sixteen labels per digit. The graph of exact distances is as good. It takes time in
# proportion to the square of the number of rows, so codes pay off only for many rows.
