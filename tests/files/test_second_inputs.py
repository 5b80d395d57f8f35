"""What a test of one input, one block of rows and one run does not see."""

import io
import json
import mmap
import os
import pickle

import numpy as np
import pytest
from _data.chance import SEED
from _data.labelled_records import records, rows, write_jsonl, write_rows

from sparsemaps import ConsistentWeightedSampling, MinHash, files
from sparsemaps.codes import PackedCodes
from sparsemaps.files import (
    Removal,
    Search,
    Tables,
    Texts,
    _dedup,
    _dedup_plan,
    _dedup_stages,
    _evidence,
    _pairs,
    _predict,
    _removed_records,
    _row_names,
    _text_rows,
)
from sparsemaps.files._job_options import LineOptions, PairSearch
from sparsemaps.files._removed_records import Removals
from sparsemaps.files._results import NOWHERE
from sparsemaps.files._tasks import TaskRun
from sparsemaps.linear import KernelClassifier
from sparsemaps.neighbors import _removals

MINHASH = MinHash(n_hashes=64, random_state=0)
MARK = "\ufeff"


def words(*numbers):
    return "".join(f" word{number}" for number in numbers)


LINES = [f"a{words(*range(n, n + 9))}\n" for n in (0, 20, 40, 60)]
OWN = [f"{name}{words(*range(n, n + 20))}\n" for n in (100, 200) for name in "cd"]


@pytest.mark.parametrize("job", [files.deduplicate_files, files.similar_pairs_of_files])
def test_labels_that_nobody_writes_have_no_numbers(tmp_path, monkeypatch, job):
    """They may be strings, and are not read beforehand."""
    monkeypatch.delattr(_text_rows.TextRows, "distinct_labels")
    texts = [f"{words(*range(n, n + 9))}" for n in (0, 0, 20)]
    given = [{"text": text, "label": label} for text, label in zip(texts, "aab", strict=True)]
    path, outputs = tmp_path / "in.jsonl", []
    path.write_text("".join(json.dumps(record) + "\n" for record in given))
    for label_field in (None, "label"):
        outputs.append(io.BytesIO())
        job(MINHASH, path, outputs[-1], source=Texts("word:2", label_field=label_field))
    assert outputs[0].getvalue() == outputs[1].getvalue() != b""


# ---- pairs ---------------------------------------------------------------------------------------


def pairs_of(*inputs, **options):
    out = io.BytesIO()
    files.similar_pairs_of_files(MINHASH, list(inputs), out, **options)
    return out.getvalue().decode().splitlines()


@pytest.fixture
def two(tmp_path):
    """Two files of rows: the columns of the first are larger."""
    (tmp_path / "a.svm").write_text("0 1:1 3:1 90:1\n0 2:1 5:1 # first\n0 80:1\n")
    (tmp_path / "b.svm").write_text("0 4:1\n0 2:1 5:1 # second\n0 6:1 # third\n0 6:1\n")
    return [tmp_path / "a.svm", tmp_path / "b.svm"]


SIMILAR = ["2\t5\t1.000000\tfirst\tsecond", "6\t7\t1.000000\tthird\t"]


@pytest.mark.parametrize("exact", [False, True])
def test_comments_and_columns_of_several_inputs(two, exact):
    assert pairs_of(*two, exact=exact) == SIMILAR


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("first", [0, 1])
def test_comments_and_columns_of_the_other_input(two, first, exact):
    (two[first]).write_text(two[first].read_text().replace(" # first", "").replace(" # sec", " # "))
    one, other = two if first == 0 else two[::-1]
    found = pairs_of(one, exact=exact, other=other)
    assert found == (["2\t2\t1.000000\t\tsecond"] if first == 0 else ["2\t2\t1.000000\tond\tfirst"])


def test_a_second_pipe_is_read_twice(two):
    """As rows by the exact kernel are."""
    with open(two[1], "rb") as pipe:
        found = pairs_of(two[0], exact=True, other=io.BytesIO(pipe.read()))
    assert found == ["2\t2\t1.000000\tfirst\tsecond"]


def test_similarities_of_many_lines():
    """Each line has its own, also after those that are written at a time."""
    n = _row_names._LINES + 3
    out, numbers = io.BytesIO(), np.arange(n)
    columns = numbers, numbers, numbers / n
    _row_names.write_table(out, columns, lambda i, j, x: f"{i + 1}\t{j + 1}\t{x:.6f}\n")
    expected = [f"{i + 1}\t{i + 1}\t{i / n:.6f}" for i in range(n)]
    assert out.getvalue().decode().splitlines() == expected


