"""One benchmark folder: find it, read it, check it, with file and line in every complaint.

    data/<bench>/question.jsonl      {"question_id": 1031, "category": "math", "turns": ["...", "..."]}
                 bench.toml          optional: title, version, licence, language, system prompt, temperatures, ...
                 reference_answer/   one answer file for each author of references
                 model_answer/  model_judgment/  model_metric/  human_judgment/
                 .turnbench/         locks, pending replies, superseded rows

The shipped benchmarks are found even if the data folder has none; results always go to the data folder.
"""

import functools
import logging
import os
import pathlib
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Annotated, Any, NamedTuple, TypedDict

from harness.old.bounds import COUNT, FROM_0, TEMPERATURE
from harness.old.errors import DataError, MissingError, UsageError
from harness.old.jsonl import holds_lines, is_there, logical_files, read_rows
from harness.old.jsonl.copies import local_folder
from harness.old.jsonl.kept import Kept
from harness.old.judgments.file_name import FileName, Kind
from harness.old.names import check_bench_name, check_model_name, file_stem, history_of, name_of
from harness.old.records import Answer, Mode, Question, QuestionId
from harness.old.rows import answer_from_row, question_from_row, question_id
from harness.old.written import FILLED, Wanted, check_values, decoded, line_of, nearest, read_toml, takes_only

log = logging.getLogger("turnbench")

CATEGORIES = ("writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities")
CHAT_CATEGORIES = (
    *("brainstorming", "chat", "classification", "closed_qa", "extraction"),
    *("generation", "open_qa", "rewriting", "roleplay", "summarization"),
)
"""Those of ColossalAI's chat evaluation."""
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
    """Return a shipped folder: `data` or `judge_prompts`, in the installed package or the checkout."""
    package = pathlib.Path(__file__).resolve().parents[1]
    installed = package / "_data" / kind
    return installed if installed.is_dir() else package.parent / kind


