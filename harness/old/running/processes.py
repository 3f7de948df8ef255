"""Processes that make calls, for endpoints that answer faster than one process can ask.

    this process                                   a process that makes calls
    number, place, request  ──── socket pair ────▶  desk.answer(place, request)
    reply or error          ◀────────────────────   number, answered

Each message is its length in four bytes, then a pickle; both ends are this program. A process ends itself as soon as
its socket is closed, which the system does for a parent that was killed. It ignores Ctrl-C and the like: the parent
decides whether the calls in flight may end. It reads keys from the inherited environment.

A new process needs a second to import an SDK. So processes that may be needed are forked before the run, from this
process, which has imported it, and wait for their first message; if that is not safe or not cheap, and for any
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
import sys
import time
import traceback
from collections.abc import AsyncIterator, Sequence
from typing import Any

from harness.old.chat.model import Origin
from harness.old.errors import EndpointError, TurnbenchError
from harness.old.records import Request
from harness.old.running.desk import Answered, Desk
from harness.old.running.engines import LostWorkerError
from harness.old.running.interrupts import OTHERS
from harness.old.running.selector import new_loop

_ROOT = str(pathlib.Path(__file__).resolve().parents[3])
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from harness.old.running.processes import main; main()"
_LENGTH = 4
_CHUNK = 2**18
"""Bytes that are taken from a socket at once, at most."""
_SIGNALS = (signal.SIGINT, *OTHERS)
FORKABLE = 256 * 2**20
"""Bytes of memory of a process that may be forked: what it changes afterwards is in memory twice."""


async def _messages(reader: asyncio.StreamReader) -> AsyncIterator[Any]:
    """Yield the messages that come over a socket, until it is closed."""
    held = bytearray()
    with contextlib.suppress(OSError):
        while data := await reader.read(_CHUNK):  # all that is there: a wait for each message would take longer
            held += data
            start = 0
            while (begin := start + _LENGTH) <= len(held):
                end = begin + int.from_bytes(held[start:begin])
                if end > len(held):
                    break
                yield pickle.loads(held[begin:end])
                start = end
            del held[:start]


def _send(writer: asyncio.StreamWriter, message: Any) -> None:
    """Send a message; to an end that is gone, nothing."""
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    writer.write(len(content).to_bytes(_LENGTH) + content)


class Process:
    """One process that makes calls, as its parent sees it."""

    def __init__(self, pid: int, ours: socket.socket) -> None:
        """`ours` is the socket to the process, which knows no chat models yet."""
        self.in_flight, self.used = 0, 0.0
        self.pid = pid
        self._socket = ours
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._code: int | None = None
        """Its exit code; None: it has not ended."""

    async def open(self, origins: Sequence[Origin]) -> None:
        """Let it open these chat models; where it can't, it is ended."""
        try:
            reader, self._writer = await asyncio.open_connection(sock=self._socket)
            self._reading = asyncio.create_task(self._read(reader))
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
        if self._reading is not None:
            self._reading.cancel()
        if self._code is None:
            self._code = 0
            with contextlib.suppress(ChildProcessError, ProcessLookupError):  # gone, if the program ignores SIGCHLD
                os.kill(self.pid, signal.SIGKILL)
                self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if self._writer is not None:
            self._writer.transport.abort()
        self._socket.close()

    async def _answer(self, number: int, message: Any) -> Any:
        """Send a message, and return what comes back under this number."""
        if self._code is not None:
            raise self._lost()
        assert self._writer is not None
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        _send(self._writer, message)
        try:
            return await waiting
        finally:
            self._waiting.pop(number, None)

    async def _read(self, reader: asyncio.StreamReader) -> None:
        """Pass on replies; when the process or its socket is gone, end it and fail each of its calls."""
        async for number, content in _messages(reader):
            waiting = self._waiting.get(number)
            if waiting is not None and not waiting.done():  # the engine may have broken the call off
                waiting.set_result(content)
        self.end()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._lost())

    def _lost(self) -> LostWorkerError:
        code = self._code or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return LostWorkerError(f"process {self.pid}, which made calls, has ended ({how})")


class Spares:
    """Processes that were forked before the run, for when they are wanted."""

    def __init__(self, number: int) -> None:
        """Fork this many processes, if possible."""
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
        argv = [sys.executable, "-P", "-c", _PROGRAM, _ROOT, str(theirs.fileno())]
        # What it has of this process's files: nothing to read, its own end of the socket, and where errors are shown.
        files = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, theirs.fileno(), theirs.fileno()),
        ]
        # A group of its own: Ctrl-C is for the parent alone.
        return Process(os.posix_spawn(sys.executable, argv, os.environ, file_actions=files, setpgroup=0), ours)


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
    return Process(pid, ours)


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
    reader, writer = await asyncio.open_connection(sock=theirs)
    messages = _messages(reader)
    calls: set[asyncio.Task[None]] = set()

    async def call(number: int, place: int, request: Request) -> None:
        _send(writer, (number, await desk.answer(place, request)))

    try:
        desk = Desk(await anext(messages))
    except Exception as error:
        _send(writer, (0, error if isinstance(error, TurnbenchError) else EndpointError(repr(error))))
    else:
        _send(writer, (0, time.process_time()))
    async for message in messages:
        task = asyncio.create_task(call(*message))
        calls.add(task)
        task.add_done_callback(calls.discard)
    # Nothing is to be tidied up: connections are closed with the process, and nobody is left to read a reply.
    os._exit(0)
