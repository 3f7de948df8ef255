"""Records as they stand in files: FastChat's field names, round trips, and what is read from others."""

import json
import pathlib
from dataclasses import replace
from typing import Any

import pytest

from harness.errors import DataError
from harness.records import (
    Answer,
    Choice,
    Judgment,
    Label,
    MadeFrom,
    Match,
    Message,
    Parsed,
    Question,
    Reply,
    Request,
    Sampling,
    Score,
    Scores,
    Usage,
    Verdict,
    Winner,
)
from harness.rows import (
    FAILED_TEXT,
    answer_from_row,
    answer_to_row,
    comparison_from_row,
    is_good_answer,
    made_from_row,
    pair_to_row,
    question_from_row,
    question_id,
    rating_from_row,
    single_to_row,
    winning_side,
)
from tests.observed import Origin

PATH = pathlib.Path("some.jsonl")
QUESTION = Question(7, "stem", ("What melts ice?", "And what freezes water?"))
MADE = MadeFrom("q", "c", None, "t", "p")


def judgment(verdict: Verdict | None, *models: str, game: Any = 1, **more: Any) -> Judgment:
    """Return a judgment of turn 2 that was shown the models in this order."""
    request = Request((Message("system", "Be fair."), Message("user", f"Judge {models}.")), Sampling(temperature=0.0))
    made: dict[str, Any] = {
        "match": Match(QUESTION, 2, models, game=game),
        "judge": "gpt-4",
        "judge_set": "mt_bench",
        "judge_set_version": "1",
        "template": "pair-v2-multi-turn" if len(models) == 2 else "single-v1-multi-turn",
        "request": request,
        "attempts": (Reply(f"words on {models}"),),
        "parsed": Parsed(verdict, "because"),
        "made_from": MADE,
    }
    return Judgment(**{**made, **more})


def on_disk(row: dict[str, Any]) -> dict[str, Any]:
    """Return the row as it is read back."""
    back: dict[str, Any] = json.loads(json.dumps(row))
    return back


def good_row(kind: str, **changes: Any) -> dict[str, Any]:
    """Return the row of another tool, with changes; a value of ... takes the field out."""
    rows: dict[str, dict[str, Any]] = {
        "question": {"question_id": 7, "category": "stem", "turns": ["What melts ice?"]},
        "answer": {"question_id": 7, "choices": [{"index": 0, "turns": ["Salt."]}]},
        "single": {"question_id": 7, "model": "x", "judge": ["gpt-4", "single-v1"], "score": 8, "turn": 1},
        "pair": {
            "question_id": 7,
            "model_1": "x",
            "model_2": "y",
            "g1_winner": "model_1",
            "g2_winner": "tie",
            "judge": ["gpt-4", "pair-v2"],
            "turn": 1,
        },
        "vote": {
            "question_id": 7,
            "model_a": "x",
            "model_b": "y",
            "winner": "model_b",
            "judge": "expert_1",
            "turn": 1,
        },
    }
    return {name: value for name, value in {**rows[kind], **changes}.items() if value is not ...}


# What FastChat's tools read, to the letter


def test_an_answer_has_the_fields_of_fastchat() -> None:
    answer = Answer(7, "org/x", (Choice(0, (Reply("Salt."), Reply("Cold."))),), answer_id="abc", tstamp=1.5)
    row = answer_to_row(answer)
    assert list(row)[:5] == ["question_id", "answer_id", "model_id", "choices", "tstamp"]
    assert (row["question_id"], row["answer_id"], row["model_id"], row["tstamp"]) == (7, "abc", "org/x", 1.5)
    assert row["choices"][0]["index"] == 0
    assert row["choices"][0]["turns"] == ["Salt.", "Cold."]


def test_a_grade_has_the_fields_of_fastchat() -> None:
    row = on_disk(single_to_row(judgment(Score(8), "x"), tstamp=2.5))
    assert {name: row[name] for name in list(row)[:8]} == {
        "question_id": 7,
        "model": "x",
        "judge": ["gpt-4", "single-v1-multi-turn"],
        "user_prompt": "Judge ('x',).",
        "judgment": "words on ('x',)",
        "score": 8,
        "turn": 2,
        "tstamp": 2.5,
    }


