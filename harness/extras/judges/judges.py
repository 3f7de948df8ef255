"""Which judge to choose: each judge of pairs beside people's votes on the same pairs.

With a, b the shares that two annotations give to an item's first answer, they agree by 1 − |a − b|.
The mode of several is the most frequent one: a tie if there is none, the median of weighed ones.

    human_agreement  each verdict with the mode of the votes; of people, each vote with the others'
    bias             1 − agreement of the mode of the judge's samples with the mode of the votes
    variance         1 − agreement of each sample with the mode of the others
    prefer_longer    decided verdicts for the longer answer, where lengths differ by over 30
                     characters; prefer_lists the same where only one answer has a list
    prefer_first     the share of games that goes to the answer shown first, a tie counting half
    spearman, pearson    of the models' win rates by the judge and by people
    price, seconds   for 1,000 pairs, at listed prices

Votes 1, 1, 0 and 0, 0; a judge says 1, 1 and 0, 1: agreement 3 / 4, bias (0 + 0.5) / 2. The rule
that the longer answer wins, `builtin/longest`, is a yardstick.

`--compatible` counts and names the columns as alpaca_eval does: the first four votes and samples of
items with four votes, its tie rules, models with over 100 votes.

Source: Dubois et al. 2023 (arXiv:2305.14387), section 4; tatsu-lab/alpaca_eval.
"""

import csv
import math
import pathlib
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from harness import store
from harness.errors import MissingError, UsageError
from harness.extras.judges.agreement import correlation, rank_correlation
from harness.extras.judges.data import Data, Game, Item, Verdict, by_judge, load
from harness.extras.judges.estimates import fields, interval_columns, share, words
from harness.models.prices import list_price
from harness.options import JudgeReport
from harness.reporting import Column, Note, Page, Table, formats
from harness.results import Estimate
from harness.types import Detail, QuestionId, content_hash

PEOPLE = ("people", "")
LONGEST = "builtin/longest"
SAMPLES = 4
"""Votes and samples that alpaca_eval takes of each item."""
COLUMNS = (
    ("human_agreement", "agrees with people %", "%", "Human agreement", 100),
    ("price", "$ / 1000", ".2", "Price [$/1000 examples]", 1),
    ("seconds", "s / 1000", ".0", "Time [seconds/1000 examples]", 1),
    ("spearman", "", ".2", "Spearman corr.", 1),
    ("pearson", "", ".2", "Pearson corr.", 1),
    ("bias", "bias %", "%", "Bias", 100),
    ("variance", "variance %", "%", "Variance", 100),
    ("prefer_longer", "longer %", "%", "Proba. prefer longer", 1),
    ("prefer_lists", "lists %", "%", "Proba. prefer lists", 1),
    ("prefer_first", "first %", "%", "Proba. prefer 1", 1),
    ("parsed", "verdicts", "", "# parsed", 1),
)
"""Field, heading, format; alpaca_eval's name, and its unit in ours."""
_LIST_ITEM = re.compile(r"^\s*(?:[*•-]|\d+[.)]|[A-Za-z][.)](?=\s))\s*\w", re.MULTILINE)
_TIED = {(0.0, 1.0): 0.0, (0.5, 1.0): 0.5, (0.0, 0.5): 0.0, (0.0, 0.5, 1.0): 1.0}
"""What alpaca_eval takes of values that are as frequent: pandas' sample with seed 123."""

Name: TypeAlias = tuple[str, str]
"""A judge and its judge set."""
Verdicts: TypeAlias = Mapping[Item, Sequence[Verdict]]
Values: TypeAlias = Mapping[Item, Sequence[float]]


