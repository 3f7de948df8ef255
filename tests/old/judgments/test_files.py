"""Judgment and vote files as they are found: rerun, unsorted, mixed, broken."""

import json
import pathlib
from collections.abc import Iterable
from typing import Any

import pytest

from harness.old.errors import DataError, UsageError
from harness.old.judgments.reading import read_judgments
from harness.old.records import Observation
from harness.old.results.finding import chosen, one_source, one_wording, without_voters
from harness.old.results.query import Query


def grade(model: str = "x", question: int | str = 1, score: Any = 8, turn: int = 1, **more: Any) -> dict[str, Any]:
    row = {"question_id": question, "model": model, "judge": ["gpt-4", "single-v1"], "score": score, "turn": turn}
    return {**row, **more}


def pair(one: str, other: str, first: str, second: str, **more: Any) -> dict[str, Any]:
    row = {"question_id": 1, "model_1": one, "model_2": other, "g1_winner": first, "g2_winner": second}
    return {**row, "judge": ["gpt-4", "pair-v2"], "turn": 1, **more}


def vote(one: str, other: str, winner: str, judge: str = "expert_0", **more: Any) -> dict[str, Any]:
    row = {"judge": judge, "model_a": one, "model_b": other, "question_id": 1, "turn": 1, "winner": winner}
    return {**row, **more}


def write(folder: pathlib.Path, *rows: dict[str, Any]) -> pathlib.Path:
    path = folder / "judgments.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


# Reruns


@pytest.mark.parametrize(
    ("scores", "counts"),
    [
        pytest.param([-1, 7], 7, id="failed-then-good"),
        pytest.param([7, -1], 7, id="good-then-failed"),
        pytest.param([6, 7], 7, id="two-good"),
        pytest.param([6, 7, -1], 7, id="two-good-then-failed"),
        pytest.param([-1, -1], None, id="failed-only"),
    ],
)
def test_of_equal_keys_the_last_good_grade_counts(
    scores: list[int], counts: int | None, tmp_path: pathlib.Path
) -> None:
    read = read_judgments(write(tmp_path, *(grade(score=score) for score in scores)))
    assert [r.value for r in read.observations] == [counts]
    assert read.replaced == len(scores) - 1


def test_an_error_text_that_a_rerun_made_good(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, grade(score=-1, judgment="$ERROR$"), grade(score=9, judgment="Good. [[9]]"))
    assert [r.value for r in read_judgments(path).observations] == [9]


def test_of_equal_keys_the_last_good_pair_counts_whichever_way_round(tmp_path: pathlib.Path) -> None:
    read = read_judgments(
        write(
            tmp_path,
            pair("x", "y", "error", "model_1"),
            pair("y", "x", "model_2", "model_2"),
            pair("x", "y", "model_2", "error"),
        )
    )
    [kept] = read.observations
    assert (kept.model, kept.games, read.replaced) == ("y", (0.0, 0.0), 2)


def test_of_one_voters_votes_on_a_pair_the_last_counts(tmp_path: pathlib.Path) -> None:
    rows = vote("x", "y", "model_a"), vote("y", "x", "model_a"), vote("x", "y", "tie", judge="expert_1")
    read = read_judgments(write(tmp_path, *rows))
    assert [(c.source.judge, c.model, c.games) for c in read.observations] == [
        ("expert_0", "y", (1.0,)),
        ("expert_1", "x", (0.5,)),
    ]
    assert read.replaced == 1


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"turn": 2}, id="turn"),
        pytest.param({"model": "y"}, id="model"),
        pytest.param({"question": 2}, id="question"),
        pytest.param({"judge": "gpt-5"}, id="judge"),
        pytest.param({"judge_set": "s", "judge_set_version": "1"}, id="judge-set"),
        pytest.param({"sample": 1}, id="sample"),
        pytest.param({"choice": 1}, id="choice"),
        pytest.param({"criterion": "tone"}, id="criterion"),
    ],
)
def test_rows_that_differ_in_their_key_both_count(changes: dict[str, Any], tmp_path: pathlib.Path) -> None:
    read = read_judgments(write(tmp_path, grade(), grade(**changes)))
    assert (len(read.observations), read.replaced) == (2, 0)


def test_pairs_of_two_choices_both_count(tmp_path: pathlib.Path) -> None:
    rows = pair("x", "y", "tie", "tie"), pair("x", "y", "model_1", "model_1", choice=1)
    assert len(read_judgments(write(tmp_path, *rows)).observations) == 2


def test_a_scale_is_no_key_and_no_origin(tmp_path: pathlib.Path) -> None:
    """A row from before rows said their scale, and the one that replaced it; and a model that has only the old one."""
    path = write(tmp_path, grade(score=3), grade("y"), grade(score=4, scale=[1, 5]))
    read = read_judgments(path)
    assert {rating.model: (rating.value, rating.source.scale) for rating in read.observations} == {
        "x": (4, (1, 5)),
        "y": (8, None),
    }
    assert read.replaced == 1
    assert len(read.observations.sources()) == 1


