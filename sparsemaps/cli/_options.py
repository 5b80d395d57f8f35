"""The maps and kernels of the ``sparsemaps`` command, and the options of each.

These are only names; the modules are imported when a command runs, so that help is fast.
"""

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple


class Option(NamedTuple):
    """An option ``--name-with-hyphens`` for the parameter `name`."""

    name: str
    kind: Callable[[str], Any] | tuple[str, ...] | type[bool]
    default: Any
    help: str


class Kind(NamedTuple):
    """A map or a kernel: what makes it (``module:name``), one line about it, its options."""

    make: str
    about: str
    options: tuple[Option, ...]


def integer(text: str) -> int:
    return int(text)


def number(text: str) -> float | int:
    with contextlib.suppress(ValueError):
        return int(text)
    return float(text)


def kernel_or_series(text: str) -> Any:
    """A word, or numbers with commas between them."""
    if "," in text:
        return tuple(float(part) for part in text.split(","))
    with contextlib.suppress(ValueError):
        return (float(text),)
    return text


def _n_components(help: str = "columns of the output") -> Option:
    return Option("n_components", integer, 1024, help)


def _n_hashes(help: str = "samples of a row; four times as many halve the error") -> Option:
    return Option("n_hashes", integer, 256, help)


_GAMMA = Option("gamma", number, 1.0, "factor of the (squared) distance or of the inner product")
_GAMMA_OF_WIDTH = Option(
    "gamma",
    number,
    None,
    "factor of the squared distance or inner product; if not given, 1/columns",
)
_NU = Option("nu", number, 1.5, "smoothness of the kernel matern, above 0 and at most 10000")
_DEGREE = Option("degree", integer, 2, "degree of the polynomial")
_COEF0 = Option("coef0", number, 0.0, "constant of the polynomial")
_BITS = Option("bits", integer, 8, "bits of the column that a sample keeps, 1 to 16")
_T_BITS = Option("t_bits", integer, 0, "bits of the weight that a sample keeps, 0 to 8")
_ACOS = Option("kernel", ("acos", "acos_chi2"), "acos", "kernel of the signs")
_DISTRIBUTION = Option(
    "distribution",
    ("rademacher",),
    None,
    "project on random signs, which is faster but not exact for short rows; only for the kernel "
    "acos",
)
_FOURIER = ("rbf", "laplacian", "cauchy", "matern", "folded_rbf")
_FOURIER_KERNEL = Option("kernel", _FOURIER, "rbf", "the kernel; rbf is the Gaussian")

MAPS = {
    "minmax": Kind(
        "sparsemaps:ConsistentWeightedSampling",
        "min-max kernel, by consistent weighted sampling; values >= 0, or --signed",
        (
            _n_hashes(),
            _BITS,
            _T_BITS,
            Option(
                "method",
                ("icws", "dart"),
                "icws",
                "dart is faster for long rows that share few columns; the samples are others",
            ),
            Option(
                "signed",
                bool,
                False,
                "accept values of both signs, for the generalized min-max kernel",
            ),
        ),
    ),
    "minhash": Kind(
        "sparsemaps:MinHash",
        "Jaccard kernel of the sets of non-zero columns, by minhash",
        (_n_hashes(), _BITS),
    ),
    "count-sketch": Kind(
        "sparsemaps:CountSketch", "linear kernel, by a sketch of fewer columns", (_n_components(),)
    ),
    "tensor-sketch": Kind(
        "sparsemaps:TensorSketch",
        "polynomial kernel, by sketches of tensor products",
        (
            _DEGREE,
            _GAMMA,
            _COEF0,
            _n_components(),
            Option(
                "method",
                ("auto", "fft", "direct"),
                "auto",
                "how the sketch is computed; the sketch is the same",
            ),
        ),
    ),
    "maclaurin": Kind(
        "sparsemaps:RandomMaclaurin",
        "polynomial or exponential kernel, or any power series of the inner product",
        (
            Option(
                "kernel",
                kernel_or_series,
                "poly",
                "poly, exp, or the coefficients of a series, such as 0.5,0,2",
            ),
            _DEGREE,
            _GAMMA,
            _COEF0,
            _n_components(),
            Option("h01", bool, False, "compute the constant and linear terms exactly"),
        ),
    ),
    "fourier": Kind(
        "sparsemaps:RandomFourier",
        "Gaussian, Laplacian, Cauchy, Matern or folded Gaussian kernel",
        (
            _FOURIER_KERNEL,
            _GAMMA,
            _NU,
            _n_components(),
            Option(
                "form", ("paired", "offset"), "paired", "cosine and sine, or cosine with an offset"
            ),
        ),
    ),
    "fastfood": Kind(
        "sparsemaps:Fastfood",
        "Gaussian or Matern kernel, by fast transforms",
        (
            Option("kernel", ("rbf", "matern"), "rbf", "the kernel; rbf is the Gaussian"),
            _GAMMA,
            Option("degree", integer, 2, "degree of the kernel matern"),
            _n_components(),
            Option("transform_type", ("hadamard", "fft"), "hadamard", "the fast transform"),
            Option(
                "hash_dim",
                integer,
                None,
                "number of columns that rows are hashed to first; required, as the width of "
                "files is not known beforehand",
            ),
        ),
    ),
    "binning": Kind(
        "sparsemaps:RandomBinning",
        "Laplacian kernel, by random grids",
        (
            _GAMMA,
            Option("n_grids", integer, 256, "number of grids; four times as many halve the error"),
            Option("n_bins", integer, 2**12, "output columns of a grid, a power of two"),
        ),
    ),
    "signs": Kind(
        "sparsemaps:SignProjection",
        "acos or acos-chi-square kernel, by signs of random projections",
        (_ACOS, _n_hashes("signs of a row; four times as many halve the error"), _DISTRIBUTION),
    ),
    "minmax-signs": Kind(
        "sparsemaps.cli._commands:minmax_times_signs",
        "min-max times acos kernel",
        (_n_hashes(), _BITS, _T_BITS, _ACOS, _DISTRIBUTION),
    ),
    "minmax-fourier": Kind(
        "sparsemaps.cli._commands:minmax_times_fourier",
        "min-max times Gaussian kernel, or another of the map fourier",
        (_n_hashes(), _BITS, _T_BITS, _FOURIER_KERNEL, _GAMMA, _NU),
    ),
}

