"""The ``sparsemaps`` command: LIBSVM files in, LIBSVM files out.

Each map is a subcommand of ``map``, and each of its parameters an option, read off the signature of
what makes it: a new map is there by its line in `MAPS`.
"""

import argparse
import inspect
import os
import sys

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

import sparsemaps
from sparsemaps import _seeding, libsvm


def minmax_times_signs(
    *, n_hashes=256, bits=8, t_bits=0, kernel="acos", distribution=None, random_state, n_jobs
):
    """Min-max times acos (or acos_chi2) kernel, as one-hot samples."""
    sampled = sparsemaps.ConsistentWeightedSampling(n_hashes=n_hashes, bits=bits, t_bits=t_bits)
    signs = sparsemaps.SignProjection(kernel=kernel, n_hashes=n_hashes, distribution=distribution)
    return sparsemaps.KernelProduct(maps=(sampled, signs), random_state=random_state, n_jobs=n_jobs)


def minmax_times_fourier(
    *, n_hashes=256, bits=8, t_bits=0, kernel="rbf", gamma=1.0, nu=1.5, random_state, n_jobs
):
    """Min-max times Gaussian kernel (or another of the fourier map)."""
    sampled = sparsemaps.ConsistentWeightedSampling(n_hashes=n_hashes, bits=bits, t_bits=t_bits)
    fourier = sparsemaps.RandomFourier(kernel=kernel, gamma=gamma, nu=nu, n_components=n_hashes)
    return sparsemaps.KernelProduct(
        maps=(sampled, fourier), random_state=random_state, n_jobs=n_jobs
    )


MAPS = {
    "minmax": sparsemaps.ConsistentWeightedSampling,
    "count-sketch": sparsemaps.CountSketch,
    "tensor-sketch": sparsemaps.TensorSketch,
    "maclaurin": sparsemaps.RandomMaclaurin,
    "fourier": sparsemaps.RandomFourier,
    "signs": sparsemaps.SignProjection,
    "minmax-signs": minmax_times_signs,
    "minmax-fourier": minmax_times_fourier,
}

# Of a stream, the seed must be known and the output is sparse text.
_NOT_OPTIONS = ("random_state", "n_jobs", "dense_output")

_EXIT_BAD_INPUT = 2

# A block's text, features and lines are held together; lines are the longest of them.
_BLOCK_BYTES = 2**19


