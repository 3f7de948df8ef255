"""Whether a judge sees which checks an answer breaks."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from harness.old.cli.judge_report import main
from harness.old.errors import MissingError, UsageError
from harness.old.meta_evaluation.checks import Items, judge_checks, number_broken
from harness.old.meta_evaluation.report import Report
from harness.old.records import Mode
from tests.old.small_bench import question, small_bench, write

Found = tuple[str, bool | None, bool | None]
"""A check's name, and whether it is met strictly and loosely."""


def checked(number: int, model: str, *found: Found, turn: int = 1, **more: Any) -> dict[str, Any]:
    checks = [{"kind": "k", "name": name, "text": "t", "strict": s, "loose": loose} for name, s, loose in found]
    row = {"question_id": number, "turn": turn, "model": model, "metric": "checks", "value": None}
    return {**row, "checks": checks, **more}


def broken(number: int, model: str, count: int, **more: Any) -> dict[str, Any]:
    """Return the row of an answer that breaks so many of two counts."""
    return checked(number, model, *(("count", met, met) for met in (count < 1, count < 2)), **more)


def grade(number: int, model: str, score: float, turn: int = 1, **more: Any) -> dict[str, Any]:
    return {"question_id": number, "model": model, "judge": ["j", "t"], "score": score, "turn": turn, **more}


def pair(number: int, one: str, other: str, *winners: str) -> dict[str, Any]:
    games = {f"g{at}_winner": winner for at, winner in enumerate(winners, 1)}
    return {"question_id": number, "model_1": one, "model_2": other, "judge": ["j", "t"], "turn": 1, **games}


def report(tmp_path: pathlib.Path, checks: list[Any], judged: list[Any], **words: Any) -> Report:
    folder = small_bench(tmp_path, *(question(n) for n in range(1, 6))).folder
    write(folder / "model_metric" / "checks.jsonl", checks)
    kind = "pair" if "g1_winner" in judged[0] else "single"
    write(folder / "model_judgment" / f"j_{kind}.jsonl", judged)
    mode: Mode = "pairwise-all" if kind == "pair" else "single"
    return judge_checks(mode, bench_name="small", data_dir=tmp_path, **words)


def values(found: Report) -> dict[str, Any]:
    return {row["measure"]: row["value"] for row in found.rows}


WORKED = (
    [broken(1, "x", 0), broken(1, "y", 1), broken(1, "z", 2)],
    [grade(1, "x", 9), grade(1, "y", 8), grade(1, "z", 4)],
)
TWO_MODELS = (
    [broken(n, m, b) for n, own in enumerate([(0, 1), (1, 1), (0, 2)], 1) for m, b in zip("xy", own, strict=True)],
    [grade(n, m, g) for n, own in enumerate([(9, 5), (8, 5), (9, 4)], 1) for m, g in zip("xy", own, strict=True)],
)
"""x has 9 less the checks it breaks, y 6 less those: one point for each."""


def test_the_worked_line_of_the_docstring(tmp_path: pathlib.Path) -> None:
    found = report(tmp_path, *WORKED)
    assert (found.rows[0]["measure"], found.rows[0]["value"], found.rows[0]["n"]) == ("grade lost", 2.5, 3)


def test_what_models_are_worth_otherwise_is_apart_from_what_broken_checks_cost(tmp_path: pathlib.Path) -> None:
    found = values(report(tmp_path, *TWO_MODELS))
    # of y - x: checks 1, 0, 2 and grades -4, -3, -5
    assert found["grade lost"] == pytest.approx((1 * 4 + 0 * 3 + 2 * 5) / (1 + 0 + 4))
    assert found["grade lost at equal strength"] == pytest.approx(1.0)


def test_top_grades_are_counted_beside_those_of_answers_that_break_nothing(tmp_path: pathlib.Path) -> None:
    found = values(report(tmp_path, *TWO_MODELS))
    assert (found["top grades, a check broken"], found["top grades, none broken"]) == (0.0, 1.0)
    found = values(report(tmp_path, *TWO_MODELS, top=5))
    assert found["top grades, a check broken"] == 0.75  # 8, 5 and 5 of 8, 5, 5, 4


