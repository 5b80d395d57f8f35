"""Libraries that only some uses need."""

import importlib
from typing import Any


def library(module: str, use: str, extra: str) -> Any:
    """A module that an extra of the package brings; an ImportError that names the extra if it is
    missing."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        needed = module.partition(".")[0]
        raise ImportError(f'{use} needs {needed}: pip install "sparsemaps[{extra}]"') from error
