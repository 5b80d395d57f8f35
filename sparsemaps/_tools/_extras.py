"""Libraries that only some uses need."""

import importlib
from typing import Any


def library(module: str, use: str, extra: str, package: str = "") -> Any:
    """A module of a library that an extra of the package installs. Without the library, an
    ImportError names the extra, and the package if its name is not the beginning of the module's.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        needed = package or module.partition(".")[0]
        raise ImportError(f'{use} needs {needed}: pip install "sparsemaps[{extra}]"') from error
