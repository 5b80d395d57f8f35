"""Vectorizers from short descriptions."""

import os
import re
from typing import Any

from sparsemaps._tools import _sklearn
from sparsemaps._tools._parameters import ParameterError, absent, named, offered, shown
from sparsemaps.text._byte_ngrams import LONGEST, ByteNgrams
from sparsemaps.text._descriptions import vectorizer_config
from sparsemaps.text._vectorizer import (
    RUNS,
    WORDS_AND_CHARACTERS,
    WORDS_AND_SIGNS,
    HashingVectorizer,
)

LARGEST_N_FEATURES = 2**31 - 2
"""Largest number of columns that scikit-learn's vectorizer allows."""

_TOKENS = {"word": r"\S+", "auto": WORDS_AND_CHARACTERS, "code": WORDS_AND_SIGNS}
"""Token patterns of the analyzers whose n-grams are runs of tokens."""

_ANALYZERS = *_TOKENS, "char", "char_wb", "byte"

_SPEC = re.compile(rf"({'|'.join(_ANALYZERS)}):([0-9]{{1,9}})(?:-([0-9]{{1,9}}))?")


def vectorizer_of(
    spec: str,
    *,
    token_pattern: str | None = None,
    normalize: str | None = None,
    binary: bool = False,
    n_features: int = LARGEST_N_FEATURES,
    n_jobs: int | None = None,
) -> HashingVectorizer | ByteNgrams:
    r"""Return a vectorizer that counts n-grams, without signs and without a norm.

    `spec` is the analyzer with the sizes of n-grams: "word:5", "auto:5", "code:5", "char:3-5",
    "char_wb:3", "byte:3". The tokens of "auto" are words, and single characters in scripts without
    spaces between words. The tokens of "code" are runs of letters, digits and underscores, and
    single other characters. Letters are lowered, except for "byte", whose columns are exact.
    `token_pattern` is a regular expression for words; None is ``\S+``. The other parameters are
    passed to the vectorizer.
    """
    match = _SPEC.fullmatch(spec) if isinstance(spec, str) else None
    low, high = (int(match[2]), int(match[3] or match[2])) if match else (0, 0)
    if match is None or not 1 <= low <= high:
        said = named("analyzer", "the analyzer")
        raise ValueError(
            f"{said} must be {', '.join(_ANALYZERS[:-1])} or {_ANALYZERS[-1]} with the size of "
            "n-grams, or the least and the greatest, such as word:5 or char:3-5; "
            f"got {shown(spec)}"
        )
    analyzer = match[1]
    if token_pattern is not None and analyzer != "word":
        raise ValueError(
            f"{named('token_pattern', 'a token pattern')} is for words, not for {shown(spec)}"
        )
    if analyzer == "byte":
        if high > LONGEST:
            raise ValueError(f"n-grams of bytes have at most {LONGEST}, got {shown(spec)}")
        if normalize is not None:
            raise ParameterError("normalize", repr(normalize), f"{absent()} for {shown(spec)}")
        return ByteNgrams(ngram_range=(low, high), binary=binary, n_jobs=n_jobs)
    if token_pattern is None:
        token_pattern = _TOKENS.get(analyzer, r"\S+")
    of_words: Any = {"token_pattern": token_pattern} if analyzer in _TOKENS else {}
    made = HashingVectorizer(
        analyzer="word" if analyzer in _TOKENS else analyzer,
        ngram_range=(low, high),
        binary=binary,
        n_features=n_features,
        norm=None,
        alternate_sign=False,
        normalize=normalize,
        n_jobs=n_jobs,
        **of_words,
    )
    if token_pattern not in RUNS:
        made.build_tokenizer()  # raises for an invalid pattern
    return made


def spec_of(description: dict[str, Any]) -> str | None:
    """Return the `spec` of a vectorizer from its description, which may have been edited; None if
    `vectorizer_of` cannot make such a vectorizer without a token pattern."""
    given: Any = description.get("parameters")
    try:
        low, high = given["ngram_range"]
        analyzer = given.get("analyzer", "byte")
        for name, pattern in _TOKENS.items():
            analyzer = name if given.get("token_pattern") == pattern else analyzer
        spec = f"{analyzer}:{low}" + ("" if high == low else f"-{high}")
        made = vectorizer_config(
            vectorizer_of(spec, normalize=given.get("normalize")), values=False
        )
    except (ValueError, TypeError, LookupError, AttributeError):
        return None
    is_same = made["class"] == description.get("class") and all(
        given.get(name) == value for name, value in made["parameters"].items()
    )
    return spec if is_same else None


def is_specification(vectorizer: object) -> bool:
    """Return whether a parameter `vectorizer` specifies n-grams: as a string like "char:3", or as a
    value with the fields of `sparsemaps.files.Texts`."""
    if isinstance(vectorizer, type) or hasattr(vectorizer, "transform"):
        return False
    fields = "analyzer", "token_pattern", "normalize"
    return isinstance(vectorizer, str) or all(hasattr(vectorizer, name) for name in fields)


def as_vectorizer(vectorizer: Any, *, binary: bool, by_table: bool = False) -> Any:
    """Return the vectorizer of a parameter `vectorizer`. A specification of n-grams becomes a
    vectorizer that counts them, or with `binary` makes sets of them. Any other object is returned
    unchanged. With `by_table`, the frequency table of the specification filters or weights
    n-grams."""
    if not is_specification(vectorizer):
        return vectorizer
    spec, how = vectorizer, {}
    if not isinstance(vectorizer, str):
        spec = vectorizer.analyzer
        how = {"token_pattern": vectorizer.token_pattern, "normalize": vectorizer.normalize}
    try:
        made = vectorizer_of(spec, **how, binary=binary)
        made.fit([""])  # checks the parameters
        return _by_counts(made, vectorizer, binary=binary, by_table=by_table)
    except ValueError as error:
        said = offered("vectorizer", vectorizer)
        raise ValueError(f"{said}: {error}" if said else str(error)) from None


def _by_counts(made: Any, given: Any, *, binary: bool, by_table: bool) -> Any:
    """Return a vectorizer whose rows also depend on document frequencies, if the specification
    `given` asks for that."""
    names = "max_df", "idf", "frequencies"
    max_df, idf, table = (getattr(given, name, None) for name in names)
    if idf is not None and binary:
        raise ValueError("idf weighs values, but the map takes sets")
    if not by_table:
        if max_df is not None or table is not None:
            name = "max_df" if max_df is not None else "frequencies"
            raise ValueError(f"{name} is for encode_texts and for files, not for models")
        if idf is None:
            return made
        from sparsemaps.text._idf import IdfWeights

        return _sklearn.make_pipeline(made, IdfWeights(power=idf, levels=given.idf_levels))
    if max_df is None and idf is None:
        return made
    if table is None:
        name = "max_df" if max_df is not None else "idf"
        raise ValueError(f"{name} needs frequencies, a table that a run over files has counted")
    if max_df is not None:
        from sparsemaps.text._own_ngrams import OwnNgrams

        return OwnNgrams(made, os.fspath(table), max_df, given.min_own)
    from sparsemaps.text._weighted_ngrams import NgramsByTable

    assert idf is not None
    return NgramsByTable(made, os.fspath(table), idf, given.idf_levels)
