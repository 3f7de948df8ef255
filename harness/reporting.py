"""Results -> one HTML page that needs nothing else: tables and charts, for a browser, a phone, or paper.

Everything that comes from a file is escaped, a content security policy forbids scripts and whatever lies outside the
page, and numbers are rounded by the same function as everywhere.
"""

import html
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from harness.charts import (
    difference_chart,
    position_chart,
    radar_chart,
    rate_chart,
    score_chart,
    win_rate_chart,
)
from harness.errors import StorageError
from harness.jsonl import need_own
from harness.names import printable
from harness.results.detail import SingleDetail, pair_row
from harness.results.pair_detail import PairwiseDetail
from harness.results.show import Result
from harness.results.statistics.paired import Paired, PairedTable
from harness.results.statistics.rounding import (
    interval_cells,
    narrow_rows,
    p_text,
    shown,
    with_interval,
)

_WRITTEN = re.compile(rb'<meta name="generator" content="turnbench">')
"""What a report's beginning says."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with a heading."""

    title: str
    rows: Sequence[Mapping[str, Any]]
    """By column name, as `Result.rows()` gives them; numbers unrounded, None where there is none."""
    note: str | None = None
    """A sentence below."""
    places: int = 2
    """Decimal places of numbers that are not whole."""


@dataclass(frozen=True, slots=True)
class Chart:
    """A picture with a heading."""

    title: str
    svg: str
    """As the functions of `harness.charts` return it; it goes into the page as it is."""
    note: str | None = None


Part: TypeAlias = Table | Chart

_SHORT = 24
"""Letters; a column of words that are no longer than this has no line breaks."""
_COLUMN = 520
"""Pixels; a chart that is wider takes the width of the page."""


def report_html(
    *,
    title: str,
    mode: str,
    bench: str | None,
    judge: str,
    judge_set: str,
    date: str,
    notes: Sequence[str] = (),
    parts: Sequence[Part] = (),
) -> str:
    """Return the page.

    Args:
        title: the heading, and the name of the browser's tab.
        mode: what was judged, in the words of `--mode`, or the question of a judge report.
        bench: which questions; None if that is not known.
        judge: whose judgments.
        judge_set: made with which judge set.
        date: when the page was made, as it shall be shown.
        notes: what a reader must know, a line each.
        parts: tables and charts from top to bottom; charts that follow each other share the width where there is room.
    """
    facts = {"mode": mode, "questions": bench or "unstated", "judge": judge, "judge set": judge_set, "date": date}
    listed = "".join(f"<div><dt>{_text(name)}</dt><dd>{_name(value)}</dd></div>" for name, value in facts.items())
    body = [f"<header><h1>{_name(title)}</h1><dl>{listed}</dl></header>"]
    if notes:
        items = "".join(f"<li>{_name(note)}</li>" for note in notes)
        body.append(f'<section class="notes"><h2>Notes</h2><ul>{items}</ul></section>')
    body.extend(_parts(parts))
    body.append("<footer>Made by turnbench. This page loads nothing from elsewhere.</footer>")
    return _PAGE.format(title=_text(title), style=_STYLE, body="\n".join(body))


def result_html(result: Result, *, date: str) -> str:
    """Return the page of a result with its tables and, where the result has intervals, its charts."""
    parts: list[Part] = [_first_table(result)]
    if result.verdicts is not None:
        of_all = ", of all judges together" if result.panel is not None else ""
        for heading, rows in result.verdicts.sections():
            parts.append(Table(heading[:1].upper() + heading[1:] + of_all, rows, places=result.verdicts.places))
    if result.categories:
        parts.append(Table("Average by category", result.category_table()))
    if result.panel is not None:
        rows = result.panel.disagreement_rows()
        parts.append(
            Table("Where the judges do not say the same", rows, f"All together: {result.panel.rule}.", places=3)
        )
    if result.detail is not None:
        parts += _grade_parts(result.detail) if result.detail.kind == "grades" else _pair_parts(result.detail)
    if result.runs is not None:
        note = "model_1 is of this run, model_2 of the other"
        parts.append(Table("Against the other run", _compared(result.runs.pairs), note, places=3))
    return report_html(
        title=f"{result.judge} on {result.bench or result.path.stem}",
        mode=result.mode,
        bench=result.bench,
        judge=result.judge,
        judge_set=result.judge_set,
        date=date,
        notes=result.notes,
        parts=parts,
    )


