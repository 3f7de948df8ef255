"""Win rates that use all of a judge's verdicts and are right with respect to people."""

import math
import pathlib
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest

from harness.old.judgments.reading import read_judgments
from harness.old.meta_evaluation import corrected
from harness.old.meta_evaluation.corrected import _row, _summed, _Sums, corrected_rates, judge_corrected, student
from harness.old.records import Observation, QuestionId
from harness.old.results.finding import without_voters
from harness.old.results.matrix import Floats, Ints, Pairs, pairs
from tests.old.meta_evaluation.test_judges import Shares, judged
from tests.old.observed import Origin, named
from tests.old.observed import pair as _pair

WINNERS = {1.0: "model_1", 0.0: "model_2", 0.5: "tie"}


@pytest.fixture(autouse=True)
def five_questions_suffice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an interval be computed on five questions, for cases that can be followed by hand."""
    monkeypatch.setattr(corrected, "LEAST", 5)


def pair(question: int, outcome: float | None, one: str = "x", other: str = "y", turn: int = 1) -> Observation:
    winner = None if outcome is None else WINNERS[outcome]
    return _pair(question, turn, one, other, (winner,), Origin("j"))


def rows_of(judge: list[Observation], votes: list[Observation], finite: bool = True) -> dict[str, SimpleNamespace]:
    return {row.model: row for row in named(corrected_rates(pairs(judge), pairs(votes), finite=finite).rows)}


def drawn(generator: np.random.Generator, questions: int) -> tuple[Floats, Floats]:
    """Return what people say of x on each question, and what a judge that is biased towards x says."""
    taste = generator.normal(0.2, 1, questions)
    human = np.clip(np.round(2 * (taste + generator.normal(0, 0.6, questions))) / 2, 0, 1)
    judge = np.clip(np.round(2 * (taste + 0.3 + generator.normal(0, 0.6, questions))) / 2, 0, 1)
    return human, judge


def one_model(human: Floats, judge: Floats, voted: Ints, *, finite: bool) -> SimpleNamespace:
    ones, there = np.ones(len(human)), np.isin(np.arange(len(human)), voted).astype(np.float64)
    squares = human**2 * there, judge**2 * there, human * judge * there
    sums = _Sums(judge, ones, human * there, judge * there, there, there, *squares)
    return SimpleNamespace(**_row("x", sums, finite))


def test_the_formula_on_a_case_by_hand() -> None:
    """Ten questions, five voted on; the judge says 0.5 on the other five."""
    human, verdicts = [1.0, 0.5, 0.0, 0.5, 0.5], [1.0, 0.5, 0.0, 0.0, 1.0]
    judge = [*(pair(q, v) for q, v in enumerate(verdicts)), *(pair(q, 0.5) for q in range(5, 10))]
    row = rows_of(judge, [pair(q, v) for q, v in enumerate(human)])["x"]
    # deviations of humans .5 0 -.5 0 0, of the judge .5 0 -.5 -.5 .5: lambda 0.5 / 1 = 0.5
    assert (row.weight, row.judge, row.votes.value) == (0.5, 0.5, 0.5)
    assert row.corrected.value == pytest.approx(0.5 * 0.5 + 0.5 - 0.5 * 0.5)
    # residuals .25 0 -.25 .25 -.25: s² = 0.25 / 3; judge_all = judge_voted, so nothing is added for lambda
    assert row.corrected.high == pytest.approx(0.5 + student(3) * math.sqrt(0.25 / 3 * (1 / 5 - 1 / 10)))
    assert row.votes.high == pytest.approx(0.5 + student(4) * math.sqrt(0.5 / 4 * (1 / 5 - 1 / 10)))
    assert (row.questions, row.voted, row.n) == (10, 5, 5)
    # 1 / n' = 1 / 10 + (1 / 5 - 1 / 10) / 4 = 0.125: 8 questions
    assert (row.more_questions, row.more_votes) == (3, 3)
    # a judge that finds the other questions better for x by 0.2: lambda of that, and 5 * 0.1² / 5 more under the root
    better = [*judge[:5], *(pair(q, v) for q, v in zip(range(5, 10), (0.5, 1.0, 1.0, 0.5, 0.5), strict=True))]
    row = rows_of(better, [pair(q, v) for q, v in enumerate(human)])["x"]
    assert row.corrected.value == pytest.approx(0.5 + 0.5 * 0.1)
    assert row.corrected.low == pytest.approx(0.55 - student(3) * math.sqrt(0.25 / 3 * (1 / 5 - 1 / 10 + 0.01 / 1)))


def test_the_quantile_of_student() -> None:
    """Published tables: 3.182, 2.571, 2.228, 2.042."""
    assert [student(freedom) for freedom in (3, 5, 10, 30)] == pytest.approx([3.182, 2.571, 2.228, 2.042], rel=2e-3)


def test_a_judge_that_is_always_right_is_believed() -> None:
    said = [1.0, 0.0, 0.5, 1.0, 1.0, 0.0, 0.5, 0.0, 1.0, 0.5, 1.0, 0.0]
    judge = [pair(q, v) for q, v in enumerate(said)]
    row = rows_of(judge, [pair(q, said[q]) for q in range(6)])["x"]
    assert row.weight == pytest.approx(1)
    assert row.corrected.value == pytest.approx(np.mean(said))
    assert (row.corrected.low, row.more_questions) == (None, None)  # five equal differences are no proof


def test_a_judge_that_says_nothing_of_use_is_not_used() -> None:
    said = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0]
    judge = [pair(q, 1.0) for q in range(12)]
    row = rows_of(judge, [pair(q, v) for q, v in enumerate(said)])["x"]
    assert (row.weight, row.corrected.value) == (0, row.votes.value)
    against = [pair(q, 1 - said[q % 6]) for q in range(12)]
    assert rows_of(against, [pair(q, v) for q, v in enumerate(said)])["x"].weight == 0


def test_all_votes_leave_nothing_open() -> None:
    human = [1.0, 0.0, 0.5, 1.0, 1.0, 0.0]
    row = rows_of([pair(q, 1.0 if q else 0.5) for q in range(6)], [pair(q, v) for q, v in enumerate(human)])["x"]
    assert row.corrected.value == pytest.approx(np.mean(human))
    assert (row.corrected.low, row.corrected.high, row.more_questions) == (None, None, 0)
    others = rows_of([pair(q, 1.0) for q in range(6)], [pair(q, v) for q, v in enumerate(human)], finite=False)["x"]
    assert others.corrected.low is not None
    assert others.corrected.low < (others.corrected.value or 0)
    assert others.more_questions is None


def test_votes_on_some_items_of_every_question_leave_something_open() -> None:
    """Three pairs with x on each question, votes on one or two of them: by hand for the votes alone."""
    judge = [pair(q, 1.0, "x", other) for q in range(6) for other in "yzu"]
    votes = [pair(q, float(q % 2), "x", "y") for q in range(6)] + [pair(q, 0.0, "x", "z") for q in range(6)]
    row = rows_of(judge, votes)["x"]
    assert (row.questions, row.voted, row.n, row.weight) == (6, 6, 12, 0)
    # within questions: 0 and 0, or 1 and 0 (sum of squares 0.5) in three; w² = 1.5 / 6; inner = w² * 12 / 3 / 12²
    half = student(4) * math.sqrt(0.25 * 12 * (1 - 2 / 3) / 12**2)
    assert row.corrected.value == pytest.approx(0.25)
    assert row.corrected.high == pytest.approx(0.25 + half)
    # items a question: 1 / m' = 1 / 3 + (1 / 2 - 1 / 3) / 4 = 0.375, m' = 2.67, 6 * 0.67 = 4 more
    assert (row.more_questions, row.more_votes) == (0, 4)
    # one item each: w² is the variance between questions, 0.3; inner = w² * 6 * 2 / 3 / 6²
    lone = rows_of(judge, votes[:6])["x"]
    assert lone.corrected.low == pytest.approx(max(0.0, 0.5 - student(4) * math.sqrt(0.3 * 6 * 2 / 3 / 36)))


def test_the_two_models_of_a_pair_mirror_each_other() -> None:
    generator = np.random.default_rng(5)
    human, verdict = drawn(generator, 30)
    rows = rows_of([pair(q, v) for q, v in enumerate(verdict.tolist())], [pair(q, human[q]) for q in range(0, 30, 3)])
    x, y = rows["x"], rows["y"]
    assert x.corrected.low is not None
    assert y.corrected.high is not None
    assert y.corrected.value == pytest.approx(1 - (x.corrected.value or 0))
    assert y.corrected.high == pytest.approx(1 - x.corrected.low)
    assert y.more_questions == x.more_questions


def test_order_and_orientation_of_rows_change_nothing() -> None:
    generator = np.random.default_rng(6)
    human, verdict = drawn(generator, 24)
    judge = [pair(q, v) for q, v in enumerate(verdict.tolist())]
    votes = [pair(q, human[q]) for q in range(0, 24, 2)]
    turned = [pair(q, 1 - v, "y", "x") for q, v in enumerate(verdict.tolist())][::-1]
    first, second = rows_of(judge, votes), rows_of(turned, votes[::-1])
    for model in "xy":
        ends = ((own.value, own.low, own.high) for own in (second[model].corrected, first[model].corrected))
        assert next(ends) == pytest.approx(next(ends))


def test_several_votes_on_an_item_count_as_their_mean() -> None:
    judge = [pair(q, 1.0) for q in range(8)]
    votes = [pair(q, v) for q in range(5) for v in ([1.0, 1.0, 0.0] if q == 0 else [0.0])]
    row = rows_of(judge, votes)["x"]
    assert row.votes.value == pytest.approx(2 / 3 / 5)
    assert (row.n, row.voted) == (5, 5)
    assert row.more_questions is not None
    assert row.more_votes == math.ceil(row.more_questions * 7 / 5)


def test_votes_that_cannot_be_used_are_counted() -> None:
    judge = [pair(1, 1.0), pair(2, None), pair(3, 0.0), pair(3, 1.0, "x", "z")]
    report = corrected_rates(
        pairs(judge), pairs([pair(1, 1.0), pair(2, 1.0), pair(3, None), pair(9, 0.0), pair(1, 0.0, "x", "u")])
    )
    assert (report.unjudged, report.unclear, report.without_votes) == (3, 1, ["z"])
    assert report.elsewhere == 2
    assert [(row.model, row.n) for row in named(report.rows)] == [("x", 1), ("y", 1)]


def test_few_voted_questions_give_no_interval() -> None:
    row = rows_of([pair(q, 1.0) for q in range(20)], [pair(q, float(q % 2)) for q in range(4)])["x"]
    assert (row.corrected.low, row.votes.high, row.more_questions) == (None, None, None)


@pytest.mark.parametrize("questions", [pytest.param(15, id="15-of-60"), pytest.param(40, id="40-of-60")])
def test_the_intervals_cover_what_they_are_about(questions: int) -> None:
    generator = np.random.default_rng(7)
    population = drawn(generator, 200_000)[0].mean()
    hits = np.zeros(2)
    for _ in range(600):
        human, judge = drawn(generator, 60)
        voted = generator.choice(60, questions, replace=False)
        for at, true in enumerate((human.mean(), population)):
            rate = one_model(human, judge, voted, finite=at == 0).corrected
            assert rate.low is not None
            assert rate.high is not None
            hits[at] += rate.low <= true <= rate.high
    assert (hits / 600 > 0.925).all()
    assert (hits / 600 < 0.98).all()


# Published votes


def official(folder: pathlib.Path) -> tuple[Pairs, Pairs]:
    """Return GPT-4's verdicts on the items on which experts voted, and the votes."""
    judged = read_judgments(folder / "gpt4_pair.jsonl").observations
    votes = without_voters(read_judgments(folder / "human.jsonl").observations, ["author*"])

    def item(c: Observation) -> tuple[QuestionId, int, tuple[str, ...]]:
        return c.question_id, c.turn, tuple(sorted((c.model, str(c.opponent))))

    could_be = {item(vote) for vote in votes}
    return pairs([c for c in judged if item(c) in could_be]), pairs(votes)


