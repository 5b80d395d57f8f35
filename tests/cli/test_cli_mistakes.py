"""What the command says of names that it does not know, and of files of other formats."""

import contextlib
import re

import numpy as np
import pytest
import scipy.sparse as sp
from _scripts.commands import command

import sparsemaps
from sparsemaps._tools._option_fields import options_of
from sparsemaps.cli import make_parser
from sparsemaps.cli._options import KERNELS, MAPS, OTHER_COMMANDS, OTHER_NAMES
from sparsemaps.files._job_options import VALUES

COMMANDS = ["demo", "compare", "map", "text", "kernel", "pairs", "dedup", "train", "predict",
            "filter", "info"]  # fmt: skip


def said(*arguments):
    done = command(*arguments)
    assert done.returncode == 2
    assert not done.stdout
    text = done.stderr.decode()
    assert text.startswith("sparsemaps: ")
    assert text.count("\n") == 1
    return text


@pytest.mark.parametrize(
    ("arguments", "meant", "see"),
    [
        (["mpa"], "map", "map"),
        (["dmeo"], "demo", "demo"),
        (["minmax"], "map minmax", "map minmax"),
        (["completion"], "--print-completion", ""),
        (["help"], "--help", ""),
        (["map", "help"], "--help", "map"),
        (["explain", "model", "in"], "predict", "predict"),
        (["classify"], "predict", "predict"),
        (["folded_rbf"], "kernel folded-rbf", "kernel folded-rbf"),
        (["map", "MinMax"], "minmax", "map minmax"),
        (["map", "tensor_sketch"], "tensor-sketch", "map tensor-sketch"),
        (["map", "min-hash", "in", "-o", "out"], "minhash", "map minhash"),
        (["kernel", "polynomail"], "polynomial", "kernel polynomial"),
        (["pairs", "minhsah"], "minhash", "pairs minhash"),
        (["map", "fourier", "--kernel", "laplace", "in", "-o", "out"], "laplacian", "map fourier"),
        (["map", "minmax", "--n_hashes", 3, "in", "-o", "out"], "--n-hashes", "map minmax"),
        (["map", "minmax", "--hashes=3", "in", "-o", "out"], "--n-hashes", "map minmax"),
        (["map", "minmax", "in", "--ouput", "out"], "--output", "map minmax"),
        (["pairs", "minhash", "in", "-o", "out", "--treshold", 1], "--threshold", "pairs minhash"),
        (["kernel", "rbf", "--gama", 2, "in", "-o", "out"], "--gamma", "kernel rbf"),
        (["info", "--njobs", 2, "in"], "--n-jobs", "info"),
        (["--verion"], "--version", ""),
        (["train", "minmax", "in", "-o", "out", "-c", "3"], "--C", "train minmax"),
        (["train", "minmax", "in", "-o", "out", "--c=3"], "--C", "train minmax"),
    ],
)
def test_what_was_meant(arguments, meant, see):
    """And the help of the subcommand that was meant."""
    text = said(*arguments)
    assert f"; did you mean {meant}?" in text
    assert text.endswith(f"(see {f'sparsemaps {see}'.strip()} --help)\n")


def test_every_name_with_a_letter_left_out():
    for names, name_of_command in ((MAPS, "map"), (KERNELS, "kernel")):
        for name in names:
            wrong = name[:2] + name[3:]
            if wrong not in names:
                assert "; did you mean " in said(name_of_command, wrong), name
    for name in COMMANDS:
        assert f"; did you mean {name}?" in said(name[:2] + name[3:])


def test_other_names_are_of_commands():
    options = make_parser()._option_string_actions
    assert {*OTHER_COMMANDS.values()} <= {*COMMANDS, *options}
    assert not {*OTHER_COMMANDS} & {*COMMANDS, *OTHER_NAMES}


WORDS = {*COMMANDS, *MAPS, *KERNELS, *OTHER_COMMANDS, *OTHER_NAMES, *sparsemaps.__all__} | {
    word for cls in VALUES for option in options_of(cls) for word in option.name.split("_")
}


@pytest.mark.parametrize("before", [[], ["map"], ["kernel"], ["pairs"]], ids=" ".join)
def test_every_suggestion_is_accepted(before, capsys):
    """Words of the command, whole and without their last letter, in a place where most of them are
    wrong. A suggestion is accepted if it has a help page."""
    parser = make_parser()
    for word in sorted({made for name in WORDS for made in (name, name[:-1])} - {""}):
        with contextlib.suppress(SystemExit):  # of correct words, only demo needs no others
            parser.parse_args([*before, word])
        meant = re.search(r"did you mean ([^?]+)\?", capsys.readouterr().err)
        if meant is not None and meant[1] != "--print-completion":
            help_word = [] if meant[1].startswith("--") else ["--help"]
            with pytest.raises(SystemExit) as ended:
                parser.parse_args([*before, *meant[1].split(), *help_word])
            assert ended.value.code == 0, (word, meant[1])
            capsys.readouterr()


