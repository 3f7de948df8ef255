"""The course of one job: what is asked, what is kept for the next start, what it ends in."""

import pathlib
from collections.abc import Sequence
from typing import Any

import pytest

from harness.old.records import Message, Reply, Request
from harness.old.running.jobs import Course, Job, Steps
from harness.old.running.pending import Pending


class Shelf:
    """A sink for tests: a record that is named in `waits` is not written yet."""

    def __init__(self, *waits: str) -> None:
        self.records: list[str] = []
        self.waits = waits

    def put(self, record: str) -> bool:
        self.records.append(record)
        return record not in self.waits


def asked(text: str) -> Request:
    return Request((Message("user", text),))


def talk(*turns: str) -> Steps[str]:
    """Ask each turn, with all that was said before, and return the whole."""
    said: list[str] = []
    for turn in turns:
        reply = yield asked(" ".join([*said, turn]))
        said += [turn, reply.text]
    return " ".join(said)


def course(pending: Pending, shelf: Shelf, turns: Sequence[str], **job: Any) -> Course[str]:
    made = Course(Job(job.pop("key", "job"), "m", lambda: talk(*turns), **job), shelf.put, pending)
    made.start()
    return made


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    return tmp_path


def opened(folder: pathlib.Path) -> Pending:
    return Pending(folder / "m.jsonl", folder / "state")


def kept(folder: pathlib.Path) -> str:
    path = folder / "state" / "pending" / "m.jsonl"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_a_job_goes_from_request_to_record(folder: pathlib.Path) -> None:
    shelf = Shelf()
    with opened(folder) as pending:
        job = course(pending, shelf, ["a?", "b?"])
        assert job.request == asked("a?")
        job.receive(Reply("A."))
        assert job.request == asked("a? A. b?")
        job.receive(Reply("B."))
        assert job.request is None
    assert shelf.records == ["a? A. b? B."]


def test_a_reply_is_on_file_before_the_next_request_is_due(folder: pathlib.Path) -> None:
    with opened(folder) as pending:
        job = course(pending, Shelf(), ["a?", "b?"])
        job.receive(Reply("A."))
        assert '"A."' in kept(folder)


def test_the_next_start_asks_only_what_is_missing(folder: pathlib.Path) -> None:
    with opened(folder) as pending:
        course(pending, Shelf(), ["a?", "b?"]).receive(Reply("A."))
    shelf = Shelf()
    with opened(folder) as pending:
        job = course(pending, shelf, ["a?", "b?"])
        assert job.request == asked("a? A. b?")
        job.receive(Reply("B."))
        assert kept(folder).count('"complete"') == 1
    assert shelf.records == ["a? A. b? B."]
    assert kept(folder) == ""


def test_a_changed_request_is_asked_anew(folder: pathlib.Path) -> None:
    with opened(folder) as pending:
        course(pending, Shelf(), ["a?", "b?"]).receive(Reply("A."))
    with opened(folder) as pending:
        assert course(pending, Shelf(), ["a!", "b?"]).request == asked("a!")
        assert course(pending, Shelf(), ["a?", "b!"]).request == asked("a? A. b!")


def test_a_reply_whose_record_is_written_is_not_kept(folder: pathlib.Path) -> None:
    with opened(folder) as pending:
        course(pending, Shelf(), ["a?"]).receive(Reply("A."))
        assert kept(folder) == ""


def test_a_record_that_waits_is_kept_until_its_row_is_complete(folder: pathlib.Path) -> None:
    with opened(folder) as pending:
        course(pending, Shelf("a? A."), ["a?"], key="game 1", part_of="row").receive(Reply("A."))
    shelf = Shelf("a? A.")
    with opened(folder) as pending:
        first = course(pending, shelf, ["a?"], key="game 1", part_of="row")
        assert first.request is None
        second = course(pending, shelf, ["b?"], key="game 2", part_of="row")
        second.receive(Reply("B."))
        assert shelf.records == ["a? A.", "b? B."]
    assert kept(folder) == ""


def test_tries_are_counted_for_each_request(folder: pathlib.Path) -> None:
    with opened(folder) as pending:
        job = course(pending, Shelf(), ["a?", "b?"])
        job.tries = 3
        job.receive(Reply("A."))
        assert job.tries == 0


def test_the_same_request_twice_in_a_job_is_two_requests(folder: pathlib.Path) -> None:
    def twice() -> Steps[str]:
        one = yield asked("a?")
        other = yield asked("a?")
        return one.text + other.text

    shelf = Shelf()
    with opened(folder) as pending:
        first = Course(Job("job", "m", twice), shelf.put, pending)
        first.start()
        first.receive(Reply("A"))
    with opened(folder) as pending:
        second = Course(Job("job", "m", twice), shelf.put, pending)
        second.start()
        assert second.request == asked("a?")
        second.receive(Reply("B"))
    assert shelf.records == ["AB"]
