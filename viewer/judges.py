"""The tab Judges: a row a judge, each number a link to the questions behind it.

    judge   pairs  flipped  first  agrees with people  longer wins  repeats  no verdict
    gpt-4     160      34%    61%                 85%          68%       –           0

The rows are read one by one; of each its numbers are kept.
"""

import functools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, TypeAlias

from markupsafe import Markup

from harness.bench import name_of
from harness.extras.judges.data import Item, of_judgment
from harness.extras.judges.estimates import share
from harness.extras.judges.position import kind
from harness.models.prices import list_price
from harness.reporting.charts import marks
from harness.reporting.html import table_html
from harness.reporting.page import Column, Table, row_of
from harness.types import QuestionId
from viewer import pages
from viewer.data import Data
from viewer.pages import Site
from viewer.state import View

Shares: TypeAlias = list[tuple[QuestionId, bool]]
"""Of what a share is made: a question, and whether it is so there."""
Votes: TypeAlias = Mapping[Item, Mapping[str, bool]]
"""People's votes that are no ties: by pair and voter, whether the first model won."""
PEOPLE = "people among themselves"
COLUMNS = [
    Column("judge"),
    Column("verdicts"),
    Column("pairs", help="pairs judged in both orders"),
    Column("flipped", "flipped %", "%", help="the other model won when the order was swapped"),
    Column("flipped", "95% interval", "interval%"),
    Column("first", "first wins %", "%", help="of the flipped pairs: the answer shown first won"),
    Column("agrees", "agrees with people %", "%", help="verdicts and votes that are no ties"),
    Column("agrees", "95% interval", "interval%"),
    Column("compared", "votes compared"),
    Column("longer", "longer wins %", "%", help="of decided pairs of unlike length"),
    Column("repeats", "repeats %", "%", help="the same verdict when judged again"),
    Column("failed", "no verdict"),
    Column("tokens", "tokens each", ".0"),
    Column("dollars", "$ per 1,000", ".2", help="1,000 calls at the listed price"),
    Column("seconds", "seconds each", ".1"),
]


