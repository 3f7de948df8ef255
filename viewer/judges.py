"""The tab Judges: a row a judge, each number a link to the questions behind it.

    judge   pairs  flipped  first  agrees with people  longer wins  repeats  no verdict
    gpt-4     160      34%    61%                 85%          68%       –           0

The numbers are those of `judge_report`, by the same functions.
"""

import functools
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np
from markupsafe import Markup

from harness.cli.project import configs
from harness.reporting.charts import marks
from harness.reporting.html import table_html
from harness.reporting.page import Column, Table, row_of
from harness.reporting.people import judges_in_words
from harness.results import Scores
from harness.results.agreement import (
    Agreement,
    among,
    item_values,
    items,
    raters,
    values,
    with_votes,
)
from harness.results.position import flips
from harness.results.reading import rows_by_file
from harness.results.spent import Cost
from harness.types import Detail, Judgment, QuestionId
from viewer import pages
from viewer.data import Data
from viewer.pages import Site
from viewer.state import View

PEOPLE = "people among themselves"
COLUMNS = [
    Column("judge"),
    Column("verdicts"),
    Column("pairs", help="pairs judged in both orders"),
    Column("flipped", "flipped %", "%", help="the other model won when the order was swapped"),
    Column("flipped", "95% interval", "interval%"),
    Column("first", "flipped to first %", "%", help="of the flipped pairs: the first answer won"),
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
        sentence=judges_in_words(_judges(data), _votes(data)),
        judges=Markup(table_html(Table("judges", COLUMNS, rows), link)),
        flips=Markup(table_html(Table("flips by category", flips, by_category), link))
        if categories
        else "",
        chart=Markup(_bars(agreement)) if agreement else "",
        guessing=any(row["flipped"].value > 1 / 3 for row in rows if "flipped" in row),
    )


def _behind(view: View, row: Mapping[str, Any], column: Column) -> View:
    """Return the verdicts behind a number, or the questions behind a judge."""
    key = column.key
    pair, grade = row["pair"], row.get("grade", "")
    own = View("verdicts", view.bench, judge=row["of"])
    if key in ("judge", "verdicts"):
        return View("questions", view.bench, verdicts=grade or pair)
    only = {"failed": "none", "agrees": "people", "compared": "people", "repeats": "", "pairs": ""}
    only |= {"tokens": "", "dollars": "", "seconds": "", "longer": ""}
    return own.to(only=only.get(key, "flipped"), category=column.of if key == "category" else "")


def _bars(rows: Sequence[Mapping[str, Any]]) -> str:
    columns, label = [Column("agrees", format=".2")], "agreement with people's votes"
    return marks(rows, columns, label, name="judge", scale=(0.0, 1.0), bar=True)


def judge_rows(data: Data) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for each judge and one for people, and the flips of each judge by category."""
    panels = {
        (judge, verdicts.panel.form): name
        for name, verdicts in reversed(data.verdicts.items())
        for judge in verdicts.panel.judges
    }
    lengths = _lengths(data)
    votes = _votes(data)
    rows: list[dict[str, Any]] = []
    by_category = []
    for name, scores in _judges(data).items():
        judge = next(iter(scores.sources_present.values())).judge
        pair, found = panels.get((judge, "pair"), ""), flips(scores)
        judged = len(np.unique(scores.row))
        good = len(np.unique(scores.row[scores.valid]))
        row: dict[str, Any] = {
            "judge": name,
            "of": judge,
            "pair": pair,
            "grade": panels.get((judge, "grade"), panels.get((judge, "label"), "")),
            "verdicts": judged,
            "failed": judged - good or None,
            "first": found.counts["to_first"] / found.flipped if found.flipped else None,
            "longer": _mean(_longer(scores, lengths)),
            "repeats": _mean(_repeats(scores)),
            **_agreement(with_votes(scores, votes)),
            **_costs(data, scores, judge),
        }
        if found.pairs:
            row |= row_of({"pairs": found.pairs}, flipped=found.rate)
            rates = {}
            for category in dict.fromkeys(question.category for question in scores.questions):
                ids = [q.question_id for q in scores.questions if q.category == category]
                if (part := flips(scores.of(questions=ids))).pairs:
                    rates[category] = part.rate.value
            by_category.append({"judge": name, "of": judge, "pair": pair, "category": rates})
        rows.append(row)
    if (people := among(votes)).total:
        rows.append({"judge": PEOPLE, **_agreement(people)})
    return rows, by_category


def agreement_of(data: Data, voter: str) -> list[dict[str, Any]]:
    """Return for each judge how far it agrees with one person's votes."""
    votes = _votes(data).of(judges=[voter])
    found = {name: with_votes(scores, votes) for name, scores in _judges(data).items()}
    return [{"judge": name, **_agreement(of)} for name, of in found.items() if of.total]


