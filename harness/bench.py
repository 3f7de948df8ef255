"""One benchmark folder: find it, read it, check it, with file and line in every complaint.

    data/<bench>/question.jsonl      {"question_id": 1031, "category": "math", "turns": ["...", "..."], "reference": [...]}
                 bench.toml          optional: title, version, licence, language, system prompt, temperatures, ...
                 reference_answer/   one answer file for each author of references
                 model_answer/  model_judgment/  human_judgment/
                 .turnbench/         locks, pending replies, superseded rows

The shipped benchmarks are found even if the data folder has none; results always go to the data folder.
"""

import difflib
import functools
import logging
import pathlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from harness.errors import DataError, MissingError, UsageError
from harness.jsonl import read_rows
from harness.names import check_bench_name, file_stem, name_of
from harness.records import Answer, Question, QuestionId
from harness.rows import answer_from_row, question_from_row

log = logging.getLogger("turnbench")

CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
TEMPERATURES: Mapping[str, float] = {
    "writing": 0.7,
    "roleplay": 0.7,
    "extraction": 0.0,
    "math": 0.0,
    "coding": 0.0,
    "reasoning": 0.0,
    "stem": 0.1,
    "humanities": 0.1,
}
"""MT-Bench's sampling temperature for each category (FastChat `llm_judge/common.py`)."""
OTHER_TEMPERATURE = 0.7


def shipped(kind: str) -> pathlib.Path:
    """Return the folder of what is shipped: `data` or `judge_prompts`, in the installed package or the checkout."""
    package = pathlib.Path(__file__).resolve().parent
    installed = package / "_data" / kind
    return installed if installed.is_dir() else package.parent / kind


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What `bench.toml` may say; every key is optional."""

    title: str | None = None
    version: str | None = None
    licence: str | None = None
    language: str = "en"
    canary: str | None = None
    """A string that identifies the set in training data."""
    system_prompt: str | None = None
    answer_template: str = "{question}"
    """How a turn is put to the model; `{question}` stands for the turn's text."""
    temperatures: Mapping[str, float] = field(default_factory=dict)
    """By category, where other than MT-Bench's."""


@dataclass(frozen=True)
class Bench:
    """One benchmark: its questions, and where its files are."""

    name: str
    folder: pathlib.Path
    """Where results go: `<data-dir>/<bench>`."""
    source: pathlib.Path
    """Where the questions are: the same folder, or the shipped one."""
    questions: tuple[Question, ...]
    settings: BenchSettings = BenchSettings()

    @property
    def state(self) -> pathlib.Path:
        """The folder for locks, pending replies and what is set aside."""
        return self.folder / ".turnbench"

    def question(self, question_id: QuestionId) -> Question | None:
        """Return the question with that id, if there is one."""
        return next((q for q in self.questions if q.question_id == question_id), None)

    def temperature(self, category: str) -> float:
        """Return the temperature at which answers of that category are sampled."""
        own = self.settings.temperatures.get(category)
        return TEMPERATURES.get(category, OTHER_TEMPERATURE) if own is None else own

    def answer_file(self, model: str) -> pathlib.Path:
        """Return the file of a model's answers, which may not exist yet."""
        return _file_of(self.folder / "model_answer", model)

    def answered_models(self) -> tuple[str, ...]:
        """Return the models that have an answer file, by name."""
        return _models_in(self.folder / "model_answer")

    def answers(self, model: str) -> dict[QuestionId, Answer]:
        """Return a model's answers by question id; empty if it has none.

        The file's name counts as the model's, whatever the rows say. Of rows with equal ids the last counts.
        """
        path = self.answer_file(model)
        return read_answers(path, model) if path.exists() else {}

    def references(self) -> tuple[str, ...]:
        """Return the authors of reference answers, by name."""
        return _models_in(self._reference_folder)

    def reference_answers(self, author: str | None = None) -> dict[QuestionId, tuple[str, ...]]:
        """Return the reference answers' turns by question id.

        `author` is a file of `reference_answer/` or any answered model; None takes the only file there, if any.

        Raises:
            MissingError: nobody of that name has answers.
            UsageError: `author` is None and there are several to choose from.
        """
        authors = self.references()
        if author is None:
            if len(authors) > 1:
                raise UsageError(f"there are several references, choose one with --reference: {', '.join(authors)}")
            if not authors:
                return {}
            author = authors[0]
        path = _file_of(self._reference_folder, author)
        if not path.exists():
            path = self.answer_file(author)
        if not path.exists():
            known = ", ".join(dict.fromkeys((*authors, *self.answered_models()))) or "none"
            raise MissingError(f"no reference answers by {author!r}; there are: {known}")
        return {key: answer.choices[0].turns for key, answer in read_answers(path, author).items()}

    @functools.cached_property
    def sole_reference(self) -> Mapping[QuestionId, tuple[str, ...]]:
        """The reference answers that built-in models may reply with: the only author's, or none if there are several."""
        return self.reference_answers() if len(self.references()) == 1 else {}

    @property
    def _reference_folder(self) -> pathlib.Path:
        own = self.folder / "reference_answer"
        return own if own.is_dir() else self.source / "reference_answer"

    def slice(self, begin: int | None = None, end: int | None = None, first_n: int | None = None) -> tuple[Question, ...]:
        """Return the questions of a zero-based slice of the file, then at most the first n of them."""
        return self.questions[begin:end][:first_n]


