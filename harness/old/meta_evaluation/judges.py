"""People's votes and judges' verdicts on the same pairs -> a table with a row for each judge, and which to choose.

With a, b in [0, 1] the preferences of two annotations for an item's first answer, their agreement is 1 - |a - b|: 1 if
they are equal, 0.5 if one of them is a tie. The mode of several is the most frequent one (a tie if there is none; the
median if one is graded).

    human_agreement  each annotation of the judge with the mode of the people's votes on the item; for people,
                     each vote with the mode of the others
    bias             1 - agreement of the mode of the judge's samples with the mode of the people's votes
    variance         1 - agreement of each sample with the mode of the judge's other samples
    prefer_longer    share of the verdicts without a tie, on pairs whose lengths differ by more than 30 characters, that
                     go to the longer answer; prefer_lists the same on pairs in which only one answer has a list
    prefer_first     share of the games that go to the answer shown first, a tie counting half
    spearman, pearson    of the models' win rates with the judge and with the people, on the items that have votes
    price, seconds   dollars and seconds for 1,000 annotations

Two items, votes 1, 1, 0 and 0, 0; a judge says 1, 1 and 0, 1 in two samples. Modes of the people 1 and 0; agreement
(1 + 1 + 1 + 0) / 4 = 0.75; modes of the judge 1 and 0.5: bias (0 + 0.5) / 2 = 0.25; variance (0 + 0 + 1 + 1) / 4 = 0.5.

Intervals resample questions with all their annotations. Those of correlations are the value ± 1.96 standard
deviations of resampled ones: resampling adds noise, and noise attenuates a correlation, so quantiles are too low (a
percentile bootstrap covered 0 to 93% with 80 questions). They are about the correlation that as many questions and
votes give, which is smaller than that of the true win rates. Simulated coverage with 4 to 20 models, four votes and one
sample an item: 88-100% with 30 to 300 questions, 81-97% with 10.

`compatible` counts as AlpacaEval 0.6.6 does: the first four votes and samples on items that have four votes; where
several values are as frequent the mode is that of `votes`; length and lists by the first annotation of an item;
prefer_first is what goes to the item's first answer; models with more than 100 votes.

Source: Dubois et al. 2023 (AlpacaFarm, arXiv 2305.14387), section 4 and appendix; tatsu-lab/alpaca_eval.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from harness.old.judging.builtin import FIRST, LONGEST, RANDOM, RULES
from harness.old.judging.rules import longer
from harness.old.meta_evaluation.annotations import PEOPLE, Annotated, Annotation, Game, Items, Judge
from harness.old.meta_evaluation.contingency import mean_ranks, quotient, resampled
from harness.old.meta_evaluation.votes import Item, mode
from harness.old.records import content_hash
from harness.old.results.cost import Spent
from harness.old.results.matrix import Floats
from harness.old.results.statistics.bootstrap import LEAST, NONE, Estimate, estimates

MEASURES = ("human_agreement", "bias", "variance", "prefer_longer", "prefer_lists", "prefer_first")
CORRELATIONS = ("spearman", "pearson")
SAMPLES = 4
"""For the baseline judges that are not in the files, and for all judges with `compatible`."""
LONGER_BY = 30
"""Characters by which one of two answers must be longer to be the longer one."""
_MOST_VOTES = 100
_LIST_ITEM = re.compile(r"^[^\S\n]*(?:[*•-]|\d+[.)]|[A-Za-z][.)](?=[^\S\n]))[^\S\n]*\w", re.MULTILINE)
Part: TypeAlias = tuple[Item, float, float]
"""An item, what it adds to a sum, and how much it counts."""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """The measures of one judge."""

    judge: Judge
    measures: Mapping[str, Estimate]
    """Those of `MEASURES` and `CORRELATIONS`; a value of None where one does not exist, as variance with one sample."""
    price: float | None
    """Dollars for 1,000 annotations; None where tokens or the price are unknown."""
    seconds: float | None
    parsed: int
    """Annotations with a verdict."""
    unparsed: int
    samples: int
    """The most annotations that an item has."""
    win_rates: Mapping[str, tuple[float, float]]
    """For each model with this judge and with the people, on what this judge judged."""


def has_list(text: str) -> bool:
    """Return whether a line of the text is an item of a list."""
    return _LIST_ITEM.search(text) is not None


def with_rules(found: Items) -> Items:
    """Return the annotations that count, with those of each baseline of `RULES` that is in no file; `compatible`
    items."""
    if found.compatible:
        found = found.only(lambda item: len(values_of(found.people[item])) >= SAMPLES, most=SAMPLES)
    said = dict(found.said)
    there = {judge.name for judge in said}
    for name in RULES:
        items = [item for item in found.people if name != LONGEST or item in found.texts]
        if items and name not in there:
            said[Judge(name, "")] = {
                item: [_ruled(name, item, sample, found) for sample in range(SAMPLES)] for item in items
            }
    return replace(found, said=said)


def judge_rows(found: Items) -> list[JudgeRow]:
    """Return a row for the people, then one for each judge."""
    voted = {item: values for item, own in found.people.items() if (values := values_of(own))}
    gold = {item: mode(values, compatible=found.compatible) for item, values in voted.items()}
    return [_row(judge, said, gold, found) for judge, said in found.said.items()]


def _ruled(name: str, item: Item, sample: int, found: Items) -> Annotation:
    """Return the verdict of a baseline; it sees the item's first answer first."""
    if name == RANDOM:
        value = float(int(content_hash(*item, sample), 16) % 2)
    elif name == FIRST:
        value = 1.0
    else:
        side = longer(*map(len, found.texts[item]))
        value = {"A": 1.0, "B": 0.0, "tie": 0.0 if found.compatible else 0.5}[side]
    return Annotation(value, (Game(value, True),), Spent(0.0, 0.0))