def report(options: JudgeReport) -> Page:
    """Return a row for the people and one for each judge, the one that agrees most first."""
    data, compatible = load(options), options.compatible
    judged = _judged(data)
    texts = _texts(data, judged[PEOPLE])
    if LONGEST not in {judge for judge, _ in judged}:
        longest = [_longest(item, *both, compatible=compatible) for item, both in texts.items()]
        judged |= by_judge(v for v in longest for _ in range(SAMPLES))
    if compatible:
        judged = _first_four(judged)
    votes = _values(judged[PEOPLE])
    gold = {item: mode(values, compatible=compatible) for item, values in votes.items()}
    agreement: dict[Name, Estimate] = {}
    rows = {}
    for name, verdicts in judged.items():
        estimates = _estimates(verdicts, gold, texts, people=name == PEOPLE, compatible=compatible)
        agreement[name] = estimates["human_agreement"]
        correlations = _correlations(_values(verdicts), votes, least=100 if compatible else 0)
        rows[name] = {"judge": name[0], "judge_set": name[1] or None} | fields(**estimates)
        rows[name] |= correlations | _counts(name[0], verdicts)
    names = sorted(rows, key=lambda name: (name != PEOPLE, -(rows[name]["human_agreement"] or 0)))
    ordered = [rows[name] for name in names]
    (_, heading, form, _, _), *others = COLUMNS
    columns = [Column("judge"), Column("judge_set", optional=True)]
    columns += interval_columns("human_agreement", heading, form)
    for key, heading, form, *_ in others:
        columns.append(Column(key, heading, form, optional=key != "price"))
    notes = []
    if all(row["bias"] is None for row in ordered if row["judge"] not in ("people", LONGEST)):
        notes = [Note("Bias and variance need two samples or more", "gen_judgment --samples 4")]
    page = Page(
        _advice({name: agreement[name] for name in names}),
        [Table("", columns, ordered)],
        notes=notes,
        title="judges",
        facts={"report": "judges"},
        rows=[_alpaca_row(row) for row in ordered] if compatible else None,
    )
    if options.table is not None:
        digest = content_hash(sorted((item, sorted(values)) for item, values in votes.items()))
        _extend_table(options.table, page.all_rows, digest, overwrite=options.overwrite)
    return page


def mode(values: Sequence[float], *, compatible: bool = False) -> float:
    """Return the most frequent verdict; a tie if there is none, the median of weighed ones."""
    counts = Counter(values)
    if not counts.keys() <= {0.0, 0.5, 1.0}:
        return statistics.median(values)
    most = max(counts.values())
    modes = tuple(sorted(value for value, times in counts.items() if times == most))
    if len(modes) == 1:
        return modes[0]
    return _TIED[modes] if compatible else 0.5


def has_list(text: str) -> bool:
    """Return whether a line of a text is an item of a list."""
    return _LIST_ITEM.search(text) is not None


def _judged(data: Data) -> dict[Name, dict[Item, list[Verdict]]]:
    """Return the votes on pairs and the verdicts on the same pairs, by judge.

    An item's first answer is the one that the first vote on it names first.
    """
    votes = [v for v in data.votes() if v.paired]
    if not votes:
        raise MissingError("there are no votes on pairs; vote in the viewer, or name --votes FILE")
    swap: dict[Item, bool] = {}
    for v in votes:
        swap.setdefault(v.item, not v.games[0].first)
    verdicts = sorted(data.verdicts(paired=True), key=lambda v: v.sample)
    if not any(v.item in swap for v in verdicts):
        advice = "run gen_judgment --votes"
        raise MissingError(f"no judge has judged a pair that people voted on; {advice}")
    people = [v._replace(judge=PEOPLE[0], judge_set=PEOPLE[1]) for v in votes]
    same_pairs = [v for v in [*people, *verdicts] if v.item in swap]
    return by_judge(_swapped(v) if swap[v.item] else v for v in same_pairs)


def _swapped(v: Verdict) -> Verdict:
    item = v.item._replace(models=v.item.models[::-1])
    games = tuple(Game(1 - game.value, not game.first) for game in v.games)
    return v._replace(item=item, value=1 - v.number, games=games)


