"""Win, loss and tie rates with their intervals."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from harness.old.errors import UsageError
from harness.old.judgments.reading import read_judgments
from harness.old.records import Observation, QuestionId
from harness.old.results.matrix import Pairs, pairs
from harness.old.results.pairs.pairwise import pairwise_rows
from harness.old.results.pairs.rates import RATES, against, of_group, of_turn, rates
from harness.old.results.statistics.bootstrap import Estimate
from harness.old.results.table import ALL, Line
from tests.old.observed import Origin, exchanged
from tests.old.observed import pair as _pair

GPT_4 = Origin("gpt-4")
WINNERS = ("model_1", "model_2", "tie")


def pair(question: QuestionId, one: str, other: str, *winners: str | None, turn: int = 1) -> Observation:
    return _pair(question, turn, one, other, winners, GPT_4)


def some_pairs(questions: int = 40, seed: int = 0) -> list[Observation]:
    """Return random pairs of four models; in one of twenty a game has no verdict, and not all pairs are there."""
    generator = np.random.default_rng(seed)

    def games() -> tuple[str | None, ...]:
        first, second = generator.integers(0, 3, size=2)
        return (None if generator.random() < 0.05 else WINNERS[first], WINNERS[second])

    return [
        pair(q, f"m{i}", f"m{j}", *games(), turn=turn)
        for q in range(questions)
        for turn in (1, 2)
        for i in range(4)
        for j in range(i)
        if generator.random() < 0.8
    ]


def whole(found: Pairs, **more: Any) -> list[Line]:
    """Return the lines of all questions and turns."""
    return [line for line in rates(found, **more) if line.group is ALL and line.turn is None]


def values(line: Line) -> tuple[float | None, ...]:
    return tuple(line.fields[name].value for name in RATES)


def counts(line: Line, *names: str) -> list[int]:
    return [line.fields[name] for name in names]


def test_the_worked_line_of_the_docstring() -> None:
    row = whole(
        pairs(
            [
                pair(1, "x", "a", "model_1", "model_1"),
                pair(1, "b", "x", "model_2", "model_2"),
                pair(1, "x", "c", "model_1", "model_2"),
                pair(2, "x", "a", "model_2", "model_2"),
            ]
        )
    )[0]
    assert row.model == "x"
    assert counts(row, "win", "loss", "tie", "n") == [2, 1, 1, 4]
    assert values(row) == (0.5, 0.25, 0.25, 0.625)
    assert row.fields["win_rate"] == Estimate(0.5, None, None, 2, None)


def test_values_and_order_are_those_of_the_plain_table() -> None:
    found = some_pairs()
    plain = pairwise_rows(found)
    rows = whole(pairs(found), resamplings=100)
    assert [row.model for row in rows] == [row.model for row in plain]
    for row, own in zip(rows, plain, strict=True):
        assert counts(row, "win", "loss", "tie", "excluded") == counts(own, "win", "loss", "tie", "excluded")
        assert values(row) == pytest.approx(tuple(own.fields[name] for name in RATES))


def test_each_turn_and_each_group_is_the_plain_table_of_its_pairs() -> None:
    found = some_pairs()
    groups: dict[QuestionId, Any] = {q: "ab"[q % 2] for q in range(40)}
    parts = {(line.model, line.group, line.turn): line for line in rates(pairs(found, groups), resamplings=100)}
    assert {(group, turn) for _, group, turn in parts} == {(ALL, None), ("a", None), ("b", None), (ALL, 1), (ALL, 2)}
    for (group, turn), kept in (
        (("b", None), [p for p in found if groups[p.question_id] == "b"]),
        ((ALL, 2), [p for p in found if p.turn == 2]),
    ):
        for own in pairwise_rows(kept):
            part = parts[own.model, group, turn]
            assert counts(part, "win", "loss", "tie", "excluded") == counts(own, "win", "loss", "tie", "excluded")


def test_rows_of_the_baseline_are_those_of_the_plain_table() -> None:
    found = some_pairs()
    rows = whole(pairs(found), baseline="m2", resamplings=100)
    plain = pairwise_rows(found, baseline="m2")
    assert [(row.model, *counts(row, "win", "n")) for row in rows] == [(r.model, *counts(r, "win", "n")) for r in plain]


def test_an_unknown_baseline_is_refused() -> None:
    with pytest.raises(UsageError, match="no pair with the baseline 'm9'; the models are: m0, m1, m2, m3"):
        rates(pairs(some_pairs()), baseline="m9")


def test_models_that_never_met_the_baseline_have_no_row() -> None:
    found = pairs([pair(1, "x", "y", "tie"), pair(1, "y", "z", "tie")])
    assert against(found, "x").models == ("x", "y")


def test_the_order_of_rows_and_of_the_two_models_does_not_matter() -> None:
    found = some_pairs()
    groups: dict[QuestionId, Any] = {q: "ab"[q % 2] for q in range(40)}
    shuffled = [exchanged(found[k]) for k in np.random.default_rng(1).permutation(len(found))]
    assert rates(pairs(shuffled, groups), resamplings=200) == rates(pairs(found, groups), resamplings=200)


def test_win_and_loss_rates_of_two_models_mirror_each_other() -> None:
    found = [p for p in some_pairs() if {p.model, p.opponent} == {"m0", "m1"}]
    one, other = (row.fields for row in whole(pairs(found), resamplings=200))
    assert one["win_rate"] == other["loss_rate"]
    assert one["tie_rate"] == other["tie_rate"]
    assert one["win_rate_adjusted"].low == pytest.approx(1 - other["win_rate_adjusted"].high)


def test_a_model_without_a_verdict_has_counts_and_no_rate() -> None:
    rows = whole(pairs([pair(1, "x", "y", "tie"), pair(2, "x", "z", None)]))
    assert [row.model for row in rows] == ["x", "y", "z"]
    assert counts(rows[2], "n", "excluded") == [0, 1]
    assert rows[2].fields["win_rate_adjusted"] == Estimate(None, None, None, 0, None)


def test_intervals_hold_the_rate_and_repeat_with_the_seed() -> None:
    found = pairs(some_pairs())
    for row in whole(found, resamplings=500):
        own = row.fields["win_rate_adjusted"]
        assert own.low is not None
        assert own.high is not None
        assert own.value is not None
        assert 0 <= own.low < own.value < own.high <= 1
    assert rates(found, resamplings=500) == rates(found, resamplings=500)
    assert rates(found, resamplings=500) != rates(found, resamplings=500, seed=1)


def test_all_pairs_of_a_question_move_together() -> None:
    """A model that wins all or none of a question's pairs is as unsure with six opponents as with one."""
    won = np.random.default_rng(3).random(40) < 0.5
    widths = []
    for opponents in (1, 6):
        found = [pair(q, "x", f"y{k}", "model_1" if won[q] else "model_2") for q in range(40) for k in range(opponents)]
        [own] = [row.fields["win_rate"] for row in whole(pairs(found), resamplings=1000) if row.model == "x"]
        assert own.low is not None
        assert own.high is not None
        widths.append(own.high - own.low)
    assert widths[0] == pytest.approx(widths[1])