def values_of(own: Sequence[Annotation]) -> list[float]:
    """Return the verdicts among annotations."""
    return [one.value for one in own if one.value is not None]


def _row(judge: Judge, said: Annotated, gold: Mapping[Item, float], found: Items) -> JudgeRow:
    values = {item: given for item, own in said.items() if (given := values_of(own))}
    samples = max(map(len, values.values()), default=0)
    parts = _parts(judge, said, values, gold, found)
    measured = _estimated([parts[name] for name in MEASURES], found)
    both = [item for item in values if item in gold]
    models, tables = rate_tables(both, values, {item: values_of(found.people[item]) for item in both}, found)
    correlated = _correlated(judge, models, tables, found)
    whole = tables.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.stack([whole[0] / whole[1], whole[2] / whole[3]], axis=1).tolist()
    annotations = [one for own in said.values() for one in own]
    parsed = sum(len(own) for own in values.values())
    return JudgeRow(
        judge,
        dict(zip((*MEASURES, *CORRELATIONS), (*measured, *correlated), strict=True)),
        _per_thousand([one.spent.dollars for one in annotations]),
        _per_thousand([one.spent.seconds for one in annotations]),
        parsed,
        len(annotations) - parsed,
        samples,
        dict(zip(models, map(tuple, rates), strict=True)),
    )


def _per_thousand(spent: Sequence[float | None]) -> float | None:
    known = [one for one in spent if one is not None]
    return 1000 * sum(known) / len(known) if known else None


def _parts(
    judge: Judge,
    said: Annotated,
    values: Mapping[Item, Sequence[float]],
    gold: Mapping[Item, float],
    found: Items,
) -> dict[str, list[Part]]:
    """Return what each item adds to each of `MEASURES`."""
    compatible = found.compatible
    several = {item: own for item, own in values.items() if len(own) > 1}
    apart = {item: _apart_from_others(own, compatible=compatible) for item, own in several.items()}
    known = {item: own for item, own in values.items() if item in gold}
    agree = {item: [1 - abs(value - gold[item]) for value in own] for item, own in known.items()}
    bias = {item: [abs(mode(several[item], compatible=compatible) - gold[item])] for item in known if item in several}
    if judge == PEOPLE:
        agree = {item: [1 - d for d in own] for item, own in apart.items()}
        bias = bias if compatible else {}
    to_first = {item: [game.to_shown for one in own for game in one.games] for item, own in said.items()}
    each = {"human_agreement": agree, "bias": bias, "variance": apart}
    each["prefer_first"] = {item: list(own) for item, own in values.items()} if compatible else to_first
    parts: dict[str, list[Part]] = {
        name: [(item, sum(own), len(own)) for item, own in by_item.items()] for name, by_item in each.items()
    }
    preferring = {"prefer_longer": _longer_one, "prefer_lists": _one_with_list}
    return parts | {name: list(_preferring(values, found, which)) for name, which in preferring.items()}


