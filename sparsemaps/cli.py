"""The ``sparsemaps`` command: LIBSVM files in, LIBSVM files out.

Each map is a subcommand of ``map``, each exact kernel one of ``kernel``, and each of their
parameters an option, read off the signature of what makes them: a new one is there by its line in
`MAPS` or `KERNELS`.
"""

import argparse
import contextlib
import inspect
import os
import re
import shlex
import signal
import sys
import threading
import time

import numpy as np
import scipy.sparse as sp
from tqdm import tqdm

import sparsemaps
from sparsemaps import _files, _seeding, _threads, kernels, libsvm


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


def minmax_times_acos(X, Y=None, *, n_jobs=None):
    """Min-max times acos kernel."""
    product = kernels.min_max_kernel(X, Y, n_jobs=n_jobs)
    product *= kernels.acos_kernel(X, Y, n_jobs=n_jobs)
    return product


def minmax_times_acos_chi2(X, Y=None, *, n_jobs=None):
    """Min-max times acos-chi-square kernel."""
    product = kernels.min_max_kernel(X, Y, n_jobs=n_jobs)
    product *= kernels.acos_chi2_kernel(X, Y, n_jobs=n_jobs)
    return product


MAPS = {
    "minmax": sparsemaps.ConsistentWeightedSampling,
    "count-sketch": sparsemaps.CountSketch,
    "tensor-sketch": sparsemaps.TensorSketch,
    "maclaurin": sparsemaps.RandomMaclaurin,
    "fourier": sparsemaps.RandomFourier,
    "fastfood": sparsemaps.Fastfood,
    "binning": sparsemaps.RandomBinning,
    "signs": sparsemaps.SignProjection,
    "minmax-signs": minmax_times_signs,
    "minmax-fourier": minmax_times_fourier,
}

KERNELS = {
    "minmax": kernels.min_max_kernel,
    "generalized-minmax": kernels.generalized_min_max_kernel,
    "chi2": kernels.chi2_similarity,
    "acos": kernels.acos_kernel,
    "acos-chi2": kernels.acos_chi2_kernel,
    "normalized-rbf": kernels.normalized_rbf_kernel,
    "folded-rbf": kernels.folded_rbf_kernel,
    "laplacian": kernels.laplacian_kernel,
    "cauchy": kernels.cauchy_kernel,
    "matern": kernels.matern_kernel,
    "minmax-acos": minmax_times_acos,
    "minmax-acos-chi2": minmax_times_acos_chi2,
}

# Of a stream, the seed must be known and the output is sparse text; rows are what files give, and
# functions nothing that an option can.
_NOT_OPTIONS = ("random_state", "n_jobs", "dense_output", "X", "Y", "pitch_density")

BAD_INPUT = 2
BY_SIGNAL = 128  # plus the signal's number, as shells have it

_BLOCK_BYTES = 2**19
"""About how much text is read at a time."""

_LINES_BYTES = 2**22
"""About how much text is made of it at a time."""

_VALUE_BYTES = 28  # of text: index, colon, the digits of a number, blank


# ---- the program ---------------------------------------------------------------------------------


