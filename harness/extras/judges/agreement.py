"""Agreement of judges with people and with each other.

Every two verdicts of different judges on one item are compared.

    pairs     S1: a tie is a third verdict     S2: comparisons in which either is a tie are left out
              ratio = equal / compared;  kappa = (ratio − chance) / (1 − chance)
    labels    the same, with the labels
    grades    pearson, spearman, kendall tau-b, exact (equal), within one

For kappa each comparison counts in both orientations (x before y, y before x), since which model is
named first means nothing: in S2 kappa is 2 · ratio − 1. Judge x, x, tie and expert x, y, x: S1 1/3.
Errors are the jackknife's over questions.

Source: Zheng et al. 2023 (arXiv:2306.05685), table 5; Cohen 1960; Kendall 1945.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from harness.errors import UsageError
from harness.extras.judges.data import (
    Data,
    Item,
    Verdict,
    interval_columns,
    kind_of,
    load,
    named,
    over_questions,
)
from harness.options import JudgeReport
from harness.reporting import Column, Page, Table

PEOPLE = "people"
Meeting = tuple[Item, Any, Any]


def report(options: JudgeReport) -> Page:
    """Return how often every two judges (people are one side) agree, by turn and category."""
    data = load(options)
    sides = _sides(data)
    graded = any(
        isinstance(v.value, int | float) and kind_of(v) == "single"
        for s in sides.values()
        for v in s
    )
    paired = any(kind_of(v) == "pair" for side in sides.values() for v in side)
    meetings = _meetings(sides)
    if not meetings:
        raise UsageError(f"no two of {', '.join(sides)} have a verdict on the same item")
    rows: list[dict[str, Any]] = []
    for judges, met in meetings.items():
        for about, own in _parts(data, met):
            head = dict(zip(("judge1", "judge2"), judges, strict=True)) | about
            rows += _graded(head, own) if graded and not paired else _agreed(head, own, paired)
    tables = [Table("", _columns(graded=graded and not paired, paired=paired), rows)]
    if options.list:
        tables.append(_disagreements(meetings))
    return Page(_outcome(rows), tables, title="agreement", facts={"report": "agreement"})


def kappa(met: Sequence[tuple[Any, Any]], *, paired: bool = False, within: bool = False) -> float:
    """Return Cohen's kappa of comparisons; NaN if chance alone makes them equal.

    `paired`: each counts in both orientations. `within`: of one side, so in both orders.
    """
    both = [*met, *((1 - a, 1 - b) for a, b in met)] if paired else list(met)
    both += [(b, a) for a, b in both] if within else []
    if not both:
        return math.nan
    agreed = sum(a == b for a, b in both) / len(both)
    first, second = (Counter(side) for side in zip(*both, strict=True))
    chance = sum(first[value] * second[value] for value in first) / len(both) ** 2
    return (agreed - chance) / (1 - chance) if chance < 1 else math.nan


def _sides(data: Data) -> dict[str, list[Verdict]]:
    """Return the verdicts by judge; people together, or by file where several are named."""
    votes = data.votes() if data.options.select.votes or _has_votes(data) else []
    named_files = data.options.select.votes and not data.options.select.input_file
    judged = [] if named_files else _same_kind(data, votes)
    sets = {(v.judge, v.judge_set) for v in [*votes, *judged] if not v.voter}
    files = {v.file for v in votes if v.voter}
    several = len({name for name, _ in sets}) < len(sets)
    sides: dict[str, list[Verdict]] = {}
    for v in [*votes, *judged]:
        if v.voter:
            name = PEOPLE if len(files) == 1 and not named_files else v.file
        else:
            name = f"{v.judge} ({v.judge_set})" if several else v.judge
        sides.setdefault(name, []).append(v)
    return sides


def _has_votes(data: Data) -> bool:
    return data.bench is not None and bool(data.bench.vote_files())


def _same_kind(data: Data, votes: Sequence[Verdict]) -> list[Verdict]:
    return data.verdicts(kind_of(votes[0]) if votes else None)


def _meetings(sides: dict[str, list[Verdict]]) -> dict[tuple[str, str], list[Meeting]]:
    """Return the comparisons of every two sides, and of the voters within each."""
    by_item: dict[str, dict[Item, list[Verdict]]] = {}
    for name, verdicts in sides.items():
        items = by_item.setdefault(name, {})
        for v in verdicts:
            if v.value is not None and v.sample == 0:
                items.setdefault(v.item, []).append(v)
    met: dict[tuple[str, str], list[Meeting]] = {}
    for one, other in combinations(by_item, 2):
        for item in by_item[one].keys() & by_item[other].keys():
            for a in by_item[one][item]:
                pairs = [(item, a.value, b.value) for b in by_item[other][item] if _differ(a, b)]
                met.setdefault((one, other), []).extend(pairs)
    for name, items in by_item.items():
        for item, said in items.items():
            pairs = [(item, a.value, b.value) for a, b in combinations(said, 2) if _differ(a, b)]
            if pairs:
                met.setdefault((name, name), []).extend(pairs)
    return {judges: own for judges, own in met.items() if own}


def _differ(one: Verdict, other: Verdict) -> bool:
    return (one.judge, one.judge_set) != (other.judge, other.judge_set)


def _parts(data: Data, met: Sequence[Meeting]) -> Iterator[tuple[dict[str, Any], list[Meeting]]]:
    """Yield the comparisons of every turn and of all, then those of each category."""
    turns = sorted({item.turn for item, *_ in met})
    categories = list(dict.fromkeys(data.category(item.question) for item, *_ in met))
    for category in (None, *(c for c in categories if c is not None and len(categories) > 1)):
        for turn in [*turns, None] if len(turns) > 1 else turns:
            own = [
                m
                for m in met
                if turn in (None, m[0].turn) and category in (None, data.category(m[0].question))
            ]
            if own:
                yield {"turn": turn, "category": category}, own


def _agreed(head: dict[str, Any], met: Sequence[Meeting], paired: bool) -> Iterator[dict[str, Any]]:
    for setup in ("S1", "S2") if paired else (None,):
        own = [(i.question, (a, b)) for i, a, b in met if setup != "S2" or 0.5 not in (a, b)]
        if paired:
            own = [(q, (_third(a), _third(b))) for q, (a, b) in own]
        row = head | ({"setup": setup} if setup else {})
        row |= {"agree": sum(a == b for _, (a, b) in own), "total": len(own)}
        ratio = over_questions(own, lambda x: sum(a == b for a, b in x) / len(x) if x else math.nan)
        found = named("ratio", ratio)
        row |= {"ratio": found["ratio"], "low": found["ratio_low"], "high": found["ratio_high"]}
        chance = partial(kappa, paired=paired, within=head["judge1"] == head["judge2"])
        yield row | named("kappa", over_questions(own, chance))


def _third(share: float) -> float:
    """Return a preference as a win, a loss or a tie."""
    return 1.0 if share > 0.5 else 0.0 if share < 0.5 else 0.5


MEASURES: dict[str, Callable[[Sequence[tuple[float, float]]], float]] = {
    "pearson": lambda met: correlation(*_columns_of(met)),
    "spearman": lambda met: correlation(*(ranks(side) for side in _columns_of(met))),
    "kendall tau-b": lambda met: tau_b(*_columns_of(met)),
    "exact": lambda met: sum(a == b for a, b in met) / len(met) if met else math.nan,
    "within one": lambda met: sum(abs(a - b) <= 1 for a, b in met) / len(met) if met else math.nan,
}


def _graded(head: dict[str, Any], met: Sequence[Meeting]) -> Iterator[dict[str, Any]]:
    own = [(item.question, (a, b)) for item, a, b in met]
    for measure, function in MEASURES.items():
        found = named("value", over_questions(own, function))
        ends = {"low": found["value_low"], "high": found["value_high"]}
        yield head | {"measure": measure, "value": found["value"], **ends, "n": len(own)}


def _columns_of(met: Sequence[tuple[float, float]]) -> tuple[Any, Any]:
    table = np.array(met, dtype=np.float64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def correlation(x: Any, y: Any) -> float:
    """Return Pearson's correlation; NaN where a side does not vary."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def ranks(values: Any) -> Any:
    """Return the ranks of values from 1, ties at their mean rank."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[place]


def tau_b(x: Any, y: Any) -> float:
    """Return Kendall's tau-b: (concordant − discordant) / √(pairs untied in x · untied in y)."""
    if len(x) < 2:
        return math.nan
    values_x, at_x = np.unique(x, return_inverse=True)
    values_y, at_y = np.unique(y, return_inverse=True)
    table = np.zeros((len(values_x), len(values_y)))
    np.add.at(table, (at_x, at_y), 1)
    below = np.zeros((len(values_x) + 1, len(values_y) + 1))
    below[1:, 1:] = table.cumsum(0).cumsum(1)
    total = table.sum(axis=0).cumsum()
    lower_left = below[:-1, :-1]
    lower_right = below[:-1, -1:] - below[:-1, 1:]
    surplus = float((table * (lower_left - lower_right)).sum())
    n = float(total[-1])
    untied = [(n * n - float((table.sum(axis=axis) ** 2).sum())) / 2 for axis in (1, 0)]
    return surplus / math.sqrt(untied[0] * untied[1]) if min(untied) > 0 else math.nan


