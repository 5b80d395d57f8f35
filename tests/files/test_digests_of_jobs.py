"""Jobs whose options are unchanged write what they wrote before: bytes of texts and codes, contents
of Parquet and of compressed files.

``python tests/files/test_digests_of_jobs.py`` writes digests_of_jobs.json, of the present code.
"""

import gzip
import hashlib
import json
import lzma
import os
import platform
import random
import sys
import tempfile
from pathlib import Path

import pytest

from sparsemaps import cli
from sparsemaps._tools._extras import library

pytestmark = pytest.mark.digests

DIGESTS = Path(__file__).with_name("digests_of_jobs.json")

HAS_PARQUET = True
try:
    library("pyarrow.parquet", "the test")
except ImportError:
    HAS_PARQUET = False

# ---- inputs --------------------------------------------------------------------------------------

WORDS = [f"{a}{b}{c}" for a in "bdkl" for b in "aeiou" for c in "nrst"]


def words(rng, n):
    return [WORDS[int(rng.random() * len(WORDS))] for _ in range(n)]


def texts():
    """Texts, of which each third is a near copy of one before it; some are short."""
    rng, made = random.Random(7), []
    frame = words(rng, 30)
    for i in range(45):
        if i % 3 == 2 and i > 6:
            own = made[int(rng.random() * (i - 1))].split()
            if len(own) > 20:
                own[int(rng.random() * len(own))] = "change"
        else:
            own = words(rng, 3 if i % 11 == 0 else 40 + i % 7)
            own = [*frame, *own] if i % 4 == 0 else own
        made.append(" ".join(own))
    made[9] = "Привет мир, как дела"
    return made


def records():
    return [
        {
            "id": f"n{i:02}",
            "text": text,
            "label": ("good", "bad", "other")[i % 3],
            "score": i * 37 % 11 / 2,
        }
        for i, text in enumerate(texts())
    ]


def rows(n, *, values=True, seed=5):
    rng = random.Random(seed)
    for i in range(n):
        columns = sorted({int(rng.random() ** 2 * 60) + 1 for _ in range(12)})
        shown = (f"{c}:{int(rng.random() * 8 + 1) / 4 if values else 1:g}" for c in columns)
        yield i, " ".join(shown)


def write_inputs():
    """The inputs, in the current folder."""
    own = records()
    lines = [json.dumps(record, ensure_ascii=i % 2 == 0) + "\n" for i, record in enumerate(own)]
    text = "".join(lines)
    Path("texts.jsonl").write_text(text, "utf-8")
    Path("texts.txt").write_text("".join(f"{record['text']}\n" for record in own), "utf-8")
    with gzip.open("more.jsonl.gz", "wb") as file:
        file.write("".join(lines[10:25]).encode())
    bad = [*lines[:5], "no json\n", '{"id": "x"}\n', *lines[5:20], '{"text": 3}\n']
    Path("bad.jsonl").write_text("".join(bad), "utf-8")
    os.makedirs("parts")
    Path("parts/a.jsonl").write_text("".join(lines[:20]), "utf-8")
    Path("parts/b.jsonl").write_text("".join(lines[15:]), "utf-8")
    os.makedirs("rows")
    for name, first in (("rows/a.svm", 0), ("rows/b.svm", 30)):
        some = [f"{i % 3} {row}\n" for i, row in rows(60) if first <= i < first + 30]
        Path(name).write_text("".join(some))
    some = [f"{i % 2} qid:{i // 7} {row} # row {i}\n" for i, row in rows(40)]
    Path("comments.svm").write_text("# a comment\n" + "".join(some))
    some = [f"{i % 4},{4 + i % 2} {row}\n" for i, row in rows(20)]
    Path("labels.svm").write_text("".join(some))
    some = [f"{i / 8:g} {row}\n" for i, row in rows(50, seed=6)]
    Path("numbers.svm").write_text("".join(some))
    some = [f"{2**60 + i % 2} {row}\n" for i, row in rows(20)]
    Path("large.svm").write_text("".join(some))
    some = [f"1 {row}\n" for i, row in [*rows(20, values=False), *rows(10, values=False)]]
    with lzma.open("sets.svm.xz", "wb") as file:
        file.write("".join(some).encode())
    with gzip.open("zero.svm.gz", "wb") as file:
        file.write(b"1 0:1 4:2\n-1 3:.5\n1\n1 0:1 4:2\n")
    if HAS_PARQUET:
        write_parquet(own)


