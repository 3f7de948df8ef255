"""What is in the file after failures, and with many calls at once."""

import pathlib

import pytest

from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.cli.gen_answer import main
from harness.old.errors import EndpointError, StorageError
from harness.old.jsonl import Journal
from tests.old.answering.answers import answers, made
from tests.old.protocol_server import Asked, Fault, ProtocolServer, Said, bad_request, outage
from tests.old.small_bench import question, small_bench


def test_a_call_that_failed_for_good_writes_nothing_and_is_tried_again_next_time(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = small_bench(tmp_path)

    def broken(asked: Asked) -> Fault | None:
        second_of_two = asked.texts[0].startswith("Question 2") and len(asked.texts) == 3
        return bad_request("The prompt is odd.") if second_of_two and asked.tries == 0 else None

    command = ["--model", "m", "--bench-name", "small", "--data-dir", str(tmp_path)]
    with ProtocolServer(faults=broken) as server:
        command += ["--base-url", server.openai_url]
        assert main(command) == 1
        told = capsys.readouterr().err
        assert sorted(row["question_id"] for row in answers(bench)) == [1, 3]
        assert main(command) == 0
    assert "1 failed" in told
    assert "m, question 2" in told
    assert "The prompt is odd." in told
    assert sorted(row["question_id"] for row in answers(bench)) == [1, 2, 3]
    assert len(server.requests) == 7, "the first turn of question 2 was asked once"


def test_an_outage_is_tried_again_within_the_run(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    with ProtocolServer(faults={1: outage(), 3: outage(503)}) as server:
        report = made(server, bench)
    assert report.complete
    assert (report.tally.retries, report.tally.calls, len(server.requests)) == (2, 6, 8)


@pytest.mark.parametrize("parallel", [1, 8, 200])
def test_a_refused_key_stops_at_once(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, parallel: int
) -> None:
    bench = small_bench(tmp_path, *(question(number) for number in range(1, 101)))
    monkeypatch.setenv("MY_KEY", "sk-wrong-0123456789")
    command = ["--model", "m", "--bench-name", "small", "--data-dir", str(tmp_path), "--parallel", str(parallel)]
    with ProtocolServer(api_key="sk-right") as server:
        assert main([*command, "--base-url", server.openai_url, "--api-key-env", "MY_KEY"]) == 2
    assert len(server.requests) <= parallel
    told = capsys.readouterr().err
    assert "answered 401" in told
    assert "sk-wrong" not in told
    assert "Traceback" not in told
    assert answers(bench) == []


def test_an_unreachable_server_is_one_line(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    small_bench(tmp_path)
    with ProtocolServer() as server:
        address = server.openai_url
    command = ["--model", "m", "--bench-name", "small", "--data-dir", str(tmp_path), "--base-url", address, "-q"]
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "cannot connect" in line
    assert address in line


def test_other_models_keep_what_they_had_when_one_cannot_be_called(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, question(1))
    with ProtocolServer(models=["m"]) as server:
        plan = plan_answers(["m", "n"], bench, AnswerOptions(base_url=server.openai_url))
        with pytest.raises(EndpointError, match="`n` does not exist"):
            run_answers(plan)
        made(server, bench)
    asked = [asked for asked in server.requests if asked.model == "m"]
    assert len(asked) == 2, "a reply that had come before the end was not asked again"


@pytest.mark.parametrize(
    ("said", "finish", "text"),
    [
        pytest.param(Said("Half a sen", finish="length"), "length", "Half a sen", id="cut"),
        pytest.param(Said(None, refusal="I will not."), "refused", "I will not.", id="refused"),
        pytest.param(Said(""), "empty", "", id="empty"),
    ],
)
def test_replies_that_are_not_whole_are_recorded_as_such(
    tmp_path: pathlib.Path, said: Said, finish: str, text: str
) -> None:
    bench = small_bench(tmp_path, question(1, turns=["one?"]))
    with ProtocolServer(lambda asked: said) as server:
        report = made(server, bench)
        made(server, bench)
    (choice,) = answers(bench)[0]["choices"]
    assert (choice["turns"], choice["details"][0]["finish_reason"]) == ([text], finish)
    calls = 2 if finish == "length" else 1  # what was cut is asked for once more
    assert report.tally.flagged == {finish: calls}
    assert len(server.requests) == calls
    assert report.cut == calls - 1


# Many at once.


def test_the_servers_view_of_the_bound_on_calls(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path, *(question(number) for number in range(1, 31)))
    with ProtocolServer(latency=0.005) as server:
        made(server, bench, parallel=5)
    assert server.most_at_once == 5
    assert [len(asked.texts) for asked in server.requests] == [1] * 30 + [3] * 30
    assert len(answers(bench)) == 30


def test_a_second_writer_is_told_who_holds_the_file(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    bench = small_bench(tmp_path)
    command = ["--model", "builtin/eliza", "--bench-name", "small", "--data-dir", str(tmp_path), "-q"]
    with Journal(bench.answer_file("builtin/eliza"), bench.answer_state):
        assert main(command) == 2
        (line,) = capsys.readouterr().err.splitlines()
    assert "is being written by process" in line
    assert main(command) == 0


def test_replies_that_wait_for_their_row_survive_a_run_over_other_questions(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)

    def no_third(asked: Asked) -> Fault | None:
        blocked = asked.texts[0].startswith("Question 3") and len(asked.texts) == 3
        return bad_request("No.") if blocked and asked.tries == 0 else None

    with ProtocolServer(faults=no_third) as server:
        made(server, bench)
        made(server, bench, first_n=1, redo=True)
        count = len(server.requests)
        made(server, bench)
    assert len(server.requests) == count + 1
    assert len(answers(bench)) == 3
    assert not (bench.answer_state / "pending" / "m.jsonl").exists()


def test_a_disk_that_takes_no_row_is_a_storage_error(tmp_path: pathlib.Path) -> None:
    bench = small_bench(tmp_path)
    (bench.folder / "model_answer").write_text("not a folder")
    with pytest.raises(StorageError, match="model_answer"):
        run_answers(plan_answers(["builtin/eliza"], bench))
