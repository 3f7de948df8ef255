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

import pathlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct

from harness import store
from harness.errors import DataError, UsageError
from harness.extras.local.checkpoint import TextModel
from harness.metrics import Measured, MeasuredTurn, Metric, Setup
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

    @property
    def slots(self) -> set[str]:
        """What its text holds."""
        return set(_SLOT.findall(self.ask))

    def prompts(self, item: MeasuredTurn, separator: str) -> list[str]:
        """Return the texts that a model is asked about an item; none where a part is missing."""
        # An answer that brought the end of a part would write the rest of the question itself.
        values = {name: text.replace(separator, " ") for name, text in _texts(item).items()}
        if not all(values[slot].strip() for slot in self.slots):
            return []
        parts = [values["answer"]]
        if self.sentences:
            from sentencex import segment

            parts = [part.strip() for part in segment("en", values["answer"]) if part.strip()]
        texts = [values | {"sentence": part} for part in parts]
        return [_SLOT.sub(lambda match: text[match[1]], self.ask) for text in texts]  # noqa: B023

    def combined(self, shares: Sequence[float]) -> float | None:
        """Return the number of an item; None where nothing was asked."""
        if not shares:
            return None
        return sum(shares) / (1 if self.sentences == "sum" else len(shares))


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    tasks: dict[str, dict[str, str | Dimension]]


def load_questions(path: pathlib.Path) -> tuple[str, dict[str, Dimension]]:
    """Return the name of a file of questions, and its dimensions by key.

    Raises:
        DataError: it cannot be read, or is invalid.
    """
    file = store.read_toml(path, _File)
    dimensions: dict[str, Dimension] = {}
    for task, entries in file.tasks.items():
        for name, entry in entries.items():
            key, dim = f"{task}/{name}", Dimension(entry) if isinstance(entry, str) else entry
            texts = dim.slots & {"answer", "sentence"}
            if len(texts) != 1 or dim.slots - set(_SLOTS) or (dim.sentences and "answer" in texts):
                raise DataError(
                    f"{key}: must hold either {{answer}} or, as `sentences` needs, {{sentence}}; "
                    "there are {source}, {reference} and {context} as well",
                    path,
                )
            combined = dim.sentences or ("mean" if "sentence" in texts else None)
            dimensions[key] = Dimension(dim.ask, combined)
    return file.name, dimensions


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
    if not setup.options.unieval_model:
        raise UsageError(
            "unieval needs a checkpoint: --unieval-model TASK=DIR_OR_REPO, such as "
            "dialogue=MingZhong/unieval-dialog"
        )
    name, dimensions = load_questions(setup.options.unieval_questions or SHIPPED)
    places = _places(dimensions, setup)
    models = {place: _YesNo(place, setup) for place in dict.fromkeys(places.values())}
    by_category = setup.dimensions

    chosen = {key: (dimensions[key], models[place]) for key, place in places.items()}

    def keys(question: Question) -> Sequence[str]:
        return by_category.get(question.category, ()) if by_category else [*chosen]

    def measure(items: Sequence[MeasuredTurn]) -> Iterator[Measured]:
        """Yield the numbers of each item by dimension, and their mean as its value."""
        for start in range(0, len(items), setup.batch_size):
            batch = items[start : start + setup.batch_size]
            numbers: list[dict[str, float | None]] = [{} for _ in batch]
            for key, (dim, model) in chosen.items():
                prompts = {
                    n: dim.prompts(item, model.separator)
                    for n, item in enumerate(batch)
                    if key in keys(item.question)
                }
                shares = model.shares_of_yes([text for texts in prompts.values() for text in texts])
                for n, texts in prompts.items():
                    numbers[n][key] = dim.combined([shares[text] for text in texts])
            yield from map(_measured, numbers)

    return Metric(
        "unieval",
        measure,
        variant=name,
        tokenizer=", ".join(models),
        library=next(iter(models.values())).library,
        parameters={
            key: [dim.ask, dim.sentences, model.checkpoint.identity]
            for key, (dim, model) in chosen.items()
        },
        applies=lambda question, turn: bool(keys(question)),
        shaped_by=lambda question, turn: [
            _context(question),
            *by_category.get(question.category, ()),
        ],
        reads_reference=any("reference" in dim.slots for dim, _ in chosen.values()),
    )


