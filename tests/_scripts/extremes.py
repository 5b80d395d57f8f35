"""Gives every map parameters and matrices at the ends of what integers and memory allow.

Run in a process of its own, as what goes wrong here is a crash. Prints what was neither done nor
refused with an allowed error, and for both how many calls were refused.
"""

import inspect
import resource
import sys
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from _data.rows import random_csr
from _data.variants import MAPS, make
from _oracles.equal import assert_same

EXTREMES = (
    -(2**63),
    -1,
    0,
    2**31 - 1,
    2**31,
    2**63 - 1,
    2**63,
    2**64,
    10**30,
    np.int8(-128),
    np.uint8(255),
    np.int64(2**63 - 1),
    np.uint64(2**64 - 1),
)


def _limit_memory(n_bytes):
    """Let this process grow by so much."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + n_bytes
    resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))


def _unlimited():
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def _try(what, function, allowed):
    """Whether one of the allowed errors is raised."""
    try:
        function()
    except allowed:
        return True
    except BaseException as error:
        print(f"{what}: {error!r}")
    return False


def integers():
    """Each integer parameter of each map at its ends; then the widest matrices."""
    _limit_memory(2**30)
    refused = 0
    X = sp.csr_array(np.array([[0.5, 0.0, 2.0]]))
    for name, variants in MAPS.items():
        for key, default in inspect.signature(type(make(name, **variants[0]))).parameters.items():
            if type(default.default) is not int and key != "random_state":
                continue
            for value in EXTREMES:
                for parameters in variants:
                    new = make(name, **{**parameters, key: value})
                    what = f"{name}({parameters}, {key}={value!r})"
                    print(what, file=sys.stderr)
                    refused += _try(
                        what, lambda new=new: new.fit_transform(X), (ValueError, MemoryError)
                    )
    for width in (2**31 - 1, 2**31, 2**32, 2**63 - 1):
        column = np.array([width - 1])
        X = sp.csr_array((np.array([1.0]), column, np.array([0, 1])), shape=(1, width))
        for name, variants in MAPS.items():
            for parameters in variants:
                what = f"{name}({parameters}), {width} columns"
                print(what, file=sys.stderr)
                new = make(name, **parameters)
                refused += _try(
                    what, lambda new=new, X=X: new.fit_transform(X), (ValueError, MemoryError)
                )
    return refused


def memory():
    """Transforms that memory does not suffice for, after which it does again."""
    refused = 0
    X = random_csr(4000, 60, 0.05)
    for name, variants in MAPS.items():
        for parameters in variants:
            fitted = make(name, **parameters).fit(X)
            expected = fitted.transform(X)
            for n_jobs, n_bytes in product((1, 3), (0, 2**17, 2**18, 2**20, 2**22)):
                what = f"{name}({parameters}), n_jobs={n_jobs}, {n_bytes} bytes"
                print(what, file=sys.stderr)
                fitted.set_params(n_jobs=n_jobs)
                _limit_memory(n_bytes)
                refused += _try(what, partial(fitted.transform, X), MemoryError)
                _unlimited()
            assert_same(fitted.set_params(n_jobs=1).transform(X), expected)
    return refused


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(integers())
    print(memory())
