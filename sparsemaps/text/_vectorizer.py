"""scikit-learn's HashingVectorizer, implemented by compiled loops."""

import copy
import numbers
import operator
import re
from collections.abc import Iterable
from functools import partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from sparsemaps._loops import text as _text
from sparsemaps._tools import _sklearn, _threads
from sparsemaps._tools._parameters import ParameterError, absent, named
from sparsemaps._tools._typing import CsrMatrix, Matrix
from sparsemaps.text import _inputs
from sparsemaps.text._csr import make_rows
from sparsemaps.text._long_texts import PiecewiseVectorizer
from sparsemaps.text._normal_forms import ACCENTS, FORMS, normalize

WITHOUT_BLANKS = "".join(f"{chr(first)}-{chr(last)}" for first, last in _text.WITHOUT_BLANKS)
"""The characters of scripts without spaces between words, as ranges in a class of a regular
expression."""

WORDS_AND_CHARACTERS = rf"[{WITHOUT_BLANKS}]|[^\s{WITHOUT_BLANKS}]+"
"""Token pattern for texts in any language. A token is a single character in scripts without spaces
between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), and elsewhere a run of characters that
are not whitespace."""

WORDS_AND_SIGNS = r"\w+|[^\w\s]"
"""Token pattern for source code. A token is a run of letters, digits and underscores, or a single
other character. Whitespace around them does not matter."""

RUNS = {
    r"\b\w\w+\b": ("letters", 2),
    r"\w\w+": ("letters", 2),
    r"\b\w+\b": ("letters", 1),
    r"\w+": ("letters", 1),
    r"\S+": ("no spaces", 1),
    WORDS_AND_CHARACTERS: ("scripts", 1),
    WORDS_AND_SIGNS: ("signs", 1),
}
"""Token patterns that compiled loops match: the characters of words and the least length of a
word."""


_WORDS = r"(?u)\b\w\w+\b"
"""scikit-learn's default token pattern."""


def _pattern_of(token_pattern: str | None) -> str:
    """Return a token pattern in the form of the keys of `RUNS`."""
    return (token_pattern or "").removeprefix("(?u)")