def test_each_kind_of_check_is_counted_alone(tmp_path: pathlib.Path) -> None:
    checks = [
        checked(1, "x", ("ends", True, True), ("count", False, False)),
        checked(1, "y", ("ends", False, False), ("count", False, False)),
        checked(2, "x", ("ends", True, True)),
        checked(2, "y", ("ends", False, False)),
    ]
    found = report(tmp_path, checks, [grade(1, "x", 9), grade(1, "y", 6), grade(2, "x", 8), grade(2, "y", 7)])
    count, ends = found.more["kinds"]
    assert (count["kind"], count["checks"], count["broken"], count["grade_lost"], count["n"]) == (
        "count",
        2,
        2,
        None,
        0,
    )
    assert (ends["kind"], ends["checks"], ends["broken"], ends["grade_lost"], ends["n"]) == ("ends", 4, 2, 2.0, 4)
    assert (count["top_grades"], ends["top_grades"]) == (0.5, 0.0)


def test_answers_of_different_turns_are_not_compared(tmp_path: pathlib.Path) -> None:
    checks = [broken(1, "x", 0), broken(1, "x", 2, turn=2)]
    found = report(tmp_path, checks, [grade(1, "x", 9), grade(1, "x", 2, turn=2)])
    assert (found.rows[0]["value"], found.rows[0]["n"]) == (None, 0)


def test_ties_and_verdicts_that_change_with_the_order_are_apart(tmp_path: pathlib.Path) -> None:
    checks = [broken(n, m, b) for n in range(1, 6) for m, b in (("x", 0), ("y", 0 if n == 5 else 1))]
    judged = [
        pair(1, "x", "y", "model_1", "model_1"),
        pair(2, "y", "x", "model_1", "model_1"),  # y, which breaks one
        pair(3, "x", "y", "tie", "tie"),
        pair(4, "x", "y", "model_1", "model_2"),
        pair(5, "x", "y", "model_1", "model_1"),  # both break none
    ]
    found = report(tmp_path, checks, judged)
    assert [(r["measure"], r["value"], r["n"], r["ties"]) for r in found.rows] == [("winner breaks more", 0.5, 2, 2)]
    assert [(r["kind"], r["winner_breaks_more"], r["ties"]) for r in found.more["kinds"]] == [("count", 0.5, 2)]


def test_what_cannot_be_counted_is_left_out_and_said(tmp_path: pathlib.Path) -> None:
    checks, judged = WORKED
    checks = [*checks, checked(2, "x", ("code", None, None)), broken(3, "x", 1, made_from={"question": "old"})]
    judged = [*judged, grade(2, "x", 5), grade(3, "x", 5, made_from={"question": "new"}), grade(4, "x", -1)]
    found = report(tmp_path, checks, judged)
    assert found.rows[0]["value"] == 2.5
    assert [note for note in found.notes if "left out" in note] == [
        "1 answer without decided checks left out",
        "1 answer whose checks are of another wording of the question (run auto_checks again) left out",
        "1 answer without a grade left out",
    ]


def test_loosely_a_check_that_a_variant_meets_is_not_broken(tmp_path: pathlib.Path) -> None:
    checks = [checked(1, "x", ("count", True, True)), checked(1, "y", ("count", False, True))]
    judged = [grade(1, "x", 9), grade(1, "y", 6)]
    assert values(report(tmp_path, checks, judged))["grade lost"] == 3.0
    assert values(report(tmp_path, checks, judged, loose=True))["grade lost"] is None


def test_intervals_are_over_questions(tmp_path: pathlib.Path) -> None:
    checks = [broken(n, m, int(m == "y")) for n in range(1, 6) for m in "xy"]
    judged = [grade(n, m, 9 - n * (m == "y")) for n in range(1, 6) for m in "xy"]
    row = report(tmp_path, checks, judged).rows[0]
    # each question adds its own difference: 1, 2, 3, 4, 5, whose studentized interval is half of that of 2, 4, ... 10
    assert row["value"] == 3.0
    assert row["low"] == pytest.approx(3 - 2.27, abs=0.03)
    assert row["high"] == pytest.approx(3 + 2.27, abs=0.03)


def simulated(generator: np.random.Generator, questions: int = 30, models: int = 4) -> Items:
    """Return grades that lose one point for each broken check, of models that break more the weaker they are."""
    question = np.repeat(np.arange(questions), 2 * models)
    model = np.tile(np.arange(models), 2 * questions)
    rate = generator.uniform(0.1, 0.6, models)
    broken = generator.binomial(2, rate[model]).astype(float)
    lost = (1 + generator.normal(0, 0.7, questions))[question] * broken
    strength = (-3 * rate + generator.normal(0, 0.5, models))[model] + generator.normal(0, 1, questions)[question]
    grades = 7 + strength - lost + generator.normal(0, 1, len(question))
    cell = np.repeat(np.arange(2 * questions), models)
    counted = [{"count": [True] * int(b)} for b in broken]
    return Items(question, questions, cell, model, counted, counted, grades, seed=0)


