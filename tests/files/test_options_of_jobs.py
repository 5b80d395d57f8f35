"""Options of jobs are declared once: what is made of a field, for a toy job and for all jobs."""

import argparse
import dataclasses
import importlib.util
import inspect
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from sparsemaps import files
from sparsemaps._tools._allowed import Int
from sparsemaps._tools._option_fields import Values, documented, options_of, table, takes
from sparsemaps._tools._parameters import ParameterError
from sparsemaps.cli import make_parser
from sparsemaps.cli._given import value_of
from sparsemaps.cli._shared_options import add_values
from sparsemaps.files import _job_options
from sparsemaps.files._job_options import JOBS, VALUES
from sparsemaps.records import _table

DOCS = Path(__file__).parents[2] / "docs"

needs_docs = pytest.mark.skipif(not DOCS.exists(), reason="no documentation here")


def script(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@dataclass(frozen=True, kw_only=True)
class Hole(Values):
    """A hole.

    Parameters
    ----------
    [options]
    """

    depth: int = Int(1, 9).default(
        3, "The depth of a hole, [allowed]. A deeper one has water in it.", metavar="METRES"
    )


@takes(Hole)
def dig_files(inputs, *, source=None, **options):
    """Dig.

    Parameters
    ----------
    inputs : str
        Places.
    [options]
    """
    return inputs, source, Hole.of(options)


def toy_parser():
    parser = argparse.ArgumentParser()
    add_values(parser, Hole)
    return parser


def test_a_field_is_checked():
    assert dig_files("here", depth=9) == ("here", None, Hole(depth=9))
    assert dig_files("here")[2].depth == 3
    for make in (Hole, lambda **given: dig_files("here", **given)):
        with pytest.raises(ParameterError, match=r"^depth must be from 1 to 9, got 0$"):
            make(depth=0)


def test_a_field_is_a_keyword():
    depth = inspect.signature(dig_files).parameters["depth"]
    assert (depth.kind, depth.default, depth.annotation) == (depth.KEYWORD_ONLY, 3, int)
    said = r"^dig_files\(\) got an unexpected keyword argument 'dept'; did you mean 'depth'\?$"
    with pytest.raises(TypeError, match=said):
        dig_files("here", dept=2)
    with pytest.raises(TypeError, match=r"'x'; expected one of inputs, source, depth$"):
        dig_files("here", x=2)


@pytest.mark.parametrize("named", [Hole, dig_files])
def test_a_field_is_in_the_docstring(named):
    assert inspect.getdoc(documented(named)).endswith(
        "\ndepth : int, default=3\n"
        "    The depth of a hole, 1 to 9. A deeper one has water in it."
    )  # fmt: skip


def test_a_field_is_an_option_of_the_command():
    shown = " ".join(toy_parser().format_help().split())
    assert "--depth METRES depth of a hole, 1 to 9 (default: 3)" in shown
    for words, depth in ((["--depth", "4"], 4), ([], 3)):
        assert value_of(toy_parser().parse_args(words), Hole) == Hole(depth=depth)


@needs_docs
def test_a_field_is_in_the_documents():
    writer = script("write_man")
    page = "\n".join(writer.definitions(writer.options_of(toy_parser())))
    assert page.startswith(".TP\n\\fB\\-\\-depth\\fR \\fIMETRES\\fR\n")
    assert page.endswith("\ndepth of a hole, 1 to 9 (default: 3)")
    row = "| `Hole` | `depth` | int | `3` | 1 to 9 | `--depth` | `dig_files` |"
    assert table([Hole], {"dig_files": (Hole,)}).splitlines()[-1] == row


# ---- all jobs ------------------------------------------------------------------------------------

COMMANDS = {
    "map_files": ("map", "minhash"),
    "similar_pairs_of_files": ("pairs", "minhash"),
    "deduplicate_files": ("dedup", "minhash"),
    "train_files": ("train", "minhash"),
    "predict_files": ("predict",),
    "filter_files": ("filter",),
}


def options_of_command(*words):
    """The options of a command, without those that only start a line of help."""
    parser = make_parser()
    for word in words:
        parser = next(action for action in parser._actions if isinstance(action.choices, dict))
        parser = parser.choices[word]
    return {name for action in parser._actions for name in action.option_strings}


def parsers(parser, name=""):
    """All subcommands without further ones, by their names."""
    inner = [action.choices for action in parser._actions if isinstance(action.choices, dict)]
    if not inner:
        yield name, parser
    for choices in inner:
        for word, one in choices.items():
            yield from parsers(one, f"{name} {word}")


def test_help_names_options_of_the_command():
    """The fields of a value are for several commands; none speaks of what another has alone."""
    wrong = set()
    for name, parser in parsers(make_parser()):
        own = {flag for action in parser._actions for flag in action.option_strings}
        for action in parser._actions:
            named = re.findall(r"--[a-z][a-z-]*", action.help or "")
            wrong |= {(name, action.dest, flag) for flag in named if flag not in own}
    assert wrong == set()


def test_all_jobs_are_known():
    assert set(JOBS) == {name for name in files.__all__ if name.endswith("_files")}.union(
        ["similar_pairs_of_files"]
    )
    assert set(COMMANDS) == set(JOBS)
    taken = {cls for values in JOBS.values() for one in values for cls in one.__mro__}
    of_inputs, of_models = {files.Texts, files.Svmlight}, {_job_options.LinearModel}
    assert set(VALUES) <= taken | of_inputs | of_models


@pytest.mark.parametrize("job", JOBS)
def test_a_job_has_its_options(job):
    """As keywords of the function, in its docstring, and in the command."""
    function = getattr(files, job)
    parameters, docstring = inspect.signature(function).parameters, inspect.getdoc(function)
    flags = options_of_command(*COMMANDS[job])
    for option in [option for cls in JOBS[job] for option in options_of(cls)]:
        assert parameters[option.name].default == option.default
        assert docstring.count(f"\n{option.name} : ") == 1
        assert option.entry() in docstring
        assert option.flag is None or option.flag in flags
    assert "[options]" not in docstring
    names = list(parameters)
    for name in names:
        with pytest.raises(TypeError, match=f"argument '{name}_'; did you mean '{name}'"):
            function(*[None] * 3, **{f"{name}_": 1})


@pytest.mark.parametrize("job", JOBS)
def test_a_command_has_the_options_of_its_inputs(job):
    flags = options_of_command(*COMMANDS[job])
    of_texts = {option.flag for option in options_of(files.Texts)} & flags
    assert {"--field", "--text-format", "--min-length", "--max-line-bytes"} <= of_texts
    assert {option.flag for option in options_of(files.Svmlight)} <= flags


@pytest.mark.parametrize("cls", VALUES, ids=lambda cls: cls.__name__)
def test_each_option_says_all(cls):
    """A range that refuses what is none, a default in the range, a type, and whole sentences."""
    made = cls()
    for option in options_of(cls):
        assert getattr(made, option.name) == option.default
        assert option.help.endswith(".")
        assert option.help[:1].isupper()
        assert "[allowed]" not in option.help
        assert option.allowed.type
        with pytest.raises(ValueError, match=f"^{option.name} must be "):
            dataclasses.replace(made, **{option.name: object()})


def test_all_formats_of_texts_are_known():
    assert _job_options.TEXT_FORMATS == _table.TEXT_FORMATS


def test_none_is_no_default_that_is_not_allowed():
    for cls in VALUES:
        for option in options_of(cls):
            option.allowed.check(option.name, option.default)
            if option.allowed.none:
                option.allowed.check(option.name, None)


@needs_docs
def test_type_checkers_know_the_keywords():
    writer = script("write_keywords")
    assert writer.FILE.read_text(encoding="utf-8") == writer.text()


@needs_docs
def test_the_table_has_every_option():
    """Once, with all functions that take it."""
    rows = [row.split(" | ") for row in table(VALUES, JOBS).splitlines()[2:]]
    takers = {(row[0].strip("| `"), row[1].strip("`")): row[-1].count("`") // 2 for row in rows}
    assert len(takers) == len(rows)
    names = {option.name for cls in VALUES for option in options_of(cls)}
    assert {name for _, name in takers} == names
    assert takers["Search", "threshold"] == 2
    assert takers["Tables", "bad_records"] == takers["Run", "n_jobs"] == len(JOBS)
    assert takers["Run", "task"] == len(JOBS) - 1
    assert takers["Tables", "removed"] == 1


def test_values_have_numbers_of_python():
    """As recipes are written as JSON."""
    search = files.Search(threshold=np.float32(0.5), recall=1, exact=np.True_)
    assert [type(value) for value in dataclasses.astuple(search)] == [float, float, bool]
    assert type(files.Texts(max_df=9, min_own=np.int64(3)).min_own) is int


def test_flags():
    """Those of values that are true or false."""
    parser = argparse.ArgumentParser()
    add_values(parser, files.Run, files.Search)
    for words, wanted in (
        ([], (True, None, False)),
        (["--fresh", "--progress", "--exact"], (False, True, True)),
        (["--no-progress"], (True, False, False)),
    ):
        given = parser.parse_args(words)
        run, search = value_of(given, files.Run), value_of(given, files.Search)
        assert (run.resume, run.progress, search.exact) == wanted
