"""Compiled loops on plain arrays.

There is one file per algorithm. It iterates over the rows of a block without the interpreter lock
and calls the inner loops in ``c/``, which are built once per instruction set. The comment at the
head of a file gives Input, Output, Cost and Reference. Callers check all arguments.

Each module includes several files (``.pxi``), because Cython and the C compiler take a second for
any module, however short.

- ``rows``: checks and conversions of rows; ``gram``: sums over the columns that two rows share;
  ``functions``: elementary functions.
- ``maps``: ``count_sketch``, ``tensor_sketch``, ``random_maclaurin``, ``projection``, ``fourier``,
  ``fastfood``, ``random_binning``, ``weighted_sampling``, ``level_sampling``, ``minhash``, and the
  parts that several of them use: ``groups``, ``hashing``, ``pages``, ``samples``.
- ``codes``: packing and comparison of codes; ``bands`` and ``neighbors``: search; ``band_tables``:
  hash tables that grow with the rows; ``linear``: training of models on codes.
- ``text``: ``vectorizer``: n-grams of raw text; ``arrow``, ``json_lines``, ``text_tables``,
  ``text_bytes``; ``normalize``: normal forms of text; ``frequencies``: document frequencies of
  columns; ``libsvm``: reading and writing LIBSVM text.
- ``levels``: the instruction set in use; ``scratch``: per-thread scratch memory.
- ``*.pxd``: declarations that several modules share: ``emit``, ``sort``, ``code_output``;
  ``arrays``: arrays whose memory and types a driver passes to the loops; ``types``: value and
  column types for loops written in Cython.

``c/`` has the inner loops in ``text``, ``random``, ``rows``, ``codes``, ``maps`` and ``linear``.
``c/base`` has vectors, memory and the choice of the instruction set.
"""

from importlib.util import find_spec

if find_spec(f"{__name__}.rows") is None:
    raise ImportError(
        "the compiled modules of sparsemaps are missing here. In a checkout, install the package "
        "(pip install .), and start Python in another folder: it imports the current folder first"
    )
