"""What the verdicts say: means with errors, comparisons, ranks, strengths, gates.

scores = read(bench)                               every verdict on disk, as columns (Scores)
for panel in panels(scores):                       one form, judge set, scale and sampling
    column = panel.combined.of(metric=panel.metrics[0])      the mean of the judges
    summarize(column, by=("model", "turn"))        groups: mean (Estimate), n, win, tie, loss
    ranking = rank(column)                         best first, rank ranges, who is better
    ranking.best, ranking.worst, ranking.incomplete
    ranking.comparisons.between("a", "b")          difference (Estimate), p, better

estimate        Estimate(value, influence): interval, p, difference; Holm's steps
scores          Scores, Source
reading         read, of_rows: rows → Scores
coverage        what judge judged what, and the command that goes on
panels          Panel; panels: which verdicts may stand in one table
summarize       Summary; summarize, conversations (aggregates over turns), common
compare         Comparison, Ranking; compare, rank, missing
strengths       strengths (Bradley–Terry), logistic, styled
gate            GateResult; gate: one run against another
length_control  Controlled; length_controlled: alpaca_eval's fit
board           alpaca_eval's leaderboards: read, check, add rows
facts           short facts: correct, of tried, F1; stated confidence
first_turn      how much of a second turn's loss is due to the first
spent           tokens, seconds and dollars of answers and judgments
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
