"""Codes of raw texts."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from sparsemaps._tools import _checks
from sparsemaps._tools._typing import Bytes
from sparsemaps.codes._code_checks import TEXTS
from sparsemaps.codes._packed import PackedCodes


def encode_texts(
    map: Any, vectorizer: Any, texts: Iterable[Any], packed: bool
) -> Bytes | PackedCodes:
    """The method of this name of each map with ``encode``."""
    # These modules are imported here because they import scikit-learn's text modules, slowly.
    from sparsemaps.text._analyzers import vectorizer_config
    from sparsemaps.text._csr import for_each_block

    _checks.check_bool("packed", packed)
    fitted = map._fitted()
    if isinstance(texts, (str, bytes)):
        raise ValueError(f"texts must be an iterable of texts, got a single {type(texts).__name__}")
    parts = for_each_block(
        lambda rows: map.encode(rows, packed=True), vectorizer, texts, map.n_jobs
    )
    if not parts:
        raise ValueError("texts must have at least one text, got none")
    if not packed:
        return np.concatenate([part.array for part in parts])
    codes = PackedCodes.concatenate(parts)
    codes.config[TEXTS] = vectorizer_config(vectorizer, values=fitted._values_matter)
    return codes
