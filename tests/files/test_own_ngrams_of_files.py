"""Near-duplicates by the n-grams that few records share, beside plain Python with exact counts."""

import io
import itertools
import random

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import first_rows, jaccard, numbered, read_table, shingles, write_lines
from _scripts.commands import command
from _scripts.programs import posix

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps._input._row_reader import open_matrix
from sparsemaps._io._sources import InputFile
from sparsemaps.codes import PackedCodes
from sparsemaps.files import (
    Texts,
    _frequency_stages,
    deduplicate_files,
    map_files,
    similar_pairs_of_files,
    train_files,
)
from sparsemaps.linear import KernelClassifier
from sparsemaps.neighbors import KernelNeighbors, removals
from sparsemaps.text import HashingVectorizer, _frequencies
from sparsemaps.text._analyzers import vectorizer_of

MINHASH = MinHash(n_hashes=128, random_state=0)


def make_pages(seed=0):
    """Pages of three frames with words of their own, a family of near copies, copies, and short
    texts, in any order."""
    draw = random.Random(SEED + seed)

    def words(n):
        return [f"w{draw.randrange(10**6)}" for _ in range(n)]

    texts = ["", "one", "one two"]
    for n_frame, n_own, n_pages in ((60, 12, 30), (40, 3, 20), (20, 30, 10)):
        frame = words(n_frame)
        half = n_frame // 2
        texts += [" ".join([*frame[:half], *words(n_own), *frame[half:]]) for _ in range(n_pages)]
    original = words(50)
    for _ in range(40):
        copy = list(original)
        copy[draw.randrange(50)] = words(1)[0]
        texts.append(" ".join(copy))
    texts += draw.sample(texts, 10)
    draw.shuffle(texts)
    return texts


TEXTS = make_pages()


def own_sets(texts, max_df, min_own, n=3):
    sets = [shingles(text, n) for text in texts]
    df = {}
    for ngram in itertools.chain.from_iterable(sets):
        df[ngram] = df.get(ngram, 0) + 1
    own = [{ngram for ngram in one if df[ngram] <= max_df} for one in sets]
    return [few if len(few) >= min_own else all_ for few, all_ in zip(own, sets, strict=True)]


def witnesses(texts, sets, threshold):
    """Of each record, the first kept one that it is near; itself if it is kept. Equal texts are
    copies, also if they have no n-gram."""
    kept, found = [], []
    for row, one in enumerate(sets):
        near = (
            other for other in kept
            if (jaccard(one, sets[other]) >= threshold if one and sets[other] else
                texts[row] == texts[other])
        )  # fmt: skip
        found.append(next(near, row))
        if found[-1] == row:
            kept.append(row)
    return found


@pytest.mark.parametrize(("max_df", "min_own"), [(5, 1), (5, 5), (15, 5), (25, 9), (200, 1)])
def test_exact_is_plain_python(tmp_path, max_df, min_own):
    lines = write_lines(tmp_path / "in.jsonl", TEXTS)
    source = Texts("word:3", max_df=max_df, min_own=min_own)
    deduplicate_files(
        MINHASH, tmp_path / "in.jsonl", tmp_path / "out", source=source, exact=True, recall=1,
        threshold=0.6, clusters=tmp_path / "table",
    )  # fmt: skip
    expected = numbered(witnesses(TEXTS, own_sets(TEXTS, max_df, min_own), 0.6))
    assert read_table(tmp_path / "table")[1] == expected
    kept = first_rows(expected)
    assert (tmp_path / "out").read_bytes() == b"".join(lines[row] for row in kept)
    similar_pairs_of_files(
        MINHASH, tmp_path / "in.jsonl", tmp_path / "pairs", source=source, exact=True, recall=1,
        threshold=0.6,
    )  # fmt: skip
    sets = own_sets(TEXTS, max_df, min_own)
    pairs = {
        (i + 1, j + 1)
        for i, j in itertools.combinations(range(len(TEXTS)), 2)
        if sets[i] and sets[j] and jaccard(sets[i], sets[j]) >= 0.6
    }
    found = [line.split("\t") for line in (tmp_path / "pairs").read_text().splitlines()]
    assert {(int(i), int(j)) for i, j, *_ in found} == pairs


