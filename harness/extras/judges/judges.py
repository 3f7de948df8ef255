"""Which judge to choose: each judge of pairs beside people's votes on the same pairs.

With a, b the shares that two annotations give to an item's first answer, they agree by 1 − |a − b|.
The mode of several is the most frequent one: a tie if there is none, the median of weighed ones.

    human_agreement  a judge's mean verdict and each vote, where both decide (`results.agreement`);
                     of people, every two votes; a judge that graded decides by its grades
    bias             1 − agreement of the mode of the judge's samples with the mode of the votes
    variance         1 − agreement of each sample with the mode of the others
    prefer_longer    decided verdicts for the longer answer, where lengths differ by over 30
                     characters; prefer_lists the same where only one answer has a list
    prefer_first     the share of games that goes to the answer shown first, a tie counting half
    spearman, pearson    of the models' win rates by the judge and by people
    price, seconds   for 1,000 pairs

Votes 1, 1, 0 and 0, 0; a judge says 1, 1 and 0, 1: agreement 2 / 3 (its samples tie on the second
item), bias (0 + 0.5) / 2. The rule that the longer answer wins, `builtin/longest`, is a yardstick.

`--compatible` counts and names the columns as alpaca_eval does: each verdict beside the mode of the
votes, the first four votes and samples of items with four votes, its tie rules, models with over
100 votes.

Source: Dubois et al. 2023 (arXiv:2305.14387), section 4; tatsu-lab/alpaca_eval.
"""

import csv
import functools
import math
import pathlib
import re
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np

from harness import store
from harness.errors import MissingError, UsageError
from harness.extras.judges.agreement import correlation, rank_correlation
from harness.extras.judges.data import (
    Data,
    Game,
    RaterVerdict,
    by_item,
    itself,
    load,
    verdicts_of,
)
from harness.extras.judges.estimates import share
from harness.options import JudgeReport
from harness.reporting import Cell, Column, Note, Page, Table, formats, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import judges_in_words
from harness.results import Estimate
from harness.results.agreement import RatedItem, among, rank_judges, verdicts_on
from harness.results.reading import whole_rows
from harness.results.spent import Cost
from harness.types import Detail, Judgment, QuestionId, Usage, content_hash

PEOPLE = "people"
LONGEST = "builtin/longest"
SAMPLES = 4
"""Votes and samples that alpaca_eval takes of each item."""
NOTHING = share([])
NO_CALL = Detail(seconds=0.0, usage=Usage(prompt_tokens=0, completion_tokens=0))
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