def test_a_template_is_no_key(tmp_path: pathlib.Path) -> None:
    """A question judged with and without reference is judged twice."""
    rows = grade(judge=["gpt-4", "single-v1"]), grade(judge=["gpt-4", "single-math-v1"], score=3)
    assert [r.value for r in read_judgments(write(tmp_path, *rows)).observations] == [3]


# Oddities


def test_ids_in_quotes_are_the_same_ids(tmp_path: pathlib.Path) -> None:
    read = read_judgments(write(tmp_path, grade(question=1), grade(question="1", score=2)))
    assert [(r.question_id, r.value) for r in read.observations] == [(1, 2)]


def test_empty_judgments_unsorted_and_missing_rows(tmp_path: pathlib.Path) -> None:
    rows = grade(question=9, score=-1, judgment="", user_prompt=""), grade(question=2, score=7.5), grade(question=5)
    read = read_judgments(write(tmp_path, *rows))
    assert [(r.question_id, r.value) for r in read.observations] == [(9, None), (2, 7.5), (5, 8)]


def test_unknown_fields_are_ignored(tmp_path: pathlib.Path) -> None:
    read = read_judgments(write(tmp_path, grade(extra={"deep": [1]}), grade(question=2, reason="tie")))
    assert len(read.observations) == 2


def test_a_torn_last_line_is_left_out(tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path, grade())
    with path.open("a") as file:
        file.write('{"question_id": 2, "mod')
    assert len(read_judgments(path).observations) == 1
    assert "judgments.jsonl:2: not valid JSON" in caplog.text


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        pytest.param(
            [{"question_id": 1}], r"jsonl:1: neither a grade \(model, score\), a pair .* nor a vote", id="neither"
        ),
        pytest.param(
            [grade(), {"question_id": 1, "model": "x"}], r"jsonl:2: the field '\w+' is missing", id="half-a-grade"
        ),
        pytest.param([{"score": 5, "question_id": 1}], r"jsonl:1: the field '\w+' is missing", id="score-only"),
        pytest.param([{"model_1": "x", "question_id": 1}], r"jsonl:1: the field '\w+' is missing", id="half-a-pair"),
        pytest.param(
            [{"question_id": 1, "turn": 1, "model_1": "x", "model_2": "y", "winner": "model_1", "judge": "ann"}],
            r"jsonl:1: a row with winner is a vote, whose models are model_a and model_b, not model_1 and model_2",
            id="a-vote-with-a-pair's-names",
        ),
        pytest.param([{"winner": "tie"}], r"jsonl:1: the field '\w+' is missing", id="half-a-vote"),
        pytest.param(
            [grade(), pair("x", "y", "tie", "tie")], r"jsonl:2: grades and pairs in one file; split it", id="both"
        ),
    ],
)
def test_what_is_no_judgment_file(rows: list[dict[str, Any]], message: str, tmp_path: pathlib.Path) -> None:
    with pytest.raises(DataError, match=message):
        read_judgments(write(tmp_path, *rows))


# What one table may hold


OURS: dict[str, Any] = {"judge_set": "mt_bench", "judge_set_version": "1"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"judge": "gpt-5"}, "choose one with --judge-model: gpt-4, gpt-5", id="judges"),
        pytest.param(OURS, "choose one with --judge-set: mt_bench 1, unstated", id="judge-sets"),
        pytest.param(
            {"sampling": {"temperature": 1, "seed": 2}},
            "judge's sampling: seed=2 temperature=1, unstated",
            id="sampling",
        ),
        pytest.param({"sample": 1}, "choose one with --sample: 0, 1", id="samples"),
        pytest.param({"criterion": "tone"}, "choose one with --criterion: score, tone", id="criteria"),
    ],
)
def test_what_is_not_comparable_is_refused(changes: dict[str, Any], message: str, tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, grade(), grade(question=2, **changes))
    with pytest.raises(UsageError, match=rf"judgments\.jsonl mixes judgments that are not comparable, .*{message}$"):
        one_source(Query(), read_judgments(path).observations, path)


def test_two_versions_of_a_judge_set_are_two_judge_sets(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, grade(**OURS), grade(question=2, **{**OURS, "judge_set_version": "2"}))
    ratings = read_judgments(path).observations
    with pytest.raises(UsageError, match="--judge-set: mt_bench 1, mt_bench 2"):
        one_source(Query(judge_set="mt_bench"), ratings, path)
    assert len(one_source(Query(judge_set="mt_bench 2"), ratings, path)) == 1


def test_the_judge_and_judge_set_asked_for_are_taken(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, grade(), grade(score=1, judge="gpt-5"), grade(score=2, judge="gpt-5", **OURS))
    ratings = read_judgments(path).observations
    assert [r.value for r in one_source(Query(judges=("gpt-4",)), ratings, path)] == [8]
    assert [r.value for r in one_source(Query(judges=("gpt-5",), judge_set="unstated"), ratings, path)] == [1]
    assert [r.value for r in one_source(Query(judge_set="mt_bench"), ratings, path)] == [2]
    assert [r.value for r in one_source(Query(judge_set="mt_bench 1"), ratings, path)] == [2]


