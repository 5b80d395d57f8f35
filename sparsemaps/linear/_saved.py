"""The model of a file."""

import os
from typing import Literal

from sparsemaps._tools._typing import StrPath
from sparsemaps.linear import _model_file
from sparsemaps.linear._classifier import KernelClassifier
from sparsemaps.linear._regressor import KernelRegressor


def load_model(
    path: StrPath, *, mmap_mode: Literal["r"] | None = "r"
) -> KernelClassifier | KernelRegressor:
    """Open a model that was saved, of either class.

    A process that serves a model is small, and ready after .3 s: scikit-learn is imported by none
    of the methods that label rows, unless the vectorizer has `stop_words`, `strip_accents` or a
    `token_pattern` of its own, or a row is not in an array or a sparse matrix.

    Parameters
    ----------
    path : str or path-like
        The file, which ``save`` or ``sparsemaps train`` has written.
    mmap_mode : "r" or None, default="r"
        "r" maps the weights into memory, which processes then share; None reads them. A process
        ends with a bus error if a mapped file is cut short. `save` and ``sparsemaps train`` write
        another file in its place, but programs such as ``cp`` cut the old one short.

    Returns
    -------
    model : KernelClassifier or KernelRegressor
        As ``load`` of its class returns it.

    Raises
    ------
    ValueError
        If the file does not hold a model, is cut short, or is of another version or scheme of
        random numbers.

    See Also
    --------
    KernelClassifier.load, KernelRegressor.load : The same for one class.

    Examples
    --------
    >>> import os, tempfile
    >>> from sparsemaps import MinHash
    >>> from sparsemaps.linear import KernelClassifier, load_model
    >>> texts, labels = ["send money now", "the meeting is now"], ["spam", "mail"]
    >>> model = KernelClassifier(MinHash(random_state=0), vectorizer="char:3", random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model")
    ...     model.fit(texts, labels).save(path)
    ...     served = load_model(path)
    >>> served.predict(["send me money"]).tolist()
    ['spam']
    """
    model: KernelClassifier | KernelRegressor = _model_file.load(
        os.fspath(path), mmap_mode, KernelClassifier, KernelRegressor
    )
    return model