Verdicts: TypeAlias = Mapping[RatedItem, Sequence[RaterVerdict]]
Values: TypeAlias = Mapping[RatedItem, Sequence[float]]


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return a row for the people and one for each judge, the one that agrees most first."""
    data, compatible = load(options), options.compatible
    judged = _judged(data)
    texts = {item: data.texts(item) for item in judged[PEOPLE]}
    if LONGEST not in judged:
        longest = [_longest(item, both, compatible) for item, both in texts.items() if both]
        if longest:
            judged[LONGEST] = by_item(v for v in longest for _ in range(SAMPLES))
    if compatible:
        judged = _first_four(judged)
    votes = _values(judged[PEOPLE])
    gold = {item: mode(values, compatible=compatible) for item, values in votes.items()}
    decided = verdicts_on(data.judges, data.people)
    if LONGEST not in decided:
        decided[LONGEST] = _longest_wins(texts)
    ranked = rank_judges(decided, data.people)
    agreement = {one.judge: one.agreement.rate for one in ranked}
    agreement[PEOPLE] = among(data.people).rate
    calls = _calls(data, chain(*(of.values() for of in judged.values())))
    rows = {}
    for name, verdicts in judged.items():
        estimates = _estimates(verdicts, gold, texts, people=name == PEOPLE, compatible=compatible)
        if not compatible:
            estimates["human_agreement"] = agreement.get(name, NOTHING)
        correlations = _correlations(_values(verdicts), votes, least=100 if compatible else 0)
        judge, judge_set = _names(data, name)
        rows[name] = row_of({"judge": judge, "judge_set": judge_set}, **estimates)
        given = list(chain(*verdicts.values()))
        rows[name] |= correlations | _costs(judge, given, calls, cost)
    places = [PEOPLE, *(one.judge for one in ranked)]
    names = sorted(rows, key=lambda name: places.index(name) if name in places else len(places))
    ordered = [rows[name] for name in names]
    (_, heading, form, _, _), *more = COLUMNS
    columns = [Column("judge"), Column("judge_set", optional=True)]
    columns += interval_columns("human_agreement", heading, form)
    for key, heading, form, *_ in more:
        columns.append(Column(key, heading, form, optional=key != "price"))
    notes = itself(data.judges)
    if all(row["bias"].value is None for row in ordered if row["judge"] not in ("people", LONGEST)):
        notes += [Note("Bias and variance need two samples or more", "gen_judgment --samples 4")]
    page = Page(
        _advice(data, decided),
        [Table("", columns, ordered)],
        notes=notes,
        title="judges",
        facts={"report": "judges"},
        rows=[_alpaca_row(row) for row in ordered] if compatible else None,
    )
    if options.table is not None:
        digest = content_hash(sorted((item, sorted(values)) for item, values in votes.items()))
        _extend_table(options.table, page.all_rows, digest, overwrite=options.overwrite)
    return Result(page)


REPORT = PageKind(_show)


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


def _judged(data: Data) -> dict[str, dict[RatedItem, list[RaterVerdict]]]:
    """Return the votes on pairs and the verdicts on the same pairs, by judge.

    An item's first answer is the one that the first vote on it names first.
    """
    votes = [v for v in data.votes() if v.paired and v.voter]
    if not votes:
        raise MissingError("there are no votes on pairs; vote in the viewer, or name --votes FILE")
    swap: dict[RatedItem, bool] = {}
    for v in votes:
        swap.setdefault(v.item, not v.games[0].first)
    judged = {PEOPLE: votes}
    decided = data.preferences()
    for name, scores in data.judges.items():
        pairs = verdicts_of(scores.take(scores.opponent >= 0))
        verdicts = sorted(pairs, key=lambda v: v.sample) if pairs else decided.get(name, [])
        same_pairs = [v for v in verdicts if v.item in swap and v.value is not None]
        if same_pairs:
            judged[name] = same_pairs
    if len(judged) < 2:
        advice = "run gen_judgment --votes"
        raise MissingError(f"no judge has judged a pair that people voted on; {advice}")
    return {
        name: by_item(_swapped(v) if swap[v.item] else v for v in verdicts)
        for name, verdicts in judged.items()
    }


def _names(data: Data, name: str) -> tuple[str, str | None]:
    """Return a judge and its judge set."""
    if name not in data.judges:
        return name, None
    sources = data.judges[name].sources_present.values()
    sets = {source.versioned_set for source in sources}
    judge, judge_set = next((source.judge, source.judge_set) for source in sources)
    return judge, sets.pop() if len(sets) == 1 else judge_set


def _swapped(v: RaterVerdict) -> RaterVerdict:
    item = v.item._replace(models=v.item.models[::-1])
    games = tuple(Game(1 - game.value, not game.first) for game in v.games)
    return v._replace(item=item, value=1 - v.number, games=games)


def _longest(item: RatedItem, texts: Sequence[str], compatible: bool) -> RaterVerdict:
    """Return the verdict of the rule that the longer answer wins."""
    first, second = map(len, texts)
    value = 0.5 if first == second and not compatible else float(first > second)
    return RaterVerdict(item, LONGEST, value, (Game(value, True),))


def _longest_wins(texts: Mapping[RatedItem, Sequence[str] | None]) -> dict[RatedItem, float]:
    """Return the verdicts of the same rule on pairs whose models are in the order of names."""
    verdicts = [_longest(item, both, compatible=False) for item, both in texts.items() if both]
    in_order = [v if v.item.models[0] < v.item.models[1] else _swapped(v) for v in verdicts]
    return {v.item: v.number for v in in_order}


def _first_four(judged: Mapping[str, Verdicts]) -> dict[str, dict[RatedItem, list[RaterVerdict]]]:
    """Return the first four votes and samples of the items that have four votes."""
    items = {item for item, votes in judged[PEOPLE].items() if len(votes) >= SAMPLES}
    if not items:
        raise UsageError("no pair has four votes; leave --compatible out")
    first_four: dict[str, dict[RatedItem, list[RaterVerdict]]] = {}
    for name, verdicts in judged.items():
        first_four[name] = {i: list(of[:SAMPLES]) for i, of in verdicts.items() if i in items}
    return first_four


def _values(verdicts: Verdicts) -> dict[RatedItem, list[float]]:
    """Return the shares of each item's first answer."""
    return {item: [v.number for v in of_item] for item, of_item in verdicts.items()}


