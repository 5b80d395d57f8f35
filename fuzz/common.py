"""What all targets share: the package is instrumented while it is imported, then libFuzzer runs."""

import sys

import atheris

with atheris.instrument_imports(include=["sparsemaps"]):
    import sparsemaps
    import sparsemaps.codes
    import sparsemaps.kernels
    import sparsemaps.libsvm
    import sparsemaps.text

__all__ = ["atheris", "run", "sparsemaps"]


def run(target):
    """Give `target` bytes for ever, or as the command line says (libFuzzer's options)."""
    atheris.Setup(sys.argv, target)
    atheris.Fuzz()
