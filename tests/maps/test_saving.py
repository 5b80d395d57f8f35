"""Fitted maps, alone and in a pipeline, are saved and loaded by what people use for that."""

import io
import pickle

import joblib
import numpy as np
import pytest
from _data.rows import random_csr
from _data.variants import MAPS, make
from _oracles.equal import assert_same
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sparsemaps.text import HashingVectorizer

CASES = [(name, number) for name, variants in MAPS.items() for number in range(len(variants))]


def by_pickle(estimator):
    return pickle.loads(pickle.dumps(estimator))


def by_joblib(estimator):
    file = io.BytesIO()
    joblib.dump(estimator, file)
    file.seek(0)
    return joblib.load(file)


def by_cloudpickle(estimator):
    cloudpickle = pytest.importorskip("cloudpickle")
    return pickle.loads(cloudpickle.dumps(estimator))


def by_skops(estimator):
    skops = pytest.importorskip("skops.io")
    data = skops.dumps(estimator)
    return skops.loads(data, trusted=skops.get_untrusted_types(data=data))


@pytest.mark.parametrize("save", [by_pickle, by_joblib, by_cloudpickle, by_skops])
@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_fitted_map_is_saved(name, number, save):
    X = abs(random_csr())
    fitted = make(name, **MAPS[name][number])
    if save is by_joblib or save is by_pickle:
        fitted = make_pipeline(MaxAbsScaler(), fitted)
    if save is by_skops and has_functions(fitted):
        pytest.skip("skops does not save functions")
    fitted.fit(X)
    again = save(fitted)
    assert_same(again.transform(X), fitted.transform(X))


def has_functions(estimator):
    """Whether a parameter is a function."""
    return any(
        callable(value) and not hasattr(value, "fit") for value in estimator.get_params().values()
    )


@pytest.mark.parametrize("save", [by_pickle, by_joblib, by_cloudpickle, by_skops])
def test_a_pipeline_is_saved(save):
    """Parameters that are set after ``fit`` do not change what is saved."""
    X = abs(random_csr())
    for name in ("KernelProduct", "MinHash", "RandomFourier", "Fastfood"):
        pipeline = make_pipeline(MaxAbsScaler(), make(name)).fit(X)
        expected = pipeline[-1].to_config()
        pipeline[-1].set_params(random_state=123)
        again = save(pipeline)
        assert_same(again.transform(X), pipeline.transform(X))
        assert again[-1].to_config() == expected


def test_a_draw_does_not_change():
    draw = make("MinHash").fit(np.ones((1, 3))).draw
    with pytest.raises(AttributeError, match="the MinHashDraw of a fitted map cannot be changed"):
        draw.bits = 3


def test_a_fitted_map_keeps_its_parameters():
    """Its list may change, and its parameters be set: output, config and checks are kept."""
    X, series = np.array([[0.5, -0.2], [0.1, 0.4]]), [1.0, 2.0, 0.5]
    maclaurin = make("RandomMaclaurin", kernel=series).fit(X)
    config, expected = maclaurin.to_config(), maclaurin.transform(X)
    series[1] = 7.0
    maclaurin.set_params(gamma=3.0)
    assert maclaurin.to_config() == config
    np.testing.assert_array_equal(maclaurin.transform(X), expected)
    signed = make("ConsistentWeightedSampling", signed=True).fit(X)
    expected = signed.encode(X)
    np.testing.assert_array_equal(signed.set_params(signed=False).encode(X), expected)
    with pytest.raises(ValueError, match="takes values >= 0"):
        signed.fit(X)


def test_codes_of_many_texts_are_in_their_order():
    words = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
    texts = [f"text {number} of many {number % 7}" for number in range(40_000)]
    rows = words.transform(texts)
    minhash = make("MinHash").fit(rows)
    for packed in (False, True):
        found = minhash.encode_texts(words, texts, packed=packed)
        expected = minhash.encode(rows, packed=packed)
        np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    np.testing.assert_array_equal(found.sizes, expected.sizes)
    np.testing.assert_array_equal(found.sampled, expected.sampled)
