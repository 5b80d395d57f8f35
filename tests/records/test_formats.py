"""Every format of texts in every command: the answers are those of JSON Lines."""

from argparse import Namespace

import pytest
from _data.record_files import WRITERS, records
from _scripts.commands import command

from sparsemaps.cli import _compare
from sparsemaps.files import Texts, deduplicate_files, filter_files
from sparsemaps.libsvm import _pipeline
from sparsemaps.linear import KernelClassifier
from sparsemaps.records import TEXT_FORMATS
from sparsemaps.records._table import ENDINGS, FORMATS
from sparsemaps.text import iter_records

COMMANDS = {
    "map": ["map", "minhash", "IN", "-o", "OUT", "--texts", "word:1", "--n-hashes", "16"],
    "text": ["text", "IN", "-o", "OUT"],
    "pairs": ["pairs", "minhash", "IN", "-o", "OUT", "--texts", "word:1", "--threshold", "0.9"],
    "train": ["train", "minhash", "IN", "-o", "OUT", "--texts", "word:1", "--n-hashes", "32"],
    "predict": ["predict", "MODEL", "IN", "-o", "OUT"],
    "dedup": ["dedup", "IN", "-o", "KEPT", "--texts", "word:2", "--removed", "OUT"],
}
"""Commands whose outputs do not depend on the format."""

FIELDS = {
    "map": ["--label-field", "label", "--id-field", "id"],
    "text": ["--label-field", "n", "--id-field", "inner.score"],
    "pairs": ["--field", "inner.text", "--id-field", "id"],
    "train": ["--label-field", "inner.lang"],
    "predict": ["--id-field", "inner.lang", "--field", "inner.text"],
    "dedup": ["--keep", "inner.score", "--id-field", "id"],
}
"""Fields of records, and fields of these fields; of CSV, columns with such names."""