@pytest.mark.reference
def test_the_official_votes(reference_data: pathlib.Path) -> None:
    judge, votes = official(reference_data / "mt_bench" / "human_judgment")
    assert len(judge.outcome) == 1633
    report = corrected_rates(judge, votes)
    assert (report.unjudged, report.unclear, report.without_votes) == (0, 0, [])
    first, *_ = named(report.rows)
    assert (first.model, round(first.judge, 3), round(first.corrected.value or 0, 3)) == ("gpt-4", 0.861, 0.744)
    for row in named(report.rows):  # all have voted on all: what the judge says makes no difference
        assert row.corrected.value == pytest.approx(row.votes.value)
        assert (row.corrected.low, row.votes.low, row.more_votes) == (None, None, 0)


@pytest.mark.reference
@pytest.mark.parametrize(
    ("questions", "share"), [pytest.param(80, 0.4, id="all-questions"), pytest.param(30, 0.5, id="some-questions")]
)
def test_votes_on_some_pairs_of_a_question_cover_the_value_of_all_votes(
    questions: int, share: float, reference_data: pathlib.Path
) -> None:
    judge, votes = official(reference_data / "mt_bench" / "human_judgment")
    truth = {row.model: row.votes.value or 0.0 for row in named(corrected_rates(judge, votes).rows)}
    generator = np.random.default_rng(3)
    pair_of = {(q, t, *sorted((a, b))): at for at, (q, t, a, b) in enumerate(_keys(judge))}
    place = np.array([pair_of[q, t, *sorted((a, b))] for q, t, a, b in _keys(votes)])
    hits = []
    for _ in range(40):
        voted = generator.random(len(judge.outcome)) < share
        asked = np.isin(votes.question, generator.choice(80, questions, replace=False))
        for row in named(corrected_rates(judge, _only(votes, voted[place] & asked)).rows):
            assert row.corrected.low is not None
            assert row.corrected.high is not None
            hits.append(row.corrected.low <= truth[row.model] <= row.corrected.high)
    assert 0.92 < np.mean(hits) < 0.98


