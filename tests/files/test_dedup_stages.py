"""Stages of the job that keeps records: resumed, killed, against earlier deliveries."""

import contextlib
import json
import os
import shutil
import signal
import time

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import lines_of, make_texts, shingles, write_lines
from _data.stage_names import results_in, without_digest
from _scripts.limits import largest_file
from _scripts.programs import Program, posix

from sparsemaps import MinHash
from sparsemaps._io._array_files import ArrayKind
from sparsemaps.codes import PackedCodes
from sparsemaps.files import Texts, _removed_records, deduplicate_files
from sparsemaps.files._results import KeptSteps, Results

TEXTS = make_texts()
SETS = [shingles(text) for text in TEXTS]
MINHASH = MinHash(n_hashes=128, random_state=0)
WORDS = {"source": "word:3"}


def outputs(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def state(folder):
    """What shows whether files were written again."""
    return {
        without_digest(path.name): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in folder.iterdir()
    }


def names_in(folder):
    return {without_digest(path.name) for path in folder.iterdir()}


def changed(before, after):
    return {name for name in after if after[name] != before.get(name)}


@pytest.fixture
def folder(tmp_path):
    """Three files of texts."""
    (tmp_path / "in").mkdir()
    for part in range(3):
        write_lines(tmp_path / f"in/{part}.jsonl", TEXTS[100 * part : 100 * part + 100])
    return tmp_path / "in"


def result(name, *endings):
    """The files of a result, and its record."""
    return {name + ending for ending in ("", *endings, ".json")}


CODES = result("codes.npy", ".lengths.npy", ".digests.npy", ".checksums.npy")
OUTPUTS = {f"output-{number:06d}.json" for number in range(3)}
KEPT = result("kept.npy") | OUTPUTS
REMOVED = result("removed.npy", ".similarity.npy") | result("clusters.npy") | KEPT


def test_what_is_the_same_is_not_made_again(folder, tmp_path):
    """Each option is changed in turn: the results that it decides are made again, and no other; the
    outputs are those of a run without earlier results."""
    write_lines(tmp_path / "old.jsonl", TEXTS[:50])
    deduplicate_files(MINHASH, tmp_path / "old.jsonl", tmp_path / "old", **WORDS)
    write_lines(tmp_path / "older.jsonl", TEXTS[150:160])
    deduplicate_files(MINHASH, tmp_path / "older.jsonl", tmp_path / "older", **WORDS)
    old, older = (tmp_path / f"{name}.stages/codes.npy" for name in ("old", "older"))

    def run(output="out", map=MINHASH, **options):
        options = {"threshold": 0.8, **WORDS, **options}
        return deduplicate_files(map, folder, f"{tmp_path}/{output}/", **options)

    stages = tmp_path / "out.stages"
    first = run()
    everything = CODES | REMOVED
    assert names_in(stages) == everything
    table = tmp_path / "table"
    others = MinHash(n_hashes=128, random_state=1)
    for options, expected in (
        ({}, set()),
        ({"clusters": table}, set()),
        ({"clusters": table, "n_jobs": 2, "source": Texts("word:3", max_line_bytes=2**20)}, set()),
        ({"keep": "longest"}, REMOVED),
        ({"keep": "longest", "threshold": 0.4}, REMOVED),
        ({"threshold": 0.4}, REMOVED),
        ({"threshold": 0.4, "recall": 0.5}, REMOVED),
        ({"threshold": 0.4, "exact": True}, REMOVED),
        ({"threshold": 0.4, "recall": 1}, REMOVED),
        ({"threshold": 0.4, "recall": 1, "exact": True}, REMOVED),
        ({}, REMOVED),
        ({"against": old}, REMOVED),
        ({"against": [old, older]}, REMOVED),
        ({"against": older}, REMOVED),
        ({"against": [older, old]}, REMOVED),
        ({}, REMOVED),
        ({"source": "word:2"}, everything),
        ({"source": Texts("word:2", token_pattern=r"\w+")}, everything),
        ({"source": Texts("word:2", token_pattern=r"\w+", max_length=999)}, everything),
        ({"map": others}, everything),
        ({"map": MinHash(n_hashes=64, random_state=1)}, everything),
        ({"map": MinHash(n_hashes=64, bits=4, random_state=1)}, everything),
        ({"source": Texts("word:3", id_field="id")}, everything | {"codes.npy.ids.txt"}),
        (
            {"source": Texts("char:2", id_field="id", field="id")},
            everything | {"codes.npy.ids.txt"},
        ),
        ({}, everything),
        ({"resume": False}, everything),
        ({}, set()),
    ):  # fmt: skip
        before, inodes = state(tmp_path / "out"), state(stages)
        done = run(**options)
        assert changed(inodes, state(stages)) == expected, options
        assert [one.skipped for one in done.files] == [not expected] * 3
        assert len(changed(before, state(tmp_path / "out"))) == 3 * bool(expected)
        anew = run("anew", **{**options, "resume": False})
        assert done[:4] == anew[:4]
        assert outputs(tmp_path / "out") == outputs(tmp_path / "anew")
    assert done[:4] == first[:4]
    (tmp_path / "out/1.jsonl").write_bytes(b"")
    (tmp_path / "out/2.jsonl").unlink()
    assert [one.skipped for one in run().files] == [True, False, False]
    assert outputs(tmp_path / "out") == outputs(tmp_path / "anew")


def test_codes_of_an_earlier_delivery_that_have_changed(folder, tmp_path):
    """In the same file, of the same size."""
    for name, texts in (("old", TEXTS[:50]), ("new", TEXTS[100:150])):
        write_lines(tmp_path / f"{name}.jsonl", texts)
        deduplicate_files(MINHASH, tmp_path / f"{name}.jsonl", tmp_path / name, **WORDS)
    codes = tmp_path / "old.stages/codes.npy"
    first = deduplicate_files(MINHASH, folder, tmp_path / "out", against=codes, **WORDS)
    shutil.copy(tmp_path / "new.stages/codes.npy", codes)
    second = deduplicate_files(MINHASH, folder, tmp_path / "out", against=codes, **WORDS)
    fresh = deduplicate_files(MINHASH, folder, tmp_path / "anew", against=codes, **WORDS)
    assert second[:4] == fresh[:4] != first[:4]
    assert (tmp_path / "out").read_bytes() == (tmp_path / "anew").read_bytes()


def test_inputs_that_have_changed_are_read_again(folder, tmp_path):
    out = tmp_path / "out"
    options = WORDS
    deduplicate_files(MINHASH, folder, out, **options)
    write_lines(folder / "1.jsonl", TEXTS[:50])
    done = deduplicate_files(MINHASH, folder, out, **options)
    assert [one.n_records for one in done.files] == [100, 50, 100]
    found = out.read_bytes()
    deduplicate_files(MINHASH, folder, out, resume=False, **WORDS)
    assert out.read_bytes() == found
    with open(folder / "2.jsonl", "ab") as file:
        file.write(b"{}\n")
    with pytest.raises(ValueError, match=r"2\.jsonl: line 101: expected the field 'text'"):
        deduplicate_files(MINHASH, folder, out, **options)
    assert out.read_bytes() == found


def test_codes_are_those_of_all_inputs(folder, tmp_path):
    """Those of one input after the other, as if they were one."""
    deduplicate_files(MINHASH, folder, tmp_path / "three", **WORDS)
    write_lines(tmp_path / "one.jsonl", TEXTS)
    deduplicate_files(MINHASH, tmp_path / "one.jsonl", tmp_path / "one", **WORDS)
    stages = [outputs(tmp_path / name) for name in ("one.stages", "three.stages")]
    for name in CODES | REMOVED:
        assert not name.endswith(".npy") or stages[0][name] == stages[1][name]
    codes = PackedCodes.load(tmp_path / "three.stages/codes.npy")
    assert len(codes) == len(TEXTS)
    assert codes.config["texts"]["parameters"]["ngram_range"] == [3, 3]
    np.testing.assert_array_equal(codes.sizes, [len(one) for one in SETS])


def test_more_records_than_are_numbered(folder, tmp_path, set_limits):
    """They are refused before they are searched; codes stay."""
    set_limits(_removed_records, LARGEST_INT32=299)
    with pytest.raises(ValueError, match="the number of records must be from 0 to 299, got 300"):
        deduplicate_files(MINHASH, folder, tmp_path / "out", **WORDS)
    assert not (tmp_path / "out").exists()
    assert names_in(tmp_path / "out.stages") == CODES


def test_records_that_are_missing_are_an_error(folder, tmp_path):
    """The inputs have changed between codes and output, and nobody saw it by size and time."""
    path = folder / "1.jsonl"
    deduplicate_files(MINHASH, folder, tmp_path / "out", **WORDS)
    found, about = (tmp_path / "out").read_bytes(), path.stat()
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\n", b" ", 1))
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    (tmp_path / "out").unlink()
    with pytest.raises(ValueError, match=r"1\.jsonl changed during the run: it had 100 records"):
        deduplicate_files(MINHASH, folder, tmp_path / "out", **WORDS)
    assert not (tmp_path / "out").exists()
    path.write_bytes(content)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    deduplicate_files(MINHASH, folder, tmp_path / "out", **WORDS)
    assert (tmp_path / "out").read_bytes() == found


@posix
def test_killed_at_any_moment(folder, tmp_path):
    """Whatever is there is complete; going on gives what an undisturbed run gives."""
    for part in range(3):
        write_lines(
            folder / f"{part}.jsonl",
            [f"{text} {part} {row}" for row in range(6) for text in TEXTS],
        )
    arguments = ["dedup", "minhash", "--n-hashes", 128, folder, "--texts", "word:3", "-o"]
    deduplicate_files(MINHASH, folder, f"{tmp_path}/undisturbed/", **WORDS)
    expected = outputs(tmp_path / "undisturbed")
    stages, out = tmp_path / "out.stages", tmp_path / "out"
    for moment in ("codes*.npy", "removed*.npy.json"):
        program = Program(*arguments, f"{out}/", cwd=tmp_path)
        while program.process.is_alive() and not list(stages.glob(moment)):
            time.sleep(0.001)
        with contextlib.suppress(ProcessLookupError):  # it has ended
            program.signal(signal.SIGKILL)
        program.end()
        for name, text in outputs(out).items() if out.exists() else ():
            assert name.endswith(".tmp") or text == expected[name]
    assert Program(*arguments, f"{out}/", cwd=tmp_path).end()[0] == 0
    assert outputs(out) == expected
    assert not list(stages.glob("*.tmp"))


@pytest.mark.parametrize("resume", [False, True])
def test_what_killed_runs_have_left_is_removed(resume, folder, tmp_path):
    stages = tmp_path / "out.stages"
    stages.mkdir()
    (stages / ".sparsemaps-0123456789abcdef.tmp").write_bytes(b"half of the codes")
    deduplicate_files(MINHASH, folder, f"{tmp_path}/out/", resume=resume, **WORDS)
    assert names_in(stages) == CODES | REMOVED


@posix
def test_a_full_disk_leaves_nothing_half_written(folder, tmp_path):
    how = {"threshold": 1, **WORDS}
    deduplicate_files(MINHASH, folder, tmp_path / "out", **how)
    sizes = {path: path.stat().st_size for path in (tmp_path / "out.stages").iterdir()}
    sizes[tmp_path / "out"] = (tmp_path / "out").stat().st_size
    for name in ("out", "out.stages/codes.npy", "out.stages/removed.npy"):
        shutil.rmtree(tmp_path / "out.stages")
        limit = sizes[tmp_path / name] - 1
        (tmp_path / "out").write_bytes(b"before")
        with largest_file(limit), pytest.raises(OSError, match="File too large"):
            deduplicate_files(MINHASH, folder, tmp_path / "out", **how)
        assert (tmp_path / "out").read_bytes() == b"before"
        left = [path.name for path in tmp_path.rglob("*") if path.name.startswith(".")]
        assert left == []


# ---- against -------------------------------------------------------------------------------------


@pytest.mark.parametrize("recall", [0.9, 1])
@pytest.mark.parametrize("seed", range(5))
def test_deliveries_one_after_the_other_are_one(tmp_path, seed, recall):
    """What is kept of deliveries, wherever they are cut, is what is kept of them together, and by
    the same witnesses; but of records without samples only codes are known."""
    texts = [text for text, own in zip(TEXTS, SETS, strict=True) if own]
    lines = lines_of(texts, "txt")
    how = {"recall": recall, "threshold": 0.4, "removed": tmp_path / "table", **WORDS}
    ends = np.sort(np.random.default_rng(SEED + seed).integers(1, len(texts), seed + 1)).tolist()
    kept, folders, removed, names = [], [], [], {}
    for start, stop in zip([0, *ends], [*ends, len(texts)], strict=True):
        some, out = tmp_path / f"{start}-{stop}.txt", tmp_path / f"{start}-{stop}.kept"
        some.write_bytes(b"".join(lines[start:stop]))
        done = deduplicate_files(MINHASH, some, out, against=folders, **how)
        kept.append(out.read_bytes())
        assert done.n_kept == kept[-1].count(b"\n")
        names |= {f"{out}.stages:{n}": str(start + n) for n in range(1, stop - start + 1)}
        names |= {str(n): str(start + n) for n in range(1, stop - start + 1)}
        rows = [line.split("\t") for line in (tmp_path / "table").read_text().splitlines()[1:]]
        removed += [[names[one], names[other], more] for one, other, more in rows]
        folders.append(f"{out}.stages")
    (tmp_path / "all.txt").write_bytes(b"".join(lines))
    done = deduplicate_files(MINHASH, tmp_path / "all.txt", tmp_path / "out", **how)
    assert (tmp_path / "out").read_bytes() == b"".join(kept)
    table = [line.split("\t") for line in (tmp_path / "table").read_text().splitlines()[1:]]
    assert table == removed
    assert done.n_kept < 0.6 * len(texts)


def test_a_folder_of_a_run_that_is_not_complete(tmp_path):
    write_lines(tmp_path / "in.jsonl", TEXTS[:20])
    deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "old", **WORDS)
    os.unlink(tmp_path / "old.stages/kept.npy")
    with pytest.raises(ValueError, match=r"the run of .*old\.stages is not complete: kept"):
        deduplicate_files(
            MINHASH, tmp_path / "in.jsonl", tmp_path / "out", against=tmp_path / "old.stages",
            **WORDS,
        )  # fmt: skip


