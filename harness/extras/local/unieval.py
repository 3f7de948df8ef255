"""UniEval of one answer (Zhong et al., EMNLP 2022): a T5 model is asked a yes/no question about it.

    "question: Is this ...? </s> response: It rains. </s> ..."
    p(Yes) = sigmoid(logit of "Yes" - logit of "No")

The logits are those of the first token that the model would write. The sigmoid equals p(Yes) /
(p(Yes) + p(No)), and is a number where both vanish. The questions are a TOML file, one line for
each dimension of each task:

    name = "my_questions"
    [tasks.summarization]
    consistency = "question: Is this claim ...? </s> claim: {sentence} </s> document: {source}"
    engagingness = { ask = "... {sentence} ...", sentences = "sum" }

With `{sentence}` each sentence of the answer is asked about, and the mean is taken, or the sum.
"""

import functools
import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

from msgspec import Struct

from harness import store
from harness.errors import DataError, UsageError
from harness.extras.local.checkpoint import Checkpoint, computing, find, in_batches, versions
from harness.metrics import Item, Measured, Metric, Setup
from harness.types import Question

SHIPPED = pathlib.Path(__file__).with_name("unieval.toml")
LONGEST = 1024
"""Tokens that the model reads of a text, as in the original; the rest is cut off."""
_SLOT = re.compile(r"\{(\w+)\}")
_SLOTS = ("answer", "sentence", "source", "reference", "context")


