"""Sockets that are ready are handed out a few at a time, none is lost, and a busy loop takes all at once."""

import asyncio
import contextlib
import selectors
import socket
from collections.abc import Iterator

import pytest

from harness.old.running import loops, selector
from harness.old.running.selector import AT_ONCE, BUSY, FewAtOnce

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def chosen() -> Iterator[FewAtOnce]:
    with FewAtOnce() as few:
        yield few


@pytest.fixture
def pairs(chosen: FewAtOnce) -> Iterator[list[Pair]]:
    """Ten watched sockets, each with the one that writes to it."""
    with contextlib.ExitStack() as stack:
        made = [socket.socketpair() for _ in range(10)]
        for number, (watched, writer) in enumerate(made):
            stack.enter_context(watched)
            stack.enter_context(writer)
            chosen.register(watched, selectors.EVENT_READ, number)
        yield made


def told(few: FewAtOnce) -> list[int]:
    return [key.data for key, _ in few.select(0)]


def write_to(pairs: list[Pair]) -> None:
    for _, writer in pairs:
        writer.send(b"x")


def test_what_is_ready_comes_in_portions_and_all_of_it_once(chosen: FewAtOnce, pairs: list[Pair]) -> None:
    write_to(pairs)
    portions = [told(chosen) for _ in range(3)]
    assert [len(portion) for portion in portions] == [AT_ONCE, AT_ONCE, 2]
    assert sorted(number for portion in portions for number in portion) == list(range(10))


def test_what_nobody_reads_is_told_again(chosen: FewAtOnce, pairs: list[Pair]) -> None:
    write_to(pairs[:6])
    first = told(chosen) + told(chosen)
    assert sorted(first) == sorted(told(chosen) + told(chosen)) == list(range(6))


def test_few_come_together(chosen: FewAtOnce, pairs: list[Pair]) -> None:
    assert told(chosen) == []
    write_to(pairs[:AT_ONCE])
    assert sorted(told(chosen)) == list(range(AT_ONCE))


def test_a_socket_closed_meanwhile_is_left_out(chosen: FewAtOnce, pairs: list[Pair]) -> None:
    write_to(pairs)
    seen = told(chosen)
    gone = next(number for number in range(10) if number not in seen)
    chosen.unregister(pairs[gone][0])
    rest = told(chosen) + told(chosen)
    assert sorted([*seen, *rest, gone]) == list(range(10))


def test_a_socket_watched_for_something_else_meanwhile_is_told_by_what_it_is_watched_for(
    chosen: FewAtOnce, pairs: list[Pair]
) -> None:
    write_to(pairs)
    seen = told(chosen)
    late = [number for number in range(10) if number not in seen]
    chosen.modify(pairs[late[0]][0], selectors.EVENT_WRITE, "other")
    chosen.modify(pairs[late[1]][0], selectors.EVENT_READ, "renamed")
    rest = [key.data for _ in range(2) for key, _ in chosen.select(0)]
    assert "renamed" in rest
    assert "other" not in rest


def test_a_loop_that_never_waits_is_given_all(chosen: FewAtOnce, pairs: list[Pair]) -> None:
    write_to(pairs)
    for _ in range(BUSY):
        told(chosen)
    assert len(told(chosen)) == 10
    for watched, _ in pairs:
        watched.recv(1)
    assert chosen.select(0.001) == []  # a pause
    write_to(pairs)
    assert len(told(chosen)) == AT_ONCE


def test_an_interrupt_from_another_thread_wakes_the_loop() -> None:
    async def woken() -> str:
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        await asyncio.to_thread(loop.call_soon_threadsafe, came.set)
        await came.wait()
        return type(getattr(loop, "_selector", None)).__name__

    assert loops.run_to_end(woken) == "FewAtOnce"


def test_each_request_follows_its_reply_before_the_last_reply_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen replies that lie ready: with portions the first follow-up is sent before the last reply is read."""

    async def order() -> list[str]:
        happened: list[str] = []
        pairs = [socket.socketpair() for _ in range(16)]
        streams = [await asyncio.open_connection(sock=mine) for mine, _ in pairs]
        for _, theirs in pairs:
            theirs.send(b"reply\n")

        async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readline()
            happened.append("read")
            await asyncio.sleep(0)
            writer.write(b"next\n")
            happened.append("sent")

        await asyncio.gather(*(converse(*stream) for stream in streams))
        for _, writer in streams:
            writer.close()
        for _, theirs in pairs:
            theirs.close()
        return happened

    def first_sent() -> int:
        with asyncio.Runner(loop_factory=selector.new_loop) as runner:
            return runner.run(order()).index("sent")

    assert first_sent() < 16
    monkeypatch.setattr(selector, "AT_ONCE", 1000)
    assert first_sent() == 16
