"""A model says which n-grams its texts have, as the commands do."""

import json
import pickle
import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sparsemaps import ConsistentWeightedSampling, KernelProduct, MinHash
from sparsemaps.cli import main
from sparsemaps.files import Texts, predict_files, train_files
from sparsemaps.linear import KernelClassifier, KernelRegressor, load_model
from sparsemaps.linear._model_file import digest_of
from sparsemaps.text import WORDS_AND_CHARACTERS, WORDS_AND_SIGNS, ByteNgrams, HashingVectorizer

TEXTS = ["To be, or not to be", "that is the question", "be not to or be", "a question it is"] * 3
LABELS = ["verb", "noun", "verb", "noun"] * 3

COLUMNS = {"n_features": 2**31 - 2, "norm": None, "alternate_sign": False}

SAID = {  # and what is said, in full
    "char:3": {"analyzer": "char", "ngram_range": (3, 3)},
    "char_wb:2-4": {"analyzer": "char_wb", "ngram_range": (2, 4)},
    "word:1-2": {"ngram_range": (1, 2), "token_pattern": r"\S+"},
    "auto:1": {"ngram_range": (1, 1), "token_pattern": WORDS_AND_CHARACTERS},
    "code:1-2": {"ngram_range": (1, 2), "token_pattern": WORDS_AND_SIGNS},
    Texts("word:1", token_pattern=r"\w+", normalize="plain"): {
        "ngram_range": (1, 1),
        "token_pattern": r"\w+",
        "normalize": "plain",
    },
    "byte:2": (2, 2),
}


def min_max():
    return ConsistentWeightedSampling(n_hashes=32, random_state=0)


def minhash():
    return MinHash(n_hashes=32, random_state=0)


def product():
    return KernelProduct(maps=(minhash(), min_max()), random_state=0)


def in_full(said, binary):
    parameters = SAID[said]
    if said == "byte:2":
        return ByteNgrams(ngram_range=parameters, binary=binary)
    return HashingVectorizer(**COLUMNS, **parameters, binary=binary)


@pytest.mark.parametrize("map", [minhash(), min_max(), product()], ids=repr)
@pytest.mark.parametrize("said", SAID, ids=str)
def test_what_is_said_is_what_its_vectorizer_gives(said, map, tmp_path):
    vectorizer = in_full(said, binary=isinstance(map, MinHash))
    model, full = (
        KernelClassifier(map, vectorizer=one, random_state=0).fit(TEXTS, LABELS)
        for one in (said, vectorizer)
    )
    assert model.vectorizer is said  # get_params gives what was set
    assert model.vectorizer_.get_params() == vectorizer.get_params()
    expected = full.decision_function(TEXTS)
    np.testing.assert_array_equal(model.decision_function(TEXTS), expected)
    packed = model.map_.encode_texts(said, TEXTS, packed=True)
    other = full.map_.encode_texts(vectorizer, TEXTS, packed=True)
    np.testing.assert_array_equal(packed.array, other.array)
    assert packed.config == other.config
    np.testing.assert_array_equal(model.decision_function(packed), expected)
    assert clone(model).get_params()["vectorizer"] == said
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(TEXTS), expected)
    model.save(tmp_path / "model")
    full.save(tmp_path / "full")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "full").read_bytes()
    loaded = KernelClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(TEXTS), expected)
    np.testing.assert_array_equal(loaded.fit(TEXTS, LABELS).intercept_.shape, (1,))


def test_a_grid_of_what_is_said():
    model = KernelClassifier(minhash(), random_state=0)
    grid = {"vectorizer": ["char:3", "word:1", ByteNgrams(binary=True)]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(TEXTS, LABELS)
    assert search.best_score_ == 1
    assert list(search.cv_results_["param_vectorizer"][:2]) == grid["vectorizer"][:2]


def test_a_regressor_of_texts():
    model = KernelRegressor(min_max(), vectorizer="word:1", random_state=0)
    assert model.fit(TEXTS, np.arange(len(TEXTS)) % 2).score(TEXTS, np.arange(len(TEXTS)) % 2) > 0.5
    assert not model.vectorizer_.binary


def test_files_and_commands_train_the_same_model(tmp_path):
    lines = [
        json.dumps({"text": text, "label": label})
        for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    file = tmp_path / "texts.jsonl"
    file.write_text("\n".join(lines) + "\n")
    model = KernelClassifier(minhash(), vectorizer="char:3", random_state=0)
    source = Texts("char:3", label_field="label")
    model = train_files(model, file, tmp_path / "model", source=source).model
    options = ["--n-hashes", "32", "--texts", "char:3", "--label-field", "label", "--seed", "0"]
    assert main(["train", "minhash", str(file), "-o", str(tmp_path / "command"), *options]) in (
        0,
        None,
    )
    in_memory = clone(model).fit(TEXTS, LABELS)
    in_memory.save(tmp_path / "memory")
    names = "model", "command", "memory"  # with facts of the training or without
    assert len({digest_of(load_model(tmp_path / name)) for name in names}) == 1
    predict_files(model, file, tmp_path / "labels.tsv")
    found = [line.split("\t")[1] for line in (tmp_path / "labels.tsv").read_text().splitlines()[1:]]
    assert found == LABELS


@pytest.mark.parametrize(
    ("vectorizer", "message"),
    [
        ("char3", r"vectorizer='char3': the analyzer must be word, auto, .* got 'char3'"),
        ("char:3-2", "vectorizer='char:3-2': the analyzer must be"),
        ("byte:9", "vectorizer='byte:9': n-grams of bytes have at most"),
        (Texts("byte:3", normalize="nfc"), r"vectorizer=Texts\(.*normalize must be None"),
        (Texts("word:1", token_pattern="("), r"vectorizer=Texts\(.*"),
        (b"char:3", "vectorizer must be None, .* got b'char:3'"),
        (3, "vectorizer must be None, .* got 3"),
        (HashingVectorizer, "vectorizer must be None, .* got <class"),
        (Texts, "vectorizer must be None, .* got <class"),
    ],
    ids=str,
)
def test_what_cannot_be_said(vectorizer, message):
    for model in (KernelClassifier(minhash()), KernelRegressor(minhash())):
        model.set_params(vectorizer=vectorizer)
        with pytest.raises(ValueError, match=message):
            model.fit(TEXTS, np.arange(len(TEXTS)))
    if isinstance(vectorizer, (str, Texts)):
        with pytest.raises(ValueError, match=re.compile(message)):
            minhash().fit_any_width().encode_texts(vectorizer, TEXTS)
