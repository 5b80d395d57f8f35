"""Records with lists of labels: how they are read, mapped and learned."""

import io
import json

import numpy as np
import pytest
import scipy.sparse as sp
from _data.chance import SEED
from _data.labelled_records import folds_of, rows, text_model
from _data.listed_labels import FILES, KINDS, SOURCE, listed, trained, write, write_jsonl
from _scripts.commands import command
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from sparsemaps import ConsistentWeightedSampling, files
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.linear import KernelClassifier, KernelRegressor
from sparsemaps.linear._indicators import LabelLists
from sparsemaps.text import iter_records

MAP = text_model().map


def expected_of(some):
    """The model of texts and of the indicator matrix of their labels, and the classes."""
    classes = sorted({label for one in some for label in one["y"]})
    Y = np.array([[label in one["y"] for label in classes] for one in some])
    return text_model().fit([one["text"] for one in some], sp.csr_array(Y)), classes


def is_same(model, expected, classes):
    assert model.multilabel_
    assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.intercept_, expected.intercept_)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_file_and_kind_of_label(file, kind, tmp_path):
    """The model is that of the indicator matrix, also beside codes and after it is saved."""
    some = listed(40, kind)
    path = write(tmp_path / "in", file, some)
    expected, classes = expected_of(some)
    is_same(trained(path, tmp_path).model, expected, classes)
    loaded = KernelClassifier.load(tmp_path / "model")
    is_same(loaded, expected, classes)
    assert list(map(type, loaded.classes_.tolist())) == list(map(type, trained(path, tmp_path).model
                                                                 .classes_.tolist()))  # fmt: skip
    codes = tmp_path / "codes.npy"
    files.map_files(MAP, path, codes, source=SOURCE, format="npy")
    of_codes = files.train_files(KernelClassifier(MAP, random_state=0), codes, tmp_path / "model")
    is_same(of_codes.model, expected, [0, 1] if kind == "booleans" else classes)
    rows_, labels = np.load(f"{codes}.labels.npy").T
    assert rows_.tolist() == [n for n, one in enumerate(some) for _ in set(one["y"])]
    assert len(labels) == len(rows_)


def test_a_label_by_itself_is_the_only_one_of_its_record(tmp_path):
    """Where some record has a list, which may be of one label or empty."""
    some = [one | {"y": list(dict.fromkeys(one["y"]))} for one in listed(40)]
    mixed = [one | {"y": one["y"][0]} if len(one["y"]) == 1 else one for one in some]
    assert any(isinstance(one["y"], str) for one in mixed)
    write_jsonl(tmp_path / "in.jsonl", mixed)
    is_same(trained(tmp_path / "in.jsonl", tmp_path).model, *expected_of(some))
    single = [one for one in mixed if isinstance(one["y"], str)]
    write_jsonl(tmp_path / "in.jsonl", single)
    assert not trained(tmp_path / "in.jsonl", tmp_path).model.multilabel_
    single[-1]["y"] = [single[-1]["y"]]
    write_jsonl(tmp_path / "in.jsonl", single)
    assert trained(tmp_path / "in.jsonl", tmp_path).model.multilabel_


def test_one_label_is_enough_and_none_is_not(tmp_path):
    some = [{"text": "a", "y": ["x"]}, {"text": "b", "y": []}]
    write_jsonl(tmp_path / "in.jsonl", some)
    is_same(trained(tmp_path / "in.jsonl", tmp_path).model, *expected_of(some))
    write_jsonl(tmp_path / "in.jsonl", some[1:])
    with pytest.raises(ValueError, match="needs rows with at least one label, got none"):
        trained(tmp_path / "in.jsonl", tmp_path)


def test_labels_of_records_of_weight_0_alone_are_no_classes(tmp_path):
    some = [{**one, "w": 1} for one in listed(20)]
    write_jsonl(tmp_path / "in.jsonl", [{"text": "a", "y": ["new"], "w": 0}, *some])
    is_same(trained(tmp_path / "in.jsonl", tmp_path, weight_field="w").model, *expected_of(some))


def test_iter_records_has_tuples(tmp_path):
    some = listed(20, "large numbers")
    write_jsonl(tmp_path / "in.jsonl", some)
    (batch,) = iter_records(tmp_path / "in.jsonl", label_field="y")
    assert batch.labels == [tuple(dict.fromkeys(one["y"])) for one in some]


