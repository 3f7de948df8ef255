"""Whose verdict it is, who says otherwise, why nobody is better, and what people say."""

import json
import pathlib
import re
from typing import Any

import pytest

from harness import show_result
from harness.errors import MissingError
from harness.reporting.formats import text
from tests.reporting.folders import bench, grades, pairs, write


@pytest.fixture
def data(tmp_path: pathlib.Path) -> pathlib.Path:
    return bench(tmp_path)


def outcome(data: pathlib.Path, **flags: Any) -> str:
    return show_result(data_dir=str(data), **flags).page.outcome


def votes(data: pathlib.Path, name: str, *winners: str) -> None:
    folder = data / "mt_bench" / "human_judgment"
    folder.mkdir(exist_ok=True)
    models = {"model_a": "a", "model_b": "b", "judge": name, "turn": 1}
    rows = [{"question_id": q, "winner": winner, **models} for q, winner in enumerate(winners)]
    write(folder / f"{name}.jsonl", rows)


def test_a_judge_that_lacks_most_questions_is_no_member_and_takes_nothing_away(
    data: pathlib.Path,
) -> None:
    grades(data, {"a": 7.0, "b": 5.0}, judge="gpt-4")
    grades(data, {"a": 6.0, "b": 7.0}, judge="new", drop=lambda m, q, turn: q > 5)
    result = show_result(data_dir=str(data))
    assert result.exit_code == 0
    assert result.page.outcome.startswith("a is better than b on 24 questions: 6.99 and 5.01")
    assert "by gpt-4" in result.page.outcome
    page = " ".join(text(result.page, 80).split())
    assert "the mean of the judges" not in page
    assert "without a verdict" not in page
    assert "Grades by new: 6 of the 24 questions of mt_bench are judged." in page


def test_another_judge_that_says_the_opposite_is_named(data: pathlib.Path) -> None:
    grades(data, {"a": 7.0, "b": 5.0}, judge="gpt-4")
    grades(data, {"a": 6.0, "b": 8.0}, judge="new", drop=lambda m, q, turn: q > 9)
    assert "the table of grades by new calls b better (p <0.001, over the 3" in outcome(data)


def test_of_several_judges_one_that_is_significant_by_chance_is_not_named(
    data: pathlib.Path,
) -> None:
    for judge in ("one", "two", "three"):
        grades(data, {"a": 6.0, "b": 6.0}, judge=judge)
    assert "calls" not in outcome(data)
    assert "in the mean of one, three and two" in outcome(data)


def test_people_are_on_the_page_when_they_voted(data: pathlib.Path) -> None:
    grades(data, {"a": 7.0, "b": 5.0})
    votes(data, "ana", *["model_b"] * 7, "model_a")
    said = "People, 8 votes: b and a are not decided: win rate 0.88 (0.43 to 0.98) for b."
    assert outcome(data).splitlines()[-1] == said
    assert "People" not in outcome(data, model_list=["a"])
    votes(data, "bo", "model_b", "huh")
    assert "People's votes are left out: " in outcome(data)
    assert "bo.jsonl:2: winner 'huh' is no known word" in outcome(data)


def test_identical_verdicts_and_answers_are_the_reason_given(data: pathlib.Path) -> None:
    grades(data, {"a": 7.0, "b": 7.0}, noise=0.0)
    reason = "All 96 grades are 7.00: these questions do not separate them."
    assert outcome(data).endswith(f"the same on each of 24 questions.\n{reason}")
    folder = data / "mt_bench" / "model_answer"
    folder.mkdir()
    for model in "ab":
        choices = [{"index": 0, "turns": ["x", "y"]}]
        rows = [{"question_id": q, "model_id": model, "choices": choices} for q in range(24)]
        write(folder / f"{model}.jsonl", rows)
    assert outcome(data).endswith("\nTheir answers are the same.")


@pytest.mark.parametrize(
    ("games", "side"),
    [(("model_1", "model_2"), "first"), (("model_2", "model_1"), "second")],
)
def test_a_judge_that_prefers_a_side_is_called_that_and_not_a_guesser(
    data: pathlib.Path, games: tuple[str, str], side: str
) -> None:
    pairs(data, {("a", "b"): lambda q, t: games})
    said = outcome(data)
    assert said.endswith(f"these are ties: it prefers the answer shown {side}, 48 of 48.")
    assert "do not separate" not in said
    assert "guess" not in said


def test_too_few_questions_is_said_only_where_it_is_true(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 2.0}, questions=4)
    assert outcome(data).endswith("; 4 questions are too few, 5 are needed.")
    grades(data, {"a": 9.0, "b": 2.0}, questions=5)
    assert "too few" not in outcome(data)


def test_one_model_is_compared_with_each_of_the_others(data: pathlib.Path) -> None:
    grades(data, {"a": 9.0, "b": 7.0, "c": 7.0, "d": 3.0})
    result = show_result(data_dir=str(data), model_list=["b"])
    first = "b is better than d; worse than a; not decided against c on 24 questions: 7.01 of 10 ("
    assert result.page.outcome.startswith(first)
    assert [row["model"] for row in result.rows()] == ["b"]
    page = text(result.page, 80)
    assert re.search(r"b less +difference +95% interval +verdict\na +-1.9\d +-.* worse\n", page)
    with pytest.raises(MissingError, match="no judgments of nobody"):
        show_result(data_dir=str(data), model_list=["nobody"])


