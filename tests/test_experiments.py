"""The experiments' machinery: cells are kept, data sets that are missing are marked, tables."""

import csv
import json
import lzma
import sys
from pathlib import Path

import numpy as np
import pytest
from _data.chance import SEED

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(
    not (ROOT / "experiments" / "runner.py").exists(), reason="the sources are not beside the tests"
)


@pytest.fixture
def experiments(monkeypatch):
    """The package beside the tests, with matplotlib."""
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(str(ROOT))
    import experiments.__main__ as main

    yield main
    for name in [name for name in sys.modules if name.split(".")[0] == "experiments"]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def data(tmp_path):
    """A directory with a small data set in place of splice's."""
    from sparsemaps.libsvm import dump_svmlight_file

    rng = np.random.default_rng(SEED)
    directory = tmp_path / "data"
    directory.mkdir()
    for part, n in (("train", 60), ("test", 30)):
        y = np.arange(n) % 2
        X = rng.gamma(1.0, size=(n, 6)) + 3 * y[:, None]
        dump_svmlight_file(X, y, directory / f"splice.{part}.svm.xz", zero_based=False)
    return directory


def test_a_run_keeps_its_cells_and_marks_what_is_missing(experiments, data, tmp_path):
    results = tmp_path / "results"
    arguments = ["--data", str(data), "-o", str(results), "--quick", "--only", "li-table-2"]
    experiments.main(arguments)
    kept = sorted((results / "cells").glob("*.json"))
    assert kept
    record = json.loads(kept[0].read_text(encoding="utf-8"))
    assert {"function", "parameters", "result", "seconds", "versions"} <= set(record)
    table = (results / "li-table-2.md").read_text(encoding="utf-8")
    lines = {line.split(" | ")[0].strip("| "): line for line in table.splitlines() if "|" in line}
    assert "not run" not in lines["Splice"]
    assert lines["USPS"].count("not run") == 5
    assert lines["WebspamN1-20k"].count("not run") == 5
    assert "95.2" in lines["Splice"]  # the paper's
    index = (results / "index.md").read_text(encoding="utf-8")
    assert str(tmp_path) not in index.replace(str(results), "")
    assert "| splice | yes |" in index
    assert "| usps | no |" in index
    # A second run finds all of it: it does not even read the data.
    times = [path.stat().st_mtime_ns for path in kept]
    (data / "splice.test.svm.xz").write_bytes(b"damaged")
    (results / "index.md").write_text("## How it was run\n\nBy hand.\n", encoding="utf-8")
    experiments.main(arguments)
    index = (results / "index.md").read_text(encoding="utf-8")
    assert "| splice | yes |" in index
    assert index.endswith("## How it was run\n\nBy hand.\n")  # a part was run
    assert [path.stat().st_mtime_ns for path in kept] == times


def test_a_limit_of_time_leaves_the_rest(experiments, data, tmp_path):
    results = tmp_path / "results"
    arguments = ["--data", str(data), "-o", str(results), "--quick", "--minutes", "0"]
    experiments.main([*arguments, "--only", "li-figure-8", "--only", "li-table-1"])
    assert not list((results / "cells").glob("*.json"))
    assert "not run" in (results / "li-figure-8.svg").read_text(encoding="utf-8")
    table = (results / "li-table-1.md").read_text(encoding="utf-8")
    assert "not run" in next(line for line in table.splitlines() if line.startswith("| Splice"))


def test_preparation(experiments, data, monkeypatch):
    from experiments import datasets

    plain = datasets.load(str(data), "splice")
    assert plain.X.shape == (60, 6)
    assert datasets.load(str(data), "splice", 20).X.shape == (20, 6)
    scaled = datasets.load(str(data), "splice", None, "max")
    assert scaled.X.max() == pytest.approx(1)
    ranged = datasets.load(str(data), "splice", None, "range")
    assert ranged.X.min() == 0
    assert ranged.X.max() == pytest.approx(1)
    unit = datasets.load(str(data), "splice", None, "unit")
    assert np.allclose(np.asarray(unit.X.power(2).sum(axis=1)), 1)
    standard = datasets.load(str(data), "splice", None, "standard")
    assert np.allclose(standard.X.std(axis=0), 1)
    assert not datasets.has(str(data), "mnist")


def test_every_data_set_has_an_address_and_a_licence(experiments):
    from experiments import datasets, nonlinear

    for source, *_ in nonlinear.AT_HAND.values():
        assert source in datasets.SOURCES
    for source in datasets.SOURCES.values():
        assert source.address.startswith("http")
        assert source.licence
    assert len(nonlinear.PUBLISHED) == 35