@dataclass
class _Judge:
    """The numbers of one judge's rows."""

    verdicts: int = 0
    failed: int = 0
    values: dict[Item, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Grades, and of pairs the share that goes to the first model."""
    flipped: Shares = field(default_factory=list)
    """The pairs judged in both orders."""
    first: list[bool] = field(default_factory=list)
    """The flipped pairs: whether the answer shown first won."""
    costs: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Tokens, seconds, and dollars for a thousand such calls, of each call."""


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    rows, by_category = judge_rows(data)
    if not [row for row in rows if row["judge"] != PEOPLE]:
        return pages.notice("No judge has judged the answers yet.")

    def link(row: Mapping[str, Any], column: Column) -> str | None:
        return site.href(_behind(view, row, column)) or None if row["judge"] != PEOPLE else None

    categories = [name for row in by_category[:1] for name in row["category"]]
    flips = [Column("judge"), *(Column("category", "", "%", of=name) for name in categories)]
    agreement = [row for row in rows if "agrees" in row]
    return pages.render(
        "judges.html",
        judges=Markup(table_html(Table("judges", COLUMNS, rows), link)),
        flips=Markup(table_html(Table("flips by category", flips, by_category), link))
        if categories
        else "",
        chart=Markup(_bars(agreement)) if agreement else "",
        guessing=any(row["flipped"].value > 1 / 3 for row in rows if "flipped" in row),
    )


def _behind(view: View, row: Mapping[str, Any], column: Column) -> View:
    """Return the questions behind a number."""
    key = column.key
    pair, grade = row["pair"], row.get("grade", "")
    questions = View("questions", view.bench, verdicts=grade or pair)
    if key in ("flipped", "pairs", "first"):
        return questions.to(verdicts=pair, only="flipped" if key != "pairs" else "", sort="flip")
    if key == "failed":
        return questions.to(only="failed")
    if key in ("agrees", "repeats"):
        return questions.to(sort="disagreement")
    if key in ("judge", "verdicts"):
        return questions
    return questions.to(verdicts=pair, only="flipped", category=column.of)


def _bars(rows: Sequence[Mapping[str, Any]]) -> str:
    columns, label = [Column("agrees", format=".2")], "agreement with people's votes"
    return marks(rows, columns, label, name="judge", scale=(0.0, 1.0), bar=True)


def judge_rows(data: Data) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for each judge and one for people, and the flips of each judge by category."""
    votes = _votes(data)
    lengths = {
        (name_of(file.split(".jsonl")[0]), row.question_id): row.characters
        for file, row in data.index.slims("answer")
    }
    panels = {
        (judge, verdicts.panel.form): name
        for name, verdicts in reversed(data.verdicts.items())
        for judge in verdicts.panel.judges
    }
    rows: list[dict[str, Any]] = []
    by_category = []
    for name, judge in _judges(data).items():
        pair = panels.get((name, "pair"), "")
        row: dict[str, Any] = {
            "judge": name,
            "pair": pair,
            "grade": panels.get((name, "grade"), panels.get((name, "label"), "")),
            "verdicts": judge.verdicts,
            "failed": judge.failed or None,
            "first": _mean(judge.first),
            "longer": _mean(_longer(judge, lengths)),
            "repeats": _mean(a == b for v in judge.values.values() for a, b in combinations(v, 2)),
            **_agreement(_compared(judge, votes)),
            **{name: statistics.fmean(numbers) for name, numbers in judge.costs.items()},
        }
        if judge.flipped:
            row |= row_of({"pairs": len(judge.flipped)}, flipped=share(judge.flipped))
            flips: dict[str, list[bool]] = defaultdict(list)
            for key, is_flipped in judge.flipped:
                flips[data.bench.by_id[key].category].append(is_flipped)
            means = {category: _mean(values) for category, values in flips.items()}
            by_category.append({"judge": name, "pair": pair, "category": means})
        rows.append(row)
    among = [
        (item.question, a == b)
        for item, by_voter in votes.items()
        for a, b in combinations(by_voter.values(), 2)
    ]
    if among:
        rows.append({"judge": PEOPLE, **_agreement(among)})
    return rows, by_category


def agreement_of(data: Data, voter: str) -> list[dict[str, Any]]:
    """Return for each judge how far it agrees with one person's votes."""
    votes = {item: {voter: by[voter]} for item, by in _votes(data).items() if voter in by}
    compared = {name: _compared(judge, votes) for name, judge in _judges(data).items()}
    return [{"judge": name, **_agreement(shares)} for name, shares in compared.items() if shares]


@functools.lru_cache(maxsize=1)
def _judges(data: Data) -> dict[str, _Judge]:
    """Return the judges' numbers, the judge with the most verdicts first."""
    judges: dict[str, _Judge] = defaultdict(_Judge)
    price_of = functools.cache(list_price)
    for _, row in data.index.slims("judgment"):
        if row.question_id not in data.bench.by_id:
            continue
        judge, price = judges[row.judge_model], price_of(row.judge_model)
        judge.verdicts += 1
        judge.failed += row.failed
        for detail in row.details:
            usage, dollars = detail.usage, price.cost(detail) if price else None
            if usage.completion_tokens is not None:
                judge.costs["tokens"].append((usage.prompt_tokens or 0) + usage.completion_tokens)
            if dollars is not None:
                judge.costs["dollars"].append(1000 * dollars)
            if detail.seconds is not None:
                judge.costs["seconds"].append(detail.seconds)
        verdict = of_judgment(row)
        if isinstance(verdict.value, int | float):
            judge.values[verdict.item].append(verdict.value)
        if verdict.value is not None and len(verdict.games) == 2:
            flip = kind(verdict)
            judge.flipped.append((row.question_id, flip.startswith("biased")))
            if flip.startswith("biased"):
                judge.first.append(flip == "biased_first")
    return dict(sorted(judges.items(), key=lambda pair: -pair[1].verdicts))


def _votes(data: Data) -> Votes:
    votes: dict[Item, dict[str, bool]] = defaultdict(dict)
    for _, row in data.index.slims("vote"):
        models = tuple(sorted((row.model_a, row.model_b)))
        winner = {"model_a": row.model_a, "model_b": row.model_b}.get(row.winner)
        if winner is not None:
            votes[Item(row.question_id, row.turn, models)][row.voter] = winner == models[0]
    return votes


def _compared(judge: _Judge, votes: Votes) -> Shares:
    """Return for each vote whether a judge agrees with it; ties are left out.

    The judge's verdict on the pair counts; without one, the higher of its two grades.
    """
    shares = []
    for item, by_voter in votes.items():
        if item in judge.values:
            lead = statistics.fmean(judge.values[item]) - 0.5
        else:
            grades = [judge.values.get(item.answer_of(m), [math.nan]) for m in item.models]
            lead = statistics.fmean(grades[0]) - statistics.fmean(grades[1])
        if abs(lead) > 0:
            shares += [(item.question, (lead > 0) == vote) for vote in by_voter.values()]
    return shares


def _agreement(shares: Shares) -> dict[str, Any]:
    if not shares:
        return {}
    return row_of({"compared": len(shares)}, agrees=share(shares))


def _longer(judge: _Judge, lengths: Mapping[tuple[str, QuestionId], list[int]]) -> Iterable[bool]:
    """Yield of each decided pair of unlike length whether the longer answer won."""
    for item, values in judge.values.items():
        turns = [lengths.get((model, item.question), ()) for model in item.models]
        sizes = [characters[item.turn - 1] for characters in turns if item.turn <= len(characters)]
        if len(sizes) == 2 and sizes[0] != sizes[1]:
            for value in values:
                if value != 0.5:
                    yield (value > 0.5) == (sizes[0] > sizes[1])


def _mean(values: Iterable[bool]) -> float | None:
    numbers = list(values)
    return statistics.fmean(numbers) if numbers else None
