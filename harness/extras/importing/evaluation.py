"""ColossalAI's configuration of an evaluation: criteria and metrics by category; JSON or TOML.

    {"language": "en", "path_for_UniEval": {"dialogue": "./unieval-dialog"},
     "category": {"chat": {"GPT": ["relevance", "language organization"], "Metrics": ["Distinct"],
                           "UniEval": ["dialogue-naturalness"]}}}

GPT are criteria of the judge set (`metrics_en`, `metrics_zh`); Metrics and UniEval are what
`auto_metrics` computes. Categories that the file does not name are left out.
"""

import difflib
import json
import pathlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from msgspec import Struct, structs

from harness import registry, store
from harness.errors import DataError
from harness.extras.importing.items import folded
from harness.judging.sets import DEFAULT, JudgeSet
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
LANGUAGES = {"cn": "zh"}
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
    """A configuration, in our names; everything is by category."""

    path: pathlib.Path
    language: str
    criteria: dict[str, tuple[str, ...]]
    metrics: dict[str, tuple[str, ...]]
    dimensions: dict[str, tuple[str, ...]]
    """Of UniEval, such as `dialogue/naturalness`."""
    checkpoints: dict[str, str]
    """The UniEval model of each task."""

    def judge_set(self, *, pairs: bool = False) -> str:
        """Return the name of the judge set for its language: of grades, or of pairs."""
        return f"{'battle' if pairs else 'metrics'}_{self.language}"

    def check(self, questions: Sequence[Question], judge_set: JudgeSet | None) -> list[str]:
        """Return what a reader should know: questions that are left out.

        `judge_set` is None where nothing is graded.

        Raises:
            DataError: a criterion or metric is not known, or no question is of its categories.
        """
        there = Counter(question.category for question in questions)
        faults = list(self._ungraded(judge_set)) if judge_set else []
        known = registry.names("metric")
        for category, names in self.metrics.items():
            for name in names:
                if name not in known or name == "unieval":
                    faults.append(f"{category}: there is no metric {name!r}{_near(name, known)}")
        if not there.keys() & self.criteria.keys():
            faults.append(f"no question has a category that it names ({', '.join(self.criteria)})")
        if faults:
            raise DataError("; ".join(faults), self.path)
        return [
            f"left out: {count} questions of the category {name}"
            for name, count in there.items()
            if name not in self.criteria
        ]

    def _ungraded(self, judge_set: JudgeSet) -> Iterator[str]:
        """Yield the criteria for which the judge set has no prompt.

        A set of ours has one for every category; ColossalAI's prompt file for those that it lists.
        """
        theirs = judge_set.path.suffix == ".json"
        for category, names in self.criteria.items():
            usual = judge_set.categories.get(DEFAULT, [])
            listed = judge_set.categories.get(category, usual) if theirs else judge_set.criteria
            for name in names:
                if name not in listed:
                    yield (
                        f"{category}: the judge set {judge_set.name} has no prompt for "
                        f"{name!r}{_near(name, listed)}"
                    )


def read_evaluation(path: pathlib.Path | str) -> Evaluation:
    """Return the configuration in a file, .toml or ColossalAI's JSON.

    Raises:
        DataError: it cannot be read, or is not such a configuration.
    """
    path = pathlib.Path(path)
    if path.suffix.lower() == ".toml":
        file = store.read_toml(path, _File)
    else:
        try:
            values = json.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror}", path) from None
        except ValueError as error:
            raise DataError(f"is not valid JSON: {error}", path) from None
        file = store.convert(values, _File, path)
    by_category = file.category.items()
    return Evaluation(
        path=path,
        language=LANGUAGES.get(file.language, file.language),
        criteria={name: _names(map(folded, own.GPT)) for name, own in by_category},
        metrics={
            name: _names(METRICS.get(folded(metric), folded(metric)) for metric in own.Metrics)
            for name, own in by_category
        },
        dimensions={
            name: _names(dimension.replace("-", "/", 1) for dimension in own.UniEval)
            for name, own in by_category
        },
        checkpoints={task: _beside(path, place) for task, place in file.path_for_UniEval.items()},
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
    own = read_evaluation(path)
    notices = own.check(questions, None)
    given = setup.options
    checkpoints = tuple(f"{task}={place}" for task, place in own.checkpoints.items())
    options = structs.replace(
        given,
        bert_model=given.bert_model or BERT_MODELS.get(own.language),
        unieval_model=given.unieval_model or checkpoints,
    )
    setup = replace(setup, language=own.language, options=options, dimensions=own.dimensions)
    wanted: dict[str, set[str]] = {}
    for category, names in own.metrics.items():
        for name in names:
            wanted.setdefault(name, set()).add(category)
    if asked := {category for category, names in own.dimensions.items() if names}:
        wanted["unieval"] = asked
    metrics = [_only_for(load([name], setup)[0], names) for name, names in wanted.items()]
    return metrics, notices


def _only_for(metric: Metric, categories: Collection[str]) -> Metric:
    """Return the metric for questions of these categories."""

    def applies(question: Question, turn: int) -> bool:
        return question.category in categories and metric.applies(question, turn)

    return replace(metric, applies=applies)


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _beside(path: pathlib.Path, place: str) -> str:
    """Return a checkpoint's folder, looked for next to the file first; else as the file says."""
    own = path.parent / place
    return str(own) if own.is_dir() else place


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), 1, 0.6)
    return f"; did you mean {near[0]!r}?" if near else ""