def _keys(found: Pairs) -> list[tuple[QuestionId, int, str, str]]:
    columns = (found.question, found.turn, found.model_1, found.model_2)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(found.questions[q], turn, found.models[a], found.models[b]) for q, turn, a, b in rows]


def _only(found: Pairs, kept: npt.NDArray[np.bool_]) -> Pairs:
    columns = ("question", "turn", "model_1", "model_2", "outcome")
    return found._replace(**{name: getattr(found, name)[kept] for name in columns})


@pytest.mark.reference
@pytest.mark.parametrize(
    ("questions", "finite", "worst", "other", "halves"),
    [
        pytest.param(8, 0.952, 0.92, 0.964, (0.115, 0.128), id="a-tenth"),
        pytest.param(20, 0.946, 0.92, 0.979, (0.056, 0.067), id="a-quarter"),
        pytest.param(40, 0.947, 0.92, 0.997, (0.031, 0.038), id="half"),
    ],
)
def test_votes_on_some_questions_cover_the_value_of_all_votes(
    questions: int,
    finite: float,
    worst: float,
    other: float,
    halves: tuple[float, float],
    reference_data: pathlib.Path,
) -> None:
    """The figures are those that the docstring of the module states, here on 600 random subsets of each size."""
    sums, _, _ = _summed(*official(reference_data / "mt_bench" / "human_judgment"))
    generator = np.random.default_rng(0)
    covered, off, half = np.zeros((2, 6)), np.zeros(6), np.zeros(2)
    for _ in range(600):
        there = np.isin(np.arange(80), generator.choice(80, questions, replace=False))
        for at, (model, own) in enumerate(sums.items()):
            all_votes = own.human.sum() / own.voted.sum()
            sample = _Sums(own.judge, own.items, *(part * there for part in own[2:]))
            for form in (0, 1):
                row = SimpleNamespace(**_row(model, sample, form == 0))
                low, high = row.corrected.low or 0.0, row.corrected.high or 0.0
                covered[form, at] += low <= all_votes <= high
                if form == 0:
                    off[at] += row.corrected.value - all_votes
                    half += (high - low) / 2, ((row.votes.high or 0.0) - (row.votes.low or 0.0)) / 2
    covered /= 600
    assert covered[0].mean() == pytest.approx(finite, abs=8e-3)
    assert covered[0].min() > worst
    assert covered[1].mean() == pytest.approx(other, abs=8e-3)
    assert half / 3600 == pytest.approx(halves, abs=1e-3)
    assert np.abs(off / 600).max() < 0.006


