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

import sparsemaps
from sparsemaps import _seeding, kernels, libsvm
from sparsemaps.libsvm import _gram, _summary


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
    "minhash": sparsemaps.MinHash,
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
    made = options.make(**parameters, random_state=options.seed, n_jobs=None)
    files = libsvm.map_svmlight_file(
        made,
        options.inputs,
        options.output,
        zero_based=options.zero_based,
        ones=options.ones,
        header=options.command if options.header else False,
        n_jobs=options.n_jobs,
    )
    for file in files:
        if not file.n_rows and not file.skipped:
            name = "standard input" if file.input == "-" else file.input
            print(f"sparsemaps: {name}: there are no rows", file=sys.stderr)


def _kernel(options):
    parameters = _parameters(options, options.function)

    def function(X, Y):
        return options.function(X, Y, **parameters)

    _gram.write_kernel_file(
        function,
        options.train,
        options.test,
        options.output,
        zero_based=options.zero_based,
        n_jobs=options.n_jobs,
    )


def _info(options):
    for line in _summary.summarize(options.input, n_jobs=options.n_jobs):
        print(line)
    sys.stdout.flush()  # here, where an error is still ours to tell