def main(arguments=None):
    """Run the command; returns its exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(arguments)
    options.command = shlex.join(["sparsemaps", *arguments])
    try:
        with _signals_raise():
            options.run(options)
        return 0
    except BrokenPipeError:  # the reader has left; there is nobody to tell
        status = BY_SIGNAL + 13
    except (OSError, ValueError, MemoryError) as error:
        print(f"sparsemaps: {_reason(error)}", file=sys.stderr)
        status = BAD_INPUT
    except KeyboardInterrupt:
        print("sparsemaps: interrupted", file=sys.stderr)
        status = BY_SIGNAL + signal.SIGINT
    except _Signalled as ended:
        print("sparsemaps: terminated", file=sys.stderr)
        status = BY_SIGNAL + ended.number
    _abandon_output()
    return status


class _Signalled(BaseException):
    """A signal that asks the program to end, once what it has begun is put away."""

    def __init__(self, number):
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _signals_raise():
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may have handlers
        return

    def end(number, frame):
        raise _Signalled(number)

    names = ("SIGTERM", "SIGHUP")  # Windows has one of them
    before = {
        number: signal.signal(number, end)
        for number in (getattr(signal, name, None) for name in names)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _abandon_output():
    """Python would try again, and complain, when it flushes standard output at its end."""
    with contextlib.suppress(AttributeError, OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reason(error):
    if isinstance(error, MemoryError):
        return "out of memory"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())


# ---- options -------------------------------------------------------------------------------------


def _parser():
    parser = argparse.ArgumentParser(
        prog="sparsemaps",
        description="Random feature maps of sparse data, for linear learners.",
        epilog="Exit status: 0 done; 2 bad options, parameters, input or files, with one line that "
        "says what; 128 + n ended by signal n (130 Ctrl-C, 141 closed pipe, 143 terminated).",
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
    for name, make in MAPS.items():
        _add_map(kinds, name, make)

    grams = commands.add_parser(
        "kernel", help="write an exact kernel in LIBSVM's precomputed format, for svm-train -t 4"
    )
    kinds = grams.add_subparsers(required=True, metavar="KERNEL")
    for name, function in KERNELS.items():
        _add_kernel(kinds, name, function)

    info = commands.add_parser("info", help="say what is in a LIBSVM file")
    info.add_argument("input", metavar="FILE", help="LIBSVM file, or - for standard input")
    _add_n_jobs(info)
    info.set_defaults(run=_info)
    return parser


def _add_kind(kinds, name, make):
    return kinds.add_parser(
        name,
        help=make.__doc__.splitlines()[0].lstrip(":").replace("%", "%%"),
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )


def _add_map(kinds, name, make):
    parser = _add_kind(kinds, name, make)
    parser.add_argument(
        "inputs", nargs="+", metavar="INPUT", help="LIBSVM file (.gz, .bz2, .xz), or - for a pipe"
    )
    _add_output(parser)
    parser.add_argument("--seed", type=int, default=0, help="the same for train and test files")
    parser.add_argument(
        "--ones", action="store_true", help="write one-hot features as 1, without their factor"
    )
    parser.add_argument(
        "--header",
        action="store_true",
        help="begin with a comment that is this command; LIBSVM's programs read no comments",
    )
    _add_parameters(parser, make)
    parser.set_defaults(run=_map, make=make)


def _add_kernel(kinds, name, function):
    parser = _add_kind(kinds, name, function)
    parser.add_argument("train", metavar="TRAIN", help="LIBSVM file (.gz, .bz2, .xz), or -")
    parser.add_argument(
        "test", metavar="TEST", nargs="?", help="rows to write, against those of TRAIN; else TRAIN"
    )
    _add_output(parser)
    _add_parameters(parser, function)
    parser.set_defaults(run=_kernel, function=function)


def _add_output(parser):
    parser.add_argument(
        "-o", "--output", required=True,
        help="file to write (.gz, .bz2, .xz), or - for standard output",
    )  # fmt: skip
    _add_n_jobs(parser)
    parser.add_argument(
        "--zero-based", action="store_true", help="columns count from 0 in what is read, not from 1"
    )


def _add_n_jobs(parser):
    parser.add_argument("--n-jobs", type=int, default=1, help="threads; -1 for all processors")


def _add_parameters(parser, make):
    """The parameters of a class or function as options."""
    for parameter in inspect.signature(make).parameters.values():
        if parameter.name in _NOT_OPTIONS:
            continue
        option = "--" + parameter.name.replace("_", "-")
        about = _help(make, parameter.name)
        how = {"default": parameter.default, "dest": parameter.name, "help": about}
        if isinstance(parameter.default, bool):
            parser.add_argument(option, action=argparse.BooleanOptionalAction, **how)
        else:
            parser.add_argument(option, type=_value, **how)


def _help(make, name):
    """The values that the documentation of `make` allows a parameter, or its first sentence."""
    found = re.search(rf"^{name} : (.*)\n((?:    .*\n)+)", inspect.getdoc(make) or "", re.MULTILINE)
    if not found:
        return " "  # not nothing: then argparse would leave out the default
    if found[1].startswith("{"):
        about = found[1].rpartition(", default")[0]
    else:
        about = re.split(r"[.:;](?=\s)", " ".join(found[2].split()))[0].rstrip(".")
    return re.sub(r":\w+:|`| \[\d\]_", "", about).replace("%", "%%")


def _value(text):
    """What an option's text means: a number, numbers with commas between them, or a word."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    if "," in text:
        with contextlib.suppress(ValueError):
            return tuple(float(part) for part in text.split(","))
    return text


def _parameters(options, make):
    names = inspect.signature(make).parameters
    return {name: getattr(options, name) for name in names if name not in _NOT_OPTIONS}


# ---- what it does --------------------------------------------------------------------------------


def _demo(options):
    from sparsemaps import _demo

    _demo.run(options.output)


