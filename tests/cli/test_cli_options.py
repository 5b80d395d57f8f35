"""Options of the ``sparsemaps`` command: names, values, errors, help."""

import argparse
import inspect
import json
import os
import re
import shutil
import subprocess

import pytest
from _scripts.commands import command
from _scripts.programs import Program

from sparsemaps import CountSketch, cli
from sparsemaps.cli._options import KERNELS, MAPS, load
from sparsemaps.cli._parser import make_parser


def test_options_are_the_parameters():
    """Every parameter that a file can use is an option, with the class's default."""
    left_out = {"random_state", "n_jobs", "dense_output", "pitch_density", "spectrum", "X", "Y"}
    for kind in [*MAPS.values(), *KERNELS.values()]:
        defaults = {}
        for made in kind.factors or (kind.make,):
            parameters = inspect.signature(load(made)).parameters
            defaults |= {name: one.default for name, one in parameters.items()}
        # A product has one size, which its second map takes too.
        unused = left_out | ({"n_components"} if kind.factors else set())
        defaults = {name: default for name, default in defaults.items() if name not in unused}
        assert {option.name: option.default for option in kind.options} == defaults, kind.make


def test_choices_are_what_the_maps_take():
    for name, kind in MAPS.items():
        for option in kind.options:
            for choice in option.kind if isinstance(option.kind, tuple) else ():
                if (option.name, choice) == ("distribution", "orthogonal"):
                    continue  # not for rows of any width, as those of a file are
                given = [_options_flag(option.name), choice, "-o", "-", "-"]
                extra = ["--hash-dim", 4] if name == "fastfood" else []
                assert command("map", name, *extra, *given).returncode == 0, (name, choice)


def _options_flag(name):
    return "--" + name.replace("_", "-")


