"""Raw texts to sparse matrices.

These modules turn texts into rows for the maps.

- ``_inputs`` cuts texts (lists, generators, NumPy, pandas, polars, Arrow) into blocks of bounded
  size.
- ``_csr`` runs the loops on the blocks in threads, and joins the rows into one CSR matrix.
- ``_long_texts`` computes the rows of texts of millions of characters piece by piece.
- ``_normal_forms`` computes normal forms of texts.
- ``_vectorizer`` has `HashingVectorizer`, scikit-learn's class with compiled loops.
- ``_byte_ngrams`` has `ByteNgrams`, which counts byte n-grams at exact columns.
- ``_frequencies`` counts document frequencies of columns in a table of fixed size. ``_idf`` has
  `IdfWeights`, which weights columns by them, and ``_weighted_ngrams`` applies the weights to the
  rows of texts. ``_own_ngrams`` drops the n-grams of a text that many records share.
- ``_ngram_places`` locates n-grams in a text.
- ``_analyzers`` makes vectorizers from short descriptions such as "word:5". ``_descriptions``
  extracts the parameters of a vectorizer that determine its rows.
- ``_snippets`` cuts random short parts from texts, to train models for short texts too.
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
    """Import ``iter_records`` on first use, as the formats take a while to import."""
    if name != "iter_records":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sparsemaps.text._records import iter_records

    return iter_records
