"""One kind of judgments on a page: its rows for programs, its tables for people, what it says.

A section is what one judge set, form, scale and sampling gives (`results.Panel`): grades, pairs,
labels, several criteria, votes or metrics. All are values of the same `summarize`; they differ in
columns and words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.errors import UsageError
from harness.judging.current import unchecked_in_words
from harness.reporting.outcome import Evidence, Measure
from harness.reporting.page import Chart, Row, Table, flat
from harness.results import Panel, Ranking, Scores, rank
from harness.results.compare import Against, against_baseline
from harness.results.facts import is_facts
from harness.results.length_control import Controlled
from harness.results.scores import present
from harness.results.summarize import Aggregate
from harness.types import UNSTATED
from harness.words import counted, listed, percent


class Caveat(NamedTuple):
    """What a reader must know of some judgments."""

    order: int
    """Which of several comes first: the least."""
    text: str


TRIAL, MISSING, CHANGED, ONE_ORDER, ITSELF, METHOD = range(6)
"""Orders of caveats: a judge for trying out; what is missing; a judge that
is not one and the same; flips that cannot be seen; a judge of its own answers; the method."""
STOPPED = (
    "Models whose comparisons were decided were judged no further: p and intervals of differences "
    "are those of a stopped run (O'Brien and Fleming); intervals of single numbers leave that out."
)


@dataclass(frozen=True)
class View:
    """How the judgments are to be shown."""

    bench: str = ""
    by: str | None = None
    """A field to group by; None: category, where the width allows."""
    models: tuple[str, ...] = ()
    baseline: str | None = None
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    """By judge set, how the turns of a conversation are one number (default: all turns pooled)."""
    sort: str | None = None
    details: bool = False
    common: bool = False
    """Whether only what all models were judged on is shown, so that nothing is missing."""
    controlled: Mapping[str, Controlled] = field(default_factory=dict)
    """Win rates at equal length."""
    focus: str | None = None
    """The one model that is shown, compared with each of the others."""

    @property
    def group(self) -> str:
        """The field of the tables by group."""
        return self.by or "category"


@dataclass
class Section:
    """One kind of judgments, ready for a page."""

    panel: Panel
    evidence: list[Evidence]
    """One for each column that is ranked; the first is the main one."""
    rows: Sequence[Row]
    """For programs; with --by one for each group."""
    tables: list[Table]
    """The first is that of models."""
    charts: list[Chart] = field(default_factory=list)
    more: list[Table] = field(default_factory=list)
    """For --details."""
    caveats: list[Caveat] = field(default_factory=list)
    """What a reader must know."""
    remark: str = ""
    """A sentence after the outcome: flips, judges that do not agree."""

    @property
    def ranking(self) -> Ranking:
        """The main column's."""
        return self.evidence[0].ranking

    @property
    def kind(self) -> str:
        """What it is of: grades, pairs, labels, numbers."""
        return self.evidence[0].measure.kind


def evidence_of(panel: Panel, view: View, scores: Scores, name: str = "") -> Evidence:
    """Return what one column of a panel says of the models."""
    baseline = view.baseline if scores.paired else None
    ranking = rank(
        scores,
        models=None if view.focus else view.models or None,
        baseline=baseline,
        drawn=panel.drawn is not None and baseline is None,
        looks=panel.looks,
        judge_missing=not view.common,
    )
    against: tuple[Against, ...] = ()
    if baseline is not None:
        controlled = {name: c.rate for name, c in view.controlled.items() if c.rate is not None}
        against = against_baseline(scores, ranking, baseline, controlled)
    questions = len(present(scores.question[scores.valid]))
    several = panel.is_judged and len(panel.judges) > 1
    by = f"in the mean of {listed(panel.judges)}" if several else ""
    measure = measure_of(panel)
    stopped = panel.looks is not None
    return Evidence(measure, ranking, questions, baseline, against, name, by, view.focus, stopped)


