"""Conversations of twenty turns go through answering, judging, and results."""

import pathlib

import pytest

import harness
from harness.old.answering import AnswerOptions, plan_answers, run_answers
from harness.old.bench import Bench
from harness.cli.show_result import main as show_result
from harness.old.judging.run import JudgeOptions, plan_judgments, run_judgments
from tests.old.protocol_server import Asked, ProtocolServer, verdict
from tests.old.small_bench import question, rows, small_bench

TURNS = range(1, 21)


def reply(asked: Asked) -> str:
    if "[[" in asked.texts[-1]:
        return verdict(asked)
    turn = sum(message["role"] == "user" for message in asked.body["messages"])
    return f"Reply to message {turn}.\nBy {asked.body['model']}."


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> Bench:
    """Return a benchmark of two such conversations, answered by two models and judged in both ways."""
    made = small_bench(tmp_path, *(question(n, turns=[f"Message {turn}?" for turn in TURNS]) for n in (1, 2)))
    with ProtocolServer(reply) as server:
        run_answers(plan_answers(["m", "n"], made, AnswerOptions(base_url=server.openai_url)))
        judging = JudgeOptions(base_url=server.openai_url)
        for mode in ("single", "pairwise-all"):
            run_judgments(plan_judgments(["j"], made, mode, judging))
        assert len(server.requests) == 2 * 2 * 20 + 2 * 2 * 20 + 2 * 2 * 20
    return made


def test_every_turn_is_answered_in_its_place(bench: Bench) -> None:
    for row in rows(bench.answer_file("m")):
        assert row["choices"][0]["turns"] == [f"Reply to message {turn}.\nBy m." for turn in TURNS]


def test_every_turn_is_judged_with_all_before_it_in_view(bench: Bench) -> None:
    singles = rows(bench.judgment_file("j", "mt_bench", "single"))
    assert sorted((row["question_id"], row["model"], row["turn"]) for row in singles) == [
        (number, model, turn) for number in (1, 2) for model in ("m", "n") for turn in TURNS
    ]
    for row in singles:
        seen = [f"\nReply to message {turn}.\nBy " in row["user_prompt"] for turn in TURNS]
        assert seen == [turn <= row["turn"] for turn in TURNS]
    pairs = rows(bench.judgment_file("j", "mt_bench", "pairwise-all"))
    assert sorted(row["turn"] for row in pairs) == sorted([*TURNS, *TURNS])


def test_results_have_every_turn(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--bench-name", bench.name, "--data-dir", str(bench.folder.parent)]
    assert show_result([*where, "--mode", "single"]) == 0
    shown = capsys.readouterr().out
    assert all(f"turn {turn}" in shown for turn in TURNS)
    table = harness.show_result("single", bench_name=bench.name, data_dir=bench.folder.parent)
    assert {row["model"]: row["n"] for row in table.rows()} == {"m": 40, "n": 40}
    assert show_result([*where, "--mode", "pairwise-all"]) == 0