def test_each_of_several_deliveries_counts(tmp_path):
    """Records of one delivery alone, of another alone, and of none."""
    texts = [" ".join(f"w{row}x{n}" for n in range(30)) for row in range(6)]
    for name, some in (("a", texts[:2]), ("b", texts[2:4]), ("c", texts)):
        (tmp_path / f"{name}.txt").write_text("\n".join(some) + "\n")
    for name in "ab":
        deduplicate_files(MINHASH, tmp_path / f"{name}.txt", tmp_path / name, **WORDS)
    for against in (["a", "b"], ["b", "a"]):
        done = deduplicate_files(
            MINHASH, tmp_path / "c.txt", tmp_path / "c",
            against=[tmp_path / f"{name}.stages" for name in against], **WORDS,
        )  # fmt: skip
        assert done.n_kept == 2
        assert (tmp_path / "c").read_text() == "\n".join(texts[4:]) + "\n"


def test_a_directory_of_runs(tmp_path):
    """Each of its runs is a delivery, but for the run itself, which was ended or is repeated."""
    texts = [" ".join(f"w{row}x{n}" for n in range(30)) for row in range(6)]
    runs = tmp_path / "runs"
    runs.mkdir()
    for name, some in (("a", texts[:2]), ("b", texts[2:4]), ("c", texts)):
        (tmp_path / f"{name}.txt").write_text("\n".join(some) + "\n")
    for name in "ab":
        deduplicate_files(MINHASH, tmp_path / f"{name}.txt", runs / name, **WORDS)
    for resume in (True, True, False):
        how = {"against": runs, "resume": resume, **WORDS}
        done = deduplicate_files(MINHASH, tmp_path / "c.txt", runs / "c", **how)
        assert (done.n_earlier, done.n_kept) == (4, 2)
        assert (runs / "c").read_text() == "\n".join(texts[4:]) + "\n"
    assert deduplicate_files(MINHASH, tmp_path / "c.txt", runs / "d", **how).n_kept == 0
    with pytest.raises(
        ValueError, match=r"a is an output of records; their codes are in .*a\.stages"
    ):
        deduplicate_files(MINHASH, tmp_path / "c.txt", runs / "e", against=runs / "a", **WORDS)
    deduplicate_files(MINHASH, tmp_path / "a.txt", f"{tmp_path}/d/", **WORDS)
    for given in ("d", "d/", "d/a.txt"):
        with pytest.raises(
            ValueError, match=r"a\.txt has records|d is an output of records; their"
        ):
            deduplicate_files(
                MINHASH, tmp_path / "c.txt", runs / "e", against=f"{tmp_path}/{given}", **WORDS
            )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"map": MinHash(n_hashes=128, random_state=1)}, "seed is 0 in one and 1 in the other"),
        ({"map": MinHash(n_hashes=64, random_state=0)}, "n_hashes is 128 in one and 64"),
        ({"source": "word:2"}, r"vectorized alike: ngram_range is \[3, 3\] in one and \[2, 2\]"),
        ({"output": "old"}, r"a stage, is the input .*codes\.npy; write to another file"),
        ({"clusters": "old.stages/codes.npy"}, r"is the input .*codes\.npy"),
        ({"against": "old.stages/none.npy"}, None),
    ],
)
def test_codes_that_are_not_against_these_records(tmp_path, monkeypatch, options, message):
    """Before anything is read or written."""
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "in.jsonl", TEXTS[:20])
    deduplicate_files(MINHASH, "in.jsonl", "old", **WORDS)
    before = outputs(tmp_path / "old.stages")
    given = {"map": MINHASH, "inputs": "in.jsonl", "output": "out", **WORDS}
    given |= {"against": "old.stages/codes.npy", **options}
    error = FileNotFoundError if message is None else ValueError
    with pytest.raises(error, match=message or "none"):
        deduplicate_files(**given)
    assert outputs(tmp_path / "old.stages") == before
    assert sorted(os.listdir()) == ["in.jsonl", "old", "old.stages"]


