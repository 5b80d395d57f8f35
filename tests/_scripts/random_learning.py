"""Random jobs of `train_files`, `predict_files` and `filter_files`, beside models in memory."""

import random
import re

import numpy as np
import scipy.sparse as sp
from _data.chance import named
from sklearn.base import clone

from _scripts.random_records import (
    TYPES,
    WRITERS,
    analyzer_of,
    check_bad,
    compare,
    draw_records,
    same,
    write_file,
)  # fmt: skip
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.files import Texts, filter_files, map_files, predict_files, train_files
from sparsemaps.linear import KernelClassifier
from sparsemaps.text._analyzers import vectorizer_of

NUMBER = r"-?(0|[1-9][0-9]*)"

CLASSES = {
    str: [["yes", "no"], ["b", "a\tb", "é"], ["1", "01", "2", "x"]],
    int: [[0, 1], [-1, 1], [3, 1, 2], [2**53 + 1, 2**53], [-5, 0, 7, 9]],
    bool: [[False, True]],
}


def learning_options(draw):
    kind = draw.choice(
        ["jsonl", "jsonl", "csv", "parquet", "arrow", "svm", "codes of jsonl", "codes of svm"]
    )
    format = kind.removeprefix("codes of ")
    label_type = int if format == "svm" else draw.choice([str, int, bool])
    if format == "csv" and label_type is bool:
        label_type = str
    classes = draw.choice(CLASSES[label_type])
    if format in ("parquet", "arrow") and label_type is int:
        classes = [3, 1, 2]
    takes_values = format == "svm" and draw.random() < 0.5
    map = (ConsistentWeightedSampling if takes_values else MinHash)(
        n_hashes=draw.choice([8, 32, 64]), bits=draw.choice([1, 4, 8]),
        random_state=draw.randrange(99),
    )  # fmt: skip
    analyzer = draw.choice(["word:1", "word:1-2", "char:3", "byte:3"])
    has_texts = format != "svm"
    model = KernelClassifier(
        map, vectorizer=vectorizer_of(analyzer, binary=True) if has_texts else None,
        C=draw.choice([0.1, 1.0, 10.0]), fit_intercept=draw.random() < 0.8,
        class_weight=draw.choice([None, None, "balanced"]), n_jobs=draw.choice([None, 2]),
        loss=draw.choice(["squared_hinge", "squared_hinge", "hinge", "log_loss"]),
        random_state=draw.randrange(99),
    )  # fmt: skip
    return {
        "format": format, "is_coded": kind != format, "label_type": label_type,
        "classes": classes, "model": model, "analyzer": analyzer,
        "has_ids": has_texts and draw.random() < 0.5, "type": draw.choice(TYPES),
        "sets_aside": draw.random() < 0.5, "n_jobs": draw.choice([None, 2]),
        "is_folder": draw.random() < 0.3,
    }  # fmt: skip


def check_learning(number, folder):
    """Train a model on files, and label and filter others, as in memory."""
    draw = random.Random(named(f"learning {number}"))
    how, before = learning_options(draw), []
    classes = how["classes"]

    def label(draw, text):
        return classes[0] if draw.random() < 0.2 else classes[len(text) % len(classes)]

    paths, inputs = labelled_files(draw, folder, "train", how, before, label)
    good = [record for records in inputs for record in records if record.text is not None]
    if len({record.label for record in good}) < 2:
        return
    has_texts = how["format"] != "svm"
    source = Texts(how["analyzer"], label_field="label") if has_texts else None
    options = {"n_jobs": how["n_jobs"]}
    if how["sets_aside"]:
        options["bad_records"] = folder / "bad"
    if how["is_coded"]:
        coded = []
        for path in paths:
            coded.append(folder / f"{path.name}.npy")
            aside = {"bad_records": folder / f"{path.name}.bad"} if how["sets_aside"] else {}
            if not sum(record.text is not None for record in inputs[paths.index(path)]):
                return  # all records are bad, which is an error
            map_files(how["model"].map, path, coded[-1], format="npy", source=source, **aside)
        done = train_files(how["model"], coded, folder / "model", n_jobs=how["n_jobs"])
    else:
        done = train_files(how["model"], paths, folder / "model", source=source, **options)
        if how["sets_aside"]:
            check_bad(folder / "bad", paths, inputs, lambda record: record.text is not None)
    same(done.n_records, len(good))

    # in memory
    labels = np.array([record.label for record in good])
    if how["is_coded"] and labels.dtype == bool:
        labels = labels.astype(float)  # beside codes, booleans are numbers
    is_csv_of_strings = how["format"] == "csv" and labels.dtype.kind == "U"
    if is_csv_of_strings and all(re.fullmatch(NUMBER, label) for label in labels.tolist()):
        labels = labels.astype(float)  # CSV does not tell numbers from strings
    wide = clone(how["model"]).fit(contents_of(how, good), labels)
    found = KernelClassifier.load(folder / "model")
    same(found.classes_.tolist(), wide.classes_.tolist())
    same(found.coef_.tolist(), wide.coef_.tolist())
    same(found.intercept_.tolist(), wide.intercept_.tolist())

    check_labels(draw, folder, how, before, label, found, wide)


