"""What reports say of incomplete data: how much gives no verdict and whose it is, and why there is no interval."""

import json
import pathlib
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from harness import gen_answer, gen_judgment
from harness.old.errors import MissingError
from harness.old.judgments.observations import Observations
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.agreement import judge_agreement
from harness.old.meta_evaluation.choosing import judge_judges
from harness.old.meta_evaluation.corrected import judge_corrected
from harness.old.meta_evaluation.disagreement import judge_disagreement
from harness.old.meta_evaluation.length import judge_length
from harness.old.meta_evaluation.position import judge_position
from harness.old.meta_evaluation.ranking import judge_ranking
from harness.old.meta_evaluation.repeat import judge_repeat
from harness.old.meta_evaluation.report import Lost, interval_notes, lost_note, lost_of
from harness.old.meta_evaluation.self_preference import judge_self
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.showing import text
from harness.old.showing.judge_report import judge_page
from tests.old.judged import on_disk
from tests.old.observed import Origin, grade, pair
from tests.old.small_bench import question, small_bench

MODELS = ("a", "b", "c")


def write(path: pathlib.Path, rows: Iterable[Mapping[str, Any]]) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(on_disk(dict(row))) + "\n" for row in rows), encoding="utf-8")
    return path


def graded(path: pathlib.Path, scores: Mapping[tuple[int, str], float], judge: str = "j", **more: Any) -> pathlib.Path:
    rows = [
        {"question_id": q, "model": model, "judge": [judge, "single-v1"], "score": score, "turn": 1, **more}
        for (q, model), score in scores.items()
    ]
    return write(path, rows)


def paired(path: pathlib.Path, games: Mapping[tuple[int, str, str], tuple[str, str]], judge: str = "j") -> pathlib.Path:
    rows = [
        {"question_id": q, "model_1": one, "model_2": two, "g1_winner": first, "g2_winner": second}
        | {"judge": [judge, "pair-v2"], "turn": 1}
        for (q, one, two), (first, second) in games.items()
    ]
    return write(path, rows)


def test_judgments_without_a_verdict_are_told_by_judge_and_by_the_models_that_lost_far_more_than_others() -> None:
    rows = [
        grade(q, 1, model, None if model == "c" and (judge == "k" or q < 3) else 5, Origin(judge))
        for q in range(10)
        for model in MODELS
        for judge in "jk"
    ]
    lost = lost_of(Observations.of(rows))
    assert lost == Lost(13, 60, "by j 3 of 30, by k 10 of 30; about c 13 of 20")
    assert lost_note(Observations.of([row for row in rows if row.value is not None])) is None
    even = [pair(q, 1, "x", "y", ("model_1", None if q % 2 else "tie"), Origin("j")) for q in range(8)]
    assert lost_note(Observations.of(even)) == "4 of 8 judgments give no verdict and are left out"


def test_a_judgment_of_several_numbers_is_lost_once(tmp_path: pathlib.Path) -> None:
    labels = [
        {"question_id": q, "model": "m", "judge": ["j", "grade"], "turn": 1, "score": -1}
        | {"label": None if q > 6 else ["RIGHT", "WRONG"][q % 2], "share": None if q > 6 else float(q % 2)}
        for q in range(10)
    ]
    path = write(tmp_path / "j_single.jsonl", labels)
    assert lost_of(read_judgments(path).observations)[:2] == (3, 10)
    assert "3 of 10 judgments give no verdict and are left out" in judge_repeat(input_file=path).notes
    dimensions = [
        {"question_id": q, "model": "m", "judge": ["j", "all"], "turn": 1, "score": -1 if q > 6 else 5}
        | {"scores": {"wit": 3, "tact": 4}}
        for q in range(10)
    ]
    path = write(tmp_path / "d_single.jsonl", dimensions)
    assert lost_of(read_judgments(path).observations)[:2] == (3, 10)


