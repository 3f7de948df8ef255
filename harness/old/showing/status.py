"""What `status` shows: how far models have answered and judges have judged, and what the rest would cost."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.old.names import counted
from harness.old.showing.costs import estimate_page
from harness.old.showing.items import Column, Item, Note, Page, Row, Table, columns_of
from harness.old.status import BenchStatus

_ALWAYS = ("model", "judge", "judge set", "mode", "answered", "judged", "missing", "superseded")


def status_page(status: BenchStatus) -> Page:
    """Return the page of a benchmark's status."""
    facts = {"benchmark": f"{status.bench}: {counted(status.questions, 'question')}"}
    return Page(f"Status of {status.bench}", facts, list(_items(status)), list(_notes(status)), _data(status))


def filled(rows: Sequence[Row], always: Sequence[str] = _ALWAYS) -> list[Column]:
    """Return the columns that hold something, and the main ones."""
    return [c for c in columns_of(rows) if c.name in always or any(row.get(c.name) for row in rows)]


def _items(status: BenchStatus) -> Iterator[Item]:
    models, judges = [model.row() for model in status.models], [judge.row() for judge in status.judges]
    yield Table("", models, filled(models)) if models else Note("no answers yet")
    yield Table("", judges, filled(judges), keys=3) if judges else Note("no judgments yet")
    if status.rest:  # as --dry-run shows it
        yield from estimate_page(status.rest, "Left to do").items


def _notes(status: BenchStatus) -> Iterator[str]:
    if status.rest:
        yield from estimate_page(status.rest).notes
    for judge in status.judges:
        if judge.note:
            yield f"{judge.path.name}: the number of missing ones is unknown: {judge.note}"
    for name, why in status.causes.items():
        yield from (f"{name}: {count} failed: {cause}" for cause, count in why.items())
    yield from (f"{name}: {counted(count, 'torn line')} set aside" for name, count in status.torn.items())
    for name, count in status.set_aside.items():
        yield f"{name}: {counted(count, 'superseded row')} kept in .turnbench/"
    for name, count in status.batched.items():
        yield (f"{name}: {counted(count, 'row')} at a provider in batches; repeat the command with --batch to continue")


def _data(status: BenchStatus) -> dict[str, Any]:
    """Return what JSON shows: the same, and which questions are missing."""
    models = [
        {
            **_keys(model.row()),
            "missing_questions": model.missing,
            "superseded_questions": model.superseded,
            "flagged": dict(model.flagged),
            "file": str(model.path),
        }
        for model in status.models
    ]
    judges = [{**_keys(judge.row()), "note": judge.note or None, "file": str(judge.path)} for judge in status.judges]
    return {
        "bench": status.bench,
        "questions": status.questions,
        "models": models,
        "judges": judges,
        "rest": status.rest_rows(),
        "causes": status.causes,
        "torn": status.torn,
        "batched": status.batched,
        "set_aside": status.set_aside,
    }


def _keys(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table's row with the names and the absent values of JSON."""
    return {name.replace(" ", "_"): None if value == "" else value for name, value in row.items()}
