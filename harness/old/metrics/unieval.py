"""UniEval of one answer (Zhong et al., EMNLP 2022): a T5 model is asked a yes/no question about it.

    "question: Is this ...? </s> response: It rains. </s> ..."   ─▶   p(Yes) = sigmoid(logit of "Yes" − logit of "No")

The logits are those of the first token that the model would write. The sigmoid equals p(Yes) / (p(Yes) + p(No)), and
is a number where both probabilities vanish. Which questions there are is data: `questions.py`.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from harness.old import checkpoints
from harness.old.errors import UsageError
from harness.old.metrics.metric import Item, Measured, Metric
from harness.old.metrics.questions import SHIPPED, Dimension, load_questions
from harness.old.metrics.setup import Setup
from harness.old.records import Question

LONGEST = 1024
"""Tokens that the model reads of a text, as in the original; the rest is cut off."""
_LANGUAGE = "en"


def metric(setup: Setup) -> Metric:
    """Return UniEval with the checkpoints and questions of the set-up.

    Raises:
        UsageError: no checkpoint is named, one cannot be found or used, or a task or dimension is unknown.
        DataError: the file of questions is not what it must be.
    """
    if setup.language != _LANGUAGE:
        raise UsageError(
            f"unieval is for English, these texts are {setup.language!r}; with a checkpoint and questions of your own "
            "for that language, say --language en"
        )
    if not setup.unieval_models:
        raise UsageError(
            "unieval needs a checkpoint: --unieval-model TASK=DIR_OR_REPO, such as dialogue=MingZhong/unieval-dialog"
        )
    questions = load_questions(setup.unieval_questions or SHIPPED)
    named = setup.unieval_models
    for task in named:
        if task not in (*questions.tasks, "*"):
            known = ", ".join(questions.tasks)
            raise UsageError(f"--unieval-model {task}=...: {questions.path} has no task {task!r}; it has {known}")
    by_category = setup.unieval_categories
    keys = [*setup.unieval_dimensions, *(key for own in by_category.values() for key in own)]
    dimensions = questions.of(questions.tasks if "*" in named else named, keys)
    without = [one.key for one in dimensions if one.task not in named and "*" not in named]
    if without:
        raise UsageError(f"no checkpoint for {', '.join(without)}; name one with --unieval-model TASK=DIR_OR_REPO")
    models_ = {place: YesNo(checkpoints.find(place), setup) for place in dict.fromkeys(named.values())}
    asked = {one: models_[named.get(one.task, named.get("*", ""))] for one in dimensions}
    return Metric(
        "unieval",
        UniEval(asked, setup.batch_size, by_category).measure,
        variant=questions.name,
        tokenizer=", ".join(dict.fromkeys(model.checkpoint.name for model in asked.values())),
        library=checkpoints.versions(),
        parameters={one.key: [one.ask, one.sentences, model.checkpoint.identity] for one, model in asked.items()},
        applies=lambda question, turn: not by_category or bool(by_category.get(question.category)),
        shaped_by=lambda question, turn: (
            [_context(question), sorted(by_category[question.category])] if by_category else _context(question)
        ),
        reads_reference=any("reference" in one.template.names for one in dimensions),
        lacks=lambda question, reference: _lacking(dimensions, by_category, question, reference),
    )


class UniEval:
    """The answers of one or more models to yes/no questions about items."""

    def __init__(
        self, asked: Mapping[Dimension, "YesNo"], batch_size: int, by_category: Mapping[str, Sequence[str]]
    ) -> None:
        self._asked, self._size, self._by_category = asked, batch_size, by_category

    def measure(self, items: Sequence[Item]) -> Iterator[Measured]:
        """Yield the numbers of each item by dimension, and their mean as its value, a batch of items at a time."""
        left = iter(items)
        while batch := list(islice(left, self._size)):
            found: list[dict[Dimension, float | None]] = [{} for _ in batch]
            for one, model in self._asked.items():
                places = [at for at, item in enumerate(batch) if _is_asked(one, item.question, self._by_category)]
                column = self._column(one, model, [batch[place] for place in places])
                for place, number in zip(places, column, strict=True):
                    found[place][one] = number
            yield from map(_measured, batch, found)

    def _column(self, dimension: Dimension, model: "YesNo", items: Sequence[Item]) -> list[float | None]:
        """Return a dimension's number for each item."""
        prompts = [_prompts(dimension, item, model.separator) for item in items]
        numbers = iter(model.shares_of_yes([text for texts in prompts for text in texts]))
        each = [list(islice(numbers, len(texts))) for texts in prompts]
        return [sum(own) / (1 if dimension.sentences == "sum" else len(own)) if own else None for own in each]


