"""What takes long is made beside the page, apart from this process if it reads much, and says how far it is."""

import os
import pathlib
import signal
import threading
from collections.abc import Callable

import pytest

from harness.errors import DataError, StorageError
from viewer import later
from viewer.later import Later, NotYet, apart


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


def test_what_it_raises_is_raised(large: list[pathlib.Path]) -> None:
    with pytest.raises(DataError, match=r"a.jsonl:3: not JSON"):
        apart(failing, of=large)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no such signal here")
def test_a_process_that_was_ended_is_an_error_not_an_endless_wait(large: list[pathlib.Path]) -> None:
    with pytest.raises(StorageError, match="more memory"):
        apart(ended, of=large)


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
