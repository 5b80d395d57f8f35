"""The report of a deduplication: its parts, what a browser makes of it, and hostile texts."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from _data.chance import SEED

from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.files import Texts, _report, deduplicate_files
from sparsemaps.files._report import Group, Pair, Report, draw_pairs, render

HOSTILE = [
    "<script>document.title = 'run'</script>",
    "</pre></article><img src=x onerror=alert(1)>",
    "bell\x07 zero\x00 escape\x1b[31m",
    "turned \u202etxet\u202c and \u2066isolated",
    "&lt; & &amp; \"quoted\" 'too'",
    "lone \ud800 surrogate",
]


class Parts(HTMLParser):
    """The text of each section by its id, and the names of all elements."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.elements, self.inside = {}, set(), None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.elements.add(tag)
        if tag == "section":
            self.inside = dict(attributes)["id"]
            self.texts[self.inside] = ""

    def handle_endtag(self, tag):
        if tag == "section":
            self.inside = None

    def handle_data(self, text):
        if self.inside:
            self.texts[self.inside] += text


def report(pairs=(), **changes):
    values = {
        "settings": {"threshold": "0.8", "inputs": "<a>.jsonl"},
        "counts": {"records": 12345, "kept": 12340, "removed as near": 5, "bad": 0},
        "threshold": 0.8,
        "similarities": np.array([0.8, 0.81, 0.9, 1.0, 1.0]),
        "group_sizes": np.array([1, 1, 3]),
        "groups": [Group("7", 3, 0.81, "the text of seven")],
        "pairs": list(pairs),
    }
    return Report(**(values | changes))


def page(*pairs, **changes):
    return "".join(render(report(pairs, **changes)))


def test_every_part_is_there():
    texts = Parts(page(Pair("9", "7", 0.81, "a cat sat here", "a dog sat here"))).texts
    assert list(texts) == ["counts", "settings", "similarities", "sizes", "groups", "pairs"]
    assert "12,345" in texts["counts"]
    assert "bad" not in texts["counts"]  # there are none
    assert "<a>.jsonl" in texts["settings"]
    assert "7: 3 removed, the least similar 0.810" in texts["groups"]
    assert "the text of seven" in texts["groups"]
    for part in ("1 removal side", "Similarity 0.810", "Removed: 9", "Kept: 7"):
        assert part in texts["pairs"]


FEW_TOKENS = {
    "one word": ("a " * 10**5, "a " * 10**5 + "b"),
    "alternating words": ("a b " * 50_000, "b a " * 50_000),
    "two marks in another order": (".," * 50_000, "..,," * 25_000),
    "two marks in runs": ("...," * 25_000, ",,,." * 25_000),
    "random letters": tuple(
        "".join(np.random.default_rng(SEED + seed).choice(list("中文"), 10**5)) for seed in (0, 1)
    ),
    "random words": tuple(
        " ".join(np.random.default_rng(SEED + seed).choice(["a", "b", "c"], 10**5))
        for seed in (0, 1)
    ),
}


@pytest.mark.parametrize("name", FEW_TOKENS)
def test_work_for_texts_of_few_tokens_is_bounded(name, monkeypatch):
    """Each step of the search for a longest equal part looks up the places of words."""
    looked_up = []

    class Counted(list):
        def __iter__(self):
            looked_up.append(len(self))
            return super().__iter__()

    init = _report._BoundedMatcher.__init__

    def counting(self, one, other):
        init(self, one, other)
        self.b2j = {token: Counted(places) for token, places in self.b2j.items()}

    monkeypatch.setattr(_report._BoundedMatcher, "__init__", counting)
    one, other = FEW_TOKENS[name]
    shown = page(Pair("9", "7", 0.81, one, other))
    assert 0 < sum(looked_up) <= _report._MOST_COMPARISONS
    assert ("not marked" in shown) == ("<ins>" not in shown and "<del>" not in shown)
    assert ("not marked" in shown) == (name not in ("one word", "alternating words"))


