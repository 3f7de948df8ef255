"""Batch services on a loopback server, which counts what is paid; the SDKs are the real ones."""

import json
import logging
import os
import pathlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from harness import AnswerReport, gen_answer
from harness.errors import EndpointError, Interrupted, UsageError
from harness.extras.batches import queue
from harness.store import latest
from harness.types import Answer
from tests.batches.provider import Batch, Fault, Provider, echo, environment, serving

MODELS = ["gpt-4o", "claude-sonnet-4-5"]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "GATHER", 0.02)
    monkeypatch.setattr(queue, "FIRST_POLL", 0.005)
    monkeypatch.setattr(queue, "LONGEST_POLL", 0.02)
    monkeypatch.setattr(queue, "SETTLE", 0.0)
    monkeypatch.setattr(queue, "HTTP_SECONDS", 0.25)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with serving(Provider()) as provider:
        for name, value in environment(provider.url).items():
            monkeypatch.setenv(name, value)
        yield provider


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder with a benchmark of three questions of two turns."""
    return bench(tmp_path, 3)


def bench(folder: pathlib.Path, questions: int) -> pathlib.Path:
    (folder / "small").mkdir()
    rows = [
        {"question_id": n, "category": "math", "turns": [f"Q{n}", f"R{n}"]}
        for n in range(questions)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "small" / "question.jsonl").write_text(text)
    return folder


def run(data: pathlib.Path, model: str, **words: Any) -> AnswerReport:
    words = {"patience": 5, **words}
    return gen_answer(model, "small", data_dir=str(data), batch=True, **words)


def answers(data: pathlib.Path, model: str) -> dict[Any, list[str]]:
    rows = latest(data / "small" / "model_answer" / f"{model}.jsonl", Answer)
    return {key: row.choices[0].turns for (key,), row in rows.items()}


def whole(questions: int) -> dict[Any, list[str]]:
    """Return the answers that must be there."""
    return {n: [f"Q{n}", f"Q{n} / Q{n} / R{n}"] for n in range(questions)}


def journals(data: pathlib.Path) -> list[pathlib.Path]:
    return list(data.rglob("batches/*.jsonl"))


def interrupted(provider: Provider, data: pathlib.Path, model: str) -> None:
    """Stop a run while its batch is at the provider."""
    provider.ready = False
    provider.polled.clear()

    def interrupt() -> None:
        provider.polled.wait(20)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(Interrupted, match="the batches stay at their provider"):
        run(data, model)
    provider.ready = True


@pytest.mark.parametrize("model", [*MODELS, "gemini-2.5-flash"])
def test_a_batch_for_each_turn(provider: Provider, data: pathlib.Path, model: str) -> None:
    report = run(data, model)
    assert report.complete, report.outcome.causes()
    assert provider.counts == [3, 3]
    assert answers(data, model) == whole(3)
    (row, *_) = latest(report.paths[0], Answer).values()
    assert row.choices[0].details[0].batch
    assert not journals(data)


FAULTS = {
    "results refused": Fault("results", "refuse", 2),
    "results limited": Fault("results", "refuse", 2, 429),
    "results cut": Fault("results", "cut", 2),
    "results a page": Fault("results", "html", 2),
    "results stalled": Fault("results", "stall"),
    "results not there yet": Fault("results", "gone", 2),
    "results with a broken line": Fault("results", "break", 2),
    "poll refused": Fault("poll", "refuse", 3, 500),
    "poll cut": Fault("poll", "cut", 3),
    "poll a page": Fault("poll", "html", 3),
    "poll stalled": Fault("poll", "stall"),
    "poll odd": Fault("poll", "odd", 2),
    "poll without connection": Fault("poll", "lose", 2),
    "poll gone behind a gateway": Fault("poll", "gone page", 5),
    "submission refused": Fault("create", "refuse", 2),
    "submission limited": Fault("create", "refuse", 2, 429),
    "submission's answer lost": Fault("create", "lose", 2),
    "submission's answer cut": Fault("create", "cut"),
    "submission's answer a page": Fault("create", "html"),
    "submission's answer odd": Fault("create", "odd"),
    "submission's answer late": Fault("create", "stall"),
    "upload cut": Fault("upload", "cut"),
}


@pytest.mark.parametrize("fault", [pytest.param(f, id=name) for name, f in FAULTS.items()])
@pytest.mark.parametrize("model", MODELS)
def test_a_fault_costs_nothing(
    provider: Provider, data: pathlib.Path, model: str, fault: Fault
) -> None:
    provider.faults = [Fault(fault.step, fault.how, fault.times, fault.status)]
    report = run(data, model)
    assert report.complete, report.outcome.causes()
    assert sum(provider.counts) == 6
    assert provider.paid_twice == 0
    assert answers(data, model) == whole(3)
    assert not journals(data)


@pytest.mark.parametrize("model", [*MODELS, "gemini-2.5-flash"])
@pytest.mark.parametrize("broken", ["refuse", "html", "cut", "odd"])
def test_a_lost_submission_is_looked_up_however_often_the_list_fails(
    provider: Provider, data: pathlib.Path, model: str, broken: Any
) -> None:
    run(data, model)
    if (broken, model[:6]) == ("odd", "gemini"):
        pytest.skip("to its SDK a list of another shape is an empty one")
    provider.faults = [Fault("create", "lose"), Fault("list", broken, 3)]
    (data / "small" / "model_answer" / f"{model}.jsonl").unlink()
    (data / "small" / "question.jsonl").write_text(
        '{"question_id": 9, "category": "x", "turns": ["Q9"]}\n'
    )
    assert run(data, model).complete
    assert provider.counts == [3, 3, 1]
    assert provider.paid_twice == 0


@pytest.mark.parametrize("model", MODELS)
def test_a_line_that_stays_broken_costs_that_one_request(
    provider: Provider, data: pathlib.Path, model: str
) -> None:
    lines = [f'{{"question_id": {n}, "category": "x", "turns": ["Q{n}"]}}\n' for n in range(3)]
    (data / "small" / "question.jsonl").write_text("".join(lines))
    provider.faults = [Fault("results", "break", queue.READS)]
    assert run(data, model).complete
    assert provider.counts == [3, 1]
    assert answers(data, model) == {n: [f"Q{n}"] for n in range(3)}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("status", [0, 429, 500])
def test_what_expired_or_failed_for_now_goes_into_a_later_batch(
    provider: Provider, data: pathlib.Path, model: str, status: int
) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if body["messages"][-1]["content"] == "Q1" and len(provider.batches) < 2:
            kind = {429: "rate_limit_error", 500: "api_error"}.get(status)
            return status, {"error": {"type": kind, "message": "not now"}}
        return echo(body)

    provider.answer = answer
    assert run(data, model).complete
    assert sum(provider.counts) == 7
    assert provider.paid_twice == 0
    assert answers(data, model) == whole(3)


@pytest.mark.parametrize("model", MODELS)
def test_what_was_cancelled_is_listed_and_not_submitted_again(
    provider: Provider, data: pathlib.Path, model: str
) -> None:
    provider.answer = lambda body: (-1, None)
    (cause,) = run(data, model).outcome.causes()
    assert "cancelled" in cause
    assert provider.counts == [3]


def test_a_line_ends_at_a_newline_only(provider: Provider, data: pathlib.Path) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        status, reply = echo(body)
        reply["choices"][0]["message"]["content"] += "\u2028\x85end"
        return status, reply

    provider.answer = answer
    assert run(data, "gpt-4o").complete
    assert answers(data, "gpt-4o")[0][0] == "Q0\u2028\x85end"
    assert provider.counts == [3, 3]


# A stop, a kill, a file that was damaged


@pytest.mark.parametrize("model", [*MODELS, "gemini-2.5-flash"])
def test_batches_stay_at_the_provider_and_the_next_run_collects_them(
    provider: Provider, data: pathlib.Path, model: str
) -> None:
    interrupted(provider, data, model)
    assert provider.counts == [3]
    assert run(data, model).complete
    assert provider.counts == [3, 3]
    assert answers(data, model) == whole(3)
    assert not journals(data)


@pytest.mark.parametrize("model", [*MODELS, "gemini-2.5-flash"])
@pytest.mark.parametrize("others", [0, 5])
def test_a_batch_that_was_submitted_and_not_noted_is_found(
    provider: Provider, data: pathlib.Path, model: str, others: int
) -> None:
    interrupted(provider, data, model)
    (journal,) = journals(data)
    intent, _ = journal.read_text().splitlines()
    journal.write_text(f"{intent}\n")
    for n in range(others):  # of somebody else: newer ones, on further pages
        lines = [(f"other{n}-{k}", {"model": model, "messages": []}) for k in range(3)]
        provider.answer = lambda body: (400, {"error": {}})
        provider.batches[f"other{n}"] = Batch(f"other{n}", lines, {} if "gpt" in model else "")
        provider.batches[f"other{n}"].polls = 9
        provider.answer = echo
    provider.batches["batch_0"].polls = 9
    assert run(data, model).complete
    assert provider.paid_twice == 0
    assert answers(data, model) == whole(3)


@pytest.mark.parametrize("model", MODELS)
def test_an_intent_that_came_to_nothing_is_submitted(
    provider: Provider, data: pathlib.Path, model: str
) -> None:
    interrupted(provider, data, model)
    (journal,) = journals(data)
    journal.write_text(f"{journal.read_text().splitlines()[0]}\n")
    provider.batches.clear()
    provider.paid.clear()
    assert run(data, model).complete
    assert answers(data, model) == whole(3)


def test_a_broken_line_of_our_own_file_is_a_warning(
    provider: Provider, data: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    interrupted(provider, data, "gpt-4o")
    (journal,) = journals(data)
    journal.write_bytes(b'\xff{"id": 3}\n' + journal.read_bytes() + b'{"id": "x", "keys": 7}\n')
    with caplog.at_level(logging.WARNING, "turnbench"):
        assert run(data, "gpt-4o").complete
    lines = [r.message for r in caplog.records if "is no line of a batch" in r.message]
    assert [line.partition(".jsonl:")[2][0] for line in lines] == ["1", "4"]
    assert provider.counts == [3, 3]


# A batch that the provider does not know any more


@pytest.mark.parametrize("model", [*MODELS, "gemini-2.5-flash"])
def test_a_batch_that_is_gone_is_submitted_again_with_consent_only(
    provider: Provider, data: pathlib.Path, model: str
) -> None:
    interrupted(provider, data, model)
    for _ in range(2):
        provider.faults = [Fault("poll", "gone", 3)]
        report = run(data, model)
        (cause,) = report.outcome.causes()
        assert "does not know" in cause
        assert "--yes submits its 3 requests again, at their price" in cause
        assert provider.counts == [3]
    provider.faults = [Fault("poll", "gone", 3)]
    assert run(data, model, yes=True).complete
    assert provider.counts == [3, 3, 3]
    assert answers(data, model) == whole(3)


# As with direct calls


def test_a_refused_request_is_listed_and_asked_again_by_the_next_run(
    provider: Provider, data: pathlib.Path
) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if body["messages"][-1]["content"] == "Q1":
            return 400, {"error": {"message": "no such thing"}}
        return echo(body)

    provider.answer = answer
    report = run(data, "gpt-4o")
    assert [failure.where for failure in report.outcome.failures] == ["gpt-4o, question 1"]
    assert sorted(answers(data, "gpt-4o")) == [0, 2]
    provider.answer = echo
    assert run(data, "gpt-4o").complete
    assert provider.counts == [3, 2, 1, 1]


def test_many_refusals_in_a_batch_do_not_hide_its_replies(
    provider: Provider, tmp_path: pathlib.Path
) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if body["messages"][0]["content"] != "Q0":
            return 400, {"error": {"message": "no such thing"}}
        return echo(body)

    provider.answer = answer
    report = run(bench(tmp_path, 12), "gpt-4o")
    assert len(report.outcome.failures) == 11
    assert answers(tmp_path, "gpt-4o") == whole(1)


def test_a_refused_parameter_is_left_out_from_the_next_batch_on(
    provider: Provider, data: pathlib.Path
) -> None:
    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        if "temperature" in body:
            text = "Unsupported value: 'temperature' does not support 0 with this model."
            return 400, {"error": {"message": text, "param": "temperature"}}
        return echo(body)

    provider.answer = answer
    assert run(data, "gpt-4o").complete
    assert provider.counts == [3, 3, 3]


def test_equal_requests_of_several_choices_keep_their_own_replies(
    provider: Provider, data: pathlib.Path
) -> None:
    said = iter(range(1000))

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        status, reply = echo(body)
        reply["choices"][0]["message"]["content"] = f"reply {next(said)}"
        return status, reply

    provider.answer = answer
    report = run(data, "gpt-4o", num_choices=3, first_n=1)
    (row,) = latest(report.paths[0], Answer).values()
    assert len({choice.turns[0] for choice in row.choices}) == 3


def test_redo_does_not_take_the_replies_of_the_run_before(
    provider: Provider, data: pathlib.Path
) -> None:
    interrupted(provider, data, "gpt-4o")
    (journal,) = journals(data)
    kept = journal.read_bytes()
    assert run(data, "gpt-4o").complete
    journal.write_bytes(kept)  # as a kill before the end leaves it
    assert run(data, "gpt-4o", redo=True).complete
    assert provider.counts == [3, 3, 3, 3]


def test_a_wrong_key_ends_the_run_and_the_batch_stays(
    provider: Provider, data: pathlib.Path
) -> None:
    interrupted(provider, data, "gpt-4o")
    provider.faults = [Fault("poll", "refuse", 1, 401)]
    with pytest.raises(EndpointError):
        run(data, "gpt-4o")
    assert run(data, "gpt-4o").complete
    assert provider.counts == [3, 3]


def test_a_provider_without_batches_is_wrong_use(data: pathlib.Path) -> None:
    with pytest.raises(UsageError, match="has no batches; leave out --batch"):
        run(data, "m", base_url="http://127.0.0.1:1/v1", conv_template="vicuna_v1.1")
