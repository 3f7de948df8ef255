"""How often judges decide as people do, and as each other.

    agreement = verdicts that are equal / verdicts on items that both decided

A tie decides nothing. The judge says x, x, tie and a person x, y, x: 1 of 2. Several verdicts of
one judge on an item (samples, runs) are its mean first; every vote counts. A judge that compared no
pair decides one by the higher of its two grades. Errors are over questions.

Which of two judges agrees more is asked of the votes that both decide: on each 1, 0 or -1 as the
first one, both or neither, or the second one alone decides as the vote does. The mean is the
difference; Holm's method allows for comparing the best with several.

Source: Zheng et al. 2023 (arXiv:2306.05685), section 4.1, setup S2; McNemar 1947 for the pairing.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import NamedTuple, TypeAlias

import numpy as np

from harness.results.estimate import LEVEL, Bools, Estimate, Floats, Interval, holm, ratio
from harness.results.scores import SCORE, Scores
from harness.types import QuestionId


class RatedItem(NamedTuple):
    """What is judged."""

    question: QuestionId
    turn: int
    models: tuple[str, ...]
    """One model, or two in the order of their names."""
    choice: int = 0

    def answer_of(self, model: str) -> "RatedItem":
        """Return the answer of one of its models."""
        return self._replace(models=(model,))


class Agreement(NamedTuple):
    """How often two raters decide alike."""

    rate: Estimate
    agree: int
    total: int
    """Comparisons that both decided."""
    compared: int
    """All, ties included."""


class Behind(NamedTuple):
    """How much less a judge agrees with people than the best one, on what both decide."""

    difference: Estimate
    """The best less this one."""
    interval: Interval | None
    """The difference's, at the level at which it was tested."""
    is_less: bool
    """Whether the interval excludes 0."""


class Ranked(NamedTuple):
    """One judge's place."""

    judge: str
    agreement: Agreement
    behind: Behind | None
    """None: it is the best one, or has nothing in common with it."""


Compared: TypeAlias = tuple[RatedItem, float, float]
"""A pair, and two verdicts on it: the share that goes to its first model."""


def agreement(compared: Iterable[Compared]) -> Agreement:
    """Return how often two verdicts that both decide are equal."""
    sums: Counter[QuestionId] = Counter()
    counts: Counter[QuestionId] = Counter()
    compared = list(compared)
    for item, first, second in compared:
        if first != 0.5 and second != 0.5:
            counts[item.question] += 1
            sums[item.question] += (first > 0.5) == (second > 0.5)
    by_question = np.array([sums[key] for key in counts]), np.array(list(counts.values()))
    rate = ratio(*by_question, share=True)
    return Agreement(rate, sums.total(), counts.total(), len(compared))


def with_votes(judged: Scores, votes: Scores) -> Agreement:
    """Return how often one judge decides as people's votes do."""
    voted = item_values(votes)
    verdicts = preferences(judged, [item for item, _ in voted])
    return agreement((item, verdicts[item], vote) for item, vote in voted if item in verdicts)


def item_values(scores: Scores) -> list[tuple[RatedItem, float]]:
    """Return each item that has a verdict, with its value: several verdicts, several times."""
    scores = scores.take(scores.valid)
    return list(zip(items(scores), values(scores).tolist(), strict=True))


def voters(votes: Scores) -> int:
    """Return how many people voted."""
    return len({source.judge for source in votes.take(votes.valid).sources_present.values()})


Decided: TypeAlias = Mapping[RatedItem, float]
"""One judge's verdicts on pairs."""


def verdicts_on(judges: Mapping[str, Scores], votes: Scores) -> dict[str, Decided]:
    """Return each judge's verdicts on the pairs that people voted on."""
    pairs = dict.fromkeys(item for item, _ in item_values(votes))
    return {name: preferences(scores, pairs) for name, scores in judges.items()}