def _columns(*, graded: bool, paired: bool) -> list[Column]:
    columns = [Column("judge1"), Column("judge2", always=True), Column("turn"), Column("category")]
    if graded:
        ends = Column("value", "95% interval", format="interval.2")
        return [*columns, Column("measure"), Column("n"), Column("value", format=".2"), ends]
    if paired:
        columns.append(Column("setup"))
    columns += [Column("agree"), Column("total"), Column("ratio", "agree %", format="%")]
    return [*columns, *interval_columns("kappa", "kappa", ".2")]


def _outcome(rows: Sequence[dict[str, Any]]) -> str:
    """Return the first comparison of all turns and categories in words."""
    whole = [row for row in rows if row["category"] is None]
    sentences = []
    for row in whole:
        if row["turn"] is not None and any(
            other["turn"] is None
            and other["judge1"] == row["judge1"]
            and other["judge2"] == row["judge2"]
            for other in whole
        ):
            continue
        who = (
            f"{row['judge1']} agree with each other"
            if row["judge1"] == row["judge2"]
            else f"{row['judge1']} and {row['judge2']} agree"
        )
        if "measure" in row and row["measure"] == "spearman" and row["value"] is not None:
            sentences.append(f"{who}: rank correlation {row['value']:.2f} on {row['n']} answers.")
        elif row.get("setup", "S1") == "S1" and "total" in row:
            share = f"{100 * row['ratio']:.0f}%" if row["ratio"] is not None else "none"
            sentences.append(f"{who} on {share} of {row['total']} comparisons, ties counted.")
    return " ".join(sentences[:3])


def _disagreements(meetings: dict[tuple[str, str], list[Meeting]]) -> Table:
    rows = [
        {
            "question": item.question,
            "turn": item.turn,
            "models": ", ".join(item.models),
            "judge1": one,
            "verdict1": _said(item, a),
            "judge2": other,
            "verdict2": _said(item, b),
        }
        for (one, other), met in meetings.items()
        for item, a, b in met
        if a != b
    ]
    names = ("question", "turn", "models", "judge1", "verdict1", "judge2", "verdict2")
    return Table("where they disagree", [Column(name) for name in names], rows, "disagreements")


def _said(item: Item, value: Any) -> Any:
    if len(item.models) == 1:
        return value
    return item.models[0] if value > 0.5 else item.models[1] if value < 0.5 else "tie"
