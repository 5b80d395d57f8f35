"""What columns of rows, and n-grams of texts, add to scores."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED

from sparsemaps import ConsistentWeightedSampling, MinHash, SignProjection
from sparsemaps.codes import unpack
from sparsemaps.linear import KernelClassifier, KernelRegressor, _explanation
from sparsemaps.text import ByteNgrams, HashingVectorizer

WORDS = HashingVectorizer(binary=True, norm=None, alternate_sign=False)
TEXTS = [
    *("the cat sat on the mat", "a dog ran in the park", "dogs bark at a cat", "the mat is red"),
    *("prices rose in the market", "the bank lent money", "a market of money", "banks and prices"),
]
LABELS = ["pets"] * 4 + ["money"] * 4

MAPS = {
    "MinHash": MinHash(n_hashes=50, bits=3, random_state=0),
    "min-max": ConsistentWeightedSampling(n_hashes=50, random_state=0),
    "levels": ConsistentWeightedSampling(n_hashes=50, method="levels", bits=5, random_state=0),
    "signed": ConsistentWeightedSampling(n_hashes=50, signed=True, random_state=0),
}


def text_model(**parameters):
    parameters = {"map": MinHash(n_hashes=64, random_state=0), "vectorizer": WORDS, **parameters}
    return KernelClassifier(**parameters, random_state=0).fit(TEXTS, LABELS)


def rows(signed=False, n=40):
    """Rows of few entries. The first and the last are empty."""
    rng = np.random.default_rng(SEED)
    X = rng.gamma(1.0, size=(n, 9)) * (rng.random((n, 9)) < 0.5)
    X[[0, -1]] = 0
    return sp.csr_array(X * np.where(rng.random(X.shape) < 0.5, -1, 1) if signed else X)


def naive(model, X, number):
    """What each column adds to a score of each row: dictionaries, a sample after the other."""
    samples = model.map_.sample(X)
    columns = samples[0] if isinstance(samples, tuple) else samples
    codes = unpack(model.map_.encode(X, packed=True))
    n_codes = codes.shape[1]
    each = []
    for row in range(X.shape[0]):
        found = {}
        for sample, column in enumerate(columns[row].tolist()):
            if column < 0:
                continue
            column //= 2 if getattr(model.map_, "signed", False) else 1
            weight = model._weights[(sample << model._code_bits) + codes[row, sample], number]
            found.setdefault(column, []).append(weight / math.sqrt(n_codes))
        each.append({column: math.fsum(parts) for column, parts in found.items()})
    return each


def check_sums(reasons, score, intercept):
    """Shares and the intercept are the score, within 1e-12 of the sum of their sizes."""
    shares = [share for _, share in reasons]
    size = sum(map(abs, shares)) + abs(intercept)
    assert math.fsum([*shares, intercept]) == pytest.approx(score, rel=0, abs=1e-12 * size)
    assert [abs(share) for share in shares] == sorted(map(abs, shares), reverse=True)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", MAPS)
def test_columns_of_rows_add_up_to_scores(name, n_classes, monkeypatch):
    X = rows(signed=name == "signed")
    y = np.arange(X.shape[0]) % n_classes + 5
    model = KernelClassifier(MAPS[name], random_state=0).fit(X, y)
    scores = model.decision_function(X).reshape(len(y), -1)
    if n_classes == 2:
        scores = np.hstack([-scores, scores])
    intercepts = [-1, 1] * model.intercept_ if n_classes == 2 else model.intercept_
    of_labels = {label: model.explain(X, label) for label in model.classes_.tolist()}
    for number, (label, each) in enumerate(of_labels.items()):
        expected = naive(model, X, number if n_classes > 2 else 0)
        sign = -1 if n_classes == 2 and number == 0 else 1
        assert len(each) == X.shape[0]
        assert each[0] == each[-1] == []
        for row, reasons in enumerate(each):
            check_sums(reasons, scores[row, number], intercepts[number])
            assert dict(reasons) == pytest.approx(
                {column: sign * share for column, share in expected[row].items()}, abs=1e-12
            )
            assert {column for column, _ in reasons} <= set(X[[row]].indices.tolist())
        assert model.explain(X.toarray(), label) == each
    chosen = model.predict(X).tolist()
    best = [of_labels[label][row] for row, label in enumerate(chosen)]
    assert model.explain(X) == best
    totals = {}
    for reasons in best:
        for column, share in reasons:
            totals[column] = totals.get(column, 0) + share
    found = model.explain(X, total=True)
    assert dict(found) == pytest.approx(totals, abs=1e-10)
    assert [abs(share) for _, share in found] == sorted((abs(s) for _, s in found), reverse=True)
    monkeypatch.setattr(_explanation, "_SAMPLES", 3 * 50)  # rows in parts
    for of in (X, X.toarray(), sp.coo_array(X)):
        assert model.explain(of) == best
        assert dict(model.explain(of, total=True)) == pytest.approx(totals, abs=1e-10)


@pytest.mark.parametrize("n_samples", [2**20, 100])
def test_columns_have_the_names_that_fit_saw(n_samples, monkeypatch):
    monkeypatch.setattr(_explanation, "_SAMPLES", n_samples)
    pandas = pytest.importorskip("pandas")
    X, y = rows().toarray(), np.arange(40) % 3
    names = [f"column {number}" for number in range(9)]
    frame = pandas.DataFrame(X, columns=names)
    model = KernelClassifier(MAPS["min-max"], random_state=0).fit(frame, y)
    unnamed = KernelClassifier(MAPS["min-max"], random_state=0).fit(X, y)
    for total in (False, True):
        reasons = model.explain(frame, 1, total=total)
        numbers = unnamed.explain(X, 1, total=total)
        for named, numbered in (
            [(reasons, numbers)] if total else zip(reasons, numbers, strict=True)
        ):
            assert named == [(names[column], share) for column, share in numbered]
    with pytest.raises(ValueError, match="feature names"):
        model.explain(frame.rename(columns={names[0]: "x"}))


def test_numbers_of_a_regressor_are_explained():
    X = rows()
    y = X.sum(axis=1)
    model = KernelRegressor(MAPS["min-max"], random_state=0).fit(X, y)
    for row, reasons in enumerate(model.explain(X)):
        check_sums(reasons, model.predict(X)[row], model.intercept_[0])
    total = math.fsum(share for _, share in model.explain(X, total=True))
    assert total == pytest.approx((model.predict(X) - model.intercept_).sum(), abs=1e-9)


def test_texts_are_explained_together():
    model = text_model()
    assert model.explain(TEXTS) == [model.explain(text) for text in TEXTS]
    assert model.explain(iter(TEXTS), "pets") == [model.explain(text, "pets") for text in TEXTS]
    totals = {}
    for reasons in model.explain(TEXTS):
        for ngram, share in reasons:
            totals[ngram] = totals.get(ngram, 0) + share
    assert dict(model.explain(TEXTS, total=True)) == pytest.approx(totals)
    assert (
        model.explain([]) == model.explain([], total=True) == model.explain([""], total=True) == []
    )


def test_ngrams_of_one_column_are_named_together():
    few = HashingVectorizer(binary=True, norm=None, alternate_sign=False, n_features=4)
    model = text_model(vectorizer=few)
    words = sorted({word for text in TEXTS for word in text.split() if len(word) > 1})
    of_words = few.transform(words).indices
    together = {frozenset(np.array(words)[of_words == column].tolist()) for column in range(4)}
    found = model.explain(" ".join(words))
    assert {frozenset(names.split(" / ")) for names, _ in found} == together - {frozenset()}
    total = model.explain(TEXTS, total=True)
    assert {frozenset(names.split(" / ")) for names, _ in total} == together - {frozenset()}
    for text in TEXTS:
        check_sums(
            model.explain(text, "pets"), model.decision_function([text])[0], model.intercept_[0]
        )


@pytest.mark.parametrize(
    ("map", "vectorizer"),
    [
        (MinHash(n_hashes=200, random_state=0), WORDS),
        (MinHash(n_hashes=200, random_state=0), ByteNgrams(ngram_range=(2, 4))),
        (
            ConsistentWeightedSampling(n_hashes=200, random_state=0),
            HashingVectorizer(ngram_range=(1, 2), norm=None, alternate_sign=False),
        ),
        (
            ConsistentWeightedSampling(n_hashes=200, signed=True, random_state=0),
            HashingVectorizer(analyzer="char", ngram_range=(3, 3), norm=None),
        ),
    ],
    ids=["words", "bytes", "bigrams", "signed"],
)
def test_ngrams_add_up_to_the_score(map, vectorizer):
    model = text_model(map=map, vectorizer=vectorizer)
    for text in (*TEXTS, "the market of cats", "unseen words only"):
        shares = model.explain(text, "pets")
        total = sum(share for _, share in shares) + model.intercept_[0]
        assert total == pytest.approx(model.decision_function([text])[0], abs=1e-9)
        sizes = [abs(share) for _, share in shares]
        assert sizes == sorted(sizes, reverse=True)
        assert model.explain(text, "money") == [(ngram, -share) for ngram, share in shares]
        assert all(word in text for ngram, _ in shares for word in ngram.split())
        assert model.explain(text) == model.explain(text, model.predict([text])[0])


def test_the_words_that_decide_come_first():
    """Texts of one word each that tells the class, among words that do not."""
    rng = np.random.default_rng(SEED)
    noise = [f"word{n}" for n in range(30)]
    signs = {"red": ["crimson", "scarlet"], "blue": ["navy", "azure"], "green": ["lime", "olive"]}
    texts, labels = [], []
    for _ in range(100):
        for label, words in signs.items():
            texts.append(" ".join([*rng.choice(noise, 6, replace=False), rng.choice(words)]))
            labels.append(label)
    model = KernelClassifier(MinHash(random_state=0), vectorizer=WORDS, random_state=0)
    model.fit(texts, labels)
    for label, words in signs.items():
        for word in words:
            ngrams = model.explain(f"word3 word8 {word} word20 word29", label)
            assert ngrams[0][0] == word
            assert ngrams[0][1] > 0


def test_explanations_that_there_are_not():
    assert text_model().explain("") == []
    with pytest.raises(ValueError, match=r"one of classes_ \(.*\), got 'fish'"):
        text_model().explain("a cat", "fish")
    with pytest.raises(ValueError, match="total must be"):
        text_model().explain("a cat", total=1)
    with pytest.raises(ValueError, match="explain needs a map whose samples are columns"):
        text_model(map=SignProjection(random_state=0)).explain("a cat")
    X = rows()
    model = KernelClassifier(MinHash(random_state=0)).fit(X, np.arange(40) % 2)
    with pytest.raises(ValueError, match="X must be rows, as the model has no vectorizer"):
        model.explain("a cat", 0)
    with pytest.raises(ValueError, match="codes do not store columns"):
        model.explain(model.map_.encode(X, packed=True))
    with pytest.raises(ValueError, match="features"):
        model.explain(X[:, :3])
    number = KernelRegressor(MinHash(random_state=0), vectorizer=WORDS, random_state=0)
    number.fit(TEXTS, np.arange(8.0))
    total = sum(share for _, share in number.explain(TEXTS[0])) + number.intercept_[0]
    assert total == pytest.approx(number.predict(TEXTS[:1])[0])
