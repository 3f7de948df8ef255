"""BERTScore of one answer against one reference (Zhang et al., ICLR 2020), on transformers directly.

    P: mean over the answer's tokens of the greatest cosine with a token of the reference;   R: the other way round;
    F = 2PR / (P + R)

The vectors are those of one hidden layer. As in the package bert-score: no weighting by rarity, no rescaling; the
special tokens may be what a token is most like, but are not counted themselves.
"""

import functools
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from harness.old import checkpoints
from harness.old.errors import UsageError
from harness.old.metrics.metric import Item, Measured, Metric
from harness.old.metrics.setup import Setup

LAYERS = {
    "bert-base-chinese": 8,
    "bert-base-multilingual-cased": 9,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "deberta-xlarge-mnli": 40,
    "distilbert-base-uncased": 5,
    "roberta-base": 10,
    "roberta-large": 17,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
}
"""The layer that the package bert-score uses of each model; the one that agreed best with people."""
_BYTE_LEVEL = ("roberta", "longformer", "bart", "gpt2", "deberta")
"""Kinds of models whose tokens tell a word at a text's beginning from one after a space."""
_UNLIMITED = 100_000


def metric(setup: Setup) -> Metric:
    """Return BERTScore with the model of the set-up.

    Raises:
        UsageError: no model is named, it cannot be found, or it has no such layer.
    """
    if setup.bert_model is None:
        raise UsageError(
            "bert_score needs a model: --bert-model DIR_OR_REPO, such as roberta-large or bert-base-chinese"
        )
    checkpoint = checkpoints.find(setup.bert_model)
    layers = int(getattr(checkpoint.config, "num_hidden_layers", 0))
    layer = setup.bert_layer or min(LAYERS.get(checkpoint.place.rstrip("/").rsplit("/")[-1], layers), layers)
    if not 1 <= layer <= layers:
        raise UsageError(f"--bert-layer must be from 1 to {layers}, the layers of {checkpoint.name}; this is {layer}")
    scorer = BertScore(checkpoint, layer, setup)
    return Metric(
        "bert_score",
        scorer.measure,
        library=checkpoints.versions(),
        tokenizer=checkpoint.name,
        needs_reference=True,
        overlap=True,
        parameters={"model": checkpoint.identity, "layer": layer},
    )


class BertScore:
    """BERTScore by one layer of one model."""

    def __init__(self, checkpoint: checkpoints.Checkpoint, layer: int, setup: Setup) -> None:
        self.checkpoint, self.layer = checkpoint, layer
        self._device, self._size = setup.device, setup.batch_size
        self._longest = _longest(checkpoint)
        self._space = " " if str(checkpoint.config.model_type).startswith(_BYTE_LEVEL) else ""

    def measure(self, items: Sequence[Item]) -> Iterator[Measured]:
        """Yield P, R and F of each item, a batch at a time; 0 for an empty answer, None for an empty reference."""
        left = iter(items)
        while batch := list(islice(left, self._size)):
            texts = list(dict.fromkeys(text.strip() for item in batch for text in (item.answer, item.reference or "")))
            vectors = dict(zip(texts, checkpoints.in_batches(self._size, texts, self._vectors), strict=True))
            for item in batch:
                answer, reference = item.answer.strip(), (item.reference or "").strip()
                yield self._measured(answer, reference, vectors)

    def _measured(self, answer: str, reference: str, vectors: dict[str, tuple[Any, Any, bool]]) -> Measured:
        names = ("bert_score_precision", "bert_score_recall", "bert_score")
        if not reference:
            return Measured(None, dict.fromkeys(names), "the reference is empty")
        if not answer:
            return Measured(0.0, dict.fromkeys(names, 0.0))
        (said, said_counts, said_cut), (wanted, wanted_counts, wanted_cut) = vectors[answer], vectors[reference]
        alike = said @ wanted.T
        precision = float(alike.max(dim=1).values[said_counts].mean())
        recall = float(alike.max(dim=0).values[wanted_counts].mean())
        f = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        note = f"read up to {self._longest} tokens" if said_cut or wanted_cut else None
        return Measured(f, dict(zip(names, (precision, recall, f), strict=True)), note)

    def _vectors(self, texts: list[str]) -> list[tuple[Any, Any, bool]]:
        """Return for each text its tokens' vectors of length 1, which of them count, and whether it was cut."""
        tokenizer = self.checkpoint.tokenizer
        encoded = tokenizer(
            [self._space + text for text in texts],
            padding=True,
            truncation=True,
            max_length=self._longest,
            return_tensors="pt",
            return_special_tokens_mask=True,
            return_length=False,
        )
        special = encoded.pop("special_tokens_mask").bool()
        with checkpoints.computing(self._size):
            states = self._model(**encoded.to(self._model.device), output_hidden_states=True).hidden_states[self.layer]
            states = (states / states.norm(dim=-1, keepdim=True)).cpu()
        there = encoded["attention_mask"].bool().cpu()
        cut = [int(row.sum()) >= self._longest for row in there]
        return [
            (state[mask], ~one[mask], full) for state, mask, one, full in zip(states, there, special, cut, strict=True)
        ]

    @functools.cached_property
    def _model(self) -> Any:
        return self.checkpoint.load("AutoModel", self._device)


def _longest(checkpoint: checkpoints.Checkpoint) -> int:
    """Return how many tokens the model reads; a tokenizer may state none, and RoBERTa's positions begin after the
    padding's.
    """
    stated = int(min(checkpoint.tokenizer.model_max_length, _UNLIMITED))
    places = int(getattr(checkpoint.config, "max_position_embeddings", _UNLIMITED))
    if "roberta" in str(checkpoint.config.model_type):
        places -= int(checkpoint.config.pad_token_id) + 1
    return min(stated, places)
