"""Results as pictures: one chart a file, each a function from results to SVG text.

sheet.py      the sheet that is drawn on: colours, sizes, names as text, the SVG that comes out
intervals.py  a dot and a whisker for each model
bars.py       a bar for each model, by category or by metric
radar.py      up to four models by category
matrix.py     every two models: win rates, or differences and whether they are significant
scatter.py    two numbers of each judge or model
turns.py      up to four models from the first turn to the last
position.py   how often a judge's two games of a pair agree

A chart is one `<svg>` element without script, style sheet, id or reference, so that several can be in one page,
or one in a file. The same results give the same text.
"""

from harness.old.showing.charts.bars import bar_chart as bar_chart
from harness.old.showing.charts.intervals import interval_chart as interval_chart
from harness.old.showing.charts.intervals import rate_chart as rate_chart
from harness.old.showing.charts.intervals import score_chart as score_chart
from harness.old.showing.charts.matrix import difference_chart as difference_chart
from harness.old.showing.charts.matrix import win_rate_chart as win_rate_chart
from harness.old.showing.charts.position import position_chart as position_chart
from harness.old.showing.charts.radar import MOST as MOST
from harness.old.showing.charts.radar import radar_chart as radar_chart
from harness.old.showing.charts.scatter import MOST_SERIES as MOST_SERIES
from harness.old.showing.charts.scatter import Point as Point
from harness.old.showing.charts.scatter import scatter_chart as scatter_chart
from harness.old.showing.charts.turns import turn_chart as turn_chart
