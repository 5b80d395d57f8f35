"""Files whose numbers say that they hold far more than they do, and the memory that they take.

A kind of file is written, each number in it that is a size, a length or a type is replaced, and it
is read. `fuzz/fuzz_memory.py` changes any bytes of the same files.
"""

import copy
import io
import json
import re
import struct
import tracemalloc
import zipfile

import numpy as np
import scipy.sparse as sp
from _data import record_files
from _data.chance import SEED
from sklearn.pipeline import make_pipeline

from _scripts.damaged_files import description_start, places_in
from sparsemaps import ConsistentWeightedSampling, MinHash, files, from_config
from sparsemaps._io import _sources
from sparsemaps.codes import PackedCodes
from sparsemaps.files import _row_names
from sparsemaps.files._summary import summarize
from sparsemaps.libsvm import dump_svmlight_file, load_svmlight_file
from sparsemaps.linear import KernelClassifier
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.records import TEXT_FORMATS
from sparsemaps.text import IdfWeights, _frequencies, iter_records
from sparsemaps.text._analyzers import vectorizer_of

try:
    import pyarrow
except ImportError:
    pyarrow = None

X = sp.csr_array((np.random.default_rng(SEED).random((24, 40)) < 0.3).astype(float))
MAP = MinHash(n_hashes=64, bits=4, random_state=0)
LEVELS = ConsistentWeightedSampling(n_hashes=64, bits=4, method="levels", random_state=0)
NUMBERS = [2**24, 2**31 - 1, 2**40, 2**60, 10**400]
TYPES = ["<U4194304", "|S2147483647", "<f8", "|O", "<U0", "|V1073741824"]

LABELLED = ["the cat sat", "a dog and a cat", "funds rose", "a bank lent"], ["a", "a", "b", "c"]


def text_model():
    words = vectorizer_of("word:1", binary=True)
    return KernelClassifier(MAP, vectorizer=words, random_state=0)


ALLOWED = 2**23
"""Bytes that any file may take: buffers of fixed size, and modules that are loaded meanwhile."""

A_BYTE = 64
"""Bytes of memory for each byte of a file: JSON becomes objects of Python."""


# ---- kinds of files ------------------------------------------------------------------------------


def write_codes(folder):
    MAP.fit(X).encode(X, packed=True).save(folder / "codes.npy")
    return folder / "codes.npy"


def write_no_codes(folder):
    """Codes without rows, so that no row says how long one is."""
    MAP.fit(X).encode(X[:0], packed=True).save(folder / "codes.npy")
    return folder / "codes.npy"


def write_index(folder, rerank=False):
    index = KernelNeighbors(MAP, radius=0.3, algorithm="lsh", rerank=rerank).fit(X)
    index.radius_neighbors(X[:1])
    index.save(folder / "index.npy")
    return folder / "index.npy"


def write_index_rows(folder):
    write_index(folder, rerank=True)
    return folder / "index.npy.rows.npz"


def read_index(path):
    KernelNeighbors.load(str(path).removesuffix(".rows.npz"))


def write_svmlight(folder):
    dump_svmlight_file(X, np.arange(24) % 2, folder / "rows.svm", zero_based=False)
    return folder / "rows.svm"


def write_mapped(folder, ending, kind):
    rows = write_svmlight(folder)
    files.map_files(MAP.fit_any_width(), rows, folder / f"mapped.{kind}", format=kind)
    return folder / f"mapped.{kind}{ending}"


