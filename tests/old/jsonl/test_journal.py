"""What the journal promises, whatever the disk does."""

import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import pytest

from harness.old.errors import StorageError
from harness.old.jsonl import Journal, Row
from tests.old.jsonl.journals import finish, start, values, written


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


# Other programs


def cut(path: pathlib.Path) -> None:
    os.truncate(path, path.stat().st_size - 5)


def emptied(path: pathlib.Path) -> None:
    os.truncate(path, 0)


def half_a_row_added(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes() + b'{"n": 2, "te')


def zeros_added(path: pathlib.Path) -> None:
    os.truncate(path, path.stat().st_size + 4096)


def begin_overwritten(path: pathlib.Path) -> None:
    with path.open("r+b") as file:
        file.write(bytes(3))
    os.utime(path, ns=(0, 1))  # the clock of a file may be too coarse to show what happened at once


def end_overwritten(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes()[:-6] + b"\0" * 6)


def text_added(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes() + b"no row\n3\n[]\n")


def row_added(path: pathlib.Path) -> None:
    path.write_bytes(path.read_bytes() + b'{"n": "theirs"}\n')


@pytest.mark.parametrize(
    ("change", "left", "aside"),
    [
        pytest.param(cut, [0], True, id="cut"),
        pytest.param(emptied, [], False, id="emptied"),
        pytest.param(half_a_row_added, [0, 1], True, id="half a row added"),
        pytest.param(zeros_added, [0, 1], True, id="zeros added"),
        pytest.param(end_overwritten, [0], True, id="end overwritten"),
        pytest.param(begin_overwritten, [1], True, id="begin overwritten"),
        pytest.param(text_added, [0, 1], True, id="text added"),
        pytest.param(row_added, [0, 1, "theirs"], False, id="row added"),
    ],
)
@pytest.mark.parametrize("last", [False, True], ids=["before a row", "before the end"])
def test_what_another_program_does_to_the_file_leaves_no_broken_line(
    journal: Journal,
    change: Callable[[pathlib.Path], None],
    left: list[Any],
    aside: bool,
    last: bool,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with journal:
        journal.append({"n": 0})
        journal.append({"n": 1})
        change(journal.path)
        if not last:
            journal.append({"n": 9})
    assert [row["n"] for row in values(journal.path)] == left + ([] if last else [9])
    assert (journal.state / "torn").exists() == aside
    assert "another program has changed this file during the run" in caplog.text
    gone = len({0, 1}.difference(left))
    assert journal.lost == gone
    one, two = "1 row of it is gone", "2 rows of it are gone"
    assert (one in caplog.text, two in caplog.text) == (gone == 1, gone == 2)
    assert ("run the same command again, which makes" in caplog.text) == (gone > 0)


def replaced(path: pathlib.Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(b'{"n": 0}\n')
    other.replace(path)


@pytest.mark.parametrize("change", [cut, emptied, replaced, pathlib.Path.unlink])
def test_rows_that_were_there_before_the_run_are_missed_as_well(
    journal: Journal, change: Callable[[pathlib.Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    written(journal.state.parent, b'{"n": 0}\n\n{"n": 1}\n')
    with journal:
        change(journal.path)
        if change is not pathlib.Path.unlink:  # a file that has vanished is an error at the next row
            journal.append({"n": 2})
    gone = 2 if change in {emptied, pathlib.Path.unlink} else 1
    assert journal.lost == gone
    assert len(caplog.records) == 1
    assert "another program has changed this file during the run" in caplog.text
    assert f"{gone} row" in caplog.text


def test_rows_that_were_moved_aside_are_not_missed(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    with journal:
        for number in (1, 2, 1, 1):
            journal.append({"n": number})
        assert journal.retire_older(lambda row: row["n"]) == 2
        row_added(journal.path)
        journal.append({"n": 3})
    assert (journal.lost, len(values(journal.path))) == (0, 4)
    assert "gone" not in caplog.text


def test_a_file_that_was_only_touched_stays_as_it_is(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    with journal:
        journal.append({"n": 0})
        before = journal.path.stat().st_ino
        os.utime(journal.path, ns=(0, 1))
        journal.append({"n": 1})
    assert [row["n"] for row in values(journal.path)] == [0, 1]
    assert journal.path.stat().st_ino == before
    assert caplog.text == ""


@pytest.mark.skipif(not pathlib.Path("/dev/null").is_char_device(), reason="a system without /dev/null")
def test_a_device_is_refused_on_opening(tmp_path: pathlib.Path) -> None:
    with pytest.raises(StorageError, match="/dev/null: is a device or a pipe, not a file"):
        Journal(pathlib.Path("/dev/null"), tmp_path / ".turnbench").__enter__()


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
        f"{path}: cannot be written: File too large; free some space; "
        "what was done before is kept, run the same command again to continue"
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
        with pytest.raises(StorageError, match="the file or its folder has vanished; find out where it went") as raised:
            journal.append({"n": 2})
    assert "is kept" not in str(raised.value)


@pytest.mark.parametrize("name", ["model_answer", ".turnbench"])
def test_a_file_where_the_folder_should_be_is_told_on_opening(
    name: str, tmp_path: pathlib.Path, journal: Journal
) -> None:
    (tmp_path / name).touch()
    with pytest.raises(StorageError, match=rf"{name}.*: cannot be written: a file is where a folder is needed"):
        journal.__enter__()
    (tmp_path / name).unlink()
    with journal:
        journal.append({"n": 1})


def test_a_folder_where_the_file_should_be_is_told_on_opening(journal: Journal) -> None:
    journal.path.mkdir(parents=True)
    with pytest.raises(StorageError, match=r"a\.jsonl: cannot be written: Is a directory; name a file$"):
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
        monkeypatch.setattr("harness.old.jsonl.journal.replace_bytes", killed)
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
        monkeypatch.setattr("harness.old.jsonl.journal.append_bytes", killed)
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
        assert sorted(os.listdir(journal.path.parent)) == [".turnbench", "a.jsonl"]  # the lock, and the file


def test_a_cleared_journal_can_be_written_again(journal: Journal) -> None:
    with journal:
        journal.append({"n": 1})
        journal.clear()
        assert not journal.path.exists()
        journal.append({"n": 2})
    assert values(journal.path) == [{"n": 2}]
