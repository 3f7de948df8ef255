"""How often a judge takes wrong answers for right, with and without the reference."""

import json
import pathlib
from collections.abc import Mapping
from typing import Any

import pytest

from harness.old.bench import load_bench
from harness.old.checks.vocabulary import read_check
from harness.old.cli.judge_report import main
from harness.old.errors import MissingError, UsageError
from harness.old.meta_evaluation.reference import UNAIDED, judge_reference, known, states_result
from harness.old.meta_evaluation.report import Report
from harness.old.metrics.checks import plan_checks
from harness.old.metrics.run import run_metrics
from harness.old.results.measured import read_checks
from tests.old.small_bench import answer, question, small_bench, write

SIX = {"kind": "number", "equals": 6}
SHORT = {"kind": "count", "of": "words", "at_most": 4}
CODE = {"kind": "code", "cases": [{"stdout": "1"}]}
Grades = Mapping[tuple[int, str], float]


def grade(number: int, model: str, score: float, judge_set: str, judge: str = "j", turn: int = 1) -> dict[str, Any]:
    return {
        "question_id": number,
        "model": model,
        "judge": [judge, "t"],
        "score": score,
        "turn": turn,
        "judge_set": judge_set,
        "judge_set_version": "1",
        "scale": [1, 10],
    }


def answered(tmp_path: pathlib.Path, replies: Mapping[str, list[str]], *checks: list[dict[str, Any]]) -> pathlib.Path:
    """Return the folder of a benchmark with replies to one-turn questions, all checked; 4 and up are reasoning."""
    asked = [
        question(n, "math" if n < 4 else "reasoning", turns=["How many?"], checks=[own])
        for n, own in enumerate(checks, 1)
    ]
    folder = small_bench(tmp_path, *asked).folder
    write(folder / "reference_answer" / "us.jsonl", [answer(n, "us", "6") for n in range(1, len(checks) + 1)])
    bench = load_bench("small", tmp_path)
    for model, own in replies.items():
        write(bench.answer_file(model), [answer(n, model, reply) for n, reply in enumerate(own, 1)])
    run_metrics(plan_checks(bench))
    return folder


def judged(folder: pathlib.Path, beside: Grades, without: Grades, judge: str = "j") -> None:
    for judge_set, grades, name in (("mt_bench", beside, "j_single"), (UNAIDED, without, f"j@{UNAIDED}_single")):
        rows = [grade(n, model, score, judge_set, judge) for (n, model), score in grades.items()]
        write(folder / "model_judgment" / f"{name}.jsonl", rows)


