"""Records of weight 0 are as if they were absent, whatever else is learned of records."""

import json

import numpy as np
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from _data.chance import SEED
from sklearn.pipeline import make_pipeline

from sparsemaps import ConsistentWeightedSampling, cli
from sparsemaps.cli._parser import commands_of, make_parser
from sparsemaps.codes import PackedCodes
from sparsemaps.files import Texts, train_files
from sparsemaps.linear import KernelClassifier, load_model
from sparsemaps.text import HashingVectorizer, IdfWeights

TOPICS = {"pets": "cat dog mouse bird", "money": "tax bank coin euro", "sea": "salt wave fish ship"}


def records(n, seed, weights):
    draw = np.random.default_rng(SEED + seed)
    for number in range(n):
        label = list(TOPICS)[draw.integers(3)]
        words = [str(word) for word in draw.choice(TOPICS[label].split(), 5)]
        words.append(f"w{draw.integers(9)}")
        yield {"text": " ".join(words), "y": label, "n": number % 7, "w": draw.choice(weights)}


def write(path, some):
    table = {name: [one[name] for one in some] for name in some[0]}
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(one) + "\n" for one in some))
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(pyarrow.table(table), path, row_group_size=7)
    else:
        pyarrow.feather.write_feather(pyarrow.table(table), path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of all records, and of those with weights above 0; some label has others only."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_all(folder, format):
    some = [*records(60, 1, [0.0, 0.0, 0.5, 2.0])]
    some[5:5] = [{**one, "y": "unseen", "w": 0.0} for one in records(4, 2, [1.0])]
    held_out = [*records(30, 3, [0.0, 1.0, 2.0])]
    for name, all in (("train", some), ("held_out", held_out)):
        write(folder / f"{name}_all.{format}", all)
        write(folder / f"{name}_some.{format}", [one for one in all if one["w"]])


OPTIONS = [
    "", "--idf", "--snippets 3", "--idf --snippets 2 4", "--calibrate", "--C 0.1 1 10",
    "--class-weight balanced", "--loss log_loss", "--idf --calibrate --C 1 10 --snippets 3",
    "--validation held_out_{}.FORMAT", "--validation held_out_{}.FORMAT --calibrate --C 1 10",
    "--label-field n --loss epsilon_insensitive",
    "--label-field n --loss squared_epsilon_insensitive --C 1 10",
]  # fmt: skip


@pytest.mark.parametrize("format", ["jsonl", "parquet", "arrow"])
def test_training(folder, capsys, format):
    """Whatever the options, the models are equal."""
    write_all(folder, format)
    for options in OPTIONS if format == "jsonl" else OPTIONS[:4]:
        scores = []
        for which in ("all", "some"):
            label = "" if "label-field" in options else "--label-field y"
            words = f"train train_{which}.{format} {label} --weight-field w --texts word:1 "
            words += options.format(which).replace("FORMAT", format) + f" -o {which} --n-hashes 32"
            assert cli.main(words.split()) == 0, (words, capsys.readouterr().err)
            model = load_model(which)
            texts = [one["text"] for one in records(20, 4, [1.0])]
            scores.append([model.predict(texts)])
            if hasattr(model, "decision_function"):
                scores[-1].append(model.decision_function(texts))
            if hasattr(model, "predict_proba"):
                scores[-1].append(model.predict_proba(texts))
        for all, some in zip(*scores, strict=True):
            if all.dtype.kind == "f":
                np.testing.assert_allclose(all, some, rtol=1e-6, atol=1e-9)
            else:
                assert all.tolist() == some.tolist()


OF_EACH_RECORD = {
    "bits", "n-hashes", "seed", "normalize", "texts", "token-pattern", "zero-based", "field",
    "id-field", "label-field", "weight-field", "text-format", "bad-records", "min-length",
    "max-length", "max-line-bytes",
}  # fmt: skip
"""Options about a record by itself, and options about the run."""

OF_THE_RUN = {"json", "help", "help-all", "n-jobs", "progress", "no-progress", "output"}
OF_NUMBERS = {"epsilon", "frequencies", "idf-levels", "max-iter", "tol"}
"""Numbers of what is tried, and what takes the place of counts."""


def test_all_options_are_known():
    """A new option of `train` comes into one of these lists, or is tried above."""
    parser = commands_of(commands_of(make_parser()).choices["train"]).choices["minhash"]
    options = {name for action in parser._actions for name in action.option_strings}
    known = {word for one in OPTIONS for word in one.split()}
    known |= {f"--{name}" for name in OF_EACH_RECORD | OF_THE_RUN | OF_NUMBERS}
    assert {name for name in options if name.startswith("--")} <= known


def test_weights_of_ngrams_beside_codes(folder):
    """`map --idf` with weights beside the codes; other weights are another run."""
    write_all(folder, "jsonl")
    rows = {}
    for which in ("all", "some"):
        words = f"map train_{which}.jsonl --idf --texts word:1 --weight-field w --n-hashes 32"
        assert cli.main([*words.split(), "--format", "npy", "-o", f"{which}/"]) == 0
        codes = PackedCodes.load(f"{which}/train_{which}.jsonl.npy")
        rows[which] = np.asarray(codes.array)
    weights = np.load("all/train_all.jsonl.npy.weights.npy")
    assert (weights == 0).any()
    assert (rows["all"][weights > 0] == rows["some"]).all()
    words = "map train_all.jsonl --idf --texts word:1 --n-hashes 32 --format npy -o all/"
    assert cli.main(words.split()) == 0
    assert (PackedCodes.load("all/train_all.jsonl.npy").array != rows["all"]).any()


@pytest.mark.parametrize("container", [list, iter, pyarrow.array])
def test_models_that_count_texts(container):
    some = [*records(40, 5, [0.0, 1.0, 2.5])]
    queries = [one["text"] for one in records(9, 6, [1.0])]

    def scores(some):
        vectorizer = HashingVectorizer(norm=None, alternate_sign=False)
        cws = ConsistentWeightedSampling(method="levels", n_hashes=32, random_state=0)
        model = KernelClassifier(
            cws, vectorizer=make_pipeline(vectorizer, IdfWeights()), random_state=0
        )
        texts, labels = ([one[name] for one in some] for name in ("text", "y"))
        model.fit(container(texts), labels, sample_weight=[one["w"] for one in some])
        return model.decision_function(queries)

    np.testing.assert_array_equal(scores(some), scores([one for one in some if one["w"]]))


def test_many_texts_in_a_block(folder):
    """More than are read of it at a time: the weights are those of their texts."""
    some = [*records(60, 7, [0.0, 1.0])]
    for one in some:
        one["text"] = " ".join([one["text"]] * 400)
    for name, ones in (("all", some), ("some", [one for one in some if one["w"]])):
        write(folder / f"{name}.jsonl", ones)
    sets = HashingVectorizer(norm=None, alternate_sign=False, binary=True)
    found = []
    for name in ("all", "some"):
        cws = ConsistentWeightedSampling(method="levels", n_hashes=32, random_state=0)
        model = KernelClassifier(cws, vectorizer=make_pipeline(sets, IdfWeights()), random_state=0)
        source = Texts(label_field="y")
        done = train_files(
            model, folder / f"{name}.jsonl", folder / "m", source=source, weight_field="w"
        )
        found.append(done.model.decision_function([one["text"] for one in some[:9]]))
    np.testing.assert_array_equal(*found)
