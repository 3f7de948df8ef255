"""What `check_bench` shows: what a benchmark consists of, and lists of what is wrong or missing in it."""

from collections.abc import Iterator, Sequence
from typing import Any

from harness.old.checking import BenchReport
from harness.old.names import counted
from harness.old.showing.items import Column, Item, Note, Page, Table

_MOST_LINES = 20


def bench_page(report: BenchReport) -> Page:
    """Return the page of a benchmark's report; of long lists people see the beginning."""
    turns = ", ".join(f"{counted(n, 'question')} of {counted(t, 'turn')}" for t, n in report.turns.items())
    facts = {
        "benchmark": f"{' '.join(filter(None, [report.name, report.settings.version]))}: "
        f"{report.settings.title or 'no title'}",
        "questions": turns or "no valid question",
    }
    return Page(f"The benchmark {report.name}", facts, list(_items(report)), report.notes, _data(report))


def _data(report: BenchReport) -> dict[str, Any]:
    """Return everything in the report as JSON values."""
    return {
        "bench": report.name,
        "folder": str(report.folder),
        "title": report.settings.title,
        "version": report.settings.version,
        "sha256": report.sha256,
        "questions": len(report.questions),
        "turns": {str(turns): count for turns, count in report.turns.items()},
        "problems": [{"path": str(p.path), "line": p.line, "message": p.message} for p in report.problems],
        "notes": list(report.notes),
        "categories": report.categories(),
        "fields": report.values(),
        "references": {author: len(having) for author, having in report.references.items()},
        "missing_references": [missing._asdict() for missing in report.missing],
        "duplicates": [[pair.first, pair.second] for pair in report.alike if pair.same],
        "near_duplicates": [[pair.first, pair.second, pair.share] for pair in report.alike if not pair.same],
    }


def _items(report: BenchReport) -> Iterator[Item]:
    yield Note(f"{report.folder}" + (f", SHA-256 of question.jsonl: {report.sha256}" if report.sha256 else ""))
    if report.questions:
        yield Table("", report.categories())
    if values := report.values():
        yield Table("", [{**row, "value": _shown(row["value"])} for row in values], keys=2)
    same = [f"{pair.first} and {pair.second}" for pair in report.alike if pair.same]
    near = [f"{pair.first} and {pair.second}: {pair.share:.0%}" for pair in report.alike if not pair.same]
    lists = {
        "the same words in two questions": same,
        "near-duplicates (share of common eight-word runs)": near,
        "no reference answer, which the judge set mt_bench requires": _missing_told(report),
        counted(len(report.problems), "problem"): [str(problem) for problem in report.problems],
    }
    for heading, lines in lists.items():
        if lines:
            more = len(lines) - _MOST_LINES
            note = f"and {more} more; --format json lists all" if more > 0 else None
            rows = [{"line": line} for line in lines[:_MOST_LINES]]
            yield Table("", rows, [Column("line", heading)], note)
    if not report.problems:
        yield Note("no problems")


def _shown(value: Any) -> str:
    return "(none)" if value is None else str(value)


def _missing_told(report: BenchReport) -> Sequence[str]:
    """Return a line for each category and author of references."""
    groups: dict[tuple[str, str | None], list[str]] = {}
    for missing in report.missing:
        groups.setdefault((missing.category, missing.author), []).append(str(missing.question_id))
    return [
        f"{category}{f' ({author})' if author else ''}: {', '.join(ids[:_MOST_LINES])}"
        + (f" and {len(ids) - _MOST_LINES} more" if len(ids) > _MOST_LINES else "")
        for (category, author), ids in groups.items()
    ]
