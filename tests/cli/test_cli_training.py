"""``sparsemaps train``: each option of the model is the parameter of its name."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.labelled_records import write_rows
from _scripts.commands import command

from sparsemaps import MinHash
from sparsemaps.linear import KernelClassifier, KernelRegressor

OF_REGRESSION = ["--loss", "squared_epsilon_insensitive"]

OPTIONS = {
    "loss": (["--loss", "hinge"], {"loss": "hinge"}),
    "C": (["--C", "0.25"], {"C": 0.25}),
    "tol": (["--tol", "0.5"], {"tol": 0.5}),
    "max-iter": (["--max-iter", "2", "--tol", "0.2"], {"max_iter": 2, "tol": 0.2}),
    "balanced": (["--balanced"], {"class_weight": "balanced"}),
    "seed": (["--seed", "3"], {"map": MinHash(n_hashes=32, random_state=3), "random_state": 3}),
    "epsilon": ([*OF_REGRESSION, "--epsilon", "0.4"], {"epsilon": 0.4}),
}


def labelled_rows():
    """Rows of two classes, of which one has a fifth of the rows, and some wrong labels."""
    rng = np.random.default_rng(SEED)
    X = sp.csr_array((rng.random((120, 30)) < 0.3).astype(float))
    y = (X[:, :3].sum(axis=1) + (rng.random(120) < 0.1) >= 2).astype(float)
    return X, y


def trained(folder, name, options):
    """A model that the command trains, and its scores of all rows."""
    X, y = labelled_rows()
    write_rows(folder / "in.svm", X, y)
    done = command("train", "minhash", "--n-hashes", 32, *options, folder / "in.svm",
                   "-o", folder / name)  # fmt: skip
    assert done.returncode == 0
    kind = KernelRegressor if OF_REGRESSION[1] in options else KernelClassifier
    return kind.load(folder / name)


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_each_option(name, tmp_path):
    options, parameters = OPTIONS[name]
    usual = options[:2] if options[:2] == OF_REGRESSION else []
    found, default = trained(tmp_path, "model", options), trained(tmp_path, "default", usual)
    X, y = labelled_rows()
    own = {"map": MinHash(n_hashes=32, random_state=0), "random_state": 0, **parameters}
    expected = type(found)(**own).fit(X, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.intercept_, expected.intercept_)
    assert (found.coef_ != default.coef_).any()
