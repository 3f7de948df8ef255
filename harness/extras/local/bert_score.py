"""BERTScore of one answer against one reference (Zhang et al., ICLR 2020), by transformers.

    P: mean over the answer's tokens of the greatest cosine with a token of the reference
    R: the other way round;   F = 2PR / (P + R)

The vectors are those of one hidden layer. As in the package bert-score: no weighting by rarity, no
rescaling; special tokens may be what a token is most like, but are not counted themselves.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from harness.errors import UsageError
from harness.extras.local.checkpoint import Checkpoint, TextModel
from harness.metrics import Measured, MeasuredTurn, Metric, Setup

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

Vectors: TypeAlias = tuple[Any, Any]
"""The unit vectors of a text's tokens, and which of them count."""


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
    model = TextModel(setup.options.bert_model, "AutoModel", setup)
    checkpoint = model.checkpoint
    layers = int(getattr(checkpoint.config, "num_hidden_layers", 0))
    usual = LAYERS.get(checkpoint.place.rstrip("/").rsplit("/")[-1], layers)
    layer = setup.options.bert_layer or min(usual, layers)
    if not 1 <= layer <= layers:
        raise UsageError(f"--bert-layer must be from 1 to {layers}, this is {layer}")
    longest = _longest(checkpoint)
    space = " " if str(checkpoint.config.model_type).startswith(_BYTE_LEVEL) else ""

    def vectors(model: Any, encoded: Any) -> list[Vectors]:
        special = encoded.pop("special_tokens_mask").bool().cpu()
        states = model(**encoded, output_hidden_states=True).hidden_states[layer]
        states = (states / states.norm(dim=-1, keepdim=True)).cpu()
        masks = encoded["attention_mask"].bool().cpu()
        return [
            (state[mask], ~is_special[mask])
            for state, mask, is_special in zip(states, masks, special, strict=True)
        ]

    def measure(items: Sequence[MeasuredTurn]) -> Iterator[Measured]:
        """Yield P, R and F of each item; 0 for an empty answer."""
        for start in range(0, len(items), setup.batch_size):
            batch = items[start : start + setup.batch_size]
            pairs = [(item.answer.strip(), (item.reference or "").strip()) for item in batch]
            texts = list(dict.fromkeys(text for pair in pairs for text in pair if text))
            read = model.read([space + text for text in texts], longest, vectors)
            by_text = dict(zip(texts, read, strict=True))
            for answer, reference in pairs:
                p = r = f = 0.0
                note = None
                if answer:
                    p, r, f = _score(by_text[answer], by_text[reference])
                    most = max(len(by_text[text][0]) for text in (answer, reference))
                    note = f"read up to {longest} tokens" if most >= longest else None
                names = {"bert_score_precision": p, "bert_score_recall": r, "bert_score": f}
                yield Measured(f, names, note)

    return Metric(
        "bert_score",
        measure,
        library=model.library,
        tokenizer=checkpoint.name,
        needs_reference=True,
        parameters={"model": checkpoint.identity, "layer": layer},
    )


def _score(answer: Vectors, reference: Vectors) -> tuple[float, float, float]:
    alike = answer[0] @ reference[0].T
    precision = float(alike.max(dim=1).values[answer[1]].mean())
    recall = float(alike.max(dim=0).values[reference[1]].mean())
    f = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f


def _longest(checkpoint: Checkpoint) -> int:
    """Return how many tokens the model reads; RoBERTa's positions begin after the padding's."""
    places = int(getattr(checkpoint.config, "max_position_embeddings", 100_000))
    if "roberta" in str(checkpoint.config.model_type):
        places -= int(checkpoint.config.pad_token_id) + 1
    return min(int(checkpoint.tokenizer.model_max_length), places)
