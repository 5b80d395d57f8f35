"""Files in LIBSVM's format: load, dump, and stream.

The functions have scikit-learn's signatures and behaviour, so they can replace scikit-learn's
functions. ``docs/libsvm.md`` lists the differences.

- ``_parse`` converts a block of text to arrays. ``_pipeline`` distributes the blocks of a file to
  threads, and returns the results in order.
- ``_read`` has `load_svmlight_file` and `load_svmlight_files`, ``_stream`` has
  `iter_svmlight_file`.
- ``_write`` has `dump_svmlight_file`, and formats lines of rows and of codes for ``files``.

No module here depends on a map: ``files`` maps files.
"""

from sparsemaps.libsvm._read import load_svmlight_file, load_svmlight_files
from sparsemaps.libsvm._stream import iter_svmlight_file
from sparsemaps.libsvm._write import dump_svmlight_file

__all__ = [
    "dump_svmlight_file",
    "iter_svmlight_file",
    "load_svmlight_file",
    "load_svmlight_files",
]


def __dir__() -> list[str]:
    return __all__
