"""Files of codes, of an index and of stages that are damaged, and what reads them.

``python -m _scripts.damaged_files codes 100000`` reads so many damaged files of codes; "index" and
"stages" likewise. Each is read and used, or is a ValueError; what was read is printed at the end.
"""

import collections
import contextlib
import json
import os
import random
import struct
import sys
import tempfile
from pathlib import Path

import numpy as np

from sparsemaps import MinHash, codes, neighbors
from sparsemaps.codes import PackedCodes
from sparsemaps.files import deduplicate_files
from sparsemaps.neighbors import KernelNeighbors

X = (np.random.default_rng(0).random((24, 40)) < 0.3).astype(float)
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


def damaged(draw, content):
    """A file with changed, lost and added bytes; of a file with a description, also with another
    one."""
    content = bytearray(content)
    for _ in range(draw.choice([1, 1, 2, 5])):
        has_description = content.endswith(b"SMCODES1")
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
            content = bytearray(with_another_description(draw, bytes(content)))
    return bytes(content)


def with_another_description(draw, content):
    """A file of codes whose description has another value somewhere."""
    try:
        (n_bytes,) = struct.unpack("<Q", content[-16:-8])
        start = len(content) - 16 - n_bytes
        description = json.loads(content[max(start, 0) : -16])
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
    return content[: max(start, 0)] + text + struct.pack("<Q", len(text)) + content[-8:]


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


def write_stages(folder):
    (folder / "in.txt").write_text("\n".join(TEXTS))
    deduplicate_files(WIDE, folder / "in.txt", folder / "out.txt", source="word:1")
    return [os.path.join("out.txt.stages", name) for name in os.listdir(folder / "out.txt.stages")]


def read_stages(folder, draw, _):
    options = {"threshold": draw.choice([0.8, 0.8, 0.7]), "keep": draw.choice(["first", "longest"])}
    output = folder / "out.txt"
    deduplicate_files(WIDE, folder / "in.txt", output, source="word:1", **options)


def try_to(*uses):
    """Call them; what was read may be of another map, or too large."""
    for use in uses:
        with contextlib.suppress(ValueError, MemoryError):
            use()


KINDS = {
    "codes": (write_codes, read_codes),
    "index": (write_index, read_index),
    "stages": (write_stages, read_stages),
}


def run(kind, seeds):
    """Damage a file of this kind for each seed, and read it; how many were read."""
    write, read = KINDS[kind]
    outcomes = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = write(folder)
        contents = {
            path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        for seed in seeds:
            draw = random.Random(seed)
            chosen = draw.choice(files)
            (folder / chosen).write_bytes(damaged(draw, contents[Path(chosen)]))
            try:
                read(folder, draw, chosen)
                outcomes["read"] += 1
            except (ValueError, FileNotFoundError):  # a name of a file beside it may be new
                outcomes["refused"] += 1
            except BaseException:
                print(f"{kind} {seed}: {chosen}", file=sys.stderr)
                raise
            for path in folder.rglob("*"):
                if path.is_file() and path.relative_to(folder) not in contents:
                    path.unlink()
            for path, content in contents.items():  # the input keeps its time
                whole = folder / path
                if not whole.exists() or whole.read_bytes() != content:
                    whole.parent.mkdir(exist_ok=True)
                    whole.write_bytes(content)
    return outcomes


if __name__ == "__main__":
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    print(sys.argv[1], dict(run(sys.argv[1], range(first, first + int(sys.argv[2])))))
