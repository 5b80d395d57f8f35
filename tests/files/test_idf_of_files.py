"""N-grams of files weighted by how few records have them, beside the same steps in memory."""

import io
import json
import random

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import write_lines
from _scripts.commands import command

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.codes import PackedCodes
from sparsemaps.files import (
    Texts,
    deduplicate_files,
    filter_files,
    map_files,
    predict_files,
    similar_pairs_of_files,
    train_files,
)
from sparsemaps.libsvm import load_svmlight_file
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.text import HashingVectorizer, IdfWeights, _frequencies

CWS = ConsistentWeightedSampling(n_hashes=64, method="levels", random_state=0)
WORDS = HashingVectorizer(
    norm=None, alternate_sign=False, token_pattern=r"\S+", n_features=2**31 - 2
)
LABELS = ["b", "a"]


def make_records(n=120):
    """Texts of a few words, some of which tell the label."""
    draw = random.Random(SEED)
    records = []
    for number in range(n):
        label = draw.randrange(2)
        words = ["the", *(f"w{int(draw.paretovariate(0.7)) % 999}" for _ in range(8))]
        words += [f"{LABELS[label]}{draw.randrange(20)}" for _ in range(3)]
        draw.shuffle(words)
        records.append({"text": " ".join(words), "id": f"r{number}", "label": LABELS[label]})
    return records


RECORDS = make_records()
TEXTS = [record["text"] for record in RECORDS]
Y = np.array([record["label"] for record in RECORDS])


def weighted(texts=TEXTS, counted=TEXTS, **parameters):
    weights = IdfWeights(**parameters).fit(WORDS.transform(counted))
    return weights.transform(WORDS.transform(texts))


def write(path, records=RECORDS):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.fixture
def file(tmp_path):
    return write(tmp_path / "in.jsonl")


@pytest.fixture
def parts(tmp_path):
    """Three files of the same records."""
    (tmp_path / "parts").mkdir()
    for number in range(3):
        write(tmp_path / f"parts/{number}.jsonl", RECORDS[40 * number : 40 * number + 40])
    return tmp_path / "parts"


# ---- maps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("power", "levels"), [(2.0, 16.0), (0.0, 3.0), (3.5, 100.0)])
def test_outputs_are_those_of_the_same_steps(tmp_path, file, power, levels):
    source = Texts("word:1", idf=power, idf_levels=levels, label_field="label")
    X = weighted(power=power, levels=levels)
    map_files(CWS, file, tmp_path / "codes.npy", source=source, format="npy")
    codes = PackedCodes.load(tmp_path / "codes.npy")
    np.testing.assert_array_equal(codes, CWS.fit_any_width().encode(X, packed=True))
    assert (tmp_path / "codes.npy.classes.tsv").read_text() == "0\ta\n1\tb\n"
    map_files(CWS, file, tmp_path / "rows.svm", source=source)
    Z, y = load_svmlight_file(tmp_path / "rows.svm", n_features=64 * 256)
    assert abs(Z - CWS.fit_any_width().transform(X)).max() < 1e-15
    assert (np.array(["a", "b"])[y.astype(int)] == Y).all()


def test_files_are_counted_together(tmp_path, file, parts, short_ranges):
    """By one run, by tasks of any order, or again, which makes nothing anew."""
    short_ranges(10**6)
    source = Texts("word:1", idf=2.0)
    how = {"source": source, "format": "npy"}
    map_files(CWS, file, tmp_path / "one.npy", **how)
    made = map_files(CWS, parts, f"{tmp_path}/out/", **how)
    assert [one.skipped for one in made] == [False] * 3
    together = [PackedCodes.load(one.output) for one in made]
    expected = PackedCodes.load(tmp_path / "one.npy")
    np.testing.assert_array_equal(PackedCodes.concatenate(together), expected)
    assert together[0].config == expected.config
    assert [one.skipped for one in map_files(CWS, parts, f"{tmp_path}/out/", **how)] == [True] * 3
    with pytest.raises(ValueError, match="the stage frequencies lacks 3 of 3 results"):
        map_files(CWS, parts, f"{tmp_path}/tasks/", task=("map", 0, 1), **how)
    for stage in ("frequencies", "frequencies-join", "map"):
        for i in (1, 0):
            assert map_files(CWS, parts, f"{tmp_path}/tasks/", task=(stage, i, 2), **how) == []
    for one in made:
        other = tmp_path / "tasks" / one.output.rpartition("/")[2]
        assert other.read_bytes() == (tmp_path / "out" / other.name).read_bytes()


