"""Votes to agreement, kappa and win rates."""

import json
import pathlib
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from benchmarks.judge_agreement import between, within
from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation.contingency import cohen_kappa, table_estimate
from harness.old.meta_evaluation.report import columns
from harness.old.meta_evaluation.verdict_agreement import SETUPS, Setup, agreement_rows, contingencies, win_rate_rows
from harness.old.meta_evaluation.votes import (
    FIRST,
    SECOND,
    TIE,
    Categories,
    Item,
    Vote,
    Votes,
    by_judge,
    by_majority,
    votes_of,
    without_verdict,
)
from harness.old.records import Observation, QuestionId
from harness.old.results.finding import without_voters
from harness.old.results.matrix import Floats
from harness.old.results.statistics.bootstrap import RESAMPLINGS
from tests.old.observed import Origin, exchanged, pair

WINNERS = ("model_1", "tie", "model_2")


def compared(
    left: Votes,
    right: Votes,
    names: tuple[str, str],
    categories: Categories | None = None,
    resamplings: int = RESAMPLINGS,
) -> list[dict[str, Any]]:
    tables = contingencies(dict(zip(names, (left, right), strict=True)), categories)
    return [columns(row) for met in tables for row in agreement_rows(met, resamplings=resamplings)]


def win_rates(left: Votes, right: Votes, names: tuple[str, str], **how: int) -> list[dict[str, Any]]:
    return list(win_rate_rows(left, right, names, **how))  # type: ignore[arg-type]


def vote(
    winner: str | None,
    voter: str,
    *,
    question: QuestionId = 1,
    turn: int = 1,
    models: tuple[str, str] = ("x", "y"),
) -> Observation:
    return pair(question, turn, *models, (winner,), Origin("votes"), voter)


def judged(*winners: str | None, judge: str = "j", judge_set: str = "s 1", sample: int = 0) -> Observation:
    return pair(1, 1, "x", "y", winners, Origin(judge, judge_set, sample=sample))


def random_votes(generator: np.random.Generator, voters: tuple[str, ...], questions: int = 12) -> list[Observation]:
    return [
        vote(str(generator.choice(WINNERS)), voter, question=question, turn=turn, models=models)
        for question, turn, models, voter in product(
            range(questions), (1, 2), (("x", "y"), ("z", "x"), ("y", "z")), voters
        )
        if generator.random() < 0.6
    ]


@pytest.mark.parametrize(
    ("comparison", "label"),
    [
        pytest.param(vote("model_1", "v"), FIRST, id="first"),
        pytest.param(vote("model_2", "v"), SECOND, id="second"),
        pytest.param(vote("tie", "v"), TIE, id="tie"),
        pytest.param(vote("model_1", "v", models=("y", "x")), SECOND, id="the-other-way-round"),
        pytest.param(judged("model_2", "model_2"), SECOND, id="two-games"),
        pytest.param(judged("model_1", "model_2"), TIE, id="two-games-that-disagree"),
        pytest.param(judged("model_1", "tie"), TIE, id="one-game-tied"),
    ],
)
def test_a_vote_is_a_label_of_the_pair_in_the_order_of_names(comparison: Observation, label: float) -> None:
    [(item, [cast])] = votes_of([comparison]).items()
    assert item == Item(1, 1, "x", "y")
    assert cast.said == label


def test_a_pair_without_verdict_is_left_out_and_counted() -> None:
    pairs = [judged("model_1", None), vote(None, "v"), vote("tie", "v")]
    assert sum(map(len, votes_of(pairs).values())) == 1
    assert without_verdict(pairs) == 2


def test_the_worked_line_of_the_docstring() -> None:
    judge = votes_of(vote(w, "j", question=q) for q, w in enumerate(("model_1", "model_1", "tie")))
    expert = votes_of(vote(w, "e", question=q) for q, w in enumerate(("model_1", "model_2", "model_1")))
    three, two = compared(judge, expert, names=("j", "e"))
    assert (three["agree"], three["total"], three["setup"], three["turn"], three["category"]) == (1, 3, "S1", 1, None)
    assert (two["agree"], two["total"], two["setup"]) == (1, 2, "S2")
    assert (three["ratio"], three["kappa"]) == pytest.approx((1 / 3, 0))
    assert (two["ratio"], two["kappa"]) == pytest.approx((1 / 2, 0))
    assert (three["low"], two["high"]) == (None, None)


def test_every_vote_meets_every_other_on_the_same_item_only() -> None:
    left = votes_of([vote("model_1", "a"), vote("model_1", "b"), vote("model_1", "a", turn=2)])
    right = votes_of([vote("model_1", "c"), vote("tie", "d"), vote("model_2", "c", question=2)])
    assert between(left, right, "S1") == (2, 4)
    assert between(left, right, "S2") == (2, 2)
    assert within(left, "S1") == (1, 1)
    assert within(right, "S2") == (0, 0)