def test_a_pair_has_the_fields_of_fastchat() -> None:
    games = judgment(Winner("A"), "x", "y"), judgment(Winner("tie"), "y", "x", game=2)
    row = on_disk(pair_to_row(*games, tstamp=2.5))
    assert {name: row[name] for name in list(row)[:12]} == {
        "question_id": 7,
        "model_1": "x",
        "model_2": "y",
        "g1_winner": "model_1",
        "g2_winner": "tie",
        "judge": ["gpt-4", "pair-v2-multi-turn"],
        "g1_user_prompt": "Judge ('x', 'y').",
        "g1_judgment": "words on ('x', 'y')",
        "g2_user_prompt": "Judge ('y', 'x').",
        "g2_judgment": "words on ('y', 'x')",
        "turn": 2,
        "tstamp": 2.5,
    }


def test_what_made_a_judgment_stands_beside_it() -> None:
    row = on_disk(single_to_row(judgment(Score(8), "x"), 2.5))
    assert (row["judge_set"], row["judge_set_version"], row["sample"], row["choice"]) == ("mt_bench", "1", 0, 0)
    assert row["criterion"] is None
    assert row["system_prompt"] == "Be fair."
    assert row["sampling"] == {"temperature": 0.0}
    assert made_from_row(row) == MADE
    assert row["details"][0]["verdict_reason"] == "because"
    assert "earlier_attempts" not in row["details"][0]


def test_every_attempt_is_kept() -> None:
    row = single_to_row(judgment(Score(8), "x", attempts=(Reply("hm"), Reply("Rating: [[8]]"))), 2.5)
    assert row["judgment"] == "Rating: [[8]]"
    assert [attempt["judgment"] for attempt in row["details"][0]["earlier_attempts"]] == ["hm"]


@pytest.mark.parametrize(
    ("first", "second", "winners"),
    [
        pytest.param(Winner("A"), Winner("B"), ("model_1", "model_1"), id="model_1-twice"),
        pytest.param(Winner("B"), Winner("A"), ("model_2", "model_2"), id="model_2-twice"),
        pytest.param(Winner("A"), Winner("A"), ("model_1", "model_2"), id="the-first-shown"),
        pytest.param(Winner("tie"), None, ("tie", "error"), id="error-on-one-game"),
        pytest.param(Scores({"A": 8, "B": 7}), Scores({"A": 7, "B": 7.05}), ("model_1", "tie"), id="scores"),
        pytest.param(Score(8), Winner("B"), ("error", "model_1"), id="a-grade-is-no-winner"),
    ],
)
def test_winners_are_named_by_model_whatever_was_shown_first(
    first: Verdict, second: Verdict | None, winners: tuple[str, str]
) -> None:
    row = pair_to_row(judgment(first, "x", "y"), judgment(second, "y", "x", game=2), 0.0)
    assert (row["g1_winner"], row["g2_winner"]) == winners


@pytest.mark.parametrize(
    ("one", "other", "side"),
    [
        pytest.param(8.0, 7.0, "A", id="more"),
        pytest.param(7.0, 8.0, "B", id="less"),
        pytest.param(7.0, 7.1, "tie", id="by-a-tenth"),
        pytest.param(0.0, 0.1, "tie", id="by-exactly-a-tenth"),
        pytest.param(7.0, 7.2, "B", id="by-two-tenths"),
    ],
)
def test_two_scores_within_a_tenth_are_a_tie(one: float, other: float, side: str) -> None:
    assert winning_side(Scores({"A": one, "B": other})) == side


# There and back


def test_an_answer_comes_back_whole() -> None:
    reply = Reply(
        "Salt.",
        reasoning="ions",
        finish_reason="length",
        usage=Usage(prompt_tokens=10, completion_tokens=3),
        seconds=1.25,
        model="x-2024",
        applied={"temperature": 0.0},
        note="as builtin/outline",
    )
    answer = Answer(
        question_id=7,
        model="org/x",
        choices=(Choice(0, (reply, Reply(""))), Choice(1, (Reply("模型\n"), reply))),
        asked=Sampling(temperature=0.0, max_tokens=5),
        system="Be short.",
        question_content="abc",
        parameters_content="def",
        answer_id="id",
        tstamp=1.5,
    )
    assert answer_from_row(on_disk(answer_to_row(answer)), PATH, 1, model="org/x") == answer


