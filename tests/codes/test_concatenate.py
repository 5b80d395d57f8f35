"""Blocks of packed codes become one."""

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.codes._packed import CodesOfFiles, save_blocks
from sparsemaps.text import HashingVectorizer

X = np.random.default_rng(SEED).random((60, 20)) < 0.2
X[7] = False
MINHASH = MinHash(n_hashes=50, bits=3, random_state=0).fit(X)
A = MINHASH.encode(X, packed=True)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.array, expected.array)
    np.testing.assert_array_equal(found.sampled, expected.sampled)
    assert found.array.dtype == np.uint8
    assert found.array.flags.c_contiguous
    names = ("bits", "n_hashes", "law", "config")
    for name in names:
        assert getattr(found, name) == getattr(expected, name), name


@pytest.mark.parametrize("ends", [[], [0], [25], [5, 8, 8, 60], range(1, 60)])
def test_several(ends):
    starts = [0, *ends]
    blocks = [A[one:two] for one, two in zip(starts, [*ends, len(A)], strict=True)]
    assert_same(PackedCodes.concatenate(blocks), A)


def test_rows_without_samples_that_have_bits():
    """What is known of rows is kept, not found out again."""
    removed = PackedCodes(A.array, A.bits, A.config, n_hashes=50, sampled=np.zeros(60, bool))
    found = PackedCodes.concatenate([A, removed])
    assert found.sampled.tolist() == A.sampled.tolist() + [False] * 60


def test_mapped_into_memory(tmp_path):
    A.save(tmp_path / "codes.npy")
    mapped = PackedCodes.load(tmp_path / "codes.npy")
    found = PackedCodes.concatenate([mapped, A[:0], mapped[3:]])
    assert_same(found, A[np.r_[:60, 3:60]])
    assert not isinstance(found.array, np.memmap)
    found.array[:] = 0
    assert_same(mapped, A)


def test_one_block_is_copied():
    found = PackedCodes.concatenate([A])
    assert not np.shares_memory(found.array, A.array)


def test_no_rows():
    assert_same(PackedCodes.concatenate([A[:0], A[:0]]), A[:0])


def test_the_width_of_the_rows_may_differ():
    wide = MINHASH.fit_any_width().encode(np.pad(X, ((0, 0), (0, 5))), packed=True)
    assert len(PackedCodes.concatenate([A, wide])) == 120


def test_blocks_of_other_texts():
    """Codes that name no vectorizer go with any; those that name one go with no other."""
    plain = MinHash(n_hashes=50, bits=3, random_state=0).fit_any_width()
    words, letters = (
        plain.encode_texts(HashingVectorizer(analyzer=analyzer), ["a b"], packed=True)
        for analyzer in ("word", "char")
    )
    assert PackedCodes.concatenate([A, words, A]).config == words.config
    with pytest.raises(ValueError, match="block 1 and block 2 must be codes of"):
        PackedCodes.concatenate([A, words, letters])


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ([], "blocks must have at least one PackedCodes, got none"),
        ([A, A.array], "block 1 must be PackedCodes, got ndarray"),
        (
            [A, A, MinHash(n_hashes=50, bits=3, random_state=1).fit(X).encode(X, packed=True)],
            "block 0 and block 2 must be codes of the same map: seed is",
        ),
        (
            [A, ConsistentWeightedSampling(n_hashes=50).fit(X).encode(X, packed=True)],
            "block 0 and block 1 must be codes of the same map: class is MinHash in one",
        ),
    ],
)
def test_bad_input(blocks, message):
    with pytest.raises(ValueError, match=message):
        PackedCodes.concatenate(blocks)


def test_files_of_texts_and_of_a_matrix_are_files_of_texts(tmp_path):
    vectorizer = HashingVectorizer(binary=True, alternate_sign=False, norm=None)
    minhash = MinHash(n_hashes=50, bits=3, random_state=0).fit_any_width()
    of_texts = minhash.encode_texts(vectorizer, ["a b", "c"], packed=True)
    of_matrix = minhash.encode(X, packed=True)
    paths = [str(tmp_path / name) for name in ("matrix.npy", "texts.npy")]
    of_matrix.save(paths[0])
    of_texts.save(paths[1])
    save_blocks(tmp_path / "both.npy", CodesOfFiles(paths))
    found = PackedCodes.load(tmp_path / "both.npy")
    expected = PackedCodes.concatenate([of_matrix, of_texts])
    assert_same(found, expected)
    assert found.config["texts"] == of_texts.config["texts"]
    np.testing.assert_array_equal(found.sizes, expected.sizes)
