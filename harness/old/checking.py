"""One benchmark folder looked over as a whole: every problem with its file and line, and what the set consists of.

The rules for a question, a reference answer and `bench.toml` are those of the rooms that read them (`rows`, `bench`);
here their complaints are collected instead of stopping at the first.
"""

import hashlib
import pathlib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.old.bench import (
    CATEGORIES,
    BenchSettings,
    idle_temperatures,
    load_questions,
    load_settings,
    near_misses,
    need_file,
    read_settings,
    shipped,
)
from harness.old.errors import DataError, UsageError
from harness.old.jsonl import Row, files_of, is_there, logical_file, logical_files, row_of, value_of
from harness.old.jsonl.copies import local_folder
from harness.old.jsonl.files import lines_in
from harness.old.judging.sets import load_judge_set
from harness.old.names import check_bench_name, listed, name_of
from harness.old.records import Question, QuestionId
from harness.old.rows import answer_from_row, question_from_row
from harness.old.written import faults_of, line_of, nearest, takes_only

RUN = 8
"""Questions are compared by their runs of this many words."""
NEAR = 0.5
"""Two questions are near-duplicates from this share of common runs on."""
_MOST_VALUES = 12
_SOUND = {"question_id": "?", "category": "any", "turns": ["any"]}
# Scripts without spaces between words: each character counts as a word.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0002ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


class Missing(NamedTuple):
    """A question without a reference that the judge set `mt_bench` requires; `author` is None if there are none."""

    question_id: QuestionId
    category: str
    author: str | None


class Alike(NamedTuple):
    """Two questions with the same words, or nearly."""

    first: QuestionId
    second: QuestionId
    share: float
    """Common runs of eight words, as a share of the runs of the question that has fewer."""
    same: bool
    """Whether all words are equal."""


@dataclass(frozen=True)
class BenchReport:
    """The report on a benchmark folder."""

    name: str
    folder: pathlib.Path
    questions: tuple[Question, ...]
    """The sound ones, of equal ids the first."""
    problems: tuple[DataError, ...]
    """What the loader refuses or misreads."""
    notes: tuple[str, ...] = ()
    """What is allowed and may still surprise."""
    settings: BenchSettings = field(default_factory=BenchSettings)
    references: Mapping[str, frozenset[QuestionId]] = field(default_factory=dict)
    """By author, the questions that have a reference answer."""
    missing: tuple[Missing, ...] = ()
    alike: tuple[Alike, ...] = ()
    sha256: str = ""
    """Of `question.jsonl`."""

    @property
    def turns(self) -> dict[int, int]:
        """Return how many questions have 1, 2, ... turns."""
        return dict(sorted(Counter(len(question.turns) for question in self.questions).items()))

    def categories(self) -> list[dict[str, Any]]:
        """Return for each category its questions, turns and references, in the file's order."""
        having = frozenset().union(*self.references.values())
        lacking = Counter({missing.question_id for missing in self.missing})
        groups = _grouped((question.category, question) for question in self.questions)
        return [
            {
                "category": category,
                "questions": len(group),
                "turns": sum(len(question.turns) for question in group),
                "with_reference": sum(question.question_id in having for question in group),
                "missing_reference": sum(lacking[question.question_id] for question in group),
            }
            for category, group in groups.items()
        ]

    def values(self) -> list[dict[str, Any]]:
        """Return how often each value of each further field occurs, for fields with few values."""
        rows = []
        for name in dict.fromkeys(name for question in self.questions for name in question.extra):
            values = [question.extra.get(name) for question in self.questions]
            if all(value is None or isinstance(value, str | int | bool) for value in values):
                counts = Counter(values)
                if len(counts) <= _MOST_VALUES:
                    rows += [{"field": name, "value": value, "questions": n} for value, n in counts.most_common()]
        return rows