def test_a_judge_that_is_not_there_is_told_who_is(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, grade(), grade(question=2))
    with pytest.raises(UsageError, match=r"matches --judge-model o3; there are: judge gpt-4, judge set unstated$"):
        one_source(Query(judges=("o3",)), read_judgments(path).observations, path)
    with pytest.raises(UsageError, match="matches --judge-set mt_bench; there are"):
        one_source(Query(judge_set="mt_bench"), read_judgments(path).observations, path)


def test_two_wordings_of_a_question_are_refused(tmp_path: pathlib.Path) -> None:
    made: list[dict[str, Any]] = [{"made_from": {"question": name}} for name in ("old", "new")]
    path = write(tmp_path, grade("x", **made[0]), grade("y", **made[1]))
    with pytest.raises(UsageError, match=r"two versions of question 1, .*; run gen_judgment again for all models"):
        one_wording(read_judgments(path).observations, path)
    same = write(tmp_path, grade("x", **made[0]), grade("y", **made[0]), grade("z"), grade("y", 2, **made[1]))
    one_wording(read_judgments(same).observations, same)


def voters(votes: Iterable[Observation]) -> list[str | None]:
    return [v.source.judge for v in votes]


def test_voters_are_left_out_by_pattern(tmp_path: pathlib.Path) -> None:
    names = ["author_0", "expert_0", "Author_1", "expert_1"]
    votes = read_judgments(write(tmp_path, *(vote("x", "y", "tie", judge=name) for name in names))).observations
    assert voters(without_voters(votes, [])) == names
    assert voters(without_voters(votes, ["author*"])) == ["expert_0", "Author_1", "expert_1"]
    assert voters(without_voters(votes, ["*uthor*", "*_1"])) == ["expert_0"]


def test_one_voter_can_be_chosen(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path, vote("x", "y", "tie", judge="b"), vote("x", "y", "tie", judge="a"))
    read = read_judgments(path)
    assert voters(chosen(Query(judges=("a",)), read, path).observations) == ["a"]
    assert voters(chosen(Query(), read, path).observations) == ["b", "a"]
    with pytest.raises(UsageError, match="holds no vote by c; there are: a, b"):
        chosen(Query(judges=("c",)), read, path)


# The published files


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "ratings", "failed", "floats"),
    [
        ("model_judgment/gpt-4_single.scores_only.jsonl", 5440, 4, 38),
        ("other_runs/medusa_gpt-4_single.jsonl", 480, 0, 6),
        ("other_runs/stefanstud_gpt-4_single.jsonl", 160, 0, 0),
        ("other_runs/jxiw_gpt-4_single.jsonl", 960, 0, 14),
    ],
)
def test_published_grades_are_read(
    name: str, ratings: int, failed: int, floats: int, reference_data: pathlib.Path
) -> None:
    read = read_judgments(reference_data / "mt_bench" / name)
    assert (len(read.observations), read.form, read.replaced) == (ratings, "grade", 0)
    assert sum(r.value is None for r in read.observations) == failed
    assert sum(r.value is not None and r.value % 1 > 0 for r in read.observations) == floats
    assert len(one_source(Query(), read.observations, reference_data)) == ratings


@pytest.mark.reference
@pytest.mark.parametrize(
    ("name", "pairs", "failed", "replaced"),
    [
        ("other_runs/stefanstud_gpt-4_pair.jsonl", 75, 2, 0),
        ("other_runs/ku-nlp_japanese-vicuna_gpt-4_pair.jsonl", 400, 1, 0),
        ("human_judgment/gpt4_pair.jsonl", 2400, 0, 0),
        # One author voted on the same pair in both orders.
        ("human_judgment/human.jsonl", 3354, 0, 1),
    ],
)
def test_published_pairs_and_votes_are_read(
    name: str, pairs: int, failed: int, replaced: int, reference_data: pathlib.Path
) -> None:
    read = read_judgments(reference_data / "mt_bench" / name)
    assert (len(read.observations), read.form, read.replaced) == (pairs, "pair", replaced)
    assert sum(None in c.games for c in read.observations) == failed


@pytest.mark.parametrize(
    ("stated", "scale"),
    [
        pytest.param({"scale": [1, 5], "judge_set": "mine"}, (1, 5), id="as the rows state it"),
        pytest.param({"judge_set": "mine"}, None, id="unknown"),
        pytest.param({}, (1, 10), id="rows of FastChat's layout"),
        pytest.param({"judge_set": "mt_bench", "judge_set_version": "1"}, (1, 10), id="the benchmark's own judge set"),
    ],
)
def test_the_scale_of_all_grades(
    stated: dict[str, Any], scale: tuple[float, float] | None, tmp_path: pathlib.Path
) -> None:
    assert read_judgments(write(tmp_path, grade(**stated), grade("y", **stated))).observations.scale() == scale