def test_damaged_records_of_stages(folder, tmp_path):
    """As a loss of power may leave them: the results are made again."""
    deduplicate_files(MINHASH, folder, tmp_path / "out", **WORDS)
    found = (tmp_path / "out").read_bytes()
    names = results_in(tmp_path / "out.stages")
    for name in ("codes.npy", "removed.npy", "clusters.npy", "kept.npy", "output-000000"):
        path = names.get(f"{name}.json", tmp_path / f"out.stages/{name}.json")
        for content in ("", "{", "[1]", json.dumps({"files": 3}), json.dumps({"files": {}})):
            path.write_text(content)
            (tmp_path / "out").unlink()
            deduplicate_files(MINHASH, folder, tmp_path / "out", **WORDS)
            assert (tmp_path / "out").read_bytes() == found
    for path in (names["codes.npy"], tmp_path / "out.stages/codes.npy"):
        path.unlink()
        deduplicate_files(MINHASH, folder, tmp_path / "out", threshold=0.9, **WORDS)
        assert path.exists()


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("clusters.npy", lambda numbers: numbers + 300, "numbers from 0 to 299"),
        ("clusters.npy", lambda numbers: numbers.astype(np.float32), "found float32"),
        ("codes.npy.lengths.npy", lambda lengths: lengths.view(np.uint16), "found uint16"),
        ("codes.npy.checksums.npy", lambda sums: sums.view(np.uint16), "found uint16"),
        ("codes.npy.digests.npy", lambda digests: digests | 2**40, "rows do not ascend"),
        ("removed.npy", lambda removed: removed.T.copy(), "found uint32 of shape"),
        ("kept.npy", lambda kept: kept.view(np.uint8), "found uint8"),
        ("kept.npy", np.ones_like, "kept records; found 300"),
        ("removed.npy", lambda removed: removed + 300, "numbers from 0 to 299"),
        ("removed.npy", lambda removed: removed.astype(np.int64), "found int64"),
        ("removed.npy.similarity.npy", lambda value: value.view(np.int64), "found int64"),
    ],
)
def test_results_are_checked_where_they_are_read(folder, tmp_path, name, damage, message):
    """Of the right size, with numbers that are no rows: an error, and no crash."""
    write_lines(tmp_path / "old.jsonl", TEXTS[:50])
    deduplicate_files(MINHASH, tmp_path / "old.jsonl", tmp_path / "old", **WORDS)
    how = {"against": tmp_path / "old.stages/codes.npy", "threshold": 0.5, **WORDS}
    deduplicate_files(MINHASH, folder, tmp_path / "out", **how)
    names = results_in(tmp_path / "out.stages")
    path = names[name]
    before = path.read_bytes()
    array = np.load(path)
    assert array.size
    np.save(path, damage(array))
    path.write_bytes(path.read_bytes()[: len(before)].ljust(len(before), b"\0"))
    for one in ("removed", "clusters", "kept", "output-000000"):
        if not name.startswith(one) and f"{one}.npy.json" in names:
            names[f"{one}.npy.json"].unlink()
    (tmp_path / "out.stages/output-000000.json").unlink()
    with pytest.raises(ValueError, match=rf"{path.name} is damaged: .*{message}"):
        deduplicate_files(MINHASH, folder, tmp_path / "out", **how)
    path.unlink()
    deduplicate_files(MINHASH, folder, tmp_path / "out", **how)
    assert path.read_bytes() == before


def test_steps_of_another_search_are_not_taken(tmp_path):
    """A run was killed in the midst of the search."""

    def step(recipe, drawn, made):
        steps = KeptSteps(Results(str(tmp_path)), "search-", recipe)
        _, steps = steps.drawn("hashing", lambda: drawn)
        return (
            steps.within("more")
            .array("pairs", ArrayKind(np.uint64), lambda: np.array([made], np.uint64))
            .tolist()
        )

    assert step("one search", 1, 1) == [1]
    assert step("one search", 2, 2) == [1]
    assert step("another search", 3, 3) == [3]
    assert step("another search", 1, 4) == [3]
    for record in tmp_path.glob("search-hashing-*.json"):
        record.unlink()  # other keys are drawn
    assert step("another search", 5, 5) == [5]
    for path in tmp_path.glob("search-more-pairs-*.npy"):
        os.truncate(path, 100)
    assert step("another search", 5, 6) == [6]