def test_what_is_missing_is_counted_once_with_its_cause(data: pathlib.Path) -> None:
    win = ("model_1", "model_1")
    games = {("a", "b"): lambda q, t: ("error", "error") if q < 5 else win}
    pairs(data, games)
    file = data / "mt_bench" / "model_judgment" / "gpt-4_pair.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    tie = {"g1_winner": "tie", "g2_winner": "tie"}
    others = [{**row, "model_2": "c", **tie} for row in rows]
    others += [{**row, "model_1": "c", **tie} for row in rows[2:]]
    write(file, [*rows, *others])
    result = show_result(data_dir=str(data))
    page = text(result.page, 100)
    assert result.exit_code == 1
    assert page.startswith("Missing: 12 of 96 pairs of b, so nothing is said of it.")
    assert "10 replies without a verdict:" in page
    assert "2 judgments never made:" in page


def criteria(data: pathlib.Path, *unread: tuple[str, str]) -> None:
    """Write grades of two criteria; a third of those of these criteria and models is unread."""
    rows = [
        {"question_id": q, "model": model, "criterion": criterion, "judge": ["gpt-4", "own"]}
        | {"score": -1 if (criterion, model) in unread and q < 8 else score + q % 3}
        | {"judge_set": "own", "judge_set_version": "1", "scale": [1, 10]}
        for criterion in ("fit", "wit")
        for model, score in {"a": 7, "b": 5, "c": 2}.items()
        for q in range(24)
    ]
    write(data / "mt_bench" / "model_judgment" / "gpt-4@own_single.jsonl", rows)


def test_what_a_further_criterion_lacks_is_said_by_its_name(data: pathlib.Path) -> None:
    criteria(data, ("wit", "b"))
    result = show_result(data_dir=str(data))
    assert result.exit_code == 1
    page = text(result.page, 100)
    assert page.startswith("Missing of wit: 8 of 24 grades of b, so nothing is said of it.\nfit: a")
    assert "  8 replies without a verdict:\n    gen_judgment --judge-model gpt-4" in page
    criteria(data, ("fit", "b"), ("fit", "c"))
    nothing = show_result(data_dir=str(data)).page.outcome
    assert nothing == "No result yet: 16 of 72 grades of fit are missing, 8 of them in b's turn 1."


def test_judgments_of_a_further_criterion_that_were_never_made_are_counted(
    data: pathlib.Path,
) -> None:
    criteria(data)
    path = data / "mt_bench" / "model_judgment" / "gpt-4@own_single.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-5]))
    result = show_result(data_dir=str(data))
    assert "5 judgments never made:" in text(result.page, 100)


def test_of_several_judge_sets_the_one_that_lacks_questions_is_named(data: pathlib.Path) -> None:
    grades(data, {"a": 7.0, "b": 5.0})
    criteria(data)
    path = data / "mt_bench" / "model_judgment" / "gpt-4@own_single.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    write(path, [row for row in rows if row["question_id"] < 20])
    page = " ".join(text(show_result(data_dir=str(data)).page, 100).split())
    assert (
        "Grades by gpt-4 with judge set own: 20 of the 24 questions of mt_bench are judged." in page
    )


def test_what_several_judges_lack_is_counted_together(data: pathlib.Path) -> None:
    marks = {"a": 7.0, "b": 5.0}
    grades(data, marks, judge="one", unread=lambda m, q, turn: m == "a" and q < 2)
    grades(data, marks, judge="two", unread=lambda m, q, turn: m == "a" and q == 1 and turn == 1)
    page = show_result(data_dir=str(data)).page
    assert page.notes[0].text == "Left out: 4 judgments that not all judges gave."


@pytest.mark.parametrize(
    ("winners", "sentence"),
    [
        pytest.param(
            {"a": 24, "b": 24, "c": 0},
            "a and b beat base on 24 questions: win rates 1.00 (0.78 to 1.00) and 1.00 (0.78 to "
            "1.00). c loses to it: win rate 0.00 (0.00 to 0.22).",
            id="two beat it",
        ),
        pytest.param(
            {"a": 24, "b": 13, "c": 0},
            "a beats base on 24 questions: win rate 1.00 (0.78 to 1.00). c loses to it: win rate "
            "0.00 (0.00 to 0.22). b is not decided against it: win rate 0.54 (0.34 to 0.73). a is "
            "better than each of the others.",
            id="one beats it and is the best",
        ),
    ],
)
def test_a_page_with_a_baseline_says_first_who_beats_it(
    data: pathlib.Path, winners: dict[str, int], sentence: str
) -> None:
    games = {
        (name, "base"): lambda q, t, wins=wins: ("model_1" if q < wins else "model_2",) * 2
        for name, wins in winners.items()
    }
    pairs(data, games)
    assert outcome(data, mode="pairwise-baseline") == sentence


def test_the_votes_of_a_judge_are_not_counted_as_people_s(data: pathlib.Path) -> None:
    grades(data, {"a": 7.0, "b": 5.0})
    votes(data, "ann", *["model_a"] * 20)
    votes(data, "gpt4_pair", *["model_b"] * 20)
    assert "People, 20 votes: a is better than b" in outcome(data)
