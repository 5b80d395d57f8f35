"""One vectorizer, one map and one index in a pool of threads, and in a process forked beside them:
the answers of calls one after the other."""

import multiprocessing
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from _data.strange_texts import strange_texts

from sparsemaps import MinHash
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text import ByteNgrams, HashingVectorizer

TEXTS = [f"{text} {i % 7} some words of text {i % 40}" for i, text in enumerate(strange_texts(60))]
SETS = {"n_features": 2**12, "norm": None, "alternate_sign": False, "binary": True}
VECTORIZERS = [HashingVectorizer(n_jobs=2, **SETS), ByteNgrams(ngram_range=(1, 2), n_jobs=2)]
MINHASH = MinHash(n_hashes=64, random_state=0, n_jobs=2).fit_any_width()
X = VECTORIZERS[0].transform(TEXTS)
INDEX = KernelNeighbors(MinHash(n_hashes=64, random_state=0).fit(X), radius=0.3, n_jobs=2).fit(X)


def answers(number):
    """What call `number` computes, as bytes."""
    some = TEXTS[number % 13 :: 1 + number % 3]
    rows = X[number % 9 : 30 + number % 9]
    found = [one.transform(some) for one in VECTORIZERS]
    arrays = [array for one in found for array in (one.data, one.indices, one.indptr)]
    arrays.append(MINHASH.encode_texts(VECTORIZERS[0], some))
    arrays += INDEX.kneighbors(rows, 3)
    arrays += list(INDEX.radius_neighbors(rows, return_distance=False))
    return b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)


def test_a_pool_of_threads():
    expected = [answers(number) for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(answers, list(range(40)) * 3)) == expected * 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_beside_threads():
    """A child that is forked while threads compute has threads of its own, and ends."""
    context = multiprocessing.get_context("fork")
    expected = answers(1)
    with ThreadPoolExecutor(4) as pool:
        running = [pool.submit(answers, number) for number in range(60)]
        for _ in range(3):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(target=lambda out=theirs: out.send(answers(1)))
            child.start()
            assert ours.poll(120)
            assert ours.recv() == expected
            child.join(60)
            assert child.exitcode == 0
        for one in running:
            one.result()
