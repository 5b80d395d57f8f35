# The public names, each once: sparsemaps/__init__.py loads them from here when they are first used.
from sparsemaps import approximation as approximation
from sparsemaps import codes as codes
from sparsemaps import comparison as comparison
from sparsemaps import files as files
from sparsemaps import kernels as kernels
from sparsemaps import libsvm as libsvm
from sparsemaps import linear as linear
from sparsemaps import neighbors as neighbors
from sparsemaps import text as text
from sparsemaps._tools._versions import show_versions as show_versions
from sparsemaps.maps._config import from_config as from_config
from sparsemaps.maps.count_sketch import CountSketch as CountSketch
from sparsemaps.maps.fastfood import Fastfood as Fastfood
from sparsemaps.maps.kernel_product import KernelProduct as KernelProduct
from sparsemaps.maps.minhash import MinHash as MinHash
from sparsemaps.maps.random_binning import RandomBinning as RandomBinning
from sparsemaps.maps.random_fourier import RandomFourier as RandomFourier
from sparsemaps.maps.random_maclaurin import RandomMaclaurin as RandomMaclaurin
from sparsemaps.maps.random_projection import RandomProjection as RandomProjection
from sparsemaps.maps.sign_projection import SignProjection as SignProjection
from sparsemaps.maps.tensor_sketch import TensorSketch as TensorSketch
from sparsemaps.maps.weighted_sampling import (
    ConsistentWeightedSampling as ConsistentWeightedSampling,
)

_MAPS: dict[str, str]
__all__: list[str]
__version__: str