@pytest.mark.parametrize("max_df", [1, *range(253, 258), *range(65533, 65538), 2**20])
def test_counts_reach_beyond_the_limit(max_df):
    """A count ends at the largest number of its type, which must be above the limit."""
    _, count_bytes = _frequency_stages._form([], max_df)
    assert np.iinfo(f"u{count_bytes}").max > max_df


@pytest.mark.parametrize(("max_df", "n_kept"), [(299, 300), (300, 1)])
def test_a_frame_of_more_records_than_a_byte_counts(tmp_path, max_df, n_kept):
    frame = " ".join(f"w{i}" for i in range(40))
    write_lines(tmp_path / "in.jsonl", [f"{frame} a{row} b{row} c{row}" for row in range(300)])
    source = Texts("word:1", max_df=max_df, min_own=1)
    done = deduplicate_files(
        MINHASH, tmp_path / "in.jsonl", tmp_path / "out", threshold=0.5, source=source, exact=True
    )
    assert done.n_kept == n_kept


@pytest.mark.parametrize(
    ("name", "times"),
    [("a.txt", 1), ("a.jsonl", 1), ("a.csv.gz", 4), ("a.txt.ZST", 4), ("a.jsonl.xz", 4),
     ("a.csv.bz2", 4), ("a.parquet", 4)],
)  # fmt: skip
def test_tables_are_sized_by_texts_that_are_not_compressed(tmp_path, name, times):
    (tmp_path / name).write_bytes(bytes(2**20))
    [input] = map(InputFile, [str(tmp_path / name)])
    assert _frequency_stages._text_bytes(input) == times * 2**20


def test_a_frame_does_not_decide_and_families_are_found(tmp_path):
    """By estimates: of pages of one frame none is removed, and of a family all but one."""
    draw = random.Random(SEED + 1)

    def words(n):
        return [f"w{draw.randrange(10**6)}" for _ in range(n)]

    frame, original = words(300), words(100)
    pages = [" ".join([*frame, *words(15)]) for _ in range(60)]
    family = []
    for _ in range(60):
        copy = list(original)
        copy[draw.randrange(100)] = words(1)[0]
        family.append(" ".join(copy))
    write_lines(tmp_path / "in.txt", [*pages, *family], "txt")
    removed = {}
    for max_df in (None, 20):
        done = deduplicate_files(
            MINHASH, tmp_path / "in.txt", tmp_path / "out", source=Texts("word:3", max_df=max_df)
        )
        kept = (tmp_path / "out").read_text().splitlines()
        removed[max_df] = 60 - len(set(kept) & set(pages)), 60 - len(set(kept) & set(family))
        assert done.n_kept == len(kept)
    assert removed[None][0] > 50
    assert removed[20][0] == 0
    assert min(removed[None][1], removed[20][1]) > 50


@pytest.mark.parametrize(
    "spec", ["word:2", "auto:1", "code:2", "char:3-4", "char_wb:3", "byte:3", "byte:5"]
)
def test_a_table_counts_the_rows_of_the_vectorizer(tmp_path, spec):
    """Whether the loops of a vectorizer have sets, or rows only."""
    write_lines(tmp_path / "in.jsonl", TEXTS)
    deduplicate_files(
        MINHASH, tmp_path / "in.jsonl", tmp_path / "out", source=Texts(spec, max_df=5)
    )
    table = _frequencies.read(tmp_path / "out.stages/frequencies.npy")[0]
    expected = _frequencies.Frequencies(table.counts.shape[1], count_bytes=1)
    expected.add(open_matrix(vectorizer_of(spec).transform(TEXTS)))
    assert table.n_records == len(TEXTS)
    np.testing.assert_array_equal(table.counts, expected.counts)


