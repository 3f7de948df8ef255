"""The answers that are judged: of each what a plan needs; its texts are read when they are shown.

    answers = JudgedAnswers(bench, "gpt-4o")
    answers.outlines[81].turns      2, from one reading of the file
    answers[81]                     the answer, read again at its place in the file

The texts of many answers would fill the memory, and a run shows a few at a time.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from harness import store
from harness.bench import Bench
from harness.errors import DataError, MissingError
from harness.judging.prompts import replies_shown
from harness.types import Answer, Question, QuestionId


class Outline(Struct, frozen=True, gc=False):
    """What a plan needs to know of an answer."""

    question: str | None
    """The hash of the question that it answers, if the row has one."""
    turns: int
    """Of the first conversation."""
    given: tuple[int, ...]
    """Those turns of it that the model did not write; the first is 1."""
    choices: tuple[int, ...]
    """The conversations."""
    shown: tuple[tuple[int, ...], ...]
    """Of each conversation and turn a hash of the texts that a judge sees, where it compares."""
    offset: int
    length: int

    def wrote(self, question: Question, turn: int) -> bool:
        """Return whether the model itself wrote a turn."""
        if question.user is not None:
            return turn == 1
        return question.given(turn) is None and turn not in self.given

    def texts(self, choice: int, turn: int) -> int:
        """Return the hash of the texts up to a turn; of the first conversation, if there is none.

        Two answers with the same hash are the same text, but for one case in 10^19.
        """
        shown = self.shown[self.choices.index(choice) if choice in self.choices else 0]
        return shown[min(turn, len(shown)) - 1]


class JudgedAnswers(Mapping[QuestionId, Answer]):
    """A model's answers by question id, as `Bench.answers` gives them."""

    def __init__(self, bench: Bench, model: str, *, compared: bool = False) -> None:
        """Read the file once; `compared`: which answers are equal is asked too."""
        self.bench, self.model, self._compared = bench, model, compared
        self._path = bench.answer_file(model)
        self._packed = self._path.suffix == ".gz"
        self._rows: dict[QuestionId, Answer] = {}
        """Those that are in memory: new ones, and those of a packed file."""
        self.outlines: dict[QuestionId, Outline] = bench.read_answers(model, self._path, self._take)

    def __len__(self) -> int:
        return len(self.outlines)

    def __iter__(self) -> Iterator[QuestionId]:
        return iter(self.outlines)

    def __contains__(self, key: object) -> bool:
        return key in self.outlines

    def __getitem__(self, key: QuestionId) -> Answer:
        outline = self.outlines[key]
        if key in self._rows:
            return self._rows[key]
        place = outline.offset, outline.length
        try:
            answer = store.rows_at(self._path, Answer, [place])[0]
        except DataError:
            answer = None
        if answer is not None and answer.question_id == key:
            return self.bench.as_shown(answer)
        # gen_answer has moved older rows away meanwhile: what is there now is judged.
        self._rows = self.bench.answers(self.model) | self._rows
        if key not in self._rows:
            fault = f"{self._path}: the answer to question {key} is not there any more"
            raise MissingError(f"{fault}; run gen_answer, and then the same command again")
        return self._rows[key]

    def add(self, answer: Answer) -> None:
        """Take in an answer that was made since."""
        self._rows[answer.question_id] = answer
        self.outlines[answer.question_id] = self._outline(answer, 0, 0)

    def leave_out(self, key: QuestionId) -> None:
        """Forget an answer: it is made again."""
        self.outlines.pop(key, None)

    def _take(self, answer: Answer, place: store.Place[Any]) -> Outline:
        if self._packed:
            self._rows[answer.question_id] = answer
        return self._outline(answer, place.offset, place.length)

    def _outline(self, answer: Answer, offset: int, length: int) -> Outline:
        first, made = answer.choices[0], answer.made_from
        field, shown = self.bench.settings.answer_field, list[tuple[int, ...]]()
        for choice in answer.choices if self._compared else ():
            turns = range(1, len(choice.turns) + 1)
            shown.append(tuple(hash(tuple(replies_shown(choice, n, field))) for n in turns))
        return Outline(
            None if made is None else made.question,
            len(first.turns),
            tuple(turn for turn, detail in enumerate(first.details, 1) if detail.given),
            tuple(choice.index for choice in answer.choices),
            tuple(shown),
            offset,
            length,
        )
