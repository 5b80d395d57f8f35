"""Which module holds which public name: modules are imported when a name is first used."""

from importlib import import_module
from typing import Any

MAPS = {
    "ConsistentWeightedSampling": "weighted_sampling",
    "CountSketch": "count_sketch",
    "Fastfood": "fastfood",
    "KernelProduct": "kernel_product",
    "MinHash": "minhash",
    "RandomBinning": "random_binning",
    "RandomFourier": "random_fourier",
    "RandomMaclaurin": "random_maclaurin",
    "SignProjection": "sign_projection",
    "TensorSketch": "tensor_sketch",
}
"""The maps, and the module of each."""

FUNCTIONS = {"from_config": "_config", "show_versions": "_versions"}

MODULES = ("approximation", "codes", "kernels", "libsvm", "neighbors", "text")
"""Public modules that are attributes of the package."""


def load(name: str) -> Any:
    """The public object of the package that is called `name`.

    Raises
    ------
    AttributeError
        If there is none.
    """
    if name in MODULES:
        return import_module(f"sparsemaps.{name}")
    module = MAPS.get(name) or FUNCTIONS.get(name)
    if module is None:
        raise AttributeError(f"module 'sparsemaps' has no attribute {name!r}")
    return getattr(import_module(f"sparsemaps.{module}"), name)