@functools.lru_cache(maxsize=1)
def _judges(data: Data) -> dict[str, Scores]:
    """Return the judges' verdicts, the judge with the most first."""
    judges = raters(data.scores.by("judge"))
    return dict(sorted(judges.items(), key=lambda pair: -len(np.unique(pair[1].row))))


def _votes(data: Data) -> Scores:
    return data.scores.by("person")


def _lengths(data: Data) -> dict[tuple[str, QuestionId], list[int]]:
    """Return the characters of each turn of the answers that were compared in pairs."""
    scores = data.scores
    compared = scores.take(scores.opponent >= 0).models_present
    return {
        (model, key): [len(text) for text in row.choices[0].turns]
        for model in data.bench.answered_models()
        if model in compared
        for key, row in data.bench.answers(model).items()
    }


class _Calls(msgspec.Struct, gc=False):
    """What a judgment says of its calls alone."""

    details: list[Detail] = []


def _calls(data: Data, scores: Scores) -> Iterator[Detail]:
    """Yield the calls behind some judgments."""
    for path, start, kind, wanted in rows_by_file(scores):
        if kind is not Judgment:
            continue
        found = data.index.scan(path, _Calls, Judgment, lambda lines: b'"details"' in lines)
        for number, row in enumerate(found, start):
            if row is not None and number in wanted:
                yield from row.details


def _costs(data: Data, scores: Scores, judge: str) -> dict[str, float]:
    """Return the mean tokens, seconds, and dollars for a thousand such calls, of the calls."""
    cost = Cost(configs())
    costs: dict[str, list[float]] = defaultdict(list)
    for detail in _calls(data, scores):
        usage, dollars = detail.usage, cost(judge, detail)
        if usage.completion_tokens is not None:
            costs["tokens"].append((usage.prompt_tokens or 0) + usage.completion_tokens)
        if dollars is not None:
            costs["dollars"].append(1000 * dollars)
        if detail.seconds is not None:
            costs["seconds"].append(detail.seconds)
    return {name: statistics.fmean(numbers) for name, numbers in costs.items()}


def _agreement(found: Agreement) -> dict[str, Any]:
    if not found.total:
        return {}
    return row_of({"compared": found.total}, agrees=found.rate)


def _repeats(scores: Scores) -> Iterable[bool]:
    """Yield of every two verdicts on one item whether they are the same."""
    by_item: dict[Any, list[float]] = defaultdict(list)
    judged = scores.take(scores.valid).main()
    columns = items(judged), judged.metric.tolist(), values(judged).tolist()
    for item, metric, value in zip(*columns, strict=True):
        by_item[item, metric].append(value)
    for found in by_item.values():
        yield from (first == second for first, second in combinations(found, 2))


def _longer(scores: Scores, lengths: Mapping[tuple[str, QuestionId], list[int]]) -> Iterable[bool]:
    """Yield of each decided pair of unlike length whether the longer answer won."""
    pairs = scores.take((scores.opponent >= 0) & (scores.value != 0.5))
    for item, value in item_values(pairs):
        turns = [lengths.get((model, item.question), ()) for model in item.models]
        sizes = [characters[item.turn - 1] for characters in turns if item.turn <= len(characters)]
        if len(sizes) == 2 and sizes[0] != sizes[1]:
            yield (value > 0.5) == (sizes[0] > sizes[1])


def _mean(values: Iterable[bool]) -> float | None:
    numbers = list(values)
    return statistics.fmean(numbers) if numbers else None
