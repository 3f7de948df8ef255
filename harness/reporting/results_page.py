"""Sections of judgments as one page that answers first.

    outcome     who is better, by how much, how sure; pairs and grades together
    tables      one for each kind of judgments
    notes       at most two: what a reader must know, and where the rest is

Where over 10% of the judgments have no verdict, no model is called better: the outcome is what is
missing, with cause and command.
"""

from collections.abc import Sequence
from typing import Any

from harness.reporting.graded import graded, labels
from harness.reporting.outcome import outcome, outcomes
from harness.reporting.page import Column, Note, Page, Row, Table, counted
from harness.reporting.pairs import pairs
from harness.reporting.section import Section, View
from harness.reporting.several import several
from harness.results import Panel


def sections_of(panels: Sequence[Panel], view: View) -> list[Section]:
    """Return a section for each panel, and one for all metrics together."""
    metrics = [panel for panel in panels if panel.form == "metric"]
    if metrics and len(panels) > 1:  # several, or --metric bleu score
        return [several([*metrics, *(panel for panel in panels if panel not in metrics)], view)]
    return [_section(panel, view) for panel in panels]


def _section(panel: Panel, view: View) -> Section:
    if panel.form in ("pair", "vote"):
        return pairs(panel, view)
    if panel.form == "label":
        return labels(panel, view)
    return graded(panel, view) if len(panel.metrics) == 1 else several([panel], view)


def results_page(sections: Sequence[Section], view: View, causes: Sequence[Note] = ()) -> Page:
    """Return the page of what there is.

    Args:
        sections: the largest first.
        view: how they are to be shown.
        causes: why judgments are missing, with what to do.
    """
    sections = sorted(sections, key=_first_last)
    incomplete = incomplete_of(sections)
    text, notes = _text(_main(sections)), _notes(sections, view)
    if incomplete:
        text = _no_result(incomplete)
        judged = any(row.judged for section in incomplete for row in section.ranking.missing)
        notes = [_NOT_SAID] if judged else []
    tables: list[Table] = []
    for section in sections:
        tables += _so_far(section) if section.ranking.incomplete else section.tables
    if view.details and not incomplete:
        tables += [table for section in sections for table in section.more]
    return Page(
        text,
        tables,
        [chart for section in sections for chart in section.charts],
        notes,
        causes if incomplete else (),
        f"{view.bench}: results",
        _facts(sections, view),
        _rows(sections),
    )


def _first_last(section: Section) -> tuple[bool, bool]:
    """Return what sections are sorted by: pairs first, built-in judges last."""
    return section.trial, section.panel.form != "pair"


def incomplete_of(sections: Sequence[Section]) -> list[Section]:
    """Return those of the main sections in which too much is missing to call a model better."""
    return [section for section in _main(sections) if section.ranking.incomplete]


def _main(sections: Sequence[Section]) -> list[Section]:
    """Return the largest section of each kind, which the outcome is about."""
    kinds: dict[str, Section] = {}
    sections = sorted(sections, key=_first_last)
    for section in sections:
        kinds.setdefault(section.kind, section)
    return list(kinds.values())


def _text(sections: Sequence[Section]) -> str:
    if len(sections) == 1 and len(sections[0].evidence) > 1:
        return outcomes(sections[0].evidence)
    sentences = [outcome([section.evidence[0] for section in sections])]
    return "\n".join([*sentences, *(section.said for section in sections if section.said)])


def _no_result(sections: Sequence[Section]) -> str:
    """Return how many judgments are missing, and where most of them are."""
    missing = [row for section in sections for row in section.ranking.missing]
    lost = sum(row.failed + row.absent for row in missing)
    total = lost + sum(row.judged for row in missing)
    most = max(missing, key=lambda row: row.failed + row.absent)
    kind = sections[0].kind.removesuffix("s")
    if lost == total:
        return f"No result: none of the {counted(total, kind)} could be read."
    where = f"{most.failed + most.absent} of them in {most.model}'s turn {most.turn}"
    return f"No result yet: {lost} of {counted(total, kind)} are missing, {where}."


_NOT_SAID = Note(
    "Which is better is not said while over 10% of the judgments are missing: long and odd answers "
    "fail more often, so the rest is not a fair sample. To compare it all the same",
    "--common",
)


def _so_far(section: Section) -> list[Table]:
    """Return the table with what is missing beside what there is."""
    main = section.tables[0]

    def with_counts(row: Row) -> dict[str, Any]:
        parts = [part for part in section.ranking.missing if part.model == row["model"]]
        lost = sum(part.failed + part.absent for part in parts)
        return {**row, "judged": sum(part.judged for part in parts), "missing": lost}

    section.rows = list(map(with_counts, section.rows))
    head = [c for c in main.columns if not c.key.startswith(("rank", "failed", "judge_"))]
    columns = [*head, Column("judged", always=True), Column("missing", always=True)]
    rows = list(map(with_counts, main.rows))
    return [Table(f"{main.title}: what there is so far", columns, rows)]


def _notes(sections: Sequence[Section], view: View) -> list[Note]:
    """Return at most two notes; with --details all of them."""
    caveats = list(dict.fromkeys(caveat for section in sections for caveat in section.caveats))
    many = any(len(section.ranking.names) > 2 for section in sections)
    if many and not caveats:
        caveats.append(
            "Intervals may overlap and models still differ: ranks compare question by question."
        )
    if view.details:
        return list(map(Note, caveats))
    return [*map(Note, caveats[:1]), Note("", "Everything: --details")]


def _facts(sections: Sequence[Section], view: View) -> dict[str, object]:
    first = sections[0].panel
    pairwise = "pairwise-baseline" if view.baseline and first.form == "pair" else "pairwise-all"
    votes = first.form == "vote"
    facts: dict[str, object] = {
        "mode": pairwise if first.form in ("pair", "vote") else "single",
        "bench": view.bench,
        "judge": "human" if votes else ", ".join(first.judges),
        "judge_set": "votes" if votes else _judge_set(first),
    }
    return facts | ({"baseline": view.baseline} if view.baseline else {})


def _rows(sections: Sequence[Section]) -> list[dict[str, object]]:
    """Return the rows for programs; of several kinds each row says its mode."""
    rows = []
    for section in sections:
        mode = {"pair": "pairwise-all", "vote": "votes"}.get(section.panel.form, "single")
        more: dict[str, object] = {"mode": mode} if len(sections) > 1 else {}
        more |= {"judge_set": _judge_set(section.panel)}
        rows += [{**row, **more} for row in section.rows]
    return rows


def _judge_set(panel: Panel) -> str:
    return " ".join([panel.judge_set, *panel.versions[-1:]])
