"""Maps of Dask arrays, block by block."""

import numpy as np
import pytest
import scipy.sparse as sp
from _data.rows import random_csr
from _oracles.equal import assert_same

from sparsemaps import ConsistentWeightedSampling

da = pytest.importorskip("dask.array")

# Clusters that come and go leave sockets that Python warns of.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, np.asarray])
def test_blocks_of_every_map(new_map, container):
    """The recipe of docs/at_scale.md: no function of ours stands between."""
    rows = random_csr(23, 40, density=0.2)
    whole = rows.toarray() if container is np.asarray else container(rows)
    blocks = [whole[:10], whole[10:11], whole[11:]]
    X = da.concatenate(
        [da.from_array(block, chunks=block.shape, asarray=False) for block in blocks]
    )
    fitted = new_map().fit(whole)
    for method in ("transform", "encode"):
        if not hasattr(fitted, method):
            continue
        call = getattr(fitted, method)
        meta, expected = call(whole[:0]), call(whole)
        Z = X.map_blocks(call, chunks=(X.chunks[0], meta.shape[1:]), meta=meta)
        assert Z.shape == expected.shape
        assert Z.dtype == expected.dtype
        computed = Z.compute(scheduler="synchronous")
        assert type(computed) is type(expected)
        assert_same(sp.csr_array(computed), sp.csr_array(expected))


def test_parallel_post_fit():
    # Not in the test extra: dask-ml needs numba, which has wheels for some platforms only.
    wrappers = pytest.importorskip("dask_ml.wrappers")
    from sklearn.datasets import load_digits
    from sklearn.linear_model import SGDClassifier
    from sklearn.pipeline import make_pipeline

    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(
        ConsistentWeightedSampling(n_hashes=64, random_state=0), SGDClassifier(random_state=0)
    )
    model = wrappers.ParallelPostFit(pipeline).fit(X[:500], y[:500])
    predicted = model.predict(da.from_array(X, chunks=(300, -1))).compute()
    np.testing.assert_array_equal(predicted, pipeline.predict(X))
    sparse = da.from_array(sp.csr_matrix(X), chunks=X.shape, asarray=False)
    np.testing.assert_array_equal(model.predict(sparse).compute(), predicted)