def test_a_judge_never_meets_itself() -> None:
    mine = votes_of([vote("model_1", "a"), vote("model_1", "b")])
    assert between(mine, mine, "S1") == (2, 2)
    twice = votes_of([judged("tie", "tie"), judged("tie", "tie", sample=1)])
    assert within(twice, "S1") == (0, 0)
    assert between(twice, twice, "S1") == (0, 0)
    other_prompt = votes_of([judged("tie", "tie", judge_set="s 2")])
    assert between(twice, other_prompt, "S1") == (2, 2)


@pytest.mark.parametrize("setup", SETUPS)
def test_counting_equals_brute_force(setup: Setup) -> None:
    generator = np.random.default_rng(3)
    left, right = random_votes(generator, ("a", "b")), random_votes(generator, ("b", "c", "d"))

    def word(one: Observation) -> str:
        return {1.0: one.model, 0.0: str(one.opponent)}.get(one.value or 0.0, "tie")

    def about(one: Observation) -> object:
        return one.question_id, one.turn, frozenset((one.model, one.opponent))

    def counted(pairs: list[tuple[Observation, Observation]]) -> tuple[int, int]:
        words = [(word(one), word(other)) for one, other in pairs if about(one) == about(other)]
        words = [both for both in words if setup == "S1" or "tie" not in both]
        return sum(one == other for one, other in words), len(words)

    apart = [(one, other) for one, other in product(left, right) if one.source.judge != other.source.judge]
    inside = [(one, other) for one, other in combinations(right, 2) if one.source.judge != other.source.judge]
    assert between(votes_of(left), votes_of(right), setup) == counted(apart)
    assert within(votes_of(right), setup) == counted(inside)


def test_rows_by_turn_and_category_add_up_and_equal_the_counts() -> None:
    generator = np.random.default_rng(4)
    left, right = (votes_of(random_votes(generator, voters)) for voters in (("a",), ("c", "d")))
    categories: dict[QuestionId, str] = {q: "math" if q % 3 else "writing" for q in range(12)}
    rows = compared(left, right, names=("left", "right"), categories=categories, resamplings=50)
    assert list(dict.fromkeys((row["judge1"], row["judge2"]) for row in rows)) == [
        ("left", "right"),
        ("right", "right"),
    ]
    assert [(r["category"], r["turn"], r["setup"]) for r in rows[:18]] == list(
        product((None, "writing", "math"), (1, 2, None), SETUPS)
    )
    for row in rows:
        if (row["turn"], row["category"]) == (None, None):
            assert row["setup"] is not None
            whole = between(left, right, row["setup"]) if row["judge1"] == "left" else within(right, row["setup"])
            assert (row["agree"], row["total"]) == whole
            same = [other for other in rows if (other["judge1"], other["setup"]) == (row["judge1"], row["setup"])]
            for parts in (
                [other for other in same if other["turn"] is not None and other["category"] is None],
                [other for other in same if other["turn"] is None and other["category"] is not None],
                [other for other in same if other["turn"] is not None and other["category"] is not None],
            ):
                assert (sum(part["agree"] for part in parts), sum(part["total"] for part in parts)) == whole


def test_kappa_is_that_of_each_pair_in_both_orientations() -> None:
    """20 agreements on one side and 5 disagreements: 0 in this orientation, 0.6 in both."""
    one_sided = np.array([[20.0, 0, 5], [0, 0, 0], [0, 0, 0]])
    assert cohen_kappa(one_sided) == pytest.approx(0)
    assert cohen_kappa(one_sided + one_sided[::-1, ::-1]) == pytest.approx(0.6)
    judge = votes_of(vote("model_1", "j", question=q) for q in range(25))
    person = votes_of(vote("model_1" if q < 20 else "model_2", "p", question=q) for q in range(25))
    for row in compared(judge, person, names=("j", "p"), resamplings=100):
        assert row["kappa"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("table", "kappa"),
    [
        pytest.param([[20, 5], [10, 15]], 0.4, id="textbook"),
        pytest.param([[45, 15], [25, 15]], 0.1304, id="unequal-margins"),
        pytest.param([[25, 35], [5, 35]], 0.2593, id="other-margins"),
        pytest.param([[3, 0], [0, 4]], 1.0, id="perfect"),
        pytest.param([[0, 5], [5, 0]], -1.0, id="opposite"),
        pytest.param([[7, 0], [0, 0]], np.nan, id="one-label-only"),
        pytest.param([[0, 0], [0, 0]], np.nan, id="nothing"),
    ],
)
def test_kappa_of_known_tables(table: list[list[float]], kappa: float) -> None:
    """The first three are the examples of Wikipedia's article on Cohen's kappa."""
    assert cohen_kappa(np.array(table, dtype=float)) == pytest.approx(kappa, abs=5e-5, nan_ok=True)