def test_errors_are_one_line_that_speaks_of_options(tmp_path):
    source = tmp_path / "in"
    source.write_bytes(b"1 1:1\n1 3:-2\n")
    for arguments, message in (
        (["minmax"], "in: line 2, index 3: the value -2 is negative; the min-max kernel takes "
         "values >= 0; --signed allows both signs (generalized min-max kernel); --texts "
         "word:1 counts the n-grams of raw texts"),
        (["minmax-signs"], "the min-max kernel takes values >= 0; --signed allows both signs"),
        (["minmax", "--n-hashes", 0], "--n-hashes must be from 1 to"),
        (["minmax", "--signed", "--zero-based", "--bits", 33], "--bits must be from"),
        (["count-sketch", "--ones"], "--ones is for maps with one-hot output"),
        (["minmax", "--ones", "--format", "npy"], "--ones is not for --format npy: packed"),
        (["count-sketch", "--format", "npy"], "--format npy"),
        (["fastfood"], "--hash-dim must be a number"),
        (["minmax", "--max-line-bytes", 4], "line 1 is longer than --max-line-bytes 4"),
        (["minmax", "--stage", "map", "--task", "0/2"], "tasks need an output"),
        (["minmax", "--tasks"], "tasks need an output that is a directory"),
        (["minmax", "--task", "2/2"], "expected I/N with 0 <= I < N, got '2/2'"),
        (["minmax", "--bits", "x"], "argument --bits: invalid integer value: 'x'"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        (["minmax", "--config", tmp_path / "none"], "none: No such file or directory"),
    ):  # fmt: skip
        done = command("map", *arguments, source, "-o", tmp_path / "out")
        error = done.stderr.decode()
        assert done.returncode == 2
        assert error.count("\n") == 1
        assert error.startswith("sparsemaps: ")
        assert message in error
    assert os.listdir(tmp_path) == ["in"]
    done = command("map", "minmax", source, "-o", "")
    assert b"the name must not be empty" in done.stderr
    source.write_bytes(b"1 1:1\n\n# c\n1 3:-2\n")
    for paths in ([source], [tmp_path / "good", source]):
        (tmp_path / "good").write_bytes(b"1 1:1\n")
        done = command("kernel", "minmax", *paths, "-o", tmp_path / "out")
        assert f"{source}: line 4, index 3: the value -2 is negative" in done.stderr.decode()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["map", "minmax", "--texts", "word:1", "--zero-based"],
         "--zero-based is for LIBSVM files, not for texts"),
        (["map", "minhash", "--texts", "word:1", "--text-format", "txt", "--max-line-bytes", 4],
         "is longer than --max-line-bytes 4"),
        (["map", "minmax", "--stage", "map", "--task", "0/2", "--tasks"],
         "--task cannot be combined with --dask, --tasks or --fresh"),
        (["text", "--text-format", "txt", "--analyzer", "byte", "--n-features", 8],
         "--n-features is not for --analyzer byte, whose columns are exact"),
        (["text", "--text-format", "txt", "--analyzer", "char", "--token-pattern", "a"],
         "--token-pattern needs --analyzer word"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(arguments, message, file, tmp_path):
    done = command(*arguments, file, "-o", f"{tmp_path / 'out'}/")
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert not list((tmp_path / "out").glob("in.svm*"))


def test_the_input_without_rows_is_named(file, tmp_path):
    """That of two which has none; of an output that is there already, nothing is said again."""
    empty, out = tmp_path / "empty.svm", tmp_path / "out"
    empty.write_bytes(b"# nothing\n")
    said = f"sparsemaps: {empty}: there are no rows\n"
    assert command("kernel", "minmax", file, empty, "-o", out).stderr.decode().startswith(said)
    assert command("kernel", "minmax", empty, "-o", out).stderr.decode().startswith(said)
    for inputs in ([file, "--other", empty], [empty, "--other", file]):
        assert command("pairs", "minhash", *inputs, "-o", out).stderr.decode().startswith(said)
    folder = ["map", "minhash", empty, "-o", f"{tmp_path / 'mapped'}/"]
    assert command(*folder).stderr.decode().startswith(said)
    assert command(*folder).stderr.decode() == "0 rows\n"


@pytest.mark.parametrize(
    "name", ["bits=8.svm", "seed=3/part.svm", "n_jobs must be 3", "ones=True", "format='npy'"]
)
def test_names_of_files_stay_as_they_are(tmp_path, name):
    """However much they look like parameters."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"1 x:1\n")
    for arguments in (["map", "minmax"], ["kernel", "acos"], ["pairs", "minhash"]):
        done = command(*arguments, path, "-o", tmp_path / "out")
        assert done.stderr.decode().startswith(f"sparsemaps: {path}: line 1, column 3: ")
    assert f"{path}: line 1" in command("info", path).stderr.decode()
    done = command("map", "minmax", f"{path}; ones=True", "-o", tmp_path / "out")
    assert done.stderr.decode() == f"sparsemaps: {path}; ones=True: No such file or directory\n"


WRONG = {
    "bits": 99, "t_bits": 99, "n_hashes": 0, "n_components": 0, "gamma": -1, "nu": 10**6,
    "degree": 0, "coef0": "nan", "hash_dim": 0, "power": 0, "n_grids": 0, "n_bins": 3,
}  # fmt: skip


def test_wrong_values_name_their_options(file, tmp_path):
    """Each number of each map and kernel, and those of the commands."""
    out = tmp_path / "out"
    tried = set()
    for kinds, name_of_command in ((MAPS, "map"), (KERNELS, "kernel")):
        for name, kind in kinds.items():
            for option in kind.options:
                if option.name in WRONG:
                    tried.add(option.name)
                    flag = _options_flag(option.name)
                    given = [flag, WRONG[option.name]]
                    if name == "fastfood" and option.name != "hash_dim":
                        given += ["--hash-dim", 4]
                    said = command(name_of_command, name, *given, file, "-o", out).stderr.decode()
                    assert said.startswith(f"sparsemaps: {flag} must be "), (name, said)
                    assert said.count("\n") == 1
    assert tried == set(WRONG)
    for arguments, flag in (
        (["map", "minmax", "--seed", -1], "--seed"),
        (["map", "minmax", "--n-jobs", 0], "--n-jobs"),
        (["map", "minmax", "--max-line-bytes", 0], "--max-line-bytes"),
        (["kernel", "acos", "--n-jobs", 0], "--n-jobs"),
        (["pairs", "minhash", "--threshold", 2], "--threshold"),
        (["pairs", "minhash", "--recall", 0], "--recall"),
        (["pairs", "minhash", "--n-jobs", 0], "--n-jobs"),
        (["map", "maclaurin", "--kernel", "0,0"], "--kernel"),
        (["map", "maclaurin", "--kernel", "1,-1"], "--kernel"),
    ):
        done = command(*arguments, file, "-o", out)
        assert done.returncode == 2
        assert done.stderr.decode().startswith(f"sparsemaps: {flag} must be "), done.stderr
    assert not out.exists()


def test_a_config_is_no_input_and_no_output(file, tmp_path):
    """Nothing is written over: neither inputs by --save-config, nor its file by the output."""
    saved, before = tmp_path / "map.json", file.read_bytes()
    assert command("map", "signs", "--save-config", saved, file, "-o", "-").returncode == 0
    config = saved.read_bytes()
    for arguments in (
        ["minmax", "--save-config", file, file, "-o", tmp_path / "out"],
        ["minmax", "--save-config", tmp_path / "out", file, "-o", tmp_path / "out"],
        ["minmax", "--save-config", f"{tmp_path}/o/in.svm.json", file, "-o", f"{tmp_path}/o/"],
        ["--config", saved, file, "-o", saved],
        ["--config", saved, "--save-config", saved, file, "-o", tmp_path / "out"],
        ["minmax", "--save-config", file, file, "-o", f"{tmp_path}/o/", "--dask"],
    ):
        done = command("map", *arguments)
        assert done.returncode == 2, arguments
        assert b" would be " in done.stderr or b" is the input " in done.stderr
    assert (file.read_bytes(), saved.read_bytes()) == (before, config)
    assert sorted(os.listdir(tmp_path)) == ["in.svm", "map.json"]


def test_bad_configs(file, tmp_path):
    saved = tmp_path / "map.json"
    good = CountSketch(n_components=8, random_state=0).fit_any_width().to_config()
    deep = []
    for _ in range(900):
        deep = [deep]
    for config, message in (
        ("[" * 10**5, "nested too deeply"),
        ({**good, "parameters": {"n_components": deep}}, "n"),
        ({**good, "class": "Nonsense"}, "class of config must be the name of a map"),
        ({**good, "class": [1]}, "class of config must be the name of a map"),
        ({**good, "parameters": {"n_components": 2**70}}, "n_components must be from 1 to"),
        ({**good, "parameters": {"n_components": "8"}}, "n_components must be an integer"),
        ({**good, "parameters": {"nonsense": 8}}, "do not fit CountSketch"),
        ({**good, "parameters": {"n_jobs": 3}}, "must not have 'n_jobs'"),
        ({**good, "parameters": [8]}, "parameters of config must have names"),
        ({**good, "seed": -1}, "seed of config must be from 0"),
        ({**good, "seed": 2**5000}, "seed of config must be from 0"),
        ({**good, "scheme": 2}, "scheme 2"),
        ({**good, "scheme": True}, "scheme True"),
        ({**good, "n_features": 0}, "n_features of config must be from 1"),
        ([good], "config must have the keys"),
    ):
        saved.write_text(config if isinstance(config, str) else json.dumps(config))
        done = command("map", "--config", saved, file, "-o", tmp_path / "out")
        assert done.returncode == 2
        said = done.stderr.decode()
        assert said.startswith(f"sparsemaps: {saved}: ")
        assert said.count("\n") == 1
        assert message in said
    assert sorted(os.listdir(tmp_path)) == ["in.svm", "map.json"]


def test_an_input_is_no_output(file):
    before = file.read_bytes()
    done = command("map", "minmax", file, "-o", file)
    assert done.returncode == 2
    assert b"is the input" in done.stderr
    done = command("kernel", "minmax", file, "-o", file)
    assert b"is the input" in done.stderr
    for name in ("kernel", "map"):  # a map would read forever what it writes
        with open(file, "ab") as end_of_input:
            program = Program(name, "minmax", file, "-o", "-", cwd=file.parent, stdout=end_of_input)
            status, said = program.end()
        assert status == 2
        assert b"standard output is the input" in said
    assert file.read_bytes() == before


@pytest.mark.parametrize("name", [*MAPS, "saved"])
def test_help_reads_like_documentation(name):
    said = command("map", name, "--help-all").stdout.decode()
    assert "examples:" in said
    assert "None" not in said
    assert not re.search(r"[\\$`]|:math:|\[\d\]", said)


def test_every_option_has_help():
    def check(parser):
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for choice in action.choices.values():
                    check(choice)
            else:
                assert action.help, (parser.prog, action.option_strings)
                assert action.help.strip() == action.help

    check(cli.make_parser())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "tcsh"])
def test_completion(shell):
    pytest.importorskip("shtab")
    done = command("--print-completion", shell)
    assert done.returncode == 0
    assert b"n-hashes" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, check=True)


@pytest.mark.parametrize("name", ["texts.train", "texts.test", "link"])
def test_the_picture_of_the_demo_is_none_of_its_files(tmp_path, capsys, name):
    """It is refused before anything is made."""
    (tmp_path / "link").symlink_to(tmp_path / "made" / "texts.test")
    directory = tmp_path / "made"
    plot = tmp_path / name if name == "link" else directory / ".." / "made" / name
    assert cli.main(["demo", "-o", str(directory), "--plot", str(plot)]) == 2
    told = capsys.readouterr()
    assert "the picture of --plot and a file of the texts" in told.err
    assert not told.out
    assert not directory.exists()


def test_shells_complete_files():
    """Every argument for a file, or for several, says so."""
    left = [make_parser()]
    while left:
        parser = left.pop()
        for action in parser._actions:
            left += action.choices.values() if isinstance(action.choices, dict) else ()
            is_file = re.match(
                r"FILE|FOLDER|INPUT|TRAIN|TEST|MODEL|.*\.(tsv|html)", str(action.metavar)
            )
            assert hasattr(action, "complete") or not is_file, (parser.prog, action.dest)
