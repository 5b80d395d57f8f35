"""Errors of the command speak the words of a shell: options and values as they are typed, and no
word of Python.

The set is closed: every option of every command with a value that is not allowed, and the options
that need or exclude another.
"""

import argparse
import os
import pickle
import re
import warnings

import pytest
from _scripts.commands import command

from sparsemaps._tools import _parameters, _threads
from sparsemaps._tools._option_fields import options_of
from sparsemaps.cli import _given, make_parser
from sparsemaps.cli._options import KERNELS, MAPS
from sparsemaps.cli._parser import commands_of
from sparsemaps.cli._wording import ShellWording
from sparsemaps.files._job_options import VALUES

PARAMETERS = {option.name for cls in VALUES for option in options_of(cls)} | {
    option.name for kind in (*MAPS.values(), *KERNELS.values()) for option in kind.options
} | {"random_state", "n_features", "ngram_range"}  # fmt: skip

OF_PYTHON = (
    r"\b(None|True|False|dict\w*|tuple|dtype|callable|Kernel\w+|HashingVectorizer|MinHash|"
    r"RandomFourier|ConsistentWeightedSampling|must be a str)\b"
)

BAD_OF_TYPE = {
    "integer": "-1", "float": "nan", "number": "nan", "_numbers": "-1", "_integers": "0",
    "kernel_or_series": "1,-1", "_task": "0/2",
}  # fmt: skip

BAD = {
    "--n-jobs": "0", "--texts": "words", "--token-pattern": "(", "--frequencies": "none",
    "--class-weight": "x", "--keep": "none", "--against": "none", "--label": "none",
    "--stage": "none", "--field": "none", "--label-field": "none", "--id-field": "none",
    "--weight-field": "none", "--other": "none", "--validation": "none", "--config": "none",
    "--save-config": "none/x", "--removed": "none/x", "--report": "none/x", "--clusters": "none/x",
    "--bad-records": "none/x", "--test": "none", "--output": "none/x", "--scheduler": "none",
    "--ngram-range": "2 1",
}  # fmt: skip

GOOD = {"--unknown", "--plot"}
"""Options that take any text, or whose place is looked at after the work."""

INPUTS = {
    "text": "t.jsonl -o o", "kernel": "rows.svm -o o", "map": "t.jsonl -o o", "info": "rows.svm",
    "pairs": "t.jsonl -o o", "dedup": "t.jsonl -o o.jsonl", "compare": "t.jsonl --label-field y",
    "train": "t.jsonl --label-field y -o o", "predict": "model t.jsonl -o o",
    "filter": "model t.jsonl -o o.jsonl --label 0",
}  # fmt: skip


def _parsers():
    """Yield each command with its words; of maps and kernels those that add an option."""
    seen = set()
    for name, parser in commands_of(make_parser()).choices.items():
        if name == "demo":
            continue  # it has two paths, and takes a minute before it writes
        inner = commands_of(parser)
        for kind, one in inner.choices.items() if inner else [("", parser)]:
            actions = [a for a in one._actions if a.option_strings and a.nargs != 0]
            new = [a for a in actions if (name, a.dest, str(a.type)) not in seen]
            seen |= {(name, a.dest, str(a.type)) for a in actions}
            yield f"{name} {kind}".strip(), new


CASES = [
    (words, action.option_strings[-1], getattr(action.type, "__name__", ""))
    for words, actions in _parsers()
    for action in actions
    if not action.choices  # argparse says of these which it takes
    and not isinstance(action, (argparse.BooleanOptionalAction, argparse._HelpAction))
]


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f'{{"text": "word{n % 3} and {n}", "y": {n % 2}}}\n' for n in range(24)]
    (tmp_path / "t.jsonl").write_text("".join(lines))
    (tmp_path / "t.txt").write_text("some words\n")
    (tmp_path / "rows.svm").write_text("0 1:1\n1 3:2\n")
    (tmp_path / "one.svm").write_text("1 1:1\n1 3:2\n")
    (tmp_path / "same.svm").write_text("1 1:1\n" * 50)
    (tmp_path / "no.jsonl").write_text('{"text": "a", "y": []}\n')
    (tmp_path / "real.svm").write_text("0.5 1:1\n1.5 3:2\n")