def _texts(data: Data, items: Iterable[Item]) -> dict[Item, tuple[str, str]]:
    """Return the texts of both answers, where they are known."""
    texts = {}
    for item in items:
        first, second = (data.text(model, item) for model in item.models)
        if first is not None and second is not None:
            texts[item] = (first, second)
    return texts


def _longest(item: Item, first: str, second: str, *, compatible: bool) -> Verdict:
    """Return the verdict of the rule that the longer answer wins."""
    value = float(len(first) > len(second))
    if len(first) == len(second) and not compatible:
        value = 0.5
    return Verdict(item, LONGEST, value, (Game(value, True),), details=[Detail(seconds=0.0)])


def _first_four(judged: Mapping[Name, Verdicts]) -> dict[Name, dict[Item, list[Verdict]]]:
    """Return the first four votes and samples of the items that have four votes."""
    items = {item for item, votes in judged[PEOPLE].items() if len(votes) >= SAMPLES}
    if not items:
        raise UsageError("no pair has four votes; leave --compatible out")
    return by_judge(
        v
        for verdicts in judged.values()
        for item in verdicts
        if item in items
        for v in verdicts[item][:SAMPLES]
    )


def _values(verdicts: Verdicts) -> dict[Item, list[float]]:
    """Return the shares of each item's first answer."""
    return {item: [v.number for v in own] for item, own in verdicts.items()}


def _estimates(
    verdicts: Verdicts,
    gold: Mapping[Item, float],
    texts: Mapping[Item, tuple[str, str]],
    *,
    people: bool,
    compatible: bool,
) -> dict[str, Estimate]:
    """Return a judge's agreement, bias, variance and preferences."""
    parts: dict[str, list[tuple[QuestionId, float]]] = {}
    for item, values in _values(verdicts).items():
        distances = []
        if len(values) > 1:
            for at, value in enumerate(values):
                others = mode(values[:at] + values[at + 1 :], compatible=compatible)
                distances.append(abs(value - others))
        agreed = [1 - abs(value - gold[item]) for value in values]
        bias = abs(mode(values, compatible=compatible) - gold[item])
        first_won = [v > 0.5 for v in (values[:1] if compatible else values) if v != 0.5]
        longer, listed = _longer(texts.get(item)), _with_list(texts.get(item))
        games = [game for v in verdicts[item] for game in v.games]
        measures: dict[str, list[float]] = {
            "human_agreement": [1 - distance for distance in distances] if people else agreed,
            "bias": [bias] if distances else [],
            "variance": distances,
            "prefer_longer": [won == longer for won in first_won if longer is not None],
            "prefer_lists": [won == listed for won in first_won if listed is not None],
            "prefer_first": [game.value if game.first else 1 - game.value for game in games],
        }
        for name, own in measures.items():
            parts.setdefault(name, []).extend((item.question, value) for value in own)
    questions = [item.question for item in gold]
    return {name: share(own, questions) for name, own in parts.items()}


def _longer(texts: tuple[str, str] | None) -> bool | None:
    """Return whether the first text is the longer one; None: neither is by over 30 characters."""
    more = len(texts[0]) - len(texts[1]) if texts is not None else 0
    return more > 0 if abs(more) > 30 else None


def _with_list(texts: tuple[str, str] | None) -> bool | None:
    """Return whether the first text alone has a list; None: both or neither."""
    first, second = map(has_list, texts or ("", ""))
    return first if first != second else None