def labelled_files(draw, folder, name, how, before, label):
    paths, inputs = [], []
    ending = draw.choice(list(WRITERS)) if how["format"] not in ("parquet", "arrow") else ""
    for part in range(draw.choice([1, 1, 2, 3])):
        n = draw.choice([2, 5, 12, 25]) if not part else draw.choice([0, 1, 12])
        share = 0.2 if how["sets_aside"] and part else 0
        records = draw_records(draw, n, how["format"], before, share, label=label)
        inputs.append(records)
        paths.append(folder / f"{name}{part}.{how['format']}{ending}")
        write_file(draw, paths[-1], records, how["type"], how["label_type"])
    return paths, inputs


def contents_of(how, good):
    """What a model in memory takes."""
    if how["format"] != "svm":
        return [record.text for record in good]
    X = np.zeros((len(good), 99))
    for row, record in enumerate(good):
        line = record.content.partition(b"#")[0].decode().split()[1:]
        for column, value in (entry.split(":") for entry in line):
            X[row, int(column) - 1] = float(value)
    return sp.csr_array(X)


def name_of(label):
    if isinstance(label, float):
        return f"{label:.17g}"
    return str(label).lower() if isinstance(label, bool) else str(label).replace("\t", "\\t")


def check_labels(draw, folder, how, before, label, model, in_memory):
    """Compare the labels of other records, and those of one label."""
    paths, inputs = labelled_files(draw, folder, "new", how, before, label)
    every = [[record for record in records if record.text is not None] for records in inputs]
    is_folder = how["is_folder"] and not how["sets_aside"]
    source = None
    if how["format"] != "svm":
        source = Texts(how["analyzer"], id_field="id" if how["has_ids"] else None)
    options = {"source": source, "n_jobs": how["n_jobs"]}
    if how["sets_aside"]:
        options["bad_records"] = folder / "bad"
    lines, chosen, n_unknown, number = [], [], 0, 0
    classes = in_memory.classes_.tolist()
    wanted, min_score = draw.choice(classes), draw.choice([None, None, 0.0, -0.5, 0.25])
    for good in every:
        lines.append([])
        chosen.append([])
        number = 0 if is_folder else number
        scores = found = np.empty(0)
        if good:
            scores = in_memory.decision_function(contents_of(how, good)).tolist()
            found = in_memory.predict(contents_of(how, good)).tolist()
        for record, own, predicted in zip(good, scores, found, strict=True):
            number += 1
            is_known = bool(ngrams_of(how, record))
            n_unknown += not is_known
            columns = [record.id if how["has_ids"] else str(number)]
            columns.append(name_of(predicted) if is_known else "")
            own = own if isinstance(own, list) else [0.0 - own, own]  # no -0
            columns += [f"{score:.6g}" for score in own]
            lines[-1].append("\t".join(columns))
            score = own[classes.index(wanted)]
            is_wanted = predicted == wanted if min_score is None else score >= min_score
            if is_known and is_wanted:
                chosen[-1].append(record)
    n = sum(map(len, every))
    if how["sets_aside"] and not n:
        return  # all records are bad, which is an error
    header = "\t".join(["id" if how["has_ids"] else "record", "label", *map(name_of, classes)])
    output = f"{folder}/labels/" if is_folder else folder / "labels"
    done = predict_files(model, paths, output, **options)
    same(done[:2], (n, n_unknown))
    if is_folder:
        for path, own in zip(paths, lines, strict=True):
            name = path.name.removesuffix(path.suffix if path.suffix in WRITERS else "")
            same(lines_in(folder / "labels" / f"{name}.tsv"), [header, *own])
    else:
        same(lines_in(output), [header, *(line for own in lines for line in own)])
    if how["sets_aside"]:
        check_bad(folder / "bad", paths, inputs, lambda record: record.text is not None)

    ending = f".{how['format']}" if how["format"] in ("csv", "parquet", "arrow") else ""
    output = f"{folder}/chosen/" if is_folder else folder / f"chosen{ending}"
    done = filter_files(model, paths, output, label=wanted, min_score=min_score, **options)
    same(done[:3], (n, sum(map(len, chosen)), n_unknown))
    if is_folder:
        for path, own in zip(paths, chosen, strict=True):
            compare(folder / "chosen" / path.name, own)
    else:
        compare(output, [record for own in chosen for record in own])


def lines_in(path):
    return path.read_text("utf-8").split("\n")[:-1]


def ngrams_of(how, record):
    if how["format"] == "svm":
        return record.text
    return analyzer_of(how["analyzer"], None, None)(record.text)
