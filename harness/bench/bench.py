"""One benchmark: its questions and settings, and where its files are.

data/<bench>/question.jsonl  bench.toml  reference_answer/  model_answer/  model_judgment/
             model_metric/  human_judgment/  note/  .turnbench/
"""

import functools
import logging
import pathlib
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Annotated, NamedTuple, TypeVar

from msgspec import Meta, Struct

from harness import registry, store
from harness.bench.names import (
    JudgmentName,
    Kind,
    check_bench_name,
    file_stem,
    judgment_file_name,
    name_of_file,
    parse_judgment_name,
)
from harness.errors import DataError, MissingError, UsageError
from harness.options import BenchName, ReasoningShown, Slice
from harness.reasoning import split_answer
from harness.types import Answer, Judgment, Question, QuestionId, clash_of, split_variant
from harness.words import counted

log = logging.getLogger("turnbench")
T = TypeVar("T")

OTHER_TEMPERATURE = 0.7


class Settings(Struct, forbid_unknown_fields=True, kw_only=True):
    """The keys of `bench.toml`; every one may be left out."""

    title: str | None = None
    version: str | None = None
    licence: str | None = None
    source: str | None = None
    """Where the questions are from, such as `hf://datasets/OWNER/NAME@COMMIT/FILE`."""
    language: str = "en"
    canary: str | None = None
    """A text that identifies the set in training data."""
    judge_set: str | None = None
    """What judges this benchmark, where no `--judge-set` says otherwise; see `usual_judge_set`."""
    system_prompt: str | None = None
    answer_template: Annotated[str, Meta(pattern=r"\{question\}")] = "{question}"
    """How a turn is put to the model; `{question}` is the turn's text."""
    answer_field: Annotated[str, Meta(min_length=1)] | None = None
    """The field of a JSON reply that holds the answer; only that is judged."""
    confidence_field: Annotated[str, Meta(min_length=1)] | None = None
    """The field with the model's confidence, from 0 to 100 or from 0 to 1."""
    temperatures: dict[str, Annotated[float, Meta(ge=0, le=2)]] = {}
    """By category; they precede what turnbench.toml says of a model."""
    usual_temperatures: dict[str, Annotated[float, Meta(ge=0, le=2)]] = {}
    """By category, where nothing else states one. A benchmark without has those of the shipped
    `mt_bench`."""
    categories: dict[str, str] = {}
    """By the benchmark's name of a category, that by which judge sets and MT-Bench's temperatures
    know it."""
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    """The most tokens of a reply."""
    retry_cut: Annotated[float, Meta(ge=1)] | None = None
    """By what factor the limit grows when a cut reply is asked again; 1: never."""

    @property
    def usual_judge_set(self) -> str:
        """What judges this benchmark, where no `--judge-set` says otherwise."""
        return self.judge_set or "mt_bench"


class References(NamedTuple):
    """Reference answers, and whose they are."""

    name: str
    turns: Mapping[QuestionId, Sequence[str]]


class JudgmentFile(NamedTuple):
    """A file of judgments, and what its name says of it."""

    path: pathlib.Path
    name: JudgmentName | None
    """None: named by another tool; its rows say what they are."""


