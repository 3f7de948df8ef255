"""Whether a judgment or measurement is of today's question, answers, reference and template.

    rule = Today(bench).rule("mt_bench", "1.0", None)
    rule(81, 1, ("gpt-4o",), 0, row.made_from)      None, or what changed: "answers"

Parameters are not looked at: `bench/current.py` does so where a command states one. A row without
hashes is current, and so is one whose answers or judge set are not at hand.
"""

import contextlib
import functools
import pathlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from harness import store
from harness.bench import Bench, file_stem
from harness.errors import DataError, StorageError, TurnbenchError
from harness.judging.answers import JudgedAnswers
from harness.judging.prompts import (
    KEPT_AWAY,
    Match,
    Prompts,
    answer_json,
    conversation_hash,
    make_prompts,
    replies_shown,
    replies_so_far,
)
from harness.judging.sets import ANY, JudgeSet, load_for
from harness.types import (
    Answer,
    Judgment,
    MadeFrom,
    Measurement,
    QuestionId,
    content_hash,
)

Part: TypeAlias = Literal["question", "answers", "reference", "template"]
Rule: TypeAlias = Callable[[QuestionId, int, tuple[str, ...], int, MadeFrom], str | None]
"""Question, turn, models, choice and a row's hashes → what changed, such as "question, answers"."""

NO_REFERENCE = KEPT_AWAY
"""In place of a reference's author: judges see neither references nor notes."""

UNKNOWN = "no such question"
"""The cause why a row of a question that the benchmark lacks does not count."""
_SETTLED = 1.0
"""Seconds after which a file that is written again surely has another time."""


class _Turn(msgspec.Struct, array_like=True, frozen=True):
    """The hashes of an answer up to a turn."""

    graded: str
    """As `MadeFrom.conversation` of a judgment of this answer alone."""
    texts: str
    """As `MadeFrom.conversation` of a measurement."""


class _Hashes(msgspec.Struct, array_like=True):
    """The hashes of a model's answers, as they are kept."""

    size: int
    mtime: int
    field: str | None
    """The field of a JSON reply that holds the answer."""
    reasoning: str
    """Whether other tools' answers were split or kept."""
    answers: list[tuple[QuestionId, int, list[_Turn]]] = []
    """Question, choice, turns."""