@takes_only()
def check_bench(which: pathlib.Path | str = "mt_bench", data_dir: pathlib.Path | str = "data") -> BenchReport:
    """Return the report on a benchmark: a folder, or a name in the data folder or among the shipped ones.

    Raises:
        UsageError: there is no such benchmark.
    """
    folder = find_folder(which, data_dir)
    problems: list[DataError] = []
    try:
        check_bench_name(folder.resolve().name)
    except UsageError as error:
        problems.append(DataError(str(error), path=folder))
    path = folder / "question.jsonl"
    questions = _questions(path, problems)
    settings = _settings(folder / "bench.toml", problems)
    notes = near_misses(questions.values())
    for category, idle in idle_temperatures(settings, questions.values()).items():
        line = line_of(("temperatures", category), folder / "bench.toml")
        problem = DataError(idle, path=folder / "bench.toml", line=line)
        # MT-Bench's own categories may be named once for several sets of questions.
        notes.append(str(problem)) if category in CATEGORIES else problems.append(problem)
    references = {}
    own = folder / "reference_answer"
    for file in sorted({*logical_files(own), *own.glob("*.jsonl")}, key=logical_file):
        if not is_there(file):
            problems.append(DataError("is a folder or a pipe, not a file of references", path=file))
            continue
        references[name_of(file.stem)] = _references(file, questions, problems, notes)
    answered = frozenset[QuestionId]().union(*references.values())
    notes += _reference_notes(path, [question for key, question in questions.items() if key not in answered])
    if len(references) > 1:
        notes.append(f"several authors of references: choose one with --reference ({', '.join(references)})")
    return BenchReport(
        name=folder.resolve().name,
        folder=folder,
        questions=tuple(questions.values()),
        problems=tuple(problems),
        notes=tuple(notes),
        settings=settings,
        references=references,
        missing=tuple(_missing(questions.values(), references)),
        alike=tuple(find_alike(questions.values())),
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def find_folder(which: pathlib.Path | str, data_dir: pathlib.Path | str) -> pathlib.Path:
    """Return the folder meant, or raise `UsageError` that lists the benchmarks there are."""
    given = pathlib.Path(which)
    places = [given]
    if given.name == str(which):
        places += [local_folder(data_dir, str(which)) / given, shipped("data") / given]
    for place in places:
        if (place / "question.jsonl").is_file():
            return place
    for place in places:
        need_file(place / "question.jsonl")
    if given.is_dir():
        raise UsageError(f"{given}: contains no question.jsonl, so it is not a benchmark")
    if given.is_file():
        raise UsageError(f"{given}: is a file; give the folder that contains question.jsonl")
    data = (local_folder(data_dir, given.name), shipped("data"))
    known = sorted({file.parent.name for folder in data for file in folder.glob("*/question.jsonl")})
    raise UsageError(f"no benchmark {str(which)!r}; {nearest(str(which), known)} (or give a folder)")


def _rows(path: pathlib.Path, problems: list[DataError]) -> Iterator[Row]:
    """Yield the rows that are JSON objects; the other lines become problems."""
    for file in files_of(path) or [path]:
        try:
            for number, line in enumerate(lines_in(file), 1):
                if line.strip():
                    try:
                        yield row_of(file, number, value_of(file, number, line))
                    except DataError as error:
                        problems.append(error)
        except DataError as error:
            problems.append(error)


def _questions(path: pathlib.Path, problems: list[DataError]) -> dict[QuestionId, Question]:
    """Return the sound questions by id."""
    questions: dict[QuestionId, Question] = {}
    lines: dict[QuestionId, int] = {}
    for line, row in _rows(path, problems):
        if faults := _faults(row, path, line):
            problems += faults
            continue
        question = question_from_row(row, path, line)
        key = question.question_id
        if key in questions:
            repeated = f"question_id {key} is a duplicate of line {lines[key]}; give each question a different one"
            problems.append(DataError(repeated, path=path, line=line))
            continue
        questions[key], lines[key] = question, line
        if len(question.reference) > len(question.turns):
            counts = f"{len(question.reference)} texts for {len(question.turns)} turns"
            problems.append(DataError(f"reference of question {key} has {counts}", path=path, line=line))
    if not lines and not any(problem.path == path for problem in problems):
        try:
            load_questions(path)
        except DataError as error:
            problems.append(error)
    return questions


def _faults(row: Mapping[str, Any], path: pathlib.Path, line: int) -> list[DataError]:
    """Return the loader's errors for a row: each field is tried with otherwise valid ones, so that all errors show."""
    own_id = {**_SOUND, "question_id": row.get("question_id")}
    sound = own_id if _complaint(own_id, path, line) is None else _SOUND
    asked = ("user", "turns") if row.get("user") is not None else ("turns",)
    tried = [("question_id",), ("category",), asked, ("reference",)]
    tried += [(*asked, name) for name in ("checks", "note", "history")]  # which have one for each turn
    trials = [
        {name: value for name, value in sound.items() if name not in names} | {n: row[n] for n in names if n in row}
        for names in tried
    ]
    complaints = (_complaint(trial, path, line) for trial in trials)
    return list({str(complaint): complaint for complaint in complaints if complaint is not None}.values())


def _complaint(row: Mapping[str, Any], path: pathlib.Path, line: int) -> DataError | None:
    try:
        question_from_row(row, path, line)
    except DataError as error:
        return error
    return None


def _settings(path: pathlib.Path, problems: list[DataError]) -> BenchSettings:
    """Return the settings in `bench.toml`; the defaults if it cannot be used."""
    if not path.exists():
        return BenchSettings()
    try:
        faults = faults_of(read_settings(path), BenchSettings, path)
        if not faults:
            return load_settings(path)
    except DataError as error:
        faults = [error]
    problems += faults
    return BenchSettings()


def _references(
    path: pathlib.Path, questions: Mapping[QuestionId, Question], problems: list[DataError], notes: list[str]
) -> frozenset[QuestionId]:
    """Return the questions with a complete reference answer in the file."""
    lines: dict[QuestionId, int] = {}
    whole = set()
    for line, row in _rows(path, problems):
        try:
            answer = answer_from_row(row, path, line, model=path.stem)
        except DataError as error:
            problems.append(error)
            continue
        if answer is None:
            notes.append(f"{path}:{line}: contains FastChat's error text, which does not count as a reference")
            continue
        key, given = answer.question_id, len(answer.choices[0].turns)
        faults = [f"question {key} already has a reference on line {lines[key]}"] if key in lines else []
        lines[key] = line
        question = questions.get(key)
        if question is None:
            faults.append(f"a reference to question {key}, which is not in question.jsonl")
        elif given != len(question.turns):
            faults.append(f"question {key} has {len(question.turns)} turns, this reference has {given}")
        else:
            whole.add(key)
        problems += [DataError(fault, path=path, line=line) for fault in faults]
    return frozenset(whole)


def _missing(questions: Collection[Question], references: Mapping[str, frozenset[QuestionId]]) -> Iterator[Missing]:
    """Yield the questions without a reference answer that the shipped judge set would show the judge."""
    shows = load_judge_set(str(shipped("judge_prompts") / "mt_bench")).references
    authors: dict[str | None, frozenset[QuestionId]] = dict(references.items()) or {None: frozenset()}
    for author, having in authors.items():
        present = {question.category for question in questions if question.question_id in having}
        wanted = shows.required | (shows.if_any & present)
        for question in questions:
            if question.category in wanted and question.question_id not in having:
                yield Missing(question.question_id, question.category, author)


def _reference_notes(path: pathlib.Path, questions: Iterable[Question]) -> list[str]:
    """Return a note if questions without a reference answer have a field with one, as FastChat's may: it is not
    read."""
    having = [str(question.question_id) for question in questions if question.reference]
    if not having:
        return []
    some = listed(having, 5)
    return [
        f"{path}: the field 'reference' of a question is never shown to a judge (question {some}); "
        "write references into reference_answer/NAME.jsonl"
    ]


def find_alike(questions: Iterable[Question]) -> list[Alike]:
    """Return the pairs of questions with equal words, or with many 8-grams in common, most similar first.

    Case and punctuation are ignored; a question's turns are one text, and one shorter than eight words is one
    n-gram. The measure is the number of common n-grams over those of the question that has fewer of them. N-grams that
    occur in more than 10 questions and in over a twentieth of all are the set's common wording and are left out.
    """
    words = {question.question_id: _words(question.turns) for question in questions}
    pairs = {}
    for group in _grouped((text, key) for key, text in words.items()).values():
        for second in group[1:]:
            pairs[group[0], second] = Alike(group[0], second, 1.0, same=True)
    where = _grouped((run, key) for key, text in words.items() for run in _runs(text))
    most = max(10, len(words) // 20)
    telling = [keys for keys in where.values() if len(keys) <= most]
    sizes = Counter(key for keys in telling for key in keys)
    shared = Counter((a, b) for keys in telling for k, a in enumerate(keys) for b in keys[k + 1 :])
    for (first, second), count in shared.items():
        share = count / min(sizes[first], sizes[second])
        if share >= NEAR and words[first] != words[second]:
            pairs[first, second] = Alike(first, second, share, same=False)
    return sorted(pairs.values(), key=lambda pair: (not pair.same, -pair.share))


def _words(turns: Sequence[str]) -> tuple[str, ...]:
    return tuple(_WORD.findall(" ".join(turns).casefold()))


def _runs(words: tuple[str, ...]) -> set[tuple[str, ...]]:
    return {words[start : start + RUN] for start in range(max(1, len(words) - RUN + 1))}


def _grouped(pairs: Iterable[tuple[Any, Any]]) -> dict[Any, list[Any]]:
    groups = defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)
