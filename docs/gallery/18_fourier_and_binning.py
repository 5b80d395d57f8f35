"""
Fourier, binning, or both?
==========================

`RandomFourier` fits smooth functions well, and `RandomBinning` functions with jumps. The function
in this example is a wave with a jump. All models have the same number of features per row: all of
one kind, or half of each.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline

from sparsemaps import RandomBinning, RandomFourier

rng = np.random.default_rng(0)
train, test = rng.uniform(0, 2, (2, 1000, 2))


def truth(X):
    return np.sin(10 * X[:, 0] + 6 * X[:, 1]) + 1.5 * (X[:, 1] > 1)


y = truth(train) + rng.normal(scale=0.2, size=1000)


def fourier(n):
    return RandomFourier(n_components=n, gamma=30, random_state=0)


def binning(n):
    return RandomBinning(n_grids=n, n_bins=2**8, gamma=3, random_state=0)


def half_of_each(n):
    return FeatureUnion([("fourier", fourier(n // 2)), ("binning", binning(n // 2))])


# %%
# The kernel of the combined features is the sum of the two kernels, because inner products add up.
# Horizontal lines show ridge regression with the exact sum of both kernels, boosted trees, and
# ridge regression on the two columns themselves.


def kernel(x, z):
    far = np.abs(x - z)
    return (np.exp(-30 * (far**2).sum()) + np.exp(-3 * far.sum())) / 2


plain = {
    "linear": (Ridge(alpha=0.1), "-."),
    "boosted trees": (HistGradientBoostingRegressor(max_iter=400, random_state=0), ":"),
    "exact kernel, both": (KernelRidge(kernel=kernel, alpha=0.1), "--"),
}

sizes = [64, 128, 256, 512, 1024]
figure, ax = plt.subplots(figsize=(5.2, 3.8), layout="constrained")
for name, (model, style) in plain.items():
    error = np.sqrt(np.mean((model.fit(train, y).predict(test) - truth(test)) ** 2))
    ax.axhline(error, color="black", linestyle=style, linewidth=1, label=name)
    print(f"{name}: {error:.3f}")
for features in (fourier, binning, half_of_each):
    errors = []
    for size in sizes:
        model = make_pipeline(features(size), Ridge(alpha=0.1)).fit(train, y)
        errors.append(np.sqrt(np.mean((model.predict(test) - truth(test)) ** 2)))
    name = features.__name__.replace("_", " ")
    ax.loglog(sizes, errors, "o-", markersize=4, label=name)
    print(name, np.round(errors, 3))
ax.set(xlabel="features per row", ylabel="root mean square error")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.set_yticks([0.1, 0.2, 0.4, 0.8], ["0.1", "0.2", "0.4", "0.8"])
ax.minorticks_off()
figure.legend(loc="outside lower center", ncols=3, fontsize=10)
plt.show()

# %%
# With 128 features or more, half of each kind gives a smaller error than the same number of one
# kind. With 256, the error is smaller than that of either kind with 1,024, and close to that of the
# exact kernel. Boosted trees split along the axes, and would need more rows to fit this wave. A
# linear model cannot fit it at all.
