"""show_result on judgments that are no single grade: labels, dimensions, several criteria, in every output."""

import csv
import io
import json
import pathlib
from typing import Any

import pytest

from harness.old.cli import gen_judgment, show_result
from tests.old.protocol_server import Asked, ProtocolServer
from tests.old.small_bench import answer, question, rows, small_bench, write

FACTS = ["440k", "444k", "435k", "400k", "413k", "about 400k", "over 300k"]
"""Answers where 440k is true: three right to the last figure that it states, two wrong, two that attempt nothing."""
TOML = 'answer_field = "answer"\nconfidence_field = "confidence"\n'


def fact_judge(asked: Asked) -> str:
    said = asked.texts[-1].split("<<<text ")[-1].split("\n")[1]
    if said == "?":
        return "Hard to say."
    place = FACTS.index(said)
    return json.dumps({"evaluation": "CORRECT" if place < 3 else "INCORRECT" if place < 5 else "NOT_ATTEMPTED"})


@pytest.fixture
def facts(tmp_path: pathlib.Path) -> list[str]:
    """Return the flags that name a benchmark whose short facts are judged."""
    numbers = range(1, len(FACTS) + 1)
    questions = [question(n, "history" if n % 2 else "people", ["How many?"], era=n % 3) for n in [*numbers, 8, 9]]
    made = small_bench(tmp_path, *questions, toml=TOML)
    write(made.folder / "reference_answer" / "us.jsonl", [answer(n, "us", "440k") for n in [*numbers, 8, 9]])
    replies = [
        answer(n, "m", f'```json\n{{"answer": "{text}", "confidence": 80}}\n```')
        for n, text in zip([*numbers, 8], [*FACTS, "?"], strict=True)
    ]
    write(made.folder / "model_answer" / "m.jsonl", replies)
    flags = ["--data-dir", str(tmp_path), "--bench-name", "small"]
    with ProtocolServer(fact_judge) as server:
        judging = ["--judge-model", "j", "--base-url", server.openai_url, "--judge-set", "short_fact_en"]
        assert gen_judgment.main([*flags, *judging, "--first-n", "8", "--yes", "-q"]) == 0
    return flags


def test_the_judge_sees_the_extracted_answer_and_the_row_its_confidence(
    tmp_path: pathlib.Path, facts: list[str]
) -> None:
    (row, *_) = rows(next((tmp_path / "small" / "model_judgment").glob("*.jsonl")))
    assert "```" not in row["user_prompt"].split("<<<text")[1]
    assert "\n440k\n<<<end" in row["user_prompt"]
    assert row["confidence"] == 0.8
    (stored, *_) = rows(tmp_path / "small" / "model_answer" / "m.jsonl")
    assert stored["choices"][0]["turns"][0].startswith("```json")


def shown(flags: list[str], capsys: pytest.CaptureFixture[str], *more: str) -> str:
    capsys.readouterr()
    assert show_result.main([*flags, *more]) == 0
    return capsys.readouterr().out


