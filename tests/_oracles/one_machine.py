"""What the tests on Dask compare with: files of one machine."""

from pathlib import Path

import pytest

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.files import map_files

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
fsspec = pytest.importorskip("fsspec")

CWS = ConsistentWeightedSampling(n_hashes=16, bits=4, random_state=0)


def on_one_machine(path, inputs, map=CWS, **options):
    map_files(map, inputs, str(path), **options)
    return Path(path).read_bytes()


def joined(parts):
    return b"".join(Path(part).read_bytes() for part in parts)
