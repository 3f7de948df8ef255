"""Both games of a pair to position bias."""

import json
import pathlib

import numpy as np
import pytest

from harness.old.judgments.reading import read_judgments
from harness.old.records import Observation, QuestionId
from harness.old.results.pairs.position import KINDS, in_one_order, ordered_questions, position_rows
from harness.old.results.table import Row
from harness.old.showing.items import flat
from tests.old.observed import Origin
from tests.old.observed import pair as _pair

MIRROR = {"model_1": "model_2", "model_2": "model_1", "tie": "tie", None: None}
FIRST_TWICE = ("model_1", "model_2")
SECOND_TWICE = ("model_2", "model_1")


def pair(
    *winners: str | None,
    question: QuestionId = 1,
    turn: int = 1,
    judge: str = "j",
    models: tuple[str, str] = ("x", "y"),
) -> Observation:
    return _pair(question, turn, *models, winners, Origin(judge))


def counts(row: Row) -> tuple[int, ...]:
    return tuple(row[name] for name in ("n", "errors", *KINDS))


def swapped(one: Observation) -> Observation:
    """Return the same games with the other model named first."""
    games = tuple(None if game is None else 1.0 - game for game in one.games[::-1])
    return one._replace(model=str(one.opponent), opponent=one.model, games=games)


@pytest.mark.parametrize(
    ("winners", "expected", "games"),
    [
        pytest.param(("model_1", "model_1"), (1, 0, 1, 0, 0, 0), (1, 2), id="same-winner"),
        pytest.param(("model_2", "model_2"), (1, 0, 1, 0, 0, 0), (1, 2), id="same-other-winner"),
        pytest.param(("tie", "tie"), (1, 0, 1, 0, 0, 0), (0, 0), id="two-ties"),
        pytest.param(FIRST_TWICE, (1, 0, 0, 1, 0, 0), (2, 2), id="shown-first-wins-both"),
        pytest.param(SECOND_TWICE, (1, 0, 0, 0, 1, 0), (0, 2), id="shown-second-wins-both"),
        pytest.param(("model_1", "tie"), (1, 0, 0, 0, 0, 1), (1, 1), id="tie-in-game-2"),
        pytest.param(("tie", "model_1"), (1, 0, 0, 0, 0, 1), (0, 1), id="tie-in-game-1"),
        pytest.param(("model_1", None), (0, 1, 0, 0, 0, 0), (0, 0), id="game-2-failed"),
        pytest.param((None, "tie"), (0, 1, 0, 0, 0, 0), (0, 0), id="game-1-failed"),
        pytest.param((None, None), (0, 1, 0, 0, 0, 0), (0, 0), id="both-failed"),
    ],
)
def test_a_pair_is_of_one_kind(
    winners: tuple[str | None, ...], expected: tuple[int, ...], games: tuple[int, int]
) -> None:
    row = position_rows([pair(*winners)])[0]
    assert counts(row) == expected
    assert (row["first_games"], row["decided_games"]) == games
    assert counts(position_rows([swapped(pair(*winners))])[0]) == expected


WORKED = [
    pair(*winners, question=question)
    for question, winners in enumerate(
        18 * [("model_1", "model_1")]
        + 20 * [("model_2", "model_2")]
        + 8 * [("tie", "tie")]
        + 16 * [FIRST_TWICE]
        + 2 * [SECOND_TWICE]
        + 5 * [("model_1", "tie")]
        + 3 * [("tie", "model_2")]
        + [("model_2", "tie")]
    )
]


def test_the_worked_line_of_the_docstring() -> None:
    row = position_rows(WORKED)[0]
    assert counts(row) == (73, 0, 46, 16, 2, 9)
    assert (row["first_games"], row["decided_games"]) == (78, 121)
    shares = [row[f"{kind}_share"] for kind in KINDS]
    assert [share.value for share in shares] == pytest.approx([46 / 73, 16 / 73, 2 / 73, 9 / 73])
    assert row["first_share"].value == pytest.approx(78 / 121)
    assert row["first_share"].low is not None
    assert 0.5 < row["first_share"].low < 78 / 121


def test_rows_are_for_all_then_by_judge_category_turn_and_gap() -> None:
    rows = position_rows(
        [
            pair("model_1", "model_1", question=2, judge="k"),
            pair("model_2", None, question=1, turn=2),
            pair("tie", "model_1", question=3),
        ],
        categories={1: "math", 2: "writing", 4: "unused"},
    )
    assert [(row["by"], row["group"]) for row in rows] == [
        ("all", None),
        ("judge", "j"),
        ("judge", "k"),
        ("category", "math"),
        ("category", "writing"),
        ("category", None),
        ("turn", 1),
        ("turn", 2),
        ("score gap", "0.500"),
    ]
    for by in ("judge", "category", "turn", "score gap"):
        parts = [counts(row) for row in rows if row["by"] == by]
        assert tuple(map(sum, zip(*parts, strict=True))) == counts(rows[0]), by