def write_parquet(own):
    import pyarrow
    from pyarrow import parquet

    columns = {name: [record[name] for record in own] for name in own[0]}
    parquet.write_table(pyarrow.table(columns), "texts.parquet", row_group_size=17)


# ---- jobs ----------------------------------------------------------------------------------------

MAP = "map minmax --n-hashes 32"
TEXTS = "--texts word:2"
DEDUP = "dedup minhash --n-hashes 64 --threshold .6"
PAIRS = "pairs minhash --n-hashes 64 --threshold .6"
TRAIN = "train minmax --n-hashes 32"
LABELS = "--texts char:3 --label-field label"
TABLES = "--clusters clusters.tsv --removed removed.tsv --report report.html"

JOBS = {
    "map": [
        f"{MAP} rows/a.svm -o out",
        f"{MAP} rows/a.svm rows/b.svm -o ones.gz --ones --n-jobs 2",
        f"{MAP} comments.svm -o comments --comments",
        f"{MAP} labels.svm -o labels",
        f"{MAP} zero.svm.gz -o zero --zero-based --header",
        f"{MAP} comments.svm -o codes.npy --format npy",
        f"{MAP} large.svm -o large.npy --format npy",
        f"{MAP} rows/ -o each/",
        f"{MAP} rows/ -o each_npy/ --format npy --bits 3",
        f"{MAP} rows/ -o tasks/ --stage map --task 1/2",
        f"{MAP} rows/ -o tasks/",
        f"{MAP} bad.jsonl {TEXTS} --id-field id -o bad --bad-records bad.tsv",
        "map count-sketch --n-components 16 rows/a.svm -o sketch --save-config config",
        "map --config config rows/b.svm -o by_config",
        "map fourier --n-components 8 rows/a.svm -o fourier",
        "map signs --n-hashes 16 rows/a.svm -o signs.npy --format npy",
    ],
    "map of texts": [
        f"{MAP} texts.jsonl {TEXTS} --id-field id --label-field label -o texts",
        f"{MAP} texts.jsonl {TEXTS} --id-field id --label-field label -o texts.npy --format npy",
        f"{MAP} texts.txt more.jsonl.gz -o several.xz --texts char:3-4 --normalize plain",
        f"{MAP} parts/ -o each/ --texts byte:3 --label-field score --min-length 30 "
        "--bad-records short.tsv",
        "map minhash --n-hashes 32 texts.txt --texts auto:2 -o sets.npy --format npy",
    ],
    "text": [
        "text texts.jsonl -o words --label-field label --id-field id --ngram-range 1 2",
        "text parts/ -o each/ --analyzer byte",
        "text texts.txt -o chars.gz --analyzer char_wb --ngram-range 2 3 --n-features 512 --binary",
        "text bad.jsonl -o bad --bad-records bad.tsv",
    ],
    "pairs": [
        f"{PAIRS} texts.jsonl {TEXTS} -o pairs.tsv --id-field id",
        f"{PAIRS} texts.jsonl {TEXTS} -o exact.tsv --exact",
        f"{PAIRS} texts.txt {TEXTS} -o other.tsv.gz --other more.jsonl.gz --recall 1",
        f"{PAIRS} texts.txt {TEXTS} -o own.tsv --max-df 4 --min-own 8",
        f"{PAIRS} bad.jsonl {TEXTS} -o bad.tsv --bad-records set_aside.tsv --stage codes "
        "--task 0/1",
        f"{PAIRS} bad.jsonl {TEXTS} -o bad.tsv --bad-records set_aside.tsv",
        "pairs minmax --n-hashes 64 comments.svm rows/ -o comments.tsv --threshold .5 --exact",
        f"{PAIRS} sets.svm.xz -o sets.tsv",
        "map minhash --n-hashes 64 sets.svm.xz -o sets.npy --format npy",
        f"{PAIRS} sets.npy -o codes.tsv",
        f"{PAIRS} sets.npy -o of_codes.tsv --other sets.svm.xz",
        "pairs minhash --n-hashes 4096 texts.txt --texts word:1 -o contained.tsv --containment",
        "pairs minhash --n-hashes 1024 texts.txt --texts word:1 -o contained_exact.tsv "
        "--containment --exact --threshold .9",
    ],
    "dedup": [
        f"{DEDUP} texts.jsonl -o kept.jsonl {TEXTS} --id-field id {TABLES}",
        f"{DEDUP} texts.jsonl -o exact.jsonl {TEXTS} --exact --keep longest",
        f"{DEDUP} texts.jsonl more.jsonl.gz -o field.jsonl.gz {TEXTS} --keep score",
        f"{DEDUP} parts/ -o kept/ {TEXTS} --removed parts.tsv",
        f"{DEDUP} bad.jsonl -o bad.kept.jsonl {TEXTS} --bad-records bad.tsv",
        f"{DEDUP} texts.txt -o own.txt {TEXTS} --max-df 4 --min-own 8",
        f"{DEDUP} texts.txt -o given.txt {TEXTS} --max-df 4 --min-own 8 "
        "--frequencies own.txt.stages/frequencies.npy",
        "dedup texts.txt -o plain.txt",
        f"{DEDUP} sets.svm.xz -o sets.kept.svm --clusters sets.tsv",
        f"{DEDUP} texts.jsonl -o dry.jsonl {TEXTS} --dry-run --removed dry.tsv",
    ],
    "dedup of deliveries": [
        f"{DEDUP} parts/a.jsonl -o a.jsonl {TEXTS}",
        f"{DEDUP} parts/b.jsonl -o b.jsonl {TEXTS} --against a.jsonl.stages --removed b.tsv",
        f"{DEDUP} texts.jsonl -o c.jsonl {TEXTS} --against a.jsonl.stages/codes.npy "
        "--against b.jsonl.stages --removed c.tsv --clusters clusters.tsv --report report.html",
        f"{DEDUP} texts.jsonl -o d.jsonl {TEXTS} --against . --keep longest --exact",
    ],
    "dedup by tasks": [
        *(
            f"{DEDUP} texts.jsonl more.jsonl.gz -o kept.jsonl {TEXTS} --stage {stage} --task {task}"
            for stage, task in (
                *(("codes", "1/2"), ("codes", "0/2"), ("codes-join", "0/1"), ("removals", "0/1")),
            )
        ),
        f"{DEDUP} texts.jsonl more.jsonl.gz -o kept.jsonl {TEXTS}",
    ],
    "kernel": [
        "kernel minmax rows/a.svm rows/b.svm -o minmax",
        "kernel rbf rows/a.svm -o rbf.gz --gamma .5",
    ],
    "models of texts": [
        f"{TRAIN} texts.jsonl -o model {LABELS}",
        "predict model parts/ -o labels/",
        "predict model texts.jsonl -o labels.tsv --id-field id --explain 3",
        "predict model texts.jsonl -o labels.jsonl --top 2 --min-score .1 --unknown none",
        "filter model texts.jsonl -o good.jsonl --label good",
        "filter model parts/ -o best/ --label good --label bad --fraction .3",
        f"{TRAIN} texts.jsonl -o log {LABELS} --loss log_loss --C .5 --class-weight balanced",
        "predict log bad.jsonl -o proba.tsv.gz --proba --bad-records bad.tsv",
        "filter log texts.txt -o sure.txt --label other --min-proba .4",
        f"{TRAIN} texts.jsonl -o calibrated {LABELS} --calibrate --loss hinge",
        "predict calibrated texts.txt -o sure.tsv --proba --top 1 --min-proba .5",
    ],
    "models of rows": [
        f"{TRAIN} rows/ -o model --seed 3",
        "predict model rows/a.svm rows/b.svm -o labels.tsv",
        "filter model rows/ -o kept.svm --label 1",
        f"{MAP} rows/a.svm -o rows.npy --format npy",
        f"{TRAIN} rows.npy -o of_codes --validation rows/b.svm",
        "predict of_codes rows.npy -o of_codes.tsv",
        "train signs --n-hashes 64 numbers.svm -o numbers --loss epsilon_insensitive",
        "predict numbers numbers.svm -o numbers.jsonl",
    ],
}
"""Commands of each case, one after the other in a folder of its own."""

