"""
Clusters of any shape: does a neighbour graph find them?
========================================================

The versions of a document form a chain: each is similar to the previous one, and the last may not
share a word with the first. k-means looks for round clusters. Spectral clustering cuts a graph of
nearest neighbours where it has the fewest edges. `KernelNeighbors` computes this graph from packed
codes, in the form that scikit-learn's `SpectralClustering` accepts.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import normalize

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.neighbors import KernelNeighbors

# %%
# There are five documents of 200 words in 100 versions each. In each version, a share of the words
# is replaced. Words follow Zipf's law, without the most frequent ones.

documents = np.repeat(np.arange(5), 100)
often = 1 / np.arange(5, 3005)
often /= often.sum()


def versions(share):
    """Counts of words, a row for each version."""
    rng = np.random.default_rng(0)
    rows = []
    for version in range(len(documents)):
        if version % 100 == 0:
            words = rng.choice(3000, 200, p=often)
        changed = rng.random(200) < share
        words = np.where(changed, rng.choice(3000, 200, p=often), words)
        rows.append(np.bincount(words, minlength=3000))
    return sp.csr_array(np.array(rows, dtype=float))


# %%
# The graph connects each row with itself and its five nearest neighbours. The adjusted Rand index
# is 1 if the clusters are the documents, and 0 on average for random clusters. scikit-learn warns
# if the graph is not connected. This is harmless here because its parts are documents.

warnings.filterwarnings("ignore", message="Graph is not fully connected")


def of_rows(X):
    return KMeans(5, n_init=5, random_state=0).fit_predict(normalize(X))


def of_graph(neighbours, X):
    graph = neighbours.fit(X).kneighbors_graph(X, mode="distance")
    spectral = SpectralClustering(
        5, n_neighbors=5, affinity="precomputed_nearest_neighbors", random_state=0
    )
    return spectral.fit_predict(graph)


def weighted(X):
    return TfidfTransformer(sublinear_tf=True).fit_transform(X)


def by_cosine(X):
    return of_graph(NearestNeighbors(n_neighbors=6, metric="cosine"), weighted(X))


def by_codes(X):
    minhash = MinHash(n_hashes=256, random_state=0)
    return of_graph(KernelNeighbors(minhash, n_neighbors=6), X)


def by_weighted_codes(X):
    minmax = ConsistentWeightedSampling(n_hashes=256, random_state=0)
    return of_graph(KernelNeighbors(minmax, n_neighbors=6), weighted(X))


ways = {
    "k-means on the words": (of_rows, "k--"),
    "spectral, neighbours by cosine of tf-idf, exact": (by_cosine, "C7o-"),
    "spectral, neighbours by codes of words": (by_codes, "C0o-"),
    "spectral, neighbours by codes of tf-idf": (by_weighted_codes, "C1o-"),
}
shares = [0.05, 0.1, 0.2, 0.3, 0.4]
curves = {name: [] for name in ways}
for share in shares:
    X = versions(share)
    for name, (clusters, _) in ways.items():
        curves[name].append(adjusted_rand_score(documents, clusters(X)))

# %%

figure, ax = plt.subplots(figsize=(5.2, 5), layout="constrained")
for name, (_, style) in ways.items():
    print(f"{name}: {np.round(curves[name], 2)}")
    ax.plot([100 * share for share in shares], curves[name], style, markersize=4, label=name)
ax.set(xlabel="words replaced from version to version, %", ylabel="adjusted Rand index")
ax.set_ylim(-0.05, 1.05)
figure.legend(loc="outside lower center", fontsize=10)
plt.show()

# %%
# With exact cosines of tf-idf, and with codes of tf-idf, all versions are assigned to their
# documents if up to three tenths of the words are replaced. At two fifths, the exact cosines assign
# most of them, and codes of the plain words are better than codes of tf-idf. Codes take 256 bytes
# per version. k-means fails.