@dataclass(frozen=True)
class Bench:
    """One benchmark."""

    name: str
    folder: pathlib.Path
    """Where results are: `DATA_DIR/NAME`."""
    source: pathlib.Path
    """Where the questions are: the same folder, or the shipped one."""
    questions: tuple[Question, ...]
    settings: Settings = field(default_factory=Settings)
    reasoning: ReasoningShown = "split"
    """What becomes of reasoning in the texts of answers that another tool made."""
    split_off: dict[str, int] = field(default_factory=dict, compare=False, repr=False)
    """Of the models whose answers were read, how many answers had reasoning split off."""
    called_otherwise: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Of these, the ones whose rows have another `model_id` than the file's name says."""

    def __repr__(self) -> str:
        return f"<Bench {self.name[:100]}: {len(self.questions)} questions>"

    @property
    def state(self) -> pathlib.Path:
        """The folder `.turnbench`."""
        return store.state_dir(self.folder)

    @property
    def named(self) -> BenchName:
        """The options by which a command means this benchmark."""
        return BenchName(
            bench_name=self.name, data_dir=str(self.folder.parent), reasoning=self.reasoning
        )

    @property
    def flags(self) -> str:
        """The flags by which a command means this benchmark, ready to paste."""
        parent = str(self.folder.parent)
        where = "" if parent == "data" else f" --data-dir {shlex.quote(parent)}"
        kept = "" if self.reasoning == "split" else f" --reasoning {self.reasoning}"
        return f"--bench-name {shlex.quote(self.name)}{where}{kept}"

    @functools.cached_property
    def by_id(self) -> Mapping[QuestionId, Question]:
        """The questions by id."""
        return {question.question_id: question for question in self.questions}

    def take(self, part: Slice) -> list[Question]:
        """Return the questions of a slice."""
        questions = list(self.questions[part.question_begin : part.question_end][: part.first_n])
        return questions if part.sample_n is None else spread(questions, part.sample_n)

    def temperature(self, category: str) -> float:
        """Return the temperature at which answers of a category are sampled."""
        known = self.settings.categories.get(category, category)
        usual = self.settings.usual_temperatures or usual_temperatures()
        other = usual.get(known, OTHER_TEMPERATURE)
        return self.settings.temperatures.get(category, other)

    def validate_checks(self, questions: Sequence[Question]) -> None:
        """Raise `DataError` for the first of some questions that has an invalid check."""
        validate = registry.find("check", "validate")
        for question in questions:
            try:
                validate(question)
            except ValueError as error:
                file = self.source / "question.jsonl"
                raise DataError(f"question {question.question_id}: {error}", file) from None

    # Answers and references

    @property
    def nowhere(self) -> str:
        """What to add to a message where the data folder itself is missing."""
        home = self.folder.parent
        if home.is_dir():
            return ""
        return f"; there is no {home}/ in {pathlib.Path.cwd()}: give --data-dir, or go where it is"

    @property
    def answer_notes(self) -> list[str]:
        """What a user should know of the answers that were read, as sentences."""
        counts = {model: count for model, count in self.split_off.items() if count}
        notes = [
            f"model_answer/{self.answer_file(model).name} holds answers that say they are of "
            f"{inside}: they are one model, and count here as {model}; name the file as the model"
            for model, inside in self.called_otherwise.items()
        ]
        return notes + ([self._reasoning_note(counts)] if counts else [])

    def _reasoning_note(self, counts: Mapping[str, int]) -> str:
        total, names = sum(counts.values()), ", ".join([*counts][:3]) + ", …" * (len(counts) > 3)
        return (
            f"{counted(total, 'answer')} of {names} came with reasoning (<think>…</think>), which "
            "is split off: only the text after it counts; --reasoning keep takes both as the answer"
        )

    def answer_file(self, model: str) -> pathlib.Path:
        """Return the file of a model's answers, which may not exist."""
        return self.answer_files().get(model) or (
            self.folder / "model_answer" / f"{file_stem(model)}.jsonl"
        )

    def answer_files(self) -> dict[str, pathlib.Path]:
        """Return the answer files by model; the file's name is the model's."""
        return _by_model(self.folder / "model_answer")

    def answers(self, model: str) -> dict[QuestionId, Answer]:
        """Return a model's answers by question id; `$ERROR$` rows of FastChat are no answers."""
        return self.read_answers(model, self.answer_file(model), lambda answer, place: answer)

    def read_answers(
        self, model: str, path: pathlib.Path, take: Callable[[Answer, store.Place[Answer]], T]
    ) -> dict[QuestionId, T]:
        """Return by question id what is taken of a model's answers; one at a time is in memory.

        Of the good rows of a question the last counts. `path` is `answer_file(model)`; `take` is
        given the answer as it is shown, and the place of its row.
        """
        taken: dict[QuestionId, T] = {}
        otherwise: dict[QuestionId, str] = {}
        split = set[QuestionId]()
        for place in store.rows(path, Answer) if path.exists() else ():
            row, key = place.row, place.row.question_id
            if not store.is_good(row):
                continue
            if key in taken:  # a row of before does not count, nor its place in the order
                del taken[key]
                otherwise.pop(key, None)
                split.discard(key)
            shown = self.as_shown(row)
            if shown is not row:
                split.add(key)
            if row.model_id not in ("", model):
                otherwise[key] = row.model_id
            taken[key] = take(shown, place)
        if otherwise:
            self.called_otherwise[model] = next(iter(otherwise.values()))
        self.split_off[model] = len(split)
        return taken

    def as_shown(self, answer: Answer) -> Answer:
        """Return an answer as judges, metrics and pages get it; the file's row stays as it is."""
        return answer if self.reasoning == "keep" else split_answer(answer)

    def answered_models(self) -> list[str]:
        """Return the models that have answers, by name."""
        return sorted(model for model, path in self.answer_files().items() if path.stat().st_size)

    def reference_files(self) -> dict[str, pathlib.Path]:
        """Return the files of reference answers by author."""
        files = _by_model(self.folder / "reference_answer")
        return files or _by_model(self.source / "reference_answer")

    def references(self, author: str | None = None) -> References | None:
        """Return reference answers: the only ones, or those of a reference file or answered model.

        Raises:
            UsageError: no author is given and there are several.
            MissingError: there are no answers by that name.
        """
        files = self.reference_files()
        if author is None:
            if not files:
                return None
            if len(files) > 1:
                raise UsageError(f"several references; choose with --reference: {', '.join(files)}")
            author = next(iter(files))
        path = files.get(author) or self.answer_file(author)
        if not path.exists():
            names = ", ".join(dict.fromkeys([*files, *self.answered_models()])) or "none"
            raise MissingError(f"no reference answers by {author!r}; there are: {names}")
        rows = map(self.as_shown, store.latest(path, Answer).values())
        return References(author, {row.question_id: row.choices[0].turns for row in rows})

    def history(self, name: str) -> dict[QuestionId, list[str]]:
        """Return the replies to earlier turns that `--history NAME` gives, by question id.

        NAME is `reference`, a reference file or an answered model. A reply that the question
        itself gives comes first.

        Raises:
            UsageError, MissingError: see `references`; or NAME itself continued from others' turns.
        """
        if split_variant(name)[1] is not None:
            raise UsageError(f"{name!r} continued from given turns itself; name another --history")
        references = self.references(None if name == "reference" else name)
        if references is None:
            raise MissingError(f"{self.name} has no reference answers for --history reference")
        replies = {}
        for question in self.questions:
            turns = references.turns.get(question.question_id)
            if turns is not None:
                replies[question.question_id] = [
                    question.given(number) or text
                    for number, text in enumerate(turns[: len(question.turns)], 1)
                ]
        return replies

    # Judgments, votes, notes, measurements

    def judgment_file(
        self, judge: str, judge_set: str, kind: Kind, sample: int = 0
    ) -> pathlib.Path:
        """Return the file to which a judge's judgments go."""
        name = judgment_file_name(judge, judge_set, kind, sample)
        return self.folder / "model_judgment" / name

    def judgment_files(self) -> list[JudgmentFile]:
        """Return all judgment files, those under other names and in folders included.

        A file that is not named like one is read if its first row is a judgment, else warned of.
        """
        home = self.folder / "model_judgment"
        paths = store.data_files(home)
        for folder in sorted(home.glob("*/")):
            paths += store.data_files(folder)
        files = []
        for path in paths:
            name = parse_judgment_name(path.name)
            if name is not None or store.looks_like(path, Judgment):
                files.append(JudgmentFile(path, name))
            elif path.stat().st_size:
                log.warning("%s: holds no judgments; it is left out", path)
        return files

    def vote_files(self) -> list[pathlib.Path]:
        """Return the files of people's votes."""
        folder = self.folder / "human_judgment"
        return sorted([*store.data_files(folder), *folder.glob("[!.]*.json")])

    def vote_file(self, voter: str) -> pathlib.Path:
        """Return the file to which a person's votes go."""
        return _file_of_person(self.folder / "human_judgment", voter)

    def note_file(self, name: str) -> pathlib.Path:
        """Return the file to which a person's notes on verdicts go."""
        return _file_of_person(self.folder / "note", name)

    def note_files(self) -> list[pathlib.Path]:
        """Return the files of people's notes on verdicts."""
        return store.data_files(self.folder / "note")

    def metric_file(self, metric: str) -> pathlib.Path:
        """Return the file of a metric's numbers, which may not exist."""
        return self.folder / "model_metric" / f"{file_stem(metric)}.jsonl"

    def metric_files(self) -> list[pathlib.Path]:
        """Return the files of measurements."""
        return store.data_files(self.folder / "model_metric")