def _map(options):
    parameters = _parameters(options, options.make)
    if "dense_output" in inspect.signature(options.make).parameters:
        parameters["dense_output"] = False
    fitted = options.make(**parameters, random_state=options.seed, n_jobs=None)
    fitted._fit_any_width()
    one_hot = hasattr(fitted, "encode")
    if options.ones and not one_hot:
        raise ValueError("--ones is for one-hot maps")
    n_values = fitted.n_hashes if hasattr(fitted, "n_hashes") else fitted.n_components
    most_lines = max(1, _LINES_BYTES // (_VALUE_BYTES * n_values))

    def lines(text, first_line, first_row):
        X, y, n_lines = libsvm.parse_lines(text, first_line, options.zero_based)
        if one_hot:
            numbers = fitted._codes_any_width(X, first_row)
            written = libsvm.format_codes(numbers, fitted._code_bits, y, ones=options.ones)
        else:
            Z = fitted._transform_any_width(X, first_row)
            written = libsvm.format_rows(sp.csr_array(Z), y)
        return (written, len(y)), n_lines, len(y)

    _threads.resolve_n_jobs(options.n_jobs)
    with _files.atomic_output(options.output) as out:
        if options.header:
            out.write(b"# " + " ".join(options.command.split()).encode() + b"\n")
        with _Progress(options.inputs) as progress:
            for path in options.inputs:
                for block, n_rows in _read(path, lines, options.n_jobs, progress, most_lines):
                    out.write(block)
                    progress.update(n_rows)


def _kernel(options):
    parameters = _parameters(options, options.function)
    paths = [options.train] if options.test is None else [options.train, options.test]
    parts = libsvm.load_svmlight_files(
        [_source(path) for path in paths], zero_based=options.zero_based, n_jobs=options.n_jobs
    )
    train, (X, y) = parts[0], parts[-2:]
    n_train = train.shape[0]
    step = max(1, _LINES_BYTES // (_VALUE_BYTES * (n_train + 1)))

    def lines(start, stop):
        """Each row's number, then its kernel with the rows of TRAIN."""
        K = np.empty((stop - start, n_train + 1))
        K[:, 0] = np.arange(start + 1, stop + 1)
        K[:, 1:] = options.function(X[start:stop], train, **parameters)
        ends = np.arange(0, K.size + 1, n_train + 1)
        block = sp.csr_array((K.ravel(), np.tile(np.arange(n_train + 1), len(K)), ends))
        return libsvm.format_rows(block, y[start:stop], zero_based=True)

    options.function(X[:1], train[:1], **parameters)  # bad parameters end it here
    starts = range(0, X.shape[0], step)
    blocks = [(start, min(start + step, X.shape[0])) for start in starts]
    with (
        _files.atomic_output(options.output) as out,
        tqdm(total=X.shape[0], unit=" rows", unit_scale=True, disable=None) as bar,
    ):
        stream = _threads.stream(lines, blocks, options.n_jobs)
        for (start, stop), block in zip(blocks, stream, strict=True):
            out.write(block)
            bar.update(stop - start)


def _info(options):
    def summary(text, first_line, first_row):
        X, y, n_lines = libsvm.parse_lines(text, first_line, zero_based=True)
        columns = (int(X.indices.min()), int(X.indices.max())) if X.nnz else None
        values = (X.data.min(), X.data.max()) if X.nnz else None
        return (X.nnz, columns, values, np.unique(y, return_counts=True), len(y)), n_lines, len(y)

    rows = entries = width = 0
    least, most, smallest = np.inf, -np.inf, 2**63
    labels = {}
    with _Progress([options.input]) as progress:
        for nnz, columns, values, found, n_rows in _read(
            options.input, summary, options.n_jobs, progress
        ):
            progress.update(n_rows)
            rows += n_rows
            entries += nnz
            if nnz:
                smallest, width = min(smallest, columns[0]), max(width, columns[1])
                least, most = min(least, values[0]), max(most, values[1])
            for label, count in zip(*found, strict=True):
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
    sys.stdout.flush()  # here, where an error is still ours to tell


# ---- reading -------------------------------------------------------------------------------------


def _source(path):
    if path != "-":
        return path
    if sys.stdin is None:
        raise ValueError("standard input is closed")
    return sys.stdin.buffer


def _read(path, convert, n_jobs, progress, most_lines=None):
    """What ``convert(text, first_line, first_row)`` makes of a file, block by block, in order."""
    with _files.open_text(_source(path)) as text:
        text.name = text.name or "standard input: "
        progress.opened(text)
        blocks = text.blocks(_BLOCK_BYTES)
        if most_lines is not None:
            blocks = (part for block in blocks for part in _cut_lines(block, most_lines))
        yield from libsvm.in_order(convert, blocks, n_jobs, text.name)


def _cut_lines(text, most):
    """`text` in pieces of at most so many lines: short ones can become long."""
    if text.count(b"\n") <= most:
        yield text
        return
    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))[most - 1 :: most] + 1
    start = 0
    for end in [*ends.tolist(), len(text)]:
        if start < end:
            yield text[start:end]
        start = end


class _Progress:
    """A bar of the bytes read and rows done of several files, on a terminal; otherwise nothing."""

    def __init__(self, paths):
        sizes = [os.path.getsize(path) if os.path.isfile(path) else None for path in paths]
        known = None not in sizes
        self._bar = tqdm(
            total=sum(sizes) if known else None,
            unit="B", unit_scale=True, unit_divisor=1024, disable=None,
        )  # fmt: skip
        self._text = None
        self._before = self._rows = 0
        self._start = time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._bar.close()

    def opened(self, text):
        """The next file has its turn."""
        self._before, self._text = self._bar.n, text

    def update(self, n_rows):
        """So many more rows are done."""
        if self._bar.disable:
            return
        self._rows += n_rows
        seconds = max(time.monotonic() - self._start, 1e-9)
        self._bar.set_postfix_str(f"{self._rows / seconds:.3g} rows/s", refresh=False)
        self._bar.update(self._before + self._text.position() - self._bar.n)