def write_records(folder, ending):
    """A file of the folder of a deduplication; its codes are the input of another job."""
    lines = [{"id": f"id{i}", "text": f"{i % 20} b c d", "n": i} for i in range(24)]
    lines[3]["text"] = ""
    (folder / "in.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "{\n")
    files.deduplicate_files(
        MAP.fit_any_width(), folder / "in.jsonl", folder / "out.jsonl",
        source=files.Texts("word:1", id_field="id"), keep="n", bad_records=folder / "bad.tsv",
    )  # fmt: skip
    if ending == _sources.RECEIPT:  # it has no second name
        return next(folder.glob("out.jsonl.stages/codes-*.npy.json"))
    name = "removed" if ending == _sources.SIMILARITY else "codes"
    return folder / f"out.jsonl.stages/{name}.npy{ending}"


def read_records(path):
    """Take the codes as those of an earlier delivery, and go on with the job."""
    folder, options = path.parent.parent, {"source": files.Texts("word:1", id_field="id")}
    map = MAP.fit_any_width()
    job = folder / "in.jsonl", folder / "out.jsonl"
    more = {"keep": "n", "bad_records": folder / "bad.tsv"}
    for run in (
        lambda: files.deduplicate_files(map, *job, **more, **options, removed=folder / "removed"),
        lambda: files.deduplicate_files(
            map, job[0], folder / "new.jsonl", **more, **options, against=path.parent
        ),
    ):
        try:
            run()
        except (ValueError, FileNotFoundError):
            continue


def write_config(folder):
    (folder / "map.json").write_text(json.dumps(MAP.fit(X).to_config()))
    return folder / "map.json"


def write_model(folder):
    text_model().fit(*LABELLED).save(folder / "model")
    return folder / "model"


def read_model(path):
    KernelClassifier.load(path).predict(LABELLED[0])


def write_model_of_idf(folder):
    words = make_pipeline(vectorizer_of("word:1", binary=False), IdfWeights(n_buckets=64))
    model = KernelClassifier(LEVELS, vectorizer=words, random_state=0)
    model.fit(*LABELLED).save(folder / "model")
    return folder / "model"


def write_idf(folder):
    IdfWeights(n_buckets=64).fit(X * 9).save(folder / "idf.npy")
    return folder / "idf.npy"


def write_weights(folder, ending):
    rows = write_svmlight(folder)
    path = rows.with_name(f"{rows.name}{ending}")
    weights = np.arange(24) / 4
    np.save(path, weights) if ending.endswith("npy") else np.savetxt(path, weights)
    return path


def read_weights(path):
    rows = str(path).removesuffix(path.name) + "rows.svm"
    files.train_files(KernelClassifier(MAP), rows, path.parent / "model")


def write_lists_of_labels(folder):
    (folder / "l.svm").write_text("".join(f"{row % 3},{3 + row % 2} 1:1\n" for row in range(24)))
    files.map_files(MAP, folder / "l.svm", folder / "l.npy", format="npy")
    return folder / f"l.npy{_sources.LABELS}"


def write_frequencies(folder):
    table = _frequencies.Frequencies(64)
    table.n_records = 999
    table.counts += np.arange(64, dtype=table.counts.dtype) * 9  # some take more than a byte
    _frequencies.write(folder / "frequencies.npy", table, {})
    return folder / "frequencies.npy"


def read_frequencies(path):
    _frequencies.read(path)


def describe_output(path):
    """Describe an output by the file, or by one that stands beside it."""
    name = str(path)
    for ending in (_sources.LABELS, _sources.QIDS):
        name = name.removesuffix(ending)
    return summarize(name)


def write_qids(folder):
    dump_svmlight_file(X, np.zeros(24), folder / "q.svm", zero_based=False, query_id=np.arange(24))
    files.map_files(MAP.fit_any_width(), folder / "q.svm", folder / "q.npy", format="npy")
    return folder / f"q.npy{_sources.QIDS}"


def write_classes(folder):
    lines = [{"text": text, "label": label} for text, label in zip(*LABELLED, strict=True)]
    (folder / "c.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    source = files.Texts("word:1", label_field="label")
    files.map_files(
        text_model().map, folder / "c.jsonl", folder / "c.npy", format="npy", source=source
    )
    return folder / f"c.npy{_sources.CLASSES}"


def read_classes(path):
    codes = str(path).removesuffix(_sources.CLASSES)
    files.train_files(text_model(), codes, path.parent / "model")


def write_comments(folder):
    rows = "".join(f"0 {1 + row % 5}:1 # row {row}\n" for row in range(24))
    (folder / "in.svm").write_text(rows)
    files.similar_pairs_of_files(MAP, folder / "in.svm", folder / "pairs")
    return folder / f"pairs.stages/codes.npy{_sources.COMMENTS}"


def read_comments(path):
    _row_names.read_comments(str(path).removesuffix(_sources.COMMENTS), 24)


def write_texts(folder, format):
    path = folder / f"texts.{format}"
    record_files.WRITERS[format](path, [{"text": one} for one in LABELLED[0]])
    return path


def read_texts(path):
    for _ in iter_records(path):
        pass


def read_config(path):
    from_config(json.loads(path.read_text()))


KINDS = {
    "codes": (write_codes, PackedCodes.load),
    "codes without rows": (write_no_codes, PackedCodes.load),
    "index": (write_index, read_index),
    "rows of an index": (write_index_rows, read_index),
    "a map as JSON": (write_config, read_config),
    "LIBSVM text": (write_svmlight, load_svmlight_file),
    **{
        f"mapped{ending}": (
            lambda folder, ending=ending: write_mapped(folder, ending, "npy"),
            describe_output,
        )
        for ending in ("", _sources.LABELS)
    },
    **{
        f"records{ending}": (lambda folder, e=ending: write_records(folder, e), read_records)
        for ending in (
            _sources.RECEIPT, _sources.IDS, _sources.LENGTHS, _sources.DIGESTS,
            _sources.CHECKSUMS, _sources.KEYS, _sources.BAD, _sources.SIMILARITY,
        )
    },
    "a model": (write_model, read_model),
    "a model of weighted n-grams": (write_model_of_idf, read_model),
    "frequencies": (write_frequencies, read_frequencies),
    "idf": (write_idf, IdfWeights.load),
    "lists of labels": (write_lists_of_labels, describe_output),
    **{
        f"weights{ending}": (lambda folder, e=ending: write_weights(folder, e), read_weights)
        for ending in _sources.WEIGHTS
    },
    f"mapped{_sources.QIDS}": (write_qids, describe_output),
    f"mapped{_sources.CLASSES}": (write_classes, read_classes),
    f"records{_sources.COMMENTS}": (write_comments, read_comments),
    **{
        f"texts of {format}": (lambda folder, f=format: write_texts(folder, f), read_texts)
        for format in TEXT_FORMATS
        if pyarrow is not None or format not in ("parquet", "arrow")
    },
}  # fmt: skip
"""How each kind of file is written and read."""


def has_numbers(name):
    """Return whether a file has sizes that `claims` changes. `fuzz/fuzz_memory.py` changes all."""
    is_lines = name.endswith((_sources.IDS, _sources.BAD, _sources.CLASSES, _sources.COMMENTS))
    return not is_lines and not name.startswith("texts.")


# ---- claims --------------------------------------------------------------------------------------


def claims(content):
    """Contents of a file that says of itself what is not so."""
    if content.startswith(b"PK"):
        yield from of_archive(content)
        return
    for at in places_of_headers(content):
        yield from of_header(content, at)
    if re.fullmatch(b"SM[A-Z0-9]{6}", content[-8:]):  # a mark
        start = description_start(content)
        for text in of_json(content[start:-16]):
            yield content[:start] + text + struct.pack("<Q", len(text)) + content[-8:]
        for number in (2**30, 2**62):
            yield content[:-16] + struct.pack("<Q", number) + content[-8:]
    elif content.startswith(b"{"):
        yield from of_json(content)
    elif content[:1].isdigit():
        yield b"9" * 18 + content[1:]
        yield content.replace(b":", b"9999999999:", 1)


def of_json(text):
    try:
        found = json.loads(text)
    except ValueError:
        return
    for which, (holder, key) in enumerate(places_in(found)):
        if type(holder[key]) in (int, float, str):
            for value in (*NUMBERS, "<U4194304", [2**40, 2**20]):
                other = copy.deepcopy(found)
                its_holder, its_key = list(places_in(other))[which]
                its_holder[its_key] = value
                yield json.dumps(other).encode()


def places_of_headers(content):
    at = content.find(b"\x93NUMPY")
    while at >= 0:
        yield at
        at = content.find(b"\x93NUMPY", at + 1)


def of_header(content, at):
    file = io.BytesIO(content[at:])
    if np.lib.format.read_magic(file) != (1, 0):
        return
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    rest = content[at + file.tell() :]
    others = [(other, dtype.str) for n in NUMBERS for other in ((n,), (n, 0), (0, n), (n, n))]
    others += [((n, *shape[1:]), dtype.str) for n in NUMBERS] + [(shape, kind) for kind in TYPES]
    for other, kind in others:
        written = io.BytesIO()
        told = {"descr": kind, "fortran_order": False, "shape": other}
        np.lib.format.write_array_header_1_0(written, told)
        yield content[:at] + written.getvalue() + rest
    yield content[:at] + b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31 - 1) + rest


def of_archive(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for name, member in members.items():
        for other in of_header(member, 0):
            yield archive_of({**members, name: other})
        yield archive_of({**members, name: member + bytes(2**26)}, zipfile.ZIP_DEFLATED)
    for number in (2**31 - 1, 2**32 - 2):  # sizes in the directory, which follows the arrays
        for name in members:
            at = content.rfind(name.encode()) - 46
            sizes = struct.pack("<II", number, number)
            yield content[: at + 20] + sizes + content[at + 28 :]


def archive_of(members, compression=zipfile.ZIP_STORED):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return written.getvalue()


# ---- memory --------------------------------------------------------------------------------------


def peak_of(read, path):
    """The largest number of bytes that NumPy, Python and Arrow held while a file was read or
    refused, and whether it was read."""
    pool = None if pyarrow is None else pyarrow.proxy_memory_pool(pyarrow.default_memory_pool())
    usual = None if pyarrow is None else pyarrow.default_memory_pool()
    if pool is not None:
        pyarrow.set_memory_pool(pool)
    tracemalloc.start()
    try:
        read(path)
        is_read = True
    except (ValueError, FileNotFoundError):
        is_read = False
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        if pool is not None:
            pyarrow.set_memory_pool(usual)
            peak += pool.max_memory()
    return peak, is_read


def allowed(content):
    return ALLOWED + A_BYTE * len(content)
