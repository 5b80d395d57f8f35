"""An error of memory names the command and its stage."""

import json

import pytest

from sparsemaps.cli import main
from sparsemaps.files import _rows

IN = ["IN", "-o", "OUT", "--texts", "word:1"]
COMMANDS = {
    "map": (["map", "minhash", *IN], "out of memory in map"),
    "pairs": (["pairs", "minhash", *IN], "out of memory in pairs: the stage codes"),
    "dedup": (["dedup", "minhash", *IN], "out of memory in dedup: the stage codes"),
    "train": (["train", "minhash", *IN, "--label-field", "y"], "out of memory in train: reading"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_and_the_stage(tmp_path, capsys, monkeypatch, name):
    def fail(*_):
        raise MemoryError

    monkeypatch.setattr(_rows, "open_input", fail)
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": "a b", "y": "no"}) + "\n")
    words, message = COMMANDS[name]
    paths = {"IN": str(tmp_path / "in.jsonl"), "OUT": str(tmp_path / "out")}
    assert main([paths.get(word, word) for word in words]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"sparsemaps: {message}")
    assert not (tmp_path / "out").exists()
