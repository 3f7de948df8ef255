"""A drawn share of the pairs: which they are, how it grows, what an extension adds."""

import itertools
from collections import Counter

import pytest

from harness.errors import UsageError
from harness.judging.draw import drawn_pairs
from tests.judging.conftest import QUESTIONS, Folder, counts

MODELS = [f"m{number}" for number in range(9)]


@pytest.fixture
def many(folder: Folder) -> Folder:
    """Return the benchmark with six more models, so that there are 28 pairs a turn."""
    folder.write("question.jsonl", [{**row, "category": "writing"} for row in QUESTIONS])
    for number in range(6):
        name = f"m{number}"
        folder.answer(name, {q: [f"{name} says", f"{name} adds"] for q in (1, 2)})
    folder.answer("alpha", {q: ["alpha says", "alpha adds"] for q in (1, 2)})
    folder.answer("beta", {q: ["beta says", "beta adds"] for q in (1, 2)})
    return folder


def test_models_play_equally_often_and_everybody_meets_everybody() -> None:
    drawn = [drawn_pairs(q, turn, MODELS, 0.25) for q in range(80) for turn in (1, 2)]
    for pairs in drawn:
        plays = Counter(model for pair in pairs for model in pair)
        assert max(plays.values()) - min(plays[model] for model in MODELS) <= 2
    meetings = Counter(pair for pairs in drawn for pair in pairs)
    assert meetings.keys() == set(map(frozenset, itertools.combinations(MODELS, 2)))
    total = Counter(model for pairs in drawn for model in pair_members(pairs))
    assert max(total.values()) < 1.1 * min(total.values())
    assert sum(map(len, drawn)) == pytest.approx(0.25 * 160 * 36, rel=0.02)


def pair_members(pairs: frozenset[frozenset[str]]) -> list[str]:
    return [model for pair in pairs for model in pair]


def test_a_larger_share_holds_the_smaller_one_and_a_new_model_moves_few_pairs() -> None:
    needless = 0
    for question in range(80):
        tenth = drawn_pairs(question, 1, MODELS, 0.1)
        assert tenth <= drawn_pairs(question, 1, MODELS, 0.4) <= drawn_pairs(question, 1, MODELS, 1)
        joined = drawn_pairs(question, 1, [*MODELS, "new"], 0.1)
        needless += sum("new" not in pair for pair in joined - tenth)
    assert needless < 80
    assert len(drawn_pairs(1, 1, MODELS, 1)) == 36


def test_a_share_grows_without_judging_anything_twice(many: Folder) -> None:
    plan = many.plan(share=0.25)
    assert (plan.mode, plan.total, plan.calls) == ("pairwise-all", 28, 56)
    rows = many.judge(plan, "[[A]]")
    assert {row.drawn for row in rows} == {0.25}
    assert counts(many.plan(share=0.25)) == (0, 28, 0)
    assert counts(many.plan(share=0.5)) == (28, 28, 0)
    assert counts(many.plan(mode="pairwise-all")) == (84, 28, 0)


@pytest.mark.parametrize("options", [{"mode": "single"}, {"votes": "votes.jsonl"}])
def test_a_share_is_of_all_pairs(many: Folder, options: dict[str, str]) -> None:
    (many.folder / "votes.jsonl").write_text("")
    if "votes" in options:
        options = {"votes": str(many.folder / "votes.jsonl")}
    with pytest.raises(UsageError, match="--share"):
        many.plan(share=0.5, **options)
