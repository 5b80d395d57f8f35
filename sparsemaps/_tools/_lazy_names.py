"""Names of packages that are imported on first use."""

import re
from pathlib import Path


def modules_of_names(file: str) -> dict[str, str]:
    """Return the module of each public name of a package, from the stub next to its
    ``__init__.py``, the only list of names."""
    stub = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
    found = re.findall(r"^from ([\w.]+) import \(?\s*(\w+) as ", stub, re.MULTILINE)
    return {name: module for module, name in found}
