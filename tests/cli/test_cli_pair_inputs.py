"""The ``pairs`` command: folders, several inputs, files of codes, two sets, containment."""

import json
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.code_pairs import sorted_pairs
from _data.rows import families
from _scripts.commands import command

from sparsemaps import ConsistentWeightedSampling, MinHash, neighbors
from sparsemaps.codes._packed import with_rows
from sparsemaps.libsvm import dump_svmlight_file
from sparsemaps.text._analyzers import vectorizer_of

X = families(300)
A = MinHash(random_state=0).fit_any_width().encode(X, packed=True)
BORDERS = (0, 110, 110, 300)


@pytest.fixture
def folder(tmp_path):
    """A folder of three files of rows, of which one is empty."""
    (tmp_path / "in").mkdir()
    for number, (start, stop) in enumerate(pairwise(BORDERS)):
        path = tmp_path / "in" / f"{number}.svm"
        path.touch()
        if start < stop:
            dump_svmlight_file(X[start:stop], np.zeros(stop - start), path, zero_based=False)
    return tmp_path / "in"


@pytest.fixture
def codes(folder, tmp_path):
    """The codes of these files, one for each."""
    done = command("map", "minhash", folder, "-o", f"{tmp_path}/codes/", "--format", "npy")
    assert done.returncode == 0, done.stderr
    return tmp_path / "codes"


def pairs(tmp_path, *arguments, name="minhash"):
    """What the command finds: numbers from 0, and similarities."""
    out = tmp_path / "pairs.tsv"
    done = command("pairs", name, *arguments, "-o", out, "--threshold", 0.6, "--recall", 1)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in out.read_text().splitlines()]
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
    return [(int(i) - 1, int(j) - 1, float(s)) for i, j, s in rows]


def expected(A, B=None):
    i, j, similarity = sorted_pairs(A, 0.6, B)
    return list(zip(i.tolist(), j.tolist(), similarity.round(6).tolist(), strict=True))


def test_folders_and_several_inputs(folder, tmp_path):
    found = pairs(tmp_path, folder)
    assert found == expected(A)
    assert len(found) > 50
    assert pairs(tmp_path, folder / "0.svm", folder / "2.svm") == found
    assert pairs(tmp_path, f"{folder}/*.svm", "--n-jobs", 2) == found


def test_files_of_codes(codes, folder, tmp_path):
    found = expected(A)
    assert pairs(tmp_path, codes) == found
    A.save(tmp_path / "all.npy")
    assert pairs(tmp_path, tmp_path / "all.npy") == found
    assert pairs(tmp_path, tmp_path / "all.npy", "--seed", 0, "--n-hashes", 256) == found
    A[:110].save(tmp_path / "some.npy")  # some rows from codes, the others from LIBSVM text
    assert pairs(tmp_path, tmp_path / "some.npy", folder / "2.svm") == found


def test_two_sets(codes, folder, tmp_path):
    first, second = codes / "0.svm.npy", codes / "2.svm.npy"
    found = expected(A[:110], A[110:])
    assert len(found) > 3
    assert pairs(tmp_path, first, "--other", second) == found
    assert pairs(tmp_path, folder / "0.svm", "--other", folder / "2.svm") == found
    assert pairs(tmp_path, folder / "0.svm", "--other", codes / "1.svm.npy", second) == found
    exact = pairs(tmp_path, folder / "0.svm", "--exact", "--other", folder / "2.svm")
    K = MinHash().fit(X).exact_kernel(X[:110], X[110:])
    i, j = np.nonzero(K >= 0.6)
    assert [pair[:2] for pair in exact] == list(zip(i.tolist(), j.tolist(), strict=True))
    np.testing.assert_allclose([pair[2] for pair in exact], K[i, j], atol=1e-6)


