"""UniEval's questions to its model: a TOML file, one line for each dimension of each task.

    [tasks.summarization]
    consistency = "question: Is this claim ...? </s> claim: {sentence} </s> document: {source}"
    engagingness = { ask = "... {sentence} ...", sentences = "sum" }

With `{sentence}` the question is asked about each sentence of the answer, and the mean is taken, or the sum if stated.
"""

import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from harness.old.errors import DataError, UsageError
from harness.old.judging.template import Template
from harness.old.written import FILLED, Wanted, decoded, nearest, read_toml

SHIPPED = pathlib.Path(__file__).with_name("unieval.toml")
STAND_IN = "stand-in"
"""The name of the shipped questions, which the published checkpoints were not trained on."""
PLACEHOLDERS = frozenset({"answer", "sentence", "source", "reference", "context"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """The keys of a dimension."""

    ask: Annotated[str, Wanted('a text, or a table such as { ask = "...", sentences = "sum" }', FILLED.fits)]
    sentences: Literal["mean", "sum"] | None = None


_QUESTIONS = Wanted("a table [tasks.TASK] with a line for each dimension", bool)


@dataclass(frozen=True, slots=True)
class _File:
    """The contents of a file of questions."""

    name: Annotated[str, Wanted('a name, such as "my_questions", that distinguishes two wordings', FILLED.fits)]
    tasks: Annotated[Mapping[str, Annotated[Mapping[str, _Asked], _QUESTIONS]], _QUESTIONS]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that is asked about an answer."""

    task: str
    name: str
    ask: str
    """The text with its placeholders, as the file has it."""
    template: Template
    sentences: Literal["mean", "sum"] | None = None
    """How the sentences' numbers are combined; None: the question is about the whole answer."""

    @property
    def key(self) -> str:
        """How users name it: `dialogue/naturalness`."""
        return f"{self.task}/{self.name}"

    @property
    def number(self) -> str:
        """What its number is called: `dialogue_naturalness`."""
        return f"{self.task}_{self.name}"


@dataclass(frozen=True, slots=True)
class Questions:
    """The questions of a file."""

    name: str
    path: pathlib.Path
    dimensions: tuple[Dimension, ...]

    @property
    def tasks(self) -> tuple[str, ...]:
        """The tasks, in the file's order."""
        return tuple(dict.fromkeys(dimension.task for dimension in self.dimensions))

    def of(self, tasks: Iterable[str], keys: Iterable[str]) -> tuple[Dimension, ...]:
        """Return the dimensions of these names, or all of these tasks.

        Raises:
            UsageError: there is no dimension of such a name.
        """
        known = {dimension.key: dimension for dimension in self.dimensions}
        for key in keys:
            if key not in known:
                raise UsageError(f"{self.path} has no dimension {key!r}; {nearest(key, list(known))}")
        chosen = list(dict.fromkeys(keys)) or [key for key, one in known.items() if one.task in set(tasks)]
        return tuple(known[key] for key in chosen)


def load_questions(path: pathlib.Path = SHIPPED) -> Questions:
    """Return the questions of a file, checked.

    Raises:
        DataError: it cannot be read, or is invalid.
    """
    table = dict(read_toml(path))
    if isinstance(table.get("tasks"), dict):
        table["tasks"] = {task: _whole(of) for task, of in table["tasks"].items()}
    found = decoded(table, _File, path)
    dimensions = [_dimension(task, name, one, path) for task, of in found.tasks.items() for name, one in of.items()]
    return Questions(found.name, path, tuple(dimensions))


def _whole(task: Any) -> Any:
    """Return a task's table, a question that is a text alone written out."""
    if not isinstance(task, dict):
        return task
    return {name: {"ask": one} if isinstance(one, str) else one for name, one in task.items()}


def _dimension(task: str, name: str, asked: _Asked, path: pathlib.Path) -> Dimension:
    """Return a dimension, or raise `DataError` where its text does not fit."""
    where = f"{task}/{name}"
    try:
        template = Template.parse(asked.ask, PLACEHOLDERS)
    except ValueError as error:
        known = ", ".join(f"{{{one}}}" for one in sorted(PLACEHOLDERS))
        raise DataError(f"{where}: {{{error.args[0]}}} is not a placeholder; there are {known}", path=path) from None
    by_sentence = "sentence" in template.names
    if by_sentence == ("answer" in template.names):
        raise DataError(f"{where}: must hold one of {{answer}} and {{sentence}}", path=path)
    if asked.sentences is not None and not by_sentence:
        raise DataError(f"{where}: sentences = {asked.sentences!r} needs {{sentence}} in the text", path=path)
    return Dimension(task, name, asked.ask, template, (asked.sentences or "mean") if by_sentence else None)
