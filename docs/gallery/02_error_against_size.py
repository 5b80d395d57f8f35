"""
Does theory say how large a map must be?
========================================

`kernel_error` measures a map against its exact kernel; the dashed lines are what the maps'
published variances say.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.preprocessing import normalize

from sparsemaps import (
    ConsistentWeightedSampling,
    CountSketch,
    Fastfood,
    RandomBinning,
    RandomFourier,
    SignProjection,
    TensorSketch,
)
from sparsemaps.approximation import kernel_error, min_components

X, _ = load_digits(return_X_y=True)
X = normalize(X)
sizes = [32, 128, 512, 2048]
maps = {
    "CountSketch": lambda k: CountSketch(n_components=k),
    "TensorSketch": lambda k: TensorSketch(n_components=k),
    "RandomFourier": lambda k: RandomFourier(n_components=k),
    "Fastfood": lambda k: Fastfood(n_components=k),
    "RandomBinning": lambda k: RandomBinning(n_grids=k, gamma=0.3, n_bins=2**12),
    "SignProjection": lambda k: SignProjection(n_hashes=k),
    "min-max, 8 bits": lambda k: ConsistentWeightedSampling(n_hashes=k),
    "min-max, 4 bits": lambda k: ConsistentWeightedSampling(n_hashes=k, bits=4),
}

# %%
# A map for an error of 0.05, with probability 95 %, for the worst pair of rows:

for make in (RandomFourier(), SignProjection(), ConsistentWeightedSampling(t_bits=8)):
    print(type(make).__name__, min_components(make, 0.05))

# %%

figure, axes = plt.subplots(2, 4, figsize=(8, 4), sharex=True, sharey=True, layout="constrained")
for ax, (name, make) in zip(axes.flat, maps.items()):
    errors = [kernel_error(make(k), X, n_pairs=2000, n_seeds=12, random_state=0) for k in sizes]
    ax.loglog(sizes, [error.rmse for error in errors], "o", markersize=4)
    ax.loglog(sizes, [error.theory_rmse for error in errors], "k--", linewidth=1)
    ax.set_title(name, fontsize=10)
    ax.set_xticks(sizes, [str(size) for size in sizes])
    ax.minorticks_off()
figure.supxlabel("components")
figure.supylabel("error of the kernel (RMS)")
plt.show()

# %%
# It does: the points lie on the lines of theory. A sketch has one set of collisions, which all
# pairs of rows share, so that the points of the two sketches scatter more than the others. Codes of
# 4 bits level off: one in 16 agrees by chance, however many samples there are.
