"""``python -m experiments.programs -o RESULTS``: which programs and libraries of a Debian system
are alike, by the symbols that they import and the strings in them, beside TLSH.

Two files belong together if their packages are of one source. ``pip install pyelftools py-tlsh``.
"""

import argparse
import re
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from threadpoolctl import threadpool_limits

from experiments import report, runner
from sparsemaps import ConsistentWeightedSampling, MinHash
from sparsemaps.codes import collisions
from sparsemaps.kernels import min_max_kernel
from sparsemaps.text import HashingVectorizer, IdfWeights

FOLDERS = ("/usr/bin", "/usr/sbin", "/usr/libexec", "/usr/lib/x86_64-linux-gnu")
LARGEST = 20_000_000
LINES = HashingVectorizer(
    token_pattern=r"[^\n]+", lowercase=False, binary=True, norm=None, alternate_sign=False,
    n_features=2**31 - 2,
)  # fmt: skip


def programs(folders: Iterable[str]) -> list[Path]:
    """Return ELF files, each once."""
    paths = {path.resolve() for folder in folders for path in Path(folder).rglob("*")}
    files = (path for path in sorted(paths) if path.is_file())
    return [path for path in files if path.stat().st_size <= LARGEST and is_elf(path)]


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def sources() -> dict[str, str]:
    """Return the source package of each file, from dpkg's lists."""
    shown = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package}\t${source:Package}\n"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    of_package = dict(line.split("\t") for line in shown.stdout.splitlines())
    found = {}
    for listed in Path("/var/lib/dpkg/info").glob("*.list"):
        source = of_package.get(listed.stem.partition(":")[0], "")
        for line in listed.read_text(encoding="utf-8").splitlines():
            found[line if line.startswith("/usr/") else f"/usr{line}"] = source
    return found


def strings(path: Path) -> bytes:
    """Return runs of six or more printable characters, one per line."""
    return b"\n".join(re.findall(rb"[\x20-\x7e]{6,}", path.read_bytes()))


def imports(path: Path) -> str:
    """Return the names of undefined symbols, one per line."""
    from elftools.elf.elffile import ELFFile

    with path.open("rb") as file:
        table = ELFFile(file).get_section_by_name(".dynsym")
        symbols = table.iter_symbols() if table else ()
        return "\n".join(s.name for s in symbols if s["st_shndx"] == "SHN_UNDEF")


def same_source(similarity: Any, sources: Any) -> float:
    """Return the share of files whose most similar other file has the same source, in percent.

    Files that are alone in their source are left out. If several others are equally similar, their
    share counts.
    """
    similarity = np.array(similarity, np.float64)
    np.fill_diagonal(similarity, -np.inf)
    several = np.array([n > 1 for n in map(Counter(sources).get, sources)])
    nearest = similarity == similarity.max(axis=1, keepdims=True)
    right = (nearest & (sources[:, None] == sources)).sum(axis=1) / nearest.sum(axis=1)
    return float(100 * right[several].mean())


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return function(), time.process_time() - start


def of_codes(texts: Any, n_hashes: int, bits: int) -> Any:
    """Return numbers of samples that agree."""
    minhash = MinHash(n_hashes=n_hashes, bits=bits, random_state=0).fit_any_width()
    codes = minhash.encode_texts(LINES, texts)
    return collisions(codes, codes, bits)


def of_weights(X: Any, n_hashes: int) -> Any:
    """Return numbers of samples of 8 bits that agree, of rows of idf weights."""
    weighted = IdfWeights().fit_transform(X)
    samples = ConsistentWeightedSampling(n_hashes=n_hashes, method="levels", random_state=0)
    codes = samples.fit(weighted).encode(weighted)
    return collisions(codes, codes, 8)


def of_cosine(X: Any) -> Any:
    """Return cosines of rows of idf weights: the usual baseline."""
    _, columns = np.unique(X.indices, return_inverse=True)
    sets = sp.csr_array((X.data, columns, X.indptr))  # as TfidfTransformer takes all columns
    rows = TfidfTransformer().fit_transform(sets)
    return (rows @ rows.T).toarray()


def of_tlsh(contents: list[bytes]) -> Any:
    """Return TLSH's distances, negated; those to files without a digest are far."""
    import tlsh

    digests = [tlsh.hash(content) for content in contents]
    found = np.full((len(digests), len(digests)), -1e6)
    for i, digest in enumerate(digests):
        for j in range(i):
            if digest.startswith("T1") and digests[j].startswith("T1"):
                found[i, j] = found[j, i] = -tlsh.diff(digest, digests[j])
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m experiments.programs", description=__doc__)
    parser.add_argument("-o", "--results", type=Path, required=True, help="where the table goes")
    options = parser.parse_args(arguments)
    known = sources()
    paths = [path for path in programs(FOLDERS) if known.get(str(path))]
    of = np.array([known[str(path)] for path in paths])
    rows = []

    def add(name: str, n_bytes: str, read: float, compared: tuple[Any, float]) -> None:
        share = same_source(compared[0], of)
        rows.append([name, n_bytes, f"{share:.1f}", f"{read:.1f}", f"{compared[1]:.2f}"])
        print(*rows[-1], sep=" | ", flush=True)

    with threadpool_limits(1):
        for name, function in (("strings", strings), ("imports", imports)):
            texts, read = timed(lambda function=function: [*map(function, paths)])
            X = LINES.transform(texts)
            members = f"{4 * X.nnz / len(paths):,.0f}"
            add(f"{name}, min-max, exact", members, read, timed(lambda X=X: min_max_kernel(X)))
            add(f"{name} with idf, cosine, exact", members, read, timed(lambda X=X: of_cosine(X)))
            for n_hashes in (256, 64):
                found = timed(lambda X=X, n=n_hashes: of_weights(X, n))
                add(f"{name} with idf, {n_hashes} samples", str(n_hashes), read, found)
            for n_hashes, bits in ((256, 8), (64, 8), (64, 4)):
                found = timed(lambda t=texts, n=n_hashes, b=bits: of_codes(t, n, b))
                add(f"{name}, {n_hashes} samples", str(n_hashes * bits // 8), read, found)
        contents, read = timed(lambda: [path.read_bytes() for path in paths])
        add("TLSH of the file", "35", read, timed(lambda: of_tlsh(contents)))
    size = sum(path.stat().st_size for path in paths) / 1e6
    names = ("pyelftools", "py-tlsh", "numpy", "sparsemaps")
    report.write_table(
        options.results / "counts-programs", "Programs by their strings and imports",
        ["similarity of", "bytes a file", "same source, %", "s to read", "s to compare"], rows,
        f"{len(paths):,} programs and libraries ({size:,.0f} MB) of a Debian 12 system. Same "
        "source: of the most similar other file, if the source has another one. "
        "s to read: from files "
        "to strings, imports or bytes. s to compare: from these to the similarity of all pairs, "
        "with hashing; exact and idf: from the hashed rows; CPU time of one thread. "
        "`python -m experiments.programs -o RESULTS`; "
        f"{runner.machine()}; {', '.join(f'{name} {version(name)}' for name in names)}.",
    )  # fmt: skip


if __name__ == "__main__":
    main()
