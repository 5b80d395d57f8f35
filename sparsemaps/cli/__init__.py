"""The ``sparsemaps`` command: options, subcommands, errors and exit codes.

- this file handles errors and signals, and returns exit codes.
- ``_words`` completes the words of a call: the map, and numbers of options, may be left out.
- ``_parser`` has the parser, and what its errors say. ``_help`` has its help of two lengths, and
  ``_commands`` the parsers of subcommands and of maps, made when asked for.
- ``_options`` reads the maps that are subcommands, and their options, from the source of their
  classes. It has the table of kernels.
- ``_map_options``, ``_near_options`` and ``_model_options`` have the options of the subcommands,
  with their help and examples; ``_shared_options`` has the options of several subcommands.
- ``_map_commands``, ``_near_commands`` and ``_model_commands`` have a function for each subcommand;
  ``_given`` makes maps, inputs and tasks of the options, and ``_last_line`` prints the last line.
- ``_compare`` is the subcommand of that name, with its options in ``_compare_options``; ``_demo``
  and ``_demo_data`` are the demonstration.

Help and version import no module that computes: the options import none, and functions of
subcommands are imported when one is called.
"""

import argparse
import contextlib
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from functools import partial

from sparsemaps._tools._escapes import print_line
from sparsemaps._tools._option_fields import options_of
from sparsemaps._tools._parameters import ParameterError, wording_settings
from sparsemaps.cli._options import KERNELS, MAPS, SAVED, load
from sparsemaps.cli._parser import BAD_INPUT, make_parser
from sparsemaps.cli._shared_options import flag
from sparsemaps.cli._words import completed
from sparsemaps.files._job_options import VALUES

__all__ = ["main", "make_parser"]

BY_SIGNAL = 128  # plus the number of the signal, as in shells


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    Bad options raise SystemExit, as argparse does. The streams of the process are unchanged.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["map"] and arguments[1:2] and arguments[1].startswith("--config"):
        arguments = ["map", SAVED, *arguments[1:]]
    parser = make_parser()
    words, has_no_map = completed(parser, arguments)
    options = parser.parse_args(words)
    options.has_no_map = has_no_map
    names = _option_names(options)
    options.command = shlex.join(["sparsemaps", *arguments])
    try:
        with _signals_raise(), wording_settings(partial(_setting, names)):
            load(options.run)(options)  # imported now, so that help does not import it
        return 0
    except BrokenPipeError:  # the reader has closed the pipe: no message is needed
        return BY_SIGNAL + 13
    except (OSError, ValueError, MemoryError, ImportError) as error:
        said = _reason(error, names, words[0])
        print_line(f"sparsemaps: {said}", error=True)
        return BAD_INPUT
    except KeyboardInterrupt:
        print_line("sparsemaps: interrupted", error=True)
        return BY_SIGNAL + signal.SIGINT
    except _Signalled as ended:
        print_line("sparsemaps: terminated", error=True)
        return BY_SIGNAL + ended.number


class _Signalled(BaseException):
    """A signal that ends the program, after temporary files are removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def end(number: int, frame: object) -> None:
        raise _Signalled(number)

    names = ("SIGTERM", "SIGHUP")  # Windows has one of them
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {
        number: signal.signal(number, end)
        for number in numbers
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _reason(error: BaseException, options: set[str], command: str) -> str:
    """Return the text of an error of a command, in one line."""
    if isinstance(error, MemoryError):
        return f"out of memory in {command}" + (f": {error}" if str(error) else "")
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ParameterError):
        name = _option_of(error.name, options)
        if name in options:
            error = ParameterError(flag(name), error.value, error.allowed)
    return " ".join(str(error).split())


_OPTION_OF = {"random_state": "seed", "source": "texts"} | {
    option.name: option.dest for cls in VALUES for option in options_of(cls) if option.flag
}
"""Parameters whose options have other names."""


def _option_of(name: str, options: set[str]) -> str:
    """Return the name of the option for a parameter."""
    return name if name in options else _OPTION_OF.get(name, name)


def _setting(options: set[str], name: str, value: object) -> str | None:
    """Return the option for a parameter with a value; None if the command has no such option."""
    name = _option_of(name, options)
    if name not in options:
        return None
    if isinstance(value, (list, tuple)):
        value = " ".join(map(str, value))
    return flag(name) if value is True else f"{flag(name)} {value}"


def _option_names(options: argparse.Namespace) -> set[str]:
    """Return the parameters that are options of a command."""
    kind = MAPS.get(getattr(options, "map_name", "")) or KERNELS.get(
        getattr(options, "kernel_name", "")
    )
    return {*vars(options), *(option.name for option in (kind.options if kind else ()))}
