"""The tab Judges: a row a judge, each number a link to the questions behind it.

    judge   pairs  flipped  first  agrees with people  longer wins  repeats  no verdict
    gpt-4     160      34%    61%                 85%          68%       –           0

`judge_rows` gives the rows; the tab shows whatever rows it gives.
"""

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from markupsafe import Markup

from harness.bench import name_of
from harness.models.prices import list_price
from harness.reporting.charts import marks
from harness.reporting.html import table_html
from harness.reporting.page import Column, Table, put
from harness.results import Estimate, ratio
from harness.results.scores import outcome
from harness.types import QuestionId
from viewer import pages
from viewer.data import Data
from viewer.pages import Site
from viewer.state import View

Item = tuple[QuestionId, int, str, str]
"""Question, turn and two models, the first one first by name."""
PEOPLE = "people among themselves"


@dataclass
class _Judge:
    """What is counted of one judge; counters are by question."""

    verdicts: int = 0
    failed: int = 0
    pairs: Counter[QuestionId] = field(default_factory=Counter)
    flipped: Counter[QuestionId] = field(default_factory=Counter)
    first: Counter[QuestionId] = field(default_factory=Counter)
    """Flipped pairs of which it preferred whichever was shown first, both times."""
    says: dict[Item, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Outcomes for the first model."""
    grades: dict[tuple[QuestionId, int, str], list[float]] = field(
        default_factory=lambda: defaultdict(list)
    )
    tokens: list[int] = field(default_factory=list)
    dollars: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)


def show(data: Data, view: View, site: Site) -> str:
    """Return the tab."""
    rows, by_category = judge_rows(data)
    if not [row for row in rows if row["judge"] != PEOPLE]:
        return pages.notice("No judge has judged the answers yet.")
    columns = [
        Column("judge"),
        Column("verdicts"),
        Column("pairs", help="pairs judged in both orders"),
        Column("flipped", "flipped %", "%", help="the other model won when the order was swapped"),
        Column("flipped", "95% interval", "interval%"),
        Column(
            "first", "first wins %", "%", help="of the flipped pairs: the answer shown first won"
        ),
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

    def leads(row: Mapping[str, Any], column: Column) -> str | None:
        return site.href(_behind(view, row, column.key)) or None if row["judge"] != PEOPLE else None

    categories = (
        [name for name in by_category[0] if name not in ("judge", "pair")] if by_category else []
    )
    flips = [Column("judge"), *(Column(name, name, "%") for name in categories)]
    agreement = {row["judge"]: row for row in rows if row.get("agrees") is not None}
    return pages.render(
        "judges.html",
        judges=Markup(table_html(Table("judges", columns, rows), leads)),
        flips=Markup(table_html(Table("flips by category", flips, by_category), leads))
        if categories
        else "",
        chart=Markup(_bars(agreement)) if agreement else "",
        guessing=any((row.get("flipped") or 0) > 1 / 3 for row in rows),
    )


def _behind(view: View, row: Mapping[str, Any], key: str) -> View:
    """Return the questions behind a number."""
    there = View("questions", view.bench)
    pair, grade = row.get("pair", ""), row.get("grade", "")
    if key in ("flipped", "pairs", "first"):
        return there.to(verdicts=pair, only="flipped" if key != "pairs" else "", sort="flip")
    if key == "failed":
        return there.to(verdicts=grade or pair, only="failed")
    if key in ("agrees", "repeats"):
        return there.to(verdicts=grade or pair, sort="disagreement")
    if key in ("judge", "verdicts"):
        return there.to(verdicts=grade or pair)
    return there.to(verdicts=pair, only="flipped", category=key)


def _bars(rows: Mapping[str, Mapping[str, Any]]) -> str:
    columns = [Column("agrees", format=".2")]
    label = "agreement with people's votes"
    return marks(list(rows.values()), columns, label, name="judge", scale=(0.0, 1.0), bar=True)


def judge_rows(data: Data) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return a row for each judge and one for people, and the flips of each judge by category."""
    judges, votes = _counted(data), _votes(data)
    lengths = _lengths(data)
    panels = {
        (judge, verdicts.panel.form): name
        for name, verdicts in reversed(data.verdicts.items())
        for judge in verdicts.panel.judges
    }
    rows: list[dict[str, Any]] = []
    by_category = []
    for name, judge in judges.items():
        row: dict[str, Any] = {
            "judge": name,
            "pair": panels.get((name, "pair"), ""),
            "grade": panels.get((name, "grade"), panels.get((name, "label"), "")),
            "verdicts": judge.verdicts,
            "failed": judge.failed or None,
            "tokens": float(np.mean(judge.tokens)) if judge.tokens else None,
            "dollars": 1000 * float(np.mean(judge.dollars)) if judge.dollars else None,
            "seconds": float(np.mean(judge.seconds)) if judge.seconds else None,
        }
        if total := judge.pairs.total():
            row["pairs"] = total
            put(row, "flipped", _share(data, judge.flipped, judge.pairs))
            if flips := judge.flipped.total():
                row["first"] = judge.first.total() / flips
            by_category.append({"judge": name, "pair": row["pair"], **_by_category(data, judge)})
        agree, compared = _agreement(judge, votes)
        if compared.total():
            put(row, "agrees", _share(data, agree, compared))
            row["compared"] = compared.total()
        row["longer"] = _longer(judge, lengths)
        row["repeats"] = _repeats(judge)
        rows.append(row)
    agree, compared = _among_people(votes)
    if compared.total():
        row = {"judge": PEOPLE, "compared": compared.total()}
        put(row, "agrees", _share(data, agree, compared))
        rows.append(row)
    return rows, by_category


def agreement_of(data: Data, voter: str) -> list[dict[str, Any]]:
    """Return for each judge how far it agrees with one person's votes."""
    votes = {item: {voter: by[voter]} for item, by in _votes(data).items() if voter in by}
    rows = []
    for name, judge in _counted(data).items():
        agree, compared = _agreement(judge, votes)
        if compared.total():
            row: dict[str, Any] = {"judge": name, "compared": compared.total()}
            put(row, "agrees", _share(data, agree, compared))
            rows.append(row)
    return rows


def _share(data: Data, part: Counter[QuestionId], whole: Counter[QuestionId]) -> Estimate:
    """Return a share with its error over questions."""
    ids = [question.question_id for question in data.bench.questions]
    sums, counts = (np.array([float(counter[key]) for key in ids]) for counter in (part, whole))
    return ratio(sums, counts, share=True)


@functools.lru_cache(maxsize=1)
def _counted(data: Data) -> dict[str, _Judge]:
    judges: dict[str, _Judge] = defaultdict(_Judge)
    price_of = functools.cache(list_price)
    for _, row in data.index.slims("judgment"):
        if row.question_id not in data.bench.by_id:
            continue
        judge, key = judges[row.judge_model], row.question_id
        price = price_of(row.judge_model)
        judge.verdicts += 1
        judge.failed += row.failed
        for detail in row.details:
            if detail.usage.completion_tokens is not None:
                judge.tokens.append(
                    (detail.usage.prompt_tokens or 0) + detail.usage.completion_tokens
                )
            if (dollars := price.cost(detail) if price else None) is not None:
                judge.dollars.append(dollars)
            if detail.seconds is not None:
                judge.seconds.append(detail.seconds)
        if row.failed:
            continue
        if row.model is not None:
            if row.grade is not None:
                judge.grades[key, row.turn, row.model].append(row.grade)
            continue
        one, two = row.models
        value = outcome(row.games)
        item = (key, row.turn, *sorted(row.models))
        judge.says[item].append(value if one < two else 1 - value)
        if len(row.games) == 2:
            judge.pairs[key] += 1
            sides = [game - 0.5 for game in row.games if game is not None]
            if sides[0] * sides[1] < 0:
                judge.flipped[key] += 1
                judge.first[key] += sides[0] > 0
    return dict(sorted(judges.items(), key=lambda pair: -pair[1].verdicts))


def _votes(data: Data) -> dict[Item, dict[str, float]]:
    """Return people's votes that are no ties: for each pair and voter, whether the first won."""
    votes: dict[Item, dict[str, float]] = defaultdict(dict)
    for _, row in data.index.slims("vote"):
        one, two = sorted((row.model_a, row.model_b))
        winner = {"model_a": row.model_a, "model_b": row.model_b}.get(row.winner)
        if winner is not None:
            votes[row.question_id, row.turn, one, two][row.judge] = float(winner == one)
    return votes


def _agreement(
    judge: _Judge, votes: Mapping[Item, Mapping[str, float]]
) -> tuple[Counter[QuestionId], Counter[QuestionId]]:
    """Return for each question the votes that a judge agrees with, and those compared.

    The judge's verdict on the pair counts; without one, the higher of its two grades.
    """
    agree: Counter[QuestionId] = Counter()
    compared: Counter[QuestionId] = Counter()
    for item, by in votes.items():
        key, turn, one, two = item
        value = 0.5
        if item in judge.says:
            value = sum(judge.says[item]) / len(judge.says[item])
        elif grades := [judge.grades.get((key, turn, name)) for name in (one, two)]:
            means = [sum(given) / len(given) if given else None for given in grades]
            if means[0] is not None and means[1] is not None and means[0] != means[1]:
                value = float(means[0] > means[1])
        if value != 0.5:
            for vote in by.values():
                compared[key] += 1
                agree[key] += (value > 0.5) == (vote > 0.5)
    return agree, compared


def _among_people(
    votes: Mapping[Item, Mapping[str, float]],
) -> tuple[Counter[QuestionId], Counter[QuestionId]]:
    agree: Counter[QuestionId] = Counter()
    compared: Counter[QuestionId] = Counter()
    for item, by in votes.items():
        for one, other in combinations(by.values(), 2):
            compared[item[0]] += 1
            agree[item[0]] += one == other
    return agree, compared


def _lengths(data: Data) -> Callable[[QuestionId, int, str], int | None]:
    by_answer: dict[tuple[str, QuestionId], list[int]] = {}
    for file, row in data.index.slims("answer"):
        by_answer[name_of(file.split(".jsonl")[0]), row.question_id] = row.characters

    def length(key: QuestionId, turn: int, model: str) -> int | None:
        characters = by_answer.get((model, key), ())
        return characters[turn - 1] if turn <= len(characters) else None

    return length


def _longer(judge: _Judge, length: Callable[[QuestionId, int, str], int | None]) -> float | None:
    """Return the share of decided pairs of unlike length that the longer answer won."""
    won = total = 0
    for (key, turn, one, two), values in judge.says.items():
        sizes = length(key, turn, one), length(key, turn, two)
        if sizes[0] is None or sizes[1] is None or sizes[0] == sizes[1]:
            continue
        for value in values:
            if value != 0.5:
                total += 1
                won += (value > 0.5) == (sizes[0] > sizes[1])
    return won / total if total else None


def _repeats(judge: _Judge) -> float | None:
    """Return how often a verdict was the same when it was made again."""
    pairs = [
        one == other
        for values in [*judge.grades.values(), *judge.says.values()]
        for one, other in combinations(values, 2)
    ]
    return sum(pairs) / len(pairs) if pairs else None


def _by_category(data: Data, judge: _Judge) -> dict[str, float]:
    flipped: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for key, number in judge.pairs.items():
        category = data.bench.by_id[key].category
        pairs[category] += number
        flipped[category] += judge.flipped[key]
    return {name: flipped[name] / number for name, number in pairs.items()}