def test_a_changed_input_changes_the_weights_of_all(tmp_path, parts):
    how = {"source": Texts("word:1", idf=2.0), "format": "npy"}
    map_files(CWS, parts, f"{tmp_path}/out/", **how)
    write(parts / "2.jsonl", RECORDS[:90])
    made = map_files(CWS, parts, f"{tmp_path}/out/", **how)
    assert [one.skipped for one in made] == [False] * 3
    X = weighted(TEXTS[:40], [*TEXTS[:80], *TEXTS[:90]])
    expected = CWS.fit_any_width().encode(X, packed=True)
    np.testing.assert_array_equal(PackedCodes.load(made[0].output), expected)


def test_tables_that_are_given(tmp_path, file, parts):
    """Of a run, or of IdfWeights: new records are mapped as the earlier ones."""
    source = Texts("word:1", idf=2.0)
    map_files(CWS, parts, f"{tmp_path}/out/", source=source, format="npy")
    few = write(tmp_path / "few.jsonl", RECORDS[5:9])
    IdfWeights().fit(WORDS.transform(TEXTS)).save(tmp_path / "saved")
    whole = PackedCodes.load(tmp_path / "out/0.jsonl.npy")
    for table in (tmp_path / "out.stages/frequencies.npy", tmp_path / "saved"):
        given = Texts("word:1", idf=2.0, frequencies=table)
        map_files(CWS, few, tmp_path / "few.npy", source=given, format="npy")
        codes = PackedCodes.load(tmp_path / "few.npy")
        np.testing.assert_array_equal(codes, whole[5:9])
        assert codes.config == whole.config
    of_near = _frequencies.Frequencies(2**10, count_bytes=1)
    _frequencies.write(tmp_path / "near", of_near, {})
    given = Texts("word:1", idf=2.0, frequencies=tmp_path / "near")
    with pytest.raises(ValueError, match="near has counts of 8 bits, from a run with max_df"):
        map_files(CWS, few, tmp_path / "few.npy", source=given, format="npy")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"idf": 2.0}, "frequencies"),
        ({"idf": 3.0}, "frequencies|power"),
        ({"idf": 2.0, "idf_levels": 8.0}, "frequencies|levels"),
        ({}, "idf"),
    ],
)
def test_codes_of_two_tables_do_not_compare(tmp_path, file, options, what):
    few = write(tmp_path / "few.jsonl", RECORDS[:50])
    one, other = tmp_path / "one.npy", tmp_path / "other.npy"
    map_files(CWS, file, one, source=Texts("word:1", idf=2.0), format="npy")
    map_files(CWS, few, other, source=Texts("word:1", **options), format="npy")
    with pytest.raises(ValueError, match=f"that were vectorized alike: ({what}) is .* in one and "):
        similar_pairs_of_files(None, one, tmp_path / "pairs", other=other)


def test_records_that_are_set_aside_are_not_counted(tmp_path):
    bad = [*RECORDS[:60], {"id": "bad"}, *RECORDS[60:]]
    source = Texts("word:1", idf=2.0)
    with pytest.raises(ValueError, match="line 61"):
        map_files(CWS, write(tmp_path / "in.jsonl", bad), tmp_path / "out.npy", source=source,
                  format="npy")  # fmt: skip
    map_files(CWS, tmp_path / "in.jsonl", tmp_path / "out.npy", source=source, format="npy",
              bad_records=tmp_path / "bad")  # fmt: skip
    expected = CWS.fit_any_width().encode(weighted(), packed=True)
    np.testing.assert_array_equal(PackedCodes.load(tmp_path / "out.npy"), expected)


