"""Processes that make calls, for endpoints that answer faster than one process can ask.

    this process                                   a process that makes calls
    number, place, request  ──── socket pair ────▶  desk.answer(place, request)
    reply or error          ◀────────────────────   number, answered

Each message is its length in four bytes, then a pickle; both ends are this program. A process ends itself as soon as
its socket is closed, which the system does for a parent that was killed. It ignores Ctrl-C and its like: whether the
calls in flight may end is the parent's to say. Keys it reads from the environment that it inherits.

A process that begins anew imports an SDK for a second. So those that may be wanted are forked before the run, from this
process, which has imported it, and wait for their first message; where that is not safe or not cheap, and for any
further one, a new interpreter is started.
"""

import asyncio
import contextlib
import gc
import logging
import os
import pathlib
import pickle
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from harness.chat.model import Origin
from harness.errors import EndpointError, TurnbenchError
from harness.records import Request
from harness.running.desk import Answered, Desk
from harness.running.engines import LostWorkerError
from harness.running.interrupts import OTHERS
from harness.running.selector import new_loop

_ROOT = str(pathlib.Path(__file__).resolve().parents[2])
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from harness.running.processes import main; main()"
_LENGTH = 4
_SIGNALS = (signal.SIGINT, *OTHERS)
FORKABLE = 256 * 2**20
"""Bytes of memory of a process that may be forked: what it changes afterwards is in memory twice."""


class _Messages(asyncio.Protocol):
    """Whole messages over a socket, in both directions."""

    def __init__(self, received: Callable[[Any], None], ended: Callable[[], None]) -> None:
        self._received, self._ended = received, ended
        self._held = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self._ended()

    def data_received(self, data: bytes) -> None:
        self._held += data
        start = 0
        while (begin := start + _LENGTH) <= len(self._held):
            end = begin + int.from_bytes(self._held[start:begin])
            if end > len(self._held):
                break
            message = pickle.loads(self._held[begin:end])
            start = end
            self._received(message)
        del self._held[:start]

    def send(self, message: Any) -> None:
        """Send a message; to an end that is gone, nothing."""
        assert self._transport is not None
        content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        self._transport.write(len(content).to_bytes(_LENGTH) + content)

    def close(self) -> None:
        """Close the socket at once."""
        if self._transport is not None:
            self._transport.abort()


class _Forked:
    """What `subprocess.Popen` has, of a process that was forked."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def kill(self) -> None:
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        if self.returncode is None:
            self.returncode = 0
            with contextlib.suppress(ChildProcessError):  # a program that ignores SIGCHLD has none to wait for
                self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.returncode


_Begun: TypeAlias = "_Forked | subprocess.Popen[bytes]"


class Process:
    """One process that makes calls, as its parent sees it."""

    def __init__(self, process: _Begun, ours: socket.socket) -> None:
        """`ours` is the socket to the process, which knows no chat models yet."""
        self.in_flight, self.used = 0, 0.0
        self._messages = _Messages(self._received, self._ended)
        self._process, self._socket = process, ours
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._over = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    async def open(self, origins: Sequence[Origin]) -> None:
        """Let it open these chat models; where it can't, it is ended."""
        try:
            await asyncio.get_running_loop().create_connection(lambda: self._messages, sock=self._socket)
            told = await self._answer(0, tuple(origins))
            if isinstance(told, Exception):
                raise told
        except BaseException:
            self.end()
            raise
        self.used = told

    async def ask(self, place: int, request: Request) -> Answered:
        """Make a call.

        Raises:
            LostWorkerError: the process has ended.
        """
        self._number += 1
        answered: Answered = await self._answer(self._number, (self._number, place, request))
        return answered

    async def close(self) -> None:
        """End the process."""
        self.end()

    def end(self) -> None:
        """End the process at once, whether it was opened or not."""
        self._over = True
        self._process.kill()
        self._process.wait()
        self._messages.close()
        self._socket.close()

    async def _answer(self, number: int, message: Any) -> Any:
        """Send a message, and return what comes back under this number."""
        if self._over:
            raise self._lost()
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._messages.send(message)
        try:
            return await waiting
        finally:
            self._waiting.pop(number, None)

    def _received(self, message: Any) -> None:
        number, content = message
        waiting = self._waiting.get(number)
        if waiting is not None and not waiting.done():  # the engine may have broken the call off
            waiting.set_result(content)

    def _ended(self) -> None:
        """Take note that the process is gone, or that its socket is: then it is to go as well."""
        closed, self._over = self._over, True
        self._process.kill()
        self._process.wait()
        for waiting in self._waiting.values():
            if not closed and not waiting.done():
                waiting.set_exception(self._lost())

    def _lost(self) -> LostWorkerError:
        code = self._process.returncode
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return LostWorkerError(f"process {self.pid}, which made calls, has ended ({how})")


