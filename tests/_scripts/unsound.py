"""Gives every unsound matrix to every function, in some of the types of values each time and in all
of them in the end.

Run in a process of its own, as what goes wrong here is a crash. Prints what was not refused with a
ValueError, and after each group of functions how many calls were made.
"""

import io
import itertools
import sys
import warnings

import numpy as np
from _data.matrices import UNSOUND, VALUE_TYPES
from _data.variants import MAPS, make

from sparsemaps import kernels, libsvm


def _maps():
    for name, variants in MAPS.items():
        for number, parameters in enumerate(variants):
            new, fitted = make(name, **parameters), make(name, **parameters).fit(np.ones((2, 4)))
            yield f"{name} {number}.fit", new.fit
            yield f"{name} {number}.transform", fitted.transform
            if hasattr(fitted, "encode"):
                yield f"{name} {number}.encode", fitted.encode
            if hasattr(fitted, "sample"):
                yield f"{name} {number}.sample", fitted.sample


def _kernels():
    Y = np.ones((2, 4))
    for name in kernels.__all__:
        function = getattr(kernels, name)
        if function.__module__.startswith("sparsemaps.kernels."):
            yield f"{name}(X)", function
            yield f"{name}(Y, X)", lambda X, function=function: function(Y, X)


def _files():
    def dump(X, y, **options):
        libsvm.dump_svmlight_file(X, y, io.BytesIO(), **options)

    yield "dump_svmlight_file(X, y)", lambda X: dump(X, np.zeros(3))
    yield (
        "dump_svmlight_file(X, Y)",
        lambda Y: dump(np.ones((3, 2)), Y, multilabel=True),
    )


# Of the types of values a call meets one in so many. The number of matrices is odd, so that every
# matrix meets every type after as many functions.
GROUPS = [(_maps, 8), (_kernels, 4), (_files, 1)]


def main(functions, step):
    calls = 0
    turns = itertools.count()
    assert len(UNSOUND) % 2 == 1
    for name, function in functions():
        for what, make_matrix in UNSOUND.items():
            first = next(turns) % step
            for dtype in VALUE_TYPES[first::step]:
                try:
                    X = make_matrix(dtype)
                except (TypeError, ValueError):
                    continue  # SciPy has no matrix of this format and type
                print(f"\r{name}, {what}, {dtype}", end="", file=sys.stderr, flush=True)
                calls += 1
                try:
                    function(X)
                except ValueError:
                    continue
                except Exception as error:
                    print(f"{name}, {what}, {dtype}: {type(error).__name__}: {error}")
                else:
                    print(f"{name}, {what}, {dtype}: accepted")
    print(calls)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for functions, step in GROUPS:
        main(functions, step)