def test_the_gap_is_that_of_the_win_rates_and_equal_gaps_stay_together() -> None:
    def always(better: str, worse: str, questions: int) -> list[Observation]:
        return [pair("model_1", "model_1", question=question, models=(better, worse)) for question in range(questions)]

    # Win rates: a 8 of 8, b 6 of 9, c 2 of 12, d 0 of 6.
    pairs = always("a", "c", 4) + always("a", "d", 4) + always("b", "c", 6) + always("c", "d", 2)
    pairs += [pair("model_2", "model_2", question=at, models=("b", "e")) for at in range(3)]
    pairs += [pair(None, "tie", question=9, models=("f", "a"))]
    rows = [row for row in position_rows(pairs) if row["by"] == "score gap"]
    # e wins all, so b and e lie 1/3 apart; a and d 1; a and c 5/6; b and c 1/2; c and d 1/6.
    assert [(row["group"], row["n"], row["errors"]) for row in rows] == [
        ("0.167 to 0.333", 5, 0),
        ("0.500", 6, 0),
        ("0.833", 4, 0),
        ("1.000", 4, 0),
        ("no win rate", 0, 1),
    ]


def test_neither_the_order_of_the_rows_nor_which_model_is_named_first_matters() -> None:
    generator = np.random.default_rng(5)
    pairs = [
        pair(*generator.choice(["model_1", "model_2", "tie"], 2).tolist(), question=q, models=models)
        for q in (*range(40), "a", "b")
        for models in (("x", "y"), ("x", "z"))
    ]
    rows = position_rows(pairs, resamplings=500)
    shuffled = [pairs[at] for at in generator.permutation(len(pairs))]
    assert position_rows(shuffled, resamplings=500) == rows
    assert position_rows([swapped(one) for one in pairs], resamplings=500) == rows


def test_pairs_in_one_order_are_left_out_and_counted() -> None:
    pairs = [pair("model_1"), pair("model_1", "model_1")]
    assert counts(position_rows(pairs)[0]) == (1, 0, 1, 0, 0, 0)
    assert in_one_order(pairs) == 1


def test_no_pairs_are_a_row_of_zeros_without_shares() -> None:
    [row] = position_rows([])
    assert counts(row) == (0, 0, 0, 0, 0, 0)
    assert row["first_share"].value is None


def test_the_rows_are_json() -> None:
    rows = [flat(row) for row in position_rows(WORKED, resamplings=100)]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_questions_stand_in_the_order_of_the_file_whatever_the_order_of_the_rows() -> None:
    assert ordered_questions([3, "b", 1, 3, "a", 10], {10: "x", "b": "y"}) == [10, "b", 1, 3, "a"]


def test_the_interval_of_the_first_share_covers_and_counts_a_question_once() -> None:
    """All pairs of a question share its luck; an interval from pairs alone would cover far less than 95%."""
    generator = np.random.default_rng(11)
    hits = 0
    for _ in range(200):
        lean = generator.beta(2, 2, size=40)
        pairs = [
            pair(*(FIRST_TWICE if generator.random() < lean[q] else SECOND_TWICE), question=q, models=("x", f"y{at}"))
            for q in range(40)
            for at in range(5)
        ]
        share = position_rows(pairs, resamplings=400)[0]["first_share"]
        assert share.low is not None
        assert share.high is not None
        hits += share.low <= 0.5 <= share.high
    assert 0.9 <= hits / 200 <= 0.985


@pytest.mark.reference
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("stefanstud_gpt-4_pair", id="75-rows"),
        pytest.param("ku-nlp_japanese-vicuna_gpt-4_pair", id="400-rows"),
    ],
)
def test_the_published_runs_give_the_expected_counts(reference_data: pathlib.Path, name: str) -> None:
    folder = reference_data / "mt_bench"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))["pair_runs"][name]
    row = position_rows(read_judgments(folder / "other_runs" / f"{name}.jsonl").observations)[0]
    assert counts(row) == tuple(
        expected[field]
        for field in ("usable", "error_rows", "consistent", "biased_first", "biased_second", "one_side_tie")
    )
    assert row["first_games"] == expected["A_verdicts"]
    assert row["decided_games"] == expected["A_verdicts"] + expected["B_verdicts"]
    assert 2 * row["n"] - row["decided_games"] == expected["tie_verdicts"]
