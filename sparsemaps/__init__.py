"""Explicit random feature maps and hashes for sparse data.

Each map takes the rows of a CSR matrix, never densified, to short vectors whose inner products
are a kernel's values on average.

============================  ====================================  ==============================
map                           kernel                                output
============================  ====================================  ==============================
`CountSketch`                 linear                                CSR or dense
`TensorSketch`                polynomial                            dense or CSR
`RandomMaclaurin`             polynomial, exponential, any series   dense, or CSR with exact terms
`ConsistentWeightedSampling`  min-max, generalized min-max          one-hot CSR, packed codes
============================  ====================================  ==============================
"""

from importlib.metadata import version as _version

from sparsemaps.count_sketch import CountSketch
from sparsemaps.random_maclaurin import RandomMaclaurin
from sparsemaps.tensor_sketch import TensorSketch
from sparsemaps.weighted_sampling import ConsistentWeightedSampling

__version__ = _version("sparsemaps")

__all__ = ["ConsistentWeightedSampling", "CountSketch", "RandomMaclaurin", "TensorSketch"]
