"""The questions that UniEval asks its model: a TOML file, one line for each dimension of each task.

    [tasks.summarization]
    consistency = "question: Is this claim ...? </s> claim: {sentence} </s> document: {source}"
    engagingness = { ask = "... {sentence} ...", sentences = "sum" }

`{sentence}` asks about each sentence of the answer, and the mean is taken, or the sum where the file says so.
"""

import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.errors import DataError, UsageError
from harness.judging.template import Template
from harness.written import nearest, read_toml

SHIPPED = pathlib.Path(__file__).with_name("unieval.toml")
STAND_IN = "stand-in"
"""The name of the shipped questions, which the published checkpoints were not trained on."""
PLACEHOLDERS = frozenset({"answer", "sentence", "source", "reference", "context"})
_SENTENCES = ("mean", "sum")


@dataclass(frozen=True, slots=True)
class Dimension:
    """One thing that is asked about an answer."""

    task: str
    name: str
    ask: str
    """The text with its placeholders, as the file has it."""
    template: Template
    sentences: Literal["mean", "sum"] | None = None
    """What is made of the sentences' numbers; None: the answer is asked about as a whole."""

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


def load_questions(path: pathlib.Path | None = None) -> Questions:
    """Return the questions of a file, checked; the shipped ones without a file.

    Raises:
        DataError: it cannot be read, or does not hold what it must.
    """
    path = path or SHIPPED
    table = read_toml(path)
    for key in table:
        if key not in ("name", "tasks"):
            raise DataError(f"unknown key {key!r}; {nearest(key, ['name', 'tasks'])}", path=path)
    name, tasks = table.get("name"), table.get("tasks")
    if not isinstance(name, str) or not name.strip():
        raise DataError(
            'lacks a name, such as name = "my_questions"; it tells the numbers of two wordings apart', path=path
        )
    if not isinstance(tasks, dict) or not tasks or not all(isinstance(of, dict) and of for of in tasks.values()):
        raise DataError("lacks questions: a table [tasks.TASK] with a line for each dimension", path=path)
    dimensions = [_dimension(task, one, value, path) for task, of in tasks.items() for one, value in of.items()]
    return Questions(name, path, tuple(dimensions))


def _dimension(task: str, name: str, value: Any, path: pathlib.Path) -> Dimension:
    """Return the dimension on a line, or raise `DataError`."""
    where = f"{task}/{name}"
    ask, sentences = _parts(value, where, path)
    try:
        template = Template.parse(ask, PLACEHOLDERS)
    except ValueError as error:
        known = ", ".join(f"{{{one}}}" for one in sorted(PLACEHOLDERS))
        raise DataError(f"{where}: {{{error.args[0]}}} stands for nothing; there are {known}", path=path) from None
    by_sentence = "sentence" in template.names
    if by_sentence == ("answer" in template.names):
        raise DataError(f"{where}: must hold one of {{answer}} and {{sentence}}", path=path)
    if sentences is not None and not by_sentence:
        raise DataError(f"{where}: sentences = {sentences!r} needs {{sentence}} in the text", path=path)
    level: Any = (sentences or "mean") if by_sentence else None
    return Dimension(task, name, ask, template, level)


def _parts(value: Any, where: str, path: pathlib.Path) -> tuple[str, str | None]:
    table: Mapping[str, Any] = {"ask": value} if isinstance(value, str) else value if isinstance(value, dict) else {}
    for key in table:
        if key not in ("ask", "sentences"):
            raise DataError(f"{where}: unknown key {key!r}; {nearest(key, ['ask', 'sentences'])}", path=path)
    ask, sentences = table.get("ask"), table.get("sentences")
    if not isinstance(ask, str) or not ask.strip():
        raise DataError(f'{where}: must be a text, or {{ ask = "...", sentences = "sum" }}', path=path)
    if sentences is not None and sentences not in _SENTENCES:
        raise DataError(f"{where}: sentences must be mean or sum, this is {sentences!r}", path=path)
    return ask, sentences
