"""Files of codes, of an index, of stages and of frequencies that are damaged, and what reads them.

``python -m _scripts.damaged_files codes 100000`` reads so many damaged files of codes; "index",
"stages" and "frequencies" likewise. Each is read and used, or is a ValueError; what was read is
printed at the end.
"""

import collections
import contextlib
import io
import json
import os
import random
import re
import struct
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
from _data.chance import SEED

from sparsemaps import MinHash, codes, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.files import deduplicate_files, similar_pairs_of_files
from sparsemaps.neighbors import KernelNeighbors
from sparsemaps.text import IdfWeights

X = (np.random.default_rng(SEED).random((24, 40)) < 0.3).astype(float)
X[5] = X[3]
X[17] = X[3]
X[9] = 0
MAP = MinHash(n_hashes=64, bits=4, random_state=0).fit(X)
WIDE = MinHash(n_hashes=64, bits=4, random_state=0).fit_any_width()
WORDS = [0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1]
VALUES = [
    *(0, 1, -1, 2, 5, 63, 65, 2**31, 2**32, 2**63, 2**64, 10**30, 0.5, 1.5, -0.5, 1e308),
    *("", "x", None, True, [], {}, [3], [[1, 2]], {"a": 1}, "by signs", "by a product", "rbf"),
]

DESCRIBED = b"SMCODES1", b"SMCOUNTS"
"""The marks of files with a description."""


def damaged(draw, content):
    """A file with changed bytes or words; some with lost or added bytes too; of a file with a
    description, also with another one."""
    if content.startswith(b"PK") and draw.random() < 0.6:
        return with_another_member(draw, content)
    if content.endswith(DESCRIBED) and draw.random() < 0.4:
        start = description_start(content)
        return in_places(draw, content[:start]) + content[start:]
    return in_places(draw, content)


def in_places(draw, content):
    content = bytearray(content)
    change = in_place if draw.random() < 0.6 else anywhere  # sizes are compared first
    for _ in range(draw.choice([1, 1, 2, 5])):
        change(draw, content)
    return bytes(content)


def with_another_member(draw, content):
    """An archive with a damaged array, whose checksum is right."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen, written = draw.choice(list(members)), io.BytesIO()
    members[chosen] = in_places(draw, members[chosen])
    with zipfile.ZipFile(written, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return written.getvalue()


def in_place(draw, content):
    """Change a byte, a word or a run of bytes; the size stays."""
    if not content:
        return
    kind, n = draw.randrange(4), draw.choice([1, 4, 8])
    at = draw.randrange(len(content)) // n * n
    old = bytes(content[at : at + n])
    if kind == 0:
        new = draw.randbytes(len(old))
    elif kind == 1:
        new = draw.choice(WORDS).to_bytes(8, "little")
    elif kind == 2:
        number = int.from_bytes(old, "little") + draw.choice([-1, 1, 2, 24, -24, 100])
        new = (number % 2 ** (8 * len(old))).to_bytes(len(old), "little")
    else:
        start = draw.randrange(len(content))
        old, new = bytes(32), bytes(content[start : start + 32])
    new = new[: min(len(old), len(content) - at)]
    content[at : at + len(new)] = new


def anywhere(draw, content):
    """Change, cut or lengthen a file anywhere."""
    has_description = content.endswith(DESCRIBED)
    kind, at = draw.randrange(8 if has_description else 5), draw.randrange(len(content) + 1)
    if kind == 0 and draw.random() < 0.3:
        del content[at:]
    elif kind == 0:
        del content[at : at + draw.choice([1, 4, 64])]
    elif kind == 1:
        content[at:at] = draw.randbytes(draw.choice([1, 8, 40]))
    elif kind == 2:
        content[at : at + 8] = struct.pack("<Q", draw.choice(WORDS))
    elif kind == 3:
        at = at // 4 * 4
        content[at : at + 4] = struct.pack("<I", draw.choice([*WORDS[:4], draw.randrange(99)]))
    elif kind == 4:
        content[at : at + 1] = bytes([draw.randrange(256)])
    else:
        content[:] = with_another_description(draw, bytes(content))


def description_start(content):
    """Where the description of a file begins."""
    (n_bytes,) = struct.unpack("<Q", content[-16:-8])
    return max(len(content) - 16 - n_bytes, 0)


def with_another_description(draw, content):
    """A file whose description has another value somewhere."""
    try:
        start = description_start(content)
        description = json.loads(content[start:-16])
        places = list(places_in(description))
    except (ValueError, struct.error, RecursionError):
        return content
    if not places:
        return content
    holder, key = draw.choice(places)
    if draw.random() < 0.1:
        del holder[key]
    elif isinstance(holder[key], int) and draw.random() < 0.5:
        holder[key] += draw.choice([-1, 1, 8, 64, -64])
    else:
        holder[key] = draw.choice(VALUES)
    text = json.dumps(description).encode()
    return content[:start] + text + struct.pack("<Q", len(text)) + content[-8:]


def places_in(value):
    """Each place of a value of JSON: what holds it, and its key there."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, one in list(items):
        yield value, key
        if isinstance(one, (dict, list)):
            yield from places_in(one)


