"""Models in files, in other processes, and one text at a time."""

import contextlib
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.saved_models import LABELS, TEXTS, WORDS, changed, labels_of, rows, text_model
from sklearn.pipeline import make_pipeline

from sparsemaps import (
    ConsistentWeightedSampling,
    KernelProduct,
    MinHash,
    RandomBinning,
    RandomFourier,
    RandomMaclaurin,
    SignProjection,
)
from sparsemaps._io import _array_files
from sparsemaps.linear import (
    KernelClassifier,
    KernelClassifierCV,
    KernelRegressor,
    _model,
    _model_file,
)
from sparsemaps.text import ByteNgrams, HashingVectorizer, IdfWeights


@pytest.mark.parametrize("kind", ["i8", "u1", "f4", "U5", "objects", "bool"])
def test_what_is_loaded_is_what_was_saved(kind, tmp_path):
    X, y, _ = rows()
    y = labels_of(kind, y)
    map = ConsistentWeightedSampling(n_hashes=32, random_state=0)
    model = KernelClassifier(map, C=3.0, class_weight={y[0]: 2.0}, random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    again = KernelClassifier.load(tmp_path / "model")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert (again.predict(X) == model.predict(X)).all()
    assert (again.C, again.class_weight, again.n_iter_) == (3.0, model.class_weight, model.n_iter_)
    assert again.n_features_in_ == 6
    assert not again.coef_.flags.writeable
    assert (model.coef_ == np.load(tmp_path / "model").T).all()
    packed = map.fit(X).encode(X, packed=True)
    assert (again.predict(packed) == model.predict(X)).all()
    read = KernelClassifier.load(tmp_path / "model", mmap_mode=None)
    (tmp_path / "model").write_bytes(b"")  # which ends a process that has mapped it
    assert read.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    with pytest.raises(ValueError, match=r"mmap_mode must be 'r'.*got 'c'"):
        KernelClassifier.load(tmp_path / "model", mmap_mode="c")
    os.remove(tmp_path / "model")
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize(
    "map",
    [
        MinHash(n_hashes=9, bits=3, random_state=0),
        SignProjection(n_hashes=20, random_state=0),
        RandomBinning(n_grids=8, n_bins=16, random_state=0),
        RandomFourier(n_components=40, gamma="scale", random_state=0),
        KernelProduct(
            maps=[
                ("one", ConsistentWeightedSampling(n_hashes=8, bits=2, t_bits=1)),
                ("two", SignProjection(n_hashes=8)),
            ],
            random_state=0,
        ),
    ],
    ids=repr,
)
def test_every_coded_map_is_saved(map, tmp_path):
    X, y, target = rows()
    for model, want in (
        (KernelClassifier(map, loss="log_loss", random_state=0), y > 2),
        (KernelRegressor(map, epsilon=0.2, random_state=0), target),
    ):
        model.fit(X, want).save(tmp_path / "model")
        again = type(model).load(tmp_path / "model")
        assert (again.predict(X) == model.predict(X)).all()
        assert again.loss == model.loss
        if want is target:
            assert again.epsilon == 0.2
        else:
            assert (again.predict_proba(X) == model.predict_proba(X)).all()


@pytest.mark.parametrize(
    "vectorizer",
    [
        WORDS,
        HashingVectorizer(stop_words=["the"], ngram_range=(1, 2), norm=None, alternate_sign=False),
        HashingVectorizer(analyzer="char", ngram_range=(3, 3), dtype=np.float32),
        ByteNgrams(ngram_range=(2, 3), lowercase=True),
    ],
    ids=repr,
)
def test_models_of_texts_are_saved(vectorizer, tmp_path):
    map = SignProjection(n_hashes=70, random_state=0)
    model = text_model(map=map, vectorizer=vectorizer)
    model.save(tmp_path / "model")
    again = KernelClassifier.load(tmp_path / "model")
    assert again.vectorizer.get_params() == {**vectorizer.get_params(), "n_jobs": None}
    assert (again.decision_function(TEXTS) == model.decision_function(TEXTS)).all()


def test_a_set_of_stop_words_is_saved_in_order(tmp_path):
    """The order of a set is another one in each process, and would change the file."""
    words = frozenset(f"word{n}" for n in range(20)) | {"the", "a"}
    vectorizer = HashingVectorizer(stop_words=words, norm=None, alternate_sign=False)
    model = text_model(vectorizer=vectorizer)
    model.save(tmp_path / "model")
    again = KernelClassifier.load(tmp_path / "model")
    assert again.vectorizer.get_params()["stop_words"] == words
    assert (again.decision_function(TEXTS) == model.decision_function(TEXTS)).all()
    description, _, _ = _model_file._read(str(tmp_path / "model"))
    saved = description["vectorizer"]["parameters"]["stop_words"]["items"]
    assert saved == sorted(words)


def test_another_process_has_the_same_bits(tmp_path):
    model = text_model()
    model.save(tmp_path / "model")
    program = (
        "import sys, json; from sparsemaps.linear import KernelClassifier\n"
        "model = KernelClassifier.load(sys.argv[1])\n"
        "print(json.dumps(model.decision_function(json.loads(sys.argv[2])).tolist()))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(tmp_path / "model"), json.dumps(TEXTS)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == model.decision_function(TEXTS).tolist()


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match=r"tokenizer=<.*cannot be saved"):
        text_model(
            vectorizer=HashingVectorizer(tokenizer=str.split, token_pattern=None, norm=None)
        ).save(tmp_path / "model")
    model = text_model()
    model.vectorizer_.input = "filename"
    with pytest.raises(ValueError, match='must have input="content"'):
        model.save(tmp_path / "model")
    assert not os.listdir(tmp_path)


def test_files_of_something_else(tmp_path):
    model = text_model()
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="holds a KernelClassifier, not a KernelRegressor"):
        KernelRegressor.load(tmp_path / "model")
    model.map_.encode_texts(WORDS, TEXTS, packed=True).save(tmp_path / "codes")
    with pytest.raises(ValueError, match="is not a file of a linear model, or is cut short"):
        KernelClassifier.load(tmp_path / "codes")
    data = (tmp_path / "model").read_bytes()
    for n in (0, 7, 100, len(data) - 1):
        (tmp_path / "cut").write_bytes(data[:n])
        with pytest.raises(ValueError, match="cut short"):
            KernelClassifier.load(tmp_path / "cut")