@pytest.mark.parametrize(
    ("estimates", "notes"),
    [
        pytest.param([(5.0, None, 3)], ["too few questions for intervals"], id="few"),
        pytest.param([(0.0, None, 24)], ["no interval where the questions do not differ"], id="alike"),
        pytest.param([(None, None, 0)], [], id="no-number"),
        pytest.param(
            [(0.5, 0.1, 24), (0.5, None, 3), (0.0, None, 24)],
            [
                "intervals: studentized",
                "no interval on fewer than 5 questions",
                "no interval where the questions do not differ",
            ],
            id="some",
        ),
    ],
)
def test_why_there_is_no_interval(estimates: list[tuple[float | None, float | None, int]], notes: list[str]) -> None:
    given = [Estimate(value, low, low, n, "studentized" if low is not None else None) for value, low, n in estimates]
    assert [note.split(" bootstrap")[0] for note in interval_notes(given)] == notes


def test_reports_that_rank_nothing_do_not_speak_of_ranks(tmp_path: pathlib.Path) -> None:
    games = {(q, "a", "b"): ("model_1", "tie") for q in range(10)} | {(0, "a", "few"): ("model_1", "model_1")}
    path = paired(tmp_path / "j_pair.jsonl", games)
    told = "judged on far fewer questions than other models: few (1 of 10 questions)"
    assert told in judge_position(input_file=path).notes
    assert told in judge_repeat(input_file=path).notes


def test_position_says_that_one_game_is_enough_to_lose_a_pair_and_that_ties_show_nothing(
    tmp_path: pathlib.Path,
) -> None:
    games = {(q, "a", m): ("model_1", "error" if m == "c" and q else "tie") for q in range(10) for m in "bc"}
    report = judge_position(input_file=paired(tmp_path / "j_pair.jsonl", games))
    assert "9 pairs without a verdict in one game or both left out: about c 9 of 10" in report.notes
    none = dict.fromkeys(games, ("error", "model_1"))
    with pytest.raises(MissingError, match=r"no pair of .* has a verdict"):
        judge_position(input_file=paired(tmp_path / "none_pair.jsonl", none))
    ties = dict.fromkeys(games, ("tie", "tie"))
    report = judge_position(input_file=paired(tmp_path / "ties_pair.jsonl", ties))
    assert "every game is a tie: nothing shows whether the judge would favour a place" in report.notes


def test_games_without_a_verdict_are_not_called_judgments(tmp_path: pathlib.Path) -> None:
    path = paired(tmp_path / "j_pair.jsonl", {(q, "a", "b"): ("model_1", "error" if q else "tie") for q in range(6)})
    notes = judge_repeat(input_file=path).notes
    assert "5 games without a verdict left out" in notes
    assert not any("judgments" in note for note in notes)


def test_equal_verdicts_promise_no_difference_that_could_be_found(tmp_path: pathlib.Path) -> None:
    rows = [
        {"question_id": q, "model": model, "judge": ["j", "single-v1"], "score": 7, "turn": 1, "sample": sample}
        for q in range(10)
        for model in MODELS
        for sample in range(2)
    ]
    report = judge_repeat(input_file=write(tmp_path / "j_single.jsonl", rows))
    assert report.more["designs"] == []
    assert "turn 1: the verdicts do not vary, so they do not say which difference could be found" in report.notes
    assert report.notes[-1] == "no interval where the questions do not differ"
    few = write(tmp_path / "k_single.jsonl", [row | {"score": i % 7} for i, row in enumerate(rows[:24])])
    assert judge_repeat(input_file=few).more["designs"] == []


def test_a_model_of_few_questions_has_no_rank_and_is_in_no_correlation(tmp_path: pathlib.Path) -> None:
    scores = {(q, m): 5 + "abcd".index(m) + q % 2 for q in range(10) for m in "abcd"} | {(0, "few"): 10, (1, "few"): 10}
    path = graded(tmp_path / "j_single.jsonl", scores)
    other = tmp_path / "arena.csv"
    other.write_text("model,elo\na,1\nb,2\nc,3\nd,4\nfew,0\n", encoding="utf-8")
    report = judge_ranking(other, input_file=path)
    assert [(row["value"], row["n"]) for row in report.rows] == [(1.0, 4), (1.0, 4)]
    assert [(row["model"], row["rank"], row["n"]) for row in report.more["models"]] == [
        ("d", 1.0, 10),
        ("c", 2.0, 10),
        ("b", 3.0, 10),
        ("a", 4.0, 10),
        ("few", None, 2),
    ]
    assert "judged on too few questions to be ranked: few (2 of 10 questions)" in report.notes
    assert "no interval: it takes 5 models and 5 questions, these are 4 and 10" in report.notes
    lines = [line.split() for line in text(judge_page(report)).splitlines()]
    assert ["d", "8.500", "1", "4", "1", "10"] in lines
    assert ["few", "10.000", "–", "0", "–", "2"] in lines