def test_pipes(tmp_path):
    pipe = io.BytesIO("".join(text + "\n" for text in TEXTS).encode())
    map_files(CWS, pipe, tmp_path / "out.npy", source=Texts("word:1", idf=2.0, format="txt"),
              format="npy")  # fmt: skip
    expected = CWS.fit_any_width().encode(weighted(), packed=True)
    np.testing.assert_array_equal(PackedCodes.load(tmp_path / "out.npy"), expected)


# ---- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("of_model", [True, False], ids=["vectorizer of the model", "source"])
def test_models_are_those_of_memory(tmp_path, file, of_model):
    """The table is in the model, which predicts by it; the model's parameter stays."""
    texts = Texts("word:1", idf=2.5, idf_levels=9.0)
    expected = KernelClassifier(CWS, vectorizer=texts, random_state=0).fit(TEXTS, Y)
    source = Texts("word:1", label_field="label")
    if not of_model:
        source = Texts("word:1", label_field="label", idf=2.5, idf_levels=9.0)
    given = texts if of_model else "word:1"
    model = KernelClassifier(CWS, vectorizer=given, random_state=0)
    given_model, before = model, repr(model.get_params())
    model = train_files(model, file, tmp_path / "model", source=source).model
    assert repr(model.get_params()) == repr(given_model.get_params()) == before
    assert not hasattr(given_model, "coef_")
    loaded = KernelClassifier.load(tmp_path / "model")
    for one in (model, loaded):
        scores = one.decision_function(TEXTS)
        np.testing.assert_array_equal(scores, expected.decision_function(TEXTS))
        weights = one.vectorizer_.weights
        assert weights.to_config() == expected.vectorizer_.weights.to_config()
    labels = tmp_path / "labels.tsv"
    predict_files(loaded, file, labels)
    found = [line.split("\t")[1] for line in labels.read_text().splitlines()[1:]]
    assert found == list(expected.predict(TEXTS))
    filter_files(loaded, file, tmp_path / "kept.jsonl", label="a")
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == found.count("a")


def test_a_given_table_of_a_model(tmp_path, file):
    IdfWeights(power=1.0).fit(WORDS.transform(TEXTS)).save(tmp_path / "table")
    few = write(tmp_path / "few.jsonl", RECORDS[:50])
    source = Texts("word:1", label_field="label", idf=2.0, frequencies=tmp_path / "table")
    model = KernelClassifier(CWS, vectorizer="word:1", random_state=0)
    model = train_files(model, few, tmp_path / "model", source=source).model
    expected = CWS.fit_any_width().encode(weighted(power=2.0), packed=True)
    np.testing.assert_array_equal(model._codes(TEXTS), expected)


def test_records_of_a_calibration_are_weighted_but_not_counted(tmp_path, file):
    new = write(tmp_path / "new.jsonl", RECORDS[:30])
    source = Texts("word:1", label_field="label", idf=2.0)
    model = KernelClassifier(CWS, vectorizer="word:1", random_state=0)
    how = {"source": source, "calibrate": True, "validation": new}
    model = train_files(model, file, tmp_path / "model", **how).model
    assert model.vectorizer_.weights.n_records_ == len(RECORDS)
    assert model.predict_proba(TEXTS).shape == (len(RECORDS), 2)


