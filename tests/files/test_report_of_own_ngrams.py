"""The report of a deduplication by own n-grams: which records are judged by them, and frames."""

import html
import random
import re

import numpy as np
import pytest
from _data.chance import SEED
from _data.dedup_records import shingles, write_lines

from sparsemaps import MinHash
from sparsemaps.files import Texts, _frames, _report, deduplicate_files
from sparsemaps.files._frames import FrameGroup
from sparsemaps.files._report import FrameExample, OwnNgramsShown, Pair, Report, render

MINHASH = MinHash(n_hashes=64, random_state=0)
FRAMES = {"site": (60, 12, 30), "list": (40, 20, 20)}
"""Words of a frame, own words, and how many records have it."""


def words(draw, n):
    return [f"w{draw.randrange(10**6)}" for _ in range(n)]


def make_records():
    draw = random.Random(SEED)
    records = []
    for n_frame, n_own, n in FRAMES.values():
        frame = words(draw, n_frame)
        half = n_frame // 2
        records += [[*frame[:half], *words(draw, n_own), *frame[half:]] for _ in range(n)]
    original = words(draw, 50)  # a family, which has hardly a run of its own
    for _ in range(25):
        copy = list(original)
        copy[draw.randrange(50)] = words(draw, 1)[0]
        records.append(copy)
    records += [words(draw, 30) for _ in range(10)]
    records += [["short"], []]
    texts = [" ".join(record) for record in records]
    texts += texts[:1]
    draw.shuffle(texts)
    return texts


TEXTS = make_records()
MAX_DF, MIN_OWN = 15, 8
OPTIONS = {"source": Texts("word:3", max_df=MAX_DF, min_own=MIN_OWN), "threshold": 0.6}


def sections(page):
    """The text of each section by its id, and which of it is pale."""
    found = {}
    for name, content in re.findall(r'<section id="([a-z]+)">(.*?)</section>', page, re.DOTALL):
        pale = re.findall(r'<span class="common">(.*?)</span>', content, re.DOTALL)
        plain = html.unescape(re.sub(r"<[^>]*>", " ", content))
        found[name] = " ".join(plain.split()), pale
    return found


def report_of(folder, texts=TEXTS, **more):
    write_lines(folder / "in.jsonl", texts)
    deduplicate_files(
        MINHASH, folder / "in.jsonl", folder / "out", report=folder / "report.html",
        **{**OPTIONS, **more},
    )  # fmt: skip
    return (folder / "report.html").read_text()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return report_of(tmp_path_factory.mktemp("report"))


def common_sets():
    """The runs of three words of each text, and those that too many have."""
    sets = [shingles(text) for text in TEXTS]
    every = [run for one in sets for run in one]
    common = {run for run in set(every) if every.count(run) > MAX_DF}
    return sets, common


def test_records_are_counted_by_what_they_are_judged_by(page):
    text, _ = sections(page)["own"]
    sets, common = common_sets()
    by_own = [one for one in sets if len(one - common) >= MIN_OWN]
    with_frame = sum(1 for one in by_own if one & common)
    assert 0 < with_frame < len(by_own) < len(TEXTS)
    assert f"judged by own n-grams {len(by_own)} " in text
    assert f"of them, with common n-grams too {with_frame} " in text
    assert text.endswith(f"judged by all n-grams {len(TEXTS) - len(by_own)}")
    assert "it is in more than 15 records" in text
    assert "8 own n-grams or more" in text


