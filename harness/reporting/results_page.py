"""Sections of judgments as one page that answers first.

    outcome     who is better, by how much, how sure; pairs and grades together
    tables      one for each kind of judgments
    notes       at most two: what a reader must know, and where the rest is

Where over 10% of the judgments have no verdict, no model is called better: the outcome is what is
missing, with cause and command.
"""

from collections.abc import Sequence

from harness.reporting.kinds import sections_of as sections_of
from harness.reporting.outcome import outcome, outcomes
from harness.reporting.page import JUDGES, RANK, Column, Note, Page, Row, Table
from harness.reporting.section import Section, View
from harness.results import Panel
from harness.words import counted

_NOT_SAID = Note(
    "Which is better is not said while over 10% of the judgments are missing: long and odd answers "
    "fail more often, so the rest is not a fair sample. To compare it all the same",
    "--common",
)


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
    if incomplete:
        text = _no_result(incomplete[0])
        judged = any(row.judged for section in incomplete for row in section.ranking.missing)
        notes = [_NOT_SAID] if judged else []
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
        causes if incomplete else (),
        f"{view.bench}: results",
        facts,
        _rows(sections, view),
    )


def incomplete_of(sections: Sequence[Section]) -> list[Section]:
    """Return those of the main sections in which too much is missing to call a model better."""
    return [section for section in _main(sections) if section.ranking.incomplete]


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
    absent = [part.failed + part.absent for part in parts]
    lost, total = sum(absent), sum(absent) + sum(part.judged for part in parts)
    if section.kind == "pairs" and not section.evidence[0].baseline:  # counted for both models
        lost, total = lost // 2, total // 2
    if lost == total:
        return f"No result: none of the {counted(total, kind)} could be read."
    most = parts[absent.index(max(absent))]
    where = f"{max(absent)} of them in {most.model}'s turn {most.turn}"
    return f"No result yet: {lost} of {counted(total, kind)} are missing, {where}."


def _so_far(section: Section) -> Table:
    """Return the table with what is missing beside what there is; add that to the rows."""
    counts: dict[str, dict[str, int]] = {}
    for part in section.ranking.missing:
        count = counts.setdefault(part.model, {"judged": 0, "missing": 0})
        count["judged"] += part.judged
        count["missing"] += part.failed + part.absent
    main = section.tables[0]
    section.rows = [{**row, **counts[row["model"]]} for row in section.rows]
    rows = [{**row, **counts[row["model"]]} for row in main.rows]
    columns = [c for c in main.columns if c.key not in (RANK, "failed", JUDGES)]
    columns += [Column("judged", always=True), Column("missing", always=True)]
    return Table(f"{main.title}: what there is so far", columns, rows)


def _notes(sections: Sequence[Section], view: View) -> list[Note]:
    """Return at most two notes; with --details all of them."""
    caveats = list(dict.fromkeys(caveat for section in sections for caveat in section.caveats))
    if not caveats and any(len(section.ranking.names) > 2 for section in sections):
        caveats.append(
            "Intervals may overlap and models still differ: ranks compare question by question."
        )
    if view.details:
        return list(map(Note, caveats))
    return [*map(Note, caveats[:1]), Note("", "Everything: --details")]


def _made_by(panel: Panel, view: View) -> dict[str, object]:
    """Return mode, judge and judge set of some judgments."""
    if panel.form == "vote":
        return {"mode": "pairwise-all", "judge": "human", "judge_set": "votes"}
    pairs = "pairwise-baseline" if view.baseline else "pairwise-all"
    return {
        "mode": pairs if panel.form == "pair" else "single",
        "judge": ", ".join(panel.judges),
        "judge_set": " ".join([panel.judge_set, *panel.versions[-1:]]),
    }


def _rows(sections: Sequence[Section], view: View) -> list[Row]:
    """Return the rows for programs; of several kinds each row says its mode."""
    rows: list[Row] = []
    for section in sections:
        made_by = _made_by(section.panel, view)
        more = {name: made_by[name] for name in ("judge_set", "mode")[: len(sections)]}
        rows += [{**row, **more} for row in section.rows]
    return rows
