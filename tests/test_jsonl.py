"""JSON Lines: what is read, and what the journal promises."""

import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
from typing import Any

import pytest

from harness import jsonl
from harness.errors import DataError, StorageError
from harness.jsonl import Journal, Row, encode, finite, lock, read_rows

ROOT = pathlib.Path(__file__).resolve().parent.parent
JOURNAL = """
import pathlib, sys
from harness.errors import StorageError
from harness.jsonl import Journal
folder = pathlib.Path(sys.argv[1])
journal = Journal(folder / "model_answer" / "a.jsonl", folder / ".turnbench")
"""


@pytest.fixture
def journal(tmp_path: pathlib.Path) -> Journal:
    return Journal(tmp_path / "model_answer" / "a.jsonl", tmp_path / ".turnbench")


def start(code: str, folder: pathlib.Path) -> "subprocess.Popen[str]":
    """Start a second process that has a journal on the same file."""
    return subprocess.Popen(
        [sys.executable, "-c", JOURNAL + textwrap.dedent(code), str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: "subprocess.Popen[str]") -> str:
    """Wait for the process to end well and return what it printed."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return out


def written(folder: pathlib.Path, content: bytes) -> pathlib.Path:
    path = folder / "model_answer" / "a.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def values(path: pathlib.Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


# Reading


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        pytest.param(b"", [], id="empty"),
        pytest.param(b"\n \n", [], id="blank"),
        pytest.param(b'{"a": 1}\n{"a": 2}\n', [(1, 1), (2, 2)], id="plain"),
        pytest.param(b'{"a": 1}\n\n\n{"a": 2}\n\n', [(1, 1), (4, 2)], id="blank-lines-are-counted"),
        pytest.param(b'{"a": 1}\r\n{"a": 2}\r\n', [(1, 1), (2, 2)], id="windows"),
        pytest.param(b'\xef\xbb\xbf{"a": 1}\n{"a": 2}\n', [(1, 1), (2, 2)], id="byte-order-mark"),
        pytest.param(b'{"a": 1}\n\xef\xbb\xbf{"a": 2}\n', [(1, 1), (2, 2)], id="files-with-marks-joined"),
        pytest.param(b'{"a": 1}\n{"a": 2}', [(1, 1), (2, 2)], id="no-newline-at-the-end"),
        pytest.param('{"a": "x\u2028y\x85z"}\n'.encode(), [(1, "x\u2028y\x85z")], id="other-line-ends-are-text"),
    ],
)
def test_rows_come_with_their_lines(content: bytes, rows: list[Any], tmp_path: pathlib.Path) -> None:
    assert [(row.line, row.value["a"]) for row in read_rows(written(tmp_path, content))] == rows


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b'{"a": 2, "b": "ha', id="cut-in-a-text"),
        pytest.param(b'{"a": 2, "b": "\xe6\xa8', id="cut-in-a-character"),
        pytest.param(b'{"a": 2,}\n', id="whole-line-but-no-json"),
        pytest.param(b"\0\0\0\0", id="zeros-after-power-loss"),
        pytest.param(b'{"a": 2, "b": "ha\n\n\n', id="blank-lines-follow"),
    ],
)
def test_a_broken_last_line_is_left_out_with_a_warning(
    tail: bytes, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = written(tmp_path, b'{"a": 1}\n' + tail)
    assert [row.value for row in read_rows(path)] == [{"a": 1}]
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert f"{path}:2: " in record.getMessage()
    assert "this last line is left out" in record.getMessage()


def test_in_a_file_that_people_write_a_broken_last_line_is_an_error(tmp_path: pathlib.Path) -> None:
    path = written(tmp_path, b'{"a": 1}\n{"a": 2')
    with pytest.raises(DataError, match=r"a\.jsonl:2: not valid JSON"):
        list(read_rows(path, whole=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(
            b'{"a": 1}\n{"a": \n{}\n', r"a\.jsonl:2: not valid JSON \(column \d+\); each line must be", id="json"
        ),
        pytest.param(b'{"a": "\xff"}\n{}\n', r"a\.jsonl:1: not UTF-8; save the file as UTF-8", id="encoding"),
        pytest.param('{"a": 1}\n{}\n'.encode("utf-16"), r"a\.jsonl:1: not UTF-8", id="utf-16"),
        pytest.param(b"[1]\n{}\n", r"a\.jsonl:1: a JSON object is needed, this is a list", id="no-object"),
        pytest.param(b'{}\n[{"a": 1}]\n', r"a\.jsonl:2: a JSON object is needed, this is a list", id="no-object-last"),
        pytest.param(b'{"a": ' + b"9" * 5000 + b"}\n{}\n", r"a\.jsonl:1: not valid JSON;", id="number-of-5000-digits"),
        pytest.param(b"[" * 100_000 + b"\n{}\n", r"a\.jsonl:1: not valid JSON", id="too-deep"),
    ],
)
def test_any_other_broken_line_is_an_error_with_its_place(content: bytes, message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=message) as raised:
        list(read_rows(written(tmp_path, content)))
    assert "\n" not in str(raised.value)


def test_what_cannot_be_read_says_why(tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=r"none\.jsonl: cannot be read: No such file"):
        list(read_rows(tmp_path / "none.jsonl"))
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        list(read_rows(tmp_path))


# One line a row


@pytest.mark.parametrize(
    "text", ["line\nline", "a\r\nb", "\u2028 \u2029 \x85", "\x00\x0b\x0c\x1c\x1e", "模型 🦙", '"quotes" \\n', "\x7f"]
)
def test_a_row_is_one_line_for_every_reader(text: str) -> None:
    line = encode({"text": text})
    assert len(line.splitlines()) == 1
    assert json.loads(line) == {"text": text}


def test_chinese_stays_readable() -> None:
    assert encode({"模型": "通义"}) == '{"模型": "通义"}'


def test_what_json_does_not_have_is_null() -> None:
    row = {"a": float("nan"), "b": [float("inf"), (1.5,)], "c": {"d": -float("inf")}, "e": True}
    assert encode(row) == '{"a": null, "b": [null, [1.5]], "c": {"d": null}, "e": true}'
    assert finite(2.5) == 2.5


# Writing


def test_a_row_is_on_disk_when_append_returns(journal: Journal) -> None:
    with journal:
        assert not journal.path.exists()
        for number in range(3):
            journal.append({"n": number})
            assert [row["n"] for row in values(journal.path)] == list(range(number + 1))


def test_only_rows_stand_in_the_public_folder(journal: Journal) -> None:
    with journal:
        journal.append({"n": 1})
        journal.append({"n": 1})
        journal.retire_older(lambda row: row["n"])
        assert os.listdir(journal.path.parent) == ["a.jsonl"]
    assert os.listdir(journal.path.parent) == ["a.jsonl"]


def test_half_a_character_does_not_stop_a_run(journal: Journal) -> None:
    with journal:
        journal.append({"text": "a\ud800b"})
    assert values(journal.path) == [{"text": "a?b"}]


def test_a_whole_line_without_newline_is_kept_on_opening(tmp_path: pathlib.Path, journal: Journal) -> None:
    written(tmp_path, b'{"n": 1}\n{"n": 2}')
    with journal:
        journal.append({"n": 3})
    assert values(journal.path) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert not (journal.state / "torn").exists()


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(b'{"n": 3, "text": "ha', id="cut"),
        pytest.param(b'{"n": 3, "text": "\xe6\xa8', id="cut-in-a-character"),
        pytest.param(b'{"n": 3,}\n', id="whole-line-but-no-json"),
        pytest.param(b"\0" * 10, id="zeros"),
        pytest.param(b'{"n": 3, "text": "' + b"x" * 200_000, id="longer-than-a-block"),
    ],
)
def test_a_torn_last_line_is_set_aside_on_opening(
    tail: bytes, tmp_path: pathlib.Path, journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    whole = b'{"n": 1}\n{"n": 2}\n'
    written(tmp_path, whole + tail)
    with journal:
        assert journal.path.read_bytes() == whole
        aside = journal.state / "torn" / "a.jsonl"
        assert aside.read_bytes() == tail.removesuffix(b"\n") + b"\n"
        assert f"a torn last line was set aside in {aside}" in caplog.text
        journal.append({"n": 3})
    assert values(journal.path) == [{"n": 1}, {"n": 2}, {"n": 3}]


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path: pathlib.Path, journal: Journal) -> None:
    written(tmp_path, b'{"n"')
    with journal:
        assert journal.path.read_bytes() == b""


def test_every_torn_line_is_kept(tmp_path: pathlib.Path, journal: Journal) -> None:
    for tail in (b'{"first', b'{"second'):
        written(tmp_path, tail)
        with journal:
            pass
    assert (journal.state / "torn" / "a.jsonl").read_bytes() == b'{"first\n{"second\n'


def test_a_file_replaced_by_an_editor_goes_on_in_the_new_one(journal: Journal) -> None:
    with journal:
        journal.append({"n": 1})
        edited = journal.path.with_suffix(".edited")
        edited.write_bytes(b'{"n": 1, "note": "x"}')
        edited.replace(journal.path)
        journal.append({"n": 2})
    assert values(journal.path) == [{"n": 1, "note": "x"}, {"n": 2}]


# One writer


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


def test_a_lock_is_freed_and_taken_again(tmp_path: pathlib.Path) -> None:
    for _ in range(2):
        lock(tmp_path / "a.jsonl", tmp_path / ".turnbench").release()


def test_a_lock_taken_in_one_thread_can_be_freed_in_another(tmp_path: pathlib.Path) -> None:
    held = lock(tmp_path / "a.jsonl", tmp_path / ".turnbench")
    thread = threading.Thread(target=held.release)
    thread.start()
    thread.join()
    lock(tmp_path / "a.jsonl", tmp_path / ".turnbench").release()


def test_an_unknown_holder_is_another_process(tmp_path: pathlib.Path) -> None:
    state = tmp_path / ".turnbench"
    held = lock(tmp_path / "a.jsonl", state)
    (state / "locks" / "a.jsonl.holder").unlink()
    with pytest.raises(StorageError, match="is being written by another process; wait for it, or stop it"):
        lock(tmp_path / "a.jsonl", state)
    held.release()


# Disks and folders


def test_a_full_disk_leaves_no_part_of_a_row(tmp_path: pathlib.Path) -> None:
    """A limit on the size of files does what a full disk does: a part is written, then nothing."""
    code = """
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
    with journal:
        journal.append({"n": 1, "text": "x" * 600})
        before = journal.path.read_bytes()
        for _ in range(2):
            try:
                journal.append({"n": 2, "text": "y" * 600})
            except StorageError as error:
                assert journal.path.read_bytes() == before
                print(error)
        journal.append({"n": 3})
    """
    first, second, *rest = finish(start(code, tmp_path)).splitlines()
    assert rest == []
    assert first == second
    path = tmp_path / "model_answer" / "a.jsonl"
    assert first == (
        f"{path}: cannot be written: File too large; make space; "
        "what was done before is kept, run the same command again to go on"
    )
    assert [row["n"] for row in values(path)] == [1, 3]


def test_a_disk_that_fills_while_rows_are_retired_loses_none(tmp_path: pathlib.Path) -> None:
    code = """
    import resource
    with journal:
        for number in (1, 2, 3, 1):
            journal.append({"n": number, "text": "x" * 400})
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, resource.RLIM_INFINITY))
        try:
            journal.retire_older(lambda row: row["n"])
        except StorageError as error:
            print(error)
    """
    assert "cannot be written: File too large" in finish(start(code, tmp_path))
    assert [row["n"] for row in values(tmp_path / "model_answer" / "a.jsonl")] == [1, 2, 3, 1]
    assert os.listdir(tmp_path / "model_answer") == ["a.jsonl"]


def test_a_write_cut_short_is_completed(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:3]))
    with journal:
        journal.append({"n": 1})
    assert values(journal.path) == [{"n": 1}]


def test_an_interrupt_within_a_row_leaves_no_part_of_it(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def interrupted(file: int, data: bytes) -> int:
        write(file, data[:3])
        raise KeyboardInterrupt

    with journal:
        journal.append({"n": 1})
        monkeypatch.setattr(os, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            journal.append({"n": 2})
        monkeypatch.undo()
        journal.append({"n": 3})
    assert values(journal.path) == [{"n": 1}, {"n": 3}]


def test_a_part_that_could_not_be_taken_back_is_set_aside(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def broken(file: int, data: bytes) -> int:
        if len(data) > 3:
            return write(file, data[:3])
        raise OSError(5, "Input/output error")

    def no_truncate(file: int, length: int) -> None:
        raise OSError(5, "Input/output error")

    with journal:
        journal.append({"n": 1})
        monkeypatch.setattr(os, "write", broken)
        monkeypatch.setattr(os, "ftruncate", no_truncate)
        with pytest.raises(StorageError, match="Input/output error"):
            journal.append({"n": 2})
        monkeypatch.undo()
        journal.append({"n": 3})
    assert values(journal.path) == [{"n": 1}, {"n": 3}]


def test_a_disk_that_refuses_to_sync_is_an_error_in_one_line(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(file: int) -> None:
        raise OSError(5, "Input/output error")

    with journal:
        journal.append({"n": 1})
        journal.append({"n": 2})
        monkeypatch.setattr(os, "fsync", refused)
        with pytest.raises(StorageError, match=r"a\.jsonl: cannot be written: Input/output error"):
            journal.sync()


def test_a_folder_that_vanishes_is_told_at_the_next_row(journal: Journal) -> None:
    with journal:
        journal.append({"n": 1})
        journal.path.unlink()
        journal.path.parent.rmdir()
        with pytest.raises(StorageError, match="the file or its folder has vanished; see where it went") as raised:
            journal.append({"n": 2})
    assert "is kept" not in str(raised.value)


@pytest.mark.parametrize("name", ["model_answer", ".turnbench"])
def test_a_file_where_the_folder_should_be_is_told_on_opening(
    name: str, tmp_path: pathlib.Path, journal: Journal
) -> None:
    (tmp_path / name).touch()
    with pytest.raises(StorageError, match=rf"{name}.*: cannot be written: a file stands where a folder is needed"):
        journal.__enter__()
    (tmp_path / name).unlink()
    with journal:
        journal.append({"n": 1})


def test_a_folder_where_the_file_should_be_is_told_on_opening(journal: Journal) -> None:
    journal.path.mkdir(parents=True)
    with pytest.raises(StorageError, match=r"a\.jsonl: cannot be written: Is a directory"):
        journal.__enter__()


def test_a_read_only_folder_is_told_on_opening(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by `chmod`: the tests may run as root, whom it doesn't stop."""
    monkeypatch.setattr(os, "access", lambda path, mode: pathlib.Path(path) != journal.path.parent)
    with pytest.raises(StorageError, match=r"Permission denied; make it writable, or choose another .* --data-dir"):
        journal.__enter__()