class _YesNo(TextModel):
    """A model that answers "Yes" or "No" with its first token."""

    def __init__(self, place: str, setup: Setup) -> None:
        """Find the tokens of the two answers.

        Where both begin with one token, such as a mark for a word's beginning, every number would
        be 0.5; a model without a token for each of them answers nothing with its first one.
        """
        super().__init__(place, "AutoModelForSeq2SeqLM", setup)
        tokenizer = self.checkpoint.tokenizer
        yes, no = (tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("Yes", "No"))
        if len(yes) != 1 or len(no) != 1 or yes == no or tokenizer.unk_token_id in (*yes, *no):
            raise UsageError(
                f'{place} cannot answer "Yes" or "No": its tokenizer has no token for each'
            )
        self._yes, self._no = yes[0], no[0]
        self.separator = str(tokenizer.eos_token)
        """What ends a part of a question."""

    def shares_of_yes(self, texts: list[str]) -> dict[str, float]:
        """Return p(Yes) of each text, against p(No)."""
        texts = list(dict.fromkeys(texts))
        return dict(zip(texts, self.read(texts, LONGEST, self._shares), strict=True))

    def _shares(self, model: Any, encoded: Any) -> list[float]:
        import torch

        ids = encoded["input_ids"]
        logits = model(
            input_ids=ids,
            attention_mask=encoded["attention_mask"],
            decoder_input_ids=torch.full(
                (len(ids), 1), model.config.decoder_start_token_id, device=ids.device
            ),
        ).logits[:, 0]
        gaps = (logits[:, self._yes] - logits[:, self._no]).double()
        shares: list[float] = torch.sigmoid(gaps).tolist()
        return shares


def _places(dimensions: Mapping[str, Dimension], setup: Setup) -> dict[str, str]:
    """Return each dimension that is asked about, and the checkpoint that answers.

    Those are the ones named, else all that have a checkpoint: `[TASK=]DIR_OR_REPO`, without TASK
    for all other tasks.
    """
    tasks = dict.fromkeys(key.partition("/")[0] for key in dimensions)
    by_task: dict[str, str] = {}
    for text in setup.options.unieval_model:
        task, place = text.split("=", 1) if "=" in text else ("", text)
        if task not in ("", *tasks):
            raise UsageError(f"--unieval-model {text}: the tasks are {', '.join(tasks)}")
        by_task[task] = place
    both = ((key, by_task.get(key.partition("/")[0], by_task.get(""))) for key in dimensions)
    places = {key: place for key, place in both if place}
    names = [*setup.options.dimension, *(key for keys in setup.dimensions.values() for key in keys)]
    for key in names:
        if key not in dimensions:
            raise UsageError(f"no dimension {key!r}; there are {', '.join(dimensions)}")
        if key not in places:
            raise UsageError(f"no checkpoint for {key}; name one: --unieval-model TASK=DIR_OR_REPO")
    return {key: places[key] for key in dict.fromkeys(names or places)}


def _texts(item: MeasuredTurn) -> dict[str, str]:
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
    return str(question.extra.get("context") or "")


def _measured(numbers: Mapping[str, float | None]) -> Measured:
    values = {key.replace("/", "_"): number for key, number in numbers.items()}
    defined = [number for number in values.values() if number is not None]
    if len(defined) == len(values) > 0:
        return Measured(sum(defined) / len(defined), values)
    missing = ", ".join(key for key, number in numbers.items() if number is None)
    return Measured(None, values, f"a text that is asked about is empty ({missing})")
