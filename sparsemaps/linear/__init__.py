"""Linear models on packed codes: training and scores, without one-hot features.

- ``_calibration`` makes probabilities of scores.
- ``_classifier`` has `KernelClassifier`, and ``_regressor`` has `KernelRegressor`.
- ``_cross_validated`` has `KernelClassifierCV` and `KernelRegressorCV`, which choose C.
- ``_path_of_C`` trains models along a path of growing C, and scores them on held-out rows.
- ``_model`` has what they share: rows become codes, problems are solved, rows get scores.
  ``_model_state`` has the parameters, and what a model learns.
- ``_model_checks`` checks parameters, and codes and weights of rows.
- ``_indicators`` has the matrices of labels if rows may have several.
- ``_explanation`` finds the n-grams that decide a score. ``_model_file`` reads and writes the file
  of a model; ``_saved`` has `load_model`.
- ``_training_facts`` is what a file says about its training: when, and on how many records.
- ``_losses`` has the losses: the objective, its dual, the rule that ends the passes.
- ``_documentation`` has the parts that docstrings share.
- ``_solver`` solves the problems by turns of the loops, in threads, and in blocks where the
  codes are larger than the memory.

The model of a map's kernel, from codes of 256 bytes a row:

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
