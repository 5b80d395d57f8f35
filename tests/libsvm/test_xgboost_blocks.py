"""The way from LIBSVM text to xgboost that the documents show."""

import re
from pathlib import Path

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps.libsvm import dump_svmlight_file

PAGE = Path(__file__).parents[2] / "docs" / "coming_from.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the documents are not beside the tests")
def test_blocks_for_xgboost(tmp_path, monkeypatch):
    """The trees are those of the whole matrix."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(SEED)
    X = rng.random((300, 126)) * (rng.random((300, 126)) < 0.2)
    y = X[:, 0] + X[:, 1] > 0.1
    monkeypatch.chdir(tmp_path)
    dump_svmlight_file(X, y, "train.svm.xz", zero_based=False)
    code = re.search(r"<!-- xgboost -->\n```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)[1]
    names = {}
    exec(code, names)
    assert (names["train"].num_row(), names["train"].num_col()) == X.shape
    found = names["model"].predict(xgboost.DMatrix(np.where(X, X, np.nan)))
    assert np.mean((found > 0.5) == y) > 0.9
