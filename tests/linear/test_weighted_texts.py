"""Models of texts whose n-grams are weighted by `IdfWeights`."""

import pickle

import numpy as np
import pytest
from _data.chance import SEED
from _oracles.equal import assert_same
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.linear import KernelClassifier, KernelRegressor, _model_file
from sparsemaps.text import ByteNgrams, HashingVectorizer, IdfWeights

RNG = np.random.default_rng(SEED)
FRAME = "the page of a site with a menu and a footer"
TEXTS = [
    f"{FRAME} {' '.join(RNG.choice([f'{label}{i}' for i in range(20)], 4))}"
    for label in ("cat", "dog") * 30
]
LABELS = ["cat", "dog"] * 30


def words(**parameters):
    return HashingVectorizer(**{"norm": None, "alternate_sign": False, **parameters})


def min_max(**parameters):
    return ConsistentWeightedSampling(**{"n_hashes": 64, "random_state": 0, **parameters})


def model(weights=None, vectorizer=None, cls=KernelClassifier):
    pipeline = make_pipeline(vectorizer or words(), weights or IdfWeights(n_buckets=2**12))
    return cls(min_max(), vectorizer=pipeline, random_state=0)


@pytest.fixture(scope="module")
def trained():
    return model().fit(TEXTS, LABELS)


def by_hand(texts, weights):
    return weights.transform(words().transform(texts))


def test_fit_counts_the_texts(trained):
    """The model is that of weighted rows."""
    weights = IdfWeights(n_buckets=2**12).fit(words().transform(TEXTS))
    rows = by_hand(TEXTS, weights)
    expected = KernelClassifier(min_max(), random_state=0).fit(rows, LABELS)
    np.testing.assert_array_equal(trained.coef_, expected.coef_)
    np.testing.assert_array_equal(
        trained.decision_function(TEXTS), expected.decision_function(rows)
    )
    assert trained.vectorizer_.weights.to_config() == weights.to_config()
    assert_same(trained.vectorizer_.transform(TEXTS), rows)


def test_the_pipeline_is_not_fitted_in_place():
    given = model()
    given.fit(iter(TEXTS), LABELS)  # which can be read once
    assert not given.vectorizer.steps[1][1].__sklearn_is_fitted__()
    assert clone(given).fit(TEXTS, LABELS).score(TEXTS, LABELS) == given.score(TEXTS, LABELS)


def test_fitted_weights_stay():
    """Those of a larger corpus, say."""
    weights = IdfWeights(n_buckets=2**12).fit(words().transform([*TEXTS, "other words"] * 3))
    before = weights.to_config()
    fitted = model(weights).fit(TEXTS, LABELS)
    assert fitted.vectorizer_.weights.to_config() == before
    assert weights.to_config() == before


def test_one_text_and_many(trained):
    expected = trained.decision_function(TEXTS * 2)[: len(TEXTS)]
    for number, text in enumerate(TEXTS[:5]):
        assert trained.decision_function([text]) == expected[number]


def test_codes_of_texts(trained):
    """Codes know the table; those of another one are refused."""
    pipeline = make_pipeline(words(), IdfWeights(n_buckets=2**12).fit(words().transform(TEXTS)))
    codes = min_max().fit_any_width().encode_texts(pipeline, TEXTS, packed=True)
    np.testing.assert_array_equal(
        codes.array, trained.map_.encode_texts(trained.vectorizer_, TEXTS, packed=True).array
    )
    np.testing.assert_array_equal(trained.predict(codes), LABELS)
    again = model(pipeline.steps[1][1]).fit(codes, LABELS)
    np.testing.assert_array_equal(again.coef_, trained.coef_)
    other = make_pipeline(words(), IdfWeights(n_buckets=2**12).fit(words().transform(TEXTS[:9])))
    others = min_max().fit_any_width().encode_texts(other, TEXTS, packed=True)
    with pytest.raises(ValueError, match=r"model must be .* alike: frequencies is "):
        trained.predict(others)
    with pytest.raises(ValueError, match="vectorized alike: frequencies is"):
        PackedCodes.concatenate([codes, others])


def test_codes_in_the_place_of_texts_that_must_be_counted():
    codes = min_max().fit_any_width().encode_texts(words(), TEXTS, packed=True)
    with pytest.raises(ValueError, match="IdfWeights of `vectorizer` is not fitted"):
        model().fit(codes, LABELS)


@pytest.mark.parametrize("vectorizer", [words(), ByteNgrams(), words(ngram_range=(1, 2))])
@pytest.mark.parametrize("cls", [KernelClassifier, KernelRegressor])
def test_saved_and_loaded(tmp_path, vectorizer, cls):
    y = LABELS if cls is KernelClassifier else np.arange(60.0)
    fitted = model(vectorizer=vectorizer, cls=cls).fit(TEXTS, y)
    fitted.save(tmp_path / "model")
    loaded = cls.load(tmp_path / "model")
    for again in (loaded, pickle.loads(pickle.dumps(loaded)), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict(TEXTS), fitted.predict(TEXTS))
        np.testing.assert_array_equal(again.predict(TEXTS[:1]), fitted.predict(TEXTS[:1]))
    before = fitted.vectorizer_.weights.to_config()
    assert loaded.vectorizer_.weights.to_config() == before
    refitted = loaded.set_params(random_state=0).fit(TEXTS, y)
    assert refitted.vectorizer_.weights.to_config() == before
    refitted.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_damaged_tables_of_models(trained, tmp_path, monkeypatch):
    """With the checksum that they should have."""
    monkeypatch.setattr(_model_file, "checksum_of", lambda *parts: "00000000")
    trained.save(tmp_path / "model")
    content = (tmp_path / "model").read_bytes()
    for changed in (
        content.replace(b'"n_large": ', b'"n_large":9'),
        content.replace(b'"shape": [1, 4096]', b'"shape": [1, 8192]'),
        content.replace(b'"n_records": 60', b'"n_records": 1 '),
        content.replace(b'"n_features": 1048576, "shape"', b'"n_features": 1048577, "shape"'),
        content.replace(b'"levels": 16.0', b'"levels": -1.0'),
    ):
        assert changed != content
        (tmp_path / "model").write_bytes(changed)
        with pytest.raises(ValueError, match="is damaged"):
            KernelClassifier.load(tmp_path / "model")


def test_words_that_all_texts_have_explain_nothing(trained):
    text = f"{FRAME} cat3 cat4"
    shares = dict(trained.explain(text))
    assert set(shares) == {"cat3", "cat4"}
    plain = KernelClassifier(min_max(), vectorizer=words(), random_state=0).fit(TEXTS, LABELS)
    assert len(plain.explain(text)) > 5


def test_sets_of_words_that_not_all_texts_have():
    """MinHash takes the columns whose weight is not 0."""
    pipeline = make_pipeline(words(), IdfWeights(n_buckets=2**12))
    sets = KernelClassifier(MinHash(random_state=0), vectorizer=pipeline, random_state=0)
    assert set(dict(sets.fit(TEXTS, LABELS).explain(f"{FRAME} cat3"))) == {"cat3"}


def test_a_text_without_words_of_its_own(trained):
    assert trained.explain(FRAME) == []
    assert len(trained.predict([FRAME, ""])) == 2


def test_parameters_of_the_pipeline():
    found = model().set_params(vectorizer__idfweights__power=0.5).fit(TEXTS, LABELS)
    assert found.vectorizer_.weights.power == 0.5