@pytest.mark.parametrize("word", ["completions", "cluster", "selection", "registration"])
def test_a_distant_name_is_not_suggested(word):
    assert "did you mean" not in said(word)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["xyzzy"], "argument COMMAND: invalid choice: 'xyzzy' (choose from demo, compare, map, "),
        (["map", "xyzzy"], "argument MAP: invalid choice: 'xyzzy' (choose from "),
        (["map", "minmax", "--xyzzy", "in", "-o", "out"], "unknown option --xyzzy (see"),
        (["map", "minmax", "-x", "in", "-o", "out"], "unrecognized arguments: -x (see"),
        (
            ["filter", "m", "in", "-o", "out", "--label", "ru", "the en"],
            "unrecognized arguments: "
            "the en; each value needs its own --label: --label ru --label 'the en' (see",
        ),
        (
            ["filter", "m", "--label", "ru", "en", "-o", "out", "in"],
            "unrecognized arguments: in; "
            "each value needs its own --label: --label ru --label en (see",
        ),
        (["predict", "m", "in"], "required: -o/--output; -o - writes to standard output (see"),
        (["train", "minmax", "in"], "required: -o/--output (see"),
        (["predict", "m", "in", "-o", "out", "--top", "3", "4"], "unrecognized arguments: 4 (see"),
        (["map", "--n-hashes", 3, "minmax"], "unknown option --n-hashes before MAP (see"),
        (["--seed", 3, "map"], "unknown option --seed before COMMAND (see"),
        (["info", "--", "--xyzzy"], "--xyzzy: No such file or directory"),
    ],
)
def test_nothing_is_guessed_of_other_names(arguments, message):
    text = said(*arguments)
    assert message in text
    assert "did you mean" not in text


@pytest.mark.parametrize("named", [["map", "minhash"], ["pairs", "minhash"], ["kernel", "acos"]])
def test_other_formats_are_named(tmp_path, named):
    rows = np.eye(3)
    np.save(tmp_path / "rows.npy", rows)
    sp.save_npz(tmp_path / "rows.npz", sp.csr_array(rows))
    (tmp_path / "rows.jsonl").write_text('{"text": "a b c"}\n')
    (tmp_path / "rows.json").write_text('{"text": "a b c"}\n')
    (tmp_path / "list.svm").write_text('\n  [{"text": "a b c"}]\n')
    (tmp_path / "rows.vw").write_text("1 |words a b c:2\n")
    (tmp_path / "numbers.vw").write_text("1 1.0 'first |f price:.23 area:.25\n")
    (tmp_path / "rows.parquet").write_bytes(b"PAR1\x15\x04\x15\x10")
    (tmp_path / "rows.svm").write_text("label,first,second\n1,2,3\n")
    (tmp_path / "bars.svm").write_text("1|2|3\n")
    (tmp_path / "lines.svm").write_text("\nThe quick fox\n")
    (tmp_path / "late.svm").write_text('1 1:1\n\n{"text": "a"}\n')
    of_texts = {
        "rows.jsonl": "this looks like JSON; 'sparsemaps text' reads texts of JSON Lines",
        "rows.json": "this looks like JSON; 'sparsemaps text' reads texts of JSON Lines",
        "rows.parquet": "this is Parquet, not LIBSVM text",
    }
    if named[0] == "map":  # where texts can be said to be these
        of_texts = dict.fromkeys(of_texts, "is a file of texts: give --texts auto:5")
    elif named[0] == "pairs":  # which reads them as texts
        of_texts = {}
    for name, what in (
        *of_texts.items(),
        ("rows.npy", "line 1, column 1: this is a NumPy array (.npy), not LIBSVM text"),
        ("rows.npz", "line 1, column 1: this is a zip archive, as .npz files are"),
        ("list.svm", "line 2, column 3: expected a label and index:value pairs, but this looks "
         "like JSON"),
        ("rows.vw", "line 1, column 3: expected a label and index:value pairs, but this looks "
         "like Vowpal Wabbit's format"),
        ("numbers.vw", "this looks like Vowpal Wabbit's format"),
        ("rows.svm", "this looks like CSV"),
        ("bars.svm", "this looks like CSV"),
        ("lines.svm", "line 2, column 1: expected a label and index:value pairs, but this looks "
         "like text; '--texts word:5 --text-format txt' reads lines of text"),
        ("late.svm", "line 3, column 1: expected a label and index:value pairs, but this looks "
         "like JSON"),
    ):  # fmt: skip
        if name.endswith(".npy") and "pairs" in named:
            continue  # which takes codes
        text = said(*named, tmp_path / name, "-o", tmp_path / "out")
        assert "file of texts" in what or f"{name}: line " in text
        assert what in text, name


def test_a_bar_in_a_comment_is_no_format(tmp_path):
    (tmp_path / "rows.svm").write_text("1 x:1 # a | b\n")
    assert "Vowpal" not in said("map", "minhash", tmp_path / "rows.svm", "-o", tmp_path / "out")


def test_options_that_a_command_has_not_are_not_advised(tmp_path):
    """Nor is None: `text` writes one format only."""
    (tmp_path / "in.jsonl").write_text('{"text": "a", "y": ["b"]}\n{"text": "", "y": []}\n')
    words = [tmp_path / "in.jsonl", "--label-field", "y", "-o", tmp_path / "out"]
    rule = "line 2: a row with neither labels nor entries cannot be written"
    assert said("text", *words).endswith(f"{rule}\n")
    text = said("map", "minhash", "--texts", "word:1", *words)
    assert text.endswith(f"{rule}; --format npy takes it\n")