def _first_table(result: Result) -> Table:
    """Return the rows as the command shows them, an interval in one cell."""
    if result.verdicts is not None:
        return Table("Results", result.rows(), places=result.verdicts.places)
    column, places = ("average", 2) if result.mode == "single" else ("win_rate_adjusted", 3)
    return Table("Results", interval_cells(result.table_rows(), column, places), places=places)


def _grade_parts(detail: SingleDetail) -> Iterator[Part]:
    """Yield what says how sure grades are."""
    resampled = f"95% intervals; questions resampled within {detail.by}, seed {detail.seed}."
    yield Chart("Scores", score_chart(detail.scores, ranks=list(detail.ranks.values())), resampled)
    if len(detail.scores[0].groups) >= 3:
        yield Chart(
            f"By {detail.by}", radar_chart(detail.scores[:6], scale=detail.scale), "The first six models of the table."
        )
    if len(detail.scores) > 1:
        yield Chart("Differences between models", difference_chart(detail.pairs), "What can be told apart is bold.")
        yield _apart(detail.pairs, detail.neighbours())
    yield Table("How sure", narrow_rows(detail.rows()), resampled)
    yield from _by_group(detail.group_rows(), detail.by, "average", 2, resampled)


def _pair_parts(detail: PairwiseDetail) -> Iterator[Part]:
    """Yield what says how sure wins, losses and ties are."""
    resampled = f"95% intervals; questions resampled within {detail.by}, seed {detail.seed}."
    yield Chart("Win rates", rate_chart(detail.rates), f"Ties count half. {resampled}")
    if len(detail.matrix) > 2:
        yield Chart("Pairs", win_rate_chart(detail.matrix))
    if detail.position:
        yield Chart("Does the judge go by the place of an answer?", position_chart(detail.position))
    if len(detail.rates) > 1:
        yield _apart(detail.pairs, detail.neighbours())
    scale = detail.strengths.scale if detail.strengths.why_not is None else "; ".join(detail.without_strengths())
    yield Table("How sure", [_joined(row) for row in detail.rows()], f"{scale}. {resampled}", places=3)
    turns = detail.turn_rows()
    if len({row["turn"] for row in turns}) > 1:
        yield Table("By turn", narrow_rows(turns), places=3)
    yield from _by_group(detail.group_rows(), detail.by, "win_rate_adjusted", 3, resampled)
    yield from _by_group(detail.group_rows(), detail.by, "strength", 0, detail.strengths.scale)


def _by_group(rows: Sequence[Mapping[str, Any]], by: str, name: str, places: int, note: str) -> Iterator[Table]:
    """Yield a table of a number and its interval with a row for each model and a column for each group."""
    groups = list(dict.fromkeys(row[by] for row in rows if name in row))
    if len(groups) < 2:
        return
    wide: dict[str, dict[str, Any]] = {row["model"]: {"model": row["model"]} for row in rows}
    for group in groups:
        for row in rows:
            if row[by] == group:
                ends = (row.get(f"{name}_low"), row.get(f"{name}_high"))
                wide[row["model"]][str(group)] = with_interval(row.get(name), *ends, places)
    yield Table(f"{name} by {by}, with 95% intervals".capitalize(), list(wide.values()), note)


def _apart(table: PairedTable, neighbours: Sequence[Paired]) -> Table:
    """Return each model beside the next one, and what these questions can show."""
    smallest = table.smallest_detectable
    shows = "" if smallest is None else f" This many questions would show a difference of about {smallest:.2f}."
    note = f"{table.told_apart} of {len(table.pairs)} pairs of models can be told apart.{shows}"
    return Table("Each model and the next one", _compared(neighbours), note, places=3)