def test_in_setup_2_kappa_follows_from_the_ratio() -> None:
    generator = np.random.default_rng(8)
    left, right = (votes_of(random_votes(generator, voters)) for voters in (("a",), ("c", "d")))
    for row in compared(left, right, names=("l", "r"), resamplings=50):
        if row["setup"] == "S2":
            assert row["ratio"] is not None
            assert row["kappa"] == pytest.approx(2 * row["ratio"] - 1)


def test_the_order_of_votes_and_models_does_not_matter_nor_who_is_judge_1() -> None:
    generator = np.random.default_rng(6)
    left, right = random_votes(generator, ("a",), 35), random_votes(generator, ("c", "d"), 35)
    rows = compared(votes_of(left), votes_of(right), names=("l", "r"), resamplings=200)
    other = [exchanged(right[at]) for at in generator.permutation(len(right))]
    assert compared(votes_of(left), votes_of(other), names=("l", "r"), resamplings=200) == rows
    swapped = compared(votes_of(right), votes_of(left), names=("r", "l"), resamplings=200)
    for row in (row for row in rows if row["judge1"] == "l"):
        between = [s for s in swapped if s["judge1"] != s["judge2"]]
        [same] = [s for s in between if (s["turn"], s["setup"]) == (row["turn"], row["setup"])]
        kappa = {name: value for name, value in same.items() if "kappa" in name}
        assert same | {"judge1": "l", "judge2": "r"} == row | kappa
        assert row["kappa"] == pytest.approx(same["kappa"])


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param([FIRST], FIRST, id="one"),
        pytest.param([FIRST, FIRST, SECOND], FIRST, id="most"),
        pytest.param([FIRST, SECOND], TIE, id="split"),
        pytest.param([FIRST, TIE], TIE, id="split-with-a-tie"),
        pytest.param([SECOND, SECOND, TIE], SECOND, id="most-against-a-tie"),
        pytest.param([FIRST, TIE, SECOND], TIE, id="all-differ"),
    ],
)
def test_the_majority_is_the_label_with_most_votes_else_a_tie(labels: list[float], expected: float) -> None:
    item = Item(1, 1, "x", "y")
    votes = {item: [Vote(str(at), "", label) for at, label in enumerate(labels)]}
    [majority] = by_majority(votes, "people")[item]
    assert (majority.judge, majority.said) == ("people", expected)


def test_votes_of_a_panel_are_told_apart_by_judge() -> None:
    votes = votes_of([vote("tie", "b"), vote("model_1", "a"), vote("tie", "a", question=2)])
    found = by_judge(votes)
    assert list(found) == ["a", "b"]
    assert {judge: len(own) for judge, own in found.items()} == {"a": 2, "b": 1}


def test_win_rates_stand_beside_each_other_on_common_items_only() -> None:
    left = votes_of([vote("model_1", "j", question=1), vote("tie", "j", question=2), vote("model_1", "j", question=9)])
    right = votes_of(
        [vote("model_2", "p", question=1), vote("model_1", "p", question=2), vote("model_1", "q", question=2)]
    )
    first, second = win_rates(left, right, names=("j", "people"))
    shown = ("model", "n", "rate1", "rate2", "difference")
    assert [first[name] for name in shown] == ["x", 2, 0.75, 0.5, 0.25]
    assert [second[name] for name in shown] == ["y", 2, 0.25, 0.5, -0.25]


def test_differences_of_win_rates_balance_and_turn_around_with_the_judges() -> None:
    generator = np.random.default_rng(7)
    left, right = (votes_of(random_votes(generator, voters)) for voters in (("a",), ("c", "d")))
    rows = win_rates(left, right, names=("l", "r"), resamplings=200)
    assert [(row["model"], row["turn"]) for row in rows] == list(product("xyz", (1, 2, None)))
    assert sum(row["difference"] * row["n"] for row in rows) == pytest.approx(0)
    for row, turned in zip(rows, win_rates(right, left, names=("r", "l"), resamplings=200), strict=True):
        assert turned["difference"] == pytest.approx(-row["difference"])
        assert row["high"] is not None
        assert turned["low"] == pytest.approx(-row["high"], abs=0.02)


def test_nothing_in_common_is_no_row() -> None:
    left, right = votes_of([vote("tie", "a")]), votes_of([vote("tie", "b", question=2)])
    assert compared(left, right, names=("l", "r")) == []
    assert win_rates(left, right, names=("l", "r")) == []


