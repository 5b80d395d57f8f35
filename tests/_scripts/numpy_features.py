"""Prints the instruction sets that NumPy found beyond its baseline.

They are for the environment variable ``NPY_DISABLE_CPU_FEATURES``: without them NumPy takes code
that every machine has.
"""

import contextlib
import io

import numpy as np


def features():
    """The names of what NumPy found beyond its baseline, and uses."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        found = np.show_config(mode="dicts")
    return found["SIMD Extensions"].get("found", [])


if __name__ == "__main__":
    print(" ".join(features()))
