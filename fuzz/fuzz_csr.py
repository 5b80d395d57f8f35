"""CSR arrays of any content, for every map and exact kernel: an error, or an output."""

import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import atheris, run, sparsemaps

sys.path.append(str(Path(__file__).parent.parent / "tests"))
from _data.variants import MAPS as VARIANTS

MAPS = [
    getattr(sparsemaps, name)(**parameters, random_state=0)
    for name, variants in VARIANTS.items()
    for parameters in variants
    if "pitch_density" not in parameters  # its million steps leave time for nothing else
]
for one in MAPS:
    one.set_size(9)
KERNELS = [getattr(sparsemaps.kernels, name) for name in sparsemaps.kernels.__all__]
TYPES = [np.float64, np.float32, np.int64, np.uint8, np.bool_]


def matrix(data):
    """A matrix whose arrays were set behind SciPy's back."""
    n_rows, n_columns = data.ConsumeIntInRange(0, 5), data.ConsumeIntInRange(1, 2**40)
    index_type = np.int64 if data.ConsumeBool() else np.int32
    near = data.ConsumeBool()  # then most are sound
    highest = n_columns - 1 if near else np.iinfo(index_type).max
    lowest = 0 if near else np.iinfo(index_type).min
    highest = min(highest, np.iinfo(index_type).max)
    n = data.ConsumeIntInRange(0, 12)
    indices = [data.ConsumeIntInRange(lowest, highest) for _ in range(n)]
    indptr = [data.ConsumeIntInRange(-1, n + 1) for _ in range(n_rows + 1)]
    if near:
        indptr = [0, *sorted(max(0, min(n, i)) for i in indptr[1:])]
    values = np.array([data.ConsumeFloat() for _ in range(n)])
    with np.errstate(all="ignore"):
        values = values.astype(data.PickValueInList(TYPES))
    X = sp.csr_array((n_rows, n_columns))
    X.data, X.indices = values, np.array(indices, index_type)
    X.indptr = np.array(indptr, index_type)
    return X


def target(data):
    data = atheris.FuzzedDataProvider(data)
    number = data.ConsumeIntInRange(0, len(MAPS) + len(KERNELS) - 1)
    X = matrix(data)
    with np.errstate(all="ignore"):
        try:
            if number >= len(MAPS):
                K = KERNELS[number - len(MAPS)](X)
                assert K.shape == (X.shape[0], X.shape[0])
                assert np.isfinite(K).all()
            else:
                Z = MAPS[number].fit_transform(X)
                assert Z.shape[0] == X.shape[0]
                if sp.issparse(Z):
                    Z.check_format(full_check=True)
        except (ValueError, TypeError) as error:
            assert str(error)


if __name__ == "__main__":
    run(target)
