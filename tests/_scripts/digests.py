"""A digest of the output of every map, kernel and file function: one JSON line for each.

``python -m _scripts.digests`` prints ``["name", "digest"]`` lines. Two runs that print the same
gave the same bits; `test_levels.py` compares the instruction sets by them.
"""

import hashlib
import json
from io import BytesIO

import numpy as np
import scipy.sparse as sp
from _data import variants as maps
from _data.code_pairs import banded_pairs
from _data.variants import MAPS

from sparsemaps import codes, kernels, libsvm, neighbors, text
from sparsemaps._loops import text as loops_of_texts
from sparsemaps.codes import _packed
from sparsemaps.linear import KernelClassifier, KernelClassifierCV, KernelRegressor
from sparsemaps.neighbors import _bands


def _rows(lengths, n_columns, index_type, seed):
    """Rows of the given lengths, of uniforms that no mathematical function has touched."""
    rng = np.random.default_rng(seed)
    columns = [np.unique(rng.integers(0, n_columns, n)) for n in lengths]
    indptr = np.cumsum([0] + [len(row) for row in columns])
    values = 0.001 + rng.random(indptr[-1])
    indices = np.concatenate(columns).astype(index_type)
    return sp.csr_array((values, indices, indptr.astype(index_type)), (len(lengths), n_columns))


def inputs():
    """Matrices that between them take every way through the kernels, by name."""
    few = _rows([3, 0, 14, 1, 40, 22, 7, 9] * 12, 60, np.int32, 0)
    long = _rows([0, 900, 2, 3000, 150, 400], 100_000, np.int32, 1)
    wide = _rows([5, 80, 0, 33], 2**40, np.int64, 2)
    return {"few columns": few, "long rows": long, "wide": wide}


def _arrays(output):
    if sp.issparse(output):
        return [output.data, output.indices, output.indptr]
    if isinstance(output, (tuple, list)):
        return [array for part in output for array in _arrays(part)]
    if isinstance(output, bytes):
        return [np.frombuffer(output, np.uint8)]
    return [np.asarray(output)]


def make(name, **parameters):
    """A map of seed 0, whatever the seed of the tests."""
    return maps.make(name, random_state=0, **parameters)


def digest(output):
    """A digest of the bits of arrays, sparse matrices, bytes, or tuples of them."""
    state = hashlib.sha256()
    for array in _arrays(output):
        state.update(repr((array.dtype.str, array.shape)).encode())
        state.update(np.ascontiguousarray(array).tobytes())
    return state.hexdigest()[:20]


def of_maps():
    for name, variants in MAPS.items():
        for number, parameters in enumerate(variants):
            for shape, X64 in inputs().items():
                if shape == "wide" and parameters.get("h01"):
                    continue
                for dtype in (np.float64, np.float32):
                    X = X64.astype(dtype)
                    if name == "SignProjection" or parameters.get("signed"):
                        X.data[::3] *= -1
                    if parameters.get("kernel") in ("acos_chi2", "folded_rbf"):
                        X = abs(X)
                    case = f"{name} {number}, {shape}, {np.dtype(dtype)}"
                    fitted = make(name, **parameters).fit(X)
                    yield f"{case}, transform", fitted.transform(X)
                    if hasattr(fitted, "encode"):
                        yield f"{case}, encode", fitted.encode(X)
                    if hasattr(fitted, "sample"):
                        yield f"{case}, sample", fitted.sample(X)


def of_kernels():
    X = inputs()["few columns"]
    for name in kernels.__all__:
        for dtype in (np.float64, np.float32):
            yield f"{name}, {np.dtype(dtype)}", getattr(kernels, name)(X.astype(dtype))


def of_codes():
    A = np.random.default_rng(3).integers(0, 4, (70, 333)).astype(np.uint8)
    B = A[::-3].copy()
    yield "hamming", codes.hamming(A, B)
    for bits in (1, 2, 4, 8, 16, 24):
        yield f"collisions of {bits} bits", codes.collisions(A, B, bits)
    for bits in (1, 3, 8, 24):
        yield f"unpack {bits} bits", codes.unpack(A, bits)
    file = BytesIO()
    codes.dump_svmlight_file(A, np.arange(len(A)), file, 5)
    yield "codes as text", file.getvalue()
    for bits in (1, 2, 4, 8, 16, 24):
        n_codes = 8 * A.shape[1] // bits
        rows = _packed.as_packed("A", A, bits, n_codes)
        bands = _bands.Bands(2, 16)
        yield f"nearest by {bits} bits", neighbors.top_k(A[:9], A, 3, bits=bits)
        yield (
            f"pairs by {bits} bits",
            banded_pairs(rows, None, n_codes, bands),
        )