def load_named(options: BenchName) -> Bench:
    """Return the benchmark that a command's options name; raises what `load` does."""
    return load(options.bench_name, options.data_dir, options.reasoning)


def load(
    name: str = "mt_bench",
    data_dir: pathlib.Path | str = "data",
    reasoning: ReasoningShown = "split",
) -> Bench:
    """Return the benchmark `data_dir/name`, or the shipped one of that name.

    With `reasoning="keep"` judges and metrics see what other tools' answers thought aloud.

    Raises:
        UsageError: there is no such benchmark.
        DataError: its files are wrong (file and line).
    """
    folder = pathlib.Path(data_dir) / check_bench_name(name)
    source = find_source(folder)
    questions = load_questions(source / "question.jsonl")
    settings = next((f for f in (folder / "bench.toml", source / "bench.toml") if f.exists()), None)
    return Bench(
        name,
        folder,
        source,
        questions,
        store.read_toml(settings, Settings) if settings else Settings(),
        reasoning,
    )


@functools.cache
def usual_temperatures() -> Mapping[str, float]:
    """Return MT-Bench's temperature for each of its categories."""
    path = shipped("data") / "mt_bench" / "bench.toml"
    return store.read_toml(path, Settings).usual_temperatures


def find_source(folder: pathlib.Path) -> pathlib.Path:
    """Return the folder that holds a benchmark's questions: it, or the shipped one of its name.

    Raises:
        UsageError: neither has a `question.jsonl`.
    """
    for source in (folder, shipped("data") / folder.name):
        if (source / "question.jsonl").is_file():
            return source
    homes = (folder.parent, shipped("data"))
    names = sorted({path.parent.name for home in homes for path in home.glob("*/question.jsonl")})
    raise UsageError(
        f"no benchmark {folder.name!r} ({folder / 'question.jsonl'} is not there); "
        f"there are {', '.join(names)}; turnbench fetch_bench downloads published ones"
    )


