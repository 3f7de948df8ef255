"""Grades or pairs of one table -> what its first screen says of how sure it is: an interval and ranks for each model.

    interval   of the average or the win rate (ties half; of weighed verdicts the mean), from resampling questions
    rank       1 + models told to be better, to M - models told to be worse (`paired`, of pairs `comparing`; `ranks`)

The full detail (`detail`) has the same numbers: it draws the same questions.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, Unpack

from harness.results.grades.scores import average_of
from harness.results.matrix import Matrix, Pairs, ranked
from harness.results.statistics.bootstrap import NONE, Estimate, Resampling
from harness.results.statistics.paired import PairedTable, paired
from harness.results.statistics.ranks import RankRange, rank_ranges
from harness.results.table import Table

_SAME, _NAMED = 1e-9, 3


class Brief(NamedTuple):
    """An interval and a range of ranks for each model."""

    intervals: Mapping[str, Estimate]
    compared: PairedTable
    """Every two models that have ranks, without intervals."""

    @property
    def ranks(self) -> dict[str, RankRange]:
        """By model; one that was judged on few questions has none (`common`)."""
        return {rank.model: rank for rank in rank_ranges(self.compared)}

    def added(self, table: Table, column: str) -> Table:
        """Return the table with the interval of this column, and with ranks."""
        lines = []
        for line in table.lines:
            own = self.intervals.get(line.model, NONE)
            lines.append(line._replace(fields={**line.fields, column: replace(own, value=line.fields[column])}))
        return replace(table, lines=lines, ranks=self.ranks, sure=True)

    def contradictions(self) -> str | None:
        """Return a note on models whose numbers in the table differ one way and whose comparison goes the other way."""
        value = {model: found.value for model, found in self.intervals.items()}
        told = []
        for pair in self.compared.pairs:
            one, other, difference = value.get(pair.model_1), value.get(pair.model_2), pair.difference.value
            if one is None or other is None or difference is None or (one - other) * difference > -_SAME:
                continue
            higher, lower = (pair.model_1, pair.model_2) if one > other else (pair.model_2, pair.model_1)
            told.append(f"{higher} over {lower} (compared: {-abs(difference):.2g})")
        if not told:
            return None
        more = f" and {len(told) - _NAMED} more" if len(told) > _NAMED else ""
        return (
            "some stand higher in the table and lower where compared, which counts every question that both have once: "
            f"{', '.join(told[:_NAMED])}{more}; ranks go by the comparison"
        )


def grades_brief(grades: Matrix, **how: Unpack[Resampling]) -> Brief:
    """Return the interval of each average, and the ranks."""
    return Brief(average_of(grades, **how), paired(ranked(grades), resamplings=0))


def pairs_brief(pairs: Pairs, *, baseline: str | None = None, **how: Unpack[Resampling]) -> Brief:
    """Return the interval of each adjusted win rate, and the ranks; a baseline has neither."""
    from harness.results.pairs.comparing import compared_strengths
    from harness.results.pairs.rates import adjusted_rates

    found = adjusted_rates(pairs, baseline=baseline, **how)
    return Brief(found, compared_strengths(pairs, baseline=baseline, resamplings=0))
