"""Agreement of judges with people and with each other.

Every two verdicts of different judges on one item are compared.

    pairs     S1: a tie is a third verdict     S2: comparisons in which either is a tie are left out
              ratio = equal / compared;  kappa = (ratio − chance) / (1 − chance)
    labels    the same, with the labels
    grades    pearson, spearman, kendall tau-b, exact (equal), within one

For kappa each comparison counts in both orientations (x before y, y before x), since which model is
named first means nothing: in S2 kappa is 2 · ratio − 1. Judge x, x, tie and expert x, y, x: S1 1/3.
Errors of kappa and of the measures of grades are the jackknife's over questions.

Source: Zheng et al. 2023 (arXiv:2306.05685), table 5; Cohen 1960; Kendall 1945.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np

from harness.errors import UsageError
from harness.extras.judges.data import Data, RaterVerdict, by_item, itself, load, samples
from harness.extras.judges.estimates import listing, over_questions, page, share
from harness.options import JudgeReport
from harness.reporting import Column, Note, Table, interval_columns, row_of
from harness.reporting.pages import PageKind, Result
from harness.reporting.people import judges_in_words
from harness.results.agreement import RatedItem
from harness.results.estimate import Estimate, Floats
from harness.results.spent import Cost
from harness.words import counted, listed

_REPEAT = "turnbench judge_report repeat"
"""Compares the samples of one judge."""

Pairs: TypeAlias = list[tuple[RaterVerdict, RaterVerdict]]
"""Verdicts of two judges on one item."""
Measure: TypeAlias = Callable[[Any, Any], float]


def _show(options: JudgeReport, cost: Cost) -> Result:
    """Return how often every two judges (people are one side) agree, by turn and category."""
    data = load(options)
    sides = _sides(data)
    compared = _compared(sides)
    if not compared:
        names = ", ".join(sides)
        if len(sides) == 1:
            raise UsageError(f"only {names} judged; samples of one judge are compared by {_REPEAT}")
        raise UsageError(f"no two of {names} have a verdict on the same item")
    rows: list[dict[str, Any]] = []
    outcomes = []
    for (judge1, judge2), pairs in compared.items():
        for about, part in _parts(data, pairs):
            about = {"judge1": judge1, "judge2": judge2} | about
            rows += [about | row for row in _rows(part, within=judge1 == judge2)]
        within = judge1 == judge2
        who = f"{judge1} agree with each other" if within else f"{judge1} and {judge2} agree"
        outcomes.append(f"{who}{_in_words([*_rows(pairs)])}.")
    columns = [Column("judge1"), Column("judge2", always=True)]
    columns += [Column("turn"), Column("category")] if options.details else []
    if "measure" in rows[0]:
        columns += [Column("measure"), Column("n"), *interval_columns("value", "", ".2")]
    else:
        columns += [Column("setup")] if options.details else []
        columns += [Column("agree"), Column("total", "both decided" if "setup" in rows[0] else "")]
        columns += [*interval_columns("ratio", "agree %", "%"), Column("kappa", format=".2")]
    shown = rows if options.details else list(filter(_is_whole(rows), rows))
    tables = [_disagreements(compared)] if options.list else []
    outcome = judges_in_words(data.judges, data.people) or " ".join(outcomes[:3])
    notes = [*itself(data.judges), *_samples(data, paired="setup" in rows[0])]
    found = page("agreement", outcome, columns, shown, *tables, notes=notes)
    return Result(replace(found, rows=rows))


REPORT = PageKind(_show)


def _samples(data: Data, *, paired: bool) -> Iterator[Note]:
    """Yield a note on what of several samples is compared."""
    judges = [
        name
        for name, scores in data.judges.items()
        if any(source.sample for source in scores.sources_present.values())
    ]
    if judges:
        which = "mean" if paired else "first one"
        text = (
            f"Of the samples of {listed(judges)} the {which} is compared. How often they are equal"
        )
        yield Note(text, _REPEAT)


def _is_whole(rows: Sequence[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], bool]:
    """Return which rows are of all turns and categories, of pairs without ties."""
    whole = {
        (row["judge1"], row["judge2"]): row["turn"] for row in rows if row["category"] is None
    }  # the last one is of all turns, or of the only one

    def is_whole(row: Mapping[str, Any]) -> bool:
        is_all = row["category"] is None and row["turn"] == whole[row["judge1"], row["judge2"]]
        return is_all and row.get("setup") != "S1"

    return is_whole


def _sides(data: Data) -> dict[str, dict[RatedItem, list[RaterVerdict]]]:
    """Return the verdicts by judge; people together, or by file where several are named."""
    select, votes = data.options.select, data.votes()
    people = [v for v in votes if v.voter]
    by_file = bool(select.votes) and (len({v.file for v in people}) > 1 or not select.input_file)
    wants_pairs = bool(people) or (select.mode or "single") != "single"
    if wants_pairs or all(scores.paired for scores in data.judges.values()):
        judged = data.preferences()
    else:
        judged = data.graded()
    # In the order of the files, those of votes first.
    sides: dict[str, list[RaterVerdict]] = {}
    for v in votes:
        if v.voter:
            sides.setdefault(v.file if by_file else "people", []).append(v)
        elif v.judge in judged:
            sides[v.judge] = judged[v.judge]
    return {name: by_item(verdicts) for name, verdicts in (sides | judged).items()}


def _compared(
    sides: Mapping[str, Mapping[RatedItem, list[RaterVerdict]]],
) -> dict[tuple[str, str], Pairs]:
    """Return the comparisons of every two sides, and of the voters within each."""
    compared: dict[tuple[str, str], Pairs] = {}
    with_people: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for two in [*combinations(sides, 2), *zip(sides, sides, strict=True)]:
        is_of_people = any(v.voter for name in two for of in sides[name].values() for v in of[:1])
        (with_people if is_of_people else others).append(two)
    for first, second in [*with_people, *others]:
        pairs = samples(sides[first].values())
        if first != second:
            common = [item for item in sides[first] if item in sides[second]]
            pairs = [p for item in common for p in product(sides[first][item], sides[second][item])]
        pairs = [(a, b) for a, b in pairs if a.judge != b.judge]
        if pairs:
            compared[first, second] = pairs
    return compared


def _parts(data: Data, pairs: Pairs) -> Iterator[tuple[dict[str, Any], Pairs]]:
    """Yield the comparisons of every turn and of all, then those of each category."""
    turns = sorted({a.item.turn for a, _ in pairs})
    categories = dict.fromkeys(data.category(a.item) for a, _ in pairs)
    for category in (None, *(name for name in categories if name and len(categories) > 1)):
        for turn in [*turns, None] if len(turns) > 1 else turns:
            part = [
                (a, b)
                for a, b in pairs
                if turn in (None, a.item.turn) and category in (None, data.category(a.item))
            ]
            if part:
                yield {"turn": turn, "category": category}, part


def _rows(pairs: Pairs, *, within: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what some comparisons of one kind give: pairs, labels or grades."""
    first = pairs[0][0]
    if first.paired:
        winners = [(a._replace(value=winner(a)), b._replace(value=winner(b))) for a, b in pairs]
        decided = [(a, b) for a, b in winners if 0.5 not in (a.value, b.value)]
        for setup, part in (("S1", winners), ("S2", decided)):
            yield {"setup": setup} | _equal(part, partial(kappa, paired=True, within=within))
    elif isinstance(first.value, str):
        yield _equal(pairs, partial(kappa, within=within))
    else:
        for measure, function in MEASURES.items():
            yield row_of({"measure": measure, "n": len(pairs)}, value=_measured(pairs, function))


