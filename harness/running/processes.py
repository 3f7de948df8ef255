"""Processes that make calls, for endpoints that answer faster than one process can ask.

    this process                                   a process that makes calls
    number, place, request  ──── socket pair ────▶  desk.answer(place, request)
    reply or error          ◀────────────────────   number, answered

Each message is its length in four bytes, then a pickle; both ends are this program. A process ends itself as soon as
its socket is closed, which the system does for a parent that was killed. It ignores Ctrl-C and its like: whether the
calls in flight may end is the parent's to say. Keys it reads from the environment that it inherits.
"""

import asyncio
import os
import pathlib
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

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


class Process:
    """One process that makes calls, as its parent sees it."""

    room = 1.0

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.in_flight = 0
        self.used = 0.0
        self.ready: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.messages = _Messages(self._received, self._ended)
        self._process = process
        self._number = 0
        self._waiting: dict[int, asyncio.Future[Answered]] = {}
        self._over = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    async def ask(self, place: int, request: Request) -> Answered:
        """Make a call.

        Raises:
            LostWorkerError: the process has ended.
        """
        if self._over:
            raise self._lost()
        self._number += 1
        number = self._number
        waiting = self._waiting[number] = asyncio.get_running_loop().create_future()
        self.messages.send((number, place, request))
        try:
            answered: Answered = await waiting
        finally:
            self._waiting.pop(number, None)
        return answered

    async def close(self) -> None:
        """End the process."""
        self._over = True
        self._process.kill()
        self._process.wait()
        self.messages.close()

    def _received(self, message: Any) -> None:
        number, content = message
        if not self.ready.done():
            self.used = content if isinstance(content, float) else 0.0
            self.ready.set_result(content if isinstance(content, Exception) else None)
            return
        waiting = self._waiting.get(number)
        if waiting is not None and not waiting.done():  # the engine may have broken the call off
            waiting.set_result(content)

    def _ended(self) -> None:
        """Take note that the process is gone, or that its socket is: then it is to go as well."""
        closed, self._over = self._over, True
        self._process.kill()
        self._process.wait()
        if not closed and not self.ready.done():
            self.ready.set_result(self._lost())
        for waiting in self._waiting.values():
            if not closed and not waiting.done():
                waiting.set_exception(self._lost())

    def _lost(self) -> LostWorkerError:
        code = self._process.poll()
        how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        return LostWorkerError(f"process {self.pid}, which made calls, has ended ({how})")


async def open_process(origins: Sequence[Origin]) -> Process:
    """Start a process and return it when it can make calls to these chat models.

    Raises:
        TurnbenchError: a chat model cannot be opened there.
        LostWorkerError: the process ended before.
        OSError: none can be started.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        # A group of its own: Ctrl-C is for the parent alone.
        argv = [sys.executable, "-P", "-c", _PROGRAM, _ROOT, str(theirs.fileno())]
        process = Process(subprocess.Popen(argv, pass_fds=[theirs.fileno()], process_group=0, stdin=subprocess.DEVNULL))
    try:
        await asyncio.get_running_loop().create_connection(lambda: process.messages, sock=ours)
        process.messages.send(tuple(origins))
        fault = await process.ready
        if fault is not None:
            raise fault
    except BaseException:
        await process.close()
        raise
    return process


def main() -> None:
    """Make calls until the parent closes the socket."""
    for number in (signal.SIGINT, *OTHERS):
        signal.signal(number, signal.SIG_IGN)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_serve(socket.socket(fileno=int(sys.argv[2]))))


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