class Answers:
    """The hashes of the answers that are there now.

    They are kept in `.turnbench/hashes/` by the size and time of the answer file, so that a table
    does not read the answers again.
    """

    def __init__(self, bench: Bench) -> None:
        """Nothing is read yet."""
        self.bench = bench
        self.faults: list[DataError] | None = None
        """Takes what is wrong with a file, whose answers are then not at hand."""
        self._models: dict[str, dict[tuple[QuestionId, int], list[_Turn]]] = {}
        self._answered: dict[str, set[QuestionId]] = {}
        self._pairs: dict[str, str] = {}
        """By the hashes of two answers, that of their pair."""
        self._pairs_read = False
        self._pairs_grew = False
        self._json = functools.lru_cache(maxsize=4096)(self._answer_json)
        self._rows = functools.cache(functools.partial(JudgedAnswers, bench))
        self._files = functools.cache(bench.answer_files)

    def turn(self, model: str, key: QuestionId, choice: int, turn: int) -> _Turn | None:
        """Return the hashes of an answer up to a turn; None: it is not at hand.

        Of an answer that has no such turn or choice, hashes that no row has.
        """
        if model not in self._models:
            self._read(model)
        turns = self._models[model].get((key, choice))
        if turns is not None and turn <= len(turns):
            return turns[turn - 1]
        return _Turn("", "") if key in self._answered[model] else None

    def conversation(
        self, key: QuestionId, turn: int, models: tuple[str, ...], choice: int
    ) -> str | None:
        """Return what `MadeFrom.conversation` of a judgment would be; None: not at hand."""
        if len(models) == 1:
            answer = self.turn(models[0], key, choice, turn)
            return None if answer is None else answer.graded
        first, second = (self.turn(model, key, choice, turn) for model in sorted(models))
        if first is None or second is None:
            return None
        if not (first.graded and second.graded):
            return ""
        return self._pair(first.graded + second.graded, key, turn, models, choice)

    def _pair(
        self, name: str, key: QuestionId, turn: int, models: tuple[str, ...], choice: int
    ) -> str:
        if not self._pairs_read:
            self._pairs_read = True
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                data = (self._folder / "pairs").read_bytes()
                self._pairs = msgspec.msgpack.decode(data, type=dict[str, str])
        found = self._pairs.get(name)
        if found is None:
            answers = (self._json(model, key, choice, turn) for model in sorted(models))
            found = self._pairs[name] = conversation_hash(answers)
            self._pairs_grew = True
        return found

    def keep(self) -> None:
        """Keep the hashes of pairs that were computed."""
        if self._pairs_grew:
            self._pairs_grew = False
            self._write("pairs", msgspec.msgpack.encode(self._pairs))

    @property
    def _folder(self) -> pathlib.Path:
        return self.bench.state / "hashes"

    def _write(self, name: str, data: bytes) -> None:
        """Write a file of hashes, where the folder can be written."""
        with contextlib.suppress(StorageError):
            store.write_file(self._folder / name, data)

    def _read(self, model: str) -> None:
        """Read a model's hashes, kept ones if its file is as it was."""
        hashes = self._kept_or_read(model)
        rows = [] if hashes is None else hashes.answers
        self._models[model] = {(key, choice): turns for key, choice, turns in rows}
        self._answered[model] = {key for key, *_ in rows}

    def _kept_or_read(self, model: str) -> _Hashes | None:
        path = self._files().get(model) or self.bench.answer_file(model)
        field = self.bench.settings.answer_field
        reasoning = self.bench.reasoning
        try:
            about = path.stat()
        except OSError:
            return None
        name = f"{file_stem(model)}.answers"
        with contextlib.suppress(OSError, msgspec.MsgspecError):
            kept = msgspec.msgpack.decode((self._folder / name).read_bytes(), type=_Hashes)
            made = _Hashes(about.st_size, about.st_mtime_ns, field, reasoning)
            if replace(kept, answers=[]) == made:
                return kept
        hashes = _Hashes(about.st_size, about.st_mtime_ns, field, reasoning)
        try:
            turns = self.bench.read_answers(model, path, lambda row, _: self._turns(model, row))
        except DataError as error:
            if self.faults is None:
                raise
            self.faults.append(error)
            return None
        hashes.answers = [
            (key, index, found) for key, row in turns.items() for index, found in row.items()
        ]
        if time.time() - about.st_mtime > _SETTLED:
            self._write(name, msgspec.msgpack.encode(hashes))
        return hashes

    def _turns(self, model: str, row: Answer) -> dict[int, list[_Turn]]:
        """Return the hashes of each conversation of an answer, by turn."""
        field = self.bench.settings.answer_field
        hashes: dict[int, list[_Turn]] = {}
        for choice in row.choices:
            turns = hashes[choice.index] = []
            for turn in range(1, len(choice.turns) + 1):
                shown = replies_shown(choice, turn, field)
                texts = shown if not choice.user else replies_so_far(choice, turn)
                graded = conversation_hash([answer_json(model, shown)])
                turns.append(_Turn(graded, content_hash(*texts)))
        return hashes

    def _answer_json(self, model: str, key: QuestionId, choice: int, turn: int) -> bytes:
        choices = self._rows(model)[key].choices
        found = next(one for one in choices if one.index == choice)
        return answer_json(model, replies_shown(found, turn, self.bench.settings.answer_field))