@pytest.mark.parametrize(
    ("verdict", "score"),
    [
        pytest.param(Score(8), 8, id="whole"),
        pytest.param(Score(7.5), 7.5, id="half"),
        pytest.param(None, None, id="no-verdict"),
    ],
)
def test_a_grade_comes_back(verdict: Verdict | None, score: float | None) -> None:
    row = on_disk(single_to_row(judgment(verdict, "x"), 2.5))
    assert row["score"] == (-1 if score is None else score)
    rating = rating_from_row(row, PATH, 1)
    assert (rating.question_id, rating.turn, rating.model, rating.score) == (7, 2, "x", score)
    assert rating.origin == Origin("gpt-4", "mt_bench 1", "temperature=0")
    assert (rating.template, rating.question_content) == ("single-v1-multi-turn", "q")


@pytest.mark.parametrize("verdict", [Score(4), None], ids=["graded", "no-verdict"])
def test_the_scale_of_a_grade_comes_back(verdict: Verdict | None) -> None:
    row = on_disk(single_to_row(judgment(verdict, "x", scale=(1, 5)), 2.5))
    assert row["scale"] == [1, 5]
    assert rating_from_row(row, PATH, 1).scale == (1, 5)


def test_what_is_not_graded_has_no_scale() -> None:
    assert "scale" not in single_to_row(judgment(Label("YES"), "x", shares={"YES": 1.0, "NO": 0.0}), 2.5)


def test_a_pair_comes_back() -> None:
    row = on_disk(pair_to_row(judgment(Winner("A"), "x", "y"), judgment(None, "y", "x", game=2), 2.5))
    pair = comparison_from_row(row, PATH, 1)
    assert (pair.question_id, pair.turn, pair.model_1, pair.model_2) == (7, 2, "x", "y")
    assert pair.winners == ("model_1", None)
    assert pair.origin == Origin("gpt-4", "mt_bench 1", "temperature=0")
    assert pair.voter is None


def test_a_judge_without_sampling_is_not_unstated() -> None:
    row = good_row("single", judge_set="s", judge_set_version="2", sampling={})
    assert rating_from_row(row, PATH, 1).origin == Origin("gpt-4", "s 2", "default")


# What others wrote


@pytest.mark.parametrize(
    ("value", "known_as"),
    [
        pytest.param(81, 81, id="number"),
        pytest.param("81", 81, id="text-of-a-number"),
        pytest.param("0", 0, id="zero"),
        pytest.param("-5", -5, id="negative"),
        pytest.param("081", "081", id="leading-zero-is-text"),
        pytest.param("q81", "q81", id="text"),
        pytest.param("٣", "٣", id="other-digits-are-text"),
        pytest.param("9" * 5000, "9" * 5000, id="no-number-so-long"),
    ],
)
def test_an_id_that_is_a_number_in_quotes_is_the_number(value: int | str, known_as: int | str) -> None:
    assert question_id(value) == known_as
    assert question_from_row(good_row("question", question_id=value), PATH, 1).question_id == known_as


def test_a_question_keeps_every_further_field() -> None:
    row = good_row("question", reference=["Salt."], subject="ice")
    question = question_from_row(row, PATH, 1)
    assert (question.reference, question.extra) == (("Salt.",), {"subject": "ice"})


@pytest.mark.parametrize(
    ("value", "reference"),
    [("Salt.", ("Salt.",)), (["a", "b"], ("a", "b")), (None, ()), ([], ()), (..., ())],
    ids=["text", "list", "null", "empty", "absent"],
)
def test_a_reference_of_a_question_may_be_text_or_list(value: Any, reference: tuple[str, ...]) -> None:
    assert question_from_row(good_row("question", reference=value), PATH, 1).reference == reference