def test_rows_are_json() -> None:
    generator = np.random.default_rng(9)
    left, right = (votes_of(random_votes(generator, voters, 6)) for voters in (("a",), ("c", "d")))
    rows = compared(left, right, names=("l", "r"), resamplings=50)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert list(rows[0])[:8] == ["judge1", "judge2", "turn", "category", "setup", "agree", "total", "ratio"]


def _tables(generator: np.random.Generator, questions: int) -> Floats:
    """Return tables in both orientations; a question's pairs of votes share how hard it is, on average 3 of 4 agree."""
    tables = np.zeros((questions, 3, 3))
    for table in tables:
        agree = generator.beta(3, 1)
        for _ in range(6):
            one = int(generator.choice(3, p=[0.35, 0.3, 0.35]))
            other = one if generator.random() < agree else int(generator.choice([c for c in range(3) if c != one]))
            table[one, other] += 1
    return tables + tables[:, ::-1, ::-1]


@pytest.mark.slow
@pytest.mark.parametrize("questions", [pytest.param(10, id="few-studentized"), pytest.param(40, id="percentile")])
def test_the_interval_of_kappa_covers(questions: int) -> None:
    truth = float(cohen_kappa(_tables(np.random.default_rng(1), 20_000 // 10).sum(axis=0)))
    generator = np.random.default_rng(2)
    hits, runs = 0, 200
    for _ in range(runs):
        found = table_estimate(_tables(generator, questions), cohen_kappa, resamplings=300)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
    assert 0.9 <= hits / runs <= 0.99


def test_a_statistic_without_spread_has_no_interval() -> None:
    same = np.tile(np.array([[3.0, 0, 0], [0, 0, 0], [0, 0, 2]]), (40, 1, 1))
    found = table_estimate(same, cohen_kappa)
    assert (found.value, found.low, found.questions) == (1.0, None, 40)
    few = table_estimate(same[:4], cohen_kappa)
    assert (few.value, few.low) == (1.0, None)


@pytest.mark.reference
def test_the_published_table_is_reproduced_with_its_counts(reference_data: pathlib.Path) -> None:
    folder = reference_data / "mt_bench"
    people = read_judgments(folder / "human_judgment" / "human.jsonl").observations
    gpt4 = read_judgments(folder / "human_judgment" / "gpt4_pair.jsonl").observations
    experts = votes_of(without_voters(people, ["author*"]))
    rows = compared(votes_of(gpt4), experts, names=("gpt4-pair", "human"), resamplings=200)
    found = {
        (r["judge1"], r["judge2"], r["turn"], r["setup"]): (r["agree"], r["total"], r["ratio"])
        for r in rows
        if r["category"] is None
    }
    for line in json.loads((folder / "expected.json").read_text("utf-8"))["agreement_turn1"]:
        key = line["judge1"], line["judge2"], line["turn"], line["setup"]
        assert found[key] == (line["agree"], line["total"], line["ratio"])
        assert round(100 * line["ratio"]) == line["published_percent"]


@pytest.mark.reference
def test_agreement_hides_that_the_judge_favours_its_own_answers(reference_data: pathlib.Path) -> None:
    """A user's figures on the published votes: 88.4%, kappa 0.767 (0.768 in both orientations), n = 1,078, +12.7."""
    folder = reference_data / "mt_bench" / "human_judgment"
    people = votes_of(read_judgments(folder / "human.jsonl").observations)
    gpt4 = votes_of(read_judgments(folder / "gpt4_pair.jsonl").observations)
    rows = compared(gpt4, by_majority(people, "people"), names=("gpt-4", "people"), resamplings=200)
    [row] = [row for row in rows if row["turn"] is None and row["setup"] == "S2"]
    assert (row["agree"], row["total"]) == (953, 1078)
    assert row["kappa"] == pytest.approx(0.7681, abs=5e-5)
    table = np.zeros((3, 3))
    for item, [majority] in by_majority(people, "people").items():
        for cast in gpt4.get(item, []):
            table[int(2 - 2 * cast.said), int(2 - 2 * majority.said)] += TIE not in (cast.said, majority.said)
    assert cohen_kappa(table) == pytest.approx(0.7670, abs=5e-5)
    rates = win_rates(gpt4, people, names=("gpt-4", "people"))
    [gap] = [rate for rate in rates if (rate["model"], rate["turn"]) == ("gpt-4", None)]
    assert gap["n"] == 578
    assert gap["difference"] == pytest.approx(0.1272, abs=5e-5)
    assert gap["low"] is not None
    assert gap["high"] is not None
    assert 0.08 < gap["low"] < 0.10
    assert 0.15 < gap["high"] < 0.17