def test_ids_and_comments_of_two_sets(tmp_path):
    (tmp_path / "a.svm").write_text("0 1:1 2:1 # one\n0 5:1\n")
    (tmp_path / "b.svm").write_text("0 7:1\n0 1:1 2:1\n0 1:1 2:1 # three\n")
    out = tmp_path / "out.tsv"
    arguments = ["pairs", "minhash", tmp_path / "a.svm", "--other", tmp_path / "b.svm", "-o", out]
    assert command(*arguments).returncode == 0
    assert out.read_text() == "1\t2\t1.000000\tone\t\n1\t3\t1.000000\tone\tthree\n"
    for name, ids in (("a", "pq"), ("b", "rs")):
        records = [{"text": "a b c d e f", "name": one} for one in ids]
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (tmp_path / f"{name}.jsonl").write_text(lines)
    texts = ["--texts", "word:3", "--id-field", "name"]
    for name in "ab":
        done = command("map", "minhash", tmp_path / f"{name}.jsonl", *texts, "--format", "npy",
                       "-o", tmp_path / f"{name}.npy")  # fmt: skip
        assert done.returncode == 0
    every = "".join(f"{i}\t{j}\t1.000000\n" for i in "pq" for j in "rs")
    for one, other in ((".jsonl", ".jsonl"), (".npy", ".npy"), (".npy", ".jsonl")):
        inputs = [tmp_path / f"a{one}", "--other", tmp_path / f"b{other}"]
        more = texts if ".jsonl" in (one, other) else []
        assert command("pairs", "minhash", *inputs, *more, "-o", out).returncode == 0
        assert out.read_text() == every
    inputs = [tmp_path / "a.npy", "--other", tmp_path / "b.npy"]
    assert command("pairs", "minhash", *inputs, "-o", out).returncode == 0
    assert out.read_text() == every
    (tmp_path / "b.npy.ids.txt").unlink()
    numbers = every.replace("r", "1").replace("s", "2")
    assert command("pairs", "minhash", *inputs, "-o", out).returncode == 0
    assert out.read_text() == numbers


def refused(tmp_path, *arguments):
    out = tmp_path / "refused.tsv"
    done = command("pairs", *arguments, "-o", out)
    assert done.returncode == 2
    assert not out.exists()
    assert done.stderr.count(b"\n") == 1
    return done.stderr.decode()


def test_codes_of_different_maps_are_refused(tmp_path):
    def save(name, new_map):
        path = tmp_path / f"{name}.npy"
        new_map.fit_any_width().encode(X[:5], packed=True).save(path)
        return path

    one = save("one", MinHash(random_state=0))
    seed = save("seed", MinHash(random_state=1))
    size = save("size", MinHash(n_hashes=64, random_state=0))
    cws = save("cws", ConsistentWeightedSampling(random_state=0))
    for other, message in (
        (seed, "--seed is 0 in one and 1 in the other"),
        (size, "--n-hashes is 256 in one and 64 in the other"),
        (cws, "class is minhash in one and minmax in the other"),
    ):
        for more in ([other], ["--other", other]):
            said = refused(tmp_path, "minhash", one, *more)
            assert f"{one} and {other} must be codes of the same map: {message}" in said
    said = refused(tmp_path, "minmax", one)
    assert f"{one} has codes of minhash, not of minmax" in said
    said = refused(tmp_path, "minhash", one, "--seed", 7)
    assert f"{one} has codes with --seed 0, not 7" in said
    said = refused(tmp_path, "minhash", one, "--n-hashes", 7)
    assert f"{one} has codes with --n-hashes 256, not 7" in said
    assert "--exact needs rows, and" in refused(tmp_path, "minhash", one, "--exact")
    assert "--texts word:3 is for texts" in refused(tmp_path, "minhash", one, "--texts", "word:3")
    np.save(tmp_path / "plain.npy", A.array)
    assert "is not a file of packed codes" in refused(tmp_path, "minhash", tmp_path / "plain.npy")


def test_codes_of_texts_by_other_analyzers_are_refused(tmp_path):
    (tmp_path / "texts.txt").write_text("a b c d e f\n" * 3)
    for spec in ("word:3", "word:5"):
        done = command("map", "minhash", tmp_path / "texts.txt", "--texts", spec, "--format", "npy",
                       "-o", tmp_path / f"{spec[-1]}.npy")  # fmt: skip
        assert done.returncode == 0
    three, five = tmp_path / "3.npy", tmp_path / "5.npy"
    for more in ([five], ["--other", five]):
        assert "vectorized alike: ngram_range is" in refused(tmp_path, "minhash", three, *more)
    rows = ["--other", tmp_path / "texts.txt", "--texts", "char:5"]
    assert "vectorized alike: --texts is" in refused(tmp_path, "minhash", three, *rows)


def test_products_of_codes(tmp_path):
    """The maps that a product is made of are looked at too."""
    dump_svmlight_file(X[:30], np.zeros(30), tmp_path / "in.svm", zero_based=False)
    codes = tmp_path / "codes.npy"
    made = ["--n-hashes", 64, "--bits", 4]
    done = command(
        "map", "minmax-signs", tmp_path / "in.svm", *made, "-o", codes, "--format", "npy"
    )
    assert done.returncode == 0
    found = pairs(tmp_path, codes, *made, name="minmax-signs")
    assert found == pairs(tmp_path, tmp_path / "in.svm", *made, name="minmax-signs")
    assert "has codes of minmax-signs, not of minhash" in refused(tmp_path, "minhash", codes)
    assert "--bits 4, not 8" in refused(tmp_path, "minmax-signs", codes, "--bits", 8)