def _equal(pairs: Pairs, chance_corrected: Measure) -> dict[str, Any]:
    equal = [(a.item.question, a.value == b.value) for a, b in pairs]
    row = {"agree": sum(is_equal for _, is_equal in equal), "total": len(equal)}
    return row_of(row, ratio=share(equal), kappa=_measured(pairs, chance_corrected))


def _measured(pairs: Pairs, measure: Measure) -> Estimate:
    table = np.array([(a.value, b.value) for a, b in pairs])
    return over_questions([a.item.question for a, _ in pairs], table, measure)


def winner(v: RaterVerdict) -> float:
    """Return a preference as a win, a loss or a tie."""
    return 1.0 if v.number > 0.5 else 0.0 if v.number < 0.5 else 0.5


def kappa(x: Any, y: Any, *, paired: bool = False, within: bool = False) -> float:
    """Return Cohen's kappa of comparisons; NaN if chance alone makes them equal.

    `paired`: each counts in both orientations. `within`: of one side, so in both orders.
    """
    if paired:
        x, y = np.concatenate([x, 1 - x]), np.concatenate([y, 1 - y])
    if within:
        x, y = np.concatenate([x, y]), np.concatenate([y, x])
    chance = sum(float(np.mean(x == value) * np.mean(y == value)) for value in np.unique(x))
    return (float(np.mean(x == y)) - chance) / (1 - chance) if chance < 1 else math.nan