@pytest.mark.parametrize("ranges_of_a_task", [1, 2, 1000])
def test_files_are_counted_together(tmp_path, short_ranges, set_limits, ranges_of_a_task):
    """Ranges and files add up: codes and the table are those of one file, whatever the threads, and
    however many tasks count."""
    source = Texts("word:3", max_df=5, min_own=3)
    write_lines(tmp_path / "one.jsonl", TEXTS)
    how = {"source": source, "threshold": 0.6}
    deduplicate_files(MINHASH, tmp_path / "one.jsonl", tmp_path / "one", **how)
    (tmp_path / "in").mkdir()
    for part in range(3):
        write_lines(tmp_path / f"in/{part}.jsonl", TEXTS[part * 40 : (part + 1) * 40 or None])
    assert len(TEXTS) <= 120
    short_ranges(3000)
    set_limits(_frequency_stages, _TASK_BYTES=3000 * ranges_of_a_task / 2**20)
    n_tasks = {}

    class Noting:
        def run(self, make, tasks):
            n_tasks[make.stage.name] = len(tasks)
            return map(make, tasks)

    for name, more in (("many", {"engine": Noting()}), ("threads", {"n_jobs": 2})):
        deduplicate_files(MINHASH, tmp_path / "in", tmp_path / name, **how, **more)
        for file in ("frequencies.npy", "codes.npy", "removed.npy"):
            one, other = (tmp_path / f"{output}.stages" / file for output in ("one", name))
            assert one.read_bytes() == other.read_bytes()
    n = n_tasks["frequencies"]
    assert (n == 1) == (ranges_of_a_task == 1000)
    assert (n == n_tasks["codes"]) == (ranges_of_a_task == 1)
    assert not list((tmp_path / "many.stages").glob("frequencies-part*"))


def test_tables_follow_the_format_of_their_inputs(tmp_path):
    write_lines(tmp_path / "in.jsonl", TEXTS[:60])

    def run(output, format):
        source = Texts("word:3", max_df=5, min_own=3, format=format)
        deduplicate_files(MINHASH, tmp_path / "in.jsonl", tmp_path / output, source=source)
        return (tmp_path / f"{output}.stages/frequencies.npy").read_bytes()

    assert run("out", "jsonl") != run("out", "txt") == run("new", "txt")


def test_tables_of_parts_follow_their_inputs(tmp_path, short_ranges):
    """An input that changes has another table, though there are as many parts."""
    short_ranges(2000)
    names = "a.jsonl", "b.jsonl"
    how = {"source": Texts("word:3", max_df=5, min_own=3), "threshold": 0.6}

    def run(output):
        deduplicate_files(MINHASH, [tmp_path / name for name in names], tmp_path / output, **how)
        return (tmp_path / f"{output}.stages/frequencies.npy").read_bytes()

    for name in names:
        write_lines(tmp_path / name, TEXTS[:60])
    before = run("out")
    write_lines(tmp_path / names[1], [text[::-1] for text in TEXTS[:60]])
    assert run("out") == run("new") != before
    assert (tmp_path / "out").read_bytes() == (tmp_path / "new").read_bytes()


@pytest.mark.parametrize("map", [MINHASH, ConsistentWeightedSampling(random_state=0)])
def test_what_codes_say(tmp_path, map):
    write_lines(tmp_path / "in.txt", TEXTS, "txt")
    source = Texts("word:3", max_df=5, min_own=3)
    deduplicate_files(map, tmp_path / "in.txt", tmp_path / "out", source=source)
    config = PackedCodes.load(tmp_path / "out.stages/codes.npy").config["texts"]
    table = _frequencies.read(tmp_path / "out.stages/frequencies.npy")[0]
    assert config["own"] == {"max_df": 5, "min_own": 3, "frequencies": table.digest()}
    assert table.n_records == len(TEXTS)