CHANGES = [
    lambda d: d.update(version=3),
    lambda d: d.update(version=4),
    lambda d: d.update(shape=[1, 2**60]),
    lambda d: d.update(shape=[-1, 1]),
    lambda d: d.update(shape=[2**13]),
    lambda d: d.update(n_codes=2**40),
    lambda d: d.update(bits=7),
    lambda d: d.update(bits=8, n_codes=63),
    lambda d: d.update(intercepts=[]),
    lambda d: d.update(intercepts=[float("nan")]),
    lambda d: d.update(classes=["O", ["b", "a"]]),
    lambda d: d.update(classes=["O", ["a", "b", "c"]]),
    lambda d: d.update(classes=["O", [1, 2]]),
    lambda d: d.update(classes=["V8", ["a", "b"]]),
    lambda d: d.update(classes=["U5", ["a", 1]]),
    lambda d: d.update(classes=["<f8", ["a", "b"]]),
    lambda d: d.update(classes=["<i8", [1.5, 2.5]]),
    lambda d: d.update(classes=["(4194304,)f8", [1, 2]]),
    lambda d: d.update(intercepts=[float("inf")]),
    lambda d: d["map"]["parameters"].update(n_hashes=2**24),
    lambda d: d["map"]["parameters"].update(bits=4),
    lambda d: d["map"]["parameters"].update(n_hashes=32),
    lambda d: d["map"].update({"class": "CountSketch"}),
    lambda d: d["map"].update({"class": "os.system"}),
    lambda d: d["map"].update(scheme=2),
    lambda d: d["map"].update(n_features=-1),
    lambda d: d["parameters"].update(C=-1),
    lambda d: d["parameters"].update(map=3),
    lambda d: d["parameters"].update(loss=[]),
    lambda d: d.update(vectorizer={"class": "Popen", "parameters": {}}),
    lambda d: d["vectorizer"]["parameters"].update(n_features=0),
    lambda d: d["vectorizer"]["parameters"].update(dtype={"dtype": "O"}),
    lambda d: d["vectorizer"]["parameters"].update(input="filename"),
    lambda d: d["vectorizer"]["parameters"].update(token_pattern="(?l"),
    lambda d: d.pop("map"),
]


