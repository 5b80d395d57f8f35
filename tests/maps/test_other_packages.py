"""Maps of other packages, and what a class of maps must have."""

import json
import sys

import numpy as np
import pytest

import sparsemaps
from sparsemaps import from_config, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.files import map_files
from sparsemaps.maps._sparse_map import SparseMap, random_map

MODULE = '''
"""A package with one map: bits of random columns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparsemaps import kernels
from sparsemaps._loops.codes import NUMBERS, ONE_HOT_COLUMNS, PACKED
from sparsemaps._tools._allowed import About, Size
from sparsemaps.laws._sampled import JaccardLaw
from sparsemaps.maps._draw import CodesDraw
from sparsemaps.maps._sampled_map import SampledMap
from sparsemaps.maps._sparse_map import random_map


class LeastColumnDraw(CodesDraw):
    def write(self, block, layout, out):
        data, indices, indptr = block
        for row in range(len(indptr) - 1):
            members = indices[indptr[row] : indptr[row + 1]].astype(np.uint64)
            codes = np.full(self.size, -1)
            if len(members):
                draw = np.random.Philox(key=self.seed)
                keys = draw.random_raw(2 * self.size).reshape(2, -1) | np.uint64(1)
                hashes = (members[:, None] + np.uint64(1)) * keys[0]
                codes = (members[hashes.argmin(axis=0)] * keys[1] >> np.uint64(56)).astype(int)
            if layout == PACKED:
                out[row] = np.maximum(codes, 0)
            elif layout == NUMBERS:
                out[row] = codes
            else:
                out[row] = np.where(codes >= 0, np.arange(self.size) * 256 + codes, -1)


@random_map
class LeastColumn(SampledMap):
    """The member of a row whose hash is the least, by plain NumPy.

    Parameters
    ----------
    n_hashes : int, default=16
        Samples, [allowed].
    [random_state, n_jobs, attributes]
    """

    _about = About(command="least-column", help="")
    law_class = JaccardLaw
    draw_class = LeastColumnDraw

    n_hashes: int = Size(1, 1000).default(16)
    random_state: Any = None
    n_jobs: Any = None

    def _law_facts(self):
        return {"bits": 8}
'''


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A package that is installed: a module and the entry point of its map."""
    (tmp_path / "toy_maps.py").write_text(MODULE)
    install(tmp_path, "toy_maps", "LeastColumn = toy_maps:LeastColumn")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("toy_maps", None)


def install(folder, package, entry_point):
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[sparsemaps.maps]\n{entry_point}\n")


def test_a_map_comes_back_from_its_config(toy):
    import toy_maps

    X = np.eye(5)[[0, 1, 1, 4]] + np.eye(5)[[2, 2, 2, 3]]
    map = toy_maps.LeastColumn(random_state=3).fit(X)
    again = from_config(json.loads(json.dumps(map.to_config())))
    assert type(again) is toy_maps.LeastColumn
    np.testing.assert_array_equal(again.encode(X), map.encode(X))
    codes = map.encode(X, packed=True)
    codes.save(toy / "codes.npy")
    loaded = PackedCodes.load(toy / "codes.npy")
    i, j, similarity = neighbors.similar_pairs(loaded, 0.9)
    assert (i.tolist(), j.tolist(), similarity.tolist()) == ([1], [2], [1.0])
    np.testing.assert_array_equal(from_config(loaded.config).encode(X), codes.array)


def test_jobs_take_it(toy):
    import toy_maps

    (toy / "in.svm").write_text("1 1:1 3:1\n0 2:1\n")
    map_files(toy_maps.LeastColumn(n_hashes=4), toy / "in.svm", toy / "out.npy", format="npy")
    assert len(PackedCodes.load(toy / "out.npy")) == 2


def test_an_index_of_it_is_loaded(toy):
    import toy_maps

    X = np.eye(5)
    index = neighbors.KernelNeighbors(toy_maps.LeastColumn(random_state=0)).fit(X)
    index.save(toy / "index.npy")
    assert neighbors.KernelNeighbors.load(toy / "index.npy").kneighbors(X[:1], 1)[1] == 0


CONFIG = {"class": "LeastColumn", "parameters": {}, "seed": 0, "scheme": 1, "n_features": None}


def test_a_package_that_is_not_installed():
    with pytest.raises(ValueError, match=r"entry point of the group 'sparsemaps\.maps', got 'Lea"):
        from_config(CONFIG)


@pytest.mark.parametrize(
    ("entry_point", "message"),
    [
        ("LeastColumn = missing_maps:LeastColumn", "'LeastColumn' of missing_maps:LeastColumn can"),
        ("LeastColumn = json:LeastColumn", "'LeastColumn' of json:LeastColumn cannot be imported"),
        ("LeastColumn = json:dumps", "must be the name of a map"),
    ],
)
def test_entry_points_that_are_no_maps(tmp_path, monkeypatch, entry_point, message):
    install(tmp_path, "broken_maps", entry_point)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ValueError, match=message):
        from_config(CONFIG)


def test_two_packages_with_one_name(toy):
    install(toy, "more_maps", "LeastColumn = more_maps:LeastColumn")
    with pytest.raises(ValueError, match="several packages have a map named 'LeastColumn'"):
        from_config(CONFIG)


def test_no_package_takes_the_place_of_a_map_of_ours(tmp_path, monkeypatch):
    install(tmp_path, "other_maps", "MinHash = json:dumps")
    monkeypatch.syspath_prepend(tmp_path)
    assert type(from_config({**CONFIG, "class": "MinHash"})) is sparsemaps.MinHash


# ---- what a class must have ----------------------------------------------------------------------


@pytest.mark.parametrize("left_out", ["size", "random_state", "n_jobs"])
def test_a_map_that_draws_nothing_is_refused(left_out):
    """An additive sampler of the chi-squared kernel is such a map."""
    from sparsemaps._tools._allowed import Size

    fields = {"n_components": Size(1, 9).default(3), "random_state": None, "n_jobs": None}
    del fields[left_out if left_out != "size" else "n_components"]
    annotations = dict.fromkeys(fields, object)
    made = type("Additive", (SparseMap,), {**fields, "__annotations__": annotations})
    with pytest.raises(TypeError, match="Additive must have the parameters random_state and n_job"):
        random_map(made)
