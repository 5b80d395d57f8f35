"""The ``dedup`` command."""

import gzip
import os

import pytest
from _data.dedup_records import lines_of, make_texts, read_table, write_lines
from _scripts.commands import command

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.files import deduplicate_files

TEXTS = make_texts(120)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", TEXTS)
    (tmp_path / "in").mkdir()
    write_lines(tmp_path / "in/a.jsonl", TEXTS[:50])
    (tmp_path / "in/b.jsonl.gz").write_bytes(gzip.compress(b"".join(lines_of(TEXTS[50:], "jsonl"))))
    return tmp_path


def test_it_is_the_function(folder):
    done = command("dedup", "in.jsonl", "-o", "out", "--progress", "--n-jobs", 2)
    assert done.returncode == 0
    expected = deduplicate_files(None, "in.jsonl", "expected")
    assert (folder / "out").read_bytes() == (folder / "expected").read_bytes()
    *bars, line = done.stderr.decode().splitlines()
    n_records, n_kept, n_clusters, largest, _, n_equal, n_near, *_ = expected
    assert 1 < n_clusters < n_kept < n_records == 120
    assert line == (
        f"{n_records} records, {n_kept} kept, {n_equal} equal to a kept one, {n_near} near a kept "
        f"one; {n_clusters} clusters of several, largest {largest}"
    )
    assert any("codes: 100%" in bar for bar in bars)
    assert any("outputs: 100%" in bar for bar in bars)


def test_its_options(folder):
    done = command(
        "dedup", "minmax", "--n-hashes", 64, "--seed", 3, "in", "-o", "out/", "--texts", "word:2",
        "--threshold", 0.5, "--recall", 1, "--exact", "--keep", "longest", "--clusters", "table",
        "--id-field", "id",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    deduplicate_files(
        ConsistentWeightedSampling(n_hashes=64, random_state=3), "in", "expected/",
        source="word:2", threshold=0.5, recall=1, exact=True, keep="longest",
    )  # fmt: skip
    for name in ("a.jsonl", "b.jsonl.gz"):
        found = (folder / "out" / name).read_bytes()
        assert found == (folder / "expected" / name).read_bytes()
    assert read_table(folder / "table")[0][49:52] == ["id 49", "id 0", "id 1"]


def test_pipes(folder):
    deduplicate_files(None, "in.jsonl", "expected")
    text = (folder / "in.jsonl").read_bytes()
    done = command("dedup", "-", "-o", "-", "--text-format", "jsonl", stdin=text)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (folder / "expected").read_bytes()
    assert done.stderr.endswith(b" largest %d\n" % deduplicate_files(None, "in", "x").largest)
    before = sorted(os.listdir())
    done = command("dedup", "-", "-o", "-", "--clusters", "-", "--text-format", "jsonl", stdin=text)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"are both standard output" in done.stderr
    assert sorted(os.listdir()) == before


def test_one_delivery_after_the_other(folder):
    options = ["--texts", "word:3", "--n-hashes", 64]
    assert command("dedup", "in/a.jsonl", "-o", "a.out", *options).returncode == 0
    against = ["--against", "a.out.stages/codes.npy"]
    done = command("dedup", "in/b.jsonl.gz", "-o", "b.out", *against, *options)
    assert done.returncode == 0, done.stderr
    map = MinHash(n_hashes=64, random_state=0)
    expected = deduplicate_files(
        map, "in/b.jsonl.gz", "expected", source="word:3", against="a.out.stages/codes.npy"
    )
    assert (folder / "b.out").read_bytes() == (folder / "expected").read_bytes()
    assert expected.n_earlier
    again = command("dedup", "in/b.jsonl.gz", "-o", "b.out", *against, *options)
    assert again.stderr == done.stderr
    bad = command("dedup", "in/a.jsonl", "-o", "c.out", *against, "--texts", "word:2")
    assert bad.returncode == 2
    assert bad.stderr.startswith(b"sparsemaps: a.out.stages/codes.npy and the inputs must be codes")
    assert not (folder / "c.out.stages").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["in.jsonl", "--threshold", "0"], "--threshold must be above 0 and at most 1, got 0"),
        (["in.jsonl", "--recall", "2"], "--recall must be above 0 and at most 1, got 2"),
        (["in.jsonl", "--bits", "30"], "--bits must be from 1 to 16, got 30"),
        (["none.jsonl"], "none.jsonl: No such file or directory"),
        (["in.jsonl", "--field", "x"], "in.jsonl: line 1: expected the field 'x'; found 'id'"),
        (["in.svm", "--field", "x"], "--field is for texts; give --texts"),
        (["in.jsonl", "--task", "0/1"], "--stage and --task must be given together"),
        (["in.jsonl", "--stage", "codes"], "--stage and --task must be given together"),
        (
            ["in.jsonl", "--stage", "codes", "--task", "0/1", "--fresh"],
            "--task cannot be combined",
        ),
        (
            ["in.jsonl", "--stage", "removals", "--task", "0/1"],
            "such as codes.npy; run it before",
        ),
        (["in.jsonl", "-o", "in.jsonl"], "in.jsonl is the input"),
        (["in.jsonl", "-o", "none/out"], "none/out: No such file or directory"),
    ],
)
def test_bad_input(folder, arguments, message):
    before = sorted(os.listdir())
    given = arguments if "-o" in arguments else [*arguments, "-o", "out"]
    done = command("dedup", *given)
    assert (done.returncode, done.stdout) == (2, b"")
    text = done.stderr.decode()
    assert message in text
    assert text.count("\n") == 1
    assert sorted(os.listdir()) == before