def test_a_pair_beyond_the_bound_is_shown_without_marks(monkeypatch):
    pair = Pair("9", "7", 0.81, "a cat sat here", "a dog sat here")
    assert "<del>cat</del>" in page(pair)
    monkeypatch.setattr(_report, "_MOST_COMPARISONS", 5)
    shown = page(pair)
    assert "<del>" not in shown
    assert "<ins>" not in shown
    assert shown.count("[not marked, as too many words are repeated]") == 2
    assert "a cat sat here" in shown
    assert "a dog sat here" in shown


def test_a_text_that_begins_a_little_later_is_shown_from_its_start():
    text = " ".join(f"word{n}" for n in range(60))
    assert "characters before" not in page(Pair("9", "7", 0.9, text, f"a head {text}"))


def test_histograms_count_every_removal_and_every_witness():
    texts = Parts(page()).texts
    # Bins of none are left out.
    assert texts["similarities"].endswith("0.800 to 0.82020.900 to 0.92010.980 to 1.0002")
    assert texts["sizes"].endswith("123 to 41")


def test_bars_count_all_and_are_shares_of_the_most():
    """Also what is a little below the threshold, by exact kernels, or above 1, by an estimate."""
    bins = _report._similarity_bins(np.array([0.5, 0.8, 1.0, 1.001]), 0.7)
    assert bins[0] == ("0.500 to 0.550", 1)
    assert bins[-1] == ("0.950 to 1.000", 2)
    assert sum(n for _, n in bins) == 4
    table = _report._bars([("one", 4), ("two", 3), ("three", 1)])
    widths = re.findall(r"width:([0-9.]+)%", table)
    assert widths == ["100.00", "75.00", "25.00"]


def test_what_is_left_out_of_a_text_is_said():
    for page in (
        _report._excerpt("x" * 1000, 300),
        _report._group(_report.Group("a witness", 2, 0.9, "x" * 1000)),
    ):
        assert f">{'x' * 300}<i>[700 more characters]</i>" in f">{page}"
    assert _report._excerpt("x" * 300, 300) == "x" * 300


def test_equal_characters_before_a_difference():
    text = "abcdefgh"
    for n in range(9):
        assert _report._n_equal(text[:n] + "X", text[:n] + "Y") == n
        assert _report._n_equal(text[:n], text) == n


def test_long_words_are_compared_in_pieces():
    tokens = _report._TOKEN.findall("a" * 250 + " b")
    assert [*map(len, tokens)] == [100, 100, 50, 1, 1]


def test_the_part_of_a_longer_witness_is_shown():
    """The page shows it from a little before the place where the removed text stands."""
    part = " ".join(f"word{n}" for n in range(60))
    whole = " ".join(f"other{n}" for n in range(900)) + f" {part} " + "more " * 400
    text = Parts(page(Pair("9", "7", 0.81, part, whole))).texts["pairs"]
    assert f"[{whole.index(part) - _report._BEFORE:,} characters before]" in text
    assert text.count(part) == 2


def test_words_that_differ_are_marked_and_no_others():
    found = page(Pair("2", "1", 0.9, "a cat sat on 懒狗 mats", "a dog sat on 懒猫 mats"))
    assert ">a <del>cat</del> sat on 懒<del>狗</del> mats<" in found
    assert ">a <ins>dog</ins> sat on 懒<ins>猫</ins> mats<" in found


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_are_texts(text):
    plain = Parts(page(Pair("2", "1", 0.9, "a", "b"), groups=[Group("1", 1, 1, "b")]))
    found = page(Pair(text, text, 0.9, text, text + " and more"), groups=[Group(text, 1, 1, text)])
    parts = Parts(found)
    # The texts add no element but the marks of words, and no character that acts on its own.
    assert parts.elements <= plain.elements | {"del", "ins", "i"}
    assert all(character.isprintable() or character == "\n" for character in found)
    assert list(parts.texts) == list(plain.texts)


def test_texts_of_ten_megabytes_take_little_room():
    long = "word " * 2_000_000
    found = page(*[Pair("2", "1", 0.9, long, long[:9_000_000] + "other " + long[9_000_000:])] * 50)
    assert len(found) < 500_000
    assert "8,999,700 equal characters before" in found


def test_a_witness_without_a_text():
    texts = Parts(page(Pair("2", "june:17", 0.9, "here it is", None))).texts
    assert "here it is" in texts["pairs"]
    assert "Its text is not available." in texts["pairs"]


