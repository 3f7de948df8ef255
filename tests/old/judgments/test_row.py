"""One row of a judgment or vote file: round trips, what others wrote, and what is wrong, each named with its line."""

import pathlib
from typing import Any

import pytest

from harness.old.errors import DataError
from harness.old.judgments.case import SCORE, SHARE, TOTAL, changed
from harness.old.judgments.judgment import Label, MadeFrom, Score, Scores, Verdict, Winner
from harness.old.judgments.row import JudgedRow, is_good_judgment, judged_row, judged_rows, row_key, rows_without_verdict
from harness.old.judgments.writing import pair_to_row, single_to_row
from harness.old.records import Games, Source
from harness.old.rows import FAILED_TEXT
from tests.old.judged import MADE, judgment, on_disk
from tests.old.small_bench import write

PATH = pathlib.Path("some.jsonl")


def good_row(kind: str, **changes: Any) -> dict[str, Any]:
    """Return the row of another tool, with changes; a value of ... takes the field out."""
    rows: dict[str, dict[str, Any]] = {
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


def read(row: dict[str, Any], line: int = 1) -> JudgedRow:
    return judged_row(row, PATH, line)


# There and back


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
    grade = read(row)
    assert (grade.question_id, grade.turn, grade.models, grade.numbers.get(SCORE)) == (7, 2, ("x",), score)
    assert grade.source == Source("gpt-4", judge_set="mt_bench", version="1", sampling="temperature=0")
    assert (grade.template, grade.content, grade.made_from) == ("single-v1-multi-turn", "q", MADE)
    assert (grade.good, grade.unparsed) == (True, score is None)


def test_the_words_of_a_grade_come_back() -> None:
    grade = read(on_disk(single_to_row(judgment(Score(8), "x"), 2.5)))
    (words,) = grade.words
    assert words[:3] == ("", "Judge ('x',).", "words on ('x',)")
    assert words.details["verdict_reason"] == "because"
    assert (grade.system_prompt, grade.sampling, grade.winner) == ("Be fair.", {"temperature": 0.0}, None)


@pytest.mark.parametrize("verdict", [Score(4), None], ids=["graded", "no-verdict"])
def test_the_scale_of_a_grade_comes_back(verdict: Verdict | None) -> None:
    row = on_disk(single_to_row(judgment(verdict, "x", scale=(1, 5)), 2.5))
    assert row["scale"] == [1, 5]
    assert read(row).source.scale == (1, 5)


def test_what_is_not_graded_has_no_scale() -> None:
    assert "scale" not in single_to_row(judgment(Label("YES"), "x", shares={"YES": 1.0, "NO": 0.0}), 2.5)


def test_a_pair_comes_back() -> None:
    row = on_disk(pair_to_row(judgment(Winner("A"), "x", "y"), judgment(None, "y", "x", game=2), tstamp=2.5))
    pair = read(row)
    assert (pair.question_id, pair.turn, pair.models) == (7, 2, ("x", "y"))
    assert pair.games == (1.0, None)
    assert pair.source == Source("gpt-4", judge_set="mt_bench", version="1", sampling="temperature=0", form="pair")
    assert (pair.good, pair.unparsed, pair.shown_first) == (True, True, None)
    assert [words[:3] for words in pair.words] == [
        ("g1_", "Judge ('x', 'y').", "words on ('x', 'y')"),
        ("g2_", "Judge ('y', 'x').", "words on ('y', 'x')"),
    ]


@pytest.mark.parametrize(("game", "prefix", "shown_first"), [(1, "g1_", "x"), (2, "g2_", "y")])
def test_a_pair_in_one_order_comes_back_with_the_model_that_was_shown_first(
    game: Any, prefix: str, shown_first: str
) -> None:
    shown = ("x", "y") if game == 1 else ("y", "x")
    pair = read(on_disk(pair_to_row(judgment(Winner("A"), *shown, game=game), tstamp=2.5)))
    assert (pair.models, pair.shown_first) == (("x", "y"), shown_first)
    assert pair.games == ((1.0,) if game == 1 else (0.0,))
    assert [words.prefix for words in pair.words] == [prefix]


def test_a_label_comes_back_with_its_share() -> None:
    row = on_disk(single_to_row(judgment(Label("YES"), "x", shares={"YES": 1.0, "NO": 0.0}), 2.5))
    label = read(row)
    assert (label.source.form, label.numbers, label.unparsed) == ("label", {"YES": 1.0, SHARE: 1.0}, False)
    without = read(on_disk(single_to_row(judgment(None, "x", shares={"YES": 1.0, "NO": 0.0}), 2.5)))
    assert (without.source.form, without.numbers, without.unparsed) == ("label", {}, True)


def test_dimensions_come_back_with_their_total() -> None:
    row = single_to_row(judgment(Scores({"a": 3.0, "all": 4.0}), "x", dimensions=("a", "all"), total="all"), 2.5)
    several = read(on_disk(row))
    assert (several.source.form, several.numbers) == ("dimensions", {"a": 3.0, "all": 4.0, TOTAL: 4.0})


def test_rows_of_one_match_have_one_key_in_either_order() -> None:
    assert row_key(good_row("pair")) == row_key(good_row("pair", model_1="y", model_2="x"))
    assert row_key(good_row("single")) == row_key(good_row("single", question_id="7", judge="gpt-4"))
    assert row_key(good_row("single")) == (7, 1, ("x",), None, 0, 0)


def test_a_judge_without_sampling_is_not_unstated() -> None:
    row = good_row("single", judge_set="s", judge_set_version="2", sampling={})
    assert read(row).source == Source("gpt-4", judge_set="s", version="2", sampling="default")


# What others wrote


def test_the_same_in_judgments() -> None:
    changes = {"sample": {"a": 1}, "criterion": ["c"], "sampling": "greedy", "made_from": 3, "choice": None}
    changes["scale"] = "1-10"
    plain = read(good_row("single"))
    assert read(good_row("single", **changes)) == plain
    assert plain.source == Source("gpt-4")
    pair = read(good_row("pair"))
    assert read(good_row("pair", **changes)) == pair


@pytest.mark.parametrize(
    "scale", [None, 5, "15", [], [1], [1, 2, 3], [1, None], [True, 5], ["1", 5], [5, 1], [1, 1], [1, 10**400], {"1": 5}]
)
def test_a_scale_that_is_none_is_unstated(scale: Any) -> None:
    assert read(good_row("single", scale=scale)) == read(good_row("single"))


@pytest.mark.parametrize(
    ("judge", "name", "template"),
    [
        pytest.param(["gpt-4", "single-v1"], "gpt-4", "single-v1", id="list"),
        pytest.param("gpt-4", "gpt-4", None, id="text"),
        pytest.param(["gpt-4"], "gpt-4", None, id="list-of-one"),
    ],
)
def test_a_judge_is_a_list_or_a_text(judge: Any, name: str, template: str | None) -> None:
    grade = read(good_row("single", judge=judge))
    assert (grade.source.judge, grade.template) == (name, template)


@pytest.mark.parametrize(
    ("score", "known_as"),
    [(8, 8), (7.5, 7.5), (0, 0), (-1, None), (-1.0, None), (None, None)],
    ids=["int", "float", "zero", "failed", "failed-float", "null"],
)
def test_scores_are_ints_or_floats_and_minus_one_is_none(score: Any, known_as: float | None) -> None:
    assert read(good_row("single", score=score)).numbers.get(SCORE) == known_as


def test_error_on_one_game_only_is_no_verdict_of_that_game() -> None:
    assert read(good_row("pair", g2_winner="error")).games == (1.0, None)


@pytest.mark.parametrize(
    ("games", "swapped"),
    [
        pytest.param((1.0, 0.0), True, id="the other model"),
        pytest.param((0.5, 1.0), True, id="a tie and a win"),
        pytest.param((1.0, 1.0), False, id="the same model"),
        pytest.param((0.9, 0.6), False, id="weighed, the same model"),
        pytest.param((1.0, None), False, id="no verdict"),
        pytest.param((1.0,), False, id="one game"),
        pytest.param((), False, id="none"),
    ],
)
def test_whether_swapping_changed_the_verdict(games: Games, swapped: bool) -> None:
    assert changed(games) == swapped


@pytest.mark.parametrize(
    ("winner", "value"),
    [
        ("model_a", 1.0),
        ("model_b", 0.0),
        ("tie", 0.5),
        ("tie (inconsistent)", 0.5),
        ("tie (bothbad)", 0.5),
        ("error", None),
    ],
)
def test_the_winner_of_a_vote(winner: str, value: float | None) -> None:
    vote = read(good_row("vote", winner=winner))
    assert (vote.models, vote.games, vote.winner, vote.words) == (("x", "y"), (value,), winner, ())
    assert vote.source == Source("expert_1", voter=True, form="pair")


@pytest.mark.parametrize(
    ("kind", "field"),
    [("single", "judgment"), ("pair", "g1_judgment"), ("pair", "g2_judgment")],
)
def test_an_error_text_is_no_judgment(kind: str, field: str) -> None:
    assert is_good_judgment(good_row(kind))
    assert is_good_judgment(good_row(kind, **{field: "[[5]]"}))
    assert is_good_judgment(good_row(kind, **{field: ""}))
    assert not is_good_judgment(good_row(kind, **{field: FAILED_TEXT}))
    assert not read(good_row(kind, **{field: FAILED_TEXT})).good


# What is wrong


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
        pytest.param({"score": "8"}, "score must be a number, -1 if there is none, this is '8'", id="score-text"),
        pytest.param({"score": True}, "score must be a number", id="score-bool"),
        pytest.param({"score": float("nan")}, "score must be a number, .* this is nan", id="nan"),
        pytest.param({"score": float("inf")}, "score must be a number, .* this is inf", id="infinite"),
        pytest.param(
            {"score": 1e308},
            r"score must be a number from -9007199254740992 to 9007199254740992, -1 wh",
            id="overflowing",
        ),
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
        read(good_row("single", **changes), 3)


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
        read(good_row(kind, **changes), 3)


def test_rows_of_other_tools_carry_no_hashes() -> None:
    assert read(good_row("single")).made_from is None
    assert read(good_row("single", made_from="a script")).made_from is None
    assert read(good_row("single", made_from={"question": "q"})).made_from == MadeFrom("q", *[None] * 4)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "row",
    [
        pytest.param({"question_id": 7}, id="nothing-else"),
        pytest.param({"question_id": 7, "turn": 1, "judge": "j"}, id="no-verdict"),
    ],
)
def test_a_row_of_something_else_is_none(row: dict[str, Any]) -> None:
    with pytest.raises(DataError, match=r"^some\.jsonl:3: neither a grade .*, a pair .* nor a vote"):
        read(row, 3)