_FIELD = Wanted("a text: the name of the field", FILLED.fits)


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """The keys of `bench.toml`; every key is optional."""

    title: str | None = None
    version: str | None = None
    licence: str | None = None
    language: str = "en"
    canary: str | None = None
    """A string that identifies the set in training data."""
    system_prompt: str | None = None
    answer_template: Annotated[
        str, Wanted("a text with {question}, the placeholder of the turn's text", lambda text: "{question}" in text)
    ] = "{question}"
    """The template of a turn; `{question}` is the placeholder of its text."""
    judge_set: str | None = None
    answer_field: Annotated[str, _FIELD] | None = None
    """The field of a JSON reply with the answer, which is the only judged part; None: the whole reply."""
    confidence_field: Annotated[str, _FIELD] | None = None
    """The field of the same object with the model's confidence, from 0 to 100 or from 0 to 1."""
    temperatures: Mapping[str, Annotated[float, TEMPERATURE]] = field(default_factory=dict)
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
        """The folder for locks, pending replies and rows that were set aside."""
        return self.folder / ".turnbench"

    @property
    def answer_state(self) -> pathlib.Path:
        """The part of it that belongs to the answer files."""
        return self.state / "model_answer"

    @property
    def judgment_state(self) -> pathlib.Path:
        """The part of it that belongs to the judgment files."""
        return self.state / "model_judgment"

    @property
    def metric_state(self) -> pathlib.Path:
        """The part of it that belongs to the files of metrics."""
        return self.state / "model_metric"

    @property
    def flags(self) -> str:
        """The flags by which any command means this benchmark, as one would type them."""
        where = "" if str(self.folder.parent) == "data" else f" --data-dir {shlex.quote(str(self.folder.parent))}"
        return f"--bench-name {shlex.quote(self.name)}{where}"

    def metric_file(self, metric: str) -> pathlib.Path:
        """Return the file of a metric's numbers for all models, which may not exist yet."""
        return self.folder / "model_metric" / f"{file_stem(metric)}.jsonl"

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

    def judgment_file(
        self, judge: str, judge_set: str, mode: Mode, sample: int = 0, *, one_order: bool = False
    ) -> pathlib.Path:
        """Return the file for a judge's judgments: FastChat's name for our own set, else with the set's name in it.

        With `one_order`, pairs were judged in one order only; they have a separate file.
        """
        kind: Kind = "single" if mode == "single" else "pair1" if one_order else "pair"
        return self.folder / "model_judgment" / FileName(judge, judge_set, kind, sample).text

    def answered_models(self) -> tuple[str, ...]:
        """Return the models that have answers, by name; one whose file holds no row has none."""
        return tuple(model for model in self.begun_models() if holds_lines(self.answer_file(model)))

    def begun_models(self) -> tuple[str, ...]:
        """Return the models that have an answer file, by name, though it may hold no row."""
        return _models_in(self.folder / "model_answer")

    def answers(self, model: str) -> dict[QuestionId, Answer]:
        """Return a model's answers by question id; empty if it has none.

        The model is named by the file, not by its rows. Of rows with equal ids the last counts.
        """
        path = self.answer_file(model)
        return read_answers(path, model) if is_there(path) else {}

    def references(self) -> tuple[str, ...]:
        """Return the authors of reference answers, by name."""
        return _models_in(self._reference_folder)

    def reference_answers(self, author: str | None = None) -> dict[QuestionId, tuple[str, ...]]:
        """Return the reference answers' turns by question id.

        `author` is a file of `reference_answer/` or any answered model; None means the only file there, if any.

        Raises:
            MissingError: there are no answers by that name.
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
        if not is_there(path):
            path = self.answer_file(author)
        if not is_there(path):
            known = ", ".join(dict.fromkeys((*authors, *self.answered_models()))) or "none"
            raise MissingError(f"no reference answers by {author!r}; there are: {known}")
        return {key: answer.choices[0].turns for key, answer in read_answers(path, author).items()}

    def given_turns(self, name: str) -> dict[QuestionId, tuple[str, ...]]:
        """Return the turns that `--history NAME` gives, by question id.

        `name` is `reference` (the only one there is), a file of `reference_answer/`, or an answered model. Where the
        question gives a reply, that is the one.

        Raises:
            MissingError, UsageError: see `reference_answers`; `name` is a variant that was itself given its turns.
        """
        if history_of(name):
            raise UsageError(f"{name!r} answered supplied turns, not its own conversation; name another history")
        said = self.reference_answers(None if name == "reference" else name)
        return {
            q.question_id: tuple(q.given(n) or text for n, text in enumerate(said[q.question_id][: len(q.turns)], 1))
            for q in self.questions
            if q.question_id in said
        }

    def without_history(self, model: str) -> frozenset[QuestionId]:
        """Return the questions that a variant with supplied history cannot answer, because there are no turns for
        them."""
        history = history_of(model)
        if history is None:
            return frozenset()
        try:
            given = self.given_turns(history)
        except (MissingError, UsageError):  # its answers hold what they were given; where it came from may be gone
            given = {}
        return frozenset(
            q.question_id
            for q in self.questions
            if not q.written_by(model) or len(given.get(q.question_id, ())) < len(q.turns) - 1
        )

    def reference_notes(self, author: str) -> dict[QuestionId, str]:
        """Return the stated origin of the rows of a reference file, by question id."""
        path = _file_of(self._reference_folder, author)
        rows = read_rows(path) if is_there(path) else ()
        return {
            question_id(row["question_id"]): row["note"]
            for _, row in rows
            if isinstance(row.get("note"), str) and isinstance(row.get("question_id"), int | str)
        }

    @functools.cached_property
    def sole_reference(self) -> Mapping[QuestionId, tuple[str, ...]]:
        """What built-in models may reply with: the reference answers of the only author, none if there are several."""
        return self.reference_answers() if len(self.references()) == 1 else {}

    @property
    def _reference_folder(self) -> pathlib.Path:
        own = self.folder / "reference_answer"
        return own if _models_in(own) else self.source / "reference_answer"

    def slice(
        self,
        question_begin: int | None = None,
        question_end: int | None = None,
        first_n: int | None = None,
        sample_n: int | None = None,
    ) -> tuple[Question, ...]:
        """Return the questions of a zero-based slice of the file: its first n, and of these `sample_n` (`spread`).

        Raises:
            UsageError: a number is outside the range that `Slice` states.
        """
        ends = {"question_begin": question_begin, "question_end": question_end}
        check_values(Slice.__annotations__, {**ends, "first_n": first_n, "sample_n": sample_n})
        return spread(self.questions[question_begin:question_end][:first_n], sample_n)


class Slice(TypedDict, total=False):
    """Which questions of a benchmark's file, for commands and Python callers; see `Bench.slice`."""

    question_begin: Annotated[int, FROM_0] | None
    """The first one, counted from 0 (default: 0)."""
    question_end: Annotated[int, FROM_0] | None
    """The one to stop before (default: the end)."""
    first_n: Annotated[int, COUNT] | None
    """How many of these, from the first on (default: all)."""
    sample_n: Annotated[int, COUNT] | None
    """How many of these, spread over the categories (default: all)."""


