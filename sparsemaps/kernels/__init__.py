"""Exact kernels: Gram matrices between the rows of two sparse matrices.

They can be passed to support vector machines with a precomputed kernel
(``SVC(kernel="precomputed")``, LIBSVM's ``-t 4``), and the estimates of maps are compared with
them. The input matrices are not made dense; besides the result, each thread uses a few megabytes.
The product of two kernels is the elementwise product of their arrays.

The results have the same bits on every platform (docs/promise.md).

- ``_gram`` has the blocks of rows, the threads and the checks that all kernels share.
- ``_similarity`` has kernels of sums over common columns, ``_distance`` kernels of differences.
- ``_matern`` has the Matern kernel as a function of distances. ``_column_products`` has products
  over the columns of one function of the difference.

The laws of maps (``exact_kernel``) and the command ``sparsemaps kernel`` use these functions.

>>> import numpy as np
>>> from sparsemaps.kernels import acos_kernel, min_max_kernel
>>> X = np.array([[4.0, 1.0, 0.0, 1.0], [3.0, 2.0, 1.0, 0.0]])
>>> min_max_kernel(X)
array([[1. , 0.5],
       [0.5, 1. ]])
>>> (min_max_kernel(X) * acos_kernel(X)).round(3)
array([[1.   , 0.422],
       [0.422, 1.   ]])
"""

from sparsemaps.kernels._distance import (
    cauchy_kernel,
    folded_rbf_kernel,
    laplacian_kernel,
    matern_kernel,
    normalized_rbf_kernel,
    rbf_kernel,
)
from sparsemaps.kernels._similarity import (
    acos_chi2_kernel,
    acos_kernel,
    chi2_similarity,
    generalized_min_max_kernel,
    min_max_kernel,
    polynomial_kernel,
)

__all__ = [
    "acos_chi2_kernel",
    "acos_kernel",
    "cauchy_kernel",
    "chi2_similarity",
    "folded_rbf_kernel",
    "generalized_min_max_kernel",
    "laplacian_kernel",
    "matern_kernel",
    "min_max_kernel",
    "normalized_rbf_kernel",
    "polynomial_kernel",
    "rbf_kernel",
]
