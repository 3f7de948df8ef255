"""What status says of work that has begun and has no whole row yet."""

import pathlib

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import Bench
from harness.cli.main import main
from harness.old.errors import EndpointError
from harness.old.judging.run import plan_judgments, run_judgments
from harness.old.running.options import RunOptions
from harness.old.status import bench_status
from tests.old.protocol_server import Asked, BatchDesk, Fault, ProtocolServer, Script, bad_request
from tests.old.small_bench import small_bench


def answer(bench: Bench, server: ProtocolServer, **running: object) -> None:
    plan = plan_answers(["m"], bench, AnswerOptions(base_url=server.openai_url))
    run_answers(plan, RunOptions(**running))  # type: ignore[arg-type]


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    return small_bench(tmp_path)


def test_a_model_whose_first_turns_alone_are_there_is_listed(bench: Bench) -> None:
    def second_turns(asked: Asked) -> Fault | None:
        return bad_request("No.") if len(asked.texts) > 1 else None

    with ProtocolServer(faults=second_turns) as server:
        answer(bench, server)
    status = bench_status(bench)
    assert [(m.model, m.answered, len(m.missing), m.failed, m.pending) for m in status.models] == [("m", 0, 3, 3, 3)]
    assert [(e.model, e.calls) for e in status.rest] == [("m", 3)], "first turns are kept"


def test_judgments_of_a_model_without_a_whole_answer_are_left_to_do_too(bench: Bench) -> None:
    def second_turns(asked: Asked) -> Fault | None:
        return bad_request("No.") if len(asked.texts) > 1 else None

    run_answers(plan_answers(["builtin/eliza"], bench))
    run_judgments(plan_judgments(["builtin/overlap"], bench, "single"))
    assert (found := bench_status(bench)).judges[0].waiting == 0
    assert found.rest == []
    with ProtocolServer(faults=second_turns) as server:
        answer(bench, server)
    found = bench_status(bench)
    assert (found.judges[0].judged, found.judges[0].missing, found.judges[0].waiting) == (6, 0, 6)
    assert [(e.what, e.model, e.calls) for e in found.rest] == [
        ("answers", "m", 3),
        ("judgments", "builtin/overlap", 6),
    ]


def test_requests_at_a_provider_are_told_of(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    looks = 0

    def stop(asked: Asked) -> Fault | None:
        nonlocal looks
        looks += asked.path.startswith("/v1/batches/")
        return Fault(401, "expired") if looks else None

    with ProtocolServer(faults=stop, batches=BatchDesk(Script(polls=9))) as server, pytest.raises(EndpointError):
        answer(bench, server, batch=True)
    status = bench_status(bench)
    assert status.batched == {"m.jsonl": 3}
    assert [m.model for m in status.models] == ["m"]
    assert main(["status", "--data-dir", str(bench.folder.parent), "--bench-name", bench.name]) == 0
    assert "note: m.jsonl: 3 rows at a provider in batches; repeat the command with --batch" in capsys.readouterr().out


def test_the_file_of_another_name_is_no_model(bench: Bench, tmp_path: pathlib.Path) -> None:
    with ProtocolServer(faults=lambda asked: bad_request("No.") if len(asked.texts) > 1 else None) as server:
        plan = plan_answers(["m"], bench, AnswerOptions(base_url=server.openai_url), answer_file=tmp_path / "x.jsonl")
        run_answers(plan)
    assert bench_status(bench).models == []