class YesNo:
    """A model that answers "Yes" or "No" with its first token."""

    def __init__(self, checkpoint: checkpoints.Checkpoint, setup: Setup) -> None:
        self.checkpoint = checkpoint
        self._device, self._size = setup.device, setup.batch_size
        self._yes, self._no = _answers(checkpoint)
        start = getattr(checkpoint.config, "decoder_start_token_id", None)
        if start is None:
            raise UsageError(f"{checkpoint.name} is not an encoder-decoder model such as T5: no decoder start")
        self._start = int(start)

    @property
    def separator(self) -> str:
        """The text that stands for the end of a part; an answer must not hold it."""
        return str(self.checkpoint.tokenizer.eos_token)

    def shares_of_yes(self, texts: list[str]) -> list[float]:
        """Return p(Yes) of each text, against p(No)."""
        return checkpoints.in_batches(self._size, texts, self._batch)

    def _batch(self, texts: list[str]) -> list[float]:
        import torch

        encoded = self.checkpoint.tokenizer(
            texts, padding=True, truncation=True, max_length=LONGEST, return_tensors="pt"
        ).to(self._model.device)
        with checkpoints.computing(self._size):
            first = torch.full((len(texts), 1), self._start, device=self._model.device)
            asked = {name: encoded[name] for name in ("input_ids", "attention_mask")}
            logits = self._model(**asked, decoder_input_ids=first).logits[:, 0].float()
            shares: list[float] = torch.sigmoid((logits[:, self._yes] - logits[:, self._no]).double()).tolist()
        return shares

    @functools.cached_property
    def _model(self) -> Any:
        return self.checkpoint.load("AutoModelForSeq2SeqLM", self._device)


def _answers(checkpoint: checkpoints.Checkpoint) -> tuple[int, int]:
    """Return the tokens of "Yes" and "No"; a model without a token for each of them answers nothing with its first one.

    Where both begin with one token, such as a mark for a word's beginning, every number would be 0.5.
    """
    tokenizer = checkpoint.tokenizer
    yes, no = (tokenizer(word, add_special_tokens=False)["input_ids"] for word in ("Yes", "No"))
    fault = None
    if not yes or not no or yes[0] == no[0] or tokenizer.unk_token_id in (yes[0], no[0]):
        fault = "begins both with the same token"
    elif len(yes) > 1 or len(no) > 1:
        fault = "has no token for each of them"
    if fault:
        raise UsageError(f'{checkpoint.name} cannot answer "Yes" or "No": its tokenizer {fault}')
    return yes[0], no[0]


def _prompts(dimension: Dimension, item: Item, separator: str) -> list[str]:
    """Return the texts that a model is asked about an item; none where a text that it needs is missing."""
    values = {name: _part(name, item) for name in dimension.template.names - {"sentence"}}
    if any(not (value or "").strip() for value in values.values()):
        return []
    # An answer that brought the end of a part would write the rest of the question itself.
    whole = {name: str(value).replace(separator, " ") for name, value in values.items()}
    if dimension.sentences is None:
        return [dimension.template.fill(whole)]
    parts = sentences(item.answer.replace(separator, " "))
    return [dimension.template.fill(whole | {"sentence": part}) for part in parts]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text; none of a text without any letter, digit or sign.

    Raises:
        UsageError: the extra [models] is not installed.
    """
    try:
        from sentencex import segment
    except ImportError:
        raise UsageError("splitting sentences needs the extra [models]: pip install 'turnbench[models]'") from None
    return [cut for found in segment(_LANGUAGE, text) if (cut := found.strip())]


def _part(name: str, item: Item) -> str | None:
    if name == "answer":
        return item.answer
    if name == "reference":
        return item.reference
    if name == "context":
        return _context(item.question)
    said = [text for pair in zip(item.question.turns, item.answers[:-1], strict=False) for text in pair]
    return "\n".join([*said, item.question.turns[item.turn - 1]])


def _is_asked(dimension: Dimension, question: Question, by_category: Mapping[str, Sequence[str]]) -> bool:
    """Return whether a dimension is asked about in a question's category."""
    return not by_category or dimension.key in by_category.get(question.category, ())


def _context(question: Question) -> str | None:
    context = question.extra.get("context")
    return context if isinstance(context, str) else None


def _lacking(
    dimensions: Sequence[Dimension], by_category: Mapping[str, Sequence[str]], question: Question, reference: str | None
) -> list[str]:
    """Return what the dimensions that are asked about a question need and its first turn lacks, whatever the answer."""
    item = Item(question, 1, ("an answer",), reference)
    asked = [one for one in dimensions if _is_asked(one, question, by_category)]
    return sorted({name for one in asked for name in _missing(one, item)})


def _measured(item: Item, numbers: Mapping[Dimension, float | None]) -> Measured:
    values = {one.number: number for one, number in numbers.items()}
    there = [number for number in values.values() if number is not None]
    if len(there) == len(values):
        return Measured(sum(there) / len(there), values)
    missing = {name for one, number in numbers.items() if number is None for name in _missing(one, item)}
    return Measured(None, values, f"there is no {' and no '.join(sorted(missing))}")


def _missing(dimension: Dimension, item: Item) -> Iterator[str]:
    """Yield what a dimension needs and an item lacks."""
    for name in dimension.template.names:
        if not (_part("answer" if name == "sentence" else name, item) or "").strip():
            yield "answer" if name == "sentence" else name
