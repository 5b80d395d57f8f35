"""Codes of raw texts."""

from collections.abc import Iterable
from typing import Any, Literal, overload

import numpy as np

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Bytes
from sparsemaps.codes._code_checks import TEXTS
from sparsemaps.codes._packed import PackedCodes


class EncodesTexts:
    """The method of maps with ``encode`` that takes raw texts."""

    @overload
    def encode_texts(
        self: Any, vectorizer: Any, texts: Iterable[Any], *, packed: Literal[False] = False
    ) -> Bytes: ...

    @overload
    def encode_texts(
        self: Any, vectorizer: Any, texts: Iterable[Any], *, packed: Literal[True]
    ) -> PackedCodes: ...

    def encode_texts(
        self: Any, vectorizer: Any, texts: Iterable[Any], *, packed: bool = False
    ) -> Bytes | PackedCodes:
        """Map raw texts to packed codes, some texts at a time.

        The result is that of ``encode(vectorizer.transform(texts))``. The sparse matrix of all
        texts, which takes many times as much memory as the codes, is never made.

        Parameters
        ----------
        vectorizer : object with ``transform``
            `sparsemaps.text.HashingVectorizer`, `sparsemaps.text.ByteNgrams`, or any other whose
            rows depend on their texts alone. The map must have been fitted to its number of
            columns.
        texts : iterable of texts
            Texts in any form that the vectorizers of `sparsemaps.text` take.
        packed : bool, default=False
            As in `encode`.

        Returns
        -------
        codes : ndarray of uint8, shape (n_texts, ceil(n_hashes * bits / 8)), or PackedCodes
            As in `encode`. The config of `PackedCodes` has the class of the vectorizer and those of
            its parameters that decide the rows, so that comparing codes of other vectorizers with
            these is an error.

        Raises
        ------
        ValueError
            If there is no text, and as in ``transform`` of the vectorizer and of the map.

        Examples
        --------
        >>> from sparsemaps import MinHash
        >>> from sparsemaps.text import HashingVectorizer
        >>> words = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
        >>> minhash = MinHash(n_hashes=64, random_state=0).fit(words.transform(["any"]))
        >>> minhash.encode_texts(words, ["one text", "and another one"]).shape
        (2, 64)
        """
        # These modules are imported here because they import scikit-learn's text modules, slowly.
        from sparsemaps.text._analyzers import vectorizer_config
        from sparsemaps.text._csr import for_each_block

        _checks.check_bool("packed", packed)
        fitted = self._fitted()
        if isinstance(texts, (str, bytes)):
            raise ValueError(
                f"texts must be an iterable of texts, got a single {type(texts).__name__}"
            )
        parts = for_each_block(
            lambda rows: self.encode(rows, packed=True), vectorizer, texts, self.n_jobs
        )
        if not parts:
            raise ValueError("texts must have at least one text, got none")
        if not packed:
            return np.concatenate([part.array for part in parts])
        codes = PackedCodes.concatenate(parts)
        codes.config[TEXTS] = vectorizer_config(vectorizer, values=fitted._values_matter)
        return codes