def test_short_facts_as_json(facts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    made: dict[str, Any] = json.loads(shown(facts, capsys, "--format", "json", "--intervals"))
    (row,) = made["rows"]
    assert {name: row[name] for name in ("n", "unparsed", "missing", "with_confidence")} == {
        "n": 7,
        "unparsed": 1,
        "missing": 1,
        "with_confidence": 5,
    }
    assert row["correct"] == pytest.approx(3 / 7)
    assert row["given_attempted"] == pytest.approx(3 / 5)
    assert row["f1"] == pytest.approx(1 / 2)
    assert row["brier"] == pytest.approx((3 * 0.04 + 2 * 0.64) / 5)
    assert row["ece"] == pytest.approx(0.2)
    assert made["intervals"][0]["f1_low"] < 0.5 < made["intervals"][0]["f1_high"]
    assert {group["category"] for group in made["groups"]} == {"history", "people"}
    assert made["calibration"] == [
        {"model": "m", "from": 0.8, "to": 0.9, "n": 5, "confidence": pytest.approx(0.8), "accuracy": 0.6}
    ]


def test_short_facts_by_a_field_as_csv(facts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    made = list(csv.DictReader(io.StringIO(shown(facts, capsys, "--format", "csv", "--by", "era"))))
    assert [row["era"] for row in made] == ["", "1", "2", "0"]
    assert sum(int(row["n"]) for row in made[1:]) == int(made[0]["n"]) == 7
    assert all(float(row["f1_low"]) <= float(row["f1"]) <= float(row["f1_high"]) for row in made if row["f1_low"])
    assert made[0]["f1_low"]
    plain = next(csv.DictReader(io.StringIO(shown(facts, capsys, "--format", "csv", "--no-intervals"))))
    assert not any(name.endswith(("_low", "_high")) for name in plain)


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_short_facts_for_people(facts: list[str], capsys: pytest.CaptureFixture[str], form: str) -> None:
    text = shown(facts, capsys, "--format", form)
    for word in (
        "correct of attempted",
        "coverage",
        "no verdict",
        "missing",
        "calibration error",
        "Brier score",
        "95",
        "By category",
    ):
        assert word in text
    assert "0.500" in text
    assert "95" not in shown(facts, capsys, "--format", form, "--no-intervals")


def test_a_report_of_labels_is_written(
    facts: list[str], capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path
) -> None:
    shown(facts, capsys, "--report", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "correct of attempted" in page
    assert "By category" in page


def test_labels_of_several_judges_make_a_panel(facts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert show_result.main([*facts, "--judge-model", "j", "k", "--judge-set", "short_fact_en"]) == 2
    (path,) = pathlib.Path(facts[1], "small", "model_judgment").glob("*.jsonl")
    other = [{**row, "judge": ["k", "fact"]} for row in rows(path)]
    changed = next(row for row in other if row["label"] == "CORRECT")
    changed |= {"label": "INCORRECT", "share": 0.0}
    write(path.with_name("k@short_fact_en_single.jsonl"), other)
    panel = ["--judge-model", "j", "k", "--judge-set", "short_fact_en"]
    made: dict[str, Any] = json.loads(shown(facts, capsys, *panel, "--format", "json"))
    names = ("judge", "n", "correct", "undecided", "excluded")
    assert [tuple(row[name] for name in names) for row in made["rows"]] == [
        ("j", 7, 3 / 7, 0, 1),
        ("k", 7, 2 / 7, 0, 1),
        ("all together", 6, 2 / 6, 1, 1),
    ]
    assert [(row["model"], row["differ"], row["n"]) for row in made["panel"]["disagreement"]] == [
        ("all", 1 / 7, 7),
        ("m", 1 / 7, 7),
    ]
    text = shown(facts, capsys, *panel)
    assert all(row["correct_low"] <= row["correct"] <= row["correct_high"] for row in made["rows"])
    for words in ("undecided", "By category, of all judges together", "undecided if two labels are equally frequent"):
        assert words in text
    table = list(csv.DictReader(io.StringIO(shown(facts, capsys, *panel, "--format", "csv"))))
    assert [row["judge"] for row in table] == ["j", "k", "all together"]
    shown(facts, capsys, *panel, "--report", str(path.with_suffix(".html")))
    assert "How often the judges disagree" in path.with_suffix(".html").read_text(encoding="utf-8")


@pytest.fixture
def graded(tmp_path: pathlib.Path) -> list[str]:
    """Return the flags that name a benchmark of two categories with answers by two models."""
    questions = [question(n, "chat" if n % 2 else "summarization", ["Say it."]) for n in range(1, 7)]
    made = small_bench(tmp_path, *questions)
    for model in ("x", "y"):
        write(made.folder / "model_answer" / f"{model}.jsonl", [answer(n, model, f"{model} says") for n in range(1, 7)])
    return ["--data-dir", str(tmp_path), "--bench-name", "small"]


def test_several_criteria_make_one_table(graded: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def judge(asked: Asked) -> str:
        if "Conciseness" in asked.texts[-1]:
            return "Hard to say."
        return f"Read.\nScore: {5 if 'x says' in asked.texts[-1] else 2}"

    with ProtocolServer(judge) as server:
        flags = ["--judge-model", "j", "--base-url", server.openai_url, "--judge-set", "metrics_en", "--yes", "-q"]
        assert gen_judgment.main([*graded, *flags]) == 0
    made = json.loads(shown(graded, capsys, "--format", "json", "--intervals"))
    x, y = made["rows"]
    assert (x["relevance"], y["relevance"], x["fidelity"], x["conciseness"]) == (5, 2, 5, None)
    assert (x["n"], x["excluded"]) == (3 * 6 + 3 * 3, 3)
    of_chat = next(row for row in made["groups"] if (row["model"], row["category"]) == ("x", "chat"))
    assert (of_chat["naturalness"], of_chat["conciseness"], of_chat["correctness"]) == (5, None, None)
    assert any(row["best"] for row in made["means"])
    assert "naturalness" in shown(graded, capsys)
    (wide, *_) = csv.DictReader(io.StringIO(shown(graded, capsys, "--format", "csv")))
    assert float(wide["relevance_low"]) < float(wide["relevance"]) <= float(wide["relevance_high"])
    assert wide["judge_set"].startswith("metrics_en")
    one = json.loads(shown(graded, capsys, "--format", "json", "--criterion", "fidelity"))
    assert [row["average"] for row in one["rows"]] == [5, 2]


def test_dimensions_make_one_table(graded: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    def judge(asked: Asked) -> str:
        if "x says" in asked.texts[-1] and asked.schema is None:
            return "No object."
        names = asked.schema["properties"] if asked.schema else []
        return json.dumps({name: "Read." if name == "explanation" else 7 for name in names})

    with ProtocolServer(judge) as server:
        flags = ["--judge-model", "j", "--base-url", server.openai_url, "--judge-set", "dimensions", "--yes", "-q"]
        assert gen_judgment.main([*graded, *flags, "--model-list", "y"]) == 0
        assert gen_judgment.main([*graded, *flags, "--model-list", "x", "--structured", "off"]) == 1
    y, x = json.loads(shown(graded, capsys, "--format", "json"))["rows"]  # without a verdict, x has no rank
    assert (y["clarity"], y["overall"], y["n"], y["excluded"]) == (7, 7, 6, 0)
    assert (x["clarity"], x["n"], x["excluded"]) == (None, 0, 6)
    made = list(csv.DictReader(io.StringIO(shown(graded, capsys, "--format", "csv", "--intervals"))))
    assert {row["dimension"] for row in made} >= {"factuality", "overall"}


@pytest.mark.parametrize("column", ["f1", "model"])
def test_label_tables_are_sorted_by_any_column(
    facts: list[str], capsys: pytest.CaptureFixture[str], column: str
) -> None:
    assert "m " in shown(facts, capsys, "--sort", column)