def test_a_ranking_of_equal_scores_has_no_correlation_and_says_why(tmp_path: pathlib.Path) -> None:
    path = graded(tmp_path / "j_single.jsonl", {(q, m): 7 for q in range(10) for m in MODELS})
    other = tmp_path / "arena.csv"
    other.write_text("model,elo\na,1\nb,2\nc,3\n", encoding="utf-8")
    report = judge_ranking(other, input_file=path)
    assert "no correlation: by the judgments all these models are equal" in report.notes
    assert not any("no interval" in note for note in report.notes)
    assert "measure        value  n" in text(judge_page(report))


def test_ranks_and_grades_are_shown_as_they_are(tmp_path: pathlib.Path) -> None:
    one = graded(tmp_path / "j_single.jsonl", {(q, m): 8 for q in range(5) for m in MODELS})
    other = graded(tmp_path / "k_single.jsonl", {(q, m): 5.5 for q in range(5) for m in MODELS}, "k")
    report = judge_disagreement(input_file=[one, other])
    lines = text(judge_page(report)).splitlines()
    assert ["0", "1", "a", "8", "5.5"] in [line.split() for line in lines]
    assert (
        report.notes[0]
        == "judges disagree (grades 2 points apart or more) on 15 items; 15 items were judged by two judges or more"
    )


def test_families_that_are_guessed_from_an_address_are_said_to_be(tmp_path: pathlib.Path) -> None:
    files = [
        graded(tmp_path / f"{at}_single.jsonl", {(q, m): q + at for q in range(6) for m in ("host/x", "y-1")}, judge)
        for at, judge in enumerate(("host/j", "k"))
    ]
    told = "families are the first part of a name, such as host of host/j; --family NAME=FAMILY says otherwise"
    assert told in judge_self(input_file=files).notes
    families = {"host/j": "j", "host/x": "x"}
    assert told not in judge_self(input_file=files, families=families).notes


def test_agreement_counts_what_is_left_out_for_each_side(tmp_path: pathlib.Path) -> None:
    one = paired(tmp_path / "j.jsonl", {(q, "a", "b"): ("model_1", "model_1") for q in range(6)})
    none = paired(tmp_path / "k.jsonl", {(q, "a", "b"): ("error", "error") for q in range(6)}, "k")
    third = paired(tmp_path / "l.jsonl", {(q, "a", "b"): ("model_1", "model_1") for q in range(6)}, "l")
    notes = judge_agreement([one, none, third]).notes
    assert "6 of 6 judgments by k without a verdict left out" in notes
    assert "j and k have no pair of answers with a verdict of both in common" in notes
    ties = paired(tmp_path / "t.jsonl", {(q, "a", "b"): ("tie", "tie") for q in range(6)}, "t")
    again = paired(tmp_path / "u.jsonl", {(q, "a", "b"): ("tie", "tie") for q in range(6)}, "u")
    told = "no kappa where both say the same of everything: chance alone would agree as often"
    assert told in judge_agreement([ties, again]).notes


def test_a_share_of_labels_that_agree_does_not_lie_below_0(tmp_path: pathlib.Path) -> None:
    said = {"j": "RRRRRW", "k": "WWWWRR"}
    files = [
        write(
            tmp_path / f"{judge}.jsonl",
            [
                {"judge": judge, "model": "m", "question_id": q, "turn": 1, "label": label}
                for q, label in enumerate(labels)
            ],
        )
        for judge, labels in said.items()
    ]
    (row,) = judge_agreement(files).rows
    assert (row["agree"], row["total"], row["low"]) == (1, 6, 0.0)