@pytest.mark.parametrize("number", range(len(CHANGES)))
def test_files_that_were_changed_are_errors(number, tmp_path):
    text_model().save(tmp_path / "model")
    path = changed(tmp_path / "model", CHANGES[number])
    with pytest.raises(ValueError, match=r"(is damaged: .{12}|holds a model of version 4)"):
        KernelClassifier.load(path)


@pytest.mark.parametrize("kind", [KernelClassifier, KernelClassifierCV])
def test_names_of_columns_are_saved(kind, tmp_path):
    """The loaded model refuses rows with other columns, and explains by names."""
    pd = pytest.importorskip("pandas")
    X, y, _ = rows()
    X = pd.DataFrame(X.toarray(), columns=[f"c{i}" for i in range(X.shape[1])])
    model = kind(MinHash(n_hashes=64, random_state=SEED), random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    loaded = KernelClassifier.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == loaded.map_.feature_names_in_.tolist() == [*X]
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.explain(X[:3]) == model.explain(X[:3])
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(X[X.columns[::-1]])
    names = [*X]
    for wrong in (names[1:], [*names, "c"], [*names[1:], 1], "c" * len(names), None):
        path = changed(tmp_path / "model", lambda d, wrong=wrong: d.update(columns=wrong))
        with pytest.raises(ValueError, match="is damaged: its names of columns"):
            KernelClassifier.load(path)
    text_model().save(tmp_path / "texts")
    with pytest.raises(ValueError, match="is damaged: its names of columns"):
        KernelClassifier.load(changed(tmp_path / "texts", lambda d: d.update(columns=[])))


def test_numbers_of_codes_that_were_changed_are_named(tmp_path):
    """No map is made of more codes than there are weights."""
    large = RandomMaclaurin(n_components=8, random_state=0).fit_any_width().to_config()
    large["parameters"]["n_components"] = 2**31 - 1  # which would take 16 GB
    text_model().save(tmp_path / "model")
    for change, message in (
        (lambda d: d.update(bits=7), "its weights do not fit its codes"),
        (lambda d: d.update(n_codes=63), "its weights do not fit its codes"),
        (
            lambda d: d["map"]["parameters"].update(n_hashes=65),
            "its map has a different number of co",
        ),
        (lambda d: d["map"]["parameters"].update(bits=9), "its map has different codes"),
        (lambda d: d.update(map=large), "its map has a different number of codes"),
    ):
        with pytest.raises(ValueError, match=message):
            KernelClassifier.load(changed(tmp_path / "model", change))


def test_weights_of_several_pieces(tmp_path, set_limits):
    X, y, _ = rows()
    model = KernelClassifier(MinHash(n_hashes=8, bits=3, random_state=0), random_state=0).fit(X, y)
    for n_bytes in (10**6, 1000):
        set_limits(_array_files, _WRITTEN_BYTES=n_bytes)
        model.save(tmp_path / str(n_bytes))
    assert model.coef_.nbytes > 3 * 1000
    assert (tmp_path / "1000").read_bytes() == (tmp_path / str(10**6)).read_bytes()
    again = KernelClassifier.load(tmp_path / "1000")
    assert (again.decision_function(X) == model.decision_function(X)).all()


def test_names_of_compressed_files_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"model\.gz: a model is mapped into memory, and is not"):
        text_model().save(tmp_path / "model.gz")
    assert not list(tmp_path.iterdir())


