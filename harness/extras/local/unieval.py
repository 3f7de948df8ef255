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
            given = Dimension(asked) if isinstance(asked, str) else asked
            by_sentence = "sentence" in given.slots
            combined = given.sentences or ("mean" if by_sentence else None)
            one = Dimension(given.ask, combined, task, name)
            for slot in sorted(one.slots - set(_SLOTS)):
                known = ", ".join(f"{{{each}}}" for each in _SLOTS)
                raise DataError(f"{one.key}: {{{slot}}} is no placeholder; there are {known}", path)
            if by_sentence == ("answer" in one.slots):
                raise DataError(f"{one.key}: must hold one of {{answer}} and {{sentence}}", path)
            if combined and not by_sentence:
                raise DataError(f"{one.key}: sentences = {combined!r} needs {{sentence}}", path)
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

    def measure(items: Sequence[Item]) -> Iterator[Measured]:
        """Yield the numbers of each item by dimension, and their mean as its value."""
        for start in range(0, len(items), setup.batch_size):
            batch = items[start : start + setup.batch_size]
            numbers: list[dict[Dimension, float | None]] = [{} for _ in batch]
            for one, model in asked.items():
                places = [n for n, item in enumerate(batch) if one.key in _keys(item.question)]
                column = _column(one, model, [batch[place] for place in places])
                for place, number in zip(places, column, strict=True):
                    numbers[place][one] = number
            yield from map(_measured, batch, numbers)

    def _keys(question: Question) -> Sequence[str]:
        return by_category.get(question.category, ()) if by_category else [*known]

    return Metric(
        "unieval",
        measure,
        variant=name,
        tokenizer=", ".join(dict.fromkeys(model.checkpoint.name for model in asked.values())),
        library=versions(),
        parameters={
            one.key: [one.ask, one.sentences, model.checkpoint.identity]
            for one, model in asked.items()
        },
        applies=lambda question, turn: bool(_keys(question)),
        shaped_by=lambda question, turn: [
            _context(question),
            *by_category.get(question.category, ()),
        ],
        reads_reference=any("reference" in one.slots for one in dimensions),
    )


class _YesNo:
    """A model that answers "Yes" or "No" with its first token."""

    def __init__(self, checkpoint: Checkpoint, setup: Setup) -> None:
        """Find the tokens of the two answers.

        Where both begin with one token, such as a mark for a word's beginning, every number would
        be 0.5; a model without a token for each of them answers nothing with its first one.
        """
        self.checkpoint = checkpoint
        self._device, self._size = setup.device, setup.batch_size
        tokenizer = checkpoint.tokenizer
        yes, no = (tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("Yes", "No"))
        if len(yes) != 1 or len(no) != 1 or yes == no or tokenizer.unk_token_id in (*yes, *no):
            raise UsageError(
                f'{checkpoint.name} cannot answer "Yes" or "No": its tokenizer has no token for '
                "each"
            )
        self._yes, self._no = yes[0], no[0]
        self._start = getattr(checkpoint.config, "decoder_start_token_id", None)
        if self._start is None:
            raise UsageError(f"{checkpoint.name} is no encoder-decoder model such as T5")

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


def _place(text: str) -> tuple[str, str]:
    """Return the task (`*`: all others) and the checkpoint of `[TASK=]DIR_OR_REPO`."""
    task, equals, place = text.partition("=")
    return (task, place) if equals else ("*", text)


def _chosen(
    known: Mapping[str, Dimension], places: Mapping[str, str], setup: Setup
) -> list[Dimension]:
    """Return the dimensions that are asked about: those named, else all that have a model."""
    tasks = dict.fromkeys(one.task for one in known.values())
    for task in places:
        if task not in (*tasks, "*"):
            raise UsageError(
                f"--unieval-model {task}=...: no such task; there are {', '.join(tasks)}"
            )
    with_model = [key for key, one in known.items() if one.task in places or "*" in places]
    named = [*setup.options.dimension, *(key for own in setup.dimensions.values() for key in own)]
    for key in named:
        if key not in known:
            raise UsageError(f"no dimension {key!r}; there are {', '.join(known)}")
        if key not in with_model:
            raise UsageError(f"no checkpoint for {key}; name one: --unieval-model TASK=DIR_OR_REPO")
    return [known[key] for key in dict.fromkeys(named or with_model)]


def _column(one: Dimension, model: _YesNo, items: Sequence[Item]) -> list[float | None]:
    """Return a dimension's number for each item; None where a text that it needs is missing."""
    prompts = [_prompts(one, item, str(model.checkpoint.tokenizer.eos_token)) for item in items]
    numbers = iter(model.shares_of_yes([text for texts in prompts for text in texts]))
    found = [list(islice(numbers, len(texts))) for texts in prompts]
    return [
        sum(own) / (1 if one.sentences == "sum" else len(own)) if own else None for own in found
    ]


def _prompts(one: Dimension, item: Item, separator: str) -> list[str]:
    """Return the texts that a model is asked about an item; none where a part is missing."""
    # An answer that brought the end of a part would write the rest of the question itself.
    values = {name: text.replace(separator, " ") for name, text in _texts(item).items()}
    if not all(values[slot].strip() for slot in one.slots):
        return []
    parts = [values["answer"]]
    if one.sentences:
        from sentencex import segment

        parts = [part.strip() for part in segment("en", values["answer"]) if part.strip()]
    return [_filled(one.ask, {**values, "sentence": part}) for part in parts]


def _filled(ask: str, values: Mapping[str, str]) -> str:
    return _SLOT.sub(lambda match: values[match[1]], ask)


def _texts(item: Item) -> dict[str, str]:
    """Return what fills each slot; "" where it is missing."""
    turns = item.question.turns
    before = [text for pair in zip(turns, item.answers[:-1], strict=False) for text in pair]
    return {
        "answer": item.answer,
        "sentence": item.answer,
        "source": "\n".join([*before, turns[item.turn - 1]]),
        "reference": item.reference or "",
        "context": _context(item.question),
    }


def _context(question: Question) -> str:
    context = question.extra.get("context")
    return context if isinstance(context, str) else ""


def _measured(item: Item, numbers: Mapping[Dimension, float | None]) -> Measured:
    values = {f"{one.task}_{one.name}": number for one, number in numbers.items()}
    known = [number for number in values.values() if number is not None]
    if known and len(known) == len(values):
        return Measured(sum(known) / len(known), values)
    texts = _texts(item)
    needed = {slot for one in numbers for slot in one.slots if not texts[slot].strip()}
    missing = sorted(needed - {"sentence"} | ({"answer"} if "sentence" in needed else set()))
    return Measured(None, values, f"there is no {' and no '.join(missing)}")