class HashingVectorizer(_sklearn.HashingVectorizer, auto_wrap_output_keys=None):
    r"""Compiled implementation of scikit-learn's `HashingVectorizer`, with the same parameters and
    bit-identical output.

    Each text becomes a row. Its n-grams of words or characters are hashed to columns and counted.
    The output equals scikit-learn's, bit for bit. Characters are classified and lowered as in the
    running Python.

    Parameters
    ----------
    input : {"content", "filename", "file"}, default="content"
        Whether texts are str or bytes, file names, or objects with a method ``read``.
    encoding : str, default="utf-8"
        The encoding of bytes and files.
    decode_error : {"strict", "ignore", "replace"}, default="strict"
        Whether bytes that cannot be decoded raise an error, are ignored, or are replaced.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Whether and how to remove accents.
    lowercase : bool, default=True
        Whether to lower letters first.
    preprocessor, tokenizer : callable or None, default=None
        Functions that replace the preprocessing and the tokenization of a text.
    stop_words : "english", list or None, default=None
        Words to leave out.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        Regular expression for words. Compiled loops match the default, ``r"(?u)\b\w+\b"``,
        ``r"\w+"``, ``r"\S+"``, and this package's `WORDS_AND_CHARACTERS` and `WORDS_AND_SIGNS`.
        Python's ``re`` matches other patterns, and then takes most of the time.
    ngram_range : (int, int), default=(1, 1)
        Least and greatest size of n-grams.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        Whether n-grams consist of words, of characters, or of the characters of one word with the
        spaces around it.
    n_features : int, default=2**20
        Number of columns. `MinHash` and the other maps accept any number of columns, so the largest
        value, ``2**31 - 2``, costs nothing there and makes collisions rare.
    binary : bool, default=False
        Whether to set the value of each n-gram that occurs to 1 instead of its count.
    norm : {"l1", "l2"} or None, default="l2"
        Norm of each row of the output.
    alternate_sign : bool, default=True
        Whether to count half of the n-grams, by a bit of their hashes, as -1.
    dtype : data-type, default=float64
        Type of the values. Compiled for float64, float32, int64 and int32.
    normalize : {"nfc", "nfkc", "plain"} or None, default=None
        Normal form that is applied to each text first (`sparsemaps.text.normalize`). None leaves
        texts unchanged, like scikit-learn's class.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 all processors. The output is the same.

    See Also
    --------
    ByteNgrams : Count byte n-grams, without a hash.

    Notes
    -----
    For callables, subclasses that override a method of scikit-learn's class, and other types of
    values, the class runs scikit-learn's code, at its speed. scikit-learn's documentation describes
    the parameters in more detail.

    Besides the output, it takes some megabytes of memory, and one text if texts are files. A text
    of more than 2^21 characters is hashed piecewise if it is a str or an Arrow string, has spaces,
    and its words are not matched by Python's ``re``. Otherwise hashing takes 5 to 15 times the
    memory of the text. Shorter Arrow strings are read in place. The output differs from
    scikit-learn's in one case: scikit-learn's float32 counts saturate at 2^24.

    References
    ----------
    Weinberger, Dasgupta, Langford, Smola & Attenberg, "Feature hashing for large scale multitask
    learning", ICML 2009.

    Examples
    --------
    >>> from sparsemaps.text import HashingVectorizer
    >>> vectorizer = HashingVectorizer(ngram_range=(1, 2), norm=None, alternate_sign=False)
    >>> X = vectorizer.fit_transform(["to be or not to be", "that is the question"])
    >>> X.shape
    (2, 1048576)
    >>> X.sum(axis=1).tolist()
    [[11.0], [7.0]]
    """

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: object = None,
        lowercase: bool = True,
        preprocessor: object = None,
        tokenizer: object = None,
        stop_words: object = None,
        token_pattern: str | None = _WORDS,
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: object = "word",
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: npt.DTypeLike = np.float64,
        normalize: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            input=input,
            encoding=encoding,
            decode_error=decode_error,
            strip_accents=strip_accents,
            lowercase=lowercase,
            preprocessor=preprocessor,
            tokenizer=tokenizer,
            stop_words=stop_words,
            token_pattern=token_pattern,
            ngram_range=ngram_range,
            analyzer=analyzer,
            n_features=n_features,
            binary=binary,
            norm=norm,
            alternate_sign=alternate_sign,
            dtype=dtype,
        )
        self.normalize = normalize
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[Any], y: object = None) -> Self:
        """Check the parameters. Texts are not read.

        Parameters
        ----------
        X : iterable of texts
        y : ignored

        Returns
        -------
        self : HashingVectorizer

        Raises
        ------
        ValueError
            If a parameter is not allowed.
        """
        _threads.resolve_n_jobs(self.n_jobs)
        self._check_normalize()
        if isinstance(X, str) or not self._is_usual():
            super().fit(X, y)
        if self.analyzer == "word" and _pattern_of(self.token_pattern) not in RUNS:
            self.build_tokenizer()
        return self

    def _is_usual(self) -> bool:
        """Return whether scikit-learn allows the parameters without a warning, so that its checks
        need not be imported. False is always safe."""
        pattern = self.token_pattern
        return (
            self._is_compiled()
            and self.tokenizer is None
            and self.stop_words is None
            and all(isinstance(value, str) for value in (self.input, self.encoding))
            and self.input in ("content", "filename", "file")
            and isinstance(self.decode_error, str)
            and self.decode_error in ("strict", "ignore", "replace")
            and (self.strip_accents is None or self.strip_accents in ACCENTS)
            and all(type(value) is bool for value in (self.lowercase, self.binary))
            and type(self.alternate_sign) is bool
            and isinstance(self.ngram_range, tuple)
            and (pattern == _WORDS or (isinstance(pattern, str) and self.analyzer == "word"))
            and self.n_features < 2**31 - 1
        )

    def _accents_and_case(self) -> Any:
        """Return a preprocessor like scikit-learn's that removes accents in linear time."""
        plain = copy.copy(self)
        if isinstance(self.strip_accents, str):
            plain.strip_accents = ACCENTS.get(self.strip_accents, self.strip_accents)
        return super(HashingVectorizer, plain).build_preprocessor()

    def build_preprocessor(self) -> Any:
        preprocess = self._accents_and_case()
        if self.normalize is None:
            return preprocess
        form = self.normalize
        return lambda text: preprocess(normalize(text, form))

    def build_tokenizer(self) -> Any:
        try:
            return super().build_tokenizer()
        except (re.error, ValueError, TypeError, RecursionError, OverflowError) as error:
            said = named("token_pattern", "the token pattern")
            raise ValueError(
                f"{said} must be a regular expression with at most one group, got "
                f"{self.token_pattern!r}: {error.__cause__ or error}"  # scikit-learn may call this
            ) from error

    def _check_normalize(self) -> None:
        if self.normalize is None:
            return
        if not isinstance(self.normalize, str) or self.normalize not in FORMS:
            allowed = f"{absent()} or {' or '.join(map(repr, FORMS))}"
            raise ParameterError("normalize", repr(self.normalize), allowed)
        if callable(self.analyzer):
            raise ParameterError(
                "normalize", repr(self.normalize), "None if the analyzer is a function"
            )

    def transform(self, X: Iterable[Any]) -> CsrMatrix:
        """Compute a row for each text.

        Parameters
        ----------
        X : iterable of texts
            A list, a generator, a NumPy array of objects or strings, a pandas or polars series, or
            an array of strings with Arrow's ``__arrow_c_stream__`` or ``__arrow_c_array__``.

        Returns
        -------
        Z : CSR matrix of shape (n_texts, n_features); no texts make no rows
            A ``csr_array`` if scikit-learn's ``sparse_interface`` is "sparray".

        Raises
        ------
        ValueError
            If a text is neither str nor bytes, cannot be decoded, or has more than 2^29 characters;
            the message has the number of the text, from 0. If `X` is a table. Also in all cases in
            which scikit-learn raises it.
        """
        compiled = None if isinstance(X, str) else self._compiled()
        if compiled is None:
            return self._transform_elsewhere(X)
        dtype = np.dtype(self.dtype)
        if dtype.kind == "i" and self.norm is not None:
            dtype = np.dtype(np.float64)
        blocks, n_texts = _inputs.blocks(X), operator.length_hint(X)
        width = int(self.n_features)
        return make_rows(compiled, blocks, n_texts, width, dtype, self.n_jobs)

    def _transform_elsewhere(self, texts: Iterable[Any]) -> Matrix:
        """Return the rows by scikit-learn's code, which checks `n_features` only in ``fit``."""
        self._check_normalize()
        if isinstance(self.n_features, numbers.Integral) and self.n_features < 1:
            super().fit([])
        try:
            return super().transform(texts)
        except StopIteration:  # scikit-learn's error without texts
            container = sp.csr_array if _sklearn.sparse_arrays_asked() else sp.csr_matrix
            return container((0, int(self.n_features)), dtype=self.dtype)

    def _is_compiled(self) -> bool:
        """Return whether the compiled loops support all parameters."""
        own = type(self)
        if own is not HashingVectorizer and any(
            getattr(own, name, None) is not getattr(HashingVectorizer, name, None)
            for name in _HOOKS  # present once scikit-learn is imported, or overridden
        ):
            return False
        if not isinstance(self.analyzer, str) or self.analyzer not in _text.ANALYZERS:
            return False
        if self.preprocessor is not None or callable(self.strip_accents):
            return False
        if self.analyzer == "word" and self.tokenizer is not None:
            return False
        low, high = self.ngram_range
        try:
            dtype = np.dtype(self.dtype)
        except TypeError:
            return False
        return bool(
            isinstance(low, int)
            and isinstance(high, int)
            and 1 <= low <= high < 2**31
            and isinstance(self.n_features, numbers.Integral)
            and 1 <= self.n_features < 2**31
            and dtype in (np.float64, np.float32, np.int64, np.int32)
            and dtype.isnative
            and (self.norm is None or isinstance(self.norm, str))
            and self.norm in _text.NORMS
        )

    def _compiled(self) -> Any:
        """Return the compiled loops, which compute CSR rows of a block of texts; None if they do
        not support all parameters."""
        if not self._is_compiled():
            return None
        self._check_normalize()
        pattern = _pattern_of(self.token_pattern)
        words_of, least = RUNS.get(pattern, ("letters", 1))
        stop_words, tokenize, preprocess = None, None, None
        tokens = self.build_analyzer()
        if self.analyzer != "word":
            words_of, least = "no spaces", 1
        else:
            if self.stop_words is not None:
                stop_words = self.get_stop_words()
            if pattern not in RUNS:
                of_tokens = copy.copy(self)  # checks its stop words
                of_tokens.ngram_range, of_tokens.input = (1, 1), "content"
                tokenize = of_tokens.build_analyzer()
        if self.strip_accents:
            preprocess = self._accents_and_case()
        make = partial(
            _text.Vectorizer,
            analyzer=self.analyzer,
            words_of=words_of,
            least=least,
            ngram_range=self.ngram_range,
            lowercase=self.lowercase,
            n_features=int(self.n_features),
            alternate_sign=self.alternate_sign,
            binary=self.binary,
            norm=self.norm,
            dtype=np.float32 if np.dtype(self.dtype) == np.float32 else np.float64,
            stop_words=stop_words,
            reads=self.input != "content",
            utf8=self.decode_error == "strict" and self.encoding.lower() in ("utf-8", "utf8"),
            decode=self.decode,
            normalize=self.normalize and partial(normalize, form=self.normalize),
            preprocess=preprocess,
            tokenize=tokenize,
            tokens=tokens,
        )
        if tokenize is not None or self.input != "content":
            return make()
        plain = preprocess is not None or self.normalize is not None
        return PiecewiseVectorizer(make, self.ngram_range[1], plain=plain)


_HOOKS = (
    "build_analyzer",
    "build_preprocessor",
    "build_tokenizer",
    "decode",
    "get_stop_words",
    "_char_ngrams",
    "_char_wb_ngrams",
    "_get_hasher",
    "_word_ngrams",
)
"""Methods that determine scikit-learn's output. For a subclass that overrides one of them,
scikit-learn's code runs. Some are private, since no public name reveals whether a subclass
overrides them."""
