"""What a metric is: a function of one turn of one answer, and everything that shapes its numbers.

MeasuredTurn(question, 1, ("The cat sat.",), "A cat sat down.")  ─▶  Measured(0.31, {"bleu_1": 0.5})
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.errors import UsageError
from harness.options import MetricOptions
from harness.types import MadeFrom, Question, content_hash

Numbers = Mapping[str, float | None]
"""Numbers by name; None where one is not defined, such as the share of word pairs of one word."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How metrics are to be computed."""

    language: str = "en"
    """The language of the texts, as `bench.toml` names it."""
    options: MetricOptions = MetricOptions()  # noqa: RUF009  (frozen)
    device: str | None = None
    """Where the models of metrics run; None: on a GPU if there is one."""
    batch_size: int = 8
    dimensions: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For UniEval: what to ask in each category, and nothing in others; empty: the same in all."""
    run_code: bool = False
    """Whether checks may run code that models wrote."""


@dataclass(frozen=True, slots=True)
class MeasuredTurn:
    """What is measured: one turn of one answer."""

    question: Question
    turn: int
    """The first is 1."""
    answers: Sequence[str]
    """The answer's turns up to this one, which is the last."""
    reference: str | None = None
    """This turn of the reference answer."""
    model: str = ""
    """Whose answer it is."""
    choice: int = 0

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
    checks: list[dict[str, Any]] = field(default_factory=list)
    """Of the metric `checks`: what became of each."""


@dataclass(frozen=True)
class Metric:
    """A metric, ready to measure."""

    name: str
    measure: Callable[[Sequence[MeasuredTurn]], Iterable[Measured]]
    """Measures items in their order."""
    variant: str = "default"
    tokenizer: str | None = None
    """What makes tokens of the texts."""
    library: str | None = None
    """Whose numbers they are, with the version, such as `sacrebleu 2.6.0`."""
    needs_reference: bool = False
    """Whether items without a reference are left out."""
    reads_reference: bool = False
    """Whether some of its numbers need the reference, though it does without."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Further settings that affect the numbers, as JSON values."""
    applies: Callable[[Question, int], bool] = lambda question, turn: True
    """Whether it is for a turn of a question."""
    shaped_by: Callable[[Question, int], Any] | None = None
    """Further fields of a question that affect a turn's number, as a JSON value."""

    def made_from(self, item: MeasuredTurn) -> MadeFrom:
        """Return what an item's number is made from: the texts, and what defines the metric."""
        content = content_hash(
            self.name, self.variant, self.tokenizer, self.library, dict(self.parameters)
        )
        if self.shaped_by is not None:
            content = content_hash(content, self.shaped_by(item.question, item.turn))
        reads = (self.needs_reference or self.reads_reference) and item.reference is not None
        return MadeFrom(
            question=item.question.hash,
            conversation=content_hash(*item.answers),
            reference=content_hash(item.reference) if reads else None,
            metric=content,
        )

    def __call__(self, question: str, answer: str, reference: str | None = None) -> Measured:
        """Return the metric's result for one answer to one question."""
        row = Question(question_id=0, category="none", turns=[question])
        return next(iter(self.measure([MeasuredTurn(row, 1, (answer,), reference)])))


def of_texts(
    function: Callable[[str, str], Numbers], main: str, name: str = "", **more: Any
) -> Metric:
    """Return the metric that applies a function to answer and reference; `main` names its value."""

    def measure(items: Sequence[MeasuredTurn]) -> Iterable[Measured]:
        for item in items:
            values = function(item.answer, item.reference or "")
            note = None
            if values[main] is None:
                note = "not defined for this text" if item.answer.strip() else "the answer is empty"
            yield Measured(values[main], values if len(values) > 1 else {}, note)

    return Metric(name or main, measure, **more)


def versions(*libraries: str) -> str:
    """Return installed libraries with their versions, such as `sacrebleu 2.6.0`.

    Raises:
        UsageError: one is not installed.
    """
    from importlib.metadata import PackageNotFoundError, version

    try:
        return ", ".join(f"{name} {version(name)}" for name in libraries)
    except PackageNotFoundError as error:
        raise UsageError(
            f"the package {error.name} is missing: pip install 'turnbench[colossalai]'"
        ) from None