def test_deliveries_bring_their_table(tmp_path):
    """A later delivery is weighed by the table of the first one, through any number of them. Equal
    texts without n-grams are found within a run alone."""
    texts = [text for text in TEXTS if len(text.split()) >= 3]
    for part in range(3):
        write_lines(tmp_path / f"{part}.txt", texts[part::3], "txt")
    source = Texts("word:3", max_df=5, min_own=3)
    how = {"source": source, "threshold": 0.6, "recall": 1}
    deduplicate_files(MINHASH, tmp_path / "0.txt", tmp_path / "0", **how)
    deduplicate_files(
        MINHASH, tmp_path / "1.txt", tmp_path / "1", against=tmp_path / "0.stages", **how
    )
    done = deduplicate_files(
        MINHASH, tmp_path / "2.txt", tmp_path / "2",
        against=[tmp_path / "1.stages", tmp_path / "0.stages"], **how,
    )  # fmt: skip
    tables = [(tmp_path / f"{part}.stages/frequencies.npy").read_bytes() for part in range(3)]
    assert tables[0] == tables[1] == tables[2]
    given = Texts("word:3", max_df=5, min_own=3, frequencies=tmp_path / "0.stages/frequencies.npy")
    write_lines(tmp_path / "all.txt", [*texts[0::3], *texts[1::3], *texts[2::3]], "txt")
    whole = deduplicate_files(
        MINHASH, tmp_path / "all.txt", tmp_path / "all", **{**how, "source": given}
    )
    kept = [(tmp_path / f"{part}").read_text().splitlines() for part in range(3)]
    assert (tmp_path / "all").read_text().splitlines() == [*kept[0], *kept[1], *kept[2]]
    assert whole.n_kept == sum(map(len, kept))
    assert done.n_earlier


def test_texts_in_memory_by_the_table_of_a_run(tmp_path):
    """By the table of a run, texts in memory have the codes of files. By parts, and by an index,
    the same ones are new."""
    write_lines(tmp_path / "in.txt", TEXTS, "txt")
    source = Texts("word:3", max_df=5, min_own=3)
    deduplicate_files(MINHASH, tmp_path / "in.txt", tmp_path / "out", source=source, threshold=0.6)
    stages = tmp_path / "out.stages"
    minhash = MINHASH.fit_any_width()
    given = Texts("word:3", max_df=5, min_own=3, frequencies=stages / "frequencies.npy")
    codes = minhash.encode_texts(given, TEXTS, packed=True)
    of_files = PackedCodes.load(stages / "codes.npy")
    assert codes.config == of_files.config
    assert (codes.array == of_files.array).all()
    kept = np.load(stages / "kept.npy")
    assert not kept.all()
    expected = kept[codes.sampled].tolist()
    first = removals(codes[:50], 0.6)
    earlier = codes[np.setdiff1d(np.arange(50), first.removed)]
    found = np.concatenate([first.removed, removals(codes[50:], 0.6, earlier=earlier).removed + 50])
    assert (~np.isin(np.flatnonzero(codes.sampled), found)).tolist() == expected
    index = KernelNeighbors(MINHASH)
    new = [index.insert_new(codes[row : row + 1], threshold=0.6)[0] for row in range(len(codes))]
    index.save(tmp_path / "index")
    assert KernelNeighbors.load(tmp_path / "index").codes_.config == codes.config
    assert np.array(new)[codes.sampled].tolist() == expected