def _correlations(values: Values, votes: Values, *, least: int) -> dict[str, float | None]:
    """Return the correlations of the models' win rates by this judge and by people.

    A model that is in every pair, as a baseline is, has no place in a ranking; nor have those with
    no more than `least` votes.
    """
    judge, people = _shares(values), _shares({item: votes[item] for item in values})
    pairs = Counter(model for item in values for model in item.models)
    models = [m for m in people if pairs[m] < len(values) and len(people[m]) > least]
    rates = [np.array([statistics.fmean(own[m]) for m in models]) for own in (judge, people)]
    by_judge, by_people = (rate.round(12) for rate in rates)
    found = {"spearman": math.nan, "pearson": math.nan}
    if len(models) >= 3:
        found = {"spearman": rank_correlation(by_judge, by_people), "pearson": correlation(*rates)}
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def _shares(values: Values) -> dict[str, list[float]]:
    """Return the shares of each model."""
    shares: dict[str, list[float]] = {}
    for item, own in values.items():
        first, second = item.models
        shares.setdefault(first, []).extend(own)
        shares.setdefault(second, []).extend(1 - value for value in own)
    return shares


def _counts(judge: str, verdicts: Verdicts) -> dict[str, Any]:
    """Return what the verdicts cost, how long they took, and how many there are."""
    price = list_price(judge)
    every = [v for own in verdicts.values() for v in own]
    dollars = [[price.cost(detail) if price else None for detail in v.details] for v in every]
    seconds = [[detail.seconds for detail in v.details] for v in every]
    return {
        "price": 0.0 if judge.startswith("builtin/") else _per_thousand(dollars),
        "seconds": _per_thousand(seconds),
        "parsed": len(every),
    }


def _per_thousand(calls: Sequence[Sequence[float | None]]) -> float | None:
    """Return the mean sum of the calls of a verdict, of those that state it, for 1,000."""
    sums = [sum(x for x in own if x is not None) for own in calls if own and None not in own]
    return 1000 * statistics.fmean(sums) if sums else None


def _advice(agreement: Mapping[Name, Estimate]) -> str:
    """Return which judge to choose; `agreement` has people first, then the best judge."""
    (_, people), *others = agreement.items()
    judges = [(name, own) for name, own in others if not name[0].startswith("builtin/")]
    text = "Only simple rules have judged these pairs; judge them with a model to choose"
    if judges:
        ((judge, _), best), *rest = judges
        text = f"{judge} agrees with people {words(best)} of the time"
        for (second, judge_set), own in rest[:1]:
            name = f"{second} ({judge_set})" if second == judge else second
            if _is_better(best, own):
                text += f", more than {name} ({words(own)})"
            else:
                text += f"; {name} ({words(own)}) is too close to call"
        if any(name == LONGEST and not _is_better(best, own) for (name, _), own in others):
            text += f". It does not agree more than the rule {LONGEST}: do not rely on it"
    if people.n:
        text += f". People agree with each other {100 * people.value:.0f}%"
    return f"{text}."


def _is_better(first: Estimate, second: Estimate) -> bool:
    gap = first - second
    return gap.value > 0 and gap.p is not None and gap.p < 0.05


def _alpaca_row(row: Mapping[str, Any]) -> dict[str, Any]:
    renamed: dict[str, Any] = {"judge": row["judge"], "judge_set": row["judge_set"]}
    for name, _, _, theirs, unit in COLUMNS:
        for end in ("", "_low", "_high"):
            if f"{name}{end}" in row:
                value = row[f"{name}{end}"]
                renamed[f"{theirs}{end}"] = None if value is None else unit * value
    return renamed


def _extend_table(
    path: pathlib.Path, rows: Sequence[Mapping[str, Any]], votes: str, *, overwrite: bool
) -> None:
    """Add judges to a CSV file; those that it has are kept, or replaced with `overwrite`.

    Raises:
        UsageError: its judges were measured on other votes.
    """
    table: dict[Name, Mapping[str, Any]] = {}
    if path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            table = {(row["judge"], row["judge_set"]): row for row in csv.DictReader(file)}
    if any(row["votes"] != votes for row in table.values()):
        raise UsageError(f"{path} has judges measured on other votes; name another --table")
    for row in rows:
        key = (row["judge"], row["judge_set"] or "")
        if overwrite or key not in table:
            table[key] = {**row, "votes": votes}
    store.write_file(path, formats.csv(Page("", rows=list(table.values()))) + "\n")
