"""What the verdicts say: means with errors, comparisons, ranks, strengths, gates.

scores = read(bench)                               every verdict on disk, as columns (Scores)
for panel in panels(scores):                       one form, judge set, scale and sampling
    column = panel.combined.of(metric=panel.metrics[0])      the mean of the judges
    summarize(column, by=("model", "turn"))        groups: mean (Estimate), n, win, tie, loss
    ranking = rank(column)                         best first, rank ranges, who is better
    ranking.best, ranking.worst, ranking.incomplete
    ranking.comparisons.between("a", "b")          difference (Estimate), p, better
"""

from harness.results.compare import Ranking, compare, missing, rank
from harness.results.estimate import Estimate, ratio
from harness.results.panels import Panel, baseline_of, of_models, panels
from harness.results.reading import of_rows, read
from harness.results.scores import Scores, Source
from harness.results.summarize import common, conversations, summarize

__all__ = [
    "Estimate",
    "Panel",
    "Ranking",
    "Scores",
    "Source",
    "baseline_of",
    "common",
    "compare",
    "conversations",
    "missing",
    "of_models",
    "of_rows",
    "panels",
    "rank",
    "ratio",
    "read",
    "summarize",
]