def test_nothing_was_removed():
    texts = Parts(page(similarities=np.empty(0), group_sizes=np.empty(0, int), groups=[])).texts
    assert texts["similarities"].endswith("None.")
    assert texts["sizes"].endswith("None.")


def test_pairs_near_the_threshold_are_drawn_most():
    similarities = np.linspace(0.8, 1, 10_001)
    drawn = similarities[draw_pairs(similarities, 0.8, 1000)]
    assert len(np.unique(drawn)) == 1000
    assert (np.diff(drawn) >= 0).all()
    # A removal of similarity s is drawn in proportion to 1 / (5 (s - .8) + 1/19): ln 9.5 + ... of
    # the weight lies below .9.
    share = np.log(0.5 * 19 + 1) / np.log(19 + 1)
    assert abs((drawn < 0.9).mean() - share) < 5 * np.sqrt(share * (1 - share) / 1000)


@pytest.mark.parametrize("n", [0, 1, 49])
def test_few_removals_are_all_drawn(n):
    assert sorted(draw_pairs(np.full(n, 0.9), 0.8).tolist()) == list(range(n))


@pytest.mark.skipif(shutil.which("chromium") is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_every_part(tmp_path, width):
    path = tmp_path / "report.html"
    pairs = [Pair(str(i), "1", 0.9, text, text + " more") for i, text in enumerate(HOSTILE)]
    # `title` would change if a script ran; a part that is wider than the window would scroll.
    path.write_text(page(*pairs), encoding="utf-8", errors="strict")
    shown = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},900", "--dump-dom",
         path.as_uri()],
        capture_output=True, text=True, timeout=100, check=True,
    ).stdout  # fmt: skip
    parts = Parts(shown)
    assert list(parts.texts) == ["counts", "settings", "similarities", "sizes", "groups", "pairs"]
    assert "<title>Removed records</title>" in shown
    assert not parts.elements & {"script", "img"}
    for text in ("<script>document.title", "[U+202E]", "␇"):
        assert text in parts.texts["pairs"]


# ---- the report of a job -------------------------------------------------------------------------

TEXTS = [
    "the committee will meet on monday at ten in the large room",
    "prices of grain rose again last week as the harvest was late",
    "the committee will meet on monday at ten in the small room",
    "too short",
    "prices of grain rose again last week as the harvest was late",
]


def write_texts(folder, kind):
    """The texts in two files, so that records are numbered through both."""
    paths = [folder / f"one.{kind}", folder / f"two.{kind}"]
    for path, texts in zip(paths, (TEXTS[:2], TEXTS[2:]), strict=True):
        if kind == "txt":
            path.write_text("\n".join(texts) + "\n")
        elif kind == "jsonl":
            path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        else:
            pa = pytest.importorskip("pyarrow")
            pq = pytest.importorskip("pyarrow.parquet")
            pq.write_table(pa.table({"text": texts}), path)
    return paths