def measure_of(panel: Panel) -> Measure:
    """Return how numbers are written; grades that do not say their scale are from 1 to 10."""
    if panel.form in ("pair", "vote"):
        weighed = panel.method.startswith("logprobs")  # preferences, as alpaca_eval shows them
        return Measure("pairs", (0, 1), places=1 if weighed else 2, percent=weighed)
    if panel.form == "metric":
        return Measure("numbers", places=3)
    if panel.form in ("label", "points"):
        noun = "correct" if is_facts(panel.scores) else panel.metrics[0].lower()
        noun = "of the points met" if panel.form == "points" else noun
        return Measure("labels", (0, 1), noun, places=0, percent=True)
    scale, values = panel.scale, panel.scores.value[panel.scores.valid]
    if scale is None and (not len(values) or (values.min() >= 1 and 5 < values.max() <= 10)):
        scale = (1, 10)
    return Measure("grades", scale)


def title(panel: Panel, view: View) -> str:
    """Return what a table is of: benchmark, scale, judges, judge set."""
    measure = measure_of(panel)
    ends = "" if measure.scale is None else " from {:g} to {:g}".format(*measure.scale)
    against = f" against {view.baseline}" if view.baseline else ""
    verbs = {"metric": "computed", "vote": "votes", "label": "labelled"}
    verbs["pair"] = f"pairs{against} judged"
    parts = [view.bench, f"{verbs.get(panel.form, f'graded{ends}')} by {listed(panel.judges)}"]
    parts += ["in percent"] if measure.percent else []
    if panel.is_judged and panel.judge_set not in (UNSTATED, view.bench):
        parts.append(f"judge set {panel.judge_set}")
    if panel.drawn is not None:
        parts.append(drawn_in_words(panel.drawn))
    if (aggregate := view.aggregates.get(panel.judge_set)) is not None:
        parts.append(f"{aggregate} of the turns of each conversation")
    if panel.is_judged and len(panel.judges) > 1:
        parts.append("the mean of the judges")
    return ", ".join(parts)


def drawn_in_words(share: float) -> str:
    """Return what share of the pairs is judged."""
    return f"{percent(share, 0 if share > 0.02 else 1)} of the pairs, drawn at random"


def caveats_of(panel: Panel) -> list[Caveat]:
    """Return what a reader must know of the verdicts of a panel."""
    caveats = [Caveat(METHOD, STOPPED)] if panel.looks is not None else []
    if panel.form != "metric" and any(judge.startswith("builtin/") for judge in panel.judges):
        text = f"Verdicts of {listed(panel.judges)} are for trying out, not for judging models."
        caveats.append(Caveat(TRIAL, text))
    if 0 < panel.unknown < len(panel.scores):
        text = f"{panel.unknown} of the {len(panel.scores)} judgments do not say their judge set."
        caveats.append(Caveat(CHANGED, text))
    if len(panel.versions) > 1:
        text = f"Versions {listed(panel.versions)} of the judge set are together."
        caveats.append(Caveat(CHANGED, text))
    if panel.scores.unchecked and panel.is_judged:
        caveats.append(Caveat(CHANGED, f"{unchecked_in_words(panel.scores.unchecked)}."))
    own = [judge for judge in panel.judges if judge in panel.scores.models_present]
    if own and panel.is_judged:
        caveats.append(Caveat(ITSELF, f"{listed(own)} judges answers of its own."))
    if lost := int((~panel.one_each(panel.combined).valid).sum()):
        which = "that not all judges gave" if len(panel.judges) > 1 else "without a verdict"
        caveats.append(Caveat(MISSING, f"Left out: {counted(lost, 'judgment')} {which}."))
    return caveats


def sorted_rows(rows: list[dict[str, Any]], view: View) -> list[dict[str, Any]]:
    """Return rows by the column of --sort: a field, a category, or a name as text shows it."""
    if view.sort is None or not rows:
        return rows
    fields = [(flat(row), row) for row in rows]
    names = (view.sort.replace(" ", "_"), f"{view.group}_{view.sort}")
    key = next((name for name in names if name in fields[0][0]), None)
    if key is None:
        present = [name for name in fields[0][0] if not name.endswith(("_low", "_high"))]
        there = listed(present, 9)
        raise UsageError(f"--sort {view.sort}: there is no such column; there are {there}")
    numbered = [(values[key], row) for values, row in fields if values[key] is not None]
    words = any(isinstance(value, str) for value, _ in numbered)
    numbered.sort(key=lambda pair: pair[0], reverse=not words)
    return [row for _, row in numbered] + [row for values, row in fields if values[key] is None]
