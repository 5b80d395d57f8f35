"""
When does a product of kernels help?
====================================

`KernelProduct` multiplies two kernels, so a pair of rows is similar only if both kernels say so.
The code of each sample includes the bits of the second map, and the number of entries per row stays
the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC, LinearSVC

from sparsemaps import ConsistentWeightedSampling, KernelProduct, SignProjection
from sparsemaps.kernels import acos_kernel, min_max_kernel

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)


def product(k):
    maps = (ConsistentWeightedSampling(n_hashes=k), SignProjection(n_hashes=k))
    return KernelProduct(maps=maps, random_state=0)


def accuracy(features):
    model = LinearSVC(random_state=0).fit(features.fit_transform(X), y)
    return 100 * model.score(features.transform(X_test), y_test)


sizes = [16, 32, 64, 128, 256]
curves = {
    "min-max": [accuracy(ConsistentWeightedSampling(n_hashes=k, random_state=0)) for k in sizes],
    "acos": [accuracy(SignProjection(n_hashes=k, random_state=0)) for k in sizes],
    "min-max × acos": [accuracy(product(k)) for k in sizes],
}

exact_kernels = {
    "min-max": min_max_kernel,
    "acos": acos_kernel,
    "min-max × acos": lambda X, Y=None: min_max_kernel(X, Y) * acos_kernel(X, Y),
}

# %%
# Above: estimates of the product, compared with its exact values. Below: the test accuracy on the
# features. Horizontal lines show SVMs with the exact kernels (dotted), a linear model on the
# pixels, and boosted trees.

rows = X[:60]
exact = min_max_kernel(rows) * acos_kernel(rows)
Z = product(512).fit_transform(rows)
upper = np.triu_indices(60, 1)

figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 6.5), layout="constrained")
above.plot(exact[upper], (Z @ Z.T).toarray()[upper], ".", markersize=2)
above.plot([0, exact[upper].max()], [0, exact[upper].max()], color="black", linewidth=1)
above.set(xlabel="exact min-max × acos", ylabel="estimate from 512 samples")
for name, values in curves.items():
    (line,) = below.semilogx(sizes, values, "o-", markersize=4, label=name)
    score = 100 * SVC(kernel=exact_kernels[name], C=10).fit(X, y).score(X_test, y_test)
    below.axhline(score, color=line.get_color(), linewidth=1, linestyle=":")
    print(
        f"{name}: {values[-1]:.1f} % with {sizes[-1]} samples, {score:.1f} % with the exact kernel"
    )
plain = {
    "linear, on the pixels": (make_pipeline(Normalizer(), LinearSVC(random_state=0)), "--"),
    "boosted trees": (HistGradientBoostingClassifier(max_features=0.3, random_state=0), "-."),
}
for name, (model, style) in plain.items():
    score = 100 * model.fit(X, y).score(X_test, y_test)
    below.axhline(score, color="black", linewidth=1, linestyle=style, label=name)
    print(f"{name}: {score:.1f} %")
below.set(xlabel="samples", ylabel="test accuracy, %")
below.set_xticks(sizes, [str(size) for size in sizes])
below.minorticks_off()
below.legend(title="dotted: exact kernels", fontsize=10)
plt.show()

# %%
# With 128 samples or more, the product is more accurate than either of its factors and a linear
# model; with 256 samples, it is also more accurate than boosted trees. With fewer samples, the
# min-max kernel alone is better. Among the exact kernels, the product does not beat acos, so
# the gain comes from using few samples.