def test_what_counts_needs_a_table(tmp_path):
    """Nothing that says which n-grams count is left out in silence."""
    minhash = MinHash(n_hashes=8, random_state=0).fit_any_width()
    levels = ConsistentWeightedSampling(n_hashes=8, method="levels", random_state=0)
    levels.fit_any_width()
    for map, source, name in (
        (minhash, Texts("word:1", max_df=5), "max_df"), (levels, Texts("word:1", idf=2), "idf"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"{name} needs frequencies"):
            map.encode_texts(source, TEXTS)
    table = tmp_path / "table"
    for source, name in (
        (Texts("word:1", max_df=5), "max_df"),
        (Texts("word:1", max_df=5, frequencies=table), "max_df"),
        (Texts("word:1", idf=2, frequencies=table), "frequencies"),
    ):
        model = KernelClassifier(levels, vectorizer=source, random_state=0)
        with pytest.raises(ValueError, match=f"{name} is for encode_texts and for files"):
            model.fit(["a", "b"], [0, 1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "vectorized alike: max_df is 5 in one and None in the other"),
        ({"max_df": 6, "min_own": 3}, "max_df is 5 in one and 6 in the other"),
        ({"max_df": 5, "min_own": 4}, "min_own is 3 in one and 4 in the other"),
        ({"max_df": 5, "min_own": 3, "frequencies": "other.stages/frequencies.npy"},
         r"^one\.stages/codes\.npy and the inputs by the table other\.stages/frequencies\.npy .*"
         "frequencies is '[0-9a-f]{64}' in one and '[0-9a-f]{64}' in the other"),
    ],
)  # fmt: skip
def test_codes_of_two_tables_do_not_compare(tmp_path, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    for name, texts in (("one", TEXTS[::2]), ("other", TEXTS[1::2])):
        write_lines(tmp_path / f"{name}.txt", texts, "txt")
        source = Texts("word:3", max_df=5, min_own=3)
        deduplicate_files(MINHASH, f"{name}.txt", name, source=source)
    with pytest.raises(ValueError, match=message):
        deduplicate_files(
            MINHASH, "other.txt", "more", against="one.stages", source=Texts("word:3", **options)
        )


@pytest.mark.parametrize(
    ("earlier", "message"),
    [
        ({}, "max_df is None in one and 5 in the other"),
        ({"max_df": 5, "min_own": 3}, "frequencies is '[0-9a-f]{64}' in one and 'counted"),
    ],
)  # fmt: skip
def test_codes_without_their_table_do_not_compare(tmp_path, earlier, message):
    """Own n-grams do not compare to all n-grams, nor to those by a table that is lost."""
    write_lines(tmp_path / "in.txt", TEXTS, "txt")
    deduplicate_files(
        MINHASH, tmp_path / "in.txt", tmp_path / "one", source=Texts("word:3", **earlier)
    )
    (tmp_path / "one.stages" / "frequencies.npy").unlink(missing_ok=True)
    with pytest.raises(ValueError, match=message):
        deduplicate_files(
            MINHASH, tmp_path / "in.txt", tmp_path / "two", against=tmp_path / "one.stages",
            source=Texts("word:3", max_df=5, min_own=3),
        )  # fmt: skip
    assert not (tmp_path / "two").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_df": 0}, "max_df must be from 1 to"),
        ({"max_df": 2.5}, "max_df must be"),
        ({"max_df": 5, "min_own": 0}, "min_own must be from 1 to"),
        ({"frequencies": "t"}, "frequencies must be None without max_df"),
        ({"max_df": 5, "frequencies": 3}, "frequencies must be a path or None"),
        ({"min_own": 3}, "min_own must be left out without max_df, got 3"),
        ({"min_own": 3, "idf": 2.0}, "min_own must be left out without max_df"),
    ],
)
def test_limits_that_are_not_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        Texts("word:3", **options)


def test_tables_that_are_none(tmp_path):
    write_lines(tmp_path / "in.txt", TEXTS, "txt")
    (tmp_path / "bad.npy").write_bytes(b"no table")
    source = Texts("word:3", max_df=5, frequencies=tmp_path / "bad.npy")
    with pytest.raises(ValueError, match=r"bad\.npy.* a table of frequencies"):
        deduplicate_files(MINHASH, tmp_path / "in.txt", tmp_path / "out", source=source)
    source = Texts("word:3", max_df=5, frequencies=tmp_path / "none.npy")
    with pytest.raises(FileNotFoundError):
        deduplicate_files(MINHASH, tmp_path / "in.txt", tmp_path / "out", source=source)
    assert not (tmp_path / "out").exists()