BAD = {
    "null": (["a", None], "a finite number in the list of the field 'y'; found null"),
    "a list": ([["a"]], "in the list of the field 'y'; found an array"),
    "an object": ([{"a": 1}], "in the list of the field 'y'; found an object"),
    "NaN": ([1, float("nan")], "in the list of the field 'y'; found nan"),
    "two kinds": (
        [1, "a"],
        "labels of one kind in the list of the field 'y'; found a number and a",
    ),
    "1 and true": (
        [True, 1],
        "of one kind in the list of the field 'y'; found a boolean and a num",
    ),
    "65 bits": (
        [2**64],
        "of at most 64 bits in the list of the field 'y'; found 18446744073709551",
    ),
    "no list": (None, "a finite number in the field 'y'; found null"),
}


@pytest.mark.parametrize("bad", BAD)
def test_what_is_no_list_of_labels(bad, tmp_path):
    """It is an error with its line, or set aside; it does not decide of which kind labels are."""
    value, message = BAD[bad]
    some = listed(9)
    lines = [*some[:3], {"text": "t", "y": value}, *some[3:]]
    for place in (3, 0):
        order = [lines[3], *lines[:3], *lines[4:]] if place == 0 else lines
        write_jsonl(tmp_path / "in.jsonl", order)
        with pytest.raises(ValueError, match=f"line {place + 1}: expected .*{message}"):
            trained(tmp_path / "in.jsonl", tmp_path)
        done = trained(tmp_path / "in.jsonl", tmp_path, bad_records=tmp_path / "bad.tsv")
        assert done[1:3] == (9, 1)
        assert f"\t{place + 1}\t" in (tmp_path / "bad.tsv").read_text()
        is_same(done.model, *expected_of(some))