# ---- what reads them -----------------------------------------------------------------------------


def write_codes(folder):
    MAP.encode(X, packed=True).save(folder / "file.npy")
    return ["file.npy"]


def read_codes(folder, draw, _):
    found = PackedCodes.load(folder / "file.npy", mmap_mode=draw.choice(["r", "c", None]))
    if found.array.size > 10**7:
        return
    rows = found[: draw.choice([3, 30])]
    uses = [
        lambda: codes.hamming(rows, found),
        lambda: found.kernel(codes.agreements(rows, found)),
        lambda: codes.to_csr(found),
        lambda: neighbors.top_k(rows, found, 3),
        lambda: neighbors.similar_pairs(found, 0.7),
        lambda: neighbors.contained_pairs(found, 0.9),
        lambda: PackedCodes.concatenate([found, rows]),
        lambda: repr(found),
    ]
    try_to(*draw.sample(uses, 2))


def write_index(folder):
    for rerank in (False, True):
        index = KernelNeighbors(MAP, radius=0.3, algorithm="lsh", rerank=rerank).fit(X)
        index.radius_neighbors(X[:1])
        index.save(folder / f"index{rerank}.npy")
    return ["indexFalse.npy", "indexTrue.npy", "indexTrue.npy.rows.npz"]


def read_index(folder, draw, name):
    path = folder / name.removesuffix(".rows.npz")
    index = KernelNeighbors.load(path, mmap_mode=draw.choice(["r", "c", None]))
    if index.codes_.array.size > 10**7:
        return
    uses = [
        lambda: index.radius_neighbors(X[:4]),
        lambda: index.kneighbors(X[:4]),
        lambda: index.similar_pairs(0.7),
        lambda: index.insert_new(X[:6], threshold=0.7),
        lambda: index.remove([0, 3]),
        lambda: index.radius_neighbors(X[:4], 0.9),
        lambda: index.save(folder / "saved.npy"),
    ]
    try_to(*draw.sample(uses, 2))


TEXTS = [" ".join(f"w{column}" for column in np.flatnonzero(row)) for row in X]
JOBS = {
    "kept": partial(deduplicate_files, WIDE, source="word:1"),
    "exact": partial(deduplicate_files, WIDE, source="word:1", exact=True, keep="longest"),
    "pairs": partial(similar_pairs_of_files, WIDE, source="word:1"),
}


def write_stages(folder):
    (folder / "in.txt").write_text("\n".join(TEXTS) + "\n")
    names = []
    for name, job in JOBS.items():
        job(folder / "in.txt", folder / name)
        names += [f"{name}.stages/{file}" for file in os.listdir(folder / f"{name}.stages")]
    return sorted(names, key=lambda name: re.sub("-[0-9a-f]{16}", "-", name))


