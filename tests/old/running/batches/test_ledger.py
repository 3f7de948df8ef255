"""What is at a provider, kept on disk."""

import json
import logging
import pathlib

import pytest

from harness.old.running.batches.ledger import (
    Ask,
    Batch,
    Ledger,
    ledger_file,
    new_token,
    rows_awaited,
    warn_of_batches,
)

ORIGIN = ("http://server/v1", "m")


def asks(count: int) -> list[Ask]:
    return [Ask(f"m, question {n}", 0, f"hash{n}", ("temperature",), f"row {n}") for n in range(count)]


def planned(ledger: Ledger, count: int = 3) -> Batch:
    return ledger.plan(new_token(), ORIGIN, asks(count))


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return ledger_file(tmp_path / "model_answer" / "m.jsonl", tmp_path / "state")


def test_the_next_process_finds_what_was_planned_made_and_settled(path: pathlib.Path) -> None:
    with Ledger(path) as ledger:
        batch = planned(ledger)
        ledger.made(batch, "batch_7")
        ledger.settle(batch, [1])
        ledger.learn("temperature")
    with Ledger(path) as again:
        (found,) = again.batches.values()
        assert (found.token, found.name, found.origin, found.open) == (batch.token, "batch_7", ORIGIN, {0, 2})
        assert found.asks == tuple(asks(3))
        assert again.unsupported == ["temperature"]


def test_a_plan_is_on_the_disk_before_it_is_handed_in(path: pathlib.Path) -> None:
    with Ledger(path) as ledger:
        batch = planned(ledger)
        (line,) = path.read_text(encoding="utf-8").splitlines()
        assert json.loads(line)["plan"] == batch.token
        assert batch.name is None


@pytest.mark.parametrize("way", ["settled", "dropped"])
def test_a_batch_with_nothing_to_collect_is_gone_and_so_is_the_file(path: pathlib.Path, way: str) -> None:
    with Ledger(path) as ledger:
        batch = planned(ledger)
        assert path.exists()
        if way == "settled":
            ledger.settle(batch, [0, 1])
            ledger.settle(batch, [2])
        else:
            ledger.drop(batch)
        assert not ledger.batches
    assert not path.exists()


def test_the_file_stays_while_something_is_to_be_collected(path: pathlib.Path) -> None:
    with Ledger(path) as ledger:
        batch = planned(ledger)
        ledger.settle(batch, [0])
    assert path.exists()


def test_who_calls_directly_is_told_what_is_not_collected(path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    with Ledger(path) as ledger:
        batch = planned(ledger)
        ledger.made(batch, "batch_7")
        ledger.settle(batch, [0, 1])
    with caplog.at_level(logging.WARNING):
        warn_of_batches(path)
    (line,) = caplog.messages
    assert "batch batch_7 (3 requests, submitted " in line
    assert "1 result is not collected; run with --batch" in line


def test_a_torn_last_line_is_left_out(path: pathlib.Path) -> None:
    with Ledger(path) as ledger:
        planned(ledger)
    with path.open("a") as file:
        file.write('{"made": "')
    with Ledger(path) as again:
        assert [batch.name for batch in again.batches.values()] == [None]


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"plan": ["a"], "origin": 1, "at": "now", "asks": {}}', id="plan"),
        pytest.param('{"plan": "a", "origin": ["x"], "at": 1, "asks": []}', id="origin"),
        pytest.param('{"plan": "a", "origin": ["x", "y"], "at": 1e300, "asks": []}', id="time"),
        pytest.param('{"plan": "a", "origin": ["x", "y"], "at": 1, "asks": [["job"]]}', id="asks"),
        pytest.param('{"made": {}, "batch": []}', id="made"),
        pytest.param('{"settled": [], "asks": "x"}', id="settled"),
        pytest.param('{"dropped": []}', id="dropped"),
        pytest.param('{"unsupported": {}}', id="unsupported"),
        pytest.param("no JSON", id="no JSON"),
    ],
)
def test_a_line_of_wrong_types_is_passed_over(line: str, path: pathlib.Path) -> None:
    with Ledger(path) as ledger:
        planned(ledger)
    path.write_text(f"{line}\n{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    assert rows_awaited(path) == {"row 0", "row 1", "row 2"}
    with Ledger(path) as again:
        assert [batch.asks for batch in again.batches.values()] == [tuple(asks(3))]
        assert again.unsupported == []
