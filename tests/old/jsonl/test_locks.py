"""One writer for each file, and who it is: by process and host, and since when."""

import errno
import os
import pathlib
import re
import signal
import threading
from collections.abc import Callable

import pytest

from harness.old.errors import StorageError
from harness.old.jsonl import Journal, holder_of, lock
from tests.old.jsonl.journals import finish, start, values


def test_a_second_process_is_told_who_writes(tmp_path: pathlib.Path, journal: Journal) -> None:
    holder = start('with journal:\n    print("held", flush=True)\n    sys.stdin.read()', tmp_path)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(
            StorageError, match=rf"a\.jsonl is being written by process {holder.pid} \(-c\) on \S+ since"
        ):
            journal.__enter__()
    finally:
        finish(holder)
    with journal:
        journal.append({"n": 1})
    assert values(journal.path) == [{"n": 1}]


def test_a_killed_process_frees_the_file_and_leaves_whole_rows(tmp_path: pathlib.Path, journal: Journal) -> None:
    code = """
    import itertools
    with journal:
        for number in itertools.count():
            journal.append({"n": number, "text": "x" * 5000})
            print(number, flush=True)
    """
    writer = start(code, tmp_path)
    assert writer.stdout is not None
    told = [int(writer.stdout.readline()) for _ in range(50)]
    writer.kill()
    told += [int(line) for line in writer.communicate()[0].splitlines()]
    assert writer.returncode == -signal.SIGKILL
    with journal:
        numbers = [row["n"] for row in values(journal.path)]
    assert numbers == list(range(len(numbers)))
    assert set(told) <= set(numbers)


def test_the_same_process_cannot_open_it_twice(journal: Journal) -> None:
    with journal, pytest.raises(StorageError, match=rf"process {os.getpid()} "):
        Journal(journal.path, journal.state).__enter__()


def test_a_file_with_two_names_has_one_writer(tmp_path: pathlib.Path, journal: Journal) -> None:
    with journal:
        journal.append({"n": 1})
    other = Journal(tmp_path / "link.jsonl", tmp_path / "elsewhere")
    other.path.hardlink_to(journal.path)
    with journal, pytest.raises(StorageError, match=r"link\.jsonl is .* under another name"):
        other.__enter__()
    with other, pytest.raises(StorageError, match="under another name"):
        journal.__enter__()
    with journal:
        journal.append({"n": 2})
    assert values(other.path) == [{"n": 1}, {"n": 2}]


def test_a_lock_is_freed_and_taken_again(tmp_path: pathlib.Path) -> None:
    for _ in range(2):
        lock(tmp_path / "a.jsonl", tmp_path / ".turnbench").close()


def test_a_lock_taken_in_one_thread_can_be_freed_in_another(tmp_path: pathlib.Path) -> None:
    held = lock(tmp_path / "a.jsonl", tmp_path / ".turnbench")
    thread = threading.Thread(target=held.close)
    thread.start()
    thread.join()
    lock(tmp_path / "a.jsonl", tmp_path / ".turnbench").close()


def test_an_unknown_holder_is_another_process(tmp_path: pathlib.Path) -> None:
    state = tmp_path / ".turnbench"
    held = lock(tmp_path / "a.jsonl", state)
    (state / "locks" / "a.jsonl.holder").unlink()
    with pytest.raises(StorageError, match="is being written by another process; wait for it, or stop it"):
        lock(tmp_path / "a.jsonl", state)
    held.close()


def test_the_holder_is_named_with_its_host_and_since_when(tmp_path: pathlib.Path) -> None:
    path, state = tmp_path / "a.jsonl", tmp_path / "state"
    with Journal(path, state):
        who = holder_of(path, state)
        assert who is not None
        assert re.fullmatch(rf"process {os.getpid()} \(.*\) on .+ since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d", who)
        with pytest.raises(StorageError, match=re.escape(f"is being written by {who}; wait for it")):
            Journal(path, state).__enter__()
    assert holder_of(path, state) is None


@pytest.mark.parametrize(
    "who",
    [
        pytest.param("process 4194999 (gen_answer) on another.example since 2026-01-01 00:00:00", id="elsewhere"),
        pytest.param("process 4194999 (gen_answer)", id="here, ended"),
        pytest.param(f"process {os.getpid()} (gen_answer)", id="here, another process with that number"),
        pytest.param("process " + "9" * 5000, id="no number"),
        pytest.param("\0", id="no note"),
    ],
)
def test_the_note_of_a_process_that_has_not_the_lock_says_nothing(who: str, tmp_path: pathlib.Path) -> None:
    path, state = tmp_path / "a.jsonl", tmp_path / "state"
    lock(path, state).close()
    (state / "locks" / "a.jsonl.holder").write_text(who, encoding="utf-8")
    assert holder_of(path, state) is None
    lock(path, state).close()


def test_the_lock_is_asked_about_where_nothing_can_be_written(
    tmp_path: pathlib.Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by `chmod`: the tests may run as root, whom it doesn't stop."""
    opened = os.open

    def read_only(name: str, flags: int, *more: int, **named: int) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), name)
        return opened(name, flags, *more, **named)

    path, state = journal.path, journal.state
    holder = start('with journal:\n    print("held", flush=True)\n    sys.stdin.read()', tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with monkeypatch.context() as patched:
        patched.setattr(os, "open", read_only)
        who = holder_of(path, state)
        assert who is not None
        assert who.startswith(f"process {holder.pid} ")
        holder.kill()
        holder.communicate()
        assert holder_of(path, state) is None
    assert (state / "locks" / "a.jsonl.holder").exists()


@pytest.mark.parametrize(
    "put",
    [
        pytest.param(os.mkfifo, id="a pipe"),
        pytest.param(os.mkdir, id="a folder"),
        pytest.param(lambda holder: os.symlink("/dev/zero", holder), id="a device without end"),
        pytest.param(lambda holder: os.symlink("gone", holder), id="a link to nowhere"),
    ],
)
def test_what_stands_in_place_of_the_note_stops_nobody(
    put: Callable[[pathlib.Path], None], tmp_path: pathlib.Path
) -> None:
    path, state = tmp_path / "a.jsonl", tmp_path / "state"
    lock(path, state).close()
    holder = state / "locks" / "a.jsonl.holder"
    put(holder)
    ended: list[str | None] = []

    def scene() -> None:
        ended.append(holder_of(path, state))
        lock(path, state).close()
        ended.append("locked")

    thread = threading.Thread(target=scene, daemon=True)  # who waits for the end of a pipe waits for ever
    thread.start()
    thread.join(20)
    assert ended == [None, "locked"]
    assert {each.name for each in holder.parent.iterdir()} <= {"a.jsonl.lock", "a.jsonl.holder"}


def test_a_file_outside_has_one_lock_whichever_benchmark_writes_it(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "answers.jsonl"
    link = tmp_path / "b" / "x" / "model_answer" / "m.jsonl"
    link.parent.mkdir(parents=True)
    link.symlink_to(path)
    states = [tmp_path / folder / "x" / ".turnbench" / "model_answer" for folder in "ab"]
    with Journal(path, states[0]):
        for other in (path, link):
            with pytest.raises(StorageError, match="is being written by process"):
                Journal(other, states[1]).__enter__()
        assert holder_of(link, states[1]) == holder_of(path, states[0]) is not None
