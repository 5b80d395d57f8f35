"""
Probabilities you can rely on
=============================

If a model gives labels a probability of .8, eight of ten should be correct. This example compares
three models of one data set: logistic loss with the default C, logistic loss with C = 100, and the
default loss with ``calibrate``. For comparison, it also shows logistic regression on the pixels,
boosted trees, and an SVM with the exact kernel that scikit-learn's `CalibratedClassifierCV` has
calibrated.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.linear import KernelClassifier

# %%
# The digits have added noise, which makes some of them hard to read. 900 rows are used for
# training, and 897 for testing. The third model is calibrated on the scores of five folds of the
# training rows.

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
    "exact kernel": CalibratedClassifierCV(SVC(C=10), cv=5, ensemble=False).fit(X, y),
}

# %%
# Sort the test rows by the probability of their label, and divide them into ten bins of equal size.
# The expected calibration error is the mean distance of the points from the diagonal.

figure, ax = plt.subplots(figsize=(5.2, 5.5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.7", zorder=0)
for (name, model), marker in zip(models.items(), "osD^vP", strict=True):
    probabilities = model.predict_proba(X_test)
    confidence = probabilities.max(axis=1)
    is_right = model.classes_[probabilities.argmax(axis=1)] == y_test
    bins = np.array_split(np.argsort(confidence), 10)
    mean = np.array([confidence[rows].mean() for rows in bins])
    share = np.array([is_right[rows].mean() for rows in bins])
    error = np.abs(mean - share).mean()
    ax.plot(mean, share, marker=marker, label=f"{name}: error {error:.3f}")
    print(f"{name}: {is_right.mean():.1%} correct, mean probability {confidence.mean():.1%}")
ax.set(xlabel="mean probability of the label", ylabel="share of correct labels")
ax.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="equal")
ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.15), ncols=2, fontsize=10, frameon=False)
plt.show()

# %%
# With C = 1, the probabilities of logistic loss are far too low: rows have length 1, so the weights
# would have to be large. Calibration works for every loss and needs no search for C. Boosted trees
# are correct as often as the map, and overconfident. The exact kernel is the most accurate, and its
# probabilities are too low.
