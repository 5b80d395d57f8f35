"""Explicit random feature maps and hashes for sparse data.

Each map takes the rows of a CSR matrix, never densified, to short vectors whose inner products
are a kernel's values on average.

============================  ====================================  ==============================
map                           kernel                                output
============================  ====================================  ==============================
`CountSketch`                 linear                                CSR or dense
============================  ====================================  ==============================
"""

from importlib.metadata import version as _version

from sparsemaps.count_sketch import CountSketch

__version__ = _version("sparsemaps")

__all__ = ["CountSketch"]
