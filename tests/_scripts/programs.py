"""Processes that have imported the package.

They are forked from a server that has done so once, as every new interpreter takes seconds for it.
"""

import contextlib
import functools
import multiprocessing
import os
import sys
from unittest import mock

import pytest

CLOSED = "closed"

posix = pytest.mark.skipif(sys.platform == "win32", reason="not as on POSIX systems")


class _Descriptor:
    """A descriptor of this process that is that of the new process there."""

    def __init__(self, stream):
        self.number = stream if isinstance(stream, int) else stream.fileno()

    def __reduce__(self):
        from multiprocessing.reduction import DupFd  # which Windows does not have

        return _detach, (DupFd(self.number),)


def _detach(descriptor):
    return descriptor.detach()


def _run(arguments, folder, streams, before):
    """What a new interpreter does with ``python -m sparsemaps``."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if streams[number] == CLOSED:
            os.close(number)
            setattr(sys, name, None)
        else:
            if streams[number] is not None:
                os.dup2(streams[number], number)
                os.close(streams[number])
            setattr(sys, name, open(number, mode))  # noqa: SIM115 (open as long as the process)
    os.chdir(folder)
    if before is not None:
        before()
    from sparsemaps import __main__ as program

    sys.argv = [program.__file__, *arguments]
    sys.exit(program.main())


@functools.cache
def context():
    """The functions of ``multiprocessing`` for such processes."""
    if sys.platform == "win32":
        return multiprocessing.get_context("spawn")
    from multiprocessing import forkserver

    of_server = multiprocessing.get_context("forkserver")
    # Whatever the programs import is imported once, for all of them.
    of_server.set_forkserver_preload(
        [
            "sparsemaps.cli._map_commands",
            "sparsemaps.cli._near_commands",
            "sparsemaps.files._dedup",
            "sparsemaps.maps.minhash",
            "sparsemaps.maps.weighted_sampling",
            "sparsemaps.text._own_ngrams",
        ]
    )
    # It shall not import the sources where it is started.
    with mock.patch.dict(os.environ, PYTHONSAFEPATH="1"):
        forkserver.ensure_running()
    return of_server


class Program:
    """The command, with files, descriptors or CLOSED as its streams. The process calls `before`
    first."""

    def __init__(self, *arguments, cwd, stdin=None, stdout=None, stderr=None, before=None):
        self._said, write_end = os.pipe()
        streams = [
            stream if stream in (None, CLOSED) else _Descriptor(stream)
            for stream in (stdin, stdout, write_end if stderr is None else stderr)
        ]
        self.process = context().Process(
            target=_run, args=([str(argument) for argument in arguments], cwd, streams, before)
        )
        self.process.start()
        os.close(write_end)

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.kill(self.process.pid, number)

    def wait(self):
        """Its exit status."""
        self.process.join(timeout=60)
        return self.process.exitcode

    def end(self):
        """Its exit status, and what it said on standard error."""
        with open(self._said, "rb") as said:
            text = said.read()
        return self.wait(), text