def rank_judges(verdicts: Mapping[str, Decided], votes: Scores) -> list[Ranked]:
    """Return the judges that can be compared with votes, the one that agrees most first.

    They are in the order of their agreement on the votes that all of them decide; without any, of
    their agreement on what each decides.
    """
    voted = item_values(votes)
    found = {
        name: agreement((item, of[item], vote) for item, vote in voted if item in of)
        for name, of in verdicts.items()
    }
    names = [name for name in verdicts if found[name].total]
    common = [
        (item, vote)
        for item, vote in voted
        if vote != 0.5 and all(verdicts[name].get(item, 0.5) != 0.5 for name in names)
    ]

    def place(name: str) -> tuple[float, float, str]:
        hits = sum((verdicts[name][item] > 0.5) == (vote > 0.5) for item, vote in common)
        return -hits, -found[name].rate.value, name

    names.sort(key=place)
    rest = names[1:]
    gaps = [_less(verdicts[names[0]], verdicts[name], voted) for name in rest]
    ranked = [Ranked(name, found[name], None) for name in names[:1]]
    for name, gap, test in zip(rest, gaps, holm([gap.p for gap in gaps]), strict=True):
        interval = gap.interval_at(test.level)
        is_less = gap.value > 0 and test.p is not None and test.p < LEVEL
        behind = Behind(gap, interval, is_less) if gap.count else None
        ranked.append(Ranked(name, found[name], behind))
    return ranked


def _less(first: Decided, second: Decided, voted: Iterable[tuple[RatedItem, float]]) -> Estimate:
    """Return how much more the first judge agrees, on the votes that both decide."""
    sums: Counter[QuestionId] = Counter()
    counts: Counter[QuestionId] = Counter()
    for item, vote in voted:
        one, other = first.get(item, 0.5), second.get(item, 0.5)
        if 0.5 not in (one, other, vote):
            counts[item.question] += 1
            sums[item.question] += ((one > 0.5) == (vote > 0.5)) - ((other > 0.5) == (vote > 0.5))
    return ratio(np.array([sums[key] for key in counts]), np.array(list(counts.values())))


def among(votes: Scores) -> Agreement:
    """Return how often two people's votes on one pair agree."""
    by_item: dict[RatedItem, list[float]] = {}
    for item, vote in item_values(votes):
        by_item.setdefault(item, []).append(vote)
    return agreement(
        (item, *two) for item, found in by_item.items() for two in combinations(found, 2)
    )


def raters(scores: Scores) -> dict[str, Scores]:
    """Return the verdicts of each judge, of one that has several judge sets those of each."""
    names: dict[str, list[int]] = {}
    present = scores.sources_present
    sets = {(s.judge, s.judge_set) for s in present.values()}
    several = {judge for judge, count in Counter(judge for judge, _ in sets).items() if count > 1}
    for code, source in present.items():
        name = f"{source.judge} ({source.judge_set})" if source.judge in several else source.judge
        names.setdefault(name, []).append(code)
    return {name: scores.take(np.isin(scores.source, codes)) for name, codes in names.items()}


def items(scores: Scores) -> list[RatedItem]:
    """Return the item of each entry."""
    ids = scores.question_ids
    choices = [source.choice for source in scores.sources]
    names = (*scores.models, "")
    columns = (scores.question, scores.turn, scores.model, scores.opponent, scores.source)
    result = []
    for question, turn, model, opponent, source in zip(
        *(column.tolist() for column in columns), strict=True
    ):
        first, second = names[model], names[opponent]
        models = (first,) if not second else (first, second) if first < second else (second, first)
        result.append(RatedItem(ids[question], turn, models, choices[source]))
    return result


def is_turned(scores: Scores) -> Bools:
    """Return which entries are pairs whose item names their opponent first."""
    names = (*scores.models, "")
    places = np.empty(len(names), dtype=np.int64)
    places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    result: Bools = (scores.opponent >= 0) & (places[scores.model] > places[scores.opponent])
    return result


def values(scores: Scores) -> Floats:
    """Return grades, and of pairs the share that goes to the item's first model."""
    return np.where(is_turned(scores), 1 - scores.value, scores.value)


def mean_verdicts(scores: Scores) -> dict[RatedItem, float]:
    """Return the mean of the verdicts on each item."""
    by_item: dict[RatedItem, list[float]] = {}
    for item, value in item_values(scores):
        by_item.setdefault(item, []).append(value)
    return {item: sum(found) / len(found) for item, found in by_item.items()}


def preferences(judged: Scores, pairs: Iterable[RatedItem]) -> dict[RatedItem, float]:
    """Return one judge's verdict on some pairs; where it compared none, as its grades decide."""
    wanted = dict.fromkeys(pairs)
    if not wanted:
        return {}
    verdicts = mean_verdicts(judged.take(judged.opponent >= 0))
    if verdicts:
        return {item: verdicts[item] for item in wanted if item in verdicts}
    grades = mean_verdicts(judged.of(metric=SCORE))
    decided = {}
    for item in wanted:
        first, second = (grades.get(item.answer_of(model)) for model in item.models)
        if first is not None and second is not None:
            decided[item] = 0.5 + np.sign(first - second).item() / 2
    return decided
