import json
import pathlib
from collections import Counter

import pytest

from harness import run_bench
from harness.cli.main import gen_answer, gen_judgment
from harness.cli.main import run_bench as main
from harness.store import latest
from harness.types import Judgment
from tests.servers import Call, Rule, Server


def bench(folder: pathlib.Path, questions: int = 4) -> None:
    (folder / "small").mkdir()
    rows = [
        {"question_id": n, "category": "writing", "turns": [f"Q{n}", f"R{n}"]}
        for n in range(questions)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "small" / "question.jsonl").write_text(text)


def answer(call: Call) -> str:
    """Answer as a model, and grade or compare as a judge."""
    if "[[A]]" in call.text:
        return "[[A]]"
    if "[[number]]" in call.text:
        return "Rating: [[7]]"
    return f"{call.body['model']} on {call.messages[-1][1]}"


def lines(folder: pathlib.Path, name: str) -> list[str]:
    return (folder / "small" / name).read_text().splitlines()


@pytest.mark.parametrize(("mode", "name"), [("single", "single"), ("pairwise-all", "pair")])
def test_every_answer_is_judged_once_in_the_same_run(
    tmp_path: pathlib.Path, mode: str, name: str
) -> None:
    bench(tmp_path)
    with Server(Rule(answer)) as server:
        report = run_bench(
            ["one", "two"],
            "judge",
            "small",
            data_dir=tmp_path,
            mode=mode,
            base_url=f"{server.url}/v1",
        )
    assert report.complete, report.outcome.causes()
    assert report.unjudged == 0
    expected = 16 if mode == "single" else 8
    assert len(lines(tmp_path, f"model_judgment/judge_{name}.jsonl")) == expected
    path = tmp_path / "small" / "model_judgment" / f"judge_{name}.jsonl"
    assert len(latest(path, Judgment)) == expected


def test_a_judge_that_is_known_nowhere_else_is_at_the_models_address(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(tmp_path)
    flags = ["--bench-name", "small", "--data-dir", str(tmp_path), "--format", "json"]
    with Server(Rule(answer)) as server:
        flags += ["--model", "one", "two", "--judge-model", "judge"]
        assert main([*flags, "--base-url", f"{server.url}/v1"]) == 0
        asked = Counter(call.body["model"] for call in server.calls)
    assert asked == {"one": 8, "two": 8, "judge": 16}
    page = json.loads(capsys.readouterr().out)
    assert {row["model"]: row["average"] for row in page["rows"]} == {"one": 7.0, "two": 7.0}


def test_a_second_run_asks_nothing(tmp_path: pathlib.Path) -> None:
    bench(tmp_path)
    with Server(Rule(answer)) as server:
        for _ in range(2):
            run_bench(["one"], "judge", "small", data_dir=tmp_path, base_url=f"{server.url}/v1")
        assert len(server.calls) == 16


def test_what_is_missing_is_listed_and_the_rest_is_judged(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(tmp_path)
    bad = Rule(
        status=400,
        body={"error": {"message": "no such thing"}},
        when=lambda call: call.body["model"] == "one" and "Q1" in call.text,
    )
    flags = ["--bench-name", "small", "--data-dir", str(tmp_path), "--model", "one"]
    with Server(bad, Rule(answer)) as server:
        assert main([*flags, "--judge-model", "judge", "--base-url", f"{server.url}/v1"]) == 1
    said = capsys.readouterr().err
    assert "one, question 1: " in said
    assert "2 judgments wait for answers that are missing" in said
    assert len(lines(tmp_path, "model_judgment/judge_single.jsonl")) == 6


def test_a_baseline_that_is_typed_makes_pairs(tmp_path: pathlib.Path) -> None:
    bench(tmp_path)
    with Server(Rule(answer)) as server:
        report = run_bench(
            ["one", "two"],
            "judge",
            "small",
            data_dir=tmp_path,
            baseline_model="two",
            base_url=f"{server.url}/v1",
        )
    assert report.plan.judgments.mode == "pairwise-baseline"
    assert len(lines(tmp_path, "model_judgment/judge_pair.jsonl")) == 8


def test_the_estimate_knows_the_judge_s_calls(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(tmp_path)
    flags = ["--bench-name", "small", "--data-dir", str(tmp_path), "--model", "gpt-4o", "gpt-4.1"]
    flags += ["--judge-model", "claude-sonnet-4-5", "--mode", "pairwise-all"]
    assert main([*flags, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("32 calls would be made")
    assert not (tmp_path / "small" / "model_answer").exists()


def test_a_share_of_the_pairs_is_judged_as_answers_come(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(tmp_path, 6)
    with Server(Rule(answer)) as server:
        flags = ["--bench-name", "small", "--data-dir", str(tmp_path), "--judge-model", "judge"]
        flags += ["--model", "a", "b", "c", "d", "--share", "0.5", "--base-url", f"{server.url}/v1"]
        assert main([*flags, "-q"]) == 0
    path = tmp_path / "small" / "model_judgment" / "judge_pair.jsonl"
    rows = latest(path, Judgment).values()
    assert len(rows) == 36
    assert {row.drawn for row in rows} == {0.5}
    assert "50% of the pairs, drawn" in " ".join(capsys.readouterr().out.split())


def test_the_dry_run_shows_what_shares_of_the_pairs_would_take(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench(tmp_path)
    flags = ["--bench-name", "small", "--data-dir", str(tmp_path), "-q"]
    with Server(Rule(answer)) as server:
        where = ["--base-url", f"{server.url}/v1"]
        assert gen_answer([*flags, "--model", "a", "b", "c", *where]) == 0
    capsys.readouterr()
    judging = ["--judge-model", "gpt-4.1", "--mode", "pairwise-all", "--dry-run"]
    assert gen_judgment([*flags, *judging]) == 0
    page = capsys.readouterr().out
    assert page.startswith("48 calls would be made, $")
    rows = [line.split() for line in page.partition("% of the pairs")[2].splitlines()[1:5]]
    assert [row[:2] for row in rows][-1] == ["100", "48"]