def test_parts_keep_the_models() -> None:
    found = pairs([pair(1, "x", "y", "tie"), pair(2, "x", "z", "tie", turn=2)], {1: "a", 2: "b"})
    assert of_group(found, "a").models == of_turn(found, 2).models == ("x", "y", "z")
    assert of_group(found, "b").questions == (2,)
    assert of_turn(found, 2).outcome.tolist() == [0.5]


@pytest.mark.reference
def test_the_rates_of_the_published_verdicts_are_those_of_fastchat(reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    expected = json.loads((folder / "expected.json").read_text("utf-8"))["gpt4_pair_fastchat_win_rates"]["turn1"]
    found = pairs(read_judgments(folder / "human_judgment" / "gpt4_pair.jsonl").observations)
    first = {row.model: row for row in rates(found, resamplings=100) if row.turn == 1}
    assert first.keys() == expected.keys()
    for model, own in first.items():
        told = expected[model]
        assert counts(own, "win", "loss", "tie") == [told["win"], told["loss"], told["tie"]]
        assert own.fields["win_rate"].value == pytest.approx(told["win_rate"])
        assert own.fields["loss_rate"].value == pytest.approx(told["loss_rate"])
        assert own.fields["win_rate_adjusted"].value == pytest.approx(told["win_rate_adjusted"])