def spread(questions: Sequence[Question], count: int | None) -> tuple[Question, ...]:
    """Return that many questions (None: all), spread over the categories, in the order of the file.

    The first of each category is taken, in the order in which the categories appear, then the second of each.
    """
    by_category: dict[str, list[int]] = {}
    for at, question in enumerate(questions):
        by_category.setdefault(question.category, []).append(at)
    rounds = zip_longest(*by_category.values())
    in_turn = [at for taken in rounds for at in taken if at is not None]
    return tuple(questions[at] for at in sorted(in_turn[:count]))


@takes_only()
def load_bench(name: str = "mt_bench", data_dir: pathlib.Path | str = "data") -> Bench:
    """Return the benchmark `data_dir/name`, or the shipped one of that name.

    Raises:
        UsageError: no such benchmark; the message lists those there are.
        DataError: its files are not what they must be (file and line).
    """
    folder, source = bench_folders(name, data_dir)
    questions = load_questions(source / "question.jsonl")
    own = folder / "bench.toml"
    path = own if own.exists() else source / "bench.toml"
    settings = load_settings(path)
    for category, idle in idle_temperatures(settings, questions).items():
        if category not in CATEGORIES:
            log.warning("%s: %s", path, idle)
    return Bench(name, folder, source, questions, settings)


def need_file(path: pathlib.Path) -> None:
    """Raise `DataError` if what has a file's name is a folder, a device, a pipe, or a link that leads nowhere."""
    if os.path.lexists(path) and not path.is_file():
        what = "a folder, a device or a pipe" if path.exists() else "a link that leads nowhere"
        raise DataError(f"is {what}; it must be a plain file", path=path)


class Folders(NamedTuple):
    """Where a benchmark is."""

    folder: pathlib.Path
    """Of its results."""
    source: pathlib.Path
    """Of its questions: the same, or that of the shipped benchmark."""


def bench_folders(name: str = "mt_bench", data_dir: pathlib.Path | str = "data") -> Folders:
    """Return the folders of a benchmark; nothing in them is read.

    Raises:
        UsageError: no such benchmark; the message lists those there are.
        DataError: the folder cannot be read.
    """
    data_dir = local_folder(data_dir, check_bench_name(name))
    folder = data_dir / name
    try:
        source = next((f for f in (folder, shipped("data") / name) if (f / "question.jsonl").is_file()), None)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=folder) from error
    if source is None:
        need_file(folder / "question.jsonl")
        homes = (pathlib.Path(data_dir), shipped("data"))
        known = sorted({file.parent.name for home in homes for file in home.glob("*/question.jsonl")})
        hint = nearest(name, known) if known else "no benchmarks were found"
        raise UsageError(f"no benchmark {name!r}: {folder / 'question.jsonl'} does not exist; {hint}")
    return Folders(folder, source)