def test_an_answer_of_fastchat_is_read_with_the_rest_unstated() -> None:
    row = good_row("answer", answer_id="abc", model_id="another", tstamp=1.5)
    assert answer_from_row(row, PATH, 1, model="x") == Answer(
        7, "x", (Choice(0, (Reply("Salt."),)),), answer_id="abc", tstamp=1.5
    )


def test_an_empty_answer_is_an_answer() -> None:
    answer = answer_from_row(good_row("answer", choices=[{"index": 0, "turns": ["", ""]}]), PATH, 1, model="x")
    assert answer is not None
    assert answer.choices[0].turns == ("", "")


@pytest.mark.parametrize("turns", [[FAILED_TEXT, FAILED_TEXT], ["Salt.", FAILED_TEXT]])
def test_an_error_text_is_no_answer(turns: list[str]) -> None:
    row = good_row("answer", choices=[{"index": 0, "turns": turns}])
    assert answer_from_row(row, PATH, 1, model="x") is None
    assert not is_good_answer(row)


def test_an_answer_about_errors_is_an_answer() -> None:
    row = good_row("answer", choices=[{"index": 0, "turns": [f"The text {FAILED_TEXT} stands for a failure."]}])
    assert answer_from_row(row, PATH, 1, model="x") is not None
    assert is_good_answer(row)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"made_from": "a script"}, id="made_from"),
        pytest.param({"sampling": [0.7]}, id="sampling"),
        pytest.param({"system_prompt": 1, "answer_id": 5, "tstamp": "today"}, id="texts-and-numbers"),
        pytest.param({"choices": [{"index": "0", "turns": ["Salt."], "details": ["x"]}]}, id="details"),
        pytest.param({"choices": [{"turns": ["Salt."], "details": [{"usage": 5, "seconds": "1"}]}]}, id="usage"),
        pytest.param({"choices": [{"turns": ["Salt."], "details": [{}, {}, {}]}]}, id="too-many-details"),
    ],
)
def test_fields_of_ours_that_mean_something_else_elsewhere_are_unstated(changes: dict[str, Any]) -> None:
    answer = answer_from_row(good_row("answer", **changes), PATH, 1, model="x")
    assert answer == Answer(7, "x", (Choice(0, (Reply("Salt."),)),))


def test_the_same_in_judgments() -> None:
    changes = {"sample": {"a": 1}, "criterion": ["c"], "sampling": "greedy", "made_from": 3, "choice": None}
    changes["scale"] = "1-10"
    plain = rating_from_row(good_row("single"), PATH, 1)
    assert rating_from_row(good_row("single", **changes), PATH, 1) == plain
    assert plain.origin == Origin("gpt-4")
    pair = comparison_from_row(good_row("pair"), PATH, 1)
    assert comparison_from_row(good_row("pair", **changes), PATH, 1) == pair


@pytest.mark.parametrize(
    "scale", [None, 5, "15", [], [1], [1, 2, 3], [1, None], [True, 5], ["1", 5], [5, 1], [1, 1], [1, 10**400], {"1": 5}]
)
def test_a_scale_that_is_none_is_unstated(scale: Any) -> None:
    assert rating_from_row(good_row("single", scale=scale), PATH, 1) == rating_from_row(good_row("single"), PATH, 1)


@pytest.mark.parametrize(
    ("judge", "name", "template"),
    [
        pytest.param(["gpt-4", "single-v1"], "gpt-4", "single-v1", id="list"),
        pytest.param("gpt-4", "gpt-4", None, id="text"),
        pytest.param(["gpt-4"], "gpt-4", None, id="list-of-one"),
    ],
)
def test_a_judge_is_a_list_or_a_text(judge: Any, name: str, template: str | None) -> None:
    rating = rating_from_row(good_row("single", judge=judge), PATH, 1)
    assert (rating.origin.judge, rating.template) == (name, template)


@pytest.mark.parametrize(
    ("score", "read"),
    [(8, 8), (7.5, 7.5), (0, 0), (-1, None), (-1.0, None), (None, None)],
    ids=["int", "float", "zero", "failed", "failed-float", "null"],
)
def test_scores_are_ints_or_floats_and_minus_one_is_none(score: Any, read: float | None) -> None:
    assert rating_from_row(good_row("single", score=score), PATH, 1).score == read


