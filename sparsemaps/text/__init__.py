"""Raw texts to sparse matrices.

These modules make rows for the maps from texts.

- ``_inputs`` cuts texts (lists, generators, NumPy, pandas, polars, Arrow) into blocks of bounded
  size.
- ``_csr`` has threads make rows of the blocks, and joins the rows to one CSR matrix.
- ``_long_texts`` makes the rows of texts of millions of characters, a piece of the text at a time.
- ``_normal_forms`` makes normal forms of texts.
- ``_vectorizer`` has `HashingVectorizer`, scikit-learn's class with compiled loops.
- ``_byte_ngrams`` has `ByteNgrams`, which counts byte n-grams at exact columns.
- ``_frequencies`` counts how many records have a column, in a table of fixed size. ``_idf`` has
  `IdfWeights`, which weights columns by it. ``_weighted_ngrams`` does so to the rows of texts.
  ``_own_ngrams`` leaves out the n-grams of a text that many records share.
- ``_ngram_places`` tells which part of a text an n-gram is.
- ``_analyzers`` makes vectorizers from short descriptions such as "word:5". ``_descriptions`` says
  which parameters of a vectorizer decide its rows.
- ``_snippets`` takes short parts of texts at random, to train models of short texts too.
- ``_records`` has `iter_records`, which reads texts from files.

The loops are ``_loops/vectorizer.pxi``, ``text_bytes.pxi``, ``frequencies.pxi`` and
``normalize.pxi``, with their inner loops in ``_loops/c/text``. Users, ``maps`` and ``files``
call these modules.
"""

from typing import TYPE_CHECKING, Any

from sparsemaps.text._byte_ngrams import ByteNgrams
from sparsemaps.text._idf import IdfWeights
from sparsemaps.text._normal_forms import normalize
from sparsemaps.text._snippets import snippets
from sparsemaps.text._vectorizer import WORDS_AND_CHARACTERS, WORDS_AND_SIGNS, HashingVectorizer

if TYPE_CHECKING:
    from sparsemaps.text._records import iter_records

__all__ = [
    "WORDS_AND_CHARACTERS",
    "WORDS_AND_SIGNS",
    "ByteNgrams",
    "HashingVectorizer",
    "IdfWeights",
    "iter_records",
    "normalize",
    "snippets",
]


def __getattr__(name: str) -> Any:
    """Load what reads files when it is first used, as formats take a while to import."""
    if name != "iter_records":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sparsemaps.text._records import iter_records

    return iter_records