def main(arguments=None):
    """Run the command; returns its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return options.run(options) or 0
    except BrokenPipeError:
        # The reader of standard output has left; Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _EXIT_BAD_INPUT
    except (OSError, ValueError) as error:
        print(f"sparsemaps: {_reason(error)}", file=sys.stderr)
        return _EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("sparsemaps: interrupted", file=sys.stderr)
        return 130


def _reason(error):
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())


def _parser():
    parser = argparse.ArgumentParser(
        prog="sparsemaps", description="Random feature maps of sparse data, for linear learners."
    )
    parser.add_argument(
        "--version",
        action="version",
        version=f"sparsemaps {sparsemaps.__version__} (random numbers: scheme {_seeding.SCHEME})",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="show the maps at work, on data that is there")
    demo.add_argument(
        "-o", "--output", default="sparsemaps-demo", help="folder to write LIBSVM files to"
    )
    demo.set_defaults(run=_demo)

    maps = commands.add_parser("map", help="map the rows of LIBSVM files")
    kinds = maps.add_subparsers(required=True, metavar="MAP")
    for name, cls in MAPS.items():
        _add_map(kinds, name, cls)

    info = commands.add_parser("info", help="say what is in a LIBSVM file")
    info.add_argument("input", metavar="FILE", help="LIBSVM file, or - for standard input")
    info.set_defaults(run=_info)
    return parser


def _add_map(kinds, name, cls):
    parser = kinds.add_parser(
        name,
        help=cls.__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="LIBSVM file (.gz, .bz2, .xz), or - for a pipe"
    )
    parser.add_argument(
        "-o", "--output", required=True, help="file to write, or - for standard output"
    )
    parser.add_argument("--seed", type=int, default=0, help="the same for train and test files")
    parser.add_argument("--n-jobs", type=int, default=1, help="threads; -1 for all processors")
    parser.add_argument(
        "--zero-based", action="store_true", help="the columns of INPUT count from 0, not from 1"
    )
    parser.add_argument(
        "--ones", action="store_true", help="write one-hot features as 1, without their factor"
    )
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name not in _NOT_OPTIONS:
            _add_parameter(parser, parameter)
    parser.set_defaults(run=_map, cls=cls)


def _add_parameter(parser, parameter):
    option = "--" + parameter.name.replace("_", "-")
    default = parameter.default
    if isinstance(default, bool):
        parser.add_argument(
            option, action=argparse.BooleanOptionalAction, default=default, dest=parameter.name,
            help="see the class",
        )  # fmt: skip
    else:
        kind = str if default is None else type(default)
        parser.add_argument(
            option, type=kind, default=default, dest=parameter.name, help="see the class"
        )


def _demo(options):
    from sparsemaps import _demo

    _demo.run(options.output)


def _map(options):
    names = inspect.signature(options.cls).parameters
    parameters = {name: getattr(options, name) for name in names if name not in _NOT_OPTIONS}
    if "dense_output" in names:
        parameters["dense_output"] = False
    fitted = options.cls(**parameters, random_state=options.seed, n_jobs=options.n_jobs)
    fitted._fit_any_width()
    if options.ones and not hasattr(fitted, "encode"):
        raise ValueError("--ones is for one-hot maps")
    with (
        libsvm.atomic_output(options.output) as out,
        tqdm(desc="rows", unit="", unit_scale=True, disable=None) as bar,
    ):
        for path in options.inputs:
            with _naming(path):
                first = 0
                for X, y in _blocks(path, options.zero_based):
                    Z = fitted._transform_any_width(X, first)
                    out.write(libsvm.format_rows(sp.csr_array(Z), y, ones=options.ones))
                    first += len(y)
                    bar.update(len(y))


def _blocks(path, zero_based):
    source = sys.stdin.buffer if path == "-" else path
    return libsvm.iter_svmlight_file(source, zero_based=zero_based, block_bytes=_BLOCK_BYTES)


class _naming:
    """Put the file's name before what goes wrong with its content."""

    def __init__(self, path):
        self.path = "standard input" if path == "-" else path

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, ValueError):
            raise ValueError(f"{self.path}: {error}") from error


def _info(options):
    rows = entries = width = 0
    least, most, smallest = np.inf, -np.inf, 2**63
    labels = {}
    with _naming(options.input):
        for X, y in _blocks(options.input, zero_based=True):
            rows += X.shape[0]
            entries += X.nnz
            if X.nnz:
                width = max(width, int(X.indices.max()))
                smallest = min(smallest, int(X.indices.min()))
                least, most = min(least, X.data.min()), max(most, X.data.max())
            for label, count in zip(*np.unique(y, return_counts=True), strict=True):
                if len(labels) <= 1000:
                    labels[float(label)] = labels.get(float(label), 0) + int(count)
    print(f"rows     {rows}")
    print("columns  " + (f"{smallest} to {width}" if entries else "none"))
    print(f"entries  {entries}" + (f" ({entries / rows:.1f} a row)" if rows else ""))
    print("values   " + (f"{least:g} to {most:g}" if entries else "none"))
    if len(labels) > 20:
        numbers = f"{min(labels):g} to {max(labels):g}"
        print(f"labels   {'over 1000' if len(labels) > 1000 else len(labels)} of {numbers}")
    else:
        counts = ", ".join(f"{label:g}: {count}" for label, count in sorted(labels.items()))
        print(f"labels   {counts or 'none'}")
