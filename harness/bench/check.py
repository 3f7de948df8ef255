"""A benchmark folder looked over: every problem with its place, and what the set holds."""

import hashlib
import pathlib
from dataclasses import dataclass, field
from typing import Any

from harness import registry, store
from harness.bench.bench import Settings, find_source
from harness.bench.names import check_bench_name, name_of_file
from harness.errors import DataError, TurnbenchError, UsageError
from harness.registry import Shown
from harness.types import Answer, Question, QuestionId


@dataclass
class BenchReport(Shown):
    """What is in a benchmark folder, and what is wrong with it."""

    name: str
    folder: pathlib.Path
    settings: Settings = field(default_factory=Settings)
    questions: list[Question] = field(default_factory=list)
    """Those without a problem."""
    references: dict[str, set[QuestionId]] = field(default_factory=dict)
    """By author, the questions that have a reference answer."""
    problems: list[str] = field(default_factory=list)
    """What `gen_answer` or `gen_judgment` would refuse."""
    notes: list[str] = field(default_factory=list)
    """What is allowed and may still surprise."""
    sha256: str = ""
    """Of `question.jsonl`."""

    @property
    def exit_code(self) -> int:
        """1 if something is wrong."""
        return int(bool(self.problems))

    def __repr__(self) -> str:
        return f"<BenchReport {self.name[:100]}: {len(self.problems)} problems>"

    def categories(self) -> list[dict[str, Any]]:
        """Return for each category its questions, turns and questions with a reference."""
        having = set().union(*self.references.values())
        rows: dict[str, dict[str, Any]] = {}
        for question in self.questions:
            empty = {"questions": 0, "turns": 0, "with_reference": 0}
            row = rows.setdefault(question.category, {"category": question.category, **empty})
            row["questions"] += 1
            row["turns"] += len(question.turns)
            row["with_reference"] += question.question_id in having
        return list(rows.values())


def look_over(which: pathlib.Path | str, data_dir: pathlib.Path | str = "data") -> BenchReport:
    """Return the report on a benchmark: a folder, a name in the data folder or a shipped one.

    Raises:
        UsageError: there is no such benchmark.
    """
    folder = find_folder(which, data_dir)
    report = BenchReport(folder.resolve().name, folder)
    try:
        check_bench_name(report.name)
        if (folder / "bench.toml").exists():
            report.settings = store.read_toml(folder / "bench.toml", Settings)
    except TurnbenchError as error:
        report.problems.append(str(error))
    _check_questions(report)
    for path in store.data_files(folder / "reference_answer"):
        _check_references(report, path)
    _note_unused_references(report)
    if len(report.references) > 1:
        authors = ", ".join(report.references)
        report.notes.append(f"several authors of references; choose with --reference: {authors}")
    categories = {question.category for question in report.questions}
    report.problems += [
        f"{folder / 'bench.toml'}: {table}: no question is of the category {name!r}"
        for table in ("temperatures", "usual_temperatures", "categories")
        for name in getattr(report.settings, table)
        if name not in categories
    ]
    return report


def find_folder(which: pathlib.Path | str, data_dir: pathlib.Path | str) -> pathlib.Path:
    """Return the folder meant, or raise `UsageError`."""
    path = pathlib.Path(which)
    if (path / "question.jsonl").is_file():
        return path
    if path.is_dir() or len(path.parts) > 1:
        raise UsageError(f"{path}: there is no question.jsonl, so it is not a benchmark")
    return find_source(pathlib.Path(data_dir) / path)


def _check_questions(report: BenchReport) -> None:
    path = report.folder / "question.jsonl"
    report.sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    faults: list[DataError] = []
    lines: dict[QuestionId, int] = {}
    texts: dict[str, QuestionId] = {}
    for question, line, *_ in store.rows(path, Question, faults=faults):
        key = question.question_id
        if lines.setdefault(key, line) != line:
            again = f"question {key} is also on line {lines[key]}"
            faults.append(DataError(again, path, line))
            continue
        same = texts.setdefault(" ".join(" ".join(question.turns).split()).casefold(), key)
        if same != key:
            report.notes.append(f"{path}:{line}: question {key} has the words of {same}")
        if question.checks or question.user is not None:
            try:
                registry.find("check", "validate")(question)
            except ValueError as error:
                faults.append(DataError(f"question {key}: {error}", path, line))
        report.questions.append(question)
    if not lines and not faults:
        faults.append(DataError("holds no questions", path))
    report.problems += map(str, faults)


def _note_unused_references(report: BenchReport) -> None:
    """Note questions whose own `reference` is all the reference there is: a judge never sees it."""
    answered = set().union(*report.references.values())
    lost = [
        q.question_id for q in report.questions if q.reference and q.question_id not in answered
    ]
    if lost:
        some = ", ".join(map(str, lost[:5])) + (f" and {len(lost) - 5} more" if lost[5:] else "")
        where = "write references into reference_answer/NAME.jsonl"
        report.notes.append(f"a judge never sees the field `reference` (question {some}); {where}")


def _check_references(report: BenchReport, path: pathlib.Path) -> None:
    author = name_of_file(path.name)
    faults: list[DataError] = []
    answered = report.references[author] = set()
    turns = {question.question_id: len(question.turns) for question in report.questions}
    for row, line, *_ in store.rows(path, Answer, faults=faults):
        key, count = row.question_id, len(row.choices[0].turns)
        if key not in turns:
            problem = f"a reference to question {key}, which is not in question.jsonl"
        elif key in answered:
            problem = f"a second reference to question {key}"
        elif count != turns[key]:
            problem = f"question {key} has {turns[key]} turns, its reference {count}"
        else:
            answered.add(key)
            continue
        faults.append(DataError(problem, path, line))
    report.problems += map(str, faults)
