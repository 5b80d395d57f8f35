"""Explicit random feature maps and hashes for sparse data.

Each map takes the rows of a CSR matrix, never densified, to short vectors whose inner products
are a kernel's values on average.

============================  ====================================  ==============================
map                           kernel                                output
============================  ====================================  ==============================
`CountSketch`                 linear                                CSR or dense
`TensorSketch`                polynomial                            dense or CSR
`RandomMaclaurin`             polynomial, exponential, any series   dense, or CSR with exact terms
`RandomFourier`               Gaussian, Laplacian, Cauchy, Matern,  dense
                              folded RBF
`Fastfood`                    Gaussian, Matern                      dense
`RandomBinning`               Laplacian, other mixtures of hats     one-hot CSR, packed codes
`SignProjection`              acos, acos-chi-square                 one-hot CSR, dense, packed bits
`KernelProduct`               a sampled map's times another's       CSR, packed codes
`MinHash`                     Jaccard of sets                       one-hot CSR, packed codes
`ConsistentWeightedSampling`  min-max, generalized min-max          one-hot CSR, packed codes
============================  ====================================  ==============================

Beside the maps there are the modules `codes` (packed codes), `kernels` (exact kernels), `libsvm`
(files), `neighbors` (search), `text` (raw texts to CSR) and `approximation` (errors and sizes), and
the functions `from_config`, which makes a map from what its ``to_config`` gave, and
`show_versions`. All are imported when they are first used.
"""

from importlib.metadata import version as _version
from typing import TYPE_CHECKING
from typing import Any as _Any

from sparsemaps import _catalogue

if TYPE_CHECKING:
    from sparsemaps import approximation, codes, kernels, libsvm, neighbors, text
    from sparsemaps._config import from_config
    from sparsemaps._versions import show_versions
    from sparsemaps.count_sketch import CountSketch
    from sparsemaps.fastfood import Fastfood
    from sparsemaps.kernel_product import KernelProduct
    from sparsemaps.minhash import MinHash
    from sparsemaps.random_binning import RandomBinning
    from sparsemaps.random_fourier import RandomFourier
    from sparsemaps.random_maclaurin import RandomMaclaurin
    from sparsemaps.sign_projection import SignProjection
    from sparsemaps.tensor_sketch import TensorSketch
    from sparsemaps.weighted_sampling import ConsistentWeightedSampling

__all__ = [
    "ConsistentWeightedSampling",
    "CountSketch",
    "Fastfood",
    "KernelProduct",
    "MinHash",
    "RandomBinning",
    "RandomFourier",
    "RandomMaclaurin",
    "SignProjection",
    "TensorSketch",
    "approximation",
    "codes",
    "from_config",
    "kernels",
    "libsvm",
    "neighbors",
    "show_versions",
    "text",
]


if TYPE_CHECKING:  # so that a name which does not exist is an error for them
    __version__: str
else:

    def __getattr__(name: str) -> _Any:
        """Load a name when it is first used, as SciPy and scikit-learn take a second to import."""
        value = _version("sparsemaps") if name == "__version__" else _catalogue.load(name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