def test_the_map_may_be_left_out(folder):
    for arguments in (["--seed", 0, "in.jsonl"], ["minhash", "in.jsonl"]):
        assert command("dedup", *arguments, "-o", "out").returncode == 0
    for name in ("dedup", "pairs", "train"):
        shown = command(name, "--help").stdout
        assert shown == command(name, "minhash", "--help").stdout
        assert b"--n-hashes" in shown
        usual = b"default for texts: minhash" if name == "train" else b"default: minhash"
        assert b"minmax-signs; " + usual + b"." in b" ".join(shown.split())
    found = []
    for map in ((), ("minhash",)):
        done = command("pairs", *map, "in.jsonl", "--texts", "word:3", "-o", "pairs.tsv", "--fresh")
        assert done.returncode == 0, done.stderr
        found.append((folder / "pairs.tsv").read_bytes())
    assert found[0] == found[1] != b""
    wrong = command("dedup", "minhsh", "in.jsonl", "-o", "out")
    assert (wrong.returncode, b"did you mean minhash?" in wrong.stderr) == (2, True)
    (folder / "minhsh").write_bytes(b"1 1:1\n")  # a file of that name is an input
    assert command("dedup", "minhsh", "-o", "out2").returncode == 0


def test_pairs_of_codes_of_any_map(folder):
    """Their map is that of the codes."""
    (folder / "in.svm").write_bytes(b"1 1:1 2:2\n" * 3)
    assert command("map", "minmax", "in.svm", "--format", "npy", "-o", "codes.npy").returncode == 0
    assert command("pairs", "codes.npy", "-o", "pairs.tsv").returncode == 0
    assert command("pairs", "minmax", "codes.npy", "-o", "same.tsv").returncode == 0
    assert (folder / "pairs.tsv").read_bytes() == (folder / "same.tsv").read_bytes() != b""
    assert command("pairs", "minhash", "codes.npy", "-o", "none.tsv").returncode == 2


def test_a_field_and_bad_records(folder):
    lines = [b'{"text": "a b c d e f", "n": 1}\n', b"bad\n", b'{"text": "a b c d e f", "n": 2}\n']
    (folder / "n.jsonl").write_bytes(b"".join(lines))
    done = command(
        "dedup", "n.jsonl", "-o", "out", "--keep", "n", "--bad-records", "bad",
    )  # fmt: skip
    assert done.stderr == (
        b"2 records, 1 kept, 1 equal to a kept one, 1 bad; 1 cluster of several, largest 2\n"
    )
    assert (folder / "out").read_bytes() == lines[2]
    assert (folder / "bad").read_bytes().splitlines()[1].startswith(b"n.jsonl\t2\texpected a JSON")
    refused = command("dedup", "n.jsonl", "-o", "none").stderr
    assert refused.startswith(b"sparsemaps: n.jsonl: line 2: expected a JSON object;")
    assert refused.endswith(b"; --bad-records FILE sets such records aside\n")


def test_normal_forms_of_texts(tmp_path):
    """Those without case and punctuation are copies."""
    lines = b"the cat sat on the MAT, today\nthe cat  sat on the mat today\n"
    (tmp_path / "in.txt").write_bytes(lines)
    arguments = "dedup", tmp_path / "in.txt", "--texts", "word:2", "-o"
    assert b"2 kept" in command(*arguments, tmp_path / "out").stderr
    assert b"1 kept" in command(*arguments, tmp_path / "out", "--normalize", "plain").stderr