def test_the_rows_of_a_file_come_with_their_lines(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "j_single.jsonl", [good_row("single"), good_row("single", turn=2), good_row("vote")])
    assert [(row.line, row.turn, row.source.form) for row in judged_rows(path)] == [
        (1, 1, "grade"),
        (2, 2, "grade"),
        (3, 1, "pair"),
    ]


@pytest.mark.parametrize(
    ("kind", "changes", "given"),
    [
        pytest.param("single", {}, True, id="grade"),
        pytest.param("single", {"score": -1}, False, id="failed-grade"),
        pytest.param("single", {"score": None}, False, id="null"),
        pytest.param("single", {"label": None}, False, id="label-with-a-score"),
        pytest.param("single", {"scores": {}}, True, id="dimensions-with-a-score"),
        pytest.param("single", {"score": ..., "label": "CORRECT"}, True, id="label"),
        pytest.param("pair", {}, True, id="pair"),
        pytest.param("pair", {"g1_winner": "error"}, False, id="failed-game"),
        pytest.param("pair", {"g2_winner": "error", "score": 7}, False, id="failed-game-with-a-score"),
        pytest.param("pair", {"g2_winner": ..., "shown_first": "x"}, True, id="one-order"),
        pytest.param("pair", {"g1_winner": "error", "g2_winner": ..., "shown_first": "x"}, False, id="failed-order"),
        pytest.param("vote", {}, True, id="vote"),
        pytest.param("vote", {"winner": "error", "score": 7, "model_1": "x"}, False, id="failed-vote"),
    ],
)
def test_rows_without_a_verdict_are_those_of_all_rows(
    kind: str, changes: dict[str, Any], given: bool, tmp_path: pathlib.Path
) -> None:
    path = write(tmp_path / "j.jsonl", [good_row(kind, **changes), good_row(kind)])
    assert [row.unparsed for row in judged_rows(path)] == [not given, False]
    assert list(rows_without_verdict(path)) == [row for row in judged_rows(path) if row.unparsed]


def test_a_row_with_a_verdict_is_not_read_whole_where_those_without_are_wanted(tmp_path: pathlib.Path) -> None:
    rows = [good_row(kind, judge=None) for kind in ("single", "pair")]
    assert list(rows_without_verdict(write(tmp_path / "j.jsonl", rows))) == []


def test_a_row_that_is_no_judgment_is_named_with_its_line(tmp_path: pathlib.Path) -> None:
    path = write(tmp_path / "j_single.jsonl", [good_row("single"), good_row("single", turn=0)])
    with pytest.raises(DataError, match=r"j_single\.jsonl:2: turn must be"):
        list(judged_rows(path))
