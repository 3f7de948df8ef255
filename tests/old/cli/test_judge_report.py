"""judge_report: one report for each question about a judge; tables for people, numbers for programs."""

import csv
import io
import json
import pathlib
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import pytest

from harness.old.cli.judge_report import parsers
from harness.cli.main import main
from harness.old.meta_evaluation import REPORTS
from tests.old.cli.conftest import ROOT, write_questions

Told: TypeAlias = Callable[..., dict[str, Any]]

COUNTS = ["n", "errors", "consistent", "biased_first", "biased_second", "one_sided_tie"]
AGREEMENT = ["judge1", "judge2", "turn", "category", "setup", "agree", "total", "ratio"]


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Told:
    """Return a function that runs the command and returns what its JSON says."""

    def run(*words: str | pathlib.Path) -> dict[str, Any]:
        assert main(["judge_report", *map(str, words), "--format", "json", "-q"]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    return run


@pytest.fixture
def error(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs the command and returns the one line with which it ends."""

    def run(*words: str | pathlib.Path) -> str:
        try:
            code = main(["judge_report", *map(str, words)])
        except SystemExit as ended:
            code = int(str(ended.code))
        said = capsys.readouterr()
        assert (code, said.out, said.err.count("\n")) == (2, "", 1)
        assert "error: " in said.err
        return said.err

    return run


def _write(path: pathlib.Path, rows: Sequence[dict[str, Any]]) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def _pair(question: int, one: str, two: str, *, judge: str = "gpt-4", **more: Any) -> dict[str, Any]:
    models = {"model_1": "x", "model_2": "y"}
    games = {"g1_winner": one, "g2_winner": two}
    return {"question_id": question, **models, **games, "judge": [judge, "pair-v2"], "turn": 1, **more}


def _grade(
    question: int, model: str, score: float, *, judge: Any = ("gpt-4", "single-v1"), **more: Any
) -> dict[str, Any]:
    name = list(judge) if isinstance(judge, tuple) else judge
    return {"question_id": question, "model": model, "judge": name, "score": score, "turn": 1, **more}


def _vote(question: int, winner: str, judge: str = "ann", models: tuple[str, str] = ("x", "y")) -> dict[str, Any]:
    return {
        "judge": judge,
        "model_a": models[0],
        "model_b": models[1],
        "question_id": question,
        "turn": 1,
        "winner": winner,
    }


def _label(question: int, label: str | None, judge: str = "ann") -> dict[str, Any]:
    return {"judge": judge, "model": "m", "question_id": question, "turn": 1, "label": label}


@pytest.fixture
def pairs(tmp_path: pathlib.Path) -> pathlib.Path:
    """Return a pair file: two consistent pairs, one of each other kind, one error."""
    games = [
        ("model_1", "model_1"),
        ("tie", "tie"),
        ("model_1", "model_2"),
        ("model_2", "model_1"),
        ("tie", "model_2"),
        ("error", "model_1"),
    ]
    return _write(tmp_path / "a_pair.jsonl", [_pair(at, *game) for at, game in enumerate(games)])


def test_position_counts_what_both_games_say(told: Told, pairs: pathlib.Path) -> None:
    found = told("position", "--input-file", pairs)
    assert list(found) == ["report", "judge", "bench", "rows"]
    assert (found["report"], found["judge"], found["bench"]) == ("position", "gpt-4", None)
    total = found["rows"][0]
    assert [total[name] for name in COUNTS] == [5, 1, 2, 1, 1, 1]
    assert (total["by"], total["group"], total["first_games"], total["decided_games"]) == ("all", None, 4, 7)
    assert list(total)[:8] == ["by", "group", *COUNTS]
    assert {row["by"] for row in found["rows"]} == {"all", "judge", "turn", "score gap"}


def test_a_report_says_what_is_judged_of_the_benchmark_and_of_which_model_too_little(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_questions(
        tmp_path / "shop", *({"question_id": n, "category": "math", "turns": ["Why?"]} for n in range(1, 9))
    )
    rows = [_pair(n, "model_1", "model_2") for n in range(1, 6)]
    rows += [_pair(1, "model_1", "model_2", model_2="z")]
    _write(tmp_path / "shop" / "model_judgment" / "gpt-4_pair.jsonl", rows)
    assert main(["judge_report", "position", "--data-dir", str(tmp_path), "--bench-name", "shop"]) == 0
    shown = capsys.readouterr().out
    assert "note: 5 of the 8 questions of shop are judged" in shown
    assert "note: judged on far fewer questions than other models: z (1 of 5 questions)" in shown


def test_position_of_several_judges_is_shown_only_when_they_are_named(
    told: Told, error: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    rows = [_pair(1, "model_1", "model_1"), _pair(1, "model_1", "model_2", judge="o3")]
    path = _write(tmp_path / "two_pair.jsonl", rows)
    assert "choose one with --judge-model: gpt-4, o3" in error("position", "--input-file", path)
    assert told("position", "--input-file", path, "--judge-model", "o3")["rows"][0]["n"] == 1
    found = told("position", "--input-file", path, "--judge-model", "o3", "gpt-4")["rows"]
    assert found[0]["n"] == 2
    by_judge = {row["group"]: row["biased_first"] for row in found if row["by"] == "judge"}
    assert by_judge == {"gpt-4": 0, "o3": 1}
    assert "no judgment by o4" in error("position", "--input-file", path, "--judge-model", "o4", "gpt-4")


def test_csv_and_json_hold_the_same_numbers(
    told: Told, pairs: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = told("position", "--input-file", pairs)["rows"]
    assert main(["judge_report", "position", "--input-file", str(pairs), "--format", "csv"]) == 0
    said = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(said.out)))
    assert [[row[name] for name in COUNTS] for row in rows] == [[str(row[name]) for name in COUNTS] for row in wanted]
    assert "note: 1 pair without a verdict in one game or both left out" in said.err
    assert "the question set is unknown" in said.err


@pytest.mark.parametrize("format_", ["table", "markdown"])
def test_a_table_says_what_was_left_out(pairs: pathlib.Path, format_: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge_report", "position", "--input-file", str(pairs), "--format", format_]) == 0
    said = capsys.readouterr()
    assert "position, questions: unstated, judge: gpt-4" in said.out
    assert "1 pair without a verdict" in said.out
    assert said.err == ""


def test_the_benchmarks_own_file_is_found(data: pathlib.Path, told: Told, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--data-dir", str(data), "--bench-name", "tiny"]
    judging = ["--judge-model", "builtin/overlap", "-q", "--mode"]
    for mode in ("single", "pairwise-all"):
        assert main(["gen_judgment", *where, *judging, mode]) == 0
    capsys.readouterr()
    found = told("position", *where)
    assert (found["bench"], found["rows"][0]["n"]) == ("tiny", 4)
    assert [row["group"] for row in found["rows"] if row["by"] == "category"] == ["writing", "stem"]
    assert told("length", *where)["rows"][1]["n"] == 4
    assert {row["turn"] for row in told("repeat", *where)["rows"]} == {1, 2}
    assert main(["judge_report", "position", *where, "--format", "csv"]) == 0
    assert "Scores of builtin/overlap are counts" in capsys.readouterr().err


def test_agreement_of_any_two_vote_files(told: Told, tmp_path: pathlib.Path) -> None:
    ann = [_vote(1, "model_a"), _vote(2, "tie"), _vote(3, "model_b"), _vote(3, "model_b", "author_1")]
    # The judge names the models the other way round, and its two games on question 3 disagree.
    judge = [_pair(1, "model_1", "model_1"), _pair(2, "tie", "tie"), _pair(3, "model_1", "model_2")]
    votes = [_write(tmp_path / "judge.jsonl", judge), _write(tmp_path / "people.jsonl", ann)]
    found = told("agreement", "--votes", *votes, "--exclude", "author*")
    assert list(found) == ["report", "judge", "bench", "rows", "win_rates"]
    assert list(found["rows"][0])[:8] == AGREEMENT
    assert [[row[name] for name in AGREEMENT] for row in found["rows"]] == [
        ["gpt-4", "people", 1, None, "S1", 2, 3, pytest.approx(2 / 3)],
        ["gpt-4", "people", 1, None, "S2", 1, 1, 1.0],
    ]
    assert found["win_rates"][0]["model"] == "x"
    assert (found["win_rates"][0]["rate1"], found["win_rates"][0]["rate2"]) == (2 / 3, 0.5)
    both = told("agreement", "--votes", votes[1])["rows"]
    assert [(row["judge1"], row["judge2"], row["agree"], row["total"]) for row in both] == [
        ("people", "people", 1, 1)
    ] * 2


def test_votes_and_judgments_of_the_benchmark_are_compared_where_no_file_is_named(
    told: Told, tmp_path: pathlib.Path
) -> None:
    folder = tmp_path / "own"
    _write(folder / "question.jsonl", [{"question_id": n, "category": "math", "turns": ["Q"]} for n in (1, 2)])
    _write(folder / "human_judgment" / "people.jsonl", [_vote(1, "model_a"), _vote(2, "tie")])
    _write(folder / "model_judgment" / "j_pair.jsonl", [_pair(1, "model_1", "model_1"), _pair(2, "tie", "tie")])
    _write(folder / "model_judgment" / "j_single.jsonl", [_grade(1, "x", 3)])
    own = ["--bench-name", "own", "--data-dir", str(tmp_path)]
    found = told("agreement", *own)
    assert found["judge"] == "people, gpt-4"
    assert {(row["judge1"], row["judge2"]) for row in found["rows"]} == {("people", "gpt-4")}
    assert (
        told("corrected", *own)["rows"]
        == told("corrected", *own, "--votes", f"{folder}/human_judgment/people.jsonl")["rows"]
    )
    _write(folder / "model_judgment" / "a%2Fb_pair.jsonl", [_pair(1, "model_1", "model_1", judge="a/b")])
    assert "a/b" in told("agreement", *own)["judge"]


def test_files_of_one_judge_are_told_apart_by_what_differs(told: Told, tmp_path: pathlib.Path) -> None:
    pairs = [_pair(1, "model_1", "model_1"), _pair(2, "model_1", "model_1")]
    usual = _write(tmp_path / "gpt-4_pair.jsonl", pairs)
    other = _write(tmp_path / "gpt-4@own_pair.jsonl", [{**row, "judge_set": "own"} for row in pairs])
    grades = [_grade(at, model, score) for at in (1, 2) for model, score in (("x", 3), ("y", 2))]
    graded = _write(tmp_path / "gpt-4_single.jsonl", grades)
    people = _write(tmp_path / "people.jsonl", [_vote(1, "model_a"), _vote(2, "model_a")])
    assert told("agreement", "--votes", usual, other)["judge"] == "gpt-4 (unstated), gpt-4 (own)"
    assert told("agreement", "--votes", people, usual, graded)["judge"] == "people, gpt-4 (pairwise), gpt-4 (single)"


def test_agreement_of_three_files_is_that_of_every_two(told: Told, tmp_path: pathlib.Path) -> None:
    files = [_write(tmp_path / f"{name}.jsonl", [_vote(1, "model_a", name)]) for name in ("a", "b", "c")]
    rows = told("agreement", "--votes", *files)["rows"]
    assert [(row["judge1"], row["judge2"]) for row in rows if row["setup"] == "S1"] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]


def test_files_with_the_same_stem_are_told_apart_by_their_folder(told: Told, tmp_path: pathlib.Path) -> None:
    files = [_write(tmp_path / f / "votes.jsonl", [_vote(1, "model_a", f)]) for f in ("a", "b")]
    assert told("agreement", "--votes", *files)["judge"] == "a/votes, b/votes"


def test_agreement_of_grades_has_every_measure(told: Told, tmp_path: pathlib.Path) -> None:
    # x = 1, 2, 3, 4 and y = 1, 3, 2, 4, the worked line of contingency.
    judge = [_grade(at, "m", score) for at, score in enumerate((1, 2, 3, 4))]
    people = [_grade(at, "m", score, judge="ann") for at, score in enumerate((1, 3, 2, 4))]
    files = [_write(tmp_path / "judge_single.jsonl", judge), _write(tmp_path / "people.jsonl", people)]
    rows = told("agreement", "--votes", *files)["rows"]
    assert {row["measure"]: row["value"] for row in rows} == {
        "pearson": pytest.approx(0.8),
        "spearman": pytest.approx(0.8),
        "kendall tau-b": pytest.approx(4 / 6),
        "exact": 0.5,
        "within one": 1.0,
        "alpha (ordinal)": pytest.approx(0.825),
        "alpha (interval)": pytest.approx(0.825),
    }
    assert all((row["judge1"], row["judge2"], row["turn"], row["n"]) == ("gpt-4", "people", 1, 4) for row in rows)


def test_agreement_of_labels_is_kappa_and_label_by_label(told: Told, tmp_path: pathlib.Path) -> None:
    # The worked line of `labels`.
    judge = [_label(at, label, "j") for at, label in enumerate(("RIGHT", "RIGHT", "WRONG", "WRONG"))]
    people = [_label(at, label) for at, label in enumerate(("RIGHT", "WRONG", "WRONG", "WRONG"))]
    files = [_write(tmp_path / "j.jsonl", [*judge, _label(9, None, "j")]), _write(tmp_path / "ann.jsonl", people)]
    found = told("agreement", "--votes", *files)
    (row,) = found["rows"]
    assert (row["judge1"], row["judge2"], row["agree"], row["total"]) == ("j", "ann", 3, 4)
    assert (row["ratio"], row["kappa"]) == (0.75, pytest.approx(0.5))
    assert [(row["label"], row["share_of_judge1"], row["share_of_judge2"]) for row in found["by_label"]] == [
        ("RIGHT", 0.5, 1.0),
        ("WRONG", 1.0, pytest.approx(2 / 3)),
    ]


def test_labels_left_out_are_counted_as_rows_and_a_voter_does_not_meet_itself_in_another_file(
    told: Told, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [_label(at, "RIGHT", name) for at in range(3) for name in ("ann", "bob")]
    files = [_write(tmp_path / "one.jsonl", rows), _write(tmp_path / "two.jsonl", [*rows[:2], _label(1, "WRONG")])]
    found = told("agreement", "--votes", *files)["rows"]
    assert [(r["judge1"], r["judge2"], r["agree"], r["total"]) for r in found] == [
        ("one", "two", 2, 3),
        ("one", "one", 3, 3),
        ("two", "two", 1, 1),
    ]
    assert main(["judge_report", "agreement", "--votes", str(files[0]), str(files[1]), "--exclude", "bob"]) == 2
    assert "no two judges judged the same answer" in capsys.readouterr().err
    assert main(["judge_report", "agreement", "--votes", str(files[0]), "--judge-model", "ann", "bob"]) == 0
    shown = capsys.readouterr().out
    assert "left out by --exclude" not in shown
    assert "note: too few questions for intervals" in shown


def _of_dimensions(question: int, model: str, total: float, sample: int = 0, **scores: float) -> dict[str, Any]:
    made = {"judge_set": "own", "judge_set_version": "1", "sample": sample, "scores": scores}
    return _grade(question, model, total, judge=("d", "all"), **made)


def test_of_several_dimensions_the_grade_of_the_whole_is_what_a_judge_says(told: Told, tmp_path: pathlib.Path) -> None:
    said = {(1, "x"): 8, (2, "x"): 6, (1, "y"): 6, (2, "y"): 3}
    again = said | {(1, "y"): 8}
    rows = [
        _of_dimensions(question, model, total, sample, wit=9 - total, tact=1)
        for sample, grades in enumerate((said, again))
        for (question, model), total in grades.items()
    ]
    path = _write(tmp_path / "d_single.jsonl", rows)
    found = {row["facet"]: row for row in told("repeat", "--input-file", path)["rows"]}
    # The worked line of `repeat`; the dimensions of one judgment are no repeats of it.
    assert (found["repeat"]["variance"], found["repeat"]["levels"]) == (pytest.approx(0.5), 4)
    wit = {row["facet"]: row for row in told("repeat", "--input-file", path, "--criterion", "wit")["rows"]}
    assert (wit["repeat"]["variance"], wit["rest"]["levels"]) == (pytest.approx(0.5), 8)
    one = _write(tmp_path / "one_single.jsonl", rows[:4])
    arena = tmp_path / "arena.csv"
    arena.write_text("model,score\nx,2\ny,1\n", encoding="utf-8")
    ranked = told("ranking", "--input-file", one, "--against", arena)["models"]
    assert [(row["model"], row["score"]) for row in ranked] == [("x", 7.0), ("y", 4.5)]
    people = _write(tmp_path / "ann.jsonl", [_grade(q, m, s, judge="ann") for (q, m), s in said.items()])
    agreed = {row["measure"]: row for row in told("agreement", "--votes", one, people)["rows"]}
    assert (agreed["exact"]["value"], agreed["exact"]["n"]) == (1.0, 4)


def test_grades_beside_votes_count_as_preferences(told: Told, tmp_path: pathlib.Path) -> None:
    grades = [_grade(1, "x", 8), _grade(1, "y", 6), _grade(2, "x", 5), _grade(2, "y", 5), _grade(3, "x", -1)]
    votes = [_vote(1, "model_a"), _vote(2, "model_b"), _vote(3, "model_a")]
    files = [_write(tmp_path / "j_single.jsonl", [*grades, _grade(3, "y", 9)]), _write(tmp_path / "ann.jsonl", votes)]
    rows = told("agreement", "--votes", *files)["rows"]
    assert [(row["setup"], row["agree"], row["total"]) for row in rows] == [("S1", 1, 2), ("S2", 1, 1)]


def test_agreement_of_many_voters_in_one_file_is_their_alpha(told: Told, tmp_path: pathlib.Path) -> None:
    rows = [_grade(at, "m", at, judge=f"voter_{v}") for at in range(1, 5) for v in range(8)]
    found = told("agreement", "--votes", _write(tmp_path / "people.jsonl", rows))["rows"]
    assert [(r["judge1"], r["judge2"], r["measure"], r["value"]) for r in found] == [
        ("all 8 of people", None, "alpha (ordinal)", 1.0),
        ("all 8 of people", None, "alpha (interval)", 1.0),
    ]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        pytest.param({"a": [_vote(1, "tie")], "b": [_label(1, "RIGHT")]}, "labels and other votes", id="kinds"),
        pytest.param({"a": [_vote(1, "tie")], "b": []}, "b.jsonl holds no votes", id="empty"),
        pytest.param({"a": [_vote(1, "tie")], "b": [_vote(2, "tie")]}, "no two judges judged the same", id="apart"),
        pytest.param({"a": [_vote(1, "tie", "author_1")]}, r"--exclude author* leaves no vote", id="excluded"),
        pytest.param({"a": [_vote(1, "tie"), _pair(1, "tie", "tie")]}, "mixes judgments and votes", id="mixed"),
        pytest.param({"a": [{"question_id": 1}]}, "a.jsonl:1: ", id="broken"),
    ],
)
def test_votes_that_cannot_be_compared_are_one_line(
    files: dict[str, list[dict[str, Any]]], said: str, error: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    paths = [_write(tmp_path / f"{name}.jsonl", rows) for name, rows in files.items()]
    assert said in error("agreement", "--votes", *paths, "--exclude", "author*")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param([], "no report named; there are: position, agreement", id="none"),
        pytest.param(["positon"], "did you mean position?", id="near"),
        pytest.param(["--format", "json"], "no flag --format", id="flag-first"),
        pytest.param(["position", "--input-fil", "x"], "no flag --input-fil; did you mean --input-file?", id="flag"),
        pytest.param(["position", "--input-file", "nowhere.jsonl"], "nowhere.jsonl: cannot be read", id="file"),
        pytest.param(["position", "--seed", "x"], "must be a whole number from 0", id="seed"),
        pytest.param(
            ["agreement"], "there are no votes in data/mt_bench/human_judgment; vote in the viewer", id="votes"
        ),
        pytest.param(["ranking"], "name what to compare with: --against FILE.csv, or --metric", id="against"),
        pytest.param(["ranking", "--against", "nowhere.csv"], "nowhere.csv: cannot be read", id="csv"),
        pytest.param(["self", "--family", "gpt"], "--family must be NAME=FAMILY", id="family"),
    ],
)
def test_wrong_use_is_one_line(words: list[str], said: str, error: Callable[..., str]) -> None:
    assert said in error(*words)


def test_flags_of_every_command_may_stand_before_the_report(
    pairs: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["judge_report", "-q", "position", "--input-file", str(pairs), "--format", "json"]) == 0
    assert capsys.readouterr().err == ""


def test_length_takes_the_answers_beside_the_file(
    told: Told, error: Callable[..., str], tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench = tmp_path / "own"
    questions = [{"question_id": at, "category": "stem", "turns": ["Why?"]} for at in range(6)]
    write_questions(bench, *questions)
    for model, length in (("x", 30), ("y", 10)):
        choices = [{"index": 0, "turns": ["a" * length]}]
        rows = [{"question_id": at, "model_id": model, "choices": choices} for at in range(6)]
        _write(bench / "model_answer" / f"{model}.jsonl", rows)
    winners = ["model_1", "model_1", "model_1", "model_1", "model_2", "tie"]
    path = _write(bench / "model_judgment" / "gpt-4_pair.jsonl", [_pair(at, w, w) for at, w in enumerate(winners)])
    found = told("length", "--input-file", path)
    assert [row["measure"] for row in found["rows"]] == ["longer wins", "slope", "slope with models"]
    assert (found["bench"], found["rows"][0]["value"], found["rows"][0]["n"]) == ("own", 0.8, 5)
    assert {row["model"]: row["mean_difference"] for row in found["models"]} == {"x": 20.0, "y": -20.0}
    assert main(["judge_report", "length", "--input-file", str(path)]) == 0
    assert "(1 tie and 0 of equal length not counted)" in capsys.readouterr().out
    always = _write(path.with_name("all_pair.jsonl"), [_pair(at, "model_1", "model_1") for at in range(6)])
    assert main(["judge_report", "length", "--input-file", str(always)]) == 0
    assert "note: no slope and no slope with models: length alone decides these pairs" in capsys.readouterr().out
    stray = _write(tmp_path / "stray" / "gpt-4_pair.jsonl", [_pair(1, "tie", "tie")])
    assert "name their folder with --bench-name and --data-dir" in error("length", "--input-file", stray)


def test_repeat_takes_samples_and_several_files(told: Told, tmp_path: pathlib.Path) -> None:
    """The worked line of `repeat`: x 8, 8 and 6, 6; y 6, 8 and 3, 3."""
    first = [_grade(1, "x", 8), _grade(2, "x", 6), _grade(1, "y", 6), _grade(2, "y", 3)]
    again = [_grade(1, "x", 8), _grade(2, "x", 6), _grade(1, "y", 8), _grade(2, "y", 3)]
    files = [_write(tmp_path / "one.jsonl", first), _write(tmp_path / "two.jsonl", again)]
    whole = _write(tmp_path / "all.jsonl", [*first, *({**row, "sample": 1} for row in again)])
    for given in (files, [whole]):
        rows = {row["facet"]: row for row in told("repeat", "--input-file", *given)["rows"]}
        assert rows["repeat"]["variance"] == pytest.approx(0.5)
        assert rows["question"]["variance"] == pytest.approx(4)
        assert rows["judge"]["variance"] is None
        assert rows["judge"]["why_not"] == "there is only one judge"


def test_repeat_finds_the_samples_of_a_benchmark(told: Told, tmp_path: pathlib.Path) -> None:
    where = ["--data-dir", tmp_path, "--bench-name", "own"]
    write_questions(tmp_path / "own", *({"question_id": q, "category": "stem", "turns": ["Why?"]} for q in (1, 2)))
    for sample, name in ((0, "gpt-4_single"), (1, "gpt-4@mt_bench#1_single"), (2, "gpt-4@mt_bench#2_single")):
        grades = [
            _grade(q, m, q + sample, sample=sample, judge_set="mt_bench", judge_set_version="1")
            for q in (1, 2)
            for m in ("x", "y")
        ]
        _write(tmp_path / "own" / "model_judgment" / f"{name}.jsonl", grades)
    rows = {row["facet"]: row for row in told("repeat", *where, "--judge-model", "gpt-4")["rows"]}
    assert (rows["rest"]["levels"], rows["repeat"]["levels"]) == (12, 8)


def test_self_compares_judges_of_one_judge_set(told: Told, error: Callable[..., str], tmp_path: pathlib.Path) -> None:
    scores: dict[str, dict[str, float]] = {"gpt-5": {"gpt-4": 9, "llama": 7}, "claude": {"gpt-4": 8, "llama": 6.5}}
    for judge, own in scores.items():
        grades = [_grade(q, m, s, judge=(judge, "single-v1")) for q in range(6) for m, s in own.items()]
        _write(tmp_path / f"{judge}.jsonl", grades)
    files = [tmp_path / "gpt-5.jsonl", tmp_path / "claude.jsonl"]
    rows = {row["judge"]: row for row in told("self", "--input-file", *files)["rows"]}
    assert rows["gpt-5"]["difference"] == pytest.approx(0.5)
    assert rows["claude"]["why_not"] == "no model of the family claude was judged"
    other = told("self", "--input-file", *files, "--family", "claude=llama")["rows"][1]
    assert (other["own"], other["difference"]) == ("llama", pytest.approx(0.5))
    assert "needs two judges or more" in error("self", "--input-file", files[0])
    own_set = [_grade(q, "llama", 5, judge=("o3", "x"), judge_set="own", judge_set_version=2) for q in range(6)]
    files.append(_write(tmp_path / "o3.jsonl", own_set))
    assert "choose one with --judge-set: unstated, own 2" in error("self", "--input-file", *files)


def test_ranking_beside_a_table(told: Told, error: Callable[..., str], tmp_path: pathlib.Path) -> None:
    """The worked line of `ranking`."""
    ours = _write(
        tmp_path / "single.jsonl",
        [_grade(q, m, s) for q in range(6) for m, s in zip("wxyz", (9, 8, 6, 5), strict=True)],
    )
    theirs = tmp_path / "arena.csv"
    theirs.write_text("Model,Elo\nw,1200\nx,1210\ny,1100\nz,1050\nq,900\n", encoding="utf-8")
    found = told("ranking", "--against", theirs, "--input-file", ours)
    assert {row["measure"]: row["value"] for row in found["rows"]} == {
        "spearman": pytest.approx(0.8),
        "kendall tau-b": pytest.approx(4 / 6),
    }
    assert [row["other_rank"] for row in found["models"]] == [2, 1, 3, 4]
    theirs.write_text("model,elo\nq,900\n", encoding="utf-8")
    assert "no model in common" in error("ranking", "--against", theirs, "--input-file", ours)


def test_corrected_win_rates_lie_between_judge_and_people(
    told: Told, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    winners = ["model_1", "model_1", "model_2", "tie", "model_1", "model_2", "model_1", "tie", "model_1", "model_1"]
    judge = _write(tmp_path / "judge.jsonl", [_pair(at, w, w) for at, w in enumerate(winners)])
    people = _write(tmp_path / "people.jsonl", [_vote(at, "model_a" if at % 2 else "model_b") for at in range(8)])
    found = told("corrected", "--votes", people, "--input-file", judge)
    assert {row["model"]: row["judge"] for row in found["rows"]} == {"x": pytest.approx(0.7), "y": pytest.approx(0.3)}
    assert sum(row["corrected"] for row in found["rows"]) == pytest.approx(1.0)
    assert all((row["questions"], row["voted"]) == (10, 8) for row in found["rows"])
    wider = found["rows"][0]
    own = told("corrected", "--votes", people, "--input-file", judge, "--these-questions")["rows"][0]
    assert wider["corrected_high"] - wider["corrected_low"] > own["corrected_high"] - own["corrected_low"]
    assert main(["judge_report", "corrected", "--votes", str(people), "--input-file", str(judge)]) == 0
    assert "note: no number of further votes on these questions would halve an interval" in capsys.readouterr().out
    few = _write(tmp_path / "few.jsonl", [_vote(at, "model_a") for at in range(6)])
    assert told("corrected", "--votes", few, "--input-file", judge)["rows"][0]["corrected_low"] is None


@pytest.mark.parametrize("report", ["repeat", "length", "corrected", "ranking --against", "ranking --metric", "checks"])
def test_a_run_without_any_verdict_is_said_to_be_one(
    report: str, error: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    paired = report in {"length", "corrected"}
    failed = [_pair(1, "error", "error")] if paired else [_grade(1, "x", -1), _grade(1, "y", -1)]
    path = _write(tmp_path / "run.jsonl", failed)
    (tmp_path / "arena.csv").write_text("model,score\nx,1\ny,2\n", encoding="utf-8")
    people = _write(tmp_path / "people.jsonl", [_vote(1, "model_a")])
    metric = {"question_id": 1, "turn": 1, "model": "x", "metric": "bleu", "value": 0.5}
    _write(tmp_path / "own" / "model_metric" / "bleu.jsonl", [metric])
    write_questions(tmp_path / "own", {"question_id": 1, "category": "stem", "turns": ["Why?"]})
    more: dict[str, list[str | pathlib.Path]] = {
        "corrected": ["--votes", people],
        "ranking --against": [tmp_path / "arena.csv"],
        "ranking --metric": ["bleu"],
    }
    where = ["--bench-name", "own", "--data-dir", tmp_path]
    said = error(*report.split(), *more.get(report, []), "--input-file", path, *where)
    assert f"no {'pair' if paired else 'judgment'} of {path} has a verdict" in said


def test_the_same_seed_gives_the_same_digits(told: Told, tmp_path: pathlib.Path) -> None:
    winners = ["model_1", "model_2", "tie"]
    games = [_pair(at, winners[at % 3], winners[at // 2 % 3]) for at in range(40)]
    path = _write(tmp_path / "pair.jsonl", games)
    one, same, other = (told("position", "--input-file", path, "--seed", seed) for seed in ("1", "1", "2"))
    assert one == same
    assert one["rows"][0]["first_share_low"] != other["rows"][0]["first_share_low"]


def test_help_of_a_report_imports_no_numpy(tmp_path: pathlib.Path) -> None:
    script = (
        "import sys\nfrom harness.old.cli.judge_report import main\n"
        "try:\n    main(['position', '--help'])\nexcept SystemExit:\n    pass\n"
        "print('numpy' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: judge_report position ")
    assert done.stderr == "False\n"


@pytest.mark.reference
@pytest.mark.parametrize("name", ["stefanstud_gpt-4_pair", "ku-nlp_japanese-vicuna_gpt-4_pair"])
def test_position_equals_the_published_formulas(name: str, told: Told, reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    wanted = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["pair_runs"][name]
    total = told("position", "--input-file", folder / "other_runs" / f"{name}.jsonl")["rows"][0]
    names = ["usable", "error_rows", "consistent", "biased_first", "biased_second", "one_side_tie"]
    assert [total[name] for name in COUNTS] == [wanted[name] for name in names]
    assert total["first_games"] == wanted["A_verdicts"]
    assert total["decided_games"] == wanted["A_verdicts"] + wanted["B_verdicts"]


@pytest.mark.reference
def test_agreement_equals_the_papers_table_5(told: Told, reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["agreement_turn1"]
    votes = [folder / "human_judgment" / name for name in ("gpt4_pair.jsonl", "human.jsonl")]
    rows = told("agreement", "--votes", *votes, "--exclude", "author*")["rows"]
    found = [[row[name] for name in AGREEMENT] for row in rows if row["turn"] == 1 and row["category"] is None]
    assert found == [
        [
            row["judge1"].replace("-", "_"),
            row["judge2"],
            1,
            None,
            *(row[n] for n in ("setup", "agree", "total", "ratio")),
        ]
        for row in expected
    ]
    assert {row["category"] for row in rows} == {
        None, "writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"
    }  # fmt: skip