def load_questions(path: pathlib.Path) -> tuple[Question, ...]:
    """Return the questions of a file, checked.

    Raises:
        DataError: the first line that is not a question, or an id that occurs twice.
    """
    return _kept.read(path, [path], lambda: (_questions(path), True))


_kept = Kept[tuple[Question, ...]]()


def _questions(path: pathlib.Path) -> tuple[Question, ...]:
    questions: dict[QuestionId, Question] = {}
    lines: dict[QuestionId, int] = {}
    for line, row in read_rows(path, whole=True):
        question = question_from_row(row, path, line)
        key = question.question_id
        if key in questions:
            first = f"question_id {key} is a duplicate of line {lines[key]}"
            raise DataError(f"{first}; give each question a different one", path=path, line=line)
        questions[key], lines[key] = question, line
    if not questions:
        raise DataError("contains no question; each line must be one", path=path)
    for note in near_misses(questions.values()):
        log.warning("%s: %s", path, note)
    return tuple(questions.values())


def near_misses(questions: Iterable[Question]) -> list[str]:
    """Return a line about each category whose name is nearly one of MT-Bench's, such as maths."""
    notes = []
    for category in dict.fromkeys(question.category for question in questions):
        import difflib  # most files need none of it

        near = difflib.get_close_matches(category.strip().lower(), CATEGORIES, n=1, cutoff=0.75)
        # ColossalAI's rewriting is no slip of the pen for writing.
        if near and category not in (*CATEGORIES, *CHAT_CATEGORIES):
            what_follows = f"it is sampled at {OTHER_TEMPERATURE} and judged without reference"
            notes.append(f"category {category!r} is not {near[0]!r}: {what_follows}")
    return notes


def load_settings(path: pathlib.Path) -> BenchSettings:
    """Return the settings in a `bench.toml`, or the defaults without one.

    Raises:
        DataError: invalid TOML, an unknown key (with the nearest known one), or a value of the wrong type.
    """
    if not path.exists():
        return BenchSettings()
    made = decoded(read_settings(path), BenchSettings, path)
    if made.confidence_field is not None and made.answer_field in (None, made.confidence_field):
        fault = "confidence_field needs answer_field, another field of the same object"
        raise DataError(fault, path=path, line=line_of(("confidence_field",), path))
    return made


def read_settings(path: pathlib.Path) -> dict[str, Any]:
    """Return the table in a `bench.toml`, or raise `DataError`; a pipe of that name is not waited for."""
    if not path.is_file():
        raise DataError("is a folder or a pipe; bench.toml must be a plain file", path=path)
    return read_toml(path)


def idle_temperatures(settings: BenchSettings, questions: Iterable[Question]) -> dict[str, str]:
    """Return the categories that have a temperature but no question, each with a message."""
    there = list(dict.fromkeys(question.category for question in questions))
    return {
        category: f"temperatures.{category} applies to no question: none has that category; {nearest(category, there)}"
        for category in settings.temperatures
        if category not in there
    }


def read_answers(path: pathlib.Path, model: str) -> dict[QuestionId, Answer]:
    """Return the answers in a file by question id, under the name `model`, not that in the rows.

    A row with FastChat's error text is not an answer. Of rows with equal ids the last valid one counts, and the others
    are reported.
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
        first = f"the first is question {repeated[0]}"
        log.warning("%s: %d rows repeat a question (%s); the last one counts", path, len(repeated), first)
    return answers


def _models_in(folder: pathlib.Path) -> tuple[str, ...]:
    """Return the models that have a file there; hidden files are other programs'."""
    names = set()
    for path in logical_files(folder):
        try:
            names.add(check_model_name(name_of(path.stem)))
        except UsageError as error:
            log.warning("%s: left out: %s", path, error)
    return tuple(sorted(names))


def _file_of(folder: pathlib.Path, model: str) -> pathlib.Path:
    """Return the model's file: an existing one whose name decodes to it, else the one to create."""
    path = folder / f"{file_stem(model)}.jsonl"
    if is_there(path):
        return path
    plain = folder / f"{model}.jsonl"
    return plain if plain.parent == folder and name_of(model) == model and is_there(plain) else path
