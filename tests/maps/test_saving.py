"""Fitted maps, alone and in a pipeline, are saved and loaded by what people use for that."""

import io
import pickle

import joblib
import numpy as np
import pytest
from conftest import MAPS, assert_same, make, random_csr
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

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
    with pytest.raises(AttributeError, match="a fitted map's MinHashDraw does not change"):
        draw.bits = 3