def test_each_frame_has_its_records_and_an_example(page):
    text, pale = sections(page)["frames"]
    found = re.findall(FRAME, text)
    sets, common = common_sets()
    expected = []
    for n_frame, n_own, n in FRAMES.values():
        n_common, n_runs = n_frame - 4, n_frame + n_own - 2
        rows = [row for row, one in enumerate(sets) if (len(one & common), len(one)) ==
                (n_common, n_runs)]  # fmt: skip
        assert len(rows) == n + (n == 30)  # one of the first kind is there twice
        expected.append((str(len(rows)), str(rows[0] + 1), str(n_common), str(n_runs)))
    assert found == expected
    # The families' records are judged by all of their runs, and have no frame.
    for (n_frame, _, _), (_, record, *_) in zip(FRAMES.values(), expected, strict=True):
        own = TEXTS[int(record) - 1].split()[n_frame // 2 :][: -n_frame // 2]
        assert own[-1] in text
        assert not any(word in " ".join(pale) for word in own)


def test_the_sides_of_a_removal_say_which_ngrams_count(page):
    shown, pale = sections(page)["pairs"]
    sets, common = common_sets()
    pairs = re.findall(r"Removed: (\d+) judged by (.*?) n-grams", shown)
    assert len(pairs) > 20
    for record, said in pairs:
        one = sets[int(record) - 1]
        n_own = len(one - common)
        assert said == (f"{n_own} own" if n_own >= MIN_OWN else f"all {len(one)}")
    assert "; its own: 3" in shown
    assert len(pale) > len(pairs)


def test_without_max_df_nothing_is_said_of_own_ngrams(tmp_path):
    page = report_of(tmp_path, source=Texts("word:3"))
    assert not {"own", "frames"} & set(sections(page))
    assert "judged by" not in page
    assert '<span class="common">' not in page


def test_ranges_and_a_given_table_have_the_same_report(tmp_path, short_ranges, page):
    expected = sections(page)
    (tmp_path / "one").mkdir()
    report_of(tmp_path / "one")
    (tmp_path / "given").mkdir()
    table = tmp_path / "one/out.stages/frequencies.npy"
    source = Texts("word:3", max_df=MAX_DF, min_own=MIN_OWN, frequencies=table)
    short_ranges(3000)
    (tmp_path / "many").mkdir()
    for folder, more in (("many", {}), ("given", {"source": source, "dry_run": True})):
        found = sections(report_of(tmp_path / folder, **more))
        for name in ("own", "frames", "pairs"):
            assert found[name] == expected[name]


FRAME = r"(\d+) records, such as (\d+) common, and not counted: (\d+) of its (\d+) n-grams"


def test_records_of_frames_are_numbered_through_all_inputs(tmp_path, page):
    (tmp_path / "in").mkdir()
    draw = random.Random(SEED + 1)
    write_lines(tmp_path / "in/0.jsonl", [" ".join(words(draw, 20)) for _ in range(12)])
    write_lines(tmp_path / "in/1.jsonl", TEXTS)
    deduplicate_files(
        MINHASH, tmp_path / "in", tmp_path / "out", report=tmp_path / "r", dry_run=True, **OPTIONS
    )
    found = re.findall(FRAME, sections((tmp_path / "r").read_text())["frames"][0])
    moved = [(n, str(int(record) - 12), *counts) for n, record, *counts in found]
    assert moved == re.findall(FRAME, sections(page)["frames"][0])


def test_a_report_without_records_or_frames(tmp_path):
    for texts in ([], ["a b c d e f g h i j k l m"]):
        found = sections(report_of(tmp_path, texts))
        assert found["frames"][0] == "Frames None."
        assert f"judged by own n-grams {len(texts)} " in found["own"][0]


# ---- parts of it ---------------------------------------------------------------------------------


class FakeOwn:
    """Columns of a text are its words as numbers; those below 100 are common."""

    max_df = 4

    class vectorizer:
        @staticmethod
        def transform(texts):
            (text,) = texts
            columns = np.array(text.split(), int)
            return type("X", (), {"indices": columns})

    @staticmethod
    def common(columns):
        return columns < 100


def test_groups_with_half_of_the_common_ngrams_of_each_other_are_one_frame():
    texts = {0: "1 2 3 4 100", 1: "1 2 9 8 101 102", 2: "1 2 3 4 5 6 7 8 9", 3: "20 21", 4: "30"}
    groups = [FrameGroup(0, 3), FrameGroup(1, 5), FrameGroup(2, 4), FrameGroup(3, 3),
              FrameGroup(4, 2), FrameGroup(5, 9)]  # fmt: skip
    found = _frames.frames_of(groups, texts, FakeOwn())
    # Two of four common ones are half of each; four of nine are not. Two records are too few; the
    # last one's text is not available.
    assert found == [
        _frames.Frame(8, 0, 4, 5),
        _frames.Frame(4, 2, 9, 9),
        _frames.Frame(3, 3, 2, 2),
    ]


def test_the_largest_groups_are_remembered(tmp_path, monkeypatch, page):
    expected = sections(page)["frames"]
    monkeypatch.setattr(_frames, "_MOST_GROUPS", 2)
    assert sections(report_of(tmp_path))["frames"] == expected


def shown(is_common, **values):
    own = OwnNgramsShown("About <own> ones.", {"a <count>": 1}, values.pop("frames", []), is_common)
    empty = {"similarities": np.ones(1), "group_sizes": np.ones(1, int), "groups": [], "pairs": []}
    return "".join(render(Report({}, {}, 0.8, own=own, **(empty | values))))


def of_letter(letter):
    return lambda text: np.array([c == letter for c in text], bool)


def test_common_characters_are_pale_within_marks_too():
    pair = Pair("2", "1", 0.9, "xx <b> xa", "xx <b> ya", "", "by <these>", "by those")
    found = shown(of_letter("x"), pairs=[pair])
    assert '<pre dir="auto"><span class="common">xx</span> &lt;b&gt; <del><span' in found
    assert '<del><span class="common">x</span>a</del>' in found
    assert "<ins>ya</ins>" in found
    assert '<p class="note">by &lt;these&gt;</p>' in found
    assert '<p class="note">by those</p>' in found
    assert "About &lt;own&gt; ones." in found
    assert "a &lt;count&gt;" in found


def test_a_text_is_shaded_by_what_stands_around_its_part():
    """Only the part and a margin are looked at, however long the text is."""
    asked = []

    def is_common(text):
        asked.append(text)
        return np.array([c == "x" for c in text], bool)

    shade = _report._Shades(is_common)
    text = "".join(random.Random(SEED).choice("xo") for _ in range(5000))
    for start, length in ((0, 10), (100, 1500), (2000, 1500), (4900, 1500)):
        found = shade(text, start, length)
        assert found.tolist() == [c == "x" for c in text[start : start + length]]
        margin = _report._MARGIN
        assert asked[-1] == text[max(0, start - margin) : start + length + margin]


@pytest.mark.parametrize("before", [0, 50, 400])
def test_an_example_begins_a_little_before_its_longest_common_part(before):
    text = "xx " + "o" * before + "x" * 2000 + "oo"
    found = shown(of_letter("x"), frames=[FrameExample(7, "<one>", "so many", text)])
    part = sections(found)["frames"][0]
    assert "7 records, such as <one> so many" in part
    start = max(0, 3 + before - _report._BEFORE_FRAME)
    assert (f"[{start:,} characters before]" in part) == (start > 0)
    assert f"[{len(text) - start - _report._FRAME_WINDOW:,} more characters]" in part