def test_every_format_is_tried():
    assert WRITERS.keys() == TEXT_FORMATS.keys() == FORMATS.keys()
    assert all(FORMATS[name].name == name for name in FORMATS)
    for format in FORMATS.values():
        for ending in format.endings:
            assert ENDINGS[ending] is format


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of each format, and a model."""
    folder = tmp_path_factory.mktemp("records")
    for name, write in WRITERS.items():
        write(folder / f"in.{name}", records())
    made = [*COMMANDS["train"], *FIELDS["train"]]
    assert not run(folder, made, "jsonl", folder / "model").returncode
    return folder


def run(folder, arguments, format, output, *more):
    words = {
        "IN": folder / f"in.{format}", "OUT": output, "MODEL": folder / "model",
        "KEPT": output.with_name(f"{output.name}.{format}"),
    }  # fmt: skip
    return command(*[words.get(word, word) for word in arguments], *more)


@pytest.fixture(scope="module")
def expected(folder):
    """The output of each command for JSON Lines, with fields and without."""
    found = {}
    for name, arguments in COMMANDS.items():
        for fields in ([], FIELDS[name]):
            if fields or name != "train":
                out = folder / f"{name}.{len(fields)}.expected"
                done = run(folder, [*arguments, *fields], "jsonl", out)
                assert not done.returncode, done.stderr
                found[name, bool(fields)] = out.read_bytes()
    return found


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "jsonl"])
@pytest.mark.parametrize("name", COMMANDS)
def test_outputs_are_those_of_json_lines(folder, expected, tmp_path, name, format):
    """Labels and ids that CSV has as texts are written as numbers where they are some."""
    for fields in ([], FIELDS[name]):
        has_fields = bool(fields)
        if (name, has_fields) not in expected or (has_fields and not FORMATS[format].has_fields):
            continue
        out = tmp_path / f"out.{len(fields)}"
        done = run(folder, [*COMMANDS[name], *fields], format, out, "--n-jobs", "2")
        assert not done.returncode, done.stderr
        assert out.read_bytes() == expected[name, has_fields]


@pytest.mark.parametrize("format", [name for name in FORMATS if FORMATS[name].has_fields])
def test_texts_that_are_compared(folder, format):
    """The comparison of maps takes seconds; it is given the texts and labels of any format."""
    source = Texts("word:1", field="inner.text", label_field="label")
    expected = [row["text"] for row in records()], [row["label"] for row in records()]
    options = Namespace(n_jobs=2, regression=None)
    assert _compare.read(source, [folder / f"in.{format}"], options) == [expected]


@pytest.mark.parametrize("format", [name for name in FORMATS if FORMATS[name].has_fields])
def test_bad_records_are_skipped(tmp_path, format):
    """In batches of any size. Without a word they are errors."""
    rows, path = records(), tmp_path / f"in.{format}"
    for row in (0, 1, 20, 79):
        rows[row]["id"] = None
    WRITERS[format](path, rows)
    texts = [row["text"] for row in rows if row["id"]]
    for size in (1, 500, 2**24):
        how = {"id_field": "id", "bad_records": "skip", "batch_bytes": size}
        batches = list(iter_records(path, **how))
        assert [str(text) for batch in batches for text in batch.texts] == texts
        assert [id for batch in batches for id in batch.ids] == [r["id"] for r in rows if r["id"]]
        tables = [batch.records for batch in batches if not isinstance(batch.records, list)]
        raw = [one["text"] for table in tables for one in table.to_pylist()]
        assert raw == (texts if tables else [])
    with pytest.raises(ValueError, match="expected"):
        list(iter_records(path, id_field="id"))


def test_labels_of_several_kinds_are_not_compared(tmp_path, monkeypatch):
    """In blocks that threads read by themselves, too."""
    lines = [b'{"text": "a", "y": 1}\n', b'{"text": "b", "y": "1"}\n']
    monkeypatch.setattr(_pipeline, "BLOCK_BYTES", 10)
    (tmp_path / "in.jsonl").write_bytes(b"".join(lines))
    options = Namespace(n_jobs=1, regression=None)
    with pytest.raises(ValueError, match="a number"):
        _compare.read(Texts("word:1", label_field="y"), [tmp_path / "in.jsonl"], options)


def raw_of(path, **options):
    """The raw records of a file: bytes, or rows of a table as dicts."""
    found = []
    for batch in iter_records(path, **options):
        some = batch.records
        found += some if isinstance(some, list) else some.to_pylist()
    return found


@pytest.mark.parametrize("format", FORMATS)
def test_kept_records_are_as_they_stood(folder, tmp_path, format):
    """Of one input, of a folder with several, and of one file of several inputs."""
    raw = raw_of(folder / f"in.{format}")
    done = deduplicate_files(
        None, folder / f"in.{format}", tmp_path / f"out.{format}", source="word:2"
    )
    assert (done.n_records, done.n_kept) == (80, 70)
    assert raw_of(tmp_path / f"out.{format}") == raw[:70]
    if FORMATS[format].is_streamed:
        content = (folder / f"in.{format}").read_bytes()
        before = content.index(raw[0])  # a header
        assert (tmp_path / f"out.{format}").read_bytes() == content[:before] + b"".join(raw[:70])
    several = tmp_path / "several"
    several.mkdir()
    for part in (0, 1):
        WRITERS[format](several / f"{part}.{format}", records()[part * 40 : part * 40 + 40])
    for output in ("one." + format, "folder/"):
        deduplicate_files(None, several, f"{tmp_path}/{output}", source="word:2")
    assert raw_of(tmp_path / f"one.{format}") == raw[:70]
    assert raw_of(tmp_path / "folder") == raw[:70]
    model = KernelClassifier.load(folder / "model")
    done = filter_files(model, folder / f"in.{format}", tmp_path / f"f.{format}", label="pets")
    labels = [label for some in iter_records(folder / "in.jsonl", label_field="label")
              for label in some.labels]  # fmt: skip
    wanted = [one for one, label in zip(raw, labels, strict=True) if label == "pets"]
    assert done.n_kept == len(wanted)
    assert raw_of(tmp_path / f"f.{format}") == wanted


@pytest.mark.parametrize("format", FORMATS)
def test_tasks_make_the_same_bytes(folder, tmp_path, format):
    source = Texts("word:2", id_field="id" if FORMATS[format].has_fields else None)
    whole = tmp_path / f"whole.{format}"
    deduplicate_files(None, folder / f"in.{format}", whole, source=source)
    parts = tmp_path / f"parts.{format}"
    arguments = ["dedup", folder / f"in.{format}", "-o", parts, "--texts", "word:2"]
    arguments += ["--id-field", "id"] if source.id_field else []
    done = command(*arguments, "--stage", "codes", "--task", "0/1")  # others do not read inputs
    assert not done.returncode, done.stderr
    assert not command(*arguments).returncode
    assert parts.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("format", FORMATS)
def test_a_file_without_records(tmp_path, format):
    """A table without rows keeps its columns."""
    WRITERS[format](tmp_path / f"in.{format}", records(20))
    path = tmp_path / f"none.{format}"
    WRITERS[format](path, [])
    assert list(iter_records(path)) == []
    both = [path, tmp_path / f"in.{format}"]
    for inputs in (both, both[::-1], path):
        done = deduplicate_files(None, inputs, tmp_path / f"out.{format}", source="word:1",
                                 threshold=1.0)  # fmt: skip
        n = 0 if inputs is path else 20
        assert done.n_records == n
        assert len(raw_of(tmp_path / f"out.{format}")) == done.n_kept
