"""Memory of training, and its end by an interrupt."""

import _thread
import threading
import tracemalloc

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import SignProjection, codes
from sparsemaps.linear import KernelClassifier


@pytest.mark.parametrize("n_classes", [2, 9])
def test_memory_beside_the_codes(n_classes):
    """At most 48 bytes for each row and class, and the weights: those of the models, and three
    times those of four that are trained together."""
    rng = np.random.default_rng(SEED)
    n_rows, map = 30_000, SignProjection(n_hashes=8, random_state=0).fit_any_width()
    packed = codes.PackedCodes(
        rng.integers(0, 256, (n_rows, 1), np.uint8), 1, map.to_config(),
        sampled=np.ones(n_rows, bool),
    )  # fmt: skip
    y = rng.integers(0, n_classes, n_rows)
    model = KernelClassifier(map, tol=0.5, random_state=0)
    model.fit(packed[:50], y[:50] % 2)  # what is imported meanwhile does not count
    tracemalloc.start()
    try:
        model.fit(packed, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    n_weights = (n_classes + 12) * 16
    assert peak <= 48 * n_rows * n_classes + 8 * n_weights + 2**16


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_ends_training(n_jobs):
    """A problem that takes hours; turns of threads end too."""
    rng = np.random.default_rng(SEED)
    X, y = rng.gamma(0.5, size=(2000, 12)), rng.integers(0, 3, 2000)
    map = SignProjection(n_hashes=37, random_state=0)
    model = KernelClassifier(map, loss="hinge", C=1e6, tol=1e-12, max_iter=2**31 - 1, n_jobs=n_jobs)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    timer.join()
    assert not hasattr(model, "coef_")