class Today:
    """What rows would be made from today."""

    def __init__(
        self, bench: Bench, reference: str | None = None, judge_set: JudgeSet | None = None
    ) -> None:
        """`reference` and `judge_set` are a command's; else rows name their set, as it is now."""
        self.bench = bench
        self._stated_set = judge_set
        self.answers = Answers(bench)
        self.unchecked = 0
        """Rows whose answers are not at hand."""
        self._reference = reference
        self._questions = {key: question.hash for key, question in bench.by_id.items()}
        self._prompts = functools.cache(self._make_prompts)
        self._judge_set = functools.cache(self._load)

    def changed(self, row: Judgment | Measurement) -> str | None:
        """Return what has changed since a row was made; None: nothing, it is current."""
        if row.made_from is None:
            return None
        if isinstance(row, Measurement):
            return self.changed_measurement(row)
        rule = self.rule(row.judge_set, row.judge_set_version, row.criterion)
        return rule(row.question_id, row.turn, row.models, row.choice, row.made_from)

    @functools.cache  # noqa: B019  (as long as a command)
    def rule(self, judge_set: str, version: str, criterion: str | None) -> Rule:
        """Return the rule for the rows of a judge set and criterion."""
        criterion = criterion or None
        conversation = self.answers.conversation
        # What rows of one question have in common, of all models, is compared once.
        alike: dict[tuple[Any, ...], tuple[Part | None, Part | None]] = {}

        def changed(
            key: QuestionId, turn: int, models: tuple[str, ...], choice: int, made: MadeFrom
        ) -> str | None:
            shape = key, turn, len(models), made.reference, made.template
            about = shape, made.question
            if about not in alike:
                wording = self._questions.get(key, made.question)
                alike[about] = (
                    "question" if made.question not in (None, wording) else None,
                    self._shape(judge_set, version, criterion, *shape),
                )
            question, other = alike[about]
            answers = conversation(key, turn, models, choice)
            changed_answers: Part | None = None
            if answers is None:
                self.unchecked += 1
            elif made.conversation not in (None, answers):
                changed_answers = "answers"
            if question or changed_answers or other:
                return ", ".join(filter(None, (question, changed_answers, other)))
            return None

        return changed

    def changed_measurement(self, row: Measurement) -> str | None:
        """Return what has changed since a number was computed; None: nothing."""
        made, parts = row.made_from, []
        if made is None:
            return None
        if self._questions.get(row.question_id, made.question) != made.question:
            parts.append("question")
        turn = self.answers.turn(row.model, row.question_id, row.choice, row.turn)
        if turn is not None and made.conversation not in (None, turn.texts):
            parts.append("answers")
        if made.reference is not None and row.reference is not None:
            with contextlib.suppress(TurnbenchError):
                references = self._references(row.reference)
                texts = references.get(row.question_id, ())[row.turn - 1 : row.turn]
                if texts and content_hash(*texts) != made.reference:
                    parts.append("reference")
        return ", ".join(parts) or None

    @functools.cache  # noqa: B019
    def _references(self, author: str) -> Mapping[QuestionId, Sequence[str]]:
        references = self.bench.references(author)
        return {} if references is None else references.turns

    def _load(self, name: str, version: str) -> JudgeSet | None:
        """Return the judge set of a row as it is now; None: it is not at hand.

        Versions that are no numbers are contents of files: another one is another set.
        """
        try:
            judge_set = self._stated_set
            if judge_set is None or judge_set.name != name:
                judge_set = load_for(self.bench, name)
        except TurnbenchError:
            return None
        numbered = _numbers(version) is not None and _numbers(judge_set.version) is not None
        return judge_set if numbered or version == judge_set.version else None

    def _shape(
        self,
        name: str,
        version: str,
        criterion: str | None,
        key: QuestionId,
        turn: int,
        models: int,
        reference: str | None,
        template: str | None,
    ) -> Literal["reference", "template"] | None:
        """Return which of reference and template has changed; of both the reference."""
        judge_set, question = self._judge_set(name, version), self.bench.by_id.get(key)
        if judge_set is None or question is None or turn > len(question.turns) or template is None:
            return None
        match = Match(question, turn, ("",) * models, criterion)
        kept_away = reference == NO_REFERENCE
        if reference is None and {question.category, ANY} & judge_set.references.required:
            kept_away = True  # else it could not have been judged
        stated = None if reference == NO_REFERENCE else reference
        equal = False
        for author in self._authors(NO_REFERENCE if kept_away else None, stated):
            try:
                shape = self._prompts(name, version, author).shape(match)
            except TurnbenchError:  # no such reference, or no template for the turn any more
                return None
            equal = equal or shape.reference == stated
            if is_older(version, judge_set.version):
                shape = shape._replace(template=template)
            if shape == (stated, template):
                return None
        return "template" if equal else "reference"

    def _authors(self, stated: str | None, reference: str | None) -> list[str | None]:
        """Return whose references a row may show: those that are stated, else anybody's."""
        if self._reference is not None or stated is not None:
            return [self._reference or stated]
        files = list(self.bench.reference_files())
        if reference is None:
            return [*files[:1]] or [None]
        return [*files, *(name for name in self.bench.answered_models() if name not in files)]

    def _make_prompts(self, name: str, version: str, author: str | None) -> Prompts:
        judge_set = self._judge_set(name, version)
        assert judge_set is not None
        if author == NO_REFERENCE:
            judge_set, author = judge_set.without_references(), None
        if not (judge_set.references.required or judge_set.references.if_any):
            author = None
        return make_prompts(self.bench, judge_set, {}, self.bench.questions, author)


