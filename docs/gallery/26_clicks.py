"""
Clicks: hashed columns, and the reasons for a score
===================================================

Logs of clicks have many names: advertisements, sites, interests. `FeatureHasher` gives each name
one of a fixed number of columns, so new names need no table, but several names can share a column.
In this example, a model on the map `MinHash` predicts clicks, and ``explain`` tells which columns
a score comes from. The data are generated.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.feature_extraction import FeatureHasher
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from sparsemaps import MinHash
from sparsemaps.kernels import min_max_kernel
from sparsemaps.linear import KernelClassifierCV

# %%
# Each row has an advertisement, a site, a device, and the interests of a visitor. A few
# advertisements and sites have most of the rows, and some get more clicks than others. Visitors
# click more often if an advertisement is about one of their interests, or about the topic of the
# site.

topics = np.array(
    ["books", "cars", "food", "games", "money", "music", "news", "shoes", "sport", "travel"]
)
n_rows, n_train, n_ads, n_sites = 8000, 5000, 250, 200
rng = np.random.default_rng(0)


def choose(n):
    return rng.choice(n, n_rows, p=1 / np.arange(1, n + 1) / (1 / np.arange(1, n + 1)).sum())


ads, sites = choose(n_ads), choose(n_sites)
about, topic = rng.integers(10, size=n_ads)[ads], rng.integers(10, size=n_sites)[sites]
devices = rng.integers(3, size=n_rows)
likes = rng.random((n_rows, 10)) < 0.25
chance = rng.normal(-2, 0.5, n_ads)[ads] + rng.normal(0, 0.5, n_sites)[sites]
chance += 2 * likes[np.arange(n_rows), about] + 1.5 * (about == topic) + 0.5 * (devices == 0)
clicked = rng.random(n_rows) < 1 / (1 + np.exp(-chance))
rows = [
    [f"ad={ad}", f"about={topics[of_ad]}", f"site={site}", f"topic={topics[of_site]}",
     ("phone", "tablet", "computer")[device], *(f"likes={one}" for one in topics[liked])]
    for ad, of_ad, site, of_site, device, liked in zip(ads, about, sites, topic, devices, likes)
]  # fmt: skip
print(*rows[0], clicked[0])

# %%
# The names are hashed to 1,024 columns.

hasher = FeatureHasher(2**10, input_type="string", alternate_sign=False)
X = hasher.transform(rows)
X, X_test, y, y_test = X[:n_train], X[n_train:], clicked[:n_train], clicked[n_train:]
minhash = MinHash(n_hashes=1024, random_state=0)
options = {"loss": "log_loss", "scoring": "roc_auc", "random_state": 0}
model = KernelClassifierCV(minhash, Cs=[0.3, 1, 3, 10], **options).fit(X, y)

# %%
# For comparison, train logistic regression on the same columns, logistic regression on all pairs of
# names (also hashed), boosted trees on numbered categories, and an SVM with the exact kernel.
# Cross-validation chooses C and the size of the trees.


def tuned(estimator, **parameters):
    return GridSearchCV(estimator, parameters, scoring="roc_auc", cv=3)


logistic = LogisticRegression(solver="liblinear")
linear = tuned(logistic, C=[0.03, 0.1, 0.3, 1]).fit(X, y)

pairs = FeatureHasher(2**18, input_type="string", alternate_sign=False).transform(
    [*row, *(a + b for number, a in enumerate(row) for b in row[:number])] for row in rows
)
of_pairs = tuned(logistic, C=[0.03, 0.1, 0.3, 1]).fit(pairs[:n_train], y)

dense = np.column_stack([ads, sites, about, topic, devices, likes])
of_trees = {"max_iter": 200, "max_features": 0.3, "random_state": 0}
trees = HistGradientBoostingClassifier(categorical_features=range(5), **of_trees)
trees = tuned(trees, max_leaf_nodes=[6, 31]).fit(dense[:n_train], y)

exact = SVC(kernel="precomputed").fit(min_max_kernel(X), y)
scores = {
    "linear": linear.decision_function(X_test),
    "boosted trees": trees.decision_function(dense[n_train:]),
    "MinHash": model.decision_function(X_test),
    "exact kernel": exact.decision_function(min_max_kernel(X_test, X)),
    "linear, pairs": of_pairs.decision_function(pairs[n_train:]),
    "the true chance": chance[n_train:],
}

figure, ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")
areas = [roc_auc_score(y_test, values) for values in scores.values()]
bars = ax.barh(list(scores), areas, color=["C7", "C3", "C0", "C4", "C7", "0.8"])
ax.bar_label(bars, fmt="%.3f", padding=3)
ax.invert_yaxis()
ax.set(xlabel="area under the ROC curve (by chance: 0.5)", xlim=(0.5, 0.88))
plt.show()

# %%
# Whether a visitor clicks depends on pairs of names, which a linear model on single names does not
# see. The map, boosted trees and the exact kernel do, and are about equally good (the standard
# error is 0.01). The best model here is linear on all pairs of names. It has 2\ :sup:`18` columns
# instead of 1,024.
#
# Next, explain the score of the row that gets the most likely click. ``explain`` returns numbers of
# columns. Names that share a column cannot be told apart by the model, so they are shown together.

of_column = {}
for name in sorted({name for row in rows for name in row}):
    of_column.setdefault(int(hasher.transform([[name]]).indices[0]), []).append(name)
likely = model.decision_function(X_test).argmax()
(shares,) = model.explain(X_test[likely], True)

figure, ax = plt.subplots(figsize=(5.2, 4), layout="constrained")
named = [" / ".join(of_column[column]) for column, _ in shares][::-1]
values = [share for _, share in shares][::-1]
ax.barh(named, values, color=["C0" if value > 0 else "C3" for value in values])
ax.axvline(0, color="0.3", linewidth=0.8)
ax.grid(alpha=0.3, axis="x")
ax.set(xlabel="share of the score of a click")
plt.show()
print(*rows[n_train + likely])
