"""All pairs compared -> for each model its range of ranks.

    first = 1 + number of significantly better models
    last  = M - number of significantly worse models        M: models in the table

Of three models, a is significantly better than c, and no other pair differs significantly: a may be 1st or 2nd, b
anything from 1st to 3rd, c 2nd or 3rd.

"Significantly" is by the same Holm-adjusted tests as in `paired`: the chance that any of these ranges is wrong is at
most 5%.

Source: Al Mohamad, Goeman and van Zwet (2022), Scand. J. Stat. 49, 1034 (simultaneous ranks from pairwise tests).
"""

from collections import Counter
from typing import NamedTuple

from harness.old.results.statistics.paired import PairedTable


class RankRange(NamedTuple):
    """The ranks that a model may have."""

    first: int
    """The best of them; 1 is the top."""
    last: int

    def __str__(self) -> str:
        """Return "3" or "3-7"."""
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


def rank_ranges(table: PairedTable) -> dict[str, RankRange]:
    """Return the range of each model, the best ranges first, equal ones in the order of the table."""
    better, worse = Counter[str](), Counter[str]()
    for pair in table.pairs:
        if pair.better is None:
            continue
        winner, loser = (pair.model_1, pair.model_2) if pair.better == "model_1" else (pair.model_2, pair.model_1)
        better[loser] += 1
        worse[winner] += 1
    ranges = {model: RankRange(1 + better[model], len(table.models) - worse[model]) for model in table.models}
    return dict(sorted(ranges.items(), key=lambda own: own[1]))