_CAUSES = {
    UNKNOWN: "are of questions that the benchmark lacks",
    "question": "are of questions that were changed since",
    "answers": "are of answers that were replaced since",
    "reference": "were made beside another reference than today's",
    "template": "were made with other prompts than the judge set has now",
}


def split_gone(left_out: Mapping[str, int]) -> tuple[Counter[str], Counter[str]]:
    """Return the judgments of questions that are gone, and those that are to be made again.

    >>> split_gone({"no such question": 2, "answers": 40})
    (Counter({'no such question': 2}), Counter({'answers': 40}))
    """
    gone = {cause: number for cause, number in left_out.items() if cause == UNKNOWN}
    return Counter(gone), Counter(left_out) - Counter(gone)


def in_words(left_out: Mapping[str, int]) -> list[str]:
    """Return why judgments are left out, each cause once, and what makes them again.

    >>> in_words({"answers": 40})
    ['40 judgments are of answers that were replaced since; gen_judgment makes them again']
    """
    counts = Counter[str]()
    for cause, number in left_out.items():
        counts[cause.split(", ")[0]] += number
    texts = []
    for cause, words in _CAUSES.items():
        if number := counts[cause]:
            text = (
                f"{number:,} judgments {words}" if number > 1 else f"1 judgment {_singular(words)}"
            )
            again = "" if cause == UNKNOWN else "; gen_judgment makes them again"
            if cause == "question":  # an answer to it is of the old wording too
                again = "; given new answers, gen_judgment makes them again"
            texts.append(text + (again if number > 1 else again.replace("them", "it")))
    return texts


def unchecked_in_words(number: int) -> str:
    """Return that the answers of some judgments cannot be compared with those that were judged.

    >>> unchecked_in_words(40)
    '40 judgments are of answers that are not here: whether they were replaced is unchecked'
    """
    words = "judgments are" if number > 1 else "judgment is"
    return (
        f"{number:,} {words} of answers that are not here: whether they were replaced is unchecked"
    )


def _singular(words: str) -> str:
    return {"are": "is", "were": "was"}[words.split()[0]] + words[words.index(" ") :]


def _numbers(version: str) -> list[int] | None:
    try:
        return [int(number) for number in version.split(".")]
    except ValueError:
        return None


def is_older(version: str, than: str) -> bool:
    """Return whether a version is an earlier one; versions that are not numbers are only different.

    >>> is_older("1", "2"), is_older("1.9", "1.10"), is_older("b0b805e4", "2")
    (True, True, False)
    """
    first, second = _numbers(version), _numbers(than)
    return first is not None and second is not None and first < second