def _estimates(
    verdicts: Verdicts,
    gold: Mapping[RatedItem, float],
    texts: Mapping[RatedItem, Sequence[str] | None],
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
                rest = values[:at] + values[at + 1 :]
                distances.append(abs(value - mode(rest, compatible=compatible)))
        agreed = [1 - abs(value - gold[item]) for value in values]
        bias = abs(mode(values, compatible=compatible) - gold[item])
        first_won = [v > 0.5 for v in (values[:1] if compatible else values) if v != 0.5]
        longer, listed = _longer(texts[item]), _with_list(texts[item])
        games = [game for v in verdicts[item] for game in v.games]
        measures: dict[str, list[float]] = {
            "human_agreement": [1 - distance for distance in distances] if people else agreed,
            "bias": [bias] if distances else [],
            "variance": distances,
            "prefer_longer": [won == longer for won in first_won if longer is not None],
            "prefer_lists": [won == listed for won in first_won if listed is not None],
            "prefer_first": [game.value if game.first else 1 - game.value for game in games],
        }
        for name, measured in measures.items():
            parts.setdefault(name, []).extend((item.question, value) for value in measured)
    questions = [item.question for item in gold]
    return {name: share(values, questions) for name, values in parts.items()}


def _longer(texts: Sequence[str] | None) -> bool | None:
    """Return whether the first text is the longer one; None: neither is by over 30 characters."""
    more = len(texts[0]) - len(texts[1]) if texts is not None else 0
    return more > 0 if abs(more) > 30 else None


def _with_list(texts: Sequence[str] | None) -> bool | None:
    """Return whether the first text alone has a list; None: both or neither."""
    first, second = (_LIST_ITEM.search(text) is not None for text in texts or ("", ""))
    return first if first != second else None


def _correlations(values: Values, votes: Values, *, least: int) -> dict[str, float | None]:
    """Return the correlations of the models' win rates by this judge and by people.

    A model that is in every pair, as a baseline is, has no place in a ranking; nor have those with
    no more than `least` votes.
    """
    by_judge, by_people = _shares(values), _shares({item: votes[item] for item in values})
    pairs = Counter(model for item in values for model in item.models)
    models = [m for m in by_people if pairs[m] < len(values) and len(by_people[m]) > least]
    x, y = (
        np.array([round(statistics.fmean(shares[model]), 12) for model in models])
        for shares in (by_judge, by_people)
    )
    measures = {"spearman": rank_correlation, "pearson": correlation}
    row = {name: f(x, y) if len(models) >= 3 else math.nan for name, f in measures.items()}
    return {name: None if math.isnan(value) else value for name, value in row.items()}


def _shares(values: Values) -> dict[str, list[float]]:
    """Return the shares of each model."""
    shares: dict[str, list[float]] = {}
    for item, of_first in values.items():
        first, second = item.models
        shares.setdefault(first, []).extend(of_first)
        shares.setdefault(second, []).extend(1 - value for value in of_first)
    return shares


def _calls(data: Data, verdicts: Iterable[Sequence[RaterVerdict]]) -> dict[int, Sequence[Detail]]:
    """Return the calls that gave the verdicts, by the number of the row."""
    rows = {v.row for of_item in verdicts for v in of_item if not v.voter}
    scores = data.scores.take(np.isin(data.scores.row, list(rows)))
    judged = whole_rows(scores)
    return {number: row.details for number, row in judged if isinstance(row, Judgment)}


def _costs(
    judge: str,
    verdicts: Sequence[RaterVerdict],
    calls: Mapping[int, Sequence[Detail]],
    cost: Cost,
) -> dict[str, Any]:
    """Return what the verdicts cost, how long they took, and how many there are."""
    of_each = [calls.get(v.row, [NO_CALL] if judge == LONGEST else []) for v in verdicts]
    return {
        "price": _per_thousand(of_each, functools.partial(cost, judge)),
        "seconds": _per_thousand(of_each, attrgetter("seconds")),
        "parsed": len(verdicts),
    }


def _per_thousand(
    calls: Iterable[Sequence[Detail]], of_call: Callable[[Detail], float | None]
) -> float | None:
    """Return what the calls of 1,000 verdicts take, by the verdicts whose calls all say it."""
    sums = []
    for of_verdict in calls:
        numbers = [of_call(detail) for detail in of_verdict]
        if numbers and None not in numbers:
            sums.append(sum(filter(None, numbers)))
    return 1000 * statistics.fmean(sums) if sums else None


def _advice(data: Data, verdicts: Mapping[str, Mapping[RatedItem, float]]) -> str:
    """Return which judge to choose."""
    judges = {name: of for name, of in data.judges.items() if not name.startswith("builtin/")}
    text = judges_in_words(judges, data.people)
    if not text:
        return "Only simple rules have judged these pairs; judge them with a model to choose."
    best = rank_judges({name: verdicts[name] for name in judges}, data.people)[0].judge
    pair = rank_judges({name: verdicts[name] for name in (best, LONGEST)}, data.people)
    if pair[0].judge == LONGEST or any(one.behind and not one.behind.is_less for one in pair):
        text += f" {best} is not shown to agree more than the rule {LONGEST}: do not rely on it."
    return text


def _alpaca_row(row: Mapping[str, Any]) -> dict[str, Any]:
    renamed: dict[str, Any] = {"judge": row["judge"], "judge_set": row["judge_set"]}
    for name, _, _, theirs, unit in COLUMNS:
        value = row[name]
        if isinstance(value, Cell):
            renamed[theirs] = Cell(*(None if end is None else unit * end for end in value))
        else:
            renamed[theirs] = None if value is None else unit * value
    return renamed


def _extend_table(
    path: pathlib.Path, rows: Sequence[Mapping[str, Any]], votes: str, *, overwrite: bool
) -> None:
    """Add judges to a CSV file; those that it has are kept, or replaced with `overwrite`.

    Raises:
        UsageError: its judges were measured on other votes.
    """
    table: dict[tuple[str, str], Mapping[str, Any]] = {}
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
