"""
Probabilities that hold
=======================

Of the rows that get a label with a probability of .8, eight of ten should have it. Three models of
one data set: logistic loss with the default C, logistic loss with C = 100, and the default loss
with ``calibrate``. Logistic regression on the pixels, and boosted trees, stand beside them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.linear import KernelClassifier

# %%
# Digits, with noise that makes some of them hard to read: 900 train, 897 are tested. The model is
# calibrated by scores out of five folds of those that train.

X, y = load_digits(return_X_y=True)
X = np.maximum(X + np.random.default_rng(0).normal(0, 4, X.shape), 0)
X, X_test, y, y_test = train_test_split(X, y, train_size=900, random_state=0)
samples = ConsistentWeightedSampling(n_hashes=256, random_state=0)
of_probabilities = {"loss": "log_loss", "random_state": 0}
models = {
    "log_loss, C = 1": KernelClassifier(samples, **of_probabilities).fit(X, y),
    "log_loss, C = 100": KernelClassifier(samples, C=100, **of_probabilities).fit(X, y),
    "calibrate": KernelClassifier(samples, random_state=0).fit(X, y).calibrate(X, y, cv=5),
    "pixels": make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500)).fit(X, y),
    "boosted trees": HistGradientBoostingClassifier(max_features=0.3, random_state=0).fit(X, y),
}

# %%
# The test rows are sorted by the probability of their label, and cut into ten bins of as many rows.
# The expected calibration error is the mean distance of the points from the diagonal.

figure, ax = plt.subplots(figsize=(5.5, 5))
ax.plot([0, 1], [0, 1], color="0.7", zorder=0)
for (name, model), marker in zip(models.items(), "osD^v", strict=True):
    probabilities = model.predict_proba(X_test)
    confidence = probabilities.max(axis=1)
    is_right = model.classes_[probabilities.argmax(axis=1)] == y_test
    bins = np.array_split(np.argsort(confidence), 10)
    mean = np.array([confidence[rows].mean() for rows in bins])
    share = np.array([is_right[rows].mean() for rows in bins])
    error = np.abs(mean - share).mean()
    ax.plot(mean, share, marker=marker, label=f"{name}: error {error:.3f}")
    print(f"{name}: {is_right.mean():.1%} right, mean probability {confidence.mean():.1%}")
ax.set(xlabel="mean probability of the label", ylabel="share of right labels")
ax.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
ax.legend(loc="lower right", frameon=False)
figure.tight_layout()
plt.show()

# %%
# With C = 1 the probabilities of logistic loss are far too low: rows have length 1, so that weights
# would have to be large. Calibration needs no C to be found, and works for every loss. Boosted
# trees are right as often, and too sure of it.