KERNELS = {
    "minmax": Kind(
        "sparsemaps.kernels:min_max_kernel",
        "sum of minima divided by sum of maxima; values >= 0",
        (),
    ),
    "generalized-minmax": Kind(
        "sparsemaps.kernels:generalized_min_max_kernel",
        "min-max kernel of values of both signs",
        (),
    ),
    "chi2": Kind("sparsemaps.kernels:chi2_similarity", "sum of 2uv/(u+v); values >= 0", ()),
    "acos": Kind("sparsemaps.kernels:acos_kernel", "1 - angle/pi between two rows", ()),
    "acos-chi2": Kind(
        "sparsemaps.kernels:acos_chi2_kernel",
        "acos of the chi-square similarity; values >= 0",
        (),
    ),
    "normalized-rbf": Kind(
        "sparsemaps.kernels:normalized_rbf_kernel", "exp(-gamma (1 - cosine))", (_GAMMA,)
    ),
    "folded-rbf": Kind(
        "sparsemaps.kernels:folded_rbf_kernel",
        "exp(-gamma (1 - cosine))/2 + exp(-gamma (1 + cosine))/2",
        (_GAMMA,),
    ),
    "rbf": Kind(
        "sparsemaps.kernels:rbf_kernel", "exp(-gamma (squared distance))", (_GAMMA_OF_WIDTH,)
    ),
    "polynomial": Kind(
        "sparsemaps.kernels:polynomial_kernel",
        "(gamma (inner product) + coef0) to the power of the degree",
        (
            Option("degree", integer, 3, "degree of the polynomial"),
            _GAMMA_OF_WIDTH,
            Option("coef0", number, 1.0, "constant of the polynomial"),
        ),
    ),
    "laplacian": Kind("sparsemaps.kernels:laplacian_kernel", "exp(-gamma sum |u - v|)", (_GAMMA,)),
    "cauchy": Kind(
        "sparsemaps.kernels:cauchy_kernel", "product of 1/(1 + gamma^2 (u - v)^2)", (_GAMMA,)
    ),
    "matern": Kind("sparsemaps.kernels:matern_kernel", "Matern kernel", (_GAMMA, _NU)),
    "minmax-acos": Kind(
        "sparsemaps.cli._commands:minmax_times_acos", "min-max times acos kernel", ()
    ),
    "minmax-acos-chi2": Kind(
        "sparsemaps.cli._commands:minmax_times_acos_chi2",
        "min-max times acos-chi-square kernel",
        (),
    ),
}

PAIR_MAPS = ("minhash", "minmax", "signs", "fourier", "binning", "minmax-signs")
"""The maps whose codes are compared by ``sparsemaps pairs``."""

PAIR_EXAMPLES = """\
examples:
  sparsemaps pairs {name} texts.svm -o pairs.tsv --threshold 0.8
  zcat big.svm.gz | sparsemaps pairs {name} - -o pairs.tsv.gz --threshold 0.9 --exact
"""

SAVED = "saved"
"""In place of the name of a map: the map is read from a file."""

MAP_EXAMPLES = """\
examples:
  sparsemaps map {name} train.svm -o train.mapped
      with the same options and seed, the test file is mapped in the same way
  zcat big.svm.gz | sparsemaps map {name} - -o - | xz > big.mapped.xz
      from standard input to standard output
  sparsemaps map {name} parts/ -o mapped/ --resume --shard 1/8
      one output for each input, for an eighth of the inputs; finished outputs are skipped
  sparsemaps map {name} parts/ -o mapped/ --resume --dask tcp://scheduler:8786
      on a Dask cluster; workers may fail meanwhile
"""

KERNEL_EXAMPLES = """\
examples:
  sparsemaps kernel {name} train.svm -o train.kernel
  sparsemaps kernel {name} train.svm test.svm -o test.kernel
  svm-train -t 4 train.kernel model && svm-predict test.kernel model predicted
"""

INFO_EXAMPLES = """\
examples:
  sparsemaps info train.svm.xz
  sparsemaps info codes.npy
"""

DEMO_EXAMPLES = """\
examples:
  sparsemaps demo
  sparsemaps demo -o /tmp/demo
"""