@pytest.mark.parametrize(("share", "as_truth"), [(0.5, 0.92), (0.9, 0.75)])
def test_one_vote_an_item_is_not_taken_for_the_truth(share: float, as_truth: float) -> None:
    """What other raters would say of other questions is covered, and less often where votes are the truth."""
    inside = {True: 0, False: 0}
    truth, samples = 0.6, 120
    for seed in range(samples):
        random = np.random.default_rng(seed)
        chance = np.clip(truth + random.normal(0, 0.15, 80), 0, 1)
        judged = [pair(q, float(random.random() < p)) for q, p in enumerate(chance.tolist())]
        voted = random.permutation(80)[: int(share * 80)].tolist()
        votes = [pair(q, float(random.random() < chance[q])) for q in voted]
        for finite in inside:
            rate = rows_of(judged, votes, finite)["x"].corrected
            inside[finite] += rate.low is not None and rate.high is not None and rate.low <= truth <= rate.high
    assert inside[False] / samples == pytest.approx(0.95, abs=0.045)
    assert inside[True] / samples < as_truth


def test_below_eight_voted_questions_there_is_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert corrected.LEAST == 8


def test_a_model_of_few_judged_questions_is_named_and_comes_last(tmp_path: pathlib.Path) -> None:
    numbers = range(1, 11)
    models = {q: ("x", "y") if q < 8 else ("x", "z") for q in numbers}
    votes: dict[int, Shares] = {q: [float(q < 4)] for q in numbers}
    judged(tmp_path, votes, {"j": {q: [1.0] for q in numbers}}, models=models)
    report = judge_corrected(bench_name="small", data_dir=tmp_path)
    assert [row["model"] for row in report.rows] == ["y", "x", "z"]
    assert next(row["corrected"] for row in report.rows if row["model"] == "z") == 1.0
    assert "judged on too few questions to be ranked: z (3 of 10 questions)" in report.notes


def test_without_any_interval_the_report_says_why_and_speaks_of_none(tmp_path: pathlib.Path) -> None:
    votes: dict[int, Shares] = {q: [1.0, 0.0] for q in range(1, 11)}
    own = {q: [float(q % 2)] for q in range(1, 21)}
    judged(tmp_path, {**votes, 30: [1.0], **{q: [] for q in range(11, 21)}}, {"j": own})
    notes = judge_corrected(bench_name="small", data_dir=tmp_path).notes
    assert "no interval where the votes say the same on every question: x, y" in notes
    assert not any(note.startswith("the intervals are about") for note in notes)
    assert "1 vote on pairs that the judge has not judged left out" in notes
    assert any(note.startswith("judge: win rate by the judge's verdicts alone") for note in notes)
