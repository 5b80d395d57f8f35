"""
Ten nearest neighbours: by codes, or by cosine?
===============================================

Each text gets the most frequent label among its ten nearest neighbours. `KernelNeighbors` compares
packed codes. `rerank=True` sorts the best candidates by the exact kernel.
"""

import pydoc
import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.sparse
import scipy.special
import scipy.stats
import sklearn.cluster
import sklearn.datasets
import sklearn.ensemble
import sklearn.linear_model
import sklearn.metrics
import sklearn.preprocessing
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.neighbors import KernelNeighbors

# %%
# The rows are word counts of docstrings. The label is the module.

modules = [
    np, np.linalg, np.random, np.ma, np.fft,
    scipy.linalg, scipy.ndimage, scipy.signal, scipy.sparse, scipy.special, scipy.stats,
    sklearn.cluster, sklearn.datasets, sklearn.ensemble, sklearn.linear_model, sklearn.metrics,
    sklearn.preprocessing,
]  # fmt: skip
texts = {}
for label, module in enumerate(modules):
    for name in dir(module):
        text = pydoc.getdoc(getattr(module, name))
        if not name.startswith("_") and len(text) > 300:
            texts.setdefault(text, label)
train, test, y, y_test = train_test_split(
    list(texts), np.array(list(texts.values())), test_size=0.5, random_state=0
)
counts = CountVectorizer(min_df=2).fit(train)
X, X_test = counts.transform(train).astype(float), counts.transform(test).astype(float)
print(f"{len(texts)} texts of {len(modules)} modules, {X.nnz / X.shape[0]:.0f} words a text")

# %%
# Find the ten nearest neighbours with each index, on word counts or on tf-idf, and count how often
# their vote is correct.

tfidf = TfidfTransformer(sublinear_tf=True).fit(X)
rows = {"counts": (X, X_test), "tf-idf": (tfidf.transform(X), tfidf.transform(X_test))}


def vote(index, kind):
    known, queries = rows[kind]
    index.fit(known)
    start = time.process_time()
    neighbours = index.kneighbors(queries, return_distance=False)
    seconds = time.process_time() - start
    winners = [np.bincount(y[row], minlength=len(modules)).argmax() for row in neighbours]
    return 100 * np.mean(winners == y_test), 1e6 * seconds / len(y_test)


minmax = ConsistentWeightedSampling(n_hashes=256, random_state=0)
minhash = MinHash(n_hashes=256, random_state=0)
found = {
    "cosine of counts, exact": vote(NearestNeighbors(n_neighbors=10, metric="cosine"), "counts"),
    "cosine of tf-idf, exact": vote(NearestNeighbors(n_neighbors=10, metric="cosine"), "tf-idf"),
    "min-max of counts, codes": vote(KernelNeighbors(minmax, n_neighbors=10), "counts"),
    "min-max of tf-idf, codes": vote(KernelNeighbors(minmax, n_neighbors=10), "tf-idf"),
    "min-max of tf-idf, codes, rerank": vote(
        KernelNeighbors(minmax, n_neighbors=10, rerank=True), "tf-idf"
    ),
    "Jaccard, codes": vote(KernelNeighbors(minhash, n_neighbors=10), "counts"),
}

# %%

figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 6), layout="constrained")
names = list(found)
colors = ["C7", "C7", "C0", "C0", "C0", "C1"]
for ax, values, label in zip(
    (above, below), zip(*found.values()), ("test accuracy, %", "µs per query, with mapping")
):
    ax.barh(names, values, color=colors)
    ax.bar_label(ax.containers[0], fmt="%.0f", padding=3)
    ax.set(xlabel=label)
    ax.invert_yaxis()
    ax.tick_params(axis="y", labelsize=10)
above.set(xlim=(0, 115), xticks=range(0, 101, 25))
below.margins(x=0.25)
plt.show()

# %%
# On word counts, neighbours by codes of 256 bytes are correct more often than neighbours by cosine.
# But tf-idf matters more than the kernel: with it, the cosine is the most accurate, three points
# ahead of min-max codes. Sorting the candidates by the exact kernel adds a point, at ten times the
# cost.
#
# So use codes if memory and time matter. On the 20 groups of news20, the vote of ten neighbours is
# correct for 39 % of the texts by cosine of counts, and for 73 % by cosine of tf-idf, in 3 seconds.
# Codes of tf-idf reach 66 % in 0.2 s, and 71 % sorted by the exact kernel: see
# :doc:`the results </results/index>`.
