"""ColossalAI's configuration of an evaluation: criteria and metrics by category; JSON or TOML.

    {"language": "en", "path_for_UniEval": {"dialogue": "./unieval-dialog"},
     "category": {"chat": {"GPT": ["relevance", "language organization"], "Metrics": ["Distinct"],
                           "UniEval": ["dialogue-naturalness"]}}}

GPT are criteria of the judge set (`metrics_en`, `metrics_zh`); Metrics and UniEval are what
`auto_metrics` computes. Categories that the file does not name are left out.
"""

import json
import pathlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from harness import registry, store
from harness.errors import DataError
from harness.extras.importing.items import folded
from harness.metrics import Metric, Setup, load
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
    metrics: dict[str, tuple[str, ...]]
    """By category."""
    dimensions: dict[str, tuple[str, ...]]
    """Of UniEval by category, such as `dialogue/naturalness`."""
    checkpoints: tuple[str, ...]
    """UniEval's models: TASK=FOLDER_OR_REPOSITORY."""


def read_evaluation(path: pathlib.Path | str) -> Evaluation:
    """Return the configuration in a file, .toml or ColossalAI's JSON.

    Raises:
        DataError: it cannot be read, is not such a configuration, or names an unknown metric.
    """
    path = pathlib.Path(path)
    if path.suffix.lower() == ".toml":
        file = store.read_toml(path, _File)
    else:
        try:
            file = store.convert(json.loads(path.read_text(encoding="utf-8-sig")), _File, path)
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path) from None
        except ValueError as error:
            raise DataError(f"is not valid JSON: {error}", path) from None
    categories = file.category.items()
    metrics = {
        name: _unique(METRICS.get(folded(metric), folded(metric)) for metric in category.Metrics)
        for name, category in categories
    }
    known = registry.names("metric")
    if unknown := {name for names in metrics.values() for name in names}.difference(known):
        names = ", ".join(sorted(unknown))
        raise DataError(f"there is no metric {names}; there are {', '.join(known)}", path)
    checkpoints = {task: path.parent / place for task, place in file.path_for_UniEval.items()}
    return Evaluation(
        language={"cn": "zh"}.get(file.language, file.language),
        criteria={name: _unique(map(folded, category.GPT)) for name, category in categories},
        metrics=metrics,
        dimensions={
            name: _unique(dimension.replace("-", "/", 1) for dimension in category.UniEval)
            for name, category in categories
        },
        checkpoints=tuple(
            f"{task}={checkpoints[task] if checkpoints[task].is_dir() else place}"
            for task, place in file.path_for_UniEval.items()
        ),
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
    categories: dict[str, list[str]] = {}
    for category, names in evaluation.metrics.items():
        for name in (*names, "unieval") if evaluation.dimensions[category] else names:
            categories.setdefault(name, []).append(category)
    metrics = [_only_for(load([name], setup)[0], where) for name, where in categories.items()]
    others = sorted({question.category for question in questions} - evaluation.criteria.keys())
    return metrics, [f"left out: the questions of {', '.join(others)}"] if others else []


def _only_for(metric: Metric, categories: Collection[str]) -> Metric:
    """Return the metric for questions of these categories."""

    def applies(question: Question, turn: int) -> bool:
        return question.category in categories and metric.applies(question, turn)

    return replace(metric, applies=applies)


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
