"""Exact kernels of very wide matrices, in little memory.

Run in a process of its own, whose memory is limited. Prints what fails.
"""

import sys
import tempfile

import numpy as np
import scipy.sparse as sp
from _data.variants import MAPS, make

from _scripts.extremes import _limit_memory
from sparsemaps import kernels, libsvm
from sparsemaps.approximation import kernel_error
from sparsemaps.files import Svmlight
from sparsemaps.files._kernel_matrix import write_kernel_file

BYTES = 128 * 2**20


def matrix(width, columns):
    indices = np.array(columns, np.int64 if width > 2**31 else np.int32)
    return sp.csr_array((np.arange(1.0, 7.0), indices, [0, 2, 3, 6]), (3, width))


def functions():
    for name in kernels.__all__:
        yield name, getattr(kernels, name)
    for name, variants in MAPS.items():
        for number, parameters in enumerate(variants):
            if not parameters.get("h01"):  # whose output is as wide as the matrix
                new = make(name, **parameters)
                yield f"{name} {number}.exact_kernel", lambda X, new=new: new.fit(X).exact_kernel(X)
    yield "sparsemaps kernel", kernel_file
    yield "kernel_error", lambda X: kernel_error(make("MinHash"), X, n_seeds=2).rmse


def kernel_file(X):
    """What ``sparsemaps kernel`` does."""
    with tempfile.TemporaryDirectory() as folder:
        rows, out = f"{folder}/rows", f"{folder}/out"
        libsvm.dump_svmlight_file(X, np.zeros(3), rows)
        write_kernel_file(kernels.min_max_kernel, rows, None, out, source=Svmlight(zero_based=True))
        return libsvm.load_svmlight_file(out)[0].toarray()


def main():
    narrow = matrix(8, [1, 6, 0, 1, 2, 7])
    expected = {name: function(narrow) for name, function in functions()}
    # In no order, so that nothing takes the way of sorted rows.
    for width in (10**8, 2**38, 2**62):
        X = matrix(width, [1, width - 2, 0, 2, 1, width - 1])
        X.data[3:5] = X.data[4:2:-1]
        _limit_memory(BYTES)
        for name, function in functions():
            try:
                found = function(X)
            except Exception as error:
                print(f"{name} of width {width}: {error!r}")
                continue
            if name not in ("kernel_error", "polynomial_kernel", "rbf_kernel"):  # 1 / n_features
                np.testing.assert_allclose(found, expected[name], rtol=1e-12, err_msg=name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