def of_rare_ways():
    """Ways through the loops that the inputs above do not take."""
    one = _rows([300], 1000, np.int32, 5)
    short = _rows([0, 1, 2, 3] * 5, 10_000, np.int64, 6)
    for dtype in (np.float64, np.float32):
        case = np.dtype(dtype)
        for name in ("SignProjection", "ConsistentWeightedSampling", "RandomBinning"):
            fitted = make(name, **MAPS[name][0])
            yield f"{name}, one row, {case}", fitted.fit_transform(one.astype(dtype))
        X = short.astype(dtype)
        many = make("CountSketch", n_components=100_000)
        yield f"CountSketch, short rows, {case}", many.fit_transform(X)
        many = make("TensorSketch", n_components=4096, method="direct", dense_output=False)
        yield f"TensorSketch, short rows, {case}", many.fit_transform(X)
    large = np.array([[1e120, 0.3, 2.0], [1e120, 0.7, 0.0]])
    yield "cauchy_kernel, large values", kernels.cauchy_kernel(large)


def of_files():
    rng = np.random.default_rng(4)
    for shape, X64 in inputs().items():
        for dtype in (np.float64, np.float32):
            X = X64.astype(dtype)
            X.data[::5] = np.round(X.data[::5], 3)
            X.data[::7] *= dtype(1e-30)
            X.data[::11] = rng.integers(-(10**6), 10**6, len(X.data[::11]))
            file = BytesIO()
            libsvm.dump_svmlight_file(X, rng.integers(0, 2, X.shape[0]), file)
            yield f"dump, {shape}, {np.dtype(dtype)}", file.getvalue()
            file.seek(0)
            yield (
                f"load, {shape}, {np.dtype(dtype)}",
                libsvm.load_svmlight_file(file, n_features=X.shape[1], dtype=dtype),
            )
    text = b"+3e2 qid:7 1:2e-30 2:.5 3:12345678901234567890123.5\t4:1e300 5:-7e-310 # c\n"
    yield "load, unusual numbers", libsvm.load_svmlight_file(BytesIO(text), query_id=True)


def of_texts():
    rng = np.random.default_rng(7)
    alphabet = list("abcdefgh iJ \n_.,é Σ語İ\U0001f600")
    texts = ["".join(rng.choice(alphabet, n)) for n in (0, 1, 30, 100, 900, 5000)]
    for analyzer in ("word", "char", "char_wb"):
        for ngram_range in ((1, 1), (3, 5), (6, 9)):
            for name, some in (
                ("ASCII", [t.encode("ascii", "ignore") for t in texts]),
                ("", texts),
            ):
                vectorizer = text.HashingVectorizer(analyzer=analyzer, ngram_range=ngram_range)
                yield f"{analyzer}, {ngram_range}, {name}", vectorizer.transform(some)
    for ngram_range in ((1, 3), (5, 5)):
        vectorizer = text.ByteNgrams(ngram_range=ngram_range, lowercase=True)
        yield f"bytes, {ngram_range}", vectorizer.transform(texts)
    for ascii in (True, False):
        lines = [json.dumps({"text": t}, ensure_ascii=ascii) for t in texts]
        found = loops_of_texts.texts_of_json("\n".join(lines).encode(), b"text", len(lines), None)
        yield f"JSON, {ascii}", (found.lengths(), *map(bytes, found.pieces()))
    for shape, X in inputs().items():
        for power, sublinear in ((1, False), (2.5, True)):
            weights = text.IdfWeights(power=power, sublinear_tf=sublinear, n_buckets=2**10).fit(X)
            yield f"idf, {shape}, {power}", weights.transform(X)
            yield f"frequencies, {shape}, {power}", weights.to_config()["table"].encode()


def _sum_of_scores(model, rows, _):
    return model.decision_function(rows).sum()


def of_linear_models():
    X = inputs()["few columns"]
    y = np.arange(X.shape[0]) % 3
    for bits in (1, 4, 8, 11):
        map = make("MinHash", n_hashes=37, bits=bits)
        for loss in ("squared_hinge", "hinge", "log_loss"):
            model = KernelClassifier(map, loss=loss, random_state=0).fit(X, y)
            yield f"{loss}, {bits} bits", (model.coef_, model.intercept_)
            yield f"{loss}, {bits} bits, scores", model.decision_function(X)
            path = KernelClassifierCV(
                map, Cs=[1, 10, 100], cv=3, scoring=_sum_of_scores, loss=loss, refit=False,
                random_state=0,
            )  # fmt: skip
            yield f"{loss}, {bits} bits, path of C", path.fit(X, y).scores_
        for loss in ("squared_epsilon_insensitive", "epsilon_insensitive"):
            model = KernelRegressor(map, loss=loss, random_state=0).fit(X, y)
            yield f"{loss}, {bits} bits", (model.coef_, model.intercept_)


def of_everything():
    """Each digest and the name of its case."""
    for cases in (
        *(of_maps(), of_kernels(), of_codes(), of_rare_ways(), of_files(), of_texts()),
        of_linear_models(),
    ):
        for name, output in cases:
            yield name, digest(output)


if __name__ == "__main__":
    for case in of_everything():
        print(json.dumps(case))