def test_length_says_why_pairs_are_left_out_and_knows_little_of_a_model_in_few_questions(
    tmp_path: pathlib.Path,
) -> None:
    home = tmp_path / "own"
    games = {(q, "a", "b"): ("model_1", "model_1") if q % 3 else ("model_2", "model_2") for q in range(10)}
    games |= {(9, "a", "b"): ("error", "error"), (1, "a", "few"): ("model_1", "tie"), (2, "b", "few"): ("tie", "tie")}
    games |= {(3, "a", "gone"): ("model_1", "model_1")}
    path = paired(home / "model_judgment" / "j_pair.jsonl", games)
    for at, model in enumerate(("a", "b", "few")):
        rows = [
            {"question_id": q, "answer_id": f"{q}", "model_id": model, "tstamp": 1.0}
            | {"choices": [{"index": 0, "turns": ["x" * (10 + 7 * at + q * (2 - at))]}]}
            for q in range(10)
        ]
        write(home / "model_answer" / f"{model}.jsonl", rows)
    write(home / "question.jsonl", [{"question_id": q, "category": "math", "turns": ["Q"]} for q in range(10)])
    report = judge_length(variants=("a", "b"), input_file=path)
    assert "1 pair without both answers, whose lengths are thus unknown, left out" in report.notes
    assert any(note.startswith("1 of 13 judgments give no verdict and are left out") for note in report.notes)
    models = {row["model"]: row for row in report.more["models"]}
    assert models["a"]["equal_length_low"] is not None
    assert models["few"]["equal_length"] is not None
    assert models["few"]["equal_length_low"] is None
    told = "judged on far fewer questions than other models, and last: few (2 of 9 questions), gone (1 of 9 questions)"
    assert told in report.notes
    first, second = report.more["variants"]
    assert (first["win_rate_moved"], first["win_rate_moved_low"], first["equal_length_moved_high"]) == (0.0, None, None)
    assert second["win_rate_moved_low"] is not None


def test_judgments_of_answers_that_have_been_replaced_are_left_out_of_every_report(tmp_path: pathlib.Path) -> None:
    numbers = range(8)
    bench = small_bench(tmp_path, *(question(n, turns=["Name three rivers."]) for n in numbers))
    gen_answer(["builtin/eliza", "builtin/outline"], bench_name="small", data_dir=tmp_path)
    for judge in ("builtin/overlap", "builtin/longest"):
        gen_judgment(judge, bench_name="small", data_dir=tmp_path, mode="pairwise-all")
    ballots = [
        {"judge": "ann", "model_a": "builtin/eliza", "model_b": "builtin/outline", "question_id": n, "turn": 1}
        | {"winner": "model_b" if n % 3 else "model_a"}
        for n in numbers
    ]
    votes = write(bench.folder / "human_judgment" / "ann.jsonl", ballots)
    path = bench.answer_file("builtin/eliza")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows[:3]:
        row["choices"][0]["turns"] = ["Something else."]
    write(path, rows)
    where: dict[str, Any] = {"bench_name": "small", "data_dir": tmp_path}
    one = {**where, "judge_model": "builtin/overlap"}
    reports = [
        judge_position(**one),
        judge_length(**one),
        judge_repeat("pairwise-all", **one),
        judge_corrected(**one),
        judge_agreement([votes, bench.judgment_file("builtin/overlap", "mt_bench", "pairwise-all")], **where),
        judge_judges(**one),
        judge_disagreement("pairwise-all", **where),
    ]
    told = "judgments are about answers that have been replaced since (builtin/eliza and builtin/outline"
    assert [report.name for report in reports if not any(told in note for note in report.notes)] == []
    n = [reports[0].rows[0]["n"], reports[1].rows[1]["n"], reports[3].rows[0]["questions"], reports[4].rows[0]["total"]]
    assert n == [5, 5, 5, 5]
    assert {row["judge"]: row["parsed"] for row in reports[5].rows}["builtin/overlap"] == 5
