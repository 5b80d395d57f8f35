"""The ``sparsemaps`` command: options, subcommands, errors and exit codes.

- This file handles errors and signals, and returns exit codes.
- ``_words`` completes the words of a call: the map and some options' numbers may be omitted.
- ``_wording`` formats errors, with options and values as users type them.
- ``_parser`` has the parser and its error messages. ``_help`` has the short and the full help, and
  ``_commands`` the parsers of subcommands and maps, which are created on demand.
- ``_options`` reads the maps that are subcommands, and their options, from the source of their
  classes. It has the table of kernels.
- ``_map_options``, ``_near_options`` and ``_model_options`` define the options of the subcommands,
  with help and examples. ``_shared_options`` defines options of several subcommands.
- ``_map_commands``, ``_near_commands``, ``_train_command`` and ``_model_commands`` have one
  function per subcommand. ``_given`` makes maps, inputs and tasks from the options, and
  ``_last_line`` prints the last line.
- ``_compare`` is the subcommand compare, with its options in ``_compare_options``, and
  ``_number_table`` reads its CSV files of numbers. ``_demo`` and ``_demo_data`` are the
  demonstration.

Help and version import no module that computes: the option modules import none, and the functions
of a subcommand are imported when it is called.
"""

import argparse
import contextlib
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from types import FrameType
from typing import Any, cast

from sparsemaps._tools._escapes import print_line
from sparsemaps._tools._parameters import wording_settings
from sparsemaps.cli._options import SAVED, load
from sparsemaps.cli._parser import BAD_INPUT, make_parser
from sparsemaps.cli._wording import ShellWording
from sparsemaps.cli._words import completed

__all__ = ["main", "make_parser"]

BY_SIGNAL = 128  # plus the number of the signal, as in shells

SECONDS_OF_AN_IMPORT = 0.01
"""Delay after which a signal that arrived during an import is sent again."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status.

    Bad options raise SystemExit, like argparse. The streams of the process are unchanged.
    """
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments[:1] == ["map"] and arguments[1:2] and arguments[1].startswith("--config"):
        arguments = ["map", SAVED, *arguments[1:]]
    parser = make_parser()
    words, has_no_map = completed(parser, arguments)
    options = parser.parse_args(words)
    options.has_no_map = has_no_map
    options.command = shlex.join(["sparsemaps", *arguments])
    with wording_settings(ShellWording(options)), _warnings_are_lines():
        return _status_of(options, words[0])


def _status_of(options: argparse.Namespace, command: str) -> int:
    """Run a subcommand, report its errors, and return the exit status."""
    try:
        with _signals_raise():
            load(options.run)(options)  # imported now, so that help does not import it
        return 0
    except BrokenPipeError:  # the reader has closed the pipe: no message is needed
        return BY_SIGNAL + 13
    except (OSError, ValueError, MemoryError, ImportError) as error:
        print_line(f"sparsemaps: {_reason(error, command)}", error=True)
        return BAD_INPUT
    except KeyboardInterrupt:
        print_line("sparsemaps: interrupted", error=True)
        return BY_SIGNAL + signal.SIGINT
    except _Signalled as ended:
        print_line("sparsemaps: terminated", error=True)
        return BY_SIGNAL + ended.number


class _Signalled(BaseException):
    """A signal that ends the program after temporary files have been removed."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextlib.contextmanager
def _warnings_are_lines() -> Iterator[None]:
    """Print warnings as lines of the command on standard error, without a place in the source."""

    def show(message: Warning | str, category: object, filename: str, *place: Any) -> None:
        said = " ".join(str(message).split())
        print_line(f"sparsemaps: warning: {said}", error=True)

    before, shower = warnings.showwarning, cast(Any, show)
    warnings.showwarning = shower
    try:
        yield
    finally:
        warnings.showwarning = before


@contextlib.contextmanager
def _signals_raise() -> Iterator[None]:
    """Raise an exception for signals that end a process, so that temporary files are removed.

    A signal during an import is sent again until the import has ended. An interrupted compiled
    module raises an ImportError, and Python drops exceptions that a handler raises within the lock
    of a module.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return

    def end(number: int, frame: FrameType | None) -> None:
        if _imports(frame):
            threading.Timer(SECONDS_OF_AN_IMPORT, _send_again, [number]).start()
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise _Signalled(number)

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # Windows has only the first two
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {
        number: signal.signal(number, end)
        for number in numbers
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _imports(frame: FrameType | None) -> bool:
    """Return whether a module is being imported in this frame or in one of its callers."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    """Send a signal to the main thread, which may be waiting for input."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(cast(int, threading.main_thread().ident), number)
    else:
        signal.raise_signal(number)


def _reason(error: BaseException, command: str) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, MemoryError):
        return f"out of memory in {command}" + (f": {error}" if str(error) else "")
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split())