# ---- records that remain -------------------------------------------------------------------------


def dedup(inputs, output, **options):
    return files.deduplicate_files(MINHASH, inputs, output, **{"source": "word:2", **options})


def test_other_content_of_a_pipe(tmp_path):
    """No result of another pipe is taken."""
    for lines in (LINES[:2], LINES[2:]):
        content = "".join(lines).encode()
        source = Texts("word:2", format="txt")
        dedup(io.BytesIO(content), tmp_path / "out", source=source)
        assert (tmp_path / "out").read_bytes() == content


def test_another_format_of_codes(tmp_path):
    """No result of the same file in another format is taken."""
    (tmp_path / "in").write_text('{"text": "one two three"}\n\n\n')
    for format, n_records in (("txt", 3), ("jsonl", 1)):
        done = dedup(tmp_path / "in", tmp_path / "out", source=Texts("word:1", format=format))
        assert done.n_records == n_records


def test_a_mark_within_a_text_stays(tmp_path):
    """A byte order mark is no part of a text at the beginning of a file only."""
    (tmp_path / "a.txt").write_text(LINES[0] + LINES[1], encoding="utf-8")
    (tmp_path / "b.txt").write_text(MARK + LINES[0] + MARK + LINES[2], encoding="utf-8")
    (tmp_path / "c.txt").write_text(MARK + LINES[3], encoding="utf-8")
    dedup([tmp_path / name for name in ("a.txt", "b.txt", "c.txt")], tmp_path / "out")
    expected = LINES[0] + LINES[1] + MARK + LINES[2] + LINES[3]
    assert (tmp_path / "out").read_text(encoding="utf-8") == expected


def test_a_mark_at_the_beginning_of_a_later_block_stays(tmp_path):
    """Lines are read a block at a time."""
    long = "x" * 2**18 + "\n"
    text = LINES[0] + "".join(f"{MARK}{n}{long}" for n in range(3))
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    dedup(tmp_path / "a.txt", tmp_path / "out", source="word:1")
    assert (tmp_path / "out").read_text(encoding="utf-8") == text


def test_copies_of_short_texts(tmp_path):
    """They have no n-gram, are equal, and are as similar as can be."""
    (tmp_path / "a.txt").write_text("one\ntwo\none\n")
    dedup(tmp_path / "a.txt", tmp_path / "out", removed=tmp_path / "table")
    assert (tmp_path / "table").read_text().splitlines()[1:] == ["3\t1\t1.000000"]


def deliveries(tmp_path):
    """Two earlier deliveries, of which the second has more records."""
    for name, lines in (("one", LINES[:1]), ("two", LINES[1:3])):
        (tmp_path / f"{name}.txt").write_text("".join(lines))
        dedup(tmp_path / f"{name}.txt", tmp_path / name)
    return [tmp_path / "one.stages", tmp_path / "two.stages"]


@pytest.mark.parametrize("exact", [False, True])
def test_witnesses_in_several_deliveries(tmp_path, exact):
    """They have the names of their delivery, and no other file stays."""
    earlier = deliveries(tmp_path)
    third = tmp_path / "third.txt"
    third.write_text(LINES[3])
    dedup(third, tmp_path / "three")
    earlier.append(tmp_path / "three.stages")
    (tmp_path / "in.txt").write_text("".join([*LINES, "b" + LINES[0][1:], *OWN]))
    how = {"against": earlier, "removed": tmp_path / "table", "exact": exact}
    dedup(tmp_path / "in.txt", tmp_path / "out", **how)
    table = [line.split("\t") for line in (tmp_path / "table").read_text().splitlines()[1:]]
    found = [line[:2] for line in table]
    one, two, three = map(str, earlier)
    expected = [f"{one}:1", f"{two}:1", f"{two}:2", f"{three}:1", f"{one}:1"]
    expected = [[str(row + 1), name] for row, name in enumerate(expected)]
    assert found == [*expected, ["7", "6"], ["9", "8"]]
    own, first = (PackedCodes.load(path / "codes.npy").array for path in (
        tmp_path / "out.stages", earlier[0],
    ))  # fmt: skip
    shares = [1, 1, 1, 1, *((a == b).mean() for a, b in (
        (own[4], first[0]), (own[6], own[5]), (own[8], own[7]),
    ))]  # fmt: skip
    wanted = [(share - 2**-8) / (1 - 2**-8) for share in shares]
    if exact:  # of the 20 pairs of words, 19 are the same
        wanted[5:] = [19 / 21, 19 / 21]
    assert [line[2] for line in table] == [f"{similarity:.6f}" for similarity in wanted]
    assert not [name for name in os.listdir(tmp_path / "out.stages") if "earlier" in name]


