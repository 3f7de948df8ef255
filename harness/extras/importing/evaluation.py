"""ColossalAI's configuration of an evaluation: criteria and metrics by category.

    {"language": "en", "path_for_UniEval": {"dialogue": "./unieval-dialog"},
     "category": {"chat": {"GPT": ["relevance", "language organization"], "Metrics": ["Distinct"],
                           "UniEval": ["dialogue-naturalness"]}}}

GPT are criteria of the judge set (`metrics_en`, `metrics_zh`); Metrics and UniEval are what
`auto_metrics` computes. Categories that the file does not name are left out.
"""

import functools
import json
import pathlib
from collections.abc import Collection, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from harness import registry, store
from harness.errors import DataError
from harness.extras.importing.items import folded
from harness.metrics import Metric, Setup
from harness.metrics.load import load_all, load_one
from harness.types import Question

METRICS = {
    "bertscore": "bert_score",
    "precision": "token_f1",
    "recall": "token_f1",
    "f1": "token_f1",
    "f1_score": "token_f1",
}
"""Metrics whose names are not ours in small letters; the three of tokens are computed together."""
BERT_MODELS = {"en": "roberta-large", "zh": "bert-base-chinese"}
"""What BERTScore takes in ColossalAI, where no model is named."""


class _Category(Struct, frozen=True, forbid_unknown_fields=True):
    GPT: tuple[str, ...] = ()
    Metrics: tuple[str, ...] = ()
    UniEval: tuple[str, ...] = ()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    language: str
    category: dict[str, _Category]
    path_for_UniEval: dict[str, str] = {}  # noqa: N815


class Evaluation(Struct, frozen=True, kw_only=True):
    """A configuration, in our names."""

    language: str
    criteria: dict[str, tuple[str, ...]]
    """Of the judge set, by category."""
    metrics: dict[str, list[str]]
    """For each metric its categories."""
    dimensions: dict[str, tuple[str, ...]]
    """Of UniEval, such as `dialogue/naturalness`, by category."""
    checkpoints: tuple[str, ...]
    """UniEval's models: TASK=FOLDER_OR_REPOSITORY."""


def read_evaluation(path: pathlib.Path | str) -> Evaluation:
    """Return the configuration in a file.

    Raises:
        DataError: it cannot be read, is not such a configuration, or names an unknown metric.
    """
    path = pathlib.Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise DataError(f"cannot be read as JSON: {error}", path) from None
    file = store.convert(content, _File, path)
    metrics: dict[str, list[str]] = {}
    for category, entry in file.category.items():
        for metric in map(folded, entry.Metrics):
            metrics.setdefault(METRICS.get(metric, metric), []).append(category)
        if entry.UniEval:
            metrics.setdefault("unieval", []).append(category)
    names = registry.names("metric")
    if unknown := sorted(metrics.keys() - names):
        text = f"there is no metric {', '.join(unknown)}; there are {', '.join(names)}"
        raise DataError(text, path)
    checkpoints = []
    for task, place in file.path_for_UniEval.items():
        beside = path.parent / place
        checkpoints.append(f"{task}={beside if beside.is_dir() else place}")
    return Evaluation(
        language="zh" if file.language == "cn" else file.language,
        criteria={name: tuple(map(folded, entry.GPT)) for name, entry in file.category.items()},
        metrics=metrics,
        dimensions={
            name: tuple(dimension.replace("-", "/", 1) for dimension in entry.UniEval)
            for name, entry in file.category.items()
        },
        checkpoints=tuple(checkpoints),
    )


def metrics_of(
    path: pathlib.Path | str, setup: Setup, questions: Sequence[Question]
) -> tuple[list[Metric], list[str]]:
    """Return the metrics that a configuration names, each for its categories, and notices.

    Where `setup` names no model of a metric, the configuration's or ColossalAI's own is taken.

    Raises:
        DataError: the configuration is wrong.
        UsageError: a metric cannot be computed here.
    """
    evaluation = read_evaluation(path)
    options = structs.replace(
        setup.options,
        bert_model=setup.options.bert_model or BERT_MODELS.get(evaluation.language),
        unieval_model=setup.options.unieval_model or evaluation.checkpoints,
    )
    setup = replace(
        setup, language=evaluation.language, options=options, dimensions=evaluation.dimensions
    )
    metrics = load_all(
        {
            name: functools.partial(_of_categories, name, setup, categories)
            for name, categories in evaluation.metrics.items()
            if name not in setup.options.without
        }
    )
    others = sorted({question.category for question in questions} - evaluation.criteria.keys())
    return metrics, [f"left out: the questions of {', '.join(others)}"] if others else []


def _of_categories(name: str, setup: Setup, categories: Collection[str]) -> Metric:
    """Return a metric for questions of these categories."""
    metric = load_one(name, setup)

    def applies(question: Question, turn: int) -> bool:
        return question.category in categories and metric.applies(question, turn)

    return replace(metric, applies=applies)
