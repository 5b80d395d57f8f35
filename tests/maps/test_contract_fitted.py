"""What every map promises once it is made: blocks, threads, seeds, copies, configurations."""

import json
import multiprocessing
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from _oracles.equal import arrays_of, assert_same
from sklearn.base import clone

import sparsemaps
from sparsemaps._tools import _blocks, _seeding

# ---- threads -------------------------------------------------------------------------------------


N_COPIES = 30


@pytest.fixture
def many(X):
    """The rows of X 30 times: several blocks for threads if sparse, and in any case if dense."""
    many = sp.csr_array(sp.vstack([X] * N_COPIES))
    assert len(_blocks.cut_rows(many.shape[0], many.indptr.item, 2)) > 1
    assert len(_blocks.cut_rows(many.shape[0], lambda row: row * many.shape[1], 1)) > 1
    return many


def copies(output):
    return (
        sp.vstack([output] * N_COPIES, "csr")
        if sp.issparse(output)
        else np.tile(output, (N_COPIES, 1))
    )


@pytest.mark.parametrize("n_jobs", [None, 3])
def test_blocks_and_threads(new_map, X, many, n_jobs):
    """Equal rows have equal outputs, those of few rows, whatever the block."""
    fitted = new_map(n_jobs=n_jobs).fit(X)
    assert_same(fitted.transform(many), copies(fitted.transform(X)))
    assert_same(fitted.transform(many.toarray()), copies(fitted.transform(X.toarray())))
    if hasattr(fitted, "encode"):
        np.testing.assert_array_equal(fitted.encode(many), copies(fitted.encode(X)))


def test_from_an_executor(first_variant, many):
    fitted = first_variant(n_jobs=2).fit(many)
    expected = fitted.transform(many)
    with ThreadPoolExecutor(4) as pool:
        for Z in pool.map(fitted.transform, [many] * 8):
            assert_same(Z, expected)


def _transform_in_child(fitted, X, pipe):
    pipe.send([array.tolist() for array in arrays_of(fitted.transform(X))])


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="no safe fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_after_fork(first_variant, many):
    fitted = first_variant(n_jobs=2).fit(many)
    expected = [array.tolist() for array in arrays_of(fitted.transform(many))]
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_transform_in_child, args=(fitted, many, there))
    child.start()
    assert here.poll(60), "the child hangs"
    assert here.recv() == expected
    child.join()


# ---- seeds ---------------------------------------------------------------------------------------


def test_seeds(new_map, X):
    expected = new_map(random_state=5).fit_transform(X)
    assert_same(new_map(random_state=np.int64(5)).fit_transform(X), expected)
    other = new_map(random_state=6).fit_transform(X)
    assert abs(other - expected).sum() > 0
    huge = new_map(random_state=2**200).fit_transform(X)
    assert abs(huge - expected).sum() > 0


@pytest.mark.parametrize(
    "make_source", [np.random.default_rng, np.random.RandomState], ids=["Generator", "RandomState"]
)
def test_sources_of_seeds(first_variant, X, make_source):
    source = make_source(0)
    one, two = first_variant(random_state=source).fit(X), first_variant(random_state=source).fit(X)
    assert one.seed_ != two.seed_
    assert one.seed_ == first_variant(random_state=make_source(0)).fit(X).seed_
    assert_same(first_variant(random_state=one.seed_).fit_transform(X), one.transform(X))


def test_no_seed_draws_from_numpy(first_variant, X):
    np.random.seed(0)  # noqa: NPY002
    one = first_variant(random_state=None).fit(X)
    np.random.seed(0)  # noqa: NPY002
    assert one.seed_ == first_variant(random_state=None).fit(X).seed_
    assert one.seed_ != first_variant(random_state=None).fit(X).seed_


@pytest.mark.parametrize("random_state", [-1, 1.5, "seed", True, [1]])
def test_bad_seeds(first_variant, X, random_state):
    with pytest.raises(ValueError, match="random_state must be"):
        first_variant(random_state=random_state).fit(X)


def test_streams_tell_maps_apart():
    numbers = list(_seeding.STREAMS.values())
    assert len(set(numbers)) == len(numbers)
    keys = {tuple(_seeding.keys(0, stream, 2).tolist()) for stream in _seeding.STREAMS}
    assert len(keys) == len(numbers)


# ---- scikit-learn's conventions ------------------------------------------------------------------


def test_clone_and_pickle(first_variant, X):
    fitted = first_variant().fit(X)
    expected = fitted.transform(X)
    assert_same(pickle.loads(pickle.dumps(fitted)).transform(X), expected)
    assert_same(clone(fitted).fit_transform(X), expected)


