"""Files of models that were changed: no number of them is believed."""

import os
import struct
import tracemalloc

import numpy as np
import pytest
from _data.saved_models import LABELS, TEXTS, WORDS, changed, labels_of, rows, text_model
from sklearn.pipeline import make_pipeline

from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    SignProjection,
)
from sparsemaps.linear import KernelClassifier, KernelRegressor, _model_file
from sparsemaps.text import IdfWeights


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e307])
def test_weights_that_give_no_finite_scores(value, tmp_path):
    """They are neither saved nor loaded; 64 weights of 1e307 have a sum beyond float64."""
    model = text_model()
    model.save(tmp_path / "model")
    data = bytearray((tmp_path / "model").read_bytes())
    data[128 + 8 * 77 : 128 + 8 * 78] = struct.pack("<d", value)
    (tmp_path / "changed").write_bytes(data)
    with pytest.raises(ValueError, match="changed is damaged: its weights must be finite"):
        KernelClassifier.load(tmp_path / "changed")
    model._weights[77] = value
    with pytest.raises(ValueError, match="its weights must be finite"):
        model.save(tmp_path / "model")
    model = text_model()
    model.intercept_ = np.array([value * 100])
    with pytest.raises(ValueError, match="its weights must be finite"):
        model.save(tmp_path / "model")
    assert KernelClassifier.load(tmp_path / "model").predict(TEXTS).tolist() == LABELS


def numbers_in(description, path=()):
    """The places of all numbers of a description, and of its strings that name types."""
    items = description.items() if isinstance(description, dict) else enumerate(description)
    for key, value in items:
        if isinstance(value, (dict, list)):
            yield from numbers_in(value, (*path, key))
        elif isinstance(value, (int, float)) or (isinstance(value, str) and value[:1] in "<|UO"):
            yield (*path, key)


FILES = {
    "texts": lambda: text_model(),
    "weighted": lambda: KernelClassifier(
        MinHash(n_hashes=64), vectorizer=make_pipeline(WORDS, IdfWeights(n_buckets=2**8))
    ).fit(TEXTS, LABELS),
    "names": lambda: KernelClassifier(MAP_OF_ROWS).fit(rows()[0], labels_of("U5", rows()[1])),
    "regression": lambda: KernelRegressor(MAP_OF_ROWS).fit(rows()[0], rows()[2]),
    "signs": lambda: KernelClassifier(SignProjection(n_hashes=20)).fit(*rows()[:2]),
    "orthogonal": lambda: KernelClassifier(
        SignProjection(n_hashes=20, distribution="orthogonal")
    ).fit(*rows()[:2]),
    "grids": lambda: KernelClassifier(RandomBinning(n_grids=8, n_bins=16)).fit(*rows()[:2]),
    "Fourier": lambda: KernelClassifier(RandomFourier(n_components=40)).fit(*rows()[:2]),
    "product": lambda: KernelClassifier(
        KernelProduct(maps=(MAP_OF_ROWS, SignProjection(n_hashes=8)))
    ).fit(*rows()[:2]),
}
MAP_OF_ROWS = ConsistentWeightedSampling(n_hashes=8, bits=2)


@pytest.mark.parametrize("name", FILES)
def test_no_number_of_a_file_is_an_amount_of_memory(name, tmp_path):
    """Each number of the description is replaced by large ones, and each type by longer ones: to
    load the file, and to label one row, takes memory of the order of the file."""
    model = FILES[name]()
    model.save(tmp_path / "model")
    one = TEXTS[:1] if name in ("texts", "weighted") else rows()[0][:1]
    description, _, _ = _model_file._read(str(tmp_path / "model"))
    places = list(numbers_in(description))
    assert len(places) > 10
    type(model).load(tmp_path / "model").predict(one)  # imports come first
    for place in places:
        for value in ("<U4194304", 2**20, 2**24, 2**31 - 1, 2**40, 2**62):

            def change(changed, place=place, value=value):
                *path, last = place
                for key in path:
                    changed = changed[key]
                if isinstance(value, str) == isinstance(changed[last], str):
                    changed[last] = value

            path = changed(tmp_path / "model", change)
            tracemalloc.start()
            try:
                loaded = type(model).load(path)
                loaded.predict(one)
            except ValueError:
                pass
            finally:
                _, peak = tracemalloc.get_traced_memory()
                tracemalloc.stop()
            assert peak < 4e6 + 64 * os.path.getsize(path), (place, value)


def test_names_of_very_different_lengths(tmp_path):
    """An array of them would take 16 MB for a file of 30 kB."""
    labels = [f"{number:04}" for number in range(200)] * 2
    labels[7] = labels[207] = "0007" + "x" * 20000
    X = np.tile(np.eye(200), (2, 1))
    model = KernelClassifier(MinHash(n_hashes=2, bits=2), max_iter=10**5).fit(X, labels)
    model.save(tmp_path / "model")
    again = KernelClassifier.load(tmp_path / "model")
    assert again.classes_.dtype == object
    assert again.classes_.tolist() == model.classes_.tolist() == labels[:200]
    assert again.predict(X).tolist() == model.predict(X).tolist()
