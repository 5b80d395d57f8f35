"""
Regression: smooth, or in steps?
================================

Ridge regression on random features fits functions that a linear model cannot. `RandomFourier` and
`Fastfood` give smooth fits. `RandomBinning` gives step functions, as boosted trees do. The function
in this example is smooth except for one jump. For comparison, the last row shows ridge
regression with the exact kernels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from sparsemaps import Fastfood, RandomBinning, RandomFourier

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 6, 200))[:, None]


def truth(x):
    return np.where(x < 3, np.sin(3 * x), 2.5 - 0.4 * x).ravel()


y = truth(x) + rng.normal(scale=0.2, size=200)
maps = [
    RandomFourier(n_components=512, gamma=5, random_state=0),
    Fastfood(n_components=512, gamma=5, random_state=0),
    RandomBinning(n_grids=512, n_bins=2**8, gamma=1, random_state=0),
]
models = {type(map).__name__: make_pipeline(map, Ridge(alpha=0.3)) for map in maps}
models["boosted trees"] = HistGradientBoostingRegressor(random_state=0)
models["exact Gaussian kernel"] = KernelRidge(alpha=0.3, kernel="rbf", gamma=5)
models["exact Laplacian kernel"] = KernelRidge(alpha=0.3, kernel="laplacian", gamma=1)
grid = np.linspace(0, 6, 600)[:, None]

# %%

figure, axes = plt.subplots(3, 2, figsize=(5.2, 7), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items()):
    model.fit(x, y)
    error = np.sqrt(np.mean((model.predict(grid) - truth(grid)) ** 2))
    ax.plot(x, y, ".", color="lightgray", markersize=4)
    ax.plot(grid, truth(grid), color="black", linewidth=0.8)
    ax.plot(grid, model.predict(grid), linewidth=1.5)
    ax.set_title(f"{name}\nerror {error:.3f}", fontsize=10)
figure.supxlabel("x")
figure.supylabel("y")
plt.show()

# %%
# Gray points: the training rows. Black: the function they come from. Blue: the model.
#
# `RandomBinning` follows the jump within a few of its steps, while the smooth fits round it off and
# oscillate around it. Elsewhere, the smooth fits are closer, so the three errors are almost equal,
# and equal to those of the exact kernels. The error of boosted trees is half as large again.