def test_what_no_stage_needs_is_removed_before_the_next_one(tmp_path, monkeypatch, short_ranges):
    """Steps of the search and parts of the codes take room, also if a later stage fails."""
    there = []
    short_ranges(len("".join(LINES)) // 3)

    def failing(plan, coded, files, path, run):
        there.extend(os.listdir(tmp_path / "out.stages"))
        raise OSError("the disk is full")

    monkeypatch.setattr(_dedup_stages, "_find_clusters", failing)
    (tmp_path / "in.txt").write_text("".join(LINES))
    with pytest.raises(OSError, match="full"):
        dedup(tmp_path / "in.txt", tmp_path / "out")
    assert any(name.startswith("removed-") for name in there)
    assert not [name for name in there if name.startswith(("search", "codes-part"))]


def test_estimates_to_earlier_records_among_exact_values(tmp_path, set_limits):
    """A pair of two records comes before that of a record and an earlier one."""
    set_limits(_removals, _FIRST_BLOCK=2)
    earlier = deliveries(tmp_path)
    near = "b" + LINES[0][1:]
    (tmp_path / "in.txt").write_text("".join([OWN[0], OWN[2], OWN[1], near]))
    dedup(tmp_path / "in.txt", tmp_path / "out", against=earlier, removed=tmp_path / "table",
          exact=True)  # fmt: skip
    own, first = (PackedCodes.load(path / "codes.npy").array for path in (
        tmp_path / "out.stages", earlier[0],
    ))  # fmt: skip
    share = (own[3] == first[0]).mean()
    assert share != (own[2] == own[0]).mean()
    rows = [line.split("\t")[:3] for line in (tmp_path / "table").read_text().splitlines()[1:]]
    assert rows == [
        ["3", "1", f"{19 / 21:.6f}"],
        ["4", f"{earlier[0]}:1", f"{(share - 2**-8) / (1 - 2**-8):.6f}"],
    ]


def test_an_output_is_no_earlier_delivery(tmp_path):
    (tmp_path / "in.txt").write_text(LINES[3])
    codes = deliveries(tmp_path)[1] / "codes.npy"
    before = codes.read_bytes()
    with pytest.raises(ValueError, match="the table of clusters, is the input"):
        dedup(tmp_path / "in.txt", tmp_path / "out", against=codes, clusters=codes)
    assert codes.read_bytes() == before


def test_codes_of_each_delivery_are_compared_first(tmp_path):
    """Before the codes of the inputs are made."""
    (tmp_path / "in.txt").write_text(LINES[3])
    earlier = deliveries(tmp_path)
    other = MinHash(n_hashes=64, random_state=1)
    files.deduplicate_files(other, tmp_path / "one.txt", tmp_path / "other", source="word:2")
    with pytest.raises(ValueError, match=r"other\.stages/codes\.npy and the inputs"):
        dedup(tmp_path / "in.txt", tmp_path / "out", against=[*earlier, tmp_path / "other.stages"])
    assert not (tmp_path / "out.stages").exists()


def elsewhere(plan):
    """As another process has it."""
    return pickle.loads(pickle.dumps(plan))


def test_deliveries_of_other_processes_have_whole_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text(LINES[3])
    deliveries(tmp_path)
    removal = files.Removal(against=["one.stages", "two.stages"])
    plan = _dedup.Dedup.of(
        MINHASH, ["in.txt"], "out", files.Texts("word:2"), files.Search(), removal, files.Tables()
    )
    paths = [file.path for file in _dedup_plan.files_of(elsewhere(plan).earlier)]
    names = [f"{name}.stages/{file}.npy" for name in ("one", "two") for file in ("codes", "kept")]
    assert paths == [str(tmp_path / name) for name in names]
    plan = _pairs.PairsPlan.of(MINHASH, ["one.txt"], "out", ["two.txt"], "word:2", PairSearch())
    assert [one.path for one in elsewhere(plan).others] == [str(tmp_path / "two.txt")]
    assert [part.path for part in plan.others[0].cut(plan.others[0].n_bytes - 1)] == 2 * ["two.txt"]


def test_codes_of_earlier_deliveries_count_for_the_tasks(tmp_path, short_ranges):
    """A search among many of them is shared, however few records there are."""
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text("".join(LINES[:2]))
    dedup(tmp_path / "one.txt", tmp_path / "one")
    against = tmp_path / "one.stages"
    short_ranges((against / "codes.npy").stat().st_size)
    inputs = [str(tmp_path / "two.txt")]
    for removal, is_shared in ((Removal(), False), (Removal(against=against), True)):
        plan = _dedup.Dedup.of(
            MINHASH, inputs, tmp_path / "two", Texts("word:2"), Search(), removal, Tables()
        )
        assert ("search" in [stage.name for stage in plan.stages(NOWHERE)]) == is_shared


def test_deliveries_are_joined_once(tmp_path, monkeypatch, short_ranges):
    """Not by each task of a search. The file goes when the search is complete."""
    for name, lines in (("one", LINES[:2]), ("two", LINES[2:3]), ("three", LINES)):
        (tmp_path / f"{name}.txt").write_text("".join(lines))
    for name in ("one", "two"):
        dedup(tmp_path / f"{name}.txt", tmp_path / name)
    joined, before = [], _removed_records.save_blocks

    def save_blocks(path, *arguments):
        joined.append(path)
        before(path, *arguments)

    monkeypatch.setattr(_removed_records, "save_blocks", save_blocks)
    against = [tmp_path / "one.stages", tmp_path / "two.stages"]
    how = tmp_path / "three.txt", tmp_path / "three"
    short_ranges(how[0].stat().st_size)
    for stage in ("codes", "search-keys", "search"):
        dedup(*how, against=against, task=(stage, 0, 1))
    assert dedup(*how, against=against).n_earlier == 3
    assert len(joined) == 1
    assert not list((tmp_path / "three.stages").glob("search*"))


# ---- tables --------------------------------------------------------------------------------------


def test_tables_of_many_lines(tmp_path):
    """After those that are written at a time."""
    n = _row_names._LINES + 3
    rows = np.arange(n)
    found = Removals(rows, rows + 1, rows / n)
    _evidence.write_removals(tmp_path / "removed", found, str)
    _evidence.write_clusters(tmp_path / "clusters", rows[::-1].astype(np.uint32), "no file")
    lines = (tmp_path / "removed").read_text().splitlines()[1:]
    assert lines == [f"{i}\t{i + 1}\t{i / n:.6f}" for i in range(n)]
    lines = (tmp_path / "clusters").read_text().splitlines()
    assert lines == [f"{i + 1}\t{n - i}" for i in range(n)]


def test_ends_of_the_lines_of_a_large_file(tmp_path):
    """A part of 16 MB is looked at at a time."""
    with open(tmp_path / "ids", "w+b") as file:
        file.write(b"a\n")
        file.seek(2**24 + 7)
        file.write(b"\n")
        file.flush()
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
            assert _row_names._ends_of_lines(lines).tolist() == [0, 2, 2**24 + 8]


# ---- labels --------------------------------------------------------------------------------------


def predicted(model, inputs, output, **options):
    files.predict_files(model, inputs, output, **options)
    paths = sorted(output.iterdir()) if output.is_dir() else [output]
    return [path.read_text() for path in paths if not path.name.endswith(".json")]


@pytest.mark.parametrize("option", ["explain", "field", "model"])
def test_outputs_of_other_options_and_models(trained, tmp_path, option):
    """They are made anew in a folder that has outputs."""
    model = KernelClassifier.load(trained)
    some = [{**record, "other": record["text"][::-1]} for record in records(5)]
    write_jsonl(tmp_path / "in.jsonl", some)
    (tmp_path / "out").mkdir()
    before = predicted(model, tmp_path / "in.jsonl", tmp_path / "out")
    how = {"explain": {"explain": 2}, "field": {"source": Texts(field="other")}, "model": {}}
    if option == "model":
        model.intercept_ = model.intercept_ + 1
    alone = predicted(model, tmp_path / "in.jsonl", tmp_path / "alone", **how[option])
    again = predicted(model, tmp_path / "in.jsonl", tmp_path / "out", **how[option])
    assert again == alone != before


def test_labels_of_many_codes(tmp_path):
    """Scores are made of a part of them at a time, with the ids beside it."""
    X, y = rows(40)
    map = ConsistentWeightedSampling(n_hashes=4, random_state=0).fit_any_width()
    codes = map.encode(X, packed=True)
    model = KernelClassifier(map, random_state=0).fit(codes, y)
    n = files._labels._CODED_ROWS + 3
    which = np.random.default_rng(SEED).integers(0, 40, n)
    codes[which].save(tmp_path / "codes.npy")
    (tmp_path / "codes.npy.ids.txt").write_text("".join(f"{number}\n" for number in range(n)))
    paths = [tmp_path / "codes.npy"]
    job = _predict.Predicting.of(model, paths, None, None, lines=LineOptions())
    parts = list(job.scored(paths, TaskRun(), None))
    found = np.concatenate([part.scores for _, part, _ in parts])
    np.testing.assert_array_equal(found, model.decision_function(codes)[which])
    assert [id for _, part, _ in parts for id in part.ids] == [str(number) for number in range(n)]


def test_records_without_ids_are_numbered_through_all_blocks(trained, tmp_path):
    """Also through those of one input."""
    model = KernelClassifier.load(trained)
    n = 4000
    (tmp_path / "in.txt").write_text("a cat and a dog in the bank of the sea\n" * n)
    source = Texts(format="txt")
    (text,) = predicted(model, tmp_path / "in.txt", tmp_path / "out", source=source)
    numbers = [line.partition("\t")[0] for line in text.splitlines()[1:]]
    assert numbers == [str(number + 1) for number in range(n)]


def test_reasons_need_texts_of_all_inputs(trained, tmp_path):
    model = KernelClassifier.load(trained)
    write_jsonl(tmp_path / "in.jsonl", records(3))
    model.map_.encode_texts(model.vectorizer_, ["a"], packed=True).save(tmp_path / "codes.npy")
    both = [tmp_path / "in.jsonl", tmp_path / "codes.npy"]
    with pytest.raises(ValueError, match="explain=1 is for texts"):
        files.predict_files(model, both, tmp_path / "out", explain=1)


def test_a_share_has_its_own_numbers(trained, tmp_path):
    """Also where the other outputs are complete."""
    model = KernelClassifier.load(trained)
    (tmp_path / "in").mkdir()
    for n in (2, 3, 4):
        write_jsonl(tmp_path / f"in/{n}.jsonl", records(n))
    out = f"{tmp_path}/out/"
    assert files.predict_files(model, tmp_path / "in", out).n_records == 9
    answer = files.predict_files(model, tmp_path / "in", out, task=("predict", 1, 2))
    assert answer.n_records == 3


def test_another_normal_form_than_that_of_the_model(trained, tmp_path):
    model = KernelClassifier.load(trained)
    write_jsonl(tmp_path / "in.jsonl", records(3))
    given = Texts(normalize="nfkc")
    with pytest.raises(ValueError, match="the model has a different vectorizer"):
        files.predict_files(model, tmp_path / "in.jsonl", tmp_path / "out", source=given)


def test_records_by_the_score_of_the_first_of_two_labels(tmp_path):
    """It is that of the second times -1."""
    X, y = rows(40)
    map = ConsistentWeightedSampling(n_hashes=16, random_state=0).fit_any_width()
    model = KernelClassifier(map, random_state=0).fit(map.encode(X, packed=True), y > 0)
    write_rows(tmp_path / "in.svm", X, y)
    scores = model.decision_function(map.encode(X, packed=True))
    for label, own in ((False, -scores), (True, scores)):
        for least in (-0.2, 0.2):
            how = {"label": label, "min_score": least}
            done = files.filter_files(model, tmp_path / "in.svm", tmp_path / "out", **how)
            assert 0 < done.n_kept == (own >= least).sum() < 40


# ---- maps ----------------------------------------------------------------------------------------


def test_a_file_is_called_as_it_was_given(tmp_path):
    (tmp_path / "in.svm").write_text("0 1:1\n")
    (mapped,) = files.map_files(MINHASH, tmp_path / "in.svm", tmp_path / "out")
    assert mapped.input == os.fspath(tmp_path / "in.svm")


def test_outputs_are_made_anew_where_they_are_not_to_be_taken(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.svm").write_text("0 1:1\n")
    for resume, skipped in ((True, False), (True, True), (False, False)):
        (mapped,) = files.map_files(MINHASH, tmp_path / "in", f"{tmp_path}/out/", resume=resume)
        assert mapped.skipped == skipped


def test_another_format_of_the_same_file(tmp_path):
    """The result is that of the format that is said."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a").write_text('{"text": "one two three"}\n')
    for format in ("txt", "jsonl"):
        how = {"source": Texts("word:1", format=format)}
        files.map_files(MINHASH, tmp_path / "in", f"{tmp_path}/out/", **how)
        files.map_files(MINHASH, tmp_path / "in", f"{tmp_path}/{format}/", **how)
        assert (tmp_path / "out/a.svm").read_bytes() == (tmp_path / f"{format}/a.svm").read_bytes()
    assert (tmp_path / "txt/a.svm").read_bytes() != (tmp_path / "jsonl/a.svm").read_bytes()
