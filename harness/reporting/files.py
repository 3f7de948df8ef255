"""The files of a benchmark: what is in each, by whom, when and how it was made, and its cost.

    file                                 rows  made                      cost   sampling
    model_answer/gpt-4.1.jsonl             80  2026-11-02                $0.91  temperature 0.7
    model_judgment/gpt-4.1_single.jsonl   320  2026-11-02 to 2026-11-03  $1.42  temperature 0

Rows that are not current are not counted, as in results and costs.
"""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.bench import Bench
from harness.judging.current import in_words
from harness.reporting.methods import dates_in_words, sampling_in_words
from harness.reporting.page import Column, Note, Page, Table
from harness.results.provenance import Made
from harness.results.reading import read, whole_rows
from harness.results.spent import Call, Cost, Spent, answer_calls, judgment_calls
from harness.types import Answer, Judgment
from harness.words import counted, dollars


@dataclass
class _File:
    """What one file holds of one model, judge or voter."""

    path: Path
    what: str
    name: str
    judge_set: str | None = None
    rows: int = 0
    unread: int = 0
    made: Made = field(default_factory=Made)
    spent: dict[str, Spent] = field(default_factory=dict)
    """By the model that was called."""

    def add(self, row: Answer | Judgment, calls: Iterable[Call], cost: Cost) -> None:
        """Count a row."""
        self.rows += 1
        self.made.add(row)
        for what, model, detail in calls:
            self.spent.setdefault(model, Spent(what, model)).add(detail, cost)

    @property
    def cost(self) -> float | None:
        """The dollars; None: unknown."""
        paid = [spent.dollars for spent in self.spent.values() if spent.calls > spent.unstated]
        return sum(filter(None, paid)) if paid and None not in paid else None


def files_page(bench: Bench, cost: Cost) -> Page:
    """Return the page that lists the files of answers, judgments and votes."""
    files: list[_File] = []
    for model in bench.answered_models():
        file = _File(bench.answer_file(model), "answers", model)
        for answer in bench.answers(model).values():
            file.add(answer, answer_calls(model, answer), cost)
        files.append(file)
    scores = read(bench, needed=False)
    found: dict[tuple[Path, str, str], _File] = {}
    starts = [start for _, start, _ in scores.files]
    valid = dict(zip(scores.row.tolist(), scores.valid.tolist(), strict=True))
    for number, row in whole_rows(scores):
        path = scores.files[bisect.bisect_right(starts, number) - 1][0]
        if isinstance(row, Judgment):
            judge_set = f"{row.judge_set} {row.judge_set_version}".rstrip()
            key = path, row.judge_model, judge_set
            file = found.setdefault(key, _File(path, "judgments", row.judge_model, judge_set))
            file.add(row, judgment_calls(row), cost)
            file.unread += not valid[number]
    files += found.values()
    rows = [_row(bench, file) for file in files]
    total = sum(row["rows"] for row in rows)
    known = [row["cost"] for row in rows if row["cost"] is not None]
    outcome = f"{bench.name}: {counted(len({f.path for f in files}), 'file')} of "
    outcome += f"{counted(total, 'row')}"
    outcome += f", made for {dollars(sum(known))}." if known else "."
    columns = [
        Column("file"),
        Column("rows", always=True),
        Column("unread", "no verdict"),
        Column("made", always=True),
        Column("cost", "", "$", always=True),
        Column("model", "model or judge", hidden_in_text=True),
        Column("judge_set"),
        Column("sampling", always=True),
    ]
    notes = [Note(f"Not counted: {cause}") for cause in in_words(scores.left_out)]
    return Page(outcome, [Table("", columns, rows, "files")], notes=notes)


def _row(bench: Bench, file: _File) -> dict[str, Any]:
    try:
        path = file.path.relative_to(bench.folder)
    except ValueError:
        path = file.path
    return {
        "file": str(path),
        "what": file.what,
        "model": file.name,
        "judge_set": file.judge_set,
        "rows": file.rows,
        "unread": file.unread,
        "made": dates_in_words(file.made) or None,
        "sampling": sampling_in_words(file.made) or None,
        "cost": file.cost,
    }
