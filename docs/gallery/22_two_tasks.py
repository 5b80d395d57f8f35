"""
Two tasks on one map: what does the second one cost?
====================================================

A map learns nothing from labels, so the same features serve every task on the rows. In this
example, one model recognizes the digit, and another one decides whether the digit is even. The rows
are mapped once, and both models use the same features.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize
from sklearn.svm import SVC, LinearSVC

from sparsemaps import ConsistentWeightedSampling

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
tasks = {"which digit?": (y, y_test), "is it even?": (y % 2, y_test % 2)}

# %%
# Train a linear model for each task, on the pixels and on the features of the map. For comparison,
# train boosted trees and an SVM with the exact Gaussian kernel for each task.

cws = ConsistentWeightedSampling(n_hashes=512, random_state=0)
Z, Z_test = cws.fit_transform(X), cws.transform(X_test)
unit, unit_test = normalize(X), normalize(X_test)


def fitted(rows, labels):
    return LinearSVC(tol=1e-2, random_state=0).fit(rows, labels)


models = {name: fitted(Z, labels) for name, (labels, _) in tasks.items()}
trees = HistGradientBoostingClassifier(max_features=0.3, random_state=0)
of_trees, of_kernel = (
    [100 - 100 * model.fit(X, labels).score(X_test, truth) for labels, truth in tasks.values()]
    for model in (trees, SVC(C=10))
)
on_map = [100 - 100 * models[name].score(Z_test, truth) for name, (_, truth) in tasks.items()]
on_pixels = [
    100 - 100 * fitted(unit, labels).score(unit_test, truth) for labels, truth in tasks.values()
]

# %%
# Measure the time from the rows to the labels of the test rows: the least CPU time of several
# calls.


def microseconds(call):
    times = []
    for _ in range(9):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return 1e6 * min(times) / len(y_test)


mapping = microseconds(lambda: cws.transform(X_test))
answers = [microseconds(lambda model=model: model.predict(Z_test)) for model in models.values()]

# %%

figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 6.5), layout="constrained")
for offset, values, color, name in (
    (-0.3, on_pixels, "C7", "linear, on the pixels"), (-0.1, of_trees, "C3", "boosted trees"),
    (0.1, on_map, "C0", "linear, on the map"), (0.3, of_kernel, "C4", "exact Gaussian kernel"),
):  # fmt: skip
    bars = above.bar(np.arange(2) + offset, values, 0.2, color=color, label=name)
    above.bar_label(bars, fmt="%.1f")
above.set(ylabel="test error, %")
above.set_xticks(range(2), list(tasks))
above.margins(y=0.75)
above.legend(loc="upper left")
names = ["a map for each task", "one map for both"]
below.bar(names, [2 * mapping, mapping], color="C0", label="mapping")
bottom = np.array([2 * mapping, mapping])
for color, task, cost in zip(("C1", "C2"), tasks, answers):
    below.bar(names, cost, bottom=bottom, color=color, label=task)
    bottom += cost
below.set(ylabel="µs per row, both answers")
below.legend()
plt.show()

# %%
# The second task costs only its linear model, which takes little time compared with the map. On
# both tasks, the map has a smaller error than the pixels, on the second one less than half as
# large. Boosted trees are better than the map on the second task, and the exact kernel is better on
# both. With so few rows, use the exact kernel.
