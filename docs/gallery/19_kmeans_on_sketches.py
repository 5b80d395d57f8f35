"""
Which clusters does k-means miss?
=================================

k-means separates groups by the means of their columns. In this example, all means are 0, and groups
differ only in which columns vary together. The features of `TensorSketch` with degree 2 contain the
products of all pairs of columns, and hence their correlations. Can k-means find the groups there?
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import PolynomialFeatures, normalize

from sparsemaps import TensorSketch

# %%
# There are five groups of 300 rows with 200 columns. Each group divides the columns into 20 bundles
# of ten in its own way. Each row moves four bundles up or down.

rng = np.random.default_rng(0)
rows, groups = [], np.repeat(np.arange(5), 300)
for _ in range(5):
    bundles = rng.permutation(200).reshape(20, 10)
    for _ in range(300):
        row = np.zeros(200)
        for bundle in rng.choice(20, 4, replace=False):
            row[bundles[bundle]] = rng.choice([-1, 1])
        rows.append(row + rng.normal(scale=0.3, size=200) * (row != 0))
X = normalize(sp.csr_array(np.array(rows)))
print(f"{X.shape[0]} rows of {X.nnz / X.shape[0]:.0f} entries; mean of a column {X.mean():.4f}")


def agreement(features):
    """Adjusted Rand index of the groups and of k-means' clusters: 1 is all right, 0 by chance."""
    found = KMeans(5, n_init=3, random_state=0).fit_predict(features)
    return adjusted_rand_score(groups, found)


# %%
# Run k-means on the columns, on sketches of several sizes, and on all 20,100 products of two
# columns.

columns = agreement(X)
products = agreement(PolynomialFeatures((2, 2), include_bias=False).fit_transform(X))
sizes = [64, 128, 256, 512, 1024]
sketches = [
    agreement(TensorSketch(n_components=size, degree=2, random_state=0).fit_transform(X))
    for size in sizes
]
print(f"columns {columns:.2f}, sketches {np.round(sketches, 2)}, products {products:.2f}")

# %%

figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
ax.semilogx(sizes, sketches, "o-", markersize=4, label="TensorSketch, degree 2")
ax.axhline(products, color="C7", linestyle=":", label="all 20,100 products")
ax.axhline(columns, color="black", linewidth=1, linestyle="--", label="the columns themselves")
ax.set(xlabel="components", ylabel="adjusted Rand index", title="k-means, five groups")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# On the columns, k-means finds nothing. On 1,024 components of the sketch, it finds all groups, as
# it does on all 20,100 products.
