"""A process that serves a model imports little, and gives the same bits."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.saved_models import LABELS, TEXTS

import sparsemaps
from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
)
from sparsemaps.files import Texts
from sparsemaps.linear import KernelClassifier, KernelRegressor, _losses, load_model

CODED_MAPS = {
    "min-max": ConsistentWeightedSampling(n_hashes=16, random_state=0),
    "levels": ConsistentWeightedSampling(n_hashes=16, method="levels", random_state=0),
    "minhash": MinHash(n_hashes=16, random_state=0),
    "signs": SignProjection(n_hashes=16, random_state=0),
    "binning": RandomBinning(n_grids=16, n_bins=8, random_state=0),
    "fourier": RandomFourier(n_components=16, gamma=0.1, random_state=0),
    "product": KernelProduct(
        maps=(MinHash(n_hashes=8, bits=2), SignProjection(n_hashes=8)), random_state=0
    ),
}
ANALYZERS = ["char:3", "char_wb:2-3", "word:1-2", "auto:1", "byte:3"]
TARGETS = [float(len(text)) for text in TEXTS]
SEVERAL = np.array([[label == "pets", label == "money"] for label in LABELS], int)
X = sp.csr_matrix(np.random.default_rng(SEED).gamma(1.0, size=(len(TEXTS), 6)))


def models():
    """Models by their names: all maps, analyzers and losses."""
    for name, map in CODED_MAPS.items():
        yield f"rows {name}", KernelClassifier(map, random_state=0).fit(X, LABELS)
        made = KernelClassifier(map, vectorizer="char:3", random_state=0)
        yield f"texts {name}", made.fit(TEXTS, LABELS)
    for analyzer in ANALYZERS:
        made = KernelClassifier(CODED_MAPS["minhash"], vectorizer=analyzer, random_state=0)
        yield f"texts {analyzer}", made.fit(TEXTS, LABELS)
    idf = KernelClassifier(CODED_MAPS["levels"], vectorizer=Texts("word:1", idf=1), random_state=0)
    yield "texts idf", idf.fit(TEXTS, LABELS).calibrate(TEXTS, LABELS)
    made = KernelClassifier(CODED_MAPS["minhash"], vectorizer="char:3", random_state=0)
    yield "texts several", made.fit(TEXTS, SEVERAL).calibrate(TEXTS, SEVERAL)
    for loss in _losses.LOSSES:
        is_regression = _losses.LOSSES[loss].is_regression
        cls = KernelRegressor if is_regression else KernelClassifier
        made = cls(CODED_MAPS["minhash"], vectorizer="char:3", loss=loss, random_state=0)
        yield f"texts {loss}", made.fit(TEXTS, TARGETS if is_regression else LABELS)


USED = """
def used(name, model, texts, X):
    rows = texts if name.startswith("texts") else X
    codes = model.map_.encode_texts(model.vectorizer_, texts, packed=True) if rows is texts else (
        model.map_.encode(X, packed=True))
    found = [method(part)
             for method in (model.predict, getattr(model, "decision_function", model.predict),
                            getattr(model, "predict_proba", model.predict))
             for part in (rows[:2], rows, codes, *([] if rows is texts else [X.toarray()]))]
    return [part.tolist() for part in found]
"""

SERVES = f"""
import os, pickle, sys
from sparsemaps.linear import load_model
{USED}
names, texts, X = pickle.load(sys.stdin.buffer)
found = {{name: used(name, load_model(str(number)), texts, X) for number, name in enumerate(names)}}
modules = [name for name in sys.modules if name.startswith(("sklearn", "pandas", "scipy.optimize"))]
sys.stdout.buffer.write(pickle.dumps((found, modules)))
"""


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_served_model_needs_no_scikit_learn_and_gives_the_same_bits(tmp_path):
    has_codes = {
        name for name in sparsemaps._MAPS if hasattr(getattr(sparsemaps, name)(), "encode")
    }
    assert {type(map).__name__ for map in CODED_MAPS.values()} == has_codes
    here = {}
    exec(USED, here)
    expected = {}
    for number, (name, model) in enumerate(models()):
        model.save(tmp_path / str(number))
        expected[name] = here["used"](name, model, TEXTS, X)
        loaded = load_model(tmp_path / str(number))
        assert type(loaded) is type(model)
        assert here["used"](name, loaded, TEXTS, X) == expected[name], name
    done = subprocess.run(
        [sys.executable, "-P", "-c", SERVES], cwd=tmp_path, capture_output=True, timeout=120,
        input=pickle.dumps((list(expected), TEXTS, X)), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, modules = pickle.loads(done.stdout)
    assert found == expected
    assert modules == []


def test_files_that_hold_no_model(tmp_path):
    path = tmp_path / "codes"
    MinHash().fit_any_width().encode(X, packed=True).save(path)
    with pytest.raises(ValueError, match=r"codes.* is not a file of a linear model|linear model"):
        load_model(path)
