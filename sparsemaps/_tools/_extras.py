"""Libraries that only some uses need: the extras."""

import importlib
from typing import Any


def library(module: str, use: str, package: str = "", extra: str = "text") -> Any:
    """Return a module of a library that may be missing. The ImportError then names the extra, and
    the package if its name is not the beginning of the module's."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        needed = package or module.partition(".")[0]
        raise ImportError(f'{use} needs {needed}: pip install "sparsemaps[{extra}]"') from error