def said(words):
    """Return the error of a command, after a look at its words."""
    done = command(*words.split())
    text = done.stderr.decode()
    assert done.returncode == 2, (words, text)
    assert text.count("\n") == 1
    refuse_words_of_python(text)
    return text


def refuse_words_of_python(text):
    text = re.sub(r" \(see sparsemaps [a-z -]+\)|\(choose from .*?\)", "", text)
    names = "|".join(sorted(name for name in PARAMETERS if "_" in name))
    assert not re.search(rf"(?<![\w-])({names})(?!\w)", text), text
    assert not re.search(OF_PYTHON, text), text
    assert not re.search(r"\b[a-z_]+=['\d]|[(\[]-?\d+\.\d|'\w+' parameter", text), text
    assert not re.search(r" got -?\d+\.0(?!\d)", text), text


def test_every_option_has_a_case():
    options = {option for _, option, kind in CASES if kind not in BAD_OF_TYPE}
    assert options == {*BAD, *GOOD} - {"--n-jobs", "--ngram-range"}


@pytest.mark.parametrize("words", sorted({words for words, _, _ in CASES}))
def test_values_that_are_not_allowed(words):
    """The error has the option, unless it has the place or the field that is not there."""
    if words in ("predict", "filter"):
        command("train", "minhash", "t.jsonl", "--label-field", "y", "-o", "model")
    for of, option, kind in CASES:
        if of != words or option in GOOD:
            continue
        value = BAD.get(option) or BAD_OF_TYPE[kind]
        if option == "--scheduler":
            continue  # which is looked for a while
        more = ["--texts", "word:1"] if words.startswith("map") and "--texts" not in option else []
        text = said(f"{words} {INPUTS[words.split()[0]]} {' '.join(more)} {option} {value}")
        assert option in text or "none" in text or option in ("--output", "--stage", "--task"), text


