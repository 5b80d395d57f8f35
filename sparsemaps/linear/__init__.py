"""Linear models on packed codes: training and scores, without one-hot features.

- ``_calibration`` converts scores to probabilities.
- ``_classifier`` has `KernelClassifier`, and ``_regressor`` has `KernelRegressor`.
- ``_cross_validated`` has `KernelClassifierCV` and `KernelRegressorCV`, which choose C.
- ``_path_of_C`` trains models along a path of increasing C, and scores them on held-out rows.
- ``_model`` has their common base, which encodes rows, solves the problems and computes scores.
  ``_model_state`` has the parameters and the learned attributes.
- ``_model_checks`` checks parameters, and the codes and weights of rows.
- ``_indicators`` has the indicator matrices of rows with several labels.
- ``_explanation`` finds the n-grams that determine a score. ``_model_file`` reads and writes model
  files; ``_saved`` has `load_model`.
- ``_training_facts`` has what a file records about its training: when, and on how many records.
- ``_losses`` has the losses: the objective, its dual, and the stopping rule.
- ``_documentation`` has parts shared by the docstrings.
- ``_solver`` solves the problems in threads, by alternating between groups of them, and block by
  block if the codes do not fit into memory.

Train a model of a map's kernel, from codes of 256 bytes per row:

>>> from sklearn.datasets import load_digits
>>> from sparsemaps import ConsistentWeightedSampling
>>> from sparsemaps.linear import KernelClassifier
>>> X, y = load_digits(return_X_y=True)
>>> codes = ConsistentWeightedSampling(random_state=0).fit(X).encode(X, packed=True)
>>> model = KernelClassifier(ConsistentWeightedSampling(random_state=0), random_state=0)
>>> bool(model.fit(codes[:1000], y[:1000]).score(codes[1000:], y[1000:]) > 0.94)
True
"""

from sparsemaps.linear._classifier import KernelClassifier
from sparsemaps.linear._cross_validated import KernelClassifierCV, KernelRegressorCV
from sparsemaps.linear._regressor import KernelRegressor
from sparsemaps.linear._saved import load_model

__all__ = [
    "KernelClassifier",
    "KernelClassifierCV",
    "KernelRegressor",
    "KernelRegressorCV",
    "load_model",
]
