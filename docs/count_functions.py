"""Counts the functions of the package that some calls enter: ``python docs/count_functions.py``.

Lambdas, functions within functions and the bodies of classes are not counted. Each call is made
twice, and the second counts; of the command, the first does, with its imports.
"""

import os
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import sparsemaps
from sparsemaps import CountSketch, MinHash
from sparsemaps.cli import main
from sparsemaps.files import deduplicate_files
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text import HashingVectorizer

PACKAGE = os.path.dirname(sparsemaps.__file__)

TEXTS = ["the cat sat on the mat", "the dog ate", "the cat sat on the mat", "and so on"]


def entered(call: Callable[[], Any]) -> int:
    """Return how many functions of the package a call enters, in any thread."""
    found = set()

    def look(frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        is_function = code.co_flags & 1 and "<" not in code.co_qualname
        if event == "call" and is_function and code.co_filename.startswith(PACKAGE):
            found.add(code)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(found)


def second(call: Callable[[], Any]) -> int:
    """Return how many functions the second call enters."""
    call()
    return entered(call)


def calls() -> dict[str, int]:
    """Return the calls, with how many functions they enter."""
    Path("texts.txt").write_text("".join(f"{text}\n" for text in TEXTS))
    command = entered(lambda: main(["dedup", "texts.txt", "-o", "command.txt"]))
    X = sp.random_array((50, 100), density=0.1, format="csr", rng=np.random.default_rng(0))
    sketch, minhash = (cls(random_state=0).fit(X) for cls in (CountSketch, MinHash))
    some = MinHash(random_state=0).fit_any_width()
    numbers = iter(range(2))
    index = KernelNeighbors(MinHash(random_state=0)).fit(X)
    rows = sp.csr_array([[1.0] * 50 + [0.0] * 50]), sp.csr_array([[0.0] * 50 + [1.0] * 50])
    return {
        "`CountSketch.transform` of 50 rows": second(lambda: sketch.transform(X)),
        "`MinHash.encode` of 50 rows": second(lambda: minhash.encode(X)),
        "`MinHash.encode_texts` of ten texts": second(
            lambda: some.encode_texts(HashingVectorizer(), TEXTS * 2 + TEXTS[:2])
        ),
        "`KernelNeighbors.insert_new` of a row": second(
            lambda: index.insert_new(rows[next(numbers)], threshold=0.8)
        ),
        "`deduplicate_files` of four texts, all stages": second(
            lambda: deduplicate_files(None, "texts.txt", "kept.txt", resume=False)
        ),
        "`sparsemaps dedup` of four texts, with its imports": command,
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, n in calls().items():
            print(f"{n:5}  {name}")
        os.chdir("/")
