"""Replies whose row is not complete survive the end of a process, and only those."""

import json
import pathlib

import pytest

from harness.old.errors import StorageError
from harness.old.records import Facts, Failure, Message, Question, Reply, Request, Sampling, TokenLogprobs, Usage
from harness.old.running.pending import Pending, left_in

ASKED = Request((Message("user", "One?"),), Sampling(temperature=0.7))
REPLY = Reply("Four.", "2+2", "length", Usage(7, 5, 2, 4), 1.25, "m-2026", {"temperature": 0.7}, "a note")


def pending(folder: pathlib.Path, *, fresh: bool = False) -> Pending:
    return Pending(folder / "model_answer" / "m.jsonl", folder / ".turnbench", fresh=fresh)


def kept_file(folder: pathlib.Path) -> pathlib.Path:
    return folder / ".turnbench" / "pending" / "m.jsonl"


def test_a_reply_is_found_again_with_all_that_it_holds(tmp_path: pathlib.Path) -> None:
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) == REPLY


def test_log_probabilities_are_found_again(tmp_path: pathlib.Path) -> None:
    reply = Reply("4", logprobs=(TokenLogprobs("4", -0.1, (("4", -0.1), ("5", -2.5))),))
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, reply)
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) == reply


@pytest.mark.parametrize(
    ("row", "key", "place", "asked"),
    [
        pytest.param("other", "job", 0, ASKED, id="another row"),
        pytest.param("row", "other", 0, ASKED, id="another job"),
        pytest.param("row", "job", 1, ASKED, id="another place"),
        pytest.param("row", "job", 0, Request((Message("user", "Two?"),), ASKED.sampling), id="another prompt"),
        pytest.param("row", "job", 0, Request(ASKED.messages, Sampling(temperature=0)), id="another temperature"),
        pytest.param(
            "row",
            "job",
            0,
            Request(ASKED.messages, ASKED.sampling, Facts(Question(1, "math", ("One?",)), 1, ("4",))),
            id="another reference to reply with",
        ),
    ],
)
def test_a_reply_serves_no_other_request(
    tmp_path: pathlib.Path, row: str, key: str, place: int, asked: Request
) -> None:
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
    with pending(tmp_path) as second:
        assert second.find(row, key, place, asked) is None


def test_a_complete_row_takes_its_replies_out_and_leaves_the_others(tmp_path: pathlib.Path) -> None:
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
        first.keep("other row", "other job", 0, ASKED, REPLY)
        first.complete("row")
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) is None
        assert second.find("other row", "other job", 0, ASKED) == REPLY
        second.complete("other row")
    assert not kept_file(tmp_path).exists()


def test_a_row_that_had_no_pending_reply_leaves_no_trace(tmp_path: pathlib.Path) -> None:
    with pending(tmp_path) as first:
        first.complete("row")
        assert not kept_file(tmp_path).exists()


def test_a_fresh_start_uses_nothing_and_loses_nothing(tmp_path: pathlib.Path) -> None:
    later = Reply("Five.")
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
        first.keep("other row", "other job", 0, ASKED, REPLY)
    with pending(tmp_path, fresh=True) as second:
        assert second.find("row", "job", 0, ASKED) is None
        second.keep("row", "job", 0, ASKED, later)
    with pending(tmp_path) as third:
        assert third.find("row", "job", 0, ASKED) == later
        assert third.find("other row", "other job", 0, ASKED) == REPLY


def test_after_trouble_everything_stays(tmp_path: pathlib.Path) -> None:
    first = pending(tmp_path)
    first.__enter__()
    first.keep("row", "job", 0, ASKED, REPLY)
    first.__exit__(StorageError, StorageError("the disk is full"), None)
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) == REPLY


def test_a_torn_line_costs_only_itself(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
        first.keep("row", "job", 1, ASKED, REPLY)
    data = kept_file(tmp_path).read_bytes()
    kept_file(tmp_path).write_bytes(data[:-20])
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) == REPLY
        assert second.find("row", "job", 1, ASKED) is None
    assert "torn" in caplog.text


def test_lines_of_another_shape_are_passed_over(tmp_path: pathlib.Path) -> None:
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
    with kept_file(tmp_path).open("a") as file:
        file.write('{"key": "job", "place": 0}\n')
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) == REPLY


def test_there_is_one_writer(tmp_path: pathlib.Path) -> None:
    with pending(tmp_path), pytest.raises(StorageError, match="is being written by process"), pending(tmp_path):
        pass
    with pending(tmp_path):
        pass


def test_a_failure_is_known_until_its_row_is_complete(tmp_path: pathlib.Path) -> None:
    with pending(tmp_path) as first:
        for key, message in (("q1", "no credit"), ("q2", "no credit"), ("q1", "too long")):
            first.fail(key, Failure(key, "x", message))
    path = kept_file(tmp_path)
    assert {line["failed"]: line["message"] for line in left_in(path).failed} == {"q1": "too long", "q2": "no credit"}
    with pending(tmp_path) as second:
        second.complete("q1")
    assert [line["failed"] for line in left_in(path).failed] == ["q2"]
    with pending(tmp_path) as third:
        third.complete("q2")
    assert not left_in(path).failed


TOUCHED = [
    pytest.param('{"row": 1, "key": [], "place": "x", "request": {}, "text": null, "details": 3}', id="reply"),
    pytest.param('{"row": "r", "key": "k", "place": 0, "request": "q", "text": "t", "details": []}', id="details"),
    pytest.param(
        '{"row": "r", "key": "k", "place": 0, "request": "q", "text": "t", "details": {}, "logprobs": [["a", "b"]]}',
        id="log-probabilities",
    ),
    pytest.param('{"row": [], "failed": {}, "kind": 1, "message": 2}', id="failure"),
    pytest.param('{"complete": {"row": 1}}', id="complete"),
    pytest.param('{"redo": []}', id="redo"),
    pytest.param("no JSON", id="no JSON"),
    pytest.param("[1]", id="no object"),
    pytest.param("1" * 5000, id="a long number"),
]


@pytest.mark.parametrize("line", TOUCHED)
def test_a_line_of_wrong_types_is_passed_over(line: str, tmp_path: pathlib.Path) -> None:
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
    path = kept_file(tmp_path)
    path.write_text(f"{line}\n{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    assert left_in(path).failed == []
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) == REPLY


def test_details_of_wrong_types_are_unstated(tmp_path: pathlib.Path) -> None:
    with pending(tmp_path) as first:
        first.keep("row", "job", 0, ASKED, REPLY)
    path = kept_file(tmp_path)
    line = json.loads(path.read_text(encoding="utf-8"))
    line["details"] = {"usage": {"prompt_tokens": "many", "completion_tokens": -1}, "seconds": 10**400, "note": []}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pending(tmp_path) as second:
        assert second.find("row", "job", 0, ASKED) == Reply("Four.", finish_reason="unstated")