OF_PARQUET = {
    "parquet": [
        f"{MAP} texts.parquet {TEXTS} --id-field id --label-field label -o texts",
        f"{PAIRS} texts.parquet {TEXTS} -o pairs.tsv",
        f"{DEDUP} texts.parquet -o kept.parquet {TEXTS} --keep score",
        f"{TRAIN} texts.parquet -o model {LABELS}",
        "predict model texts.parquet -o labels.tsv",
        "filter model texts.parquet -o good.parquet --label good",
    ]
}

OF_THIS_PLATFORM = ("models of texts", "models of rows", "parquet")
"""Cases whose numbers in double precision are those of one platform."""


def digests_of(name):
    """Digests of all that the commands of a case write in the current folder."""
    write_inputs()
    given = files_here()
    for command in (JOBS | OF_PARQUET)[name]:
        status = cli.main([*command.split(), "--no-progress"])
        assert status == 0, command
    return {path: digest(path) for path in sorted(files_here() - given)}


def files_here():
    """Results that stay: neither receipts, which hold times, nor names with a digest."""
    found = (path for path in Path().rglob("*") if path.is_file())
    published = {"codes.npy", "other.npy", "pairs.npy", "removed.npy", "clusters.npy", "kept.npy"}

    def stays(path):
        if not path.parent.name.endswith(".stages"):
            return not path.name.endswith(".json")
        stem = path.name.split(".npy", 1)[0] + ".npy"
        return stem in {*published, "frequencies.npy"} and not path.name.endswith(".json")

    return {path.as_posix() for path in found if stays(path)}


def digest(path):
    if path.endswith(".parquet"):
        from pyarrow import parquet

        content = repr(parquet.read_table(path).to_pydict()).encode()
    else:
        openers = {".gz": gzip.open, ".xz": lzma.open}
        with openers.get(os.path.splitext(path)[1], open)(path, "rb") as file:
            content = file.read()
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", [*JOBS, *OF_PARQUET])
def test_digests(name, tmp_path, monkeypatch):
    if name in OF_PARQUET and not HAS_PARQUET:
        pytest.skip("pyarrow is not installed")
    if name in OF_THIS_PLATFORM and (sys.platform, platform.machine()) != ("linux", "x86_64"):
        pytest.skip("numbers of another platform")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    assert digests_of(name) == json.loads(DIGESTS.read_text())[name]


def test_all_cases_are_listed():
    assert json.loads(DIGESTS.read_text()).keys() == {*JOBS, *OF_PARQUET}


if __name__ == "__main__":
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # the date that models have
    table, place = {}, os.getcwd()
    for name in [*JOBS, *OF_PARQUET]:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            table[name] = digests_of(name)
            os.chdir(place)
    DIGESTS.write_text(json.dumps(table, indent=1) + "\n")
