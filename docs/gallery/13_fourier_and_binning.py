"""
Fourier and binning together
============================

Does it pay to put Fourier and binning features side by side? `RandomFourier` fits what is smooth,
`RandomBinning` what jumps. The function below is a wave in one column and has two jumps in another.
Each model has the same number of features a row; of both maps together, half of them are of each
kind.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.pipeline import FeatureUnion, make_pipeline

from sparsemaps import RandomBinning, RandomFourier

rng = np.random.default_rng(0)


def truth(X):
    return np.sin(5 * X[:, 0]) + 1.5 * ((X[:, 1] > 0.8) ^ (X[:, 1] > 1.3))


train, validation, test = (rng.uniform(0, 2, (1500, 2)) for _ in range(3))
y = truth(train) + rng.normal(scale=0.2, size=1500)
y_validation = truth(validation) + rng.normal(scale=0.2, size=1500)


def fourier(n):
    return RandomFourier(n_components=n, gamma=5, random_state=0)


def binning(n):
    return RandomBinning(n_grids=n, n_bins=2**8, gamma=1, random_state=0)


def together(n):
    return FeatureUnion([("fourier", fourier(n // 2)), ("binning", binning(n // 2))])


# %%
# Ridge regression, whose alpha is the best of four on other rows.


def error(features):
    found = []
    for alpha in (0.01, 0.1, 1.0, 10.0):
        model = make_pipeline(features, Ridge(alpha=alpha)).fit(train, y)
        rows = [(validation, y_validation), (test, truth(test))]
        found.append([np.sqrt(np.mean((model.predict(X) - of_rows) ** 2)) for X, of_rows in rows])
    return min(found)[1]


sizes = [32, 64, 128, 256, 512]
for make in (fourier, binning, together):
    errors = [error(make(size)) for size in sizes]
    plt.loglog(sizes, errors, "o-", label=make.__name__)
    print(make.__name__, np.round(errors, 3))
plt.xticks(sizes, sizes)
plt.minorticks_off()
plt.xlabel("features of a row")
plt.ylabel("error on test rows, without noise")
plt.legend()
plt.show()

# %%
# At every size but the smallest, half of each kind is more accurate than all of one kind.