def contained_sets():
    """Sets of 200 members, and ones of 20 of which all, most and none are in one of these."""
    rng = np.random.default_rng(SEED)
    sets = [rng.choice(10**6, 200, replace=False) for _ in range(20)]
    small = []
    for number, one in enumerate(sets):
        few = rng.choice(one, 20, replace=False)
        few[: (0, 3, 20)[number % 3]] = rng.integers(10**6, 2 * 10**6, (0, 3, 20)[number % 3])
        small.append(few)
    rows = [np.unique(one) for one in [*small, *sets]]
    indptr = np.cumsum([0] + [len(row) for row in rows])
    data = np.ones(indptr[-1])
    return sp.csr_array((data, np.concatenate(rows), indptr), (len(rows), 2 * 10**6))


@pytest.mark.parametrize("is_two", [False, True])
@pytest.mark.parametrize("more", [["--n-hashes", 4096], ["--exact", "--n-hashes", 512]])
def test_containment(tmp_path, more, is_two):
    S = contained_sets()
    both = [tmp_path / "small.svm", tmp_path / "large.svm"]
    for path, rows in zip(both, (S[:20], S[20:]), strict=True):
        dump_svmlight_file(rows, np.zeros(20), path, zero_based=False)
    inputs = [both[0], "--other", both[1]] if is_two else both
    out = tmp_path / "out.tsv"
    arguments = [
        "pairs",
        "minhash",
        *inputs,
        "--containment",
        "--threshold",
        0.7,
        "--recall",
        0.999,
    ]
    assert command(*arguments, *more, "-o", out).returncode == 0
    lines = [line.split("\t") for line in out.read_text().splitlines()]
    found = {(int(i) - 1, int(j) - 1): float(share) for i, j, share in lines}
    first = 0 if is_two else 20
    assert found.keys() == {(row, first + row) for row in range(20) if row % 3 < 2}
    for (row, _), share in found.items():
        exact = 1.0 if row % 3 == 0 else 0.85
        assert abs(share - exact) < (1e-6 if "--exact" in more else 0.5)


def test_too_few_hashes_for_containment(tmp_path):
    """The error names the option, and so many are enough."""
    dump_svmlight_file(contained_sets(), np.zeros(40), tmp_path / "in.svm", zero_based=False)
    for more in ([], ["--exact"]):
        arguments = ["minhash", tmp_path / "in.svm", "--containment", "--threshold", 1, *more]
        said = refused(tmp_path, *arguments, "--n-hashes", 64)
        assert said.startswith("sparsemaps: --n-hashes of 64 is too few")
        needed = int(said.rpartition("--n-hashes ")[2].split()[0])
        assert 64 < needed < 4000
        out = tmp_path / "out.tsv"
        assert command("pairs", *arguments, "--n-hashes", needed, "-o", out).returncode == 0
        refused(tmp_path, *arguments, "--n-hashes", needed - 1)


def test_containment_is_for_sets(tmp_path):
    done = command("pairs", "minmax", "--containment", tmp_path / "in.svm", "-o", tmp_path / "out")
    assert done.returncode == 2
    assert b"--containment" in done.stderr
    with_rows(A, A.array, A.sampled).save(tmp_path / "codes.npy")  # without sizes
    said = refused(tmp_path, "minhash", tmp_path / "codes.npy", "--containment")
    assert "must have the sizes of sets" in said


def test_texts_beside_codes(tmp_path):
    texts = [f"some words of text number {number} and more" for number in range(6)] * 2
    (tmp_path / "new.txt").write_text("".join(text + "\n" for text in texts[6:]))
    made = MinHash(n_hashes=128, random_state=3).fit_any_width()
    words = vectorizer_of("word:2", binary=True)
    B = made.encode_texts(words, texts, packed=True)
    B[:6].save(tmp_path / "old.npy")
    found = pairs(
        tmp_path, tmp_path / "old.npy", "--texts", "word:2", "--other", tmp_path / "new.txt"
    )
    i, j, _ = neighbors.similar_pairs(B[:6], 0.6, recall=1, other=B[6:])
    assert [pair[:2] for pair in found] == list(zip(i.tolist(), j.tolist(), strict=True))