class Dimension(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that is asked about an answer."""

    ask: str
    sentences: Literal["mean", "sum"] | None = None
    """How the sentences' numbers are combined."""
    task: str = ""
    name: str = ""

    @property
    def key(self) -> str:
        """How users name it: `dialogue/naturalness`."""
        return f"{self.task}/{self.name}"

    @property
    def slots(self) -> set[str]:
        """What its text holds."""
        return set(_SLOT.findall(self.ask))


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    tasks: dict[str, dict[str, str | Dimension]]


def load_questions(path: pathlib.Path) -> tuple[str, dict[str, Dimension]]:
    """Return the name of a file of questions, and its dimensions by key.

    Raises:
        DataError: it cannot be read, or is invalid.
    """
    file = store.read_toml(path, _File)
    found: dict[str, Dimension] = {}
    for task, dimensions in file.tasks.items():
        for name, asked in dimensions.items():
            ask, sentences = (
                (asked, None) if isinstance(asked, str) else (asked.ask, asked.sentences)
            )
            one = Dimension(ask, sentences, task, name)
            for slot in sorted(one.slots - set(_SLOTS)):
                known = ", ".join(f"{{{each}}}" for each in _SLOTS)
                raise DataError(f"{one.key}: {{{slot}}} is no placeholder; there are {known}", path)
            if ("sentence" in one.slots) == ("answer" in one.slots):
                raise DataError(f"{one.key}: must hold one of {{answer}} and {{sentence}}", path)
            if sentences and "sentence" not in one.slots:
                raise DataError(f"{one.key}: sentences = {sentences!r} needs {{sentence}}", path)
            found[one.key] = one
    return file.name, found


def metric(setup: Setup) -> Metric:
    """Return UniEval with the checkpoints and questions of the set-up.

    Raises:
        UsageError: no checkpoint is named, one cannot be used, or a dimension is unknown.
        DataError: the file of questions is invalid.
    """
    if setup.language != "en":
        raise UsageError(
            f"unieval is for English, these texts are {setup.language!r}; with a checkpoint and "
            "questions of your own for that language, say --language en"
        )
    places = dict(_place(text) for text in setup.options.unieval_model)
    if not places:
        raise UsageError(
            "unieval needs a checkpoint: --unieval-model TASK=DIR_OR_REPO, such as "
            "dialogue=MingZhong/unieval-dialog"
        )
    name, known = load_questions(setup.options.unieval_questions or SHIPPED)
    dimensions = _chosen(known, places, setup)
    models = {place: _YesNo(find(place), setup) for place in dict.fromkeys(places.values())}
    asked = {one: models[places.get(one.task) or places["*"]] for one in dimensions}
    by_category = setup.dimensions
    return Metric(
        "unieval",
        _UniEval(asked, setup).measure,
        variant=name,
        tokenizer=", ".join(dict.fromkeys(model.checkpoint.name for model in asked.values())),
        library=versions(),
        parameters={
            one.key: [one.ask, _combined(one), model.checkpoint.identity]
            for one, model in asked.items()
        },
        applies=lambda question, turn: not by_category or bool(by_category.get(question.category)),
        shaped_by=lambda question, turn: (
            [_context(question), sorted(by_category[question.category])]
            if by_category
            else _context(question)
        ),
        reads_reference=any("reference" in one.slots for one in dimensions),
    )


class _UniEval:
    """The answers of one or more models to yes/no questions about items."""

    def __init__(self, asked: Mapping[Dimension, "_YesNo"], setup: Setup) -> None:
        self._asked, self._size, self._by_category = asked, setup.batch_size, setup.dimensions

    def measure(self, items: Sequence[Item]) -> Iterator[Measured]:
        """Yield the numbers of each item by dimension, and their mean as its value."""
        for start in range(0, len(items), self._size):
            batch = items[start : start + self._size]
            found: list[dict[Dimension, float | None]] = [{} for _ in batch]
            for one, model in self._asked.items():
                places = [n for n, item in enumerate(batch) if self._is_asked(one, item.question)]
                column = _column(one, model, [batch[place] for place in places])
                for place, number in zip(places, column, strict=True):
                    found[place][one] = number
            yield from map(_measured, batch, found)

    def _is_asked(self, one: Dimension, question: Question) -> bool:
        by_category = self._by_category
        return not by_category or one.key in by_category.get(question.category, ())


class _YesNo:
    """A model that answers "Yes" or "No" with its first token."""

    def __init__(self, checkpoint: Checkpoint, setup: Setup) -> None:
        self.checkpoint = checkpoint
        self._device, self._size = setup.device, setup.batch_size
        self._yes, self._no = _answers(checkpoint)
        start = getattr(checkpoint.config, "decoder_start_token_id", None)
        if start is None:
            raise UsageError(f"{checkpoint.name} is no encoder-decoder model such as T5")
        self._start = int(start)

    def shares_of_yes(self, texts: list[str]) -> list[float]:
        """Return p(Yes) of each text, against p(No)."""
        return in_batches(self._size, texts, self._batch)

    def _batch(self, texts: list[str]) -> list[float]:
        import torch

        encoded = self.checkpoint.tokenizer(
            texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
        ).to(self._model.device)
        with computing(self._size):
            first = torch.full((len(texts), 1), self._start, device=self._model.device)
            logits = self._model(
                input_ids=encoded["input_ids"],
                attention_mask=encoded["attention_mask"],
                decoder_input_ids=first,
            ).logits[:, 0]
            gaps = (logits[:, self._yes] - logits[:, self._no]).double()
            shares: list[float] = torch.sigmoid(gaps).tolist()
        return shares

    @functools.cached_property
    def _model(self) -> Any:
        return self.checkpoint.load("AutoModelForSeq2SeqLM", self._device)


def _answers(checkpoint: Checkpoint) -> tuple[int, int]:
    """Return the tokens of "Yes" and "No".

    Where both begin with one token, such as a mark for a word's beginning, every number would be
    0.5; a model without a token for each of them answers nothing with its first one.
    """
    tokenizer = checkpoint.tokenizer
    yes, no = (tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("Yes", "No"))
    if len(yes) != 1 or len(no) != 1 or yes == no or tokenizer.unk_token_id in (*yes, *no):
        raise UsageError(
            f'{checkpoint.name} cannot answer "Yes" or "No": its tokenizer has no token for each'
        )
    return yes[0], no[0]


def _place(text: str) -> tuple[str, str]:
    """Return the task (`*`: all others) and the checkpoint of `[TASK=]DIR_OR_REPO`."""
    task, equals, place = text.partition("=")
    return (task, place) if equals else ("*", text)


def _chosen(
    known: Mapping[str, Dimension], places: Mapping[str, str], setup: Setup
) -> list[Dimension]:
    """Return the dimensions that are asked about: those named, else all that have a model."""
    tasks = list(dict.fromkeys(one.task for one in known.values()))
    for task in places:
        if task not in (*tasks, "*"):
            raise UsageError(
                f"--unieval-model {task}=...: no such task; there are {', '.join(tasks)}"
            )
    named = [*setup.options.dimension, *(key for own in setup.dimensions.values() for key in own)]
    for key in named:
        if key not in known:
            raise UsageError(f"no dimension {key!r}; there are {', '.join(known)}")
    keys = dict.fromkeys(named) or [
        k for k, one in known.items() if one.task in places or "*" in places
    ]
    without = [key for key in keys if known[key].task not in places and "*" not in places]
    if without:
        raise UsageError(
            f"no checkpoint for {', '.join(without)}; name one: --unieval-model TASK=DIR_OR_REPO"
        )
    return [known[key] for key in keys]


def _combined(one: Dimension) -> str | None:
    return (one.sentences or "mean") if "sentence" in one.slots else None


def _column(one: Dimension, model: _YesNo, items: Sequence[Item]) -> list[float | None]:
    """Return a dimension's number for each item; None where a text that it needs is missing."""
    prompts = [_prompts(one, item, str(model.checkpoint.tokenizer.eos_token)) for item in items]
    numbers = iter(model.shares_of_yes([text for texts in prompts for text in texts]))
    found = [list(islice(numbers, len(texts))) for texts in prompts]
    whole = _combined(one) == "sum"
    return [sum(own) / (1 if whole else len(own)) if own else None for own in found]


def _prompts(one: Dimension, item: Item, separator: str) -> list[str]:
    """Return the texts that a model is asked about an item."""
    if list(_missing(one, item)):
        return []
    # An answer that brought the end of a part would write the rest of the question itself.
    values = {name: (_part(name, item) or "").replace(separator, " ") for name in _SLOTS}
    parts = [values["sentence"]]
    if "sentence" in one.slots:
        from sentencex import segment

        parts = [part.strip() for part in segment("en", values["answer"]) if part.strip()]
    found = []
    for part in parts:
        values["sentence"] = part
        found.append(_SLOT.sub(lambda match: values[match[1]], one.ask))
    return found


def _part(name: str, item: Item) -> str | None:
    if name == "source":
        turns = item.question.turns
        before = [text for pair in zip(turns, item.answers[:-1], strict=False) for text in pair]
        return "\n".join([*before, turns[item.turn - 1]])
    if name == "context":
        return _context(item.question)
    return item.reference if name == "reference" else item.answer


def _context(question: Question) -> str | None:
    context = question.extra.get("context")
    return context if isinstance(context, str) else None


def _missing(one: Dimension, item: Item) -> Iterator[str]:
    """Yield what a dimension needs and an item lacks."""
    for slot in sorted(one.slots):
        if not (_part(slot, item) or "").strip():
            yield "answer" if slot == "sentence" else slot


def _measured(item: Item, numbers: Mapping[Dimension, float | None]) -> Measured:
    values = {f"{one.task}_{one.name}": number for one, number in numbers.items()}
    known = [number for number in values.values() if number is not None]
    if known and len(known) == len(values):
        return Measured(sum(known) / len(known), values)
    missing = {
        slot for one, value in numbers.items() if value is None for slot in _missing(one, item)
    }
    return Measured(None, values, f"there is no {' and no '.join(sorted(missing) or ['sentence'])}")