def test_columns_that_are_no_labels(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    for values, message in (
        ([[["a"]], [[]]], "lists of these, in the column 'y'; found list<"),
        ([["a"], None], "row 2: expected .* in the column 'y'; found null"),
        ([["a", None], []], "row 1: expected .* in the list of the column 'y'; found null"),
    ):
        pq.write_table(
            pa.table({"text": ["a", "b"], "y": pa.array(values)}), tmp_path / "a.parquet"
        )
        with pytest.raises(ValueError, match=message):
            trained(tmp_path / "a.parquet", tmp_path)


@pytest.mark.parametrize("cell", ["['a', 'b']", '["a","b"]', "[1, 2]", "[]", ' [ "a" ] ', "[-1.5]"])
def test_csv_has_no_lists(cell, tmp_path):
    quoted = cell.replace('"', '""')
    (tmp_path / "in.csv").write_text(f'text,y\na,b\nc,"{quoted}"\nd,e\n')
    message = "line 3: expected one label in the column 'y', as CSV has no lists; found"
    with pytest.raises(ValueError, match=message):
        trained(tmp_path / "in.csv", tmp_path)
    (tmp_path / "in.csv").write_text('text,y\na,b\nc,"[x], y"\nd,"1,2"\n')
    assert trained(tmp_path / "in.csv", tmp_path).model.classes_.tolist() == ["1,2", "[x], y", "b"]


def test_strings_that_many_lists_share_are_not_repeated_in_memory(tmp_path):
    """A dictionary has a long string once, and each list has its number many times."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    n, long = 2**9, "x" * 2**14
    flat = pa.DictionaryArray.from_arrays(pa.array(np.zeros(64 * n, np.int32)), pa.array([long]))
    lists = pa.ListArray.from_arrays(pa.array(np.arange(0, 64 * n + 1, 64), pa.int32()), flat)
    pq.write_table(pa.table({"text": ["a"] * n, "y": lists}), tmp_path / "a.parquet")
    batch = next(iter(iter_records(tmp_path / "a.parquet", label_field="y")))
    assert batch.labels[0] == (long,)
    assert all(label is batch.labels[0][0] for (label,) in batch.labels)
    assert len(batch.labels) <= 17  # 16 MB of strings at a time


# ---- LIBSVM files --------------------------------------------------------------------------------

ROWS = ConsistentWeightedSampling(n_hashes=16, random_state=0).fit_any_width()


def row_model():
    return KernelClassifier(ROWS, random_state=0)


def svmlight(some=4, seed=0, n_labels=3):
    """Rows, the tuples of their labels, and the lines."""
    X, _ = rows(30)
    rng = np.random.default_rng(SEED + seed)
    labels = [tuple(np.flatnonzero(rng.random(n_labels) < 0.4).tolist()) for _ in range(30)]
    labels[:some] = [(1,)] * some  # the rows before the first that tells that there are several
    file = io.BytesIO()
    dump_svmlight_file(X, labels, file, zero_based=False, multilabel=True)
    return X, labels, file.getvalue()


@pytest.mark.parametrize("as_pipe", [False, True])
def test_rows_of_libsvm_files(as_pipe, tmp_path):
    X, labels, content = svmlight()
    Y = MultiLabelBinarizer().fit_transform(labels)
    (tmp_path / "in.svm").write_bytes(content)
    given = io.BytesIO(content) if as_pipe else tmp_path / "in.svm"
    model = files.train_files(row_model(), given, tmp_path / "model").model
    is_same(model, row_model().fit(ROWS.encode(X, packed=True), Y), [0, 1, 2])
    files.map_files(ROWS, tmp_path / "in.svm", tmp_path / "a.npy", format="npy")
    again = files.train_files(row_model(), tmp_path / "a.npy", tmp_path / "model").model
    is_same(again, model, [0, 1, 2])


def test_a_row_without_label_needs_one_with_several(tmp_path):
    """Else it is an error, as a label is missing; so is CSV, whose commas stand between fields."""
    path = tmp_path / "in.svm"
    path.write_bytes(b"1 1:1\n 2:1\n2 3:1\n")
    with pytest.raises(ValueError, match="line 2, column 2: expected a number as label"):
        files.train_files(row_model(), path, tmp_path / "model")
    aside = {"bad_records": tmp_path / "bad.tsv"}
    assert files.train_files(row_model(), path, tmp_path / "model", **aside)[1:3] == (2, 1)
    path.write_bytes(b"1 1:1\n 2:1\n2,3 3:1\n")
    assert files.train_files(row_model(), path, tmp_path / "model").n_records == 3
    path.write_bytes(b"1,2,3\n4,5,6\n")
    with pytest.raises(ValueError, match="this looks like CSV"):
        files.train_files(row_model(), path, tmp_path / "model")


def test_bad_rows_are_set_aside_once(tmp_path):
    """Also those before the first row that has several labels, as all are read again then."""
    path = tmp_path / "in.svm"
    lines = [b"1 1:1\n", b"x 1:1\n", b" 2:1\n", b"2,3 3:1\n", b"4 5:x\n", b"1,3 qid:1 1:1\n"]
    path.write_bytes(b"".join(lines[:5]))
    done = files.train_files(
        row_model(), path, tmp_path / "model", bad_records=tmp_path / "bad.tsv"
    )
    assert done[1:3] == (3, 2)
    table = (tmp_path / "bad.tsv").read_text().splitlines()
    assert [line.split("\t")[1] for line in table] == ["line", "2", "5"]
    n = 2**14  # of several blocks
    path.write_bytes(b"x 1:1\n" + b"1 1:1\n" * n + lines[3])
    done = files.train_files(
        row_model(), path, tmp_path / "model", bad_records=tmp_path / "bad.tsv"
    )
    assert done[1:3] == (n + 1, 1)
    assert len((tmp_path / "bad.tsv").read_text().splitlines()) == 2


def test_rows_go_there_and_back(tmp_path):
    """By map to LIBSVM text, which scikit-learn's reader has, and back; all digits stay."""
    X, labels, content = svmlight(some=0)
    (tmp_path / "in.svm").write_bytes(content)
    files.map_files(ROWS, tmp_path / "in.svm", tmp_path / "out.svm")
    found, y = load_svmlight_file(str(tmp_path / "out.svm"), multilabel=True)
    assert y == labels
    np.testing.assert_allclose(found.toarray(), ROWS.transform(X).toarray()[:, : found.shape[1]])
    dump_svmlight_file(found, y, str(tmp_path / "again.svm"), zero_based=False, multilabel=True)
    assert load_svmlight_file(str(tmp_path / "again.svm"), multilabel=True)[1] == labels
    some = listed(30, "large numbers")
    write_jsonl(tmp_path / "in.jsonl", some)
    files.map_files(MAP, tmp_path / "in.jsonl", tmp_path / "text.svm", source=SOURCE)
    lines = (tmp_path / "text.svm").read_text().splitlines()
    heads = [line.split(" ")[0] for line in lines]
    assert heads == [",".join(map(str, dict.fromkeys(one["y"]))) for one in some]


def test_a_row_that_would_be_a_blank_line(tmp_path):
    """A record without labels and n-grams has no line of LIBSVM text."""
    some = [{"text": "a", "y": ["x"]}, {"text": "", "y": []}]
    write_jsonl(tmp_path / "in.jsonl", some)
    with pytest.raises(ValueError, match="line 2: a row with neither labels nor entries cannot"):
        files.map_files(MAP, tmp_path / "in.jsonl", tmp_path / "out.svm", source=SOURCE)
    assert not (tmp_path / "out.svm").exists()
    files.map_files(MAP, tmp_path / "in.jsonl", tmp_path / "out.npy", source=SOURCE, format="npy")
    assert np.load(tmp_path / "out.npy.labels.npy").tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("pairs", "message"),
    [([[0, 1], [3, 1]], "expected rows from 0 to 2 in order"), ([[1, 1], [0, 1]], "in order"),
     ([[-1, 1]], "rows from 0"), ([[0.5, 1]], "rows from 0"), ([[0, 7]], "not all labels are in"),
     ([[0, 1, 2]], r"numbers of shape \(any, 2\)"), ([[[0, 1]]], r"of shape \(3\)")],
)  # fmt: skip
def test_labels_beside_codes_that_are_damaged(pairs, message, tmp_path):
    write_jsonl(tmp_path / "in.jsonl", listed(3, seed=SEED))
    path = tmp_path / "a.npy"
    files.map_files(MAP, tmp_path / "in.jsonl", path, source=SOURCE, format="npy")
    np.save(f"{path}.labels.npy", np.array(pairs, float))
    with pytest.raises(ValueError, match=message):
        files.train_files(KernelClassifier(MAP), path, tmp_path / "model")