def _joined(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with each interval in the cell of its number; strengths without places."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if f"{name}_low" in row:
            places = 0 if name == "strength" else 3
            found[name] = with_interval(value, row[f"{name}_low"], row[f"{name}_high"], places)
        elif not name.endswith(("_low", "_high")):
            found[name] = value
    return found


def _compared(pairs: Sequence[Paired]) -> list[dict[str, Any]]:
    """Return compared models as people read them."""
    rows = [pair_row(pair) for pair in pairs]
    return narrow_rows([row | {name: p_text(row[name]) for name in ("p", "p_holm")} for row in rows])


def check_report(path: pathlib.Path | str) -> None:
    """Raise `StorageError` unless a report can be written there: the file is free, or holds an earlier report."""
    need_own(pathlib.Path(path), _WRITTEN, "a report")


def write_report(path: pathlib.Path | str, page: str) -> None:
    """Write the page to a file, in place of an earlier page.

    Raises:
        StorageError: the file cannot be written, or holds something else.
    """
    target = pathlib.Path(path)
    check_report(target)
    try:
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StorageError(
            f"{target}: the report cannot be written ({error.strerror or error}); name another file"
        ) from error


def _parts(parts: Sequence[Part]) -> Iterator[str]:
    """Return the sections, charts in a row together."""
    for is_chart, some in groupby(parts, key=lambda part: isinstance(part, Chart)):
        if is_chart:
            charts = [part for part in some if isinstance(part, Chart)]
            inside = "\n".join(_chart(chart, alone=len(charts) == 1) for chart in charts)
            yield f'<div class="charts">{inside}</div>'
        else:
            yield from (_table(part) for part in some if isinstance(part, Table))


def _chart(chart: Chart, *, alone: bool) -> str:
    """Return the picture on a light card that scrolls sideways by itself where it must."""
    note = f"<p>{_name(chart.note)}</p>" if chart.note else ""
    inside = f'<div class="sheet" tabindex="0" role="group" aria-label="{_text(chart.title)}">{chart.svg}</div>'
    width = re.match(r'<svg[^>]* width="(\d+)"', chart.svg)
    wide = ' class="wide"' if alone or (width and int(width[1]) > _COLUMN) else ""
    return f"<figure{wide}><figcaption><h2>{_name(chart.title)}</h2></figcaption>{inside}{note}</figure>"


def _table(table: Table) -> str:
    """Return the table in a box that scrolls sideways by itself; its first column stays."""
    columns = list(dict.fromkeys(name for row in table.rows for name in row))
    note = f"<p>{_name(table.note)}</p>" if table.note else ""
    heading = f"<h2>{_name(table.title)}</h2>"
    if not columns:
        return f"<section>{heading}<p>There are no rows.</p>{note}</section>"
    kind = {name: _kind([row.get(name) for row in table.rows]) for name in columns}
    head = "".join(f'<th scope="col"{kind[name]}>{_column(name)}</th>' for name in columns)
    lines = []
    for row in table.rows:
        cells = [_name(shown(row.get(name), table.places)) for name in columns]
        first = f'<th scope="row"{kind[columns[0]]}><div>{cells[0]}</div></th>'
        rest = "".join(f"<td{kind[name]}>{cell}</td>" for name, cell in zip(columns[1:], cells[1:], strict=True))
        lines.append(f"<tr>{first}{rest}</tr>")
    rows = "\n".join(lines)
    return (
        f'<section>{heading}<div class="scroll" tabindex="0" role="group" aria-label="{_text(table.title)}">'
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>{note}</section>"
    )


def _kind(values: Sequence[Any]) -> str:
    """Return how a column is set: numbers to the right, short words and intervals on one line, long ones broken."""
    words = [value for value in values if isinstance(value, str)]
    if not words:
        return ""
    return ' class="word"' if max(map(len, words)) > _SHORT else ' class="word short"'


def _text(text: str) -> str:
    """Return the text for a place in which it can be nothing else."""
    return html.escape(printable(text), quote=True)


def _name(text: str) -> str:
    """Return the text with its own writing direction, so that it turns nothing around it."""
    return f"<bdi>{_text(text)}</bdi>"


def _column(name: str) -> str:
    """Return a column's name, which may break after each underscore."""
    text = _text(name)
    return f"<bdi>{text.replace('_', '_<wbr>') if len(name) > 10 else text}</bdi>"


_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="turnbench">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""

_STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1f2328; --quiet: #59636e; --rule: #d8dee4; --band: #f6f8fa; --sheet: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --ink: #e6e9ed; --quiet: #9aa4af; --rule: #323a43; --band: #1b2027; --sheet: #f7f8fa; }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink); -webkit-text-size-adjust: 100%;
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 1120px; margin: 0 auto; padding: 32px 24px 48px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 16px; font-weight: 650; overflow-wrap: anywhere; }
h2 { font-size: 17px; line-height: 1.35; margin: 0 0 10px; font-weight: 600; overflow-wrap: anywhere; }
p, footer { color: var(--quiet); font-size: 13.5px; margin: 8px 0 0; overflow-wrap: anywhere; }
dl { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 0; }
dt { color: var(--quiet); font-size: 12.5px; }
dd { margin: 0; overflow-wrap: anywhere; }
header { padding-bottom: 20px; border-bottom: 1px solid var(--rule); }
section, figure { margin: 28px 0 0; min-width: 0; }
.notes { background: var(--band); border-radius: 8px; padding: 14px 18px; }
.notes h2 { font-size: 14px; margin: 0 0 4px; }
.notes ul { margin: 0; padding-left: 18px; font-size: 14px; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: 8px; }
.scroll:focus-visible, .sheet:focus-visible { outline: 2px solid #4493f8; outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 14px; }
td { font-variant-numeric: tabular-nums; }
th, td { padding: 6px 12px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--rule); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--quiet); font-weight: 500; font-size: 13px; vertical-align: bottom; white-space: normal; }
tbody th { font-weight: 500; }
.word { text-align: left; }
th:first-child { position: sticky; left: 0; background: var(--paper); }
tbody th div { width: max-content; max-width: 300px; white-space: normal; overflow-wrap: anywhere; }
td.word { white-space: normal; overflow-wrap: anywhere; min-width: 180px; max-width: 420px; }
td.short { white-space: nowrap; min-width: 0; font-variant-numeric: tabular-nums; }
.charts { columns: 2; column-gap: 28px; }
.charts figure { break-inside: avoid; margin: 0; padding-top: 28px; }
.charts figure.wide { column-span: all; }
.sheet { background: var(--sheet); border: 1px solid var(--rule); border-radius: 8px; padding: 14px; overflow-x: auto; }
.sheet svg { display: block; margin: 0 auto; }
footer { margin-top: 40px; padding-top: 14px; border-top: 1px solid var(--rule); }
@media (max-width: 860px) { .charts { columns: 1; } }
@media (max-width: 480px) {
  main { padding: 20px 14px 32px; }
  h1 { font-size: 22px; }
  dl { gap: 8px 20px; }
  .sheet { padding: 8px; }
  th, td { padding: 6px 9px; }
  tbody th div { max-width: 38vw; }
}
@media print {
  :root { --paper: #ffffff; --ink: #000000; --quiet: #444444; --rule: #bbbbbb; --band: #ffffff; --sheet: #ffffff; }
  @page { margin: 14mm; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  .scroll, .sheet { overflow: visible; border: 0; padding: 0; }
  .notes { padding: 0; }
  table { font-size: 8pt; }
  th, td, td.short { padding: 2pt 3pt; white-space: normal; }
  td.word, td.short { min-width: 0; }
  tbody th div { width: auto; min-width: 26mm; max-width: 50mm; }
  th:first-child { position: static; }
  thead { display: table-header-group; }
  tr, figure { break-inside: avoid; }
  h2 { break-after: avoid; }
  .sheet svg { min-width: 0 !important; max-height: 210mm; }
}
"""
