"""An option that names a field which no record has is an error, in every command and format."""

import pytest
from _data.record_files import WRITERS

from sparsemaps import MinHash, files
from sparsemaps.cli import main
from sparsemaps.cli._parser import make_parser
from sparsemaps.files import Texts
from sparsemaps.linear import KernelClassifier
from sparsemaps.records import TEXT_FORMATS
from sparsemaps.records._table import FORMATS
from sparsemaps.text._analyzers import vectorizer_of

OPTIONS = ("--field", "--label-field", "--id-field", "--keep", "--weight-field")
"""Every option that names a field: its metavar has FIELD, or it is --field."""

COMMANDS = {
    "map": ["map", "minhash", "IN", "-o", "OUT"],
    "text": ["text", "IN", "-o", "OUT"],
    "train": ["train", "minhash", "IN", "-o", "OUT"],
    "predict": ["predict", "MODEL", "IN", "-o", "OUT"],
    "filter": ["filter", "MODEL", "IN", "-o", "OUT", "--label", "1"],
    "pairs": ["pairs", "minhash", "IN", "-o", "OUT"],
    "dedup": ["dedup", "minhash", "IN", "-o", "OUT"],
    "compare": ["compare", "IN"],
}
OF_TEXTS = {
    "map": ["--texts", "word:1"],
    **{name: ["--texts", "word:1", "--label-field", "y"] for name in ("train", "compare")},
}


def options_of(command):
    """The options that name a field, of a command of the parser."""
    (commands,) = [a for a in make_parser()._actions if a.metavar == "COMMAND"]
    parser = commands.choices[command]
    inner = [a for a in parser._actions if a.metavar == "MAP"]
    parser = inner[0].choices["minhash"] if inner else parser
    named = (a for a in parser._actions if "FIELD" in str(a.metavar) or a.dest.endswith("field"))
    return [action.option_strings[-1] for action in named]


CASES = [(command, option) for command in COMMANDS for option in options_of(command)]


def test_all_commands_and_options_are_tried():
    (commands,) = [a for a in make_parser()._actions if a.metavar == "COMMAND"]
    for command, parser in commands.choices.items():
        if any(a.metavar == "MAP" for a in parser._actions) or "--field" in str(parser._actions):
            assert (command in COMMANDS) or not options_of(command), command
    assert {option for _, option in CASES} == set(OPTIONS)


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A model of texts, and one of rows."""
    folder = tmp_path_factory.mktemp("models")
    minhash = MinHash(n_hashes=16, random_state=0)
    words = vectorizer_of("word:1", binary=True)
    for name, vectorizer, X in (("texts", words, ["a", "b"]), ("rows", None, [[1, 0], [0, 1]])):
        model = KernelClassifier(minhash, vectorizer=vectorizer, random_state=0).fit(X, [0, 1])
        model.save(folder / name)
    return folder


@pytest.mark.parametrize("kind", [*TEXT_FORMATS, "svm"])
@pytest.mark.parametrize(("command", "option"), CASES)
def test_a_field_that_no_record_has(tmp_path, capsys, models, kind, command, option):
    path = tmp_path / f"in.{kind}"
    if kind == "svm":
        path.write_text("0 1:1\n1 2:1\n")
    else:
        if not FORMATS[kind].is_streamed:
            pytest.importorskip("pyarrow")
        WRITERS[kind](path, [{"text": "a b c", "y": 0}, {"text": "b c d", "y": 1}])
    if command == "text" and kind == "svm":
        pytest.skip("text reads texts only")
    model = models / ("rows" if kind == "svm" else "texts")
    words = {"IN": str(path), "OUT": str(tmp_path / "out"), "MODEL": str(model)}
    arguments = [words.get(word, word) for word in COMMANDS[command]]
    if kind != "svm":
        arguments += OF_TEXTS.get(command, [])
    has_columns = kind != "svm" and FORMATS[kind].is_table
    if has_columns and command in ("filter", "dedup"):
        arguments[arguments.index(words["OUT"])] += f".{kind}"
    assert main([*arguments, option, "nowhere"]) == 2
    error = capsys.readouterr().err
    told = {"svm": option, "txt": "lines of text have no fields"}.get(kind, "nowhere")
    assert "nowhere" in error or told in error, error
    is_other = kind in ("svm", "txt") or (command, option) == ("map", "--weight-field")
    if not is_other and (kind, option) != ("jsonl", "--keep"):
        assert "; found 'text', 'y'" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / f"out.{kind}").exists()


def test_records_that_lack_the_number_are_counted(tmp_path, capsys):
    (tmp_path / "in.jsonl").write_text('{"text": "a b", "n": 1}\n{"text": "c d"}\n' * 2)
    words = ["dedup", str(tmp_path / "in.jsonl"), "-o", str(tmp_path / "out"), "--keep", "n"]
    assert not main(words)
    assert "2 without the number of keep" in capsys.readouterr().err.splitlines()[-1]
    found = files.deduplicate_files(
        None, tmp_path / "in.jsonl", tmp_path / "other", source=Texts("word:1"), keep="n"
    )
    assert found.n_unordered == 2