# ---- figures of records to compare with ----------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_figures_are_those_of_scikit_learn(weighted, tmp_path):
    """A label that the model does not know is never found."""
    train, unseen = listed(60), listed(40, seed=1)
    unseen[0]["y"], unseen[1]["y"] = ["new", "pets"], ["new"]
    weights = np.random.default_rng(SEED).integers(1, 4, 40).tolist()
    for one, weight in zip(unseen, weights, strict=True):
        one["w"] = weight
    write_jsonl(tmp_path / "a.jsonl", [one | {"w": 1} for one in train])
    write_jsonl(tmp_path / "b.jsonl", unseen)
    more = {"weight_field": "w"} if weighted else {}
    done = trained(tmp_path / "a.jsonl", tmp_path, validation=tmp_path / "b.jsonl", **more)
    binarizer = MultiLabelBinarizer(classes=[*done.model.classes_.tolist(), "new"])
    truth = binarizer.fit_transform([set(one["y"]) for one in unseen])
    texts = [one["text"] for one in unseen]
    found = np.column_stack([done.model.predict(texts).toarray(), np.zeros(40, int)])
    each = weights if weighted else np.ones(40)
    micro, macro = (f1_score(truth, found, average=how, sample_weight=each)
                    for how in ("micro", "macro"))  # fmt: skip
    order = np.argsort(-done.model.decision_function(texts), axis=1)
    at = {
        k: np.average([truth[row, order[row, :k]].mean() for row in range(40)], weights=each)
        for k in (1, 3)
    }
    start = f"40 records of weight {sum(weights)}" if weighted else "40 records"
    assert done.validation.lines == [
        f"{start}, micro F1 {micro:.4f}, macro F1 {macro:.4f}, precision at 1 {at[1]:.4f}, at 3 "
        f"{at[3]:.4f}"
    ]
    assert done.validation.score == pytest.approx(micro)
    assert done.validation.n_records == 40


def test_records_to_compare_with(tmp_path):
    """They have lists where those of training have; a label by itself is one of them."""
    write_jsonl(tmp_path / "lists.jsonl", listed(30))
    single = [{"text": one["text"], "y": one["y"][0]} for one in listed(30) if one["y"]]
    write_jsonl(tmp_path / "single.jsonl", single)
    write_jsonl(tmp_path / "numbers.jsonl", listed(30, "numbers"))
    write_jsonl(tmp_path / "empty.jsonl", [{"text": "a", "y": []}])
    done = trained(tmp_path / "lists.jsonl", tmp_path, validation=tmp_path / "single.jsonl")
    assert done.validation.n_records == len(single)
    done = trained(tmp_path / "lists.jsonl", tmp_path, validation=tmp_path / "empty.jsonl")
    assert done.validation.lines[0].startswith("1 record, micro F1 0.0000, macro F1 0.0000, prec")
    for train, other, message in (
        ("single", "lists", "validation must have one label per record, like the training"),
        ("lists", "numbers", "that are strings, like the training labels, got numbers"),
    ):
        path = tmp_path / f"{other}.jsonl"
        with pytest.raises(ValueError, match=message):
            trained(tmp_path / f"{train}.jsonl", tmp_path, validation=path)
    (tmp_path / "a.svm").write_text("1,3 1:1\n3 2:1\n")
    (tmp_path / "b.svm").write_text("1 1:1\n 2:1\n")
    (tmp_path / "model").unlink()
    done = files.train_files(
        row_model(), tmp_path / "a.svm", tmp_path / "model", validation=tmp_path / "b.svm"
    )
    assert done.validation.n_records == 2


