"""Compiled loops on plain arrays.

One file for each algorithm goes through the rows of a block, without the lock of the interpreter,
and calls the inner loops in ``c/``, which are built once for each instruction set. The comment at
the head of a file has Input, Output, Cost and Reference. Callers check all arguments.

Each module is made of several files (``.pxi``): Cython and the C compiler take a second for any
module, however short.

- ``rows``: checks and conversions of rows; ``gram``: sums over the common columns of two rows;
  ``functions``: elementary functions.
- ``maps``: ``count_sketch``, ``tensor_sketch``, ``random_maclaurin``, ``projection``, ``fourier``,
  ``fastfood``, ``random_binning``, ``weighted_sampling``, ``level_sampling``, ``minhash``, and
  what several of them use: ``groups``, ``hashing``, ``pages``, ``samples``.
- ``codes``: packed codes are written and compared; ``bands`` and ``neighbors``: search;
  ``band_tables``: hash tables that grow with the rows. ``linear``: models are trained on codes.
- ``text``: ``vectorizer``: n-grams of raw text; ``arrow``, ``json_lines``, ``text_tables``,
  ``text_bytes``; ``normalize``: normal forms of text. ``frequencies``: how many records have a
  column. ``libsvm``: text of numbers is read and written.
- ``levels``: which instruction set is in use; ``scratch``: memory that a thread keeps.
- ``*.pxd``: what several modules share: ``emit``, ``sort``, ``code_output``; ``arrays``: memory and
  types of a driver's arrays, which it hands to the loops; ``types``: types of values and columns,
  for loops that are in Cython.

In ``c/``: ``text``, ``random``, ``rows``, ``codes``, ``maps`` and ``linear`` hold the inner loops
by what they work on; ``base`` holds vectors, memory and the choice of the instruction set.
"""

from importlib.util import find_spec

if find_spec(f"{__name__}.rows") is None:
    raise ImportError(
        "the compiled modules of sparsemaps are missing here. In a checkout, install the package "
        "(pip install .), and start Python in another folder: it imports the current folder first"
    )
