"""Interrupts of calls with several threads, each of which must end, and the next one be right.

    python -m _scripts.interrupts steps N_TASKS
        raise an exception before each bytecode of `sparsemaps._tools._threads` that the caller runs
    python -m _scripts.interrupts signals N
        send N single signals, each at a random moment of a call

A call that hangs ends the program, which then prints where each thread stands.
"""

import faulthandler
import random
import signal
import sys
import zlib

import numpy as np
import scipy.sparse as sp
from _data.chance import SEED

from sparsemaps import CountSketch
from sparsemaps._tools import _threads

SECONDS = 30  # that a call may take; it takes milliseconds
FILE = _threads.__file__


def checksum(i):
    """Some work for which the interpreter's lock is released."""
    return zlib.crc32(bytes(20_000 + i))


def of_tasks(n_tasks, n_jobs=2):
    return _threads.run(checksum, ((i,) for i in range(n_tasks)), n_jobs)


def check(call, expected):
    """The next call is as any, and of as many threads."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    assert call() == expected
    assert _threads.resolve_n_jobs(2) == 2
    faulthandler.cancel_dump_traceback_later()


def interrupted(call, step):
    """Whether ``call()``, interrupted before a bytecode of that number, has come so far."""
    n_steps = 0

    def trace(frame, event, argument):
        nonlocal n_steps
        if frame.f_code.co_filename != FILE or frame.f_code.co_name == "__del__":
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            n_steps += 1
            if n_steps == step:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    faulthandler.dump_traceback_later(SECONDS, exit=True)
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False


def at_each_step(n_tasks):
    expected = of_tasks(n_tasks, 1)
    step = n_ended = 0
    while n_ended < 20:  # calls differ in the number of steps
        step += 1
        if step % 50 == 0:
            _threads._forget_pool()  # steps that start threads, too
        n_ended += not interrupted(lambda: of_tasks(n_tasks), step)
        check(lambda: of_tasks(n_tasks), expected)
    return step


def by_signals(n_signals):
    X = sp.csr_array(np.random.default_rng(SEED).random((700, 40)))
    sketch = CountSketch(n_components=32, random_state=0, dense_output=True, n_jobs=2)
    sketch.fit(X)
    calls = [lambda: of_tasks(12), lambda: of_tasks(12, 3), lambda: sketch.transform(X).tolist()]
    expected = [call() for call in calls]
    random.seed(0)

    def interrupt(number, frame):
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    n_raised = 0
    while n_raised < n_signals:
        number = random.randrange(len(calls))
        if random.random() < 0.02:
            _threads._forget_pool()
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-6, 1e-3))
            while True:
                calls[number]()
        except KeyboardInterrupt:
            n_raised += 1
        if n_raised % 10 == 0:
            check(calls[number], expected[number])
    return n_raised


if __name__ == "__main__":
    kind, number = sys.argv[1], int(sys.argv[2])
    print(at_each_step(number) if kind == "steps" else by_signals(number))
