"""Versions in use, for bug reports."""

import platform
from importlib.metadata import PackageNotFoundError, version

from sparsemaps._loops import levels
from sparsemaps._tools import _seeding


def show_versions() -> None:
    """Print the versions of the package and its dependencies, for bug reports.

    The scheme is the version of the random numbers: outputs with the same seed can be compared if
    their schemes are equal. The SIMD level is the set of vector instructions in use; it does not
    affect the output. ``SPARSEMAPS_SIMD`` limits the level.

    Examples
    --------
    >>> import sparsemaps
    >>> sparsemaps.show_versions()  # doctest: +ELLIPSIS
    sparsemaps    ...
    scheme        1
    SIMD level    ... (built: ...)
    Python        ...
    platform      ...
    numpy         ...
    scipy         ...
    scikit-learn  ...
    tqdm          ...
    """
    lines = {
        "sparsemaps": _version("sparsemaps"),
        "scheme": str(_seeding.SCHEME),
        "SIMD level": f"{levels.in_use()} (built: {', '.join(levels.built())})",
        "Python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in ("numpy", "scipy", "scikit-learn", "tqdm")},
    }
    for name, value in lines.items():
        print(f"{name:13} {value}")


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