# ---- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"idf": -1}, "idf must be from 0.0 to 100, got -1"),
        ({"idf": 1e3}, "idf must be from 0.0 to 100, got 1000"),
        ({"idf": "2"}, "idf must be"),
        ({"idf": 2.0, "idf_levels": 0}, "idf_levels must be above 0 and at most 2147483648, got 0"),
        ({"idf": 2.0, "max_df": 5}, "idf must be None with max_df, got 2.0"),
        ({"frequencies": "table"}, "frequencies must be None without max_df or idf"),
        ({"idf_levels": 8}, "idf_levels must be left out without idf, got 8"),
        ({"idf_levels": 8, "max_df": 5}, "idf_levels must be left out without idf"),
    ],
)
def test_options_that_are_not_allowed(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        Texts("word:1", **options)


def test_jobs_that_refuse_it(tmp_path, file):
    source, out = Texts("word:1", idf=2.0), tmp_path / "out"
    labelled = Texts("word:1", idf=2.0, label_field="label")
    of_codes = KernelClassifier(MinHash(random_state=0), vectorizer="word:1", random_state=0)
    model = KernelClassifier(CWS, vectorizer="word:1", random_state=0)
    plain = Texts("word:1", label_field="label")
    model = train_files(model, file, tmp_path / "model", source=plain).model
    for call, message in (
        (lambda: deduplicate_files(CWS, file, out, source=source), "is for map and train"),
        (lambda: similar_pairs_of_files(CWS, file, out, source=source), "is for map and train"),
        (lambda: predict_files(model, file, out, source=source), "is for map and train"),
        (lambda: filter_files(model, file, out, label="a", source=source), "is for map and train"),
        (lambda: map_files(MinHash(), file, out, source=source), "MinHash maps sets"),
        (lambda: train_files(of_codes, file, out, source=labelled), "MinHash maps sets"),
        (lambda: of_codes.set_params(vectorizer=source).fit(TEXTS, Y), "the map takes sets"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
        assert not out.exists()


def test_a_regressor_weighs_too(tmp_path):
    lines = [{**record, "label": len(record["text"])} for record in RECORDS]
    source = Texts("word:1", label_field="label", idf=2.0)
    model = KernelRegressor(CWS, vectorizer="word:1", random_state=0)
    file = write(tmp_path / "in.jsonl", lines)
    model = train_files(model, file, tmp_path / "model", source=source).model
    assert model.vectorizer_.weights.n_records_ == len(RECORDS)


# ---- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "power"),
    [
        (["--idf", "--texts", "word:1", "in.jsonl"], 2.0),
        (["--idf", "in.jsonl", "--texts", "word:1"], 2.0),
        (["in.jsonl", "--texts=word:1", "--idf", "3"], 3.0),
        (["in.jsonl", "--texts=word:1", "--idf=2.5"], 2.5),
        (["minmax", "--method", "levels", "--idf", "1e0", "--texts=word:1", "in.jsonl"], 1.0),
    ],
)
def test_the_commands(tmp_path, monkeypatch, file, words, power):
    """Without a map it is min-max by levels; without a number the power is 2."""
    monkeypatch.chdir(tmp_path)
    command("map", *words, "-o", "codes.npy", "--format", "npy", "--n-hashes", "64")
    X = weighted(power=power)
    expected = CWS.fit_any_width().encode(X, packed=True)
    np.testing.assert_array_equal(PackedCodes.load("codes.npy"), expected)
    shown = command("info", "codes.npy").stdout.decode()
    assert f"weights  IdfWeights(power={power}, levels=16.0, " in shown
    command("train", *words, "-o", "model", "--label-field", "label", "--n-hashes", "64")
    model = KernelClassifier.load("model")
    np.testing.assert_array_equal(model._codes(TEXTS), expected)
    assert f"power={power}" in command("info", "model").stdout.decode()


def test_stages_of_the_command(tmp_path, parts):
    shown = command("map", "--idf", "--texts", "word:1", parts, "-o", f"{tmp_path}/out/", "--tasks")
    names = [line.split()[:2] for line in shown.stdout.decode().splitlines()]
    assert names == [["frequencies", "1"], ["map", "3"]]


def test_lines_of_texts(tmp_path):
    write_lines(tmp_path / "in.txt", TEXTS, "txt")
    map_files(CWS, tmp_path / "in.txt", tmp_path / "out.npy", source=Texts("word:1", idf=2.0),
              format="npy")  # fmt: skip
    expected = CWS.fit_any_width().encode(weighted(), packed=True)
    np.testing.assert_array_equal(PackedCodes.load(tmp_path / "out.npy"), expected)
