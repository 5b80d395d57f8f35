"""Data sets for the tables: LIBSVM files of a directory, by name."""

from pathlib import Path

from sparsemaps.libsvm import load_svmlight_files


def read(directory, name):
    """Training and test rows with labels, and what stands behind a colon in the name.

    They are NAME.train.svm and NAME.test.svm, or the same with .xz, .gz or .bz2; a number behind
    the colon takes that many of the first training rows.
    """
    name, _, how = name.partition(":")
    paths = [next(Path(directory).glob(f"{name}.{part}.svm*")) for part in ("train", "test")]
    X, y, X_test, y_test = load_svmlight_files(paths)
    if how.isdigit():
        X, y = X[: int(how)], y[: int(how)]
    return (X, y, X_test, y_test), how