def test_error_on_one_game_only_is_no_verdict_of_that_game() -> None:
    pair = comparison_from_row(good_row("pair", g2_winner="error"), PATH, 1)
    assert pair.winners == ("model_1", None)


@pytest.mark.parametrize(
    ("winner", "read"),
    [
        ("model_a", "model_1"),
        ("model_b", "model_2"),
        ("tie", "tie"),
        ("tie (inconsistent)", "tie"),
        ("tie (bothbad)", "tie"),
        ("error", None),
    ],
)
def test_the_winner_of_a_vote(winner: str, read: str | None) -> None:
    vote = comparison_from_row(good_row("vote", winner=winner), PATH, 1)
    assert (vote.model_1, vote.model_2, vote.winners) == ("x", "y", (read,))
    assert (vote.voter, vote.origin) == ("expert_1", Origin("votes"))


# What is wrong


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"question_id": ...}, "the field 'question_id' is missing; add it", id="no-id"),
        pytest.param({"question_id": None}, "question_id must be a whole number or a text, this is None", id="null"),
        pytest.param({"question_id": 1.5}, r"question_id must be .* this is 1\.5", id="fraction"),
        pytest.param({"question_id": True}, "question_id must be .* this is True", id="bool"),
        pytest.param({"question_id": " "}, "question_id must be .* this is ' '", id="blank-id"),
        pytest.param({"question_id": [7]}, r"question_id must be .* this is \[7\]", id="list"),
        pytest.param({"category": ...}, "the field 'category' is missing", id="no-category"),
        pytest.param({"category": " "}, "category must be a text that is not empty, this is ' '", id="blank-category"),
        pytest.param({"category": 5}, "category must be a text", id="category-number"),
        pytest.param({"turns": ...}, "the field 'turns' is missing", id="no-turns"),
        pytest.param(
            {"turns": []}, r"turns must be a list of at least one text, this is \[\] \(question 7\)", id="none"
        ),
        pytest.param({"turns": "What?"}, "turns must be a list of at least one text, this is 'What", id="turns-text"),
        pytest.param(
            {"turns": ["a", " "]}, "turn 2 of question 7 must be a text that is not empty, this is ' '", id="empty"
        ),
        pytest.param(
            {"turns": ["a", 5]}, "turn 2 of question 7 must be a text that is not empty, this is 5", id="number"
        ),
        pytest.param(
            {"reference": [1]}, r"reference of question 7 must be a list of texts, this is \[1\]", id="reference"
        ),
        pytest.param(
            {"checks": [[], [], []]}, "question 7: checks must be a list of . lists, one for each turn", id="checks"
        ),
        pytest.param(
            {"turns": ["a", "b"], "checks": [[], [{"kind": "count", "off": 1}]]},
            "question 7: check 1 of turn 2: count takes no 'off'; did you mean 'of'",
            id="check",
        ),
        pytest.param(
            {"note": ["a", "b", "c"]}, r"note of question 7 must be a list of . texts or nulls, this is", id="note"
        ),
        pytest.param({"turns": 10**80}, r"turns must be .* this is 1000+\.\.\.", id="long-values-are-cut"),
    ],
)
def test_a_question_that_is_none(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=rf"^some\.jsonl:3: {message}"):
        question_from_row(good_row("question", **changes), PATH, 3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"question_id": ...}, "the field 'question_id' is missing", id="no-id"),
        pytest.param({"choices": ...}, "the field 'choices' is missing", id="no-choices"),
        pytest.param({"choices": []}, "choices of question 7 must be a list that is not empty", id="empty"),
        pytest.param({"choices": {"turns": []}}, "choices of question 7 must be a list", id="object"),
        pytest.param({"choices": ["Salt."]}, r"choices\[0\]\.turns must be a list of texts", id="text"),
        pytest.param({"choices": [{"index": 0}]}, r"choices\[0\]\.turns must be .* this is None", id="no-turns"),
        pytest.param({"choices": [{"turns": []}]}, r"choices\[0\]\.turns must be", id="no-turn"),
        pytest.param({"choices": [{"turns": [None]}]}, r"choices\[0\]\.turns must be .* \[None\]", id="null-turn"),
        pytest.param({"choices": [{"turns": ["a"]}, {"turns": "a"}]}, r"choices\[1\]\.turns", id="the-second"),
    ],
)
def test_an_answer_that_is_none(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=rf"^some\.jsonl:3: {message}"):
        answer_from_row(good_row("answer", **changes), PATH, 3, model="x")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        pytest.param({"question_id": ...}, "the field 'question_id' is missing", id="no-id"),
        pytest.param({"model": ...}, "the field 'model' is missing", id="no-model"),
        pytest.param({"model": ""}, "model must be a text that is not empty, this is ''", id="empty-model"),
        pytest.param({"model": ["x"]}, "model must be a text", id="model-list"),
        pytest.param({"judge": ...}, "the field 'judge' is missing", id="no-judge"),
        pytest.param({"judge": []}, r'judge must be \["model", "template"\] or a text, this is \[\]', id="empty-judge"),
        pytest.param({"judge": 4}, "judge must be", id="judge-number"),
        pytest.param({"judge": ["", "single-v1"]}, "judge must be", id="judge-without-name"),
        pytest.param({"score": ...}, "the field 'score' is missing", id="no-score"),
        pytest.param({"score": "8"}, "score must be a number, -1 where there is none, this is '8'", id="score-text"),
        pytest.param({"score": True}, "score must be a number", id="score-bool"),
        pytest.param({"score": float("nan")}, "score must be a number, .* this is nan", id="nan"),
        pytest.param({"score": float("inf")}, "score must be a number, .* this is inf", id="infinite"),
        pytest.param({"score": 1e308}, "score must be a number", id="overflowing"),
        pytest.param({"score": -(2**53) - 1}, "score must be a number", id="inexact"),
        pytest.param({"score": 10**400}, "score must be a number", id="huge"),
        pytest.param({"turn": ...}, "the field 'turn' is missing", id="no-turn"),
        pytest.param({"turn": 0}, "turn must be a whole number from 1, this is 0", id="turn-zero"),
        pytest.param({"turn": "1"}, "turn must be a whole number from 1, this is '1'", id="turn-text"),
        pytest.param({"turn": True}, "turn must be", id="turn-bool"),
    ],
)
def test_a_grade_that_is_none(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=rf"^some\.jsonl:3: {message}"):
        rating_from_row(good_row("single", **changes), PATH, 3)