def read_stages(folder, draw, path):
    """Go on with a job, or begin one after the records of its results."""
    name = path.partition(".")[0]
    output, options = folder / name, {"threshold": draw.choice([0.8, 0.8, 0.7])}
    if draw.random() < 0.5:
        output.unlink()
    if name in ("kept", "exact"):
        if draw.random() < 0.5:
            options |= {"removed": folder / "removed", "clusters": folder / "clusters"}
        if draw.random() < 0.3:
            options["against"] = folder / "kept.stages"
            output = folder / "new"
    if name == "pairs":
        JOBS[name](folder / "in.txt", output, **options)
        return
    n_kept = JOBS[name](folder / "in.txt", output, **options).n_kept
    lines = output.read_text().splitlines()
    rest = iter(TEXTS)
    assert all(line in rest for line in lines), "the output is no part of the input"
    assert len(lines) == n_kept, (len(lines), n_kept)


def try_to(*uses):
    """Call them; what was read may be of another map, or too large."""
    for use in uses:
        with contextlib.suppress(ValueError, MemoryError):
            use()


def write_frequencies(folder):
    IdfWeights(n_buckets=2**11).fit(np.repeat(X, 20, axis=0)).save(folder / "table")
    return ["table"]


def read_frequencies(folder, draw, _):
    found = IdfWeights.load(folder / "table")
    values = found.transform(np.ones((1, found.n_features_in_)) if draw.random() < 0.5 else X).data
    assert (values >= 0).all()
    try_to(lambda: found.merge(found), lambda: found.partial_fit(X), found.to_config)


KINDS = {
    "codes": (write_codes, read_codes),
    "index": (write_index, read_index),
    "stages": (write_stages, read_stages),
    "frequencies": (write_frequencies, read_frequencies),
}


def run(kind, seeds):
    """Damage a file of this kind for each seed, and read it; how many were read."""
    write, read = KINDS[kind]
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write(folder)
        whole = Whole(folder)
        for seed in seeds:
            draw = random.Random(SEED + seed)
            chosen = draw.choice(files)
            whole.write(chosen, damaged(draw, whole.contents[chosen]))
            try:
                read(folder, draw, chosen)
                outcomes["read"] += 1
            except (ValueError, FileNotFoundError):  # a name of a file beside it may be new
                outcomes["refused"] += 1
            except BaseException:
                print(f"{kind} {seed}: {chosen}", file=sys.stderr)
                raise
            whole.restore(chosen)
    return outcomes


class Whole:
    """A folder whose files are brought back, with their times."""

    def __init__(self, folder):
        self.folder = folder
        self.contents = {name: (folder / name).read_bytes() for name in self._found()}
        self._before = self._found()
        self._times = {name: time for name, (_, time, _) in self._before.items()}

    def _found(self):
        """Size, time and inode of each file."""
        found = {}
        for entry in os.scandir(self.folder):
            for file in os.scandir(entry) if entry.is_dir() else [entry]:
                about, name = file.stat(), os.path.relpath(file.path, self.folder)
                found[name] = about.st_size, about.st_mtime_ns, about.st_ino
        return found

    def write(self, name, content):
        """Write a file, with the time of the whole one."""
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        os.utime(path, ns=(self._times[name], self._times[name]))

    def restore(self, written):
        """Bring back the files that have changed, among them `written`."""
        found = self._found()
        for name in found.keys() - self._before.keys():
            (self.folder / name).unlink()
        for name, about in self._before.items():
            if name == written or found.get(name) != about:
                self.write(name, self.contents[name])
        self._before = self._found()


if __name__ == "__main__":
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    print(sys.argv[1], dict(run(sys.argv[1], range(first, first + int(sys.argv[2])))))
