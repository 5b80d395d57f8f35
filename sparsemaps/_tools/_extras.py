"""Optional libraries: the extras."""

import importlib
from typing import Any


def library(module: str, use: str, package: str = "", extra: str = "text") -> Any:
    """Import a module of a library that may be missing. The ImportError then names the extra and
    the package. `package` is needed only if it is not the first part of the module name."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        needed = package or module.partition(".")[0]
        raise ImportError(f'{use} needs {needed}: pip install "sparsemaps[{extra}]"') from error