def test_ridge_and_its_parts_learn(experiments, tmp_path):
    from experiments import regression
    from sparsemaps.libsvm import dump_svmlight_file

    rng = np.random.default_rng(SEED)
    for part, n in (("train", 200), ("test", 100)):
        X = rng.normal(size=(n, 3))
        dump_svmlight_file(X, X[:, 0] + 2, tmp_path / f"cpu_act.{part}.svm", zero_based=False)
    kinds = ("Fourier", "binning", "Fourier and binning", "Nystroem", "Fastfood")
    for kind in (*kinds, "exact Gaussian", "exact Matern", "Fastfood, Matern"):
        found = regression.ridge(str(tmp_path), "cpu_act", kind, 150, 0, None, [-4, -2])
        assert found["error"] < 0.9  # the mean alone: 1


def lines_of(page):
    """The lines of a table by their first cell."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if "|" in line]
    return {line.split(" | ")[0].strip("| "): line for line in lines}


def test_trees_stand_beside_the_kernels(experiments, data, tmp_path):
    results = tmp_path / "results"
    experiments.main(["--data", str(data), "-o", str(results), "--quick", "--only", "li-trees"])
    lines = lines_of(results / "li-trees.md")
    assert "not run" not in lines["Splice"]
    assert lines["Spam"].count("not run") == 8


def test_other_tasks_have_no_figures_beside_the_papers(experiments, tmp_path):
    from sparsemaps.libsvm import dump_svmlight_file

    for part in ("train", "test"):
        X = np.random.default_rng(SEED).gamma(1.0, size=(40, 5))
        file = tmp_path / f"covtype29k.{part}.svm"
        dump_svmlight_file(X, np.arange(40) % 7, file, zero_based=False)
    results = tmp_path / "results"
    tables = {"pham-table-1": 3, "pham-table-2": 3, "pham-table-3": 2, "rahimi-table-1": 6,
              "fastfood-table-2": 9}  # fmt: skip
    only = [part for name in tables for part in ("--only", name)]
    experiments.main(["--data", str(tmp_path), "-o", str(results), "--quick", *only])
    assert not list((results / "cells").glob("*.json"))
    for name, n_figures in tables.items():
        lines = lines_of(results / f"{name}.md")
        (line,) = (lines[key] for key in lines if key in ("Covertype", "Forest Cover", "Forest"))
        assert line.count("not the paper's task") == n_figures


def test_raw_pages_to_accuracy_and_times(experiments, tmp_path):
    rng = np.random.default_rng(SEED)
    pages = []
    for number in range(24):
        letters = "abcdefgh" if number % 2 else "fghijklm"
        text = "".join(rng.choice(list(letters), 2000))
        pages.append({"id": number, "text": text, "label": letters[:2]})
    pages.append({**pages[0], "id": 24, "copy_of": 0})
    file = tmp_path / "pages.jsonl"
    file.write_text("\n".join(map(json.dumps, pages)), encoding="utf-8")
    results = tmp_path / "results"
    experiments.main(["--data", str(tmp_path), "-o", str(results), "--quick", "--only", "li-pages"])
    table = (results / "li-pages.md").read_text(encoding="utf-8")
    assert "not run" not in table
    assert "12 training and 12 test rows" in table  # a copy is in neither
    times = (results / "li-pages-times.md").read_text(encoding="utf-8")
    assert "25 pages" in times


def test_spoiled_parts_keep_their_length(experiments):
    from experiments import pages

    parts = [b"a" * 6400, b"b" * 6450] * 20
    labels = np.array([0, 1] * 20)
    spoiled = pages.spoil(parts, labels, np.random.default_rng(SEED))
    assert [len(part) for part in spoiled] == [len(part) for part in parts]
    shares = [part.count(b"ab"[1 - label]) / len(part)
              for part, label in zip(spoiled, labels, strict=True)]  # fmt: skip
    assert max(shares) <= pages.MOST_SPOILED
    assert min(shares) < 0.1
    assert max(shares) > 0.4


def test_rows_that_are_weighted_are_not_weighted_again(experiments):
    import scipy.sparse as sp

    from experiments import datasets, equal_bytes

    X = sp.csr_array(np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]]))
    split = datasets.Split(X, None, X, None)
    assert equal_bytes.tfidf(split, "rcv1_binary20k")[0] is X
    weighted, _ = equal_bytes.tfidf(split, "sector")
    assert np.allclose(weighted.power(2).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "/nowhere", "-o", "x"], "not a directory"),
        (["--data", ".", "-o", "x", "--only", "figure-99"], "no experiment is named figure-99"),
        (["--data", ".", "-o", "x", "--seeds", "0"], "must be at least 1"),
    ],
)
def test_errors(experiments, arguments, message, capsys):
    with pytest.raises(SystemExit):
        experiments.main(arguments)
    assert message in capsys.readouterr().err


def test_what_tables_of_frequencies_hold(experiments, tmp_path):
    import experiments.frequencies as frequencies

    frequencies.main(["-o", str(tmp_path), "--buckets", "500"])
    models = (tmp_path / "frequencies-models.csv").read_text().splitlines()
    near = (tmp_path / "frequencies-near-duplicates.csv").read_text().splitlines()
    assert len(models) == 13
    assert len(near) == 13


def test_words_that_small_tables_weight(experiments, tmp_path):
    import experiments.frequencies as frequencies
    from sparsemaps.libsvm import dump_svmlight_file

    rng = np.random.default_rng(SEED)
    for part in ("train", "test"):
        y = np.arange(60) % 2
        X = rng.poisson(0.2, size=(60, 40)) + 3 * (np.arange(40) == y[:, None])
        dump_svmlight_file(X.astype(float), y, tmp_path / f"news20_bydate.{part}.svm")
    table = frequencies.of_words(str(tmp_path))
    assert [row[0] for row in table] == ["4,194,304", "65,536", "4,096", "512", "64", "8"]
    assert float(table[0][2]) > 90


def test_codes_of_weighted_words(experiments):
    import scipy.sparse as sp

    from experiments import datasets, idf

    rng = np.random.default_rng(SEED)
    y = np.arange(80) % 2
    own = np.arange(40) % 2 == y[:, None]  # the words of each class
    X = sp.csr_array(rng.poisson(np.where(own, 0.5, 0.02)).astype(float))
    split = datasets.Split(X[:40], y[:40], X[40:], y[40:])
    for setting in (idf.Setting(None, n_hashes=64), idf.Setting(2, n_hashes=64)):
        assert idf.of_codes(split, setting) > 90
    assert idf.of_linear(split, "LinearSVC") > 90
    assert len({idf.name_of(setting) for setting in idf.SETTINGS}) == len(idf.SETTINGS)


def test_counts_are_folded_like_bits(experiments):
    from experiments import molecules

    rows = molecules.rows_of([{5: 2, 5 + molecules.N_BITS: 1}, {2**32 - 1: 4}])
    before = rows.copy()
    folded = molecules.folded(rows)
    assert folded[0, 5] == 3
    assert folded[1, molecules.N_BITS - 1] == 4
    assert folded.sum() == 7
    assert abs(rows - before).sum() == 0


def test_kmers_of_both_strands_are_one(experiments):
    from experiments import sequences

    a, b = sequences.kmers("ACGTNGGA", 3), sequences.kmers("TCCNACGT", 3)
    assert a == b == {"ACG": 2, "GGA": 1}
    assert sequences.similarity(a, sequences.kmers("ACG", 3)) == 1 / 3
    assert sequences.similarity(a, sequences.kmers("ACG", 3), counts=False) == 1 / 2


def test_codes_of_sequences_estimate_both_similarities(experiments):
    from experiments import sequences

    rng = np.random.default_rng(SEED)
    gene = "".join(rng.choice([*"ACGT"], 800))
    genes = [gene, gene[:500] + "NN" + gene[:500]]
    counters = [sequences.kmers(each, 7) for each in genes]
    for counts in (True, False):
        exact = sequences.exact(counters, counts=counts)[0, 1]
        words = sequences.words(7)
        estimate = sequences.of_codes(genes, words, SEED, counts=counts, n=1024)[0, 1]
        assert abs(estimate - exact) < 5 * np.sqrt(exact * (1 - exact) / 1024)


def test_programs_of_the_same_source(experiments, tmp_path):
    from experiments import programs

    similarity = np.array([[9, 3, 1, 0], [3, 9, 2, 0], [1, 2, 9, 2], [0, 0, 2, 9]])
    sources = np.array(["a", "a", "b", "c"])
    assert programs.same_source(similarity, sources) == 100
    assert programs.same_source(similarity[:3, :3] * 0, np.array(["a", "a", "b"])) == 50
    (tmp_path / "program").write_bytes(b"\x7fELF\0\0a line\0short\0\xffanother line\n")
    (tmp_path / "text").write_text("a line")
    (found,) = programs.programs([str(tmp_path)])
    assert programs.strings(found) == b"a line\nanother line"
    agreements = programs.of_codes([programs.strings(found), b"another line", b"else"], 64, 8)
    assert 0 < agreements[0, 1] < 64
    assert agreements[0, 0] == 64


def test_edits_that_leave_a_near_copy(experiments, tmp_path):
    import csv
    import lzma

    from experiments import edits, own_ngrams

    rng = np.random.default_rng([SEED, 1])  # whose words no edit adds
    texts = [" ".join(own_ngrams.words(rng, 80)) for _ in range(120)]
    with lzma.open(tmp_path / "texts.jsonl.xz", "wt") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in texts)
    edits.main(["--data", str(tmp_path), "-o", str(tmp_path), "--texts", "120", "--modules", "1"])
    with open(tmp_path / "near-duplicates-edits.csv", newline="") as file:
        rows = {row["edit"]: row for row in csv.DictReader(file)}
    assert rows["other line breaks"]["5 words"] == "100 / 100"
    assert rows["other line breaks"]["5 characters"] == "0 / 0"
    assert rows["capitals"]["5 words"] == "100 / 100"
    assert rows["a licence of 200 words added"]["5 words"] == "0 / 0"
    assert rows["a licence of 200 words added"]["own 5 words"] == "100 / 100"
    assert rows["code: blanks around signs"]["5 tokens"] == "100 / 100"
    assert rows["the last third cut"]["1 word"] == "100 / 0"
    assert edits.renamed("a = 1\nprint(a, ab)") == "my_a = 1\nprint(my_a, ab)"
    assert edits.moved("a b c d e f g h") == "a b e f c d g h"


def test_own_ngrams_of_corpora(experiments, tmp_path, monkeypatch):
    """Copies are found by all n-grams and by own ones; pages of a frame are removed by all."""
    from experiments import corpora, own_ngrams

    rng = np.random.default_rng(SEED)

    def texts_and_copies():
        texts = [" ".join(own_ngrams.words(rng, 80)) for _ in range(60)]
        yield from ({"text": text, "id": str(i), "label": "x"} for i, text in enumerate(texts))
        for i, text in enumerate(texts[:20]):
            copy = corpora.edited(text, 1, rng)
            yield {"text": copy, "id": f"c{i}", "label": "x", "copy_of": str(i)}

    for name in ("texts", "pages"):
        lines = "".join(json.dumps(record) + "\n" for record in texts_and_copies())
        (tmp_path / f"{name}.jsonl.xz").write_bytes(lzma.compress(lines.encode()))
    (tmp_path / "files").mkdir()
    for i in range(60):
        (tmp_path / f"files/{i}.txt").write_text(" ".join(own_ngrams.words(rng, 80)))
    monkeypatch.setattr(corpora, "N_PAGES", 40)
    monkeypatch.setattr(corpora, "THREADS", 2)
    monkeypatch.setattr(corpora, "FAMILIES", ((30, 1),))
    corpora.main([
        "--data", str(tmp_path), "--files", f"files={tmp_path}/files/*.txt", "-o", str(tmp_path),
        "--analyzer", "word:5", "--max-df", "20", "--min-own", "8", "--buckets", str(2**16),
    ])  # fmt: skip
    table = csv.reader((tmp_path / "own-ngrams-corpora-word-5.csv").read_text().splitlines())
    header, *rows = table
    assert header == ["corpus (records)", "all", "20, 8"]
    found = {name.rpartition(" (")[0]: cells for name, *cells in rows}
    for name in ("manual pages", "web pages"):  # a recall of 20 copies of .88
        n_found, n_others = zip(*(map(int, cell.split(" / ")) for cell in found[name]), strict=True)
        assert min(n_found) >= 15
        assert max(n_found) <= 20
        assert n_others == (0, 0)
    # Of the copies of the 60 files, a third has one word replaced; the others are below .8.
    assert all(15 <= int(cell.split(" / ")[0]) <= 25 for cell in found["files"])
    by_all, by_own = found["frame of 1,000, 5 own"]
    assert by_all == "0 / 39"
    assert by_own in ("0 / 0", "0 / 1", "0 / 2")  # own words may be shared by chance
    assert found["family of 30, 1 replaced"] == ["29 / 0"] * 2


def test_own_ngrams_beside_tools(experiments, tmp_path):
    """Pages of one frame are removed when all n-grams count, and are not by their own ones."""
    from experiments import near_duplicates, own_ngrams

    words = own_ngrams.words(np.random.default_rng(SEED), 330 * 120)
    pages = [" ".join(words[:300] + words[300 + 20 * i :][:20]) for i in range(120)]
    source = tmp_path / "texts.jsonl"
    source.write_text("".join(f'{{"text": "{page}"}}\n' for page in pages))
    removed = []
    for number, find in enumerate((near_duplicates.sparsemaps,
                                   near_duplicates.sparsemaps_own_ngrams)):  # fmt: skip
        folder = tmp_path / f"tool{number}"
        folder.mkdir()
        removed.append(len(list(find(near_duplicates.Work(source, 5, folder)))))
    assert removed[0] > 60
    assert removed[1] == 0
