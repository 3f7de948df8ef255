"""BERTScore of one answer against one reference (Zhang et al., ICLR 2020), by transformers.

    P: mean over the answer's tokens of the greatest cosine with a token of the reference
    R: the other way round;   F = 2PR / (P + R)

The vectors are those of one hidden layer. As in the package bert-score: no weighting by rarity, no
rescaling; special tokens may be what a token is most like, but are not counted themselves.
"""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

from harness.errors import UsageError
from harness.extras.local.checkpoint import Checkpoint, computing, find, in_batches, versions
from harness.metrics import Item, Measured, Metric, Setup

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
"""The layer that the package bert-score uses of each model: it agreed best with people."""
_BYTE_LEVEL = ("roberta", "longformer", "bart", "gpt2", "deberta")
"""Kinds of models whose tokens tell a word at a text's beginning from one after a space."""
_NAMES = ("bert_score_precision", "bert_score_recall", "bert_score")
_UNLIMITED = 100_000


def metric(setup: Setup) -> Metric:
    """Return BERTScore with the model of the set-up.

    Raises:
        UsageError: no model is named, it cannot be found, or it has no such layer.
    """
    if setup.options.bert_model is None:
        raise UsageError(
            "bert_score needs a model: --bert-model DIR_OR_REPO, such as roberta-large or "
            "bert-base-chinese"
        )
    checkpoint = find(setup.options.bert_model)
    layers = int(getattr(checkpoint.config, "num_hidden_layers", 0))
    usual = LAYERS.get(checkpoint.place.rstrip("/").rsplit("/")[-1], layers)
    layer = setup.options.bert_layer or min(usual, layers)
    if not 1 <= layer <= layers:
        raise UsageError(f"--bert-layer must be from 1 to {layers}, this is {layer}")
    return Metric(
        "bert_score",
        _BertScore(checkpoint, layer, setup).measure,
        library=versions(),
        tokenizer=checkpoint.name,
        needs_reference=True,
        parameters={"model": checkpoint.identity, "layer": layer},
    )


class _BertScore:
    """BERTScore by one layer of one model."""

    def __init__(self, checkpoint: Checkpoint, layer: int, setup: Setup) -> None:
        self._checkpoint, self._layer = checkpoint, layer
        self._device, self._size = setup.device, setup.batch_size
        self._longest = _longest(checkpoint)
        kind = str(checkpoint.config.model_type)
        self._space = " " if kind.startswith(_BYTE_LEVEL) else ""

    def measure(self, items: Sequence[Item]) -> Iterator[Measured]:
        """Yield P, R and F of each item; 0 for an empty answer."""
        for start in range(0, len(items), self._size):
            batch = items[start : start + self._size]
            pairs = [(item.answer.strip(), (item.reference or "").strip()) for item in batch]
            texts = list(dict.fromkeys(text for pair in pairs for text in pair if text))
            vectors = dict(zip(texts, in_batches(self._size, texts, self._vectors), strict=True))
            for answer, reference in pairs:
                if answer:
                    yield self._measured(vectors[answer], vectors[reference])
                else:
                    yield Measured(0.0, dict.fromkeys(_NAMES, 0.0))

    def _measured(
        self, answer: tuple[Any, Any, bool], reference: tuple[Any, Any, bool]
    ) -> Measured:
        alike = answer[0] @ reference[0].T
        precision = float(alike.max(dim=1).values[answer[1]].mean())
        recall = float(alike.max(dim=0).values[reference[1]].mean())
        f = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        note = f"read up to {self._longest} tokens" if answer[2] or reference[2] else None
        return Measured(f, dict(zip(_NAMES, (precision, recall, f), strict=True)), note)

    def _vectors(self, texts: list[str]) -> list[tuple[Any, Any, bool]]:
        """Return for each text its tokens' unit vectors, which count, and whether it was cut."""
        encoded = self._checkpoint.tokenizer(
            [self._space + text for text in texts],
            padding=True,
            truncation=True,
            max_length=self._longest,
            return_tensors="pt",
            return_special_tokens_mask=True,
        )
        special = encoded.pop("special_tokens_mask").bool()
        with computing(self._size):
            inputs = encoded.to(self._model.device)
            states = self._model(**inputs, output_hidden_states=True).hidden_states[self._layer]
            states = (states / states.norm(dim=-1, keepdim=True)).cpu()
        masks = encoded["attention_mask"].bool().cpu()
        return [
            (state[mask], ~own[mask], int(mask.sum()) >= self._longest)
            for state, mask, own in zip(states, masks, special, strict=True)
        ]

    @functools.cached_property
    def _model(self) -> Any:
        return self._checkpoint.load("AutoModel", self._device)


def _longest(checkpoint: Checkpoint) -> int:
    """Return how many tokens the model reads; RoBERTa's positions begin after the padding's."""
    stated = int(min(checkpoint.tokenizer.model_max_length, _UNLIMITED))
    places = int(getattr(checkpoint.config, "max_position_embeddings", _UNLIMITED))
    if "roberta" in str(checkpoint.config.model_type):
        places -= int(checkpoint.config.pad_token_id) + 1
    return min(stated, places)
