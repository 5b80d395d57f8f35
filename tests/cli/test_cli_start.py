"""Commands do not wait for scikit-learn, nor for models that they do not need, and write what they
write in a process that has them."""

import json
import subprocess
import sys

from sparsemaps import cli

MAPPED = [
    ["map", name, "rows.svm", "-o", f"{name}.svm", *options]
    for name, *options in (
        ("count-sketch", "--n-components", "4"),
        ("fourier", "--form", "offset"),
        ("minmax-fourier", "--n-hashes", "8"),
        ("signs", "--n-hashes", "8"),
    )
]

LIGHT = [
    *MAPPED,
    ["map", "minhash", "rows.svm", "-o", "codes.npy", "--format", "npy"],
    ["pairs", "codes.npy", "-o", "pairs.tsv", "--threshold", "0.5"],
    ["pairs", "--texts", "char:2", "texts.jsonl", "-o", "text-pairs.tsv", "--threshold", "0.2"],
    ["dedup", "texts.jsonl", "-o", "kept.jsonl", "--texts", "word:1", "--removed", "removed.tsv"],
    ["text", "texts.jsonl", "-o", "texts.svm"],
    ["info", "rows.svm"],
    ["info", "model"],
    ["predict", "model", "texts.jsonl", "-o", "classes.tsv"],
]
"""Commands that load no scikit-learn; those that need models come last."""

RARE = [
    ["predict", "model", "texts.jsonl", "-o", "labels.tsv", "--explain", "2"],
    ["text", "texts.jsonl", "-o", "bigrams.svm", "--ngram-range", "1", "2"],
    ["text", "texts.jsonl", "-o", "pattern.svm", "--token-pattern", "[a-c]+"],
    ["dedup", "strange.jsonl", "-o", "strange.svm", "--normalize", "nfc", "--texts", "word:1"],
]
"""Commands that import scikit-learn's functions for texts, some of them to check parameters."""

PROCESS = """
import json, sys
from sparsemaps import cli
light, rare = json.load(sys.stdin)
for words in light:
    assert cli.main(words) == 0
    assert words[0] in ("info", "predict") or "sparsemaps.linear" not in sys.modules, words
assert not {"sklearn", "scipy.special", "scipy.stats", "pandas"} & set(sys.modules)
assert [cli.main(words) for words in rare] == [0] * len(rare)
"""


def records(*texts):
    return "".join(json.dumps({"text": text, "label": text[:1]}) + "\n" for text in texts)


def test_no_command_waits_for_scikit_learn(tmp_path, monkeypatch):
    """Each command writes what it writes in a process that has scikit-learn."""
    folders = tmp_path / "here", tmp_path / "process"
    for folder in folders:
        folder.mkdir()
        (folder / "rows.svm").write_text("1 1:1 3:2\n2 2:.5 3:1\n1 1:1 3:2\n")
        (folder / "texts.jsonl").write_text(records("a b c", "a b c", "b c d e", "x y z"))
        (folder / "strange.jsonl").write_text(records("\u0130 \u03a3a", "\u0130 \u03a3a", "b"))
    monkeypatch.chdir(folders[0])
    assert cli.main(["train", "--texts", "word:1", "--label-field", "label", "texts.jsonl",
                     "-o", str(folders[1] / "model")]) == 0  # fmt: skip
    (folders[0] / "model").write_bytes((folders[1] / "model").read_bytes())
    for words in [*LIGHT, *RARE]:
        assert cli.main(words) == 0
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROCESS], cwd=folders[1], input=json.dumps([LIGHT, RARE]),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    written = [words[words.index("-o") + 1] for words in [*LIGHT, *RARE] if "-o" in words]
    for name in [*written, "removed.tsv"]:
        assert (folders[1] / name).read_bytes() == (folders[0] / name).read_bytes(), name
