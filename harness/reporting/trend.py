"""The page of `--trend`: models whose names differ in a number, as a curve."""

import functools
import math
from collections.abc import Callable, Sequence

from harness.errors import MissingError
from harness.options import ShowResult
from harness.reporting import charts
from harness.reporting.page import (
    Cell,
    Chart,
    Column,
    Note,
    Page,
    Row,
    Table,
    interval_columns,
)
from harness.reporting.pages import PageKind, Result
from harness.reporting.section import View, evidence_of, title
from harness.reporting.selecting import Judged, read_judged
from harness.results import Panel, conversations, summarize
from harness.results.spent import Cost
from harness.results.trend import FEWEST, Step, Trend, compare_steps, curves
from harness.words import counted, listed


def show(options: ShowResult, cost: Cost) -> Result:
    """Return a curve for each set of models whose names differ in one number."""
    judged = read_judged(options)
    panel = judged.groups[0]
    sentences: list[str] = []
    tables: list[Table] = []
    pictures: list[Chart] = []
    for at, steps in enumerate(_curves(judged, panel)):
        sentence, table, chart = _curve(panel, judged.view, steps, at)
        sentences.append(sentence)
        tables.append(table)
        pictures.append(chart)
    note = Note(
        "All that is said of a curve holds at once in 95% of cases: the steps are compared with "
        "the best, whichever that is. Numbers in names give the order only."
    )
    facts = {"bench": judged.bench.name, "judge": listed(panel.judges, 9)}
    page_title = f"{judged.bench.name}: trend"
    page = Page("\n".join(sentences), tables, pictures, [note], title=page_title, facts=facts)
    return Result(page)


TREND = PageKind(show)


def _curves(judged: Judged, panel: Panel) -> list[list[Step]]:
    wanted = judged.view.models or panel.scores.models_present
    baseline = judged.view.baseline if panel.scores.paired else None
    names = [name for name in wanted if name != baseline]
    if not (found := curves(names)):
        raise MissingError(
            f"--trend takes {FEWEST} models or more whose names differ in one number, such as "
            f"step-500, step-1000 and step-1500; these are {listed(names)}"
        )
    return found


def _curve(panel: Panel, view: View, steps: Sequence[Step], at: int) -> tuple[str, Table, Chart]:
    """Return what is said of a curve, its table and its chart."""
    column = panel.combined.of(metric=panel.metrics[0])
    rule = view.aggregates.get(panel.judge_set)
    column = conversations(column, rule) if rule else column
    evidence = evidence_of(panel, view, column)
    lacking = [step for step in steps if step.model in evidence.ranking.left_out]
    steps = [step for step in steps if step not in lacking]
    if len(steps) < FEWEST:
        raise MissingError(
            f"--trend: over 10% of the verdicts on {listed([step.model for step in lacking])} "
            "are missing; run gen_judgment again"
        )
    found = compare_steps(column, steps, drawn=panel.drawn is not None)
    measure = evidence.measure
    means = {s["model"]: s for s in summarize(column) if s["model"] in found.behind}
    rows: list[Row] = []
    for step in found.steps:
        behind, summary = found.behind[step.model], means[step.model]
        rows.append(
            {
                "model": step.model,
                "step": step.number,
                "score": Cell.of(summary.mean, measure.scale),
                "behind": Cell(None, behind.least, behind.most),
                "may_be_best": behind.least == 0,
                "questions": summary.questions,
            }
        )
    columns = [
        Column("model"),
        *interval_columns("score", "", measure.form),
        Column("behind", "worse than the best", f"interval{measure.form}", always=True),
        Column("may_be_best", always=True),
        Column("questions", hidden_in_text=True),
        Column("step", hidden_in_text=True),
    ]
    table = Table(title(panel, view), columns, rows, name="" if at == 0 else f"trend_{at + 1}")
    number = [Column("score", format=measure.form)]
    drawn = functools.partial(charts.marks, rows, number, "score")
    chart = Chart("Score by step", drawn, f"trend{at + 1}" if at else "trend")
    sentence = _in_words(found, measure.form, {name: m.mean.value for name, m in means.items()})
    if lacking:
        names = listed([step.model for step in lacking])
        sentence += f" Left out, as over 10% of their verdicts are missing: {names}."
    return sentence, table, chart


def _in_words(found: Trend, form: str, means: dict[str, float]) -> str:
    """Return where the peak is, and how the last step stands to it."""
    last, best = found.steps[-1], found.possible
    unit = " points of 100" if form.startswith("%") else ""
    if len(best) == 1:
        peak = f"The peak is at {best[0].number:,g}"
    elif len(best) == len(found.steps):
        peak = "No step is shown to be worse than another: any of them may be the best"
    else:
        highest = max(best, key=lambda step: means[step.model])
        numbers = listed([f"{step.number:,g}" for step in best], 9)
        peak = (
            f"The peak is at {highest.number:,g} as measured; the best may be any of "
            f"{counted(len(best), 'step')}: {numbers}"
        )
    behind = found.behind[last.model]
    name = f"the last step, {last.number:,g},"
    if best == (last,):
        return f"{peak}, which is the last step."
    if behind.least > 0:
        least = _number(behind.least, form, math.floor)
        return f"{peak}; {name} is at least {least}{unit} worse than the best."
    most = _number(behind.most, form, math.ceil)
    return f"{peak}; {name} is at most {most}{unit} worse than the best, if at all."


def _number(value: float, form: str, rounding: Callable[[float], float]) -> str:
    """Return a bound, rounded to the side on which it stays true."""
    places, hundred = int(form.partition(".")[2] or 0), 100 if form.startswith("%") else 1
    scale = 10**places
    return f"{rounding(value * hundred * scale) / scale:.{places}f}"
