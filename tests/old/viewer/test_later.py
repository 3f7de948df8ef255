"""What takes long is made beside the page, apart from this process if it reads much, and says how far it is."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Client, Listener

import pytest

from harness.old.bench import load_questions
from harness.old.errors import DataError, StorageError
from tests.old.small_bench import question, write
from viewer.old import later
from viewer.old.later import Later, NotYet, apart, patience_of


def halves(said: str, told: Callable[[float], None]) -> str:
    """Return what was said, having told of two halves."""
    told(0.5)
    told(0.501)
    told(1.0)
    return f"{said} in {os.getpid()}"


def failing() -> None:
    """Raise what a damaged file raises."""
    raise DataError("not JSON", path=pathlib.Path("a.jsonl"), line=3)


def ended() -> None:
    """End this process, as a system does that has no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def large(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> list[pathlib.Path]:
    """Return files that are large enough for a process of its own."""
    monkeypatch.setattr(later, "_LARGE", 0)
    return [tmp_path]


def test_a_process_of_its_own_tells_every_percent_and_returns_what_it_made(large: list[pathlib.Path]) -> None:
    shares: list[float] = []
    made = apart(halves, "made", of=large, told=shares.append)
    assert made.startswith("made in ")
    assert made != f"made in {os.getpid()}"
    assert shares == [0.5, 1.0]


@pytest.mark.parametrize("first", [False, True])
def test_what_it_raises_is_raised(first: bool, large: list[pathlib.Path]) -> None:
    with pytest.raises(DataError, match=r"a.jsonl:3: not JSON"):
        apart(failing, of=large, first=first)


def test_what_views_show_first_is_made_by_one_process_unless_that_is_at_work(
    large: list[pathlib.Path], tmp_path: pathlib.Path
) -> None:
    kept = {apart(os.getpid, of=large, first=True) for _ in range(2)}
    assert len(kept) == 1
    assert os.getpid() not in kept
    assert apart(os.getpid, of=large) not in kept
    made, address = Later(), str(tmp_path / "here")
    with Listener(address) as listener:
        with pytest.raises(NotYet):
            made.get("a", "holding", partial(apart, held, address, of=large, first=True), patience=0)
        with listener.accept():
            assert apart(os.getpid, of=large, first=True) not in kept
            made.close()
    assert apart(os.getpid, of=large, first=True) not in kept


def opened(path: pathlib.Path) -> str:
    """Return which file a benchmark's questions come from, and how many they are."""
    asked = load_questions(path)
    return f"{len(asked)} from {id(asked)}"


def test_that_process_remembers_what_it_has_read_until_it_changes(large: list[pathlib.Path]) -> None:
    path = write(large[0] / "question.jsonl", [question(1)])
    once, again = (apart(opened, path, of=large, first=True) for _ in range(2))
    assert once == again
    assert once.startswith("1 from")
    write(path, [question(1), question(2)])
    assert apart(opened, path, of=large, first=True).startswith("2 from")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
@pytest.mark.parametrize("first", [False, True])
def test_a_process_that_was_ended_is_an_error_not_an_endless_wait(first: bool, large: list[pathlib.Path]) -> None:
    with pytest.raises(StorageError, match="out of memory"):
        apart(ended, of=large, first=first)


def test_a_long_wait_says_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    made = Later()
    with pytest.raises(NotYet, match=r"^reading$"):
        made.get("a", "reading", go.wait, patience=0)
    monkeypatch.setattr(later, "_LONG", 0.0)
    with pytest.raises(NotYet, match="reading, for 0 seconds so far"):
        made.get("a", "reading", go.wait, patience=0)
    go.set()
    made.close()


def held(address: str) -> None:
    """Say that this process is there, and stay until it is ended."""
    with Client(address):
        threading.Event().wait()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
@pytest.mark.parametrize("first", [False, True])
def test_a_process_of_its_own_ends_with_the_one_that_started_it(first: bool, tmp_path: pathlib.Path) -> None:
    address = str(tmp_path / "here")
    code = "from tests.old.viewer import test_later as t; t.later._LARGE = 0; t.apart(t.held, {!r}, of=[], first={!r})"
    with (
        Listener(address) as listener,
        subprocess.Popen([sys.executable, "-c", code.format(address, first)]) as viewer,
        listener.accept() as process,
    ):
        viewer.kill()
        with pytest.raises(EOFError):
            process.recv()


def test_what_is_made_apart_is_ended_when_the_viewer_closes(large: list[pathlib.Path], tmp_path: pathlib.Path) -> None:
    made, address = Later(), str(tmp_path / "here")
    with Listener(address) as listener:
        with pytest.raises(NotYet):
            made.get("a", "holding", partial(apart, held, address, of=large), patience=0)
        with listener.accept():
            made.close()
            with pytest.raises(StorageError, match="was killed"):
                made.get("a", "holding", len, patience=60)


def test_what_only_begins_when_the_viewer_closes_is_ended_too(large: list[pathlib.Path]) -> None:
    made = Later()
    for key in "ab":
        with pytest.raises(NotYet):
            made.get(key, "sleeping", partial(apart, time.sleep, 600, of=large), patience=0, lane="pattern")
    made.close()
    assert not made.busy
    for key in "bc":  # one waits for the other to be made, and one is new
        with pytest.raises(StorageError, match="no longer being computed"):
            made.get(key, "sleeping", list)


def test_a_page_does_not_wait_for_a_process(large: list[pathlib.Path], monkeypatch: pytest.MonkeyPatch) -> None:
    assert patience_of(large) == 0
    monkeypatch.setattr(later, "_LARGE", 1 << 40)
    assert patience_of(large) == later.PATIENCE


def test_a_page_that_has_waited_long_asks_less_often() -> None:
    assert NotYet("reading").again < NotYet("reading", 60.0).again


def test_what_may_take_without_end_keeps_nothing_else_waiting() -> None:
    go, made = threading.Event(), Later()
    for number in range(9):
        with pytest.raises(NotYet):
            made.get(number, "looking for a pattern", go.wait, patience=0, lane="pattern")
    assert made.get("a", "reading", lambda: "read", patience=60) == "read"
    go.set()
    made.close()