def damaged(data, rng):
    """The bytes of a file with some changes, mostly of the description at its end."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        place = len(data) - 1 - int(rng.integers(min(len(data), rng.choice([30, 1500, 2**20]))))
        kind = rng.integers(4)
        if kind == 0:
            data[place] = int(rng.integers(256))
        elif kind == 1:
            data[place : place + int(rng.integers(9))] = b""
        elif kind == 2:
            data[place:place] = rng.bytes(int(rng.integers(1, 9)))
        else:
            data[place] ^= 1 << int(rng.integers(8))
    return bytes(data)


def models_of_damaged(path, data, rng):
    """The models of those among 300 damaged files that load."""
    for _ in range(300):
        path.write_bytes(damaged(data, rng))
        with contextlib.suppress(ValueError):
            yield KernelClassifier.load(path)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_damaged_files_are_errors(is_weighted, tmp_path):
    """Unless only whitespace changes, in the header or the description."""
    idf = IdfWeights(n_buckets=2**8)
    model = text_model(vectorizer=make_pipeline(WORDS, idf) if is_weighted else WORDS)
    model.calibrate(TEXTS, LABELS).save(tmp_path / "model")
    data, scores = (tmp_path / "model").read_bytes(), model.predict_proba(TEXTS)
    assert (KernelClassifier.load(tmp_path / "model").predict_proba(TEXTS) == scores).all()
    rng = np.random.default_rng(SEED)
    n_errors = 300
    for found in models_of_damaged(tmp_path / "damaged", data, rng):
        n_errors -= 1
        assert (found.predict_proba(TEXTS) == scores).all()
        assert found.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert n_errors > 285
    for place in range(128, data.rindex(b'{"class": "KernelC'), 4801):
        flipped = bytearray(data)
        flipped[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "damaged").write_bytes(flipped)
        with pytest.raises(ValueError, match="is damaged: "):
            KernelClassifier.load(tmp_path / "damaged")


def test_damaged_files_with_the_right_checksum_are_errors_or_models(tmp_path, monkeypatch):
    monkeypatch.setattr(_model_file, "checksum_of", lambda *parts: "00000000")
    text_model().save(tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    rng = np.random.default_rng(SEED)
    n_errors = 300
    for model in models_of_damaged(tmp_path / "damaged", data, rng):
        n_errors -= 1
        assert model.decision_function(TEXTS).shape == (8,)
        assert set(model.predict(TEXTS[:1])) <= set(model.classes_)
    assert 150 < n_errors < 300


# ---- a few rows, or texts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "vectorizer",
    [WORDS, HashingVectorizer(norm=None, tokenizer=str.split, token_pattern=None), ByteNgrams()],
    ids=["compiled", "Python", "bytes"],
)
def test_one_text_at_a_time(vectorizer):
    model = text_model(vectorizer=vectorizer)
    texts = [*TEXTS, "", "the", "é" * 500, *TEXTS]
    together = model.decision_function(texts)
    assert len(texts) > _model.MOST_FEW
    for size in (1, 3):
        alone = [
            model.decision_function(texts[first : first + size])
            for first in range(0, len(texts), size)
        ]
        assert (np.concatenate(alone) == together).all()
    if vectorizer is WORDS:
        with pytest.raises(ValueError, match="text 0"):
            model.predict([None])


def test_one_row_at_a_time():
    X, y, _ = rows()
    X = sp.vstack([X, sp.csr_array((2, 6))]).tocsr()
    y = np.append(y, [0, 1])
    # So few bits that all those of some rows with samples are 0 too.
    model = KernelClassifier(MinHash(n_hashes=2, bits=1, random_state=3), random_state=0).fit(X, y)
    together = model.decision_function(X)
    is_zero = ~model.map_.encode(X, packed=True).array.any(axis=1)
    assert len(np.unique(together[is_zero], axis=0)) == 2
    for row in range(X.shape[0]):
        assert (model.decision_function(X[[row]])[0] == together[row]).all()
        assert (model.decision_function(X[[row]].toarray())[0] == together[row]).all()


def test_a_model_that_is_fitted_again_forgets_its_short_way():
    model = text_model()
    before = model.decision_function(TEXTS[:1])
    model.set_params(vectorizer=ByteNgrams()).fit(TEXTS, LABELS)
    after = model.decision_function(TEXTS[:1])
    assert before != after
    assert after == model.decision_function(TEXTS * 3)[0]