# Superseded rows


def test_a_retired_row_is_moved_byte_for_byte(tmp_path: pathlib.Path, journal: Journal) -> None:
    lines = [b'{"n":1,"x":1.50e0}\r\n', b'{"n": 2, "n": 3}\n', b'{"n": 4, "t": "\\u6a21"}\n']
    written(tmp_path, b"".join(lines))
    with journal:
        assert journal.retire(lambda row: row.line == 2) == 1
        assert journal.path.read_bytes() == lines[0] + lines[2]
        assert (journal.state / "superseded" / "a.jsonl").read_bytes() == lines[1]
        journal.append({"n": 5})
        assert journal.retire(lambda row: row.line == 1) == 1
    assert (journal.state / "superseded" / "a.jsonl").read_bytes() == lines[1] + lines[0]
    assert [row["n"] for row in values(journal.path)] == [4, 5]


def test_nothing_to_retire_touches_nothing(tmp_path: pathlib.Path, journal: Journal) -> None:
    with journal:
        assert journal.retire(lambda row: True) == 0
    path = written(tmp_path, b'{"n": 1}\n')
    before = path.stat()
    with journal:
        assert journal.retire(lambda row: False) == 0
        assert journal.retire_older(lambda row: row["n"]) == 0
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert not (journal.state / "superseded").exists()


