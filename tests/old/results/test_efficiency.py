"""Quality and price: what is added up, over which answers, and who is on the frontier."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.cli.show_result import main
from harness.old.errors import MissingError, UsageError
from harness.old.results.efficiency import efficiency
from harness.old.results.show import show_result
from tests.old.small_bench import question, write

MODELS = '[models."{name}"]\nmodel = "served"\nprovider = "openai"\nprice = {{prompt = 1, completion = {price}}}\n'


def reply(model: str, tokens: int, reasoning: int, seconds: float, finish: str = "stop") -> dict[str, Any]:
    usage = {"prompt_tokens": 1000, "completion_tokens": tokens, "reasoning_tokens": reasoning}
    return {"finish_reason": finish, "usage": usage, "seconds": seconds, "provider_model": model}


def answered(number: int, name: str, *replies: dict[str, Any], sampling: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "turns": ["x" * 10] * len(replies), "details": list(replies)}
    return {"question_id": number, "model_id": name, "choices": [choice], "sampling": sampling}


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return two models of equal score, one at half the price, and a third that is best; `b` lacks a question."""
    folder = tmp_path / "small"
    write(folder / "question.jsonl", [question(n, turns=["one?"]) for n in range(1, 5)])
    (tmp_path / "models.toml").write_text("".join(MODELS.format(name=n, price=p) for n, p in (("a", 2), ("b", 4))))
    grades = {"a": 6, "b": 6, "c": 9}
    for name in grades:
        tokens = {"a": 1000, "b": 1000, "c": 500}[name]
        rows = [
            answered(n, name, reply("served" if name != "c" else "other", tokens, 250, float(n)), sampling={"seed": 1})
            for n in range(1, 4 if name == "b" else 5)
        ]
        if name == "b":
            rows[0] = answered(1, "b", reply("served", tokens, 250, 1.0, "length"), sampling={"top_k": 5})
        write(folder / "model_answer" / f"{name}.jsonl", rows)
    judged = [
        {"question_id": n, "model": m, "judge": ["j", "t"], "turn": 1, "score": s + n % 2}
        for n in range(1, 5)
        for m, s in grades.items()
        if (n, m) != (4, "b")
    ]
    write(folder / "model_judgment" / "j_single.jsonl", judged)
    return tmp_path


def test_what_common_answers_cost_and_took(data: pathlib.Path) -> None:
    result = show_result("single", bench_name="small", data_dir=data, common=True)
    found = efficiency(result, bench_name="small", data_dir=data, models_file=data / "models.toml")
    rows = {row.model: row for row in found.rows}
    assert (found.questions, rows["a"].turns) == (3, 3)
    assert rows["a"].cost == pytest.approx(1000 * (1000 * 1 + 1000 * 2) / 1e6)
    assert rows["a"].reasoning_cost == pytest.approx(1000 * 250 * 2 / 1e6)
    assert (rows["a"].reply_tokens, rows["a"].reasoning_share, rows["a"].characters) == (1000, 0.25, 10)
    assert rows["a"].seconds == 2.0
    assert rows["a"].seconds_95 == pytest.approx(2.9)
    assert rows["b"].cut == pytest.approx(1 / 3)
    assert (rows["a"].cut, rows["b"].refused) == (0, 0)
    assert (rows["c"].cost, rows["c"].frontier) == (None, False)
    assert (rows["a"].frontier, rows["b"].frontier) == (True, False)
    notes = " ".join(found.notes)
    assert "of 3 questions that all have answered; 2 answers to others are left out" in notes
    assert "served has several names, with different settings: a (seed 1); b (top_k 5)" in result.notes


def test_a_model_that_is_not_ranked_undercuts_nobody(data: pathlib.Path) -> None:
    file = data / "small" / "model_judgment" / "j_single.jsonl"
    rows = [
        row for row in map(json.loads, file.read_text().splitlines()) if row["model"] != "a" or row["question_id"] == 1
    ]
    write(file, rows)
    found = efficiency(
        show_result("single", bench_name="small", data_dir=data), models_file=data / "models.toml", data_dir=data
    )
    assert {row.model: row.frontier for row in found.rows} == {"a": False, "b": True, "c": False}


def test_the_command_shows_it_in_every_form(
    data: pathlib.Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(data)
    words = ["--bench-name", "small", "--data-dir", str(data), "--efficiency"]
    assert main([*words, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {row["model"]: row["frontier"] for row in rows} == {"a": True, "b": False, "c": False}
    assert main([*words, "--report", str(data / "page.html")]) == 0
    assert "$3.00" in capsys.readouterr().out
    assert "<svg" in (data / "page.html").read_text()


def test_what_has_no_answers_or_no_one_number_is_an_error(data: pathlib.Path) -> None:
    result = show_result("single", bench_name="small", data_dir=data)
    for file in (data / "small" / "model_answer").iterdir():
        file.unlink()
    with pytest.raises(MissingError, match="holds no answers of"):
        efficiency(result, bench_name="small", data_dir=data)
    write(
        data / "small" / "model_judgment" / "k_single.jsonl",
        [{"question_id": 1, "model": m, "judge": ["k", "t"], "turn": 1, "score": 5} for m in "abc"],
    )
    panel = show_result("single", bench_name="small", data_dir=data, judge_model=["j", "k"])
    with pytest.raises(UsageError, match="name one with --judge-model"):
        efficiency(panel, bench_name="small", data_dir=data)