@pytest.mark.parametrize(
    ("kind", "changes", "message"),
    [
        pytest.param("pair", {"model_2": ...}, "the field 'model_2' is missing", id="no-model"),
        pytest.param("pair", {"g1_winner": ...}, "the field 'g1_winner' is missing", id="no-first-winner"),
        pytest.param("pair", {"g2_winner": ...}, "the field 'g2_winner' is missing", id="no-second-winner"),
        pytest.param(
            "pair",
            {"g2_winner": "x"},
            "g2_winner must be one of model_1, model_2, tie, error, this is 'x'",
            id="a-name",
        ),
        pytest.param("pair", {"g1_winner": ["tie"]}, "g1_winner must be one of", id="winner-list"),
        pytest.param("pair", {"turn": ...}, "the field 'turn' is missing", id="no-turn"),
        pytest.param("vote", {"winner": ...}, "the field 'winner' is missing", id="no-vote"),
        pytest.param(
            "vote", {"winner": "x"}, "winner must be model_a, model_b, error or begin with tie", id="vote-name"
        ),
        pytest.param("vote", {"model_b": None}, "model_b must be a text", id="null-model"),
    ],
)
def test_a_pair_that_is_none(kind: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=rf"^some\.jsonl:3: {message}"):
        comparison_from_row(good_row(kind, **changes), PATH, 3)


def test_rows_of_other_tools_carry_no_hashes() -> None:
    assert made_from_row(good_row("single")) is None
    assert made_from_row(good_row("single", made_from="a script")) is None
    assert made_from_row({"made_from": {"question": "q"}}) != replace(MADE, question="q")