def test_jobs_without_near_duplicates_refuse_it(tmp_path):
    write_lines(tmp_path / "in.jsonl", TEXTS)
    source = Texts("word:3", max_df=5, label_field="id")
    model = KernelClassifier(MinHash(n_hashes=8, random_state=0), vectorizer=HashingVectorizer())
    for job in (
        lambda: map_files(MINHASH, tmp_path / "in.jsonl", tmp_path / "out", source=source),
        lambda: train_files(model, tmp_path / "in.jsonl", tmp_path / "out", source=source),
    ):
        with pytest.raises(ValueError, match="max_df=5 is for pairs and dedup"):
            job()


def test_codes_have_no_ngrams(tmp_path):
    write_lines(tmp_path / "in.txt", TEXTS, "txt")
    map_files(MINHASH, tmp_path / "in.txt", tmp_path / "c.npy", source="word:3", format="npy")
    with pytest.raises(ValueError, match=r"max_df counts n-grams of texts, and .*c\.npy is a file"):
        similar_pairs_of_files(
            MINHASH, [tmp_path / "c.npy", tmp_path / "in.txt"], tmp_path / "out",
            source=Texts("word:3", max_df=5),
        )  # fmt: skip


def test_pipes(tmp_path):
    """They are read once, and counted all the same."""
    text = "\n".join(text for text in TEXTS if text).encode() + b"\n"
    source = Texts("word:3", max_df=5, min_own=3, format="txt")
    out = io.BytesIO()
    deduplicate_files(MINHASH, io.BytesIO(text), out, source=source, threshold=0.6)
    (tmp_path / "in.txt").write_bytes(text)
    deduplicate_files(MINHASH, tmp_path / "in.txt", tmp_path / "out", source=source, threshold=0.6)
    assert out.getvalue() == (tmp_path / "out").read_bytes()
    pairs = io.BytesIO()
    similar_pairs_of_files(MINHASH, io.BytesIO(text), pairs, source=source, threshold=0.6)
    similar_pairs_of_files(
        MINHASH, tmp_path / "in.txt", tmp_path / "pairs", source=source, threshold=0.6
    )
    assert pairs.getvalue() == (tmp_path / "pairs").read_bytes() != b""


@posix
def test_the_command(tmp_path):
    write_lines(tmp_path / "in.jsonl", TEXTS)
    arguments = ["--texts", "word:3", tmp_path / "in.jsonl", "--max-df", 5, "--min-own", 3]
    assert command("dedup", *arguments, "-o", tmp_path / "out").returncode == 0
    deduplicate_files(
        None, tmp_path / "in.jsonl", tmp_path / "again", source=Texts("word:3", max_df=5, min_own=3)
    )
    assert (tmp_path / "out").read_bytes() == (tmp_path / "again").read_bytes()
    table = tmp_path / "out.stages/frequencies.npy"
    done = command("pairs", "minhash", *arguments, "--frequencies", table, "-o", tmp_path / "p")
    assert done.returncode == 0
    listed = command("dedup", *arguments, "-o", tmp_path / "out", "--tasks").stdout.decode()
    assert [line.split()[0] for line in listed.splitlines()][:2] == ["frequencies", "codes"]
    refused = command("dedup", *arguments[:3], "--min-own", 0, "-o", tmp_path / "no").stderr
    assert b"--min-own must be" in refused


@posix
def test_large_clusters_are_hinted_at(tmp_path):
    """They may share no more than a frame."""
    for n, is_said in ((100, False), (101, True)):
        (tmp_path / "in.txt").write_text("a b c d e f\n" * n)
        said = command("dedup", tmp_path / "in.txt", "-o", tmp_path / "out").stderr
        assert (b"see --max-df" in said) is is_said
    said = command("dedup", tmp_path / "in.txt", "-o", tmp_path / "out", "--max-df", 9).stderr
    assert b"see --max-df" not in said
