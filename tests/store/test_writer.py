"""Writing rows: one writer, whole lines, nothing deleted, a kill at any instant."""

import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from harness import store
from harness.errors import StorageError
from harness.types import Judgment, Reply


def grade(question: int, score: float) -> Judgment:
    return Judgment(question_id=question, model="x", judge=("j", "t"), score=score, turn=1)


def output(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path / "bench" / "model_judgment" / "j_single.jsonl"


def scores(path: pathlib.Path) -> list[float | None]:
    return [place.row.grade for place in store.rows(path, Judgment)]


def test_rows_are_in_the_file_at_once(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    with store.Writer(path, Judgment) as writer:
        assert not path.exists()
        writer.append(grade(1, 7))
        assert scores(path) == [7]


def test_a_file_has_one_writer(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    with (
        store.Writer(path, Judgment),
        pytest.raises(StorageError, match="another process"),
        store.Writer(path, Judgment),
    ):
        pass


def test_a_torn_last_line_is_moved(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(1, 7))
    with path.open("ab") as file:
        file.write(b'{"question_id": 2, "mod')
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(2, 8))
    assert scores(path) == [7, 8]
    torn = tmp_path / "bench" / ".turnbench" / "model_judgment" / "torn" / path.name
    assert torn.read_bytes() == b'{"question_id": 2, "mod\n'


def test_superseded_rows_move_as_bytes(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    path.parent.mkdir(parents=True)
    odd = b'{"question_id":1,  "model":"x", "score":3, "theirs":[1]}'
    other = b'{"score": 4, "question_id": 2, "model": "x"}'
    path.write_bytes(odd + b"\n" + other)
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(1, 9))
        assert writer.compact() == 1
    assert path.read_bytes().splitlines()[0] == other
    assert scores(path) == [4, 9]
    moved = tmp_path / "bench" / ".turnbench" / "model_judgment" / "superseded" / path.name
    assert moved.read_bytes() == odd + b"\n"


@pytest.mark.parametrize("linked", ["model_judgment", "model_judgment/j_single.jsonl"])
def test_a_link_stays_a_link(tmp_path: pathlib.Path, linked: str) -> None:
    path, elsewhere = output(tmp_path), tmp_path / "elsewhere"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{"question_id":1,"model":"x","score":3}\n')
    link = tmp_path / "bench" / linked
    link.rename(elsewhere)
    link.symlink_to(elsewhere)
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(1, 9))
        assert writer.compact() == 1
    assert link.is_symlink()
    assert scores(path) == [9]


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="there is no second file system")
def test_the_state_may_be_on_another_file_system(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    with (
        tempfile.TemporaryDirectory(dir="/dev/shm") as other,
        store.Writer(path, Judgment, pathlib.Path(other)) as writer,
    ):
        writer.append(grade(1, 3))
        writer.append(grade(1, 9))
        assert writer.compact() == 1
    assert scores(path) == [9]


def test_a_good_row_stays_where_a_later_one_is_bad(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(1, 7))
        writer.append(grade(1, -1))
        assert writer.compact() == 1
    assert scores(path) == [7]


def test_a_reply_is_kept_until_its_row_is_complete(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    with store.Pending(path) as pending:
        pending.keep("a", "hash1", Reply(text="yes"))
        pending.fail("b", store.Failure(kind="rate limit", message="slow down", status=429))
    assert [(f.kind, f.status) for f in store.failures(tmp_path / "bench")] == [("rate limit", 429)]
    with store.Pending(path) as pending:
        assert [(h, r.text) for h, r in pending.replies("a")] == [("hash1", "yes")]
        for job in "ab":
            with pending.completing(job):
                pass
    assert not pending.path.exists()
    assert store.failures(tmp_path / "bench") == []


@pytest.mark.parametrize("written", [True, False])
def test_a_kill_as_a_row_is_written_leaves_open_what_is_not_there(
    tmp_path: pathlib.Path, written: bool
) -> None:
    path = output(tmp_path)
    pending = store.Pending(path)
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(1, 9))
        with pending:
            pending.keep("a", "hash", Reply(text="yes"))
            pending.fail("a", store.Failure(kind="rate limit", message="slow down"))
            with contextlib.suppress(KeyboardInterrupt), pending.completing("a"):
                if written:
                    writer.append(grade(2, 7))
                raise KeyboardInterrupt
    assert len(store.failures(tmp_path / "bench")) == (not written)
    for _ in range(2):  # and it stays so
        with store.Pending(path) as pending:
            assert len(pending.replies("a")) == (not written)
    assert pending.path.exists() == (not written)


WRITER = """
import pathlib, sys
from harness import store
from harness.types import Judgment
path = pathlib.Path(sys.argv[1])
done = set(store.latest(path, Judgment))
with store.Writer(path, Judgment) as writer:
    for number in range(2000):
        row = Judgment(question_id=number, model="x", score=number, turn=1, judgment="x" * 500)
        if row.key not in done:
            writer.append(row)
"""


@pytest.mark.slow
def test_twenty_kills_leave_whole_rows_and_no_doubles(tmp_path: pathlib.Path) -> None:
    path = output(tmp_path)
    draw = random.Random(7)
    command = [sys.executable, "-c", WRITER, str(path)]
    for _ in range(20):
        process = subprocess.Popen(command)
        started = time.monotonic()
        wait = draw.uniform(0.05, 0.3)
        while process.poll() is None and time.monotonic() - started < wait:
            os.sched_yield()
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command, check=True)
    assert scores(path) == list(range(2000))
