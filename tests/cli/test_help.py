"""Help of two lengths: ``--help`` explains few options, ``--help-all`` all of them."""

import argparse
import re

import pytest

from sparsemaps import cli
from sparsemaps.cli._options import CLASSES, MAPS


def parsers(parser):
    """The parser of the program and of each command and map."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from parsers(one)


ALL = list(parsers(cli.make_parser()))
COMMANDS = {parser.prog.split()[1] for parser in ALL if parser.prog != "sparsemaps"}


def explained(text):
    """The options that a help explains: those that begin an indented line."""
    text = text.partition("more options, which")[0]
    return {name for line in re.findall(r"^  (-.*)$", text, re.MULTILINE)
            for name in re.findall(r"--[\w-]+", line.split("  ")[0])}  # fmt: skip


def options(parser):
    return {
        name
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--") and action.nargs != argparse.PARSER
    }


@pytest.mark.parametrize("parser", ALL, ids=lambda parser: parser.prog)
def test_all_options_are_explained_by_one_help_and_named_by_the_other(parser, capsys):
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(["--help-all"])
    assert ended.value.code == 0
    everything = capsys.readouterr().out
    assert options(parser) <= explained(everything)
    assert "more options" not in everything

    short = parser.format_help()
    assert "--help-all" in explained(short)
    assert len(explained(short) - {"--help", "--help-all"}) <= 14
    named = short.partition("more options, which --help-all explains:")[2].partition("\n\n")[0]
    flags = {action.option_strings[0] for action in parser.rare_options()}
    assert set(re.findall(r"--[\w-]+", named)) == flags
    assert flags.isdisjoint(explained(short))
    assert not any(action.required for action in parser.rare_options())
    # The short help has left all as it was.
    assert parser.format_help_of_all() == everything


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_what_help_explains_is_an_option_of_the_command(name):
    of_command = [parser for parser in ALL if parser.prog.split()[1:2] == [name]]
    known = {flag for parser in of_command for flag in options(parser)}
    assert all(set(parser.common) <= known for parser in of_command)
    # A command of many options explains some of them first.
    assert all(parser.common for parser in of_command if len(options(parser)) > 16)


def test_help_is_short(capsys):
    for parser in ALL:
        if parser.common:
            assert len(parser.format_help().splitlines()) < 100
            assert len(parser.format_help()) < 0.8 * len(parser.format_help_of_all())


@pytest.mark.parametrize("name", [*CLASSES, "icws", "levels"])
def test_a_map_by_another_name_is_told(name, capsys):
    """The one story of ConsistentWeightedSampling, of which the method is icws, and minmax."""
    command = CLASSES[name].about.command if name in CLASSES else "minmax"
    if not command:
        pytest.skip("a product has commands of its own")
    for words in (["map", name, "x.svm", "-o", "y"], ["dedup", name, "x.jsonl", "-o", "y"]):
        if words[0] == "map" or MAPS[command].has_codes:
            with pytest.raises(SystemExit) as ended:
                cli.main(words)
            assert ended.value.code == 2
            assert f"did you mean {command}?" in capsys.readouterr().err