class Spares:
    """Processes that were forked before the run, for when they are wanted."""

    def __init__(self, number: int) -> None:
        """Fork so many, if that can be done."""
        self._spares = [_fork() for _ in range(number)] if _forkable() else []

    async def open(self, origins: Sequence[Origin]) -> Process:
        """Return a process that can make calls to these chat models, of these or a new one.

        Raises:
            TurnbenchError: a chat model cannot be opened there.
            LostWorkerError: the process ended before.
            OSError: none can be started.
        """
        process = self._spares.pop() if self._spares else _start()
        await process.open(origins)
        return process

    def close(self) -> None:
        """End those that were not wanted."""
        while self._spares:
            self._spares.pop().end()


def _start() -> Process:
    """Start a new interpreter."""
    ours, theirs = socket.socketpair()
    with theirs:
        # A group of its own: Ctrl-C is for the parent alone.
        argv = [sys.executable, "-P", "-c", _PROGRAM, _ROOT, str(theirs.fileno())]
        process = subprocess.Popen(argv, pass_fds=[theirs.fileno()], process_group=0, stdin=subprocess.DEVNULL)
    return Process(process, ours)


def _forkable() -> bool:
    """Return whether this process can be forked: nothing runs beside this thread that could hold a lock now (which
    nobody would ever release in the child), and it is small. Elsewhere than on Linux the system's libraries forbid it.
    """
    if sys.platform != "linux":
        return False
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return len(os.listdir("/proc/self/task")) == 1 and pages * os.sysconf("SC_PAGE_SIZE") <= FORKABLE


def _fork() -> Process:
    """Fork this process."""
    ours, theirs = socket.socketpair()
    # From its first instruction it does nothing about a signal that is meant for the parent.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        pid = os.fork()
        if pid == 0:
            _be_forked(theirs)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    return Process(_Forked(pid), ours)


def _be_forked(theirs: socket.socket) -> None:
    """Make calls, in a process that holds nothing of its parent's but memory; never return.

    Its files and sockets become the null device: a lock is free when the parent ends, a connection is closed when the
    parent closes it, and what still has their numbers (a log file's handler, a finalizer) reaches nothing.
    """
    try:
        os.setpgid(0, 0)
        gc.freeze()  # nor is anything finalized, or copied by looking through it
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in map(int, os.listdir("/proc/self/fd")):
            if number not in (nothing, theirs.fileno(), 2):
                with contextlib.suppress(OSError):
                    os.dup2(nothing, number, inheritable=False)
        for logger in (logging.root, *logging.root.manager.loggerDict.values()):
            if isinstance(logger, logging.Logger):
                logger.handlers.clear()
        _make_calls(theirs)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def main() -> None:
    """Make calls until the parent closes the socket."""
    _make_calls(socket.socket(fileno=int(sys.argv[2])))


def _make_calls(theirs: socket.socket) -> None:
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    signal.set_wakeup_fd(-1)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_serve(theirs))


async def _serve(theirs: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    desk: Desk | None = None
    calls: set[asyncio.Task[None]] = set()

    async def call(number: int, place: int, request: Request) -> None:
        assert desk is not None
        messages.send((number, await desk.answer(place, request)))

    def received(message: Any) -> None:
        nonlocal desk
        if desk is not None:
            task = loop.create_task(call(*message))
            calls.add(task)
            task.add_done_callback(calls.discard)
            return
        try:
            desk = Desk(message)
        except Exception as error:
            messages.send((0, error if isinstance(error, TurnbenchError) else EndpointError(repr(error))))
        else:
            messages.send((0, time.process_time()))

    # Nothing is to be tidied up: connections are closed with the process, and nobody is left to read a reply.
    messages = _Messages(received, lambda: os._exit(0))
    await loop.create_connection(lambda: messages, sock=theirs)
    await asyncio.Event().wait()