def _apart_from_others(values: Sequence[float], *, compatible: bool) -> list[float]:
    """Return how far each of several annotations is from the mode of the others."""
    return [abs(own - mode([*values[:at], *values[at + 1 :]], compatible=compatible)) for at, own in enumerate(values)]


def _preferring(
    values: Mapping[Item, Sequence[float]], found: Items, which: Callable[[str, str], int | None]
) -> Iterator[Part]:
    """Yield how often the answer that `which` names (0 or 1, None for neither) is preferred; ties do not count."""
    for item, own in values.items():
        if item in found.texts:
            wanted = which(*found.texts[item])
            decided = [v for v in (own[:1] if found.compatible else own) if v != 0.5]
            if wanted is not None and decided:
                yield item, sum((v < 0.5) == (wanted == 1) for v in decided), len(decided)


def _longer_one(one: str, other: str) -> int | None:
    apart = len(one) - len(other)
    return None if abs(apart) <= LONGER_BY else int(apart < 0)


def _one_with_list(one: str, other: str) -> int | None:
    held = has_list(one), has_list(other)
    return None if held[0] == held[1] else int(held[1])


def _estimated(columns: Sequence[Sequence[Part]], found: Items) -> list[Estimate]:
    """Return each column's ratio with its interval, which resamples questions."""
    sums, counts = np.zeros((2, len(found.questions), len(columns)))
    for at, parts in enumerate(columns):
        for item, value, weight in parts:
            place = found.questions[item.question_id]
            sums[place, at] += value
            counts[place, at] += weight
    return list(estimates(sums, counts, seed=found.seed, bounds=(0.0, 1.0)))


def rate_tables(
    items: Sequence[Item],
    own: Mapping[Item, Sequence[float]],
    theirs: Mapping[Item, Sequence[float]],
    found: Items,
) -> tuple[list[str], Floats]:
    """Return the models, and questions × 4 × models: sum and number of the judge's shares, then the people's.

    A model that is in every pair, as a baseline is, has no place in a ranking and is left out.
    """
    often = Counter(model for item in items for model in (item.first, item.second))
    models = [model for model in sorted(often) if often[model] < len(items)]
    if found.compatible:
        votes: Counter[str] = Counter()
        for item in items:
            votes.update({item.first: len(theirs[item]), item.second: len(theirs[item])})
        models = [model for model in models if votes[model] > _MOST_VOTES]
    place = {model: at for at, model in enumerate(models)}
    tables = np.zeros((len(found.questions), 4, len(models)))
    for item in items:
        question = found.questions[item.question_id]
        for row, values in ((0, own[item]), (2, theirs[item])):
            for model, share in ((item.first, sum(values)), (item.second, len(values) - sum(values))):
                if model in place:
                    tables[question, row : row + 2, place[model]] += (share, len(values))
    return models, tables


def _correlated(judge: Judge, models: Sequence[str], tables: Floats, found: Items) -> list[Estimate]:
    """Return Spearman's and Pearson's correlation of the two columns of win rates."""
    if len(models) < 3 or (judge == PEOPLE and not found.compatible):
        return [NONE, NONE]
    present = np.flatnonzero(tables.any(axis=(1, 2)))
    correlations = []
    for ranked in (True, False):
        statistic = partial(_correlation, ranked=ranked)
        value = float(statistic(tables.sum(axis=0)))
        low = high = None
        if not math.isnan(value) and len(present) >= LEAST:
            drawn = resampled(tables[present], statistic, seed=found.seed)
            if len(drawn) and (spread := 1.96 * float(np.std(drawn))) > 1e-9:
                low, high = max(-1.0, value - spread), min(1.0, value + spread)
        correlations.append(Estimate(None if math.isnan(value) else value, low, high, len(present), None))
    return correlations


def _correlation(tables: Floats, *, ranked: bool) -> Floats:
    """Return the correlation of the win rates in summed tables (last two axes); NaN where a side does not vary."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = [tables[..., at, :] / tables[..., at + 1, :] for at in (0, 2)]
    if ranked:
        sides = [mean_ranks(np.round(side, 12)) for side in sides]  # rates that differ by rounding alone are tied
    one, other = (side - side.mean(axis=-1, keepdims=True) for side in sides)
    spread = np.sqrt((one**2).sum(axis=-1) * (other**2).sum(axis=-1))
    return quotient((one * other).sum(axis=-1), np.where(spread > 1e-12, spread, 0.0))
