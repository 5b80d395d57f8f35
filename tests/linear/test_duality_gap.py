"""The gap that a model names which has not converged."""

import re
import warnings

import numpy as np
import pytest
from _data.chance import SEED
from _oracles.objectives import objective

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.linear import KernelClassifier


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("parameters", [
    {}, {"loss": "hinge"}, {"loss": "log_loss"}, {"fit_intercept": False},
    {"intercept_scaling": 7.0}, {"intercept_scaling": 0.2, "loss": "hinge"},
], ids=str)  # fmt: skip
def test_the_gap_that_a_warning_names(parameters, n_classes):
    """The objective is that of the definition; less the gap, it is at most the least one, and not
    by more than a model that is nearly solved may be off."""
    rng = np.random.default_rng(SEED)
    X = rng.gamma(0.5, size=(150, 12))
    X[rng.random(X.shape) < 0.2] = 0
    y = np.where(rng.random(150) < 0.1, rng.integers(0, 3, 150), X[:, :3].argmax(axis=1))
    y = np.minimum(y, n_classes - 1)
    map = ConsistentWeightedSampling(n_hashes=50, bits=4, random_state=SEED)
    Z = map.fit(X).transform(X)
    how = {"tol": 1e-12, "random_state": 0, **parameters}
    loss, scaling = how.get("loss", "squared_hinge"), how.get("intercept_scaling", 1.0)
    solved = KernelClassifier(map, max_iter=10**5, **{**how, "tol": 1e-7}).fit(X, y)

    def objectives(model):
        """Of each class; of two, that of the second."""
        classes = [1] if n_classes == 2 else range(3)
        return [
            objective(loss, 1.0, Z, np.where(y == k, 1, -1), coef, intercept, scaling)
            for k, coef, intercept in zip(classes, model.coef_, model.intercept_, strict=True)
        ]

    least = objectives(solved)
    for max_iter, off in ((2, np.inf), (40, 1e-2)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = KernelClassifier(map, max_iter=max_iter, **how).fit(X, y)
        if max_iter > 2 and not caught:
            np.testing.assert_allclose(objectives(model), least, rtol=1e-5)
            continue
        label, gap, value = re.search(
            r"gap(?: of class (?:np\.int64\()?(\d)\)?)? is (\S+), its objective (\S+)\. ",
            str(caught[0].message),
        ).groups()
        number = int(label or 0)
        assert float(value) == pytest.approx(objectives(model)[number], rel=1e-5)
        assert float(value) - float(gap) <= least[number] * (1 + 1e-5)
        assert abs(float(gap)) <= min(float(value), off * least[number])