def correlation(x: Floats, y: Floats) -> float:
    """Return Pearson's correlation; NaN where a side does not vary."""
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return math.nan
    return float(np.corrcoef(x, y)[0, 1])


def rank_correlation(x: Floats, y: Floats) -> float:
    """Return Spearman's correlation: that of the ranks, ties at their mean rank."""
    return correlation(_ranks(x), _ranks(y))


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def tau_b(x: Floats, y: Floats) -> float:
    """Return Kendall's tau-b: (concordant − discordant) / √(pairs untied in x · untied in y)."""
    cells, counts = np.unique(np.stack([x, y]), axis=1, return_counts=True)
    weights = np.outer(counts, counts)
    sign_x, sign_y = (np.sign(np.subtract.outer(side, side)) for side in cells)
    untied = float((weights * sign_x**2).sum()) * float((weights * sign_y**2).sum())
    return float((weights * sign_x * sign_y).sum()) / math.sqrt(untied) if untied else math.nan


MEASURES: Mapping[str, Measure] = {
    "spearman": rank_correlation,
    "pearson": correlation,
    "kendall tau-b": tau_b,
    "exact": lambda x, y: float(np.mean(x == y)),
    "within one": lambda x, y: float(np.mean(abs(x - y) <= 1)),
}


def _in_words(rows: Sequence[Mapping[str, Any]]) -> str:
    first, last = rows[0], rows[-1]
    if "measure" in first:
        correlation = Column("value", format=".2").cell(first)
        return f": rank correlation {correlation} on {counted(first['n'], 'answer')}"
    ends = Column("ratio", format="interval%").cell(last)
    share = f"{Column('ratio', format='%').cell(last)}%"
    share += f" ({ends})" if last["ratio"].low is not None else ""
    if "setup" not in last:
        return f" on {share} of {counted(last['total'], 'answer')}"
    decided = counted(last["total"], "comparison")
    return f" on {share} of the {decided} that both decided, of {first['total']:,}"


def _disagreements(compared: Mapping[tuple[str, str], Pairs]) -> Table:
    names = ("question", "turn", "models", "judge1", "verdict1", "judge2", "verdict2")
    rows = [
        (*a.item[:2], ", ".join(a.item.models), judge1, _shown(a), judge2, _shown(b))
        for (judge1, judge2), pairs in compared.items()
        for a, b in pairs
        if a.value != b.value
    ]
    return listing("where they disagree", "disagreements", names, rows)


def _shown(v: RaterVerdict) -> float | str | None:
    if not v.paired:
        return v.value
    return {1.0: v.item.models[0], 0.0: v.item.models[1]}.get(winner(v), "tie")
