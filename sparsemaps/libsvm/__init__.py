"""Files in LIBSVM's format: load, dump, stream, and map.

The functions have scikit-learn's signatures and behaviour, so that they can replace scikit-learn's
functions. ``docs/libsvm.md`` lists the differences.
"""

from sparsemaps.libsvm._files import MappedFile, map_svmlight_file
from sparsemaps.libsvm._read import load_svmlight_file, load_svmlight_files
from sparsemaps.libsvm._stream import iter_svmlight_file
from sparsemaps.libsvm._write import dump_svmlight_file

__all__ = [
    "MappedFile",
    "dump_svmlight_file",
    "iter_svmlight_file",
    "load_svmlight_file",
    "load_svmlight_files",
    "map_svmlight_file",
]


def __dir__() -> list[str]:
    return __all__