def load_questions(path: pathlib.Path) -> tuple[Question, ...]:
    """Return the questions of a file.

    Raises:
        DataError: a line is not a question, an id occurs twice, or there is none.
    """
    lines: dict[QuestionId, int] = {}
    questions = []
    for question, line, *_ in store.rows(path, Question):
        key = question.question_id
        if lines.setdefault(key, line) != line:
            raise DataError(f"question {key} is also on line {lines[key]}", path, line)
        questions.append(question)
    if not questions:
        raise DataError("holds no questions", path)
    if clash := clash_of((question.category for question in questions), reserved=()):
        raise DataError(f"categories: {clash}", path)
    return tuple(questions)


def spread(questions: Sequence[Question], count: int) -> list[Question]:
    """Return `count` questions in file order, spread over the categories; always the same ones."""
    taken = {question.question_id for question in alternate(questions)[:count]}
    return [question for question in questions if question.question_id in taken]


def alternate(questions: Iterable[Question]) -> list[Question]:
    """Return the first question of each category, then the second of each, and so on."""
    by_category: dict[str, list[Question]] = {}
    for question in questions:
        by_category.setdefault(question.category, []).append(question)
    return [q for turn in zip_longest(*by_category.values()) for q in turn if q is not None]


def size_in_words(questions: Sequence[Question]) -> str:
    """Return how many questions there are, and of how many turns: 8 questions of 1 to 3 turns."""
    count, turns = counted(len(questions), "question"), sorted({len(q.turns) for q in questions})
    if len(turns) > 1:
        return f"{count} of {turns[0]} to {turns[-1]} turns"
    return " of ".join([count, *(counted(number, "turn") for number in turns)])


def shipped(kind: str) -> pathlib.Path:
    """Return a shipped folder, `data` or `judge_prompts`, installed or in the checkout."""
    package = pathlib.Path(__file__).resolve().parents[1]
    installed = package / "_data" / kind
    return installed if installed.is_dir() else package.parent / kind


def _file_of_person(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Return somebody's file: also that of a name of other capitals, as some file systems do."""
    own = folder / f"{file_stem(name)}.jsonl"
    alike = [path for path in folder.glob("*") if path.name.casefold() == own.name.casefold()]
    return own if own.exists() else min(alike, default=own)


def _by_model(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    names = {name_of_file(path.name): path for path in store.data_files(folder)}
    return dict(sorted(names.items()))