def test_of_equal_keys_the_last_good_row_stays(journal: Journal) -> None:
    rows = [("a", "error"), ("a", "one"), ("b", "one"), ("a", "two"), ("a", "error"), ("c", "error"), ("c", "error")]
    with journal:
        for key, text in rows:
            journal.append({"key": key, "text": text})
        retired = journal.retire_older(lambda row: row["key"], lambda row: row["text"] != "error")
    assert retired == 4
    assert [tuple(row.values()) for row in values(journal.path)] == [("b", "one"), ("a", "two"), ("c", "error")]
    moved = values(journal.state / "superseded" / "a.jsonl")
    assert sorted(tuple(row.values()) for row in moved) == [
        ("a", "error"),
        ("a", "error"),
        ("a", "one"),
        ("c", "error"),
    ]


def test_a_kill_between_moving_and_replacing_loses_no_row(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    def old(row: Row) -> bool:
        return bool(row.value["n"] < 2)

    with journal:
        for number in range(4):
            journal.append({"n": number})
        monkeypatch.setattr(jsonl, "replace_bytes", killed)
        with pytest.raises(KeyboardInterrupt):
            journal.retire(old)
    assert [row["n"] for row in values(journal.path)] == [0, 1, 2, 3]
    monkeypatch.undo()
    with journal:
        assert journal.retire(old) == 2
    assert [row["n"] for row in values(journal.path)] == [2, 3]
    assert {row["n"] for row in values(journal.state / "superseded" / "a.jsonl")} == {0, 1}


def test_a_kill_before_moving_loses_no_row(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with journal:
        journal.append({"n": 1})
        monkeypatch.setattr(jsonl, "append_bytes", killed)
        with pytest.raises(KeyboardInterrupt):
            journal.retire(lambda row: True)
    assert values(journal.path) == [{"n": 1}]


def test_rows_set_aside_after_a_torn_one_stay_whole(tmp_path: pathlib.Path, journal: Journal) -> None:
    """The kill may have come while the rows were moved."""
    written(tmp_path, b'{"n": 1}\n')
    aside = journal.state / "superseded" / "a.jsonl"
    aside.parent.mkdir(parents=True)
    aside.write_bytes(b'{"n": ')
    with journal:
        journal.retire(lambda row: True)
    assert aside.read_bytes() == b'{"n": \n{"n": 1}\n'


def test_replacing_keeps_a_link_and_the_permissions(tmp_path: pathlib.Path, journal: Journal) -> None:
    elsewhere = tmp_path / "elsewhere.jsonl"
    elsewhere.write_bytes(b'{"n": 1}\n{"n": 2}\n')
    elsewhere.chmod(0o640)
    journal.path.parent.mkdir()
    journal.path.symlink_to(elsewhere)
    with journal:
        journal.retire(lambda row: row.line == 1)
    assert journal.path.is_symlink()
    assert elsewhere.read_bytes() == b'{"n": 2}\n'
    assert elsewhere.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no second file system at hand")
def test_rows_are_retired_where_the_file_is_on_another_disk(tmp_path: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as other:
        journal = Journal(written(pathlib.Path(other), b'{"n": 1}\n{"n": 2}\n'), tmp_path / ".turnbench")
        with journal:
            assert journal.retire(lambda row: row.line == 1) == 1
        assert values(journal.path) == [{"n": 2}]
        assert os.listdir(journal.path.parent) == ["a.jsonl"]


def test_a_cleared_journal_can_be_written_again(journal: Journal) -> None:
    with journal:
        journal.append({"n": 1})
        journal.clear()
        assert not journal.path.exists()
        journal.append({"n": 2})
    assert values(journal.path) == [{"n": 2}]
