"""
How large must a map be?
========================

`kernel_error` measures the error of a map, compared with its exact kernel. The dashed lines show
the errors that follow from the published variances.
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
# The size of a map whose error is at most 0.05 with a probability of 95 %, for the worst pair of
# rows:

for make in (RandomFourier(), SignProjection(), ConsistentWeightedSampling(t_bits=8)):
    print(type(make).__name__, min_components(make, 0.05))

# %%

figure, axes = plt.subplots(4, 2, figsize=(5.2, 7), sharex=True, sharey=True, layout="constrained")
for ax, (name, make) in zip(axes.flat, maps.items()):
    errors = [kernel_error(make(k), X, n_pairs=2000, n_seeds=12, random_state=0) for k in sizes]
    ax.loglog(sizes, [error.rmse for error in errors], "o", markersize=4)
    ax.loglog(sizes, [error.theory_rmse for error in errors], "k--", linewidth=1)
    ax.set_title(name, fontsize=10)
    ax.set_xticks(sizes[::3], [str(size) for size in sizes[::3]])
    ax.minorticks_off()
figure.supxlabel("components")
figure.supylabel("RMS error of the kernel")
plt.show()

# %%
# The measured errors agree with the theory. The points of the two sketches scatter more than the
# others because all pairs of rows share the collisions of a sketch. The error of 4-bit codes levels
# off because one in 16 codes agrees by chance, however many samples there are.