TOGETHER = [
    ("dedup t.jsonl -o o.jsonl --frequencies f.npy",
     "--frequencies must be left out without --max-df, got 'f.npy'"),
    ("train t.jsonl -o o --label-field y --frequencies f.npy",
     "--frequencies must be left out without --idf, got 'f.npy'"),
    ("map minmax t.jsonl -o o --texts byte:3 --normalize nfc",
     "--normalize must be left out for 'byte:3', got 'nfc'"),
    ("map minhash t.jsonl -o o --texts char:3 --token-pattern .",
     "--token-pattern is for words, not for 'char:3'"),
    ("map minhash t.jsonl -o o --texts word:1 --idf 2 --max-length 9",
     "--idf 2 weighs values, but minhash maps sets"),
    ("map fastfood rows.svm -o o", "--hash-dim must be a number"),
    ("map fourier rows.svm -o o --gamma 0.0", "--gamma must be a finite number above 0, got 0"),
    ("map fourier rows.svm -o o --gamma 1e70", "or use a smaller --gamma"),
    ("map minmax rows.svm -o o --resolution 2.0", "--resolution 2 is for --method levels only"),
    ("map minmax rows.svm -o o --method levels --t-bits 1", "--t-bits must be 0 with --method lev"),
    ("map tensor-sketch rows.svm -o o --kernel exp --max-norm 1",
     "rows.svm: line 2, index 3: the value is 2; the length of the row is 2, above --max-norm 1"),
    ("map tensor-sketch rows.svm -o o --kernel 1,2 --degree 2", "--degree must be left out for a"),
    ("map minmax rows.svm -o o --power 1e300", "e^-2000: --power must be smaller"),
    ("pairs fourier rows.svm -o o --kernel folded_rbf --n-components 8",
     "MAP must be a map with codes, such as minhash, got "
     "fourier --kernel folded_rbf --n-components 8"),
    ("train fourier rows.svm -o o --kernel folded_rbf",
     "MAP must be a map with codes, such as minhash, got fourier --kernel folded_rbf"),
    ("pairs minmax rows.svm -o o --containment", "unknown option --containment"),
    ("train t.txt -o o --texts word:1 --label-field y",
     "lines of text have no fields, got --label-field y"),
    ("train t.jsonl -o o", "expected a field of labels; found 'text', 'y'; name the field of the "
     "labels by --label-field"),
    ("train t.jsonl -o o --label-field y --class-weight a=2",
     "--class-weight must be weights of labels of the rows (0, 1), got one for 'a'"),
    ("train t.jsonl -o o --label-field y --class-weight 0=0 --class-weight 1=0",
     "--class-weight must be above 0 for a class"),
    ("text t.jsonl -o o --n-features 0", "--n-features must be from 1 to 2147483646, got 0"),
    ("text t.jsonl -o o --analyzer byte --ngram-range 2 1", "--ngram-range must be two sizes"),
    ("filter real t.jsonl -o o.jsonl --label 0", "the model is for regression"),
    ("filter model t.jsonl -o o.jsonl --label 7", "--label must be a class of the model (0, 1)"),
    ("filter model t.jsonl -o o.jsonl --label 0 --min-score 1.0 --fraction .5",
     "give --fraction 0.5 or --min-score 1, not both"),
    ("predict model t.jsonl -o o --min-score 1 --min-proba .5", "give --min-score 1 or --min-p"),
    ("predict real real.svm -o o --top 2", "--top 2 is for classifiers"),
    ("pairs minhash codes.npy -o o --bits 4.", "invalid integer value: '4.'"),
    ("pairs minhash codes.npy -o o --n-hashes 4", "has codes with --n-hashes 8, not 4"),
    ("pairs minmax codes.npy -o o", "codes.npy has codes of minhash, not of minmax"),
    ("pairs minhash codes.npy --other t.jsonl -o o --max-df 3", "--max-df counts n-grams of texts"),
    ("dedup minhash rows.svm -o o.svm --n-hashes 16 --against codes.npy",
     "same map: --n-hashes is 8 in one and 16 in the other"),
    ("dedup minmax rows.svm -o o.svm --against codes.npy", "class is minhash in one and minmax"),
    ("dedup minmax-signs rows.svm -o o.svm --against codes.npy", "class is minhash in one and "),
    ("dedup minhash t.jsonl --texts word:1 -o o.jsonl --max-df 5 --against words.npy",
     "vectorized alike: --max-df is left out in one and 5 in the other"),
    ("predict model words.npy -o o", "X and the model must be codes of texts that were vectorized"),
    ("map --config t.jsonl rows.svm -o o", "t.jsonl: it is not JSON"),
    ("train minhash one.svm -o o", "model needs rows of at least 2 classes, got one class only: 1"),
    ("train minhash no.jsonl --label-field y -o o", "the model needs rows with at least one label"),
    ("compare same.svm", "needs rows of at least 2 classes, got one class only: 1\n"),
    ("map signs --config minhash.json rows.svm -o o", "it has the map minhash, not signs"),
    ("map minhash t.jsonl -o o --texts word:1 --frequencies f --idf 2", "--idf 2 weighs values"),
]  # fmt: skip
"""Options that need or exclude another, and what is said."""


def test_options_that_need_or_exclude_another():
    for words in (
        "train minhash t.jsonl --label-field y -o model",
        "train minhash real.svm --loss epsilon_insensitive -o real",
        "map minhash rows.svm -o codes.npy --format npy --n-hashes 8 --save-config minhash.json",
        "map minhash t.jsonl --texts word:1 -o words.npy --format npy",
    ):
        done = command(*words.split())
        assert not done.returncode, done.stderr
    for words, expected in TOGETHER:
        assert expected in said(words), words