def load_bench(name: str = "mt_bench", data_dir: pathlib.Path | str = "data") -> Bench:
    """Return the benchmark `data_dir/name`, or the shipped one of that name.

    Raises:
        UsageError: no such benchmark; the message lists those there are.
        DataError: its files are not what they must be (file and line).
    """
    folder = pathlib.Path(data_dir) / check_bench_name(name)
    source = next((f for f in (folder, shipped("data") / name) if (f / "question.jsonl").is_file()), None)
    if source is None:
        known = sorted({f.parent.name for d in (pathlib.Path(data_dir), shipped("data")) for f in d.glob("*/question.jsonl")})
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"no benchmark {name!r}: {folder / 'question.jsonl'} is not there; {hint}known: {', '.join(known)}")
    questions = load_questions(source / "question.jsonl")
    return Bench(name, folder, source, questions, load_settings(source / "bench.toml"))


def load_questions(path: pathlib.Path) -> tuple[Question, ...]:
    """Return the questions of a file, checked.

    Raises:
        DataError: the first line that is not a question, or an id that stands twice.
    """
    questions: dict[QuestionId, Question] = {}
    lines: dict[QuestionId, int] = {}
    for line, row in read_rows(path):
        question = question_from_row(row, path, line)
        key = question.question_id
        if key in questions:
            raise DataError(
                f"question_id {key} is a duplicate of line {lines[key]}; give each question its own", path=path, line=line
            )
        questions[key], lines[key] = question, line
    if not questions:
        raise DataError("holds no question", path=path)
    for category in dict.fromkeys(q.category for q in questions.values()):
        near = difflib.get_close_matches(category, CATEGORIES, n=1, cutoff=0.75)
        if category not in CATEGORIES and near:
            log.warning("%s: category %r is not %r: it is sampled at 0.7 and judged without reference", path, category, near[0])
    return tuple(questions.values())


def load_settings(path: pathlib.Path) -> BenchSettings:
    """Return what a `bench.toml` says, or the defaults where there is none.

    Raises:
        DataError: no TOML, an unknown key (with the nearest known one), or a value of the wrong type.
    """
    if not path.exists():
        return BenchSettings()
    table = read_toml(path)
    known = [f.name for f in fields(BenchSettings)]
    for key, value in table.items():
        if key not in known:
            raise DataError(f"unknown key {key!r}; {nearest(key, known)}", path=path)
        if key == "temperatures":
            if not isinstance(value, dict) or not all(_is_number(v) and 0 <= v <= 2 for v in value.values()):
                raise DataError("temperatures must be a table of category = number between 0 and 2", path=path)
        elif not isinstance(value, str):
            raise DataError(f"{key} must be a text, this is {value!r}", path=path)
    if "{question}" not in table.get("answer_template", "{question}"):
        raise DataError("answer_template lacks {question}", path=path)
    return BenchSettings(**table)


def read_toml(path: pathlib.Path) -> dict[str, Any]:
    """Return a TOML file's table, or raise `DataError`."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"not valid TOML: {error}", path=path) from None


def nearest(word: str, known: list[str]) -> str:
    """Return "did you mean ...?" for a near miss, else the list of what is known."""
    near = difflib.get_close_matches(word, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def read_answers(path: pathlib.Path, model: str) -> dict[QuestionId, Answer]:
    """Return the answers in a file by question id, filed under `model` whatever the rows say.

    A row with FastChat's error text is no answer. Of rows with equal ids the last good one counts, and the others are reported.
    """
    answers: dict[QuestionId, Answer] = {}
    repeated: list[QuestionId] = []
    for line, row in read_rows(path):
        answer = answer_from_row(row, path, line, model=model)
        if answer is None:
            continue
        if answer.question_id in answers:
            repeated.append(answer.question_id)
        answers[answer.question_id] = answer
    if repeated:
        log.warning("%s: %d answers stand twice (question %s); the last one counts", path, len(repeated), repeated[0])
    return answers


def _models_in(folder: pathlib.Path) -> tuple[str, ...]:
    return tuple(sorted(name_of(path.stem) for path in folder.glob("*.jsonl") if path.is_file()))


def _file_of(folder: pathlib.Path, model: str) -> pathlib.Path:
    """Return the file that stands for the model: an existing one whose name decodes to it, else the one to make."""
    path = folder / f"{file_stem(model)}.jsonl"
    if path.exists():
        return path
    plain = folder / f"{model}.jsonl"
    return plain if plain.parent == folder and name_of(model) == model and plain.exists() else path
