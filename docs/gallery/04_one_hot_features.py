"""
Do rows of one class share features?
====================================

Each sample of `ConsistentWeightedSampling` becomes the 1 of one among 2\\ :sup:`bits` columns. A
linear model can tell classes apart if rows of one class have their ones in the same columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from sparsemaps import ConsistentWeightedSampling

X, y = load_digits(return_X_y=True)
rows = np.concatenate([np.flatnonzero(y == digit)[:12] for digit in (0, 1, 4)])
cws = ConsistentWeightedSampling(n_hashes=24, bits=4, random_state=0)
Z = cws.fit_transform(X[rows])
print(f"{Z.shape[1]} columns, {Z.nnz // Z.shape[0]} of them not zero in each row")

# %%
# On the left the features of three times 12 digits; on the right their inner products.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8, 4), width_ratios=[2, 1], layout="constrained"
)
left.imshow(Z.toarray() > 0, aspect="auto", cmap="Blues", interpolation="nearest")
left.set(xlabel="column: 24 samples, 16 columns each", ylabel="row")
left.set_xticks(np.arange(0, Z.shape[1] + 1, 64))
image = right.imshow((Z @ Z.T).toarray(), cmap="Blues", vmin=0, vmax=1)
right.set(title="samples that agree")
for ax in (left, right):
    ax.set_yticks([6, 18, 30], ["0", "1", "4"])
right.set_xticks([6, 18, 30], ["0", "1", "4"])
figure.colorbar(image, ax=right)
plt.show()

# %%
# They do: the squares on the diagonal are darker than the rest.