@pytest.mark.parametrize("with_others", [False, True])
def test_a_calibration(with_others, tmp_path):
    """By the records to compare with, or by scores out of folds; unknown labels do no harm."""
    some, others = listed(120), listed(60, seed=1)
    others[0]["y"] = ["new"]
    write_jsonl(tmp_path / "a.jsonl", some)
    write_jsonl(tmp_path / "b.jsonl", others)
    more = {"validation": tmp_path / "b.jsonl"} if with_others else {}
    model = trained(tmp_path / "a.jsonl", tmp_path, calibrate=True, **more).model
    assert model.calibration_.slope.shape == (3,)
    binarizer = MultiLabelBinarizer(classes=model.classes_.tolist())
    texts, Y = [one["text"] for one in some], binarizer.fit_transform([one["y"] for one in some])
    expected = text_model().fit(texts, Y)
    if not with_others:
        expected.calibrate(texts, Y, cv=folds_of(120))
    texts = [one["text"] for one in others]
    if with_others:
        expected.calibrate(
            texts, binarizer.fit_transform([{*one["y"]} - {"new"} for one in others])
        )
    np.testing.assert_allclose(model.predict_proba(texts), expected.predict_proba(texts), atol=5e-3)


def test_a_label_of_one_fold(tmp_path):
    """The models of the other folds have scores for it."""
    some = [one | {"y": ["a"] if n % 2 else []} for n, one in enumerate(listed(40))]
    for place in folds_of(40)[0][1]:
        some[place]["y"] = ["rare"]
    write_jsonl(tmp_path / "in.jsonl", some)
    model = trained(tmp_path / "in.jsonl", tmp_path, calibrate=True).model
    assert model.classes_.tolist() == ["a", "rare"]
    assert np.isfinite(model.predict_log_proba([one["text"] for one in some])).all()


def test_what_takes_one_label_a_record(tmp_path):
    write_jsonl(tmp_path / "in.jsonl", listed(30, "numbers"))
    regressor = KernelRegressor(MAP, vectorizer="word:1")
    with pytest.raises(ValueError, match=r"line 1: expected a finite number .* a list"):
        files.train_files(regressor, tmp_path / "in.jsonl", tmp_path / "model", source=SOURCE)
    done = command("compare", tmp_path / "in.jsonl", "--texts", "word:1", "--label-field", "y")
    assert done.returncode == 2
    assert b"one label per record, got a list in the field 'y'" in done.stderr
    weighted = text_model(class_weight={3: 2.0})
    with pytest.raises(ValueError, match="class_weight must be None or 'balanced' if rows may"):
        files.train_files(weighted, tmp_path / "in.jsonl", tmp_path / "model", source=SOURCE)
    assert not (tmp_path / "model").exists()


def test_models_whose_classes_are_not_theirs_are_damaged(tmp_path):
    write_jsonl(tmp_path / "in.jsonl", listed(30))
    trained(tmp_path / "in.jsonl", tmp_path)
    content = (tmp_path / "model").read_bytes()
    classes = json.dumps(sorted(KINDS["strings"]))[1:-1].encode()
    assert content.count(classes) == 1
    for other in (b'"a","b"', b'"b","a","c"', b'"a","b","c","d"', b"1,2,3"):
        padded = other + b" " * (len(classes) - len(other))
        (tmp_path / "model").write_bytes(content.replace(classes, padded))
        with pytest.raises(ValueError, match="is damaged: "):
            KernelClassifier.load(tmp_path / "model")


def test_snippets_have_the_labels_of_their_texts(tmp_path):
    some = listed(30)
    write_jsonl(tmp_path / "in.jsonl", some)
    done = trained(tmp_path / "in.jsonl", tmp_path, snippets=(2,))
    assert done.n_records == 30
    assert done.model.classes_.tolist() == sorted(KINDS["strings"])
    assert (done.model.coef_ != trained(tmp_path / "in.jsonl", tmp_path).model.coef_).any()
    labels = LabelLists(np.array([5, 6, 7, 8]), np.array([1, 1, 4]))
    found = labels[np.array([2, 0, 1, 2])]
    assert (found.values.tolist(), found.ends.tolist()) == ([6, 7, 8, 5, 6, 7, 8], [3, 4, 4, 7])
    assert labels[np.array([False, True, True])].ends.tolist() == [0, 3]
