"""What a metric is: a function of one turn of one answer that returns numbers, and all that shapes them.

    Item(question, 1, ("The cat sat.",), "A cat sat down.")  ─▶  Measured(0.31, {"bleu_1": 0.5, ..., "bleu_4": 0.31})

A metric that works on one item at a time is lifted by `each`; one that works in batches takes all items itself.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.old.metrics.tokens import TOKENIZERS, Tokens
from harness.old.records import Question, content_hash

Numbers = Mapping[str, float | None]
"""Numbers by name; None where a number is not defined, such as the bigrams' share of a text of one word."""


@dataclass(frozen=True, slots=True)
class Item:
    """What is measured: one turn of one answer."""

    question: Question
    turn: int
    """The first is 1."""
    answers: tuple[str, ...]
    """The answer's turns up to this one, which is the last."""
    reference: str | None = None
    """This turn of the reference answer; None where there is none."""

    @property
    def answer(self) -> str:
        """The turn that is measured."""
        return self.answers[-1]


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric's result for an item."""

    value: float | None
    """The main number; None where it is not defined."""
    values: Numbers = field(default_factory=dict)
    """All numbers by name, where there are several."""
    note: str | None = None
    """Why a number is None, or what else a reader should know."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the row, the metric's own."""


Measure = Callable[[Sequence[Item]], Iterable[Measured]]
"""Measures items in order, lazily if each can be written as soon as it is computed."""


@dataclass(frozen=True)
class Metric:
    """A metric, ready to measure."""

    name: str
    """What `--metrics` calls it; also its file's name."""
    measure: Measure
    variant: str = "default"
    tokenizer: str | None = None
    """What makes tokens of the texts; None where nothing does."""
    library: str | None = None
    """Whose numbers they are, with the version, such as `sacrebleu 2.6.0`; None: computed here."""
    needs_reference: bool = False
    """Whether items without a reference are left out."""
    reads_reference: bool = False
    """Whether some of its numbers are of the reference, though it does without."""
    overlap: bool = False
    """Whether it measures overlap of answer and reference, which says little if there is no single right
    answer."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Further settings that affect the numbers, as JSON values: a checkpoint, its questions."""
    applies: Callable[[Question, int], bool] = lambda question, turn: True
    """Whether it is for a turn of a question."""
    shaped_by: Callable[[Question, int], Any] | None = None
    """Further fields of a question that affect a turn's number, as a JSON value."""
    lacks: Callable[[Question, str | None], Collection[str]] | None = None
    """What it cannot do without and neither the question nor its reference has, where that is more than a reference."""

    def lacking(self, question: Question, reference: str | None) -> Collection[str]:
        """Return what is missing in a question, such as `reference`; nothing if it can be measured."""
        if self.lacks is not None:
            return self.lacks(question, reference)
        return () if not self.needs_reference or (reference or "").strip() else ("reference",)

    @property
    def content(self) -> str:
        """The hash of the definition of the numbers, apart from question, answer and reference."""
        return content_hash(self.name, self.variant, self.tokenizer, self.library, dict(self.parameters))

    def content_for(self, question: Question, turn: int) -> str:
        """Return the hash of what defines the number of one turn."""
        return self.content if self.shaped_by is None else content_hash(self.content, self.shaped_by(question, turn))

    def __call__(self, question: str, answer: str, reference: str | None = None) -> Measured:
        """Return the metric's result for one answer to one question."""
        item = Item(Question(0, "unstated", (question,)), 1, (answer,), reference)
        return next(iter(self.measure([item])))


def each(function: Callable[[Item], Measured]) -> Measure:
    """Return a measure that applies a function to one item at a time."""
    return lambda items: map(function, items)


def of_texts(function: Callable[[str, str], Numbers], main: str, *, compared: bool = True) -> Measure:
    """Return a measure that applies a function to answer and reference; `main` is the name of the main number.

    `compared`: whether the reference is used, and may be the reason for a missing number.
    """
    return each(lambda item: _measured(item, function(item.answer, item.reference or ""), main, compared=compared))


def of_tokens(
    name: str, function: Callable[[Tokens, Tokens], Numbers], main: str, tokenizer: str | None, **more: Any
) -> Metric:
    """Return the metric that applies a function to the tokens of answer and reference (default: words)."""
    tokenizer = tokenizer or "words"
    cut = TOKENIZERS[tokenizer]
    compared = bool(more.get("needs_reference"))
    measure = of_texts(lambda answer, reference: function(cut(answer), cut(reference)), main, compared=compared)
    return Metric(name, measure, tokenizer=tokenizer, **more)


def of_pairs(function: Callable[[Sequence[tuple[str, str]]], Iterable[Numbers]], main: str) -> Measure:
    """Return a measure that applies a function to all answers with their references at once."""

    def measure(items: Sequence[Item]) -> Iterator[Measured]:
        found = function([(item.answer, item.reference or "") for item in items])
        return (_measured(item, numbers, main) for item, numbers in zip(items, found, strict=True))

    return measure


def _measured(item: Item, values: Numbers, main: str, *, compared: bool = True) -> Measured:
    note = None
    if values[main] is None:
        if compared:
            note = "not defined for this text" if (item.reference or "").strip() else "the reference is empty"
        else:
            note = "the answer is too short" if item.answer.strip() else "the answer is empty"
    return Measured(values[main], values if len(values) > 1 else {}, note)
