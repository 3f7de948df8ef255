"""The page of `--reach`: the level at which a model passes half of the questions."""

import functools

from msgspec.structs import replace

from harness.options import ShowResult
from harness.reporting.charts import marks
from harness.reporting.outcome import Measure
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
from harness.reporting.ranked import change_of
from harness.reporting.selecting import read_judged
from harness.results.passed import passes
from harness.results.reach import Gap, Reach, gaps, reaches
from harness.results.spent import Cost
from harness.words import counted


def show(options: ShowResult, cost: Cost) -> Result:
    """Return how far each model gets, and by how much farther than another."""
    judged = read_judged(replace(options, metric=("checks",)))
    found = reaches(passes(judged.panel("metric", need="--reach needs checks").scores))
    return Result(reach_page(found, judged.bench.name))


REACH = PageKind(show)
_LEVELS = Measure("numbers", places=1)


def reach_page(found: list[Reach], bench: str) -> Page:
    """Return the page of some models' reaches."""
    between = gaps(found)
    skills = list(dict.fromkeys(skill for reach in found for skill in reach.skills))
    rows: list[Row] = [
        {
            "model": reach.model,
            "reach": Cell.of(reach.level),
            "outside": reach.outside,
            "skill": {
                skill: Cell.of(reach.skills[skill]) if skill in reach.skills else Cell(None)
                for skill in skills
            },
            "templates": reach.templates,
            "questions": reach.asked,
            "undecided": reach.undecided,
        }
        for reach in found
    ]
    columns = [Column("model"), *interval_columns("reach", "reaches level", ".1")]
    if any(reach.outside for reach in found):
        columns.append(Column("outside", "", always=True))
    columns += [
        Column("templates", always=True),
        Column("questions", always=True),
        Column("undecided", help="conversations with a check that was not decided"),
        *(Column("skill", format=".1", of=skill, optional=True) for skill in skills),
    ]
    tables = [Table(f"{bench}, the level at which half of the questions are passed", columns, rows)]
    if len(found) > 2 and between:
        tables.append(_gap_table(between))
    levels = sorted({level for reach in found for level in reach.shares})
    curve: list[Row] = [
        {
            "level": f"level {level}",
            "passed": {r.model: Cell.of(r.shares[level]) for r in found if level in r.shares},
        }
        for level in levels
    ]
    by_level = [Column("passed", format="%", of=reach.model, always=True) for reach in found]
    tables.append(Table("Passed by level, %", [Column("level"), *by_level], curve, name="levels"))
    draw = functools.partial(marks, curve, by_level, "passed", name="level", scale=(0, 1))
    return Page(
        _in_words(found, between),
        tables,
        [Chart("Questions passed, by level", draw, "levels")],
        [Note("Levels are of these templates: a reach on another set is another number.")],
        title=f"{bench}: reach",
        facts={"bench": bench},
    )


def _gap_table(between: list[Gap]) -> Table:
    rows: list[Row] = [
        {
            "model_1": gap.one,
            "model_2": gap.other,
            "difference": change_of(gap),
            "verdict": _verdict(gap),
        }
        for gap in between
    ]
    columns = [
        Column("model_1", "model"),
        Column("model_2", "less", always=True),
        *interval_columns("difference", "levels", ".1"),
        Column("verdict", always=True),
    ]
    return Table("Reach less reach, template by template", columns, rows, name="differences")


def _verdict(gap: Gap) -> str:
    if not gap.decided:
        return "not decided"
    return "farther" if gap.difference.value > 0 else "less far"


def _in_words(found: list[Reach], between: list[Gap]) -> str:
    first, lines = found[0], list[str]()
    text = _reached(first)
    against = [gap for gap in between if gap.one == first.model][:1]
    for gap in against:
        size = _LEVELS.gap(abs(gap.difference.value))
        ends = _LEVELS.ends(gap.interval)
        if gap.decided:
            text += f", {size} levels more than {gap.other}{ends}"
        else:
            text += f"; against {gap.other} not decided: {size} levels more{ends}"
    lines.append(f"{text}.")
    lines += [f"{_reached(reach)}." for reach in found[1:4]]
    if lost := sum(reach.undecided for reach in found):
        lines.append(f"Left out: {counted(lost, 'conversation')} with an undecided check.")
    return "\n".join(lines)


def _reached(reach: Reach) -> str:
    if reach.outside == "no level":
        return f"{reach.model} passes about half at every level, so it has no reach"
    if reach.outside:
        return f"{reach.model} has a reach of {reach.outside}"
    level = _LEVELS.value(reach.level.value) + _LEVELS.ends(reach.level.interval)
    return f"{reach.model} reaches level {level}"
