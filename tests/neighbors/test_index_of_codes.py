"""An index of packed codes: all methods give what they give of the rows."""

import inspect

import numpy as np
import pytest
from _data.rows import families

from sparsemaps import ConsistentWeightedSampling, MinHash, SignProjection
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text._analyzers import vectorizer_of

MAPS = {
    "MinHash": MinHash(n_hashes=64, random_state=0),
    "min-max": ConsistentWeightedSampling(n_hashes=64, method="levels", random_state=0),
    "signs": SignProjection(n_hashes=64, random_state=0),
}
X = families()


def methods_of(index):
    return {
        name: method
        for name, method in inspect.getmembers(index, inspect.ismethod)
        if name[0] != "_" and "X" in inspect.signature(method).parameters
    }


def same(one, other):
    if isinstance(one, tuple):
        return all(same(*pair) for pair in zip(one, other, strict=True))
    if hasattr(one, "toarray"):
        return np.array_equal(one.toarray(), other.toarray())
    if isinstance(one, np.ndarray) and one.dtype == object:
        return all(map(np.array_equal, one, other))
    return np.array_equal(one, other)


@pytest.mark.parametrize("name", MAPS)
def test_all_methods_take_codes(name):
    map = MAPS[name]
    codes = map.fit(X).encode(X, packed=True)
    for method in sorted(methods_of(KernelNeighbors(map).fit(X))):
        answers = []
        for given in (X, codes):
            index = KernelNeighbors(map, radius=0.3).fit(given[:100])
            more = {"threshold": 0.7} if method == "insert_new" else {}
            answer = getattr(index, method)(given[100:150], **more)
            answers.append((index.codes_.array if answer is index else answer, index))
        (expected, of_rows), (found, of_codes) = answers
        assert same(found, expected), method
        assert np.array_equal(of_codes.codes_.array, of_rows.codes_.array)


@pytest.mark.parametrize("name", MAPS)
def test_an_index_begins_with_codes_that_are_new(name, tmp_path):
    map = MAPS[name]
    codes = map.fit(X).encode(X, packed=True)
    expected = KernelNeighbors(map).insert_new(X, threshold=0.7)
    index = KernelNeighbors(map)
    found = [index.insert_new(codes[row : row + 1], threshold=0.7)[0] for row in range(len(codes))]
    assert found == expected.tolist()
    index.save(tmp_path / "index")
    again = KernelNeighbors.load(tmp_path / "index")
    assert same(again.kneighbors(codes[:20]), index.kneighbors(X[:20]))


def test_the_codes_are_copied():
    minhash = MAPS["MinHash"]
    codes = minhash.fit(X).encode(X, packed=True)
    index = KernelNeighbors(minhash).fit(codes)
    before = index.codes_.array.copy()
    codes.array[:] = 0
    assert np.array_equal(index.codes_.array, before)


def test_codes_of_something_else():
    minhash = MAPS["MinHash"].fit_any_width()
    texts = [f"a text of number {n}" for n in range(20)]
    words, pairs = (
        minhash.encode_texts(vectorizer_of(spec, binary=True), texts, packed=True)
        for spec in ("word:1", "word:2")
    )
    index = KernelNeighbors(MAPS["MinHash"]).fit(words)
    with pytest.raises(ValueError, match="X and the rows of the index must be codes of texts"):
        index.kneighbors(pairs)
    for other, message in (
        (MinHash(n_hashes=64, random_state=1), "seed is"),
        (MinHash(n_hashes=32, random_state=0), "of the same map: "),
        (MAPS["signs"], "class is SignProjection in one and MinHash in the other"),
    ):
        codes = other.fit(X).encode(X, packed=True)
        for method in (index.kneighbors, KernelNeighbors(MAPS["MinHash"]).fit):
            with pytest.raises(ValueError, match=message):
                method(codes)
