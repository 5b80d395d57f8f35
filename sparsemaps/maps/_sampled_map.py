"""The base class of maps that draw codes, and the methods of all maps that have codes."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, Literal, overload

import numpy as np

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Array, Bytes, MatrixLike, Output
from sparsemaps.codes._code_checks import TEXTS
from sparsemaps.codes._packed import PackedCodes
from sparsemaps.maps._draw import EncodedRows
from sparsemaps.maps._sparse_map import SparseMap
from sparsemaps.maps._texts import TextEncoder


class HasCodes(SparseMap[Output]):
    """A map whose draw is a `CodesDraw`."""

    @overload
    def encode(self, X: MatrixLike, *, packed: Literal[False] = False) -> Bytes: ...

    @overload
    def encode(self, X: MatrixLike, *, packed: Literal[True]) -> PackedCodes: ...

    @overload
    def encode(self, X: MatrixLike, *, packed: bool) -> Bytes | PackedCodes: ...

    def encode(self, X: MatrixLike, *, packed: bool = False) -> Bytes | PackedCodes:
        """Map each row of `X` to packed codes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As in ``transform``.
        packed : bool, default=False
            Whether to return `PackedCodes`, which also have the map, and which rows have samples.

        Returns
        -------
        codes : ndarray of uint8, shape (n_samples, ceil(n_hashes * bits / 8)), or PackedCodes
            Each row has its codes one after another, lowest bit first, in the order of
            ``np.packbits(..., bitorder="little")``. `bits` includes `t_bits` if the map has them. A
            row without samples is all zeros.

        Raises
        ------
        ValueError
            As in ``transform``.
        """
        _checks.check_bool("packed", packed)
        encoded = self.draw.encode(self._work(X), packed=packed)
        return self._packed_codes([encoded]) if packed else np.asarray(encoded[0])

    def _packed_codes(
        self, parts: Sequence[EncodedRows], texts: dict[str, Any] | None = None
    ) -> PackedCodes:
        """Return consecutive rows, in parts, as `PackedCodes` with the map and the law of codes.
        No parts are no rows. `texts` describes the vectorizer of rows of texts."""
        draw = self.draw
        out, sampled, sizes = zip(*parts or [draw.new_codes(0)], strict=True)
        # A single part is not copied.
        joined: Any = itemgetter(0) if len(out) == 1 else np.concatenate
        return PackedCodes(
            joined(out),
            draw.law.bits,
            self.to_config() | ({} if texts is None else {TEXTS: texts}),
            n_hashes=draw.size,
            sampled=joined(sampled),
            law=draw.law.codes,
            sizes=None if sizes[0] is None else joined(sizes),
        )

    def numbers(self, X: MatrixLike) -> Array:
        """Return the codes of each row as int32, or -1 in rows without samples."""
        return self.draw.numbers(self._work(X))

    @overload
    def encode_texts(
        self, vectorizer: object, texts: Iterable[Any], *, packed: Literal[False] = False
    ) -> Bytes: ...

    @overload
    def encode_texts(
        self, vectorizer: object, texts: Iterable[Any], *, packed: Literal[True]
    ) -> PackedCodes: ...

    def encode_texts(
        self, vectorizer: object, texts: Iterable[Any], *, packed: bool = False
    ) -> Bytes | PackedCodes:
        """Map raw texts to packed codes, some texts at a time.

        The result equals ``encode(vectorizer.transform(texts))``, but the sparse matrix of all
        texts, which would take many times as much memory as the codes, is never built.

        Parameters
        ----------
        vectorizer : str, Texts or object with ``transform``
            "word:5", "char:3-5" and the like, and `sparsemaps.files.Texts`, give the n-grams that
            the commands make for ``--texts``, as sets for `MinHash` and with counts for other maps.
            `max_df` and `idf` of `Texts` need its `frequencies`. An object may be
            `sparsemaps.text.HashingVectorizer`, `sparsemaps.text.ByteNgrams`, or any other
            vectorizer whose rows depend only on their own texts. The map must have been fitted to
            its number of columns, or to any number by ``fit_any_width``.
        texts : iterable of texts
            Texts in any form that the vectorizers of `sparsemaps.text` accept.
        packed : bool, default=False
            As in `encode`.

        Returns
        -------
        codes : ndarray of uint8, shape (n_texts, ceil(n_hashes * bits / 8)), or PackedCodes
            As in `encode`; no texts give no rows. The config of `PackedCodes` has the class of the
            vectorizer and the parameters that determine the rows, so that comparing them with codes
            of other vectorizers raises an error.

        Raises
        ------
        ValueError
            As in ``transform`` of the vectorizer and of the map.

        Examples
        --------
        >>> from sparsemaps import MinHash
        >>> minhash = MinHash(n_hashes=64, random_state=0).fit_any_width()
        >>> minhash.encode_texts("word:1", ["one text", "and another one"]).shape
        (2, 64)
        """
        _checks.check_bool("packed", packed)
        if isinstance(texts, (str, bytes)):
            raise ValueError(
                f"texts must be an iterable of texts, got a single {type(texts).__name__}"
            )
        from sparsemaps.text._analyzers import as_vectorizer  # imports scikit-learn's, slowly

        vectorizer = as_vectorizer(vectorizer, binary=self.law.is_of_sets, by_table=True)
        return TextEncoder(self, vectorizer).encode(texts, self.n_jobs, packed=packed)


class SampledMap(HasCodes[Output]):
    """A map that draws `n_hashes` codes of a few bits for each row, such that the codes of two rows
    agree at the rate of the kernel."""

    n_hashes: int

    size_name = "n_hashes"
