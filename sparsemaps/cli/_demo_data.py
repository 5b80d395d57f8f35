"""The data of ``sparsemaps demo``, available in every installation.

The handwritten digits come with scikit-learn. The texts are docstrings of Python's standard library
and of the installed scientific packages; the class of a text is its package. Web spam is also
classified by counts of bytes.
"""

import ast
import importlib.util
import itertools
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps._io._progress import Bar
from sparsemaps._tools import _sklearn
from sparsemaps._tools._typing import Array
from sparsemaps.text import ByteNgrams

PACKAGES = ("numpy", "scipy", "sklearn")
SHORTEST_TEXT, LONGEST_TEXT = 200, 2000

DemoText = tuple[str, str, bytes]
"""A package, a file in it, and a text in that file."""


class LearningTask(NamedTuple):
    """A classification task, split into training and test data."""

    title: str
    short: str
    X_train: Any
    y_train: Array
    X_test: Any
    y_test: Array
    texts: list[DemoText]  # the texts of the rows of both parts


def digits() -> LearningTask:
    """Return the handwritten digits, 8 x 8 pixels from 0 to 16."""
    X, y = _sklearn.load_digits(return_X_y=True)
    is_test = np.arange(len(y)) % 3 == 2
    X = sp.csr_array(X)
    title = "1. Handwritten digits: 8 x 8 pixels"
    parts = X[~is_test], y[~is_test], X[is_test], y[is_test]
    return LearningTask(title, "handwritten digits", *parts, texts=[])


def docstrings(path: Path) -> Iterator[bytes]:
    """Yield the docstrings of a module, its classes and its functions, as bytes."""
    try:
        tree = ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        text = ast.get_docstring(node)
        if text is not None and len(text) >= SHORTEST_TEXT:
            yield text[:LONGEST_TEXT].encode(errors="replace")


def sources() -> Iterator[tuple[str, list[Path]]]:
    """Yield (name, files) for the standard library and each installed package."""
    library = Path(sysconfig.get_paths()["stdlib"])
    skipped = {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3"}
    paths = sorted(library.rglob("*.py"))
    yield "standard library", [p for p in paths if skipped.isdisjoint(p.relative_to(library).parts)]
    for name in PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            root = Path(spec.origin).parent
            yield name, [p for p in sorted(root.rglob("*.py")) if "tests" not in p.parts]


def new_texts(files: list[Path], seen: set[bytes]) -> Iterator[tuple[bool, str, bytes]]:
    """Yield (is for the test, file, text) for each new text, and add it to `seen`."""
    for number, path in enumerate(files):
        for text in docstrings(path):
            if text not in seen:
                seen.add(text)
                yield number % 3 == 2, f"{path.parent.name}/{path.name}", text


def texts(n: int) -> LearningTask:
    """Return `n` docstrings of each package, with their packages as classes. Each file is entirely
    for training or entirely for the test."""
    rows: list[tuple[int, bool, DemoText]] = []
    seen: set[bytes] = set()
    all_sources = list(sources())
    total = n * len(all_sources)
    with Bar(None, total=total, desc="reading texts", miniters=1, leave=False) as bar:
        for label, (name, files) in enumerate(all_sources):
            for is_test, place, text in itertools.islice(new_texts(files, seen), n):
                rows.append((label, is_test, (name, place, text)))
                bar.update()
    labels, tests, read = zip(*rows, strict=True)
    X = ByteNgrams(ngram_range=(1, 1)).transform([text for _, _, text in read])
    y, for_test = np.array(labels), np.array(tests)
    names = ", ".join(source for source, _ in all_sources)
    title = f"2. Documentation strings as counts of bytes: which package are they from? ({names})"
    parts = X[~for_test], y[~for_test], X[for_test], y[for_test]
    return LearningTask(title, "texts by their bytes", *parts, texts=list(read))
