"""The columns of rows, and the n-grams of texts, that determine scores."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._tools import _checks, _sklearn
from sparsemaps._tools._typing import Array, Vectorizer
from sparsemaps.codes import PackedCodes, unpack

if TYPE_CHECKING:
    from sparsemaps.linear._model import CodesModel
    from sparsemaps.text import ByteNgrams

TOGETHER = " / "
"""Separator between the names of n-grams that share a column."""


_SAMPLES = 2**20
"""Samples of rows explained at a time."""

Reasons = list[tuple[Any, float]]
"""Names of columns with their contributions to a score, the largest first."""


class Score(NamedTuple):
    """The score to explain."""

    number: int
    """Number of its model."""
    sign: float
    """Factor of its model's score: for two classes, the score of the first is minus the score of
    the second."""


def reasons_of(model: "CodesModel", X: Any, score: Score | None, *, total: bool) -> Any:
    """Explain the score of one text, the scores of texts or rows, or with `total` their sums. If
    `score` is None, explain the score of the class that each row gets."""
    _checks.check_bool("total", total)
    if isinstance(X, PackedCodes):
        raise ValueError("X must be rows or texts, got PackedCodes: codes do not store columns")
    if not hasattr(model.map_, "sample"):
        raise ValueError(
            "explain needs a map whose samples are columns, MinHash or ConsistentWeightedSampling, "
            f"got {type(model.map_).__name__}"
        )
    is_one = isinstance(X, (str, bytes))
    vectorizer = getattr(model, "vectorizer_", None)
    if is_one and vectorizer is None:
        raise ValueError("X must be rows, as the model has no vectorizer, got one text")
    parts: Iterator[_MapPart]
    if vectorizer is None:
        parts = _of_rows(model, X)
    else:
        parts = _of_texts(vectorizer, [X] if is_one else X)
    explained = ((_shares(model, rows, score), names) for rows, names in parts)
    if total:
        return _totals(explained)
    each = [reasons for shares, names in explained for reasons in _named(shares, names)]
    return each[0] if is_one else each


class _MapPart(NamedTuple):
    """Some rows, and the names of their columns; for n-grams, the names are given per row."""

    rows: Any
    names: "_Names"


_Names = Sequence[str] | list[dict[int, str]] | None
"""Names of columns by number, for all rows, or one dictionary per row. None without names."""


def _of_rows(model: "CodesModel", X: Any) -> Iterator[_MapPart]:
    names = getattr(model, "feature_names_in_", None)
    X = X.tocsr() if sp.issparse(X) else X
    n_rows = _sklearn._num_samples(X)
    step = max(1, _SAMPLES // model._n_codes)
    for start in range(0, n_rows, step):
        part = X
        if n_rows > step:
            part = _sklearn._safe_indexing(X, slice(start, min(start + step, n_rows)))
        yield _MapPart(part, None if names is None else names.tolist())


def _of_texts(vectorizer: Vectorizer, texts: Sequence[str]) -> Iterator[_MapPart]:
    from sparsemaps.text._inputs import as_list, blocks

    for _, block in blocks(texts):
        some = as_list(block)
        rows = vectorizer.transform(some)
        yield _MapPart(rows, [ngrams_of_columns(vectorizer, text) for text in some])


class _Shares(NamedTuple):
    """Contributions of columns to the scores of rows, by row, the largest first."""

    n_rows: int
    rows: Array
    columns: Array
    values: Array


def _shares(model: "CodesModel", rows: Any, score: Score | None) -> _Shares:
    """Return, for each row, the sum of the weights of the codes whose samples come from each
    column.

    A code is a hash that many columns share, but a sample identifies its column.
    """
    codes = model.map_.encode(rows, packed=True)
    samples = model.map_.sample(rows)
    columns = samples[0] if isinstance(samples, tuple) else samples
    if getattr(model.map_, "signed", False):
        columns = columns // 2  # the generalised kernel has two columns for each
    sampled = np.flatnonzero(codes.sampled)
    n_codes = codes.n_hashes
    features = unpack(codes)[sampled] + (np.arange(n_codes) << codes.bits)
    if score is not None:
        weights = model._weights[features, score.number] * score.sign
    else:
        scores = model._of_codes(codes, lambda scores: scores)[sampled]
        if scores.shape[1] == 1:
            weights = model._weights[features, 0] * np.where(scores > 0, 1.0, -1.0)
        else:
            weights = model._weights[features, scores.argmax(axis=1)[:, None]]
    order = np.argsort(columns[sampled], axis=1, kind="stable")
    columns = np.take_along_axis(columns[sampled], order, axis=1)
    weights = np.take_along_axis(weights, order, axis=1)
    begins = np.ones(columns.shape, bool)
    begins[:, 1:] = columns[:, 1:] != columns[:, :-1]
    starts = np.flatnonzero(begins)
    if not len(starts):
        return _Shares(len(codes), starts, starts, np.empty(0))
    values = np.add.reduceat(weights.ravel(), starts) / np.sqrt(n_codes)
    of_rows, columns = sampled[starts // n_codes], columns.ravel()[starts]
    order = _largest_first(values, starts // n_codes)
    return _Shares(len(codes), of_rows[order], columns[order], values[order])


def _largest_first(values: Array, rows: Array) -> Array:
    """Return the order of values by row, the largest first; if equal, the first one first. Rows
    must be in order, and each must have values. Sorting the rows of a matrix is faster than sorting
    by two keys."""
    counts = np.bincount(rows)
    starts = np.cumsum(counts) - counts
    sizes = np.full((len(counts), counts.max()), -1.0)
    sizes[rows, np.arange(len(values)) - starts[rows]] = np.abs(values)
    order = np.argsort(-sizes, axis=1, kind="stable") + starts[:, None]
    found: Array = order[np.arange(sizes.shape[1]) < counts[:, None]]
    return found


def _named(shares: _Shares, names: _Names) -> list[Reasons]:
    """Return the contributions for each row, with the names of their columns."""
    ends = np.cumsum(np.bincount(shares.rows, minlength=shares.n_rows)).tolist()
    columns, values = shares.columns.tolist(), shares.values.tolist()
    found, start = [], 0
    for row, end in enumerate(ends):
        some: Any = columns[start:end]
        if names is not None:
            of_row: Any = names[row] if isinstance(names[0], dict) else names
            some = [of_row[column] for column in some]
        found.append(list(zip(some, values[start:end], strict=True)))
        start = end
    return found


def _totals(explained: Iterable[tuple[_Shares, _Names]]) -> Reasons:
    """Return the sums of the contributions over all rows, by column."""
    all_columns: list[Array] = [np.empty(0, np.int64)]
    all_values: list[Array] = [np.empty(0)]
    names: _Names = None
    ngrams: dict[int, dict[str, None]] = {}
    for shares, names in explained:
        columns, of_column = np.unique(shares.columns, return_inverse=True)
        all_columns.append(columns)
        all_values.append(np.bincount(of_column, shares.values, len(columns)))
        if names is not None and isinstance(names[0], dict):
            for row, column in zip(shares.rows.tolist(), shares.columns.tolist(), strict=True):
                of_row: Any = names[row]
                ngrams.setdefault(column, {})[of_row[column]] = None
    columns, of_column = np.unique(np.concatenate(all_columns), return_inverse=True)
    values = np.bincount(of_column, np.concatenate(all_values), len(columns))
    order = np.argsort(-np.abs(values), kind="stable")
    found: Any = columns[order].tolist()
    if ngrams:
        found = [_together(ngrams[column]) for column in found]
    elif names is not None:
        found = [names[column] for column in found]
    return list(zip(found, values[order].tolist(), strict=True))


def _together(names: Iterable[str]) -> str:
    """Return the name of a column that several n-grams share."""
    return TOGETHER.join(dict.fromkeys(one for name in names for one in name.split(TOGETHER)))


def ngrams_of_columns(vectorizer: Vectorizer, text: str) -> dict[int, str]:
    """Return the n-grams of a text by column. N-grams that share a column are joined."""
    from sparsemaps.text import ByteNgrams
    from sparsemaps.text._ngram_places import columns_of

    of: Any = getattr(vectorizer, "vectorizer", vectorizer)  # the vectorizer of weighted n-grams
    if isinstance(of, ByteNgrams):
        every: Iterable[Any] = _byte_ngrams(of, text)
    elif _sklearn.is_hashing_vectorizer(of):
        every = of.build_analyzer()(text)
    else:
        raise ValueError(
            "explain needs a HashingVectorizer or ByteNgrams of sparsemaps.text, got "
            f"{type(of).__name__}"
        )
    ngrams = list(dict.fromkeys(every))
    if not ngrams:
        return {}
    found: dict[int, list[str]] = {}
    for column, ngram in zip(columns_of(of, ngrams).tolist(), ngrams, strict=True):
        name = ngram if isinstance(ngram, str) else ngram.decode(errors="backslashreplace")
        found.setdefault(column, []).append(name)
    return {column: TOGETHER.join(names) for column, names in found.items()}


def _byte_ngrams(vectorizer: "ByteNgrams", text: str) -> Iterator[bytes]:
    """Yield the byte n-grams of a text."""
    low, high = vectorizer.ngram_range
    data = text.encode() if isinstance(text, str) else bytes(text)
    data = data.lower() if vectorizer.lowercase else data
    for n in range(low, high + 1):
        for start in range(len(data) - n + 1):
            yield data[start : start + n]
