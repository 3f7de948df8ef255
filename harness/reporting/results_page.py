"""Sections of judgments as one page that answers first.

    outcome     who is better, by how much, how sure; pairs and grades together
    tables      one for each kind of judgments
    notes       at most two: what a reader must know, and where the rest is

Where over 10% of a model's judgments have no verdict, nothing is said of it: what is missing comes
first, with cause and command. Where that leaves no two models, no model is called better.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from msgspec.structs import replace as changed

from harness import __version__
from harness.models import ModelConfig
from harness.options import ShowResult
from harness.reporting.causes import causes
from harness.reporting.kinds import sections_of as sections_of
from harness.reporting.methods import paragraph
from harness.reporting.outcome import REST, Evidence, outcome, outcomes
from harness.reporting.page import JUDGES, RANK, Column, Note, Page, Row, Table
from harness.reporting.pages import PageKind, Result
from harness.reporting.planned import with_plan
from harness.reporting.remarks import add_caveats, dissent, name_judges, people, reason, where_worse
from harness.reporting.section import Caveat, Section, View
from harness.reporting.selecting import Judged, check_by, read_judged
from harness.results import Panel
from harness.results.length_control import length_controlled, read_gamed
from harness.results.spent import Cost
from harness.words import counted, first_lines, listed

_NOT_SAID = Note(
    "Which is better is not said while over 10% of the judgments are missing: long and odd answers "
    "fail more often, so the rest is not a fair sample. To compare it all the same",
    "--common",
)


class Shown(NamedTuple):
    """The page of results, and what it is made of."""

    page: Page
    sections: list[Section]
    view: View


def show(options: ShowResult, cost: Cost) -> Result:
    """Return the results: who is better, by how much, how sure."""
    shown = results(options, read_judged(options), cost.configs)
    lacking = incomplete_of(shown.sections) or left_out_of(shown.sections)
    return Result(shown.page, int(bool(lacking)))


RESULTS = PageKind(show, check_by)


def results(
    options: ShowResult, judged: Judged, configs: Mapping[str, ModelConfig] | None = None
) -> Shown:
    """Return the page of results of some judgments; `configs` are the models of turnbench.toml."""
    bench, view = judged.bench, judged.view
    if view.baseline is not None and options.board.length_control != "off":
        gamed = read_gamed(bench)
        if gamed is not None or options.board.length_control is not None:
            rates = length_controlled(judged.scores, bench, view.baseline, gamed)
            view = replace(view, controlled={rate.model: rate for rate in rates})
    sections = sections_of(judged.groups, view)
    add_caveats(sections, bench, options, view)
    name_judges(sections)
    add_remarks(sections, judged, options, view)
    lacking = incomplete_of(sections) or left_out_of(sections) or judged.scores.left_out
    shown = () if view.focus else (*view.models, *filter(None, [view.baseline]))
    part = changed(options.slice, model_list=shown if view.models else ())
    why = causes(bench, judged.groups, part, configs) if lacking else []
    page = results_page(sections, view, why)
    facts = {**page.facts, **provenance_facts(judged)}
    about = functools.partial(paragraph, judged, sections)
    page = replace(page, facts=facts, methods=about)
    if options.plan is not None:
        page = with_plan(page, options.plan, judged)
    return Shown(page, sections, view)


def provenance_facts(judged: Judged) -> dict[str, Any]:
    """Return what programs must know of the numbers: by what, when, with which sampling."""
    sources = judged.scores.sources_present.values()
    stated = [source.sampling for source in sources if source.sampling]
    return {
        "turnbench": __version__,
        "date": datetime.now(UTC).date().isoformat(),
        "sampling": [json.loads(sampling) for sampling in dict.fromkeys(stated)],
        "failures": sum(panel.unread for panel in judged.groups),
    }


def add_remarks(
    sections: Sequence[Section], judged: Judged, options: ShowResult, view: View
) -> None:
    """Add sentences after the outcome: who says otherwise, why nobody is better, people."""
    main, bench = _main(sections), judged.bench
    for section in main:
        if len(section.evidence) > 1 or section.ranking.incomplete or view.focus:
            continue
        others = [other for other in sections if other is section or other not in main]
        why = reason(section.evidence[0], section.panel, bench)
        where = where_worse(section, bench) if view.details else ""
        parts = [dissent(section, others), why, section.remark, where]
        section.remark = " ".join(filter(None, parts))
    names = [name for name in main[0].ranking.complete if not view.models or name in view.models]
    if voted := people(bench, options, view, names, judged.votes):
        section = main[-1]
        section.remark = "\n".join(filter(None, [section.remark, voted]))


def results_page(sections: Sequence[Section], view: View, causes: Sequence[Note] = ()) -> Page:
    """Return the page of what there is.

    Args:
        sections: of `sections_of`.
        view: how they are to be shown.
        causes: why judgments are missing, with what to do.
    """
    incomplete = incomplete_of(sections)
    facts = {"mode": "", "bench": view.bench} | _made_by(sections[0].panel, view)
    facts |= {"baseline": view.baseline} if view.baseline else {}
    text, notes = _text(_main(sections)), _notes(sections, view)
    left_out = left_out_of(sections)
    if incomplete:
        text = _no_result(incomplete[0])
        judged = any(row.judged for section in incomplete for row in section.ranking.missing)
        notes = [_NOT_SAID] if judged else []
    elif left_out:
        text = "\n".join([*first_lines([*map(_left_out, left_out)], 3, REST), text])
    tables: list[Table] = []
    for section in sections:
        tables += [_so_far(section)] if section.ranking.incomplete else section.tables
    if view.details and not incomplete:
        tables += [table for section in sections for table in section.more]
    return Page(
        text,
        tables,
        [chart for section in sections for chart in section.charts],
        notes,
        causes,
        f"{view.bench}: results",
        facts,
        _rows(sections, view),
    )


def incomplete_of(sections: Sequence[Section]) -> list[Section]:
    """Return those of the main sections in which too much is missing to call a model better."""
    return [section for section in _main(sections) if section.ranking.incomplete]


def left_out_of(sections: Sequence[Section]) -> list[Evidence]:
    """Return the columns of the main sections that say nothing of a model that lacks too much."""
    columns = (evidence for section in _main(sections) for evidence in section.evidence)
    return [evidence for evidence in columns if evidence.ranking.left_out]


def _left_out(evidence: Evidence) -> str:
    """Return of which models nothing is said, and how much of them is missing."""
    parts = []
    for name in evidence.ranking.left_out:
        rows = [row for row in evidence.ranking.missing if row.model == name]
        lost = sum(row.lost for row in rows)
        kind = evidence.measure.kind.removesuffix("s")
        noun = counted(lost + sum(row.judged for row in rows), kind)
        parts.append(f"{lost} of {noun} of {name}")
    which = "it" if len(parts) == 1 else "them"
    return f"Missing{_of(evidence)}: {listed(parts)}, so nothing is said of {which}."


def _of(evidence: Evidence) -> str:
    return f" of {evidence.name}" if evidence.name else ""


def _main(sections: Sequence[Section]) -> list[Section]:
    """Return the largest section of each kind, which the outcome is about."""
    kinds: dict[str, Section] = {}
    for section in sections:
        kinds.setdefault(section.kind, section)
    return list(kinds.values())


def _text(sections: Sequence[Section]) -> str:
    if len(sections) == 1 and len(sections[0].evidence) > 1:
        return outcomes(sections[0].evidence)
    sentences = [outcome([section.evidence[0] for section in sections])]
    return "\n".join([*sentences, *(section.remark for section in sections if section.remark)])


def _no_result(section: Section) -> str:
    """Return how many judgments are missing, and where most of them are."""
    parts, kind = section.ranking.missing, section.kind.removesuffix("s")
    name = _of(section.evidence[0])
    absent = [part.lost for part in parts]
    lost, total = sum(absent), sum(absent) + sum(part.judged for part in parts)
    if section.kind == "pairs" and not section.evidence[0].baseline:  # counted for both models
        lost, total = lost // 2, total // 2
    if lost == total:
        return f"No result: none of the {counted(total, kind)}{name} could be read."
    most = parts[absent.index(max(absent))]
    where = f"{max(absent)} of them in {most.model}'s turn {most.turn}"
    return f"No result yet: {lost} of {counted(total, kind)}{name} are missing, {where}."


def _so_far(section: Section) -> Table:
    """Return the table with what is missing beside what there is; add that to the rows."""
    counts: dict[str, dict[str, int]] = {}
    for part in section.ranking.missing:
        count = counts.setdefault(part.model, {"judged": 0, "missing": 0})
        count["judged"] += part.judged
        count["missing"] += part.lost
    main = section.tables[0]
    section.rows = [{**row, **counts[row["model"]]} for row in section.rows]
    rows = [{**row, **counts[row["model"]]} for row in main.rows]
    columns = [c for c in main.columns if c.key not in (RANK, "failed", JUDGES)]
    columns += [Column("judged", always=True), Column("missing", always=True)]
    return Table(f"{main.title}: what there is so far", columns, rows)


def _notes(sections: Sequence[Section], view: View) -> list[Note]:
    """Return at most two notes; with --details all of them."""
    found = sorted(
        ((caveat, section) for section in sections for caveat in section.caveats),
        key=lambda item: item[0].order,
    )
    caveats = list(dict.fromkeys(_named(caveat, section, sections) for caveat, section in found))
    if not caveats and any(len(section.ranking.names) > 2 for section in sections):
        caveats.append(
            "Intervals may overlap and models still differ: ranks compare question by question."
        )
    if view.details:
        return list(map(Note, caveats))
    return [*map(Note, caveats[:1]), Note("", "Everything: --details")]


def _named(caveat: Caveat, section: Section, sections: Sequence[Section]) -> str:
    """Return a caveat, with the name of the section where it is not one of all."""
    if all(caveat in other.caveats for other in sections):
        return caveat.text
    name = f"{section.kind} by {listed(section.panel.judges)}"
    alike = (other for other in sections if other.kind == section.kind)
    if any(other.panel.judges == section.panel.judges for other in alike if other is not section):
        name += f" with judge set {section.panel.judge_set}"
    return f"{name[0].upper()}{name[1:]}: {caveat.text[0].lower()}{caveat.text[1:]}"


def _made_by(panel: Panel, view: View) -> dict[str, object]:
    """Return mode, judge and judge set of some judgments."""
    if panel.form == "vote":
        return {"mode": "pairwise-all", "judge": "human", "judge_set": "votes"}
    pairs = "pairwise-baseline" if view.baseline else "pairwise-all"
    return {
        "mode": pairs if panel.form == "pair" else "single",
        "judge": ", ".join(panel.judges),
        "judge_set": panel.versioned_set,
    }


def _rows(sections: Sequence[Section], view: View) -> list[Row]:
    """Return the rows for programs; of several kinds each row says its mode and judge."""
    names = ("judge_set", "mode", "judge") if len(sections) > 1 else ("judge_set",)
    rows: list[Row] = []
    for section in sections:
        made_by = _made_by(section.panel, view)
        more = {name: made_by[name] for name in names}
        rows += [{**row, **more, **row} for row in section.rows]
    return rows
