"""Loading of saved models."""

import os
from typing import Literal

from sparsemaps._tools._typing import StrPath
from sparsemaps.linear import _model_file
from sparsemaps.linear._classifier import KernelClassifier
from sparsemaps.linear._regressor import KernelRegressor


def load_model(
    path: StrPath, *, mmap_mode: Literal["r"] | None = "r"
) -> KernelClassifier | KernelRegressor:
    """Open a saved model of either class.

    A process that serves a model is small, and ready after .3 s: the methods that label rows do not
    import scikit-learn, unless the vectorizer has `stop_words`, `strip_accents` or its own
    `token_pattern`, or rows are not in an array or a sparse matrix.

    Parameters
    ----------
    path : str or path-like
        The file, written by ``save`` or ``sparsemaps train``.
    mmap_mode : "r" or None, default="r"
        "r" maps the weights into memory, which processes then share; None reads them. If a mapped
        file is truncated, a process that uses it is killed by a bus error. `save` and ``sparsemaps
        train`` replace the file by a new one, but programs such as ``cp`` truncate the old one.

    Returns
    -------
    model : KernelClassifier or KernelRegressor
        The model, as returned by ``load`` of its class.

    Raises
    ------
    ValueError
        If the file does not hold a model, is truncated, or has another version or another scheme of
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
