"""Sections of judgments as one page that answers first.

    outcome     who is better, by how much, how sure; pairs and grades together
    tables      one for each kind of judgments
    notes       at most two: what a reader must know, and where the rest is

Where over 10% of the judgments have no verdict, no model is called better: the outcome is what is
missing, with cause and command.
"""

from collections.abc import Sequence

from harness.reporting.graded import graded
from harness.reporting.outcome import outcome, outcomes
from harness.reporting.page import Column, Note, Page, Table, counted
from harness.reporting.pairs import pairs
from harness.reporting.section import Section, View
from harness.reporting.several import labels, several
from harness.results import Panel


def sections_of(panels: Sequence[Panel], view: View) -> list[Section]:
    """Return a section for each panel, and one for all metrics together."""
    sections = []
    metrics = [panel for panel in panels if panel.form == "metric"]
    if metrics and len(metrics) < len(panels):  # --metric ... score
        return [several([*metrics, *(panel for panel in panels if panel not in metrics)], view)]
    for panel in panels:
        if panel.form in ("pair", "vote"):
            sections.append(pairs(panel, view))
        elif panel.form == "label":
            sections.append(labels(panel, view))
        elif panel.form != "metric" or sum(len(metric.metrics) for metric in metrics) == 1:
            one = len(panel.metrics) == 1
            sections.append(graded(panel, view) if one else several([panel], view))
        elif panel is metrics[0]:
            sections.append(several(metrics, view))
    return sections


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
    kind = sections[0].kind
    if lost == total:
        return f"No result: none of the {counted(total, kind.removesuffix('s'))} could be read."
    where = f"{most.failed + most.absent} of them in {most.model}'s turn {most.turn}"
    are = "is" if lost == 1 else "are"
    return (
        f"No result yet: {lost} of {counted(total, kind.removesuffix('s'))} {are} missing, {where}."
    )


_NOT_SAID = Note(
    "Which is better is not said while over 10% of the judgments are missing: long and odd answers "
    "fail more often, so the rest is not a fair sample. To compare it all the same",
    "--common",
)


def _so_far(section: Section) -> list[Table]:
    """Return the table with what is missing beside what there is."""
    counts: dict[str, tuple[int, int]] = {}
    for part in section.ranking.missing:
        judged, lost = counts.get(part.model, (0, 0))
        counts[part.model] = judged + part.judged, lost + part.failed + part.absent
    for row in section.rows:
        judged, lost = counts.get(row["model"], (0, 0))
        row |= {"judged": judged, "missing": lost}
    head = [column for column in section.tables[0].columns if column.key not in ("rank", "failed")]
    columns = [*head, Column("judged", always=True), Column("missing", always=True)]
    whole = [row for row in section.rows if row.get("judge", "all together") == "all together"]
    return [Table(f"{section.tables[0].title}: what there is so far", columns, whole)]


def _notes(sections: Sequence[Section], view: View) -> list[Note]:
    """Return at most two notes; with --details all of them."""
    caveats = list(dict.fromkeys(caveat for section in sections for caveat in section.caveats))
    many = any(len(section.ranking.names) > 2 for section in sections)
    if many and not caveats:
        caveats.append(
            "Intervals may overlap and models still differ: ranks compare question by question."
        )
    notes = [Note(caveat) for caveat in (caveats if view.details else caveats[:1])]
    if view.details:
        return notes
    return [*notes, Note("", "Everything: --details")]


def _facts(sections: Sequence[Section], view: View) -> dict[str, object]:
    modes = {"pair": "pairwise-baseline" if view.baseline else "pairwise-all"}
    first = sections[0].panel
    votes = first.form == "vote"
    facts: dict[str, object] = {
        "mode": "pairwise-all" if votes else modes.get(first.form, "single"),
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
