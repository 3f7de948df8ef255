"""The choice among the metrics."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from harness import registry
from harness.errors import UsageError
from harness.metrics import colossalai
from harness.metrics.metric import Metric, Setup
from harness.metrics.tokens import TOKENIZERS
from harness.options import MetricOptions

TEXT = ("bleu", "rouge", "chrf", "token_f1", "exact_match", "label_match", "distinct")
"""The metrics that need no model: `--metrics text`."""
_USUAL = Setup()


def load(names: Iterable[str], setup: Setup = _USUAL) -> list[Metric]:
    """Return the metrics of these names; `text` stands for all that need no model.

    Raises:
        UsageError: a name, variant or tokenizer is unknown, or an extra is not installed.
    """
    variant, tokenizer = setup.options.variant, setup.options.tokenizer
    if variant not in ("default", colossalai.VARIANT):
        raise UsageError(f"no variant {variant!r}; there are default and {colossalai.VARIANT}")
    if tokenizer is not None and tokenizer not in TOKENIZERS:
        raise UsageError(f"no tokenizer {tokenizer!r}; there are {', '.join(TOKENIZERS)}")
    found: list[Metric] = []
    every = (one for given in names for one in (TEXT if given == "text" else (given,)))
    for name in dict.fromkeys(every):
        if variant == colossalai.VARIANT and name in colossalai.NAMES:
            found.append(colossalai.metric(name, setup))
        else:
            found.append(registry.find("metric", name)(setup))
    return found


def configured(evaluation: Any, setup: Setup) -> list[Metric]:
    """Return the metrics of ColossalAI's configuration, each for its categories only.

    What the user says of models comes before the file. `evaluation` has `language`, `metrics` and
    `dimensions` by category, and `checkpoints` by UniEval's task.

    Raises:
        UsageError: as `load`.
    """
    own = setup.options
    bert = {"en": "roberta-large", "zh": "bert-base-chinese"}.get(evaluation.language)
    places = tuple(f"{task}={place}" for task, place in evaluation.checkpoints.items())
    options = {
        **{name: getattr(own, name) for name in MetricOptions.__struct_fields__},
        "bert_model": own.bert_model or bert,
        "unieval_model": own.unieval_model or places,
    }
    setup = replace(
        setup,
        language=evaluation.language,
        options=MetricOptions(**options),
        dimensions=evaluation.dimensions,
    )
    categories: dict[str, list[str]] = {}
    for category, names in evaluation.metrics.items():
        for name in names:
            categories.setdefault(name, []).append(category)
    asked = [category for category, names in evaluation.dimensions.items() if names]
    if asked:
        categories["unieval"] = asked
    return [_only_for(load([name], setup)[0], own) for name, own in categories.items()]


def _only_for(metric: Metric, categories: list[str]) -> Metric:
    """Return a metric for the questions of these categories only."""
    applies = metric.applies
    return replace(
        metric,
        applies=lambda question, turn: question.category in categories and applies(question, turn),
    )