@pytest.mark.parametrize("kind", ["txt", "jsonl", "parquet"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_the_report_of_a_job_shows_texts_of_the_right_records(tmp_path, kind, dry_run):
    paths = write_texts(tmp_path, kind)
    result = deduplicate_files(
        None, paths, tmp_path / f"out.{kind}", source="word:2", threshold=0.5, dry_run=dry_run,
        report=tmp_path / "report.html",
    )  # fmt: skip
    assert (result.n_records, result.n_kept) == (5, 3)
    assert (tmp_path / f"out.{kind}").exists() == (not dry_run)
    texts = Parts((tmp_path / "report.html").read_text()).texts
    assert "records5kept3" in texts["counts"]
    assert "threshold0.5" in texts["settings"]
    first, second = texts["pairs"].split("Similarity")[1:]
    assert "Removed: 3" in first
    assert f"{TEXTS[2]}Kept: 1{TEXTS[0]}" in first
    assert f" 1.000Removed: 5{TEXTS[4]}Kept: 2{TEXTS[1]}" in second
    assert f"1: 1 removed, the least similar{first[:6]}{TEXTS[0]}" in texts["groups"]


def test_rows_of_libsvm_files_and_of_an_earlier_delivery(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1 2:1 3:1\n# no row\n0 7:1 8:1\n1 1:1 2:1 3:1  # the copy\n")
    deduplicate_files(None, path, tmp_path / "first.svm", report=tmp_path / "a.html")
    pairs = Parts((tmp_path / "a.html").read_text()).texts["pairs"]
    assert "Removed: 31 1:1 2:1 3:1  # the copyKept: 11 1:1 2:1 3:1" in pairs
    earlier = tmp_path / "first.svm.stages"
    deduplicate_files(
        None, path, tmp_path / "second.svm", against=earlier, report=tmp_path / "b.html"
    )
    pairs = Parts((tmp_path / "b.html").read_text()).texts["pairs"]
    assert f"Removed: 20 7:1 8:1Kept: {earlier}:2Its text is not available." in pairs


@pytest.mark.parametrize(("map", "words"), [
    (None, "jaccard"),
    (ConsistentWeightedSampling(n_hashes=64, random_state=0), "kernel of the map"),
])  # fmt: skip
def test_the_similarity_is_that_of_the_map(tmp_path, map, words):
    (tmp_path / "in.svm").write_text("1 1:1 2:1\n0 7:1\n")
    deduplicate_files(map, tmp_path / "in.svm", tmp_path / "out", report=tmp_path / "r.html")
    assert f"similarity{words}" in Parts((tmp_path / "r.html").read_text()).texts["settings"]


def test_links_lead_from_a_witness_to_its_pairs_and_back():
    pairs = [Pair("9", "7", 0.81, "a cat", "a dog"), Pair("8", "6", 0.9, "x", "y"),
             Pair("5", "7", 0.95, "a cat", "a bat")]  # fmt: skip
    shown = page(*pairs)
    group = shown.partition('id="witness-0"')[2].partition("</article>")[0]
    assert re.findall(r'href="#([^"]*)">([^<]*)<', group) == [("pair-0", "9"), ("pair-2", "5")]
    found = dict(re.findall(r'<article id="(pair-\d)">(.*?)</article>', shown, re.DOTALL))
    assert {name: re.findall('href="#([^"]*)"', text) for name, text in found.items()} == {
        "pair-0": ["witness-0"], "pair-1": [], "pair-2": ["witness-0"]
    }  # fmt: skip
    targets = set(re.findall('href="#([^"]*)"', shown))
    assert targets <= set(re.findall('id="([^"]*)"', shown))


def test_removals_of_several_inputs_stand_apart(tmp_path):
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text(f"{TEXTS[0]}\n{TEXTS[2]}\n")
    two.write_text(f"{TEXTS[1]}\n{TEXTS[4]}\n{TEXTS[1]}\n")
    deduplicate_files(
        None, [one, two], tmp_path / "out.txt", source="word:2", threshold=0.5,
        report=tmp_path / "r.html",
    )  # fmt: skip
    shown = (tmp_path / "r.html").read_text()
    parts = re.findall(r"<details open><summary>(.*?)</summary>(.*?)</details>", shown, re.DOTALL)
    assert [title for title, _ in parts] == [
        f"{one}: 1 removal", f"{two}: 2 removals"
    ]  # fmt: skip
    assert [text.count("Similarity") for _, text in parts] == [1, 2]


def test_settings_are_said_in_short(tmp_path):
    (tmp_path / "in.txt").write_text("a b c d\n")
    source = Texts("word:2", normalize="plain", min_length=2)
    deduplicate_files(
        MinHash(n_hashes=64, random_state=3), tmp_path / "in.txt", tmp_path / "out", source=source,
        report=tmp_path / "r.html",
    )  # fmt: skip
    settings = Parts((tmp_path / "r.html").read_text()).texts["settings"]
    for text in ("mapMinHash, bits 8, n_hashes 64, seed 3", "n-gramsword:2, normalize plain, "
                 "min_length 2", "againstnothing"):  # fmt: skip
        assert text in settings


def test_what_the_report_is_not_for(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("one\n")
    with pytest.raises(ValueError, match="the report"):
        deduplicate_files(None, path, tmp_path / "o.txt", report=path)
    assert path.read_text() == "one\n"
