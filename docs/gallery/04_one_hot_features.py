"""
Do rows of one class share features?
====================================

Each sample of `ConsistentWeightedSampling` sets one of 2\\ :sup:`bits` columns to 1. A linear model
can separate classes if the rows of a class have their ones in the same columns.
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
# Above: the features of 12 rows each of the digits 0, 1 and 4. Below: their inner products.

figure, (above, below) = plt.subplots(2, 1, figsize=(5.2, 6), layout="constrained")
above.imshow(Z.toarray() > 0, aspect="auto", cmap="Blues", interpolation="nearest")
above.set(xlabel="column: 24 samples, 16 columns each", ylabel="digit")
above.set_xticks(np.arange(0, Z.shape[1] + 1, 64))
image = below.imshow((Z @ Z.T).toarray(), cmap="Blues", vmin=0, vmax=1)
below.set(title="samples that agree")
for ax in (above, below):
    ax.set_yticks([6, 18, 30], ["0", "1", "4"])
below.set_xticks([6, 18, 30], ["0", "1", "4"])
figure.colorbar(image, ax=below)
plt.show()

# %%
# More samples agree in the squares on the diagonal than elsewhere, as rows of one digit share more
# features.
