"""Explicit random feature maps and hashes for sparse data.

Each map takes the rows of a CSR matrix, which is never made dense as a whole, to short vectors
whose inner products are a kernel's values on average.

The maps, each with a docstring that says which kernel it approximates:

{maps}

Beside the maps there are the modules `codes` (packed codes), `kernels` (exact kernels), `libsvm`
(LIBSVM's format), `text` (raw text), `files` (jobs over files), `neighbors` (search), `linear`
(linear models on codes), `approximation` (errors and sizes) and `comparison` (which map for these
rows), and the functions `from_config`, which makes a map from what its ``to_config`` gave, and
`show_versions`. All are imported when they are first used.

The folders, from the top down; each imports only from those below it:

- ``cli``: the ``sparsemaps`` command. ``dask``: more than one machine. ``files``: jobs over files.
- ``comparison``: which map for these rows. ``approximation``: how large, how good. ``linear``:
  linear models on codes. ``neighbors``: search on codes. ``maps``: the maps.
- ``codes``: packed codes. ``laws``: the facts about estimates. ``kernels``: exact Gram matrices.
  ``text``: raw text to CSR. ``libsvm``: LIBSVM's format and CSR.
- ``_input``: a matrix that is read. ``_tools``: parameters, seeds, threads, files, progress.
- ``_loops``: compiled loops.
"""

import re as _re
from importlib import import_module as _import_module
from typing import Any as _Any

from sparsemaps._tools._lazy_names import modules_of_names as _modules_of_names

_MODULE_OF = _modules_of_names(__file__)
"""The module of each public name."""

__all__ = sorted(_MODULE_OF)

_MAPS = {
    name: module
    for name, module in _MODULE_OF.items()
    if _re.match(r"sparsemaps\.maps\.[a-z]", module)
}
"""The names of the maps, with the modules that have them."""

__doc__ = (__doc__ or "").replace("{maps}", "\n".join(f"- `{name}`" for name in sorted(_MAPS)))


def __getattr__(name: str) -> _Any:
    """Load a name when it is first used, as SciPy and scikit-learn take a second to import."""
    if name == "__version__":
        from importlib.metadata import version  # here, as it imports modules for e-mail

        value: _Any = version("sparsemaps")
    elif (module := _MODULE_OF.get(name)) == "sparsemaps":
        value = _import_module(f"sparsemaps.{name}")
    elif module is not None:
        value = getattr(_import_module(module), name)
    else:
        raise AttributeError(f"module 'sparsemaps' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
