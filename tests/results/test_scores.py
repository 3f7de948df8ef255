"""Rows as columns: what each kind of row gives, which rows count, which stand together."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness import bench, store
from harness.errors import MissingError
from harness.results import Panel, Scores, of_rows, panels, read, summarize
from harness.results.scores import outcome
from harness.types import Judgment, MadeFrom, Measurement, Question, Vote
from tests.results.rows import grade, pair, preference


def values(scores: Scores) -> dict[str, list[Any]]:
    """Return values by metric, in the order of the questions; None: no verdict."""
    by_metric: dict[str, list[Any]] = {}
    scores = scores.take(np.argsort(scores.question, kind="stable"))
    for metric, value in zip(scores.metric.tolist(), scores.value.tolist(), strict=True):
        values = by_metric.setdefault(scores.metrics[metric], [])
        values.append(None if math.isnan(value) else value)
    return by_metric


def only(scores: Scores, **more: Any) -> Panel:
    (panel,) = panels(scores, **more)
    return panel


def test_a_grade_is_its_score_and_minus_one_no_verdict() -> None:
    rows = [grade(1, "a", 8), grade(2, "a", -1), grade(1, "a", 3, criterion="tone")]
    assert values(of_rows(rows)) == {"score": [8, None], "tone": [3]}


def test_a_label_is_1_and_the_other_labels_0_and_no_label_is_no_verdict_in_all() -> None:
    rows = [
        grade(1, "a", -1, label="CORRECT", share=1.0, confidence=0.9),
        grade(2, "a", -1, label="INCORRECT", share=0.0),
        grade(3, "a", -1, label=None),
    ]
    assert values(of_rows(rows)) == {
        "score": [1, 0, None],
        "confidence": [0.9],
        "CORRECT": [1, 0, None],
        "INCORRECT": [0, 1, None],
        "NOT_ATTEMPTED": [0, 0, None],
    }
    rows = [grade(1, "a", -1, label="x"), grade(2, "a", -1, label="y")]
    assert values(of_rows(rows)) == {"x": [1, 0], "y": [0, 1]}


def test_dimensions_are_metrics_and_the_total_if_there_is_one_is_the_score() -> None:
    rows = [grade(1, "a", 4, scores={"clarity": 5.0, "depth": None})]
    assert values(of_rows(rows)) == {"score": [4], "clarity": [5], "depth": [None]}
    rows = [grade(1, "a", None, scores={"clarity": 5.0}), grade(2, "a", -1, scores=None)]
    assert values(of_rows(rows)) == {"clarity": [5, None]}


def test_a_checklist_is_the_share_of_its_weight_that_is_met() -> None:
    points: list[dict[str, Any]] = [
        {"met": True, "weight": 2, "tag": "facts"},
        {"met": True, "weight": 1},
        {"met": False, "weight": 1, "tag": "facts"},
        {"met": True, "weight": -1},
        {"met": None, "weight": 9},
    ]
    rows = [grade(1, "a", -1, points=points), grade(2, "a", -1, points=[])]
    shares = {"points": [0.5, None], "points/facts": [pytest.approx(2 / 3), None]}
    assert values(of_rows(rows)) == shares


def test_votes_are_one_or_half_or_zero_and_the_last_of_a_voter_counts() -> None:
    votes = (("ann", "model_a"), ("ann", "tie (bothbad)"), ("bob", "model_b"))
    rows = [
        Vote(question_id=1, model_a="a", model_b="b", winner=winner, judge=voter)
        for voter, winner in votes
    ]
    assert values(of_rows(rows)) == {"vote": [0.5, 0]}


def test_a_metrics_several_numbers_are_metrics_of_their_own() -> None:
    numbers: dict[str, float | None] = {"bleu_1": 0.5, "strict": 1.0}
    row = Measurement(question_id=1, turn=1, model="a", metric="bleu", value=0.3, values=numbers)
    assert values(of_rows([row])) == {"bleu_1": [0.5], "bleu strict": [1]}


def test_of_equal_keys_the_last_good_row_counts_and_a_pair_has_one_key_in_both_orders() -> None:
    rows = [grade(1, "a", 8), grade(1, "a", 6), grade(1, "a", -1)]
    assert values(of_rows(rows)) == {"score": [6]}
    rows = [pair(1, "a", "b", "model_1", "model_1"), pair(1, "b", "a", "tie", "tie")]
    assert values(of_rows(rows)) == {"win": [0.5]}


@pytest.mark.parametrize(
    ("winners", "value", "flip"),
    [
        (("model_1", "model_1"), 1, 0),
        (("model_2", "model_2"), 0, 0),
        (("tie", "tie"), 0.5, 0),
        (("model_1", "model_2"), 0.5, 1),
        (("model_1", "tie"), 0.5, 2),
        (("model_2",), 0, -1),
        (("error", "model_1"), None, -1),
    ],
)
def test_games_that_disagree_are_a_tie(winners: tuple[str, ...], value: Any, flip: int) -> None:
    scores = of_rows([pair(1, "a", "b", *winners)])
    assert (values(scores), scores.flip.tolist()) == ({"win": [value]}, [flip])


def test_weighed_preferences_count_as_their_mean() -> None:
    assert (outcome([0.9, 0.6]), outcome([1.0, 0.5])) == (0.75, 0.5)


def test_rows_about_another_wording_are_left_out_and_counted() -> None:
    question = Question(question_id=1, category="math", turns=["2+2?"])
    rows = [
        grade(1, "a", 8, made_from=MadeFrom(question=question.hash)),
        grade(1, "b", 8, made_from=MadeFrom(question="0" * 16)),
    ]
    scores = of_rows(rows, [question])
    assert (list(scores.models_present), scores.left_out.total()) == (["a"], 1)


def test_a_panel_is_the_mean_of_its_judges_on_what_all_judged() -> None:
    rows = [
        grade(q, "a", score, judge=(judge, "t"), judge_set="s")
        for judge, scores in (("x", (8, 6, 4)), ("y", (6, 7, -1)))
        for q, score in enumerate(scores)
    ]
    panel = only(of_rows(rows))
    assert panel.judges == ("x", "y")
    assert panel.combined.valid.tolist().count(False) == 1
    assert values(panel.combined) == {"score": [7, 6.5, None]}
    assert summarize(panel.by_judge["x"])[0].mean.value == 7


def test_a_panel_of_pairs_turns_them_the_same_way_round() -> None:
    rows = [
        pair(1, "a", "b", "model_1", "model_1", judge="x", judge_set="s"),
        pair(1, "b", "a", "model_2", "model_2", judge="y", judge_set="s"),
    ]
    (a, b) = summarize(only(of_rows(rows)).combined)
    assert (a["model"], a.mean.value, b.mean.value) == ("a", 1, 0)


def test_samples_of_one_judge_are_their_mean() -> None:
    rows = [
        grade(1, "a", score, sample=at, sampling={"seed": at})
        for at, score in enumerate((4, 8, -1))
    ]
    assert only(of_rows(rows)).combined.value.tolist() == [6]


def test_other_judge_sets_scales_and_samplings_stand_apart() -> None:
    rows = [
        grade(1, "a", 8, judge_set="s"),
        grade(1, "a", 4, judge_set="t", scale=(1.0, 5.0)),
        grade(1, "b", 4, judge_set="s", sampling={"temperature": 1}),
        pair(1, "a", "b", "model_1", "model_1", judge_set="s"),
        pair(2, "a", "b", "model_1", judge_set="s", shown_first="model_1"),
    ]
    assert len(panels(of_rows(rows))) == 5


def test_rows_that_do_not_state_their_judge_set_join_those_of_their_file_and_are_counted() -> None:
    rows = [grade(1, "a", 8), grade(1, "b", 7, judge_set="mt_bench", scale=(1.0, 10.0))]
    panel = only(of_rows(rows))
    assert (panel.judge_set, panel.unknown, len(panel.scores)) == ("mt_bench", 1, 2)


def test_built_in_judges_join_no_panel_unless_named() -> None:
    rows = [grade(1, "a", 8), grade(1, "a", 5, judge=("builtin/length", "t"))]
    assert len(panels(of_rows(rows))) == 2
    assert only(of_rows(rows), named=["builtin/length", "gpt-4"]).judges == (
        "gpt-4",
        "builtin/length",
    )


def test_of_pairs_both_models_must_be_named_and_of_one_name_either() -> None:
    rows = [
        pair(1, "a", "b", "model_1", "model_1"),
        pair(1, "b", "c", "model_1", "model_1"),
    ]
    scores = of_rows(rows)
    assert len(scores.of(models=["a", "b"])) == 1
    assert len(scores.of(models=["b"])) == 2


def test_a_folder_is_read_with_its_questions_and_says_what_is_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "question.jsonl").write_text('{"question_id": 1, "category": "c", "turns": ["?"]}\n')
    loaded = bench.load("b", tmp_path)
    with pytest.raises(MissingError, match="no judgments; run gen_judgment first"):
        read(loaded)
    path = folder / "model_judgment" / "gpt-4_single.jsonl"
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(9, "a", 4))
    with pytest.raises(MissingError, match="1 judgment is of questions that the benchmark lacks"):
        read(loaded)
    with store.Writer(path, Judgment) as writer:
        writer.append(grade(1, "a", 4))
        writer.append(pair(1, "a", "b", "tie", "tie"))
    assert (len(read(loaded)), len(read(loaded, kind="single"))) == (2, 1)
    assert read(loaded).questions[0].category == "c"
    assert len(read(loaded, files=[path])) == 2
    elsewhere = tmp_path / "other.jsonl"
    elsewhere.write_bytes(path.read_bytes())
    assert len(read(loaded, files=[elsewhere])) == 3


def test_a_weighed_preference_counts_and_not_its_winner_alone() -> None:
    row = preference(1, "m", "base", 0.6)
    assert row.games == (0.6,)
    assert of_rows([row]).value.tolist() == [0.6]
