"""A table and its models compared -> what its first screen says of how sure it is: intervals and a range of ranks.

    interval   of the average or the win rate (ties half; of weighed verdicts the mean), from resampling questions
    rank       1 + models told to be better, to M - models told to be worse (`paired`, of pairs `comparing`; `ranks`)

Each column of several has its own ranks: it is a family of tests by itself. The full detail (`detail`) has the same
numbers: it draws the same questions.
"""

from collections.abc import Mapping
from dataclasses import replace

from harness.names import listed
from harness.results.result import Result
from harness.results.statistics.bootstrap import NONE, Estimate
from harness.results.statistics.paired import PairedTable
from harness.results.statistics.ranks import rank_ranges
from harness.results.table import Table

_SAME = 1e-9


def with_intervals(result: Result, intervals: Mapping[str, Estimate]) -> Result:
    """Return the result with the interval of each model's number in the column that ranks the models."""
    lines, column = [], result.column
    for line in result.table.lines:
        own = intervals.get(line.model, NONE)
        lines.append(line._replace(fields={**line.fields, column: replace(own, value=line.fields[column])}))
    return replace(result, table=result.table._replace(lines=lines, sure=True))


def with_ranks(result: Result, compared: Mapping[str, PairedTable]) -> Result:
    """Return the result with the ranks of each column whose models were compared; notes say where these differ."""
    ranks = {column: {rank.model: rank for rank in rank_ranges(own)} for column, own in compared.items()}
    result.notes.extend(
        note for column, own in compared.items() if (note := _contradictions(result.table, column, own))
    )
    return replace(result, table=result.table._replace(ranks=ranks))


def _contradictions(table: Table, column: str, compared: PairedTable) -> str | None:
    """Return a note on models whose numbers in the table differ one way and whose comparison goes the other way."""
    value = {line.model: own.value for line in table.whole if (own := line.estimates().get(column)) is not None}
    told = []
    for pair in compared.pairs:
        one, other, difference = value.get(pair.model_1), value.get(pair.model_2), pair.difference.value
        if one is None or other is None or difference is None or (one - other) * difference > -_SAME:
            continue
        higher, lower = (pair.model_1, pair.model_2) if one > other else (pair.model_2, pair.model_1)
        told.append(f"{higher} over {lower} (compared: {-abs(difference):.2g})")
    if not told:
        return None
    return (
        f"{f'{column}: ' if table.named else ''}some stand higher in the table and lower where compared, which counts "
        f"every question that both have once: {listed(told)}; ranks go by the comparison"
    )