@pytest.fixture
def bench(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a data folder: x is wrong in 1, 2 and 4 and right in 3, y right in 1 and wrong elsewhere."""
    folder = answered(tmp_path, {"x": ["It is 5", "7", "It is 6", "8"], "y": ["6", "4", "4", "4"]}, *[[SIX, SHORT]] * 4)
    without = {(1, "x"): 8, (2, "x"): 7, (3, "x"): 9, (4, "x"): 7, (1, "y"): 6, (2, "y"): 3, (3, "y"): 9, (4, "y"): 2}
    beside = {**without, (1, "x"): 2, (2, "x"): 7, (4, "x"): 1, (1, "y"): 10, (3, "y"): 6}
    judged(folder, beside, without)
    return tmp_path


def report(data: pathlib.Path, **words: Any) -> Report:
    return judge_reference(bench_name="small", data_dir=data, **words)


def shares(found: Report) -> list[tuple[Any, ...]]:
    names = ("category", "answers", "n", "without_reference", "with_reference", "difference")
    return [tuple(row[name] for name in names) for row in found.rows]


def test_false_positives_are_counted_with_the_reference_and_without_it(bench: pathlib.Path) -> None:
    third = pytest.approx
    assert shares(report(bench)) == [
        (None, "wrong", 6, third(4 / 6), third(1 / 6), third(-3 / 6)),  # without: x in 1, 2, 4 and y in 3; with: x in 2
        (None, "right", 2, 0.5, 1.0, 0.5),  # x in 3; and y in 1, which has 6 without the reference
        ("math", "wrong", 4, 0.75, 0.25, -0.5),
        ("math", "right", 2, 0.5, 1.0, 0.5),
        ("reasoning", "wrong", 2, 0.5, 0.0, -0.5),
        ("reasoning", "right", 0, None, None, None),
    ]


def test_of_pairs_of_a_right_and_a_wrong_answer_it_counts_who_wins(bench: pathlib.Path) -> None:
    def pair(number: int, first: str, second: str, judge_set: str, *winners: str) -> dict[str, Any]:
        said = {"g1_winner": winners[0], "g2_winner": winners[-1], "judge_set": judge_set, "judge_set_version": "1"}
        models = {"model_1": first, "model_2": second}
        return {"question_id": number, **models, "turn": 1, "judge": ["j", "pair-v2"], **said}

    folder = bench / "small" / "model_judgment"  # in 1 y is right and x wrong, in 3 x; in 2 and 4 both are wrong
    beside = [pair(1, "x", "y", "mt_bench", "model_2"), pair(3, "x", "y", "mt_bench", "model_1")]
    bare = [pair(1, "y", "x", UNAIDED, "model_2"), pair(3, "x", "y", UNAIDED, "model_1", "model_2")]
    write(folder / "j_pair.jsonl", [*beside, pair(2, "x", "y", "mt_bench", "model_1")])
    write(folder / f"j@{UNAIDED}_pair.jsonl", [*bare, pair(2, "x", "y", UNAIDED, "model_1")])
    found = report(bench, mode="pairwise-all")
    assert [(row["pairs"], row["n"], row["without_reference"], row["with_reference"]) for row in found.rows[:2]] == [
        ("wrong wins", 2, 0.5, 0.0),
        ("right wins", 2, 0.0, 1.0),
    ]
    assert "1 pair in which more than one answer is right left out" in found.notes
    write(folder / "j_pair.jsonl", [pair(2, "x", "y", "mt_bench", "model_1")])
    write(folder / f"j@{UNAIDED}_pair.jsonl", [pair(2, "x", "y", UNAIDED, "model_1")])
    with pytest.raises(MissingError, match="no pair judged in both ways is known to be of right and wrong"):
        report(bench, mode="pairwise-all")


def test_the_threshold_can_be_another(bench: pathlib.Path) -> None:
    assert shares(report(bench, threshold=8))[0][3:5] == (pytest.approx(2 / 6), 0.0)
    assert any(note.startswith("graded right: 8 or more") for note in report(bench, threshold=8).notes)


@pytest.mark.parametrize(
    ("check", "states"),
    [
        pytest.param(SIX, True, id="number"),
        pytest.param({"kind": "choice", "equals": "A", "options": ["A", "B"]}, True, id="choice"),
        pytest.param({"kind": "json", "equals": {"a": 1}}, True, id="equal JSON"),
        pytest.param({"kind": "json", "keys": ["a"]}, False, id="any JSON"),
        pytest.param({"kind": "contains", "text": "22"}, True, id="a result that must occur"),
        pytest.param({"kind": "not_contains", "text": "!"}, False, id="a word that must not"),
        pytest.param({"kind": "any", "checks": [SHORT, SIX]}, True, id="one of several"),
        pytest.param(SHORT, False, id="length"),
    ],
)
def test_only_checks_of_a_result_say_what_is_right(check: dict[str, Any], states: bool) -> None:
    assert states_result(read_check(check)) is states


def test_an_answer_is_wrong_by_its_result_alone_and_however_leniently_it_is_read(tmp_path: pathlib.Path) -> None:
    long = "That was a hard one and so I counted twice: 6"
    folder = answered(tmp_path, {"x": [long, "6\nI counted 2 times"], "y": ["5", "7\n8"]}, [SIX, SHORT], [SIX])
    bench = load_bench("small", tmp_path)
    found = {place[:3]: right for place, right in known(bench, read_checks(bench)).items()}
    assert found == {(1, 1, "x"): True, (2, 1, "x"): True, (1, 1, "y"): False, (2, 1, "y"): False}
    (folder / "reference_answer" / "us.jsonl").unlink()
    assert known(load_bench("small", tmp_path), read_checks(bench)) == {}


def test_what_is_not_known_or_not_judged_twice_is_left_out_and_said(tmp_path: pathlib.Path) -> None:
    folder = answered(tmp_path, {"x": ["5"] * 5}, [SIX], [SHORT], [CODE], [SIX], [SIX])
    beside = {(n, "x"): 3.0 for n in range(1, 6)}
    judged(folder, beside, {(n, "x"): 9.0 for n in (1, 2, 3)} | {(5, "x"): -1.0})
    found = report(tmp_path)
    assert shares(found)[0] == (None, "wrong", 1, 1.0, 0.0, -1.0)
    assert [note for note in found.notes if "left out" in note] == [
        "1 answer on turns without a check of the result left out",
        "1 answer whose checks are not all decided (auto_checks --run-code) left out",
        "1 answer judged in one of the two ways only left out",
        "1 answer without a grade left out",
    ]


def test_checks_that_have_changed_since_decide_nothing(bench: pathlib.Path) -> None:
    path = bench / "small" / "question.jsonl"
    path.write_text(path.read_text().replace('"equals": 6', '"equals": 8'))
    with pytest.raises(MissingError, match="is known to be right or wrong: 8 answers on turns without a check of the"):
        report(bench)


def test_two_files_can_be_named(bench: pathlib.Path) -> None:
    folder = bench / "small" / "model_judgment"
    files = [folder / "j_single.jsonl", folder / f"j@{UNAIDED}_single.jsonl"]
    assert shares(judge_reference(input_file=files)) == shares(report(bench))
    with pytest.raises(UsageError, match="takes two files"):
        judge_reference(input_file=files[:1])
    with pytest.raises(UsageError, match="both are made with judge set mt_bench 1"):
        judge_reference(input_file=[files[0]] * 2)
    rows = [json.loads(line) | {"judge": ["other", "t"]} for line in files[1].read_text().splitlines()]
    other = write(folder / "other.jsonl", rows)
    with pytest.raises(UsageError, match="must be by one judge, these are by j and other"):
        judge_reference(input_file=[files[0], other])


def test_without_the_second_file_it_says_how_to_make_it(bench: pathlib.Path) -> None:
    (bench / "small" / "model_judgment" / f"j@{UNAIDED}_single.jsonl").unlink()
    with pytest.raises(MissingError, match=f"no single judgments with judge set {UNAIDED}"):
        report(bench)


def test_the_command_shows_the_same(bench: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["reference", "--judge-model", "j", "--bench-name", "small", "--data-dir", str(bench), "-q"]
    assert main([*words, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"] == report(bench).rows
    assert main(words) == 0
    assert "By category" in capsys.readouterr().out