def test_the_loss_at_equal_strength_is_the_true_one_and_its_interval_covers_it() -> None:
    generator = np.random.default_rng(1)
    plain, equal, covered = [], [], 0
    for _ in range(60):
        items = simulated(generator)
        broken = number_broken(items.broken)
        found = items.lost(broken, with_models=True)
        assert found.low is not None
        assert found.high is not None
        plain.append(items.lost(broken).value)
        equal.append(found.value)
        covered += found.low <= 1.0 <= found.high
    assert np.array(equal, dtype=np.float64).mean() == pytest.approx(1.0, abs=0.06)
    assert np.array(plain, dtype=np.float64).mean() > 1.15
    assert covered / 60 > 0.85


def test_without_checks_of_these_answers_it_says_so(tmp_path: pathlib.Path) -> None:
    with pytest.raises(MissingError, match="about an answer with decided checks: 3 judgments without decided checks"):
        report(tmp_path, [broken(9, "x", 1)], WORKED[1])
    (tmp_path / "small" / "model_metric" / "checks.jsonl").unlink()
    with pytest.raises(MissingError, match=r"run auto_checks --bench-name small --data-dir .* first"):
        judge_checks(bench_name="small", data_dir=tmp_path)


def test_a_scale_that_is_not_known_needs_the_top_grade(tmp_path: pathlib.Path) -> None:
    judged = [{**row, "judge_set": "own", "judge_set_version": "1"} for row in WORKED[1]]
    with pytest.raises(UsageError, match="name the lowest top grade with --top"):
        report(tmp_path, WORKED[0], judged)
    assert values(report(tmp_path, WORKED[0], judged, top=9))["top grades, none broken"] == 1.0


def test_the_command_shows_the_same(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = report(tmp_path, *WORKED)
    path = tmp_path / "small" / "model_judgment" / "j_single.jsonl"
    assert main(["checks", "--input-file", str(path), "--format", "json", "-q"]) == 0  # the benchmark beside the file
    shown = json.loads(capsys.readouterr().out)
    assert (shown["rows"], shown["kinds"]) == (found.rows, found.more["kinds"])
    assert main(["checks", "--bench-name", "small", "--data-dir", str(tmp_path), "-q"]) == 0
    assert "grade lost at equal strength" in capsys.readouterr().out


def test_what_the_text_says_of_broken_and_kept_checks_is_counted(tmp_path: pathlib.Path) -> None:
    words = {"kind": "count", "name": "count", "text": "at most 60 words"}
    mark = {"kind": "not_contains", "name": "no mark", "text": "does not contain “!”"}
    joined = {"kind": "any", "name": "any", "text": "either"}

    def row(number: int, *met: bool) -> dict[str, Any]:
        listed = [{**one, "strict": own, "loose": own} for one, own in zip((words, mark, joined), met, strict=True)]
        return checked(number, "x") | {"checks": listed}

    texts = {
        1: "The answer keeps to the word limit, and it is friendly. It uses an exclamation mark, and that is a pity.",
        2: "The answer exceeds the word limit, but it is friendly and it is easy to read.",
        3: "Die Antwort ist klar und tut, was verlangt war.",
    }
    judged = [grade(number, "x", 5, judgment=text) for number, text in texts.items()]
    found = report(tmp_path, [row(1, False, False, True), row(2, False, True, True), row(3, False, True, True)], judged)
    said = {row["measure"]: (row["value"], row["n"]) for row in found.rows if "text" in row["measure"]}
    assert said == {
        "text says kept, check broken": (pytest.approx(1 / 3), 3),
        "text says broken, check broken": (pytest.approx(2 / 3), 3),
        "text is silent, check broken": (0.0, 3),
        "text says kept, check kept": (0.0, 1),
        "text says broken, check kept": (0.0, 1),
        "text is silent, check kept": (1.0, 1),
    }
    assert [(one["kind"], one["check"], one["n"], one["text_says_kept"]) for one in found.more["said"]] == [
        ("count", "broken", 2, 0.5),
        ("no mark", "broken", 1, 0.0),
        ("no mark", "kept", 1, 0.0),
    ]
    assert [note for note in found.notes if "not looked for" in note] == [
        "3 checks of a kind without word lists: not looked for in the text",
        "2 checks of answers judged in a language without word lists: not looked for in the text",
    ]


def test_without_texts_nothing_is_said_of_them(tmp_path: pathlib.Path) -> None:
    found = report(tmp_path, *WORKED)
    assert [row["measure"] for row in found.rows if "text" in row["measure"]] == []
    assert "said" not in found.more