class OtherProcess:
    """An engine whose workers have the words of the library, as another process has."""

    def run(self, make, tasks):
        make, tasks = pickle.loads(pickle.dumps((make, tasks)))
        with _parameters.wording_settings(_parameters.Wording()):
            return _threads.run(make, [(task,) for task in tasks], 1)


OF_TASKS = {
    "map": "map minhash IN -o o/ --texts word:1 --label-field y",
    "text": "text IN -o o/ --label-field y",
    "pairs": "pairs minhash IN -o o --texts word:1",
    "dedup": "dedup IN -o o/ --texts word:1 --keep y",
    "predict": "predict model IN -o o/",
    "filter": "filter model IN -o o/ --label 0",
}
"""Commands whose tasks workers can run."""

BAD_RECORDS = {
    "a long line": ('{"text": "%s", "y": 1}' % ("a" * 300), "--max-line-bytes 200"),
    "no field": ('{"other": "a", "y": 1}', ""),
    "no text": ('{"text": 7, "y": 1}', ""),
    "a bad label": ('{"text": "a", "y": {}}', ""),
    "no number": ('{"text": "a", "y": "x"}', ""),
}


@pytest.mark.parametrize("name", OF_TASKS)
def test_workers_have_the_same_words(name, monkeypatch):
    command("train", "minhash", "t.jsonl", "--label-field", "y", "-o", "model")
    n_failed = 0
    for number, (line, options) in enumerate(BAD_RECORDS.values()):
        with open(f"{number}.jsonl", "w") as file:
            file.write('{"text": "a b", "y": 1}\n' + line + "\n")
        words, texts = f"{OF_TASKS[name]} {options}".replace("IN", f"{number}.jsonl"), []
        for engine in (None, OtherProcess()):
            how = {} if engine is None else {"engine": engine}
            monkeypatch.setattr(
                _given.Run, "of", lambda given, how=how: _given.Run(**(given | how))
            )
            done = command(*words.split(), "--fresh")
            texts.append(done.stderr.decode().replace(f"{os.getcwd()}{os.sep}", ""))
        assert texts[0] == texts[1]
        if done.returncode:
            refuse_words_of_python(texts[0])
            n_failed += 1
    assert n_failed > 2


def test_a_warning_is_a_line_of_the_command():
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        words = "train minhash t.jsonl --label-field y -o o --max-iter 1 --tol 1e-12"
        text = command(*words.split()).stderr.decode().splitlines()[0]
    assert text.startswith(
        "sparsemaps: warning: the model did not converge with --max-iter 1 (1 of 1 model)"
    )
    assert text.endswith("Increase --max-iter or --tol, or decrease --C")
    refuse_words_of_python(text)


def test_values_as_they_are_typed():
    """Whatever an error has found, as Python writes it."""
    words = ShellWording(argparse.Namespace(map_name="fourier", seed=1))
    for python, typed in [
        ("2.0", "2"), ("-2.5", "-2.5"), ("'2.0'", "'2.0'"), ("(1.0, -1.0)", "1,-1"),
        ("(nan,)", "nan"), ("[3, 3]", "3,3"), ("{'a': 1, -1.0: 2.0}", "a=1 -1=2"),
            ("False", "false"), ("{True: 2.0}", "true=2"),
        ("RandomFourier(form='offset', gamma=2.0, random_state=0)",
         "fourier --form offset --gamma 2 --seed 0"), ("Unknown(a=1)", "Unknown(a=1)"),
    ]:  # fmt: skip
        assert words.value(python) == typed
    assert words.setting("n_jobs", 1) is None  # not of this call
    assert (words.name("max_df"), words.name("gamma")) == ("--max-df", "--gamma")
    with _parameters.wording_settings(words):
        assert _parameters.setting("zero_based", True) == "zero_based=True"
        assert str(_parameters.ParameterError("gamma", "0.0", "x")) == "--gamma must be x, got 0"
    assert str(_parameters.ParameterError("gamma", "0.0", "x")) == "gamma must be x, got 0.0"
