"""Maps of files, as tests make them."""

import io
from pathlib import Path

from sparsemaps import ConsistentWeightedSampling
from sparsemaps.files import map_files


def cws(**parameters):
    parameters = {"n_hashes": 5, "bits": 3, "random_state": 0, **parameters}
    return ConsistentWeightedSampling(**parameters)


def mapped(text, new_map=None, **options):
    out = io.BytesIO()
    map_files(new_map or cws(), io.BytesIO(text), out, **options)
    return out.getvalue()


def outputs(directory):
    return {path.name: path.read_bytes() for path in sorted(Path(directory).iterdir())}
