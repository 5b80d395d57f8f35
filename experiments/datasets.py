"""The papers' data sets: source, licence, and preparation of rows.

Nothing is downloaded. A directory holds NAME.train.svm and NAME.test.svm (or .val.svm), or the same
compressed (.xz, .gz, .bz2), in LIBSVM's format; raw texts are in NAME.jsonl, or compressed.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from sparsemaps.libsvm import load_svmlight_files

UCI = "https://archive.ics.uci.edu/dataset/"
R_DATASETS = "https://vincentarelbundock.github.io/Rdatasets/doc/"
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/"
LAROCHELLE = (
    "http://www.iro.umontreal.ca/~lisa/twiki/bin/view.cgi/Public/DeepVsShallowComparisonICML2007"
)
CC_BY = "CC BY 4.0"
NOT_STATED = "not stated at the source"


class Source(NamedTuple):
    """Where a data set is from."""

    address: str
    licence: str = CC_BY


SOURCES = {
    "adult_a9a": Source(UCI + "2/adult"),
    "banana": Source("https://sci2s.ugr.es/keel/dataset.php?cod=182", NOT_STATED),
    "ccat": Source(LIBSVM + "binary.html#rcv1.binary", NOT_STATED),
    "census": Source(UCI + "117/census+income+kdd"),
    "chile": Source(R_DATASETS + "carData/Chile.html", NOT_STATED),
    "computers": Source(R_DATASETS + "Ecdat/Computers.html", NOT_STATED),
    "covtype29k": Source(UCI + "31/covertype"),
    "cpu_act": Source("https://www.cs.toronto.edu/~delve/data/comp-activ/desc.html", NOT_STATED),
    "ct_slices": Source(UCI + "206/relative+location+of+ct+slices+on+axial+axis"),
    "diamonds": Source(R_DATASETS + "ggplot2/diamonds.html", NOT_STATED),
    "fair": Source("https://www.statsmodels.org/stable/datasets/generated/fair.html", NOT_STATED),
    "gisette": Source(UCI + "170/gisette"),
    "ijcnn1": Source(LIBSVM + "binary.html#ijcnn1", NOT_STATED),
    "insurance_coil": Source(UCI + "125/insurance+company+benchmark+coil+2000"),
    "isolet": Source(UCI + "54/isolet"),
    "kddcup99": Source(UCI + "130/kdd+cup+1999+data"),
    "kegg": Source(UCI + "220/kegg+metabolic+relation+network+directed"),
    "letter": Source(UCI + "59/letter+recognition"),
    "m_basic": Source(LAROCHELLE, NOT_STATED),
    "mnist": Source("http://yann.lecun.com/exdb/mnist/", NOT_STATED),
    "news20_bydate": Source("http://qwone.com/~jason/20Newsgroups/", NOT_STATED),
    "optdigits": Source(UCI + "80/optical+recognition+of+handwritten+digits"),
    "pages": Source("https://packages.debian.org/bookworm/doc/", "licences of each document"),
    "parkinsons": Source(UCI + "189/parkinsons+telemonitoring"),
    "pendigits": Source(UCI + "81/pen+based+recognition+of+handwritten+digits"),
    "phishing": Source(UCI + "379/website+phishing"),
    "phoneme": Source("https://hastie.su.domains/ElemStatLearn/", NOT_STATED),
    "protein": Source(LIBSVM + "multiclass.html#protein", NOT_STATED),
    "rcv1_binary20k": Source(LIBSVM + "binary.html#rcv1.binary", NOT_STATED),
    "reuters52": Source(
        "https://ana.cachopo.org/datasets-for-single-label-text-categorization", NOT_STATED
    ),
    "satimage": Source(UCI + "146/statlog+landsat+satellite"),
    "sector": Source(LIBSVM + "multiclass.html#sector", NOT_STATED),
    "segment": Source(UCI + "50/image+segmentation"),
    "sensit": Source(LIBSVM + "multiclass.html#SensIT%20Vehicle%20(combined)", NOT_STATED),
    "shuttle": Source(UCI + "148/statlog+shuttle"),
    "sms_spam": Source(UCI + "228/sms+spam+collection"),
    "spambase": Source(UCI + "94/spambase"),
    "splice": Source(UCI + "69/molecular+biology+splice+junction+gene+sequences"),
    "usps": Source(LIBSVM + "multiclass.html#usps", NOT_STATED),
    "vowel": Source(UCI + "152/connectionist+bench+vowel+recognition+deterding+data"),
    "webspam": Source(LIBSVM + "binary.html#webspam", NOT_STATED),
    "wine_white": Source(UCI + "186/wine+quality"),
    "year": Source(UCI + "203/yearpredictionmsd"),
    "youtube": Source(UCI + "269/youtube+multiview+video+games+dataset"),
}


class Split(NamedTuple):
    """Training and test rows with labels."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def paths(directory: str, name: str) -> list[Path] | None:
    """Return the files of the training and the test rows; None if they are missing."""
    found = []
    for parts in (("train",), ("test", "val")):
        files = [p for part in parts for p in Path(directory).glob(f"{name}.{part}.svm*")]
        if not files:
            return None
        found.append(sorted(files)[0])
    return found


def texts_file(directory: str, name: str) -> Path | None:
    """Return the file of raw texts (JSON Lines); None if it is missing."""
    return next(iter(sorted(Path(directory).glob(f"{name}.jsonl*"))), None)


def has(directory: str, name: str) -> bool:
    """Return whether the directory has the data set."""
    return paths(directory, name) is not None or texts_file(directory, name) is not None


@lru_cache(maxsize=4)
def load(directory: str, name: str, n_rows: int | None = None, prepare: str = "") -> Split:
    """Return the data set with `n_rows` training rows: a random sample, the same each time.

    Prepare rows. "shift" adds a constant that makes the least value 0, "max" scales columns to at
    most 1, "range" to 0 to 1, "unit" rows to unit length, "standard" columns to variance 1 (dense).
    """
    files = paths(directory, name)
    if files is None:
        raise FileNotFoundError(f"{directory} has no {name}.train.svm and {name}.test.svm")
    X, y, X_test, y_test = load_svmlight_files([str(path) for path in files])
    X, X_test = sp.csr_array(X), sp.csr_array(X_test)
    if n_rows is not None and n_rows < len(y):
        chosen = np.random.default_rng(0).choice(len(y), n_rows, replace=False)
        X, y = X[chosen], y[chosen]
    if prepare == "shift":
        least = min(X.min(), X_test.min())
        X, X_test = (sp.csr_array(A.toarray() - least) for A in (X, X_test))
    elif prepare == "max":
        scale = X.max(axis=0).toarray().reshape(-1)
        by = sp.diags_array(1 / np.where(scale > 0, scale, 1))
        X, X_test = sp.csr_array(X @ by), sp.csr_array(X_test @ by)
    elif prepare == "range":
        low = X.min(axis=0).toarray().reshape(-1)
        high = X.max(axis=0).toarray().reshape(-1)
        width = np.where(high > low, high - low, 1)
        X, X_test = (sp.csr_array(np.maximum((A.toarray() - low) / width, 0)) for A in (X, X_test))
    elif prepare == "standard":
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(X.toarray())
        X, X_test = (scaler.transform(A.toarray()) for A in (X, X_test))
    elif prepare == "unit":
        from sklearn.preprocessing import normalize

        X, X_test = normalize(X), normalize(X_test)
    return Split(X, y, X_test, y_test)