def test_feature_names(first_variant, X):
    fitted = first_variant().fit(X)
    names = fitted.get_feature_names_out()
    prefix = type(fitted).__name__.lower()
    assert len(names) == fitted.transform(X).shape[1]
    assert names[[0, -1]].tolist() == [f"{prefix}0", f"{prefix}{len(names) - 1}"]


def test_set_output(first_variant, X):
    pd = pytest.importorskip("pandas")
    fitted = first_variant().set_output(transform="pandas").fit(X)
    if sp.issparse(first_variant().fit_transform(X)):
        with pytest.raises(ValueError, match="sparse"):
            fitted.transform(X)
    else:
        assert isinstance(fitted.transform(X), pd.DataFrame)


def test_not_fitted(first_variant, X):
    with pytest.raises(sklearn.exceptions.NotFittedError):
        first_variant().transform(X)


def test_parameters_are_frozen_at_fit(new_map, X):
    """set_params takes effect at the next fit, whatever the parameter."""
    fitted = new_map().fit(X)
    expected, names = fitted.transform(X), len(fitted.get_feature_names_out())
    sizes = {"n_components": 12, "n_grids": 12, "n_hashes": 12, "maps": None}
    name = next(name for name in sizes if name in fitted.get_params())
    fitted.set_params(**{name: sizes[name]}, random_state=99)
    assert_same(fitted.transform(X), expected)
    assert len(fitted.get_feature_names_out()) == names
    if "gamma" in fitted.get_params():
        fitted.set_params(gamma=0.7)
        assert_same(fitted.transform(X), expected)
    changed = new_map(**{name: sizes[name]}, random_state=99).fit_transform(X)
    fitted.set_params(**fitted.get_params())
    if "gamma" not in fitted.get_params():
        assert_same(fitted.fit(X).transform(X), changed)


def test_rows_of_any_width(new_map, X):
    """The numbers of a map that is fitted without data are those of one that is."""
    expected = new_map().fit_transform(X)
    fitted = new_map()
    if "hash_dim" in fitted.get_params():
        assert fitted.hash_dim is not None
    assert fitted.fit(X).fit_any_width() is fitted
    assert not hasattr(fitted, "n_features_in_")
    assert_same(fitted.transform(X), expected)
    for width in (300, 301, 2**40):
        wide = sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))
        Z = fitted.transform(wide)
        assert_same(Z[:, : expected.shape[1]], expected)


def test_configuration(new_map, X):
    parameters = new_map().get_params()
    for name in ("pitch_density", "spectrum"):
        if parameters.get(name) is not None:
            with pytest.raises(ValueError, match=f"{name} must be a number, a string"):
                new_map().fit(X).to_config()
            return
    for fitted in (new_map().fit(X), new_map().fit_any_width()):
        config = fitted.to_config()
        again = sparsemaps.from_config(json.loads(json.dumps(config)))
        assert type(again) is type(fitted)
        assert again.to_config() == config
        assert config["n_features"] == (300 if hasattr(fitted, "n_features_in_") else None)
        assert_same(again.transform(X), fitted.transform(X))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scheme": -1}, "config is of scheme -1 of random numbers"),
        ({"class": "Nothing"}, "class of config must be the name of a map .*, got 'Nothing'"),
        ({"parameters": [1]}, r"parameters of config must have names, got \[1\]"),
        ({"parameters": {"many": 1}}, "parameters of config do not fit CountSketch"),
        ({"seed": -1}, "seed of config must be"),
        ({"n_features": -1}, "n_features of config must be"),
    ],
)
def test_bad_config(change, message):
    config = sparsemaps.CountSketch(random_state=0).fit_any_width().to_config()
    with pytest.raises(ValueError, match=message):
        sparsemaps.from_config({**config, **change})
    for key in change:
        del config[key]
        with pytest.raises(ValueError, match=f"config must have the keys .* no '{key}'"):
            sparsemaps.from_config(config)
    with pytest.raises(ValueError, match="config must have the keys"):
        sparsemaps.from_config("CountSketch")


def test_exact_kernel_of_two_matrices(new_map, X):
    """The same for all containers; of all rows, it is symmetric."""
    X = X[12:28]  # row 20 is empty
    fitted = new_map().fit(X)
    K = fitted.exact_kernel(X)
    assert K.shape == (16, 16)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    np.testing.assert_allclose(fitted.exact_kernel(X[:3], X[2:9]), K[:3, 2:9], atol=1e-12)
    np.testing.assert_allclose(fitted.exact_kernel(X.toarray()), K, atol=1e-12)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        new_map().exact_kernel(X)
