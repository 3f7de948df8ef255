"""An evaluation file with the criteria and metrics of each category: ColossalAI's configuration, unchanged or as TOML.

    {"language": "en", "path_for_UniEval": {"dialogue": "./unieval-dialog"},
     "category": {"chat": {"GPT": ["relevance", "language organization"], "Metrics": ["Distinct"],
                           "UniEval": ["dialogue-naturalness"]}}}

    evaluation = read_evaluation(path)
    planned = evaluation.planned(bench, bench.questions)        # checks everything; raises one error with all problems

GPT are criteria of the judge set (`metrics_en`, `metrics_zh`), Metrics and UniEval what `auto_metrics` computes. A
category that the file does not name is left out, and a notice says so.
"""

import pathlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.old.bench import CHAT_CATEGORIES, Bench
from harness.old.errors import DataError, TurnbenchError
from harness.old.judging.sets import JudgeSet, load_judge_set
from harness.old.metrics import METRICS
from harness.old.metrics.metric import Metric
from harness.old.metrics.setup import Setup
from harness.old.metrics.table import load_metric, load_metrics
from harness.old.names import listed
from harness.old.records import Mode, Question, QuestionId
from harness.old.written import decoded, faults_of, nearest, read_json, read_toml

NAMES: Mapping[str, str] = {
    "bertscore": "bert_score",
    "precision": "token_f1",
    "recall": "token_f1",
    "f1": "token_f1",
    "f1_score": "token_f1",
}
"""ColossalAI's metrics whose names are not ours in small letters; the three of tokens are computed together."""
LANGUAGES = {"cn": "zh"}
CATEGORIES = frozenset(
    {
        *(*CHAT_CATEGORIES, "logical_reasoning", "ethics"),
        *("Finance", "Law", "Education", "Medical", "STEM", "SocialScience", "Humanity", "Other"),
    }
)
"""The categories that ColossalAI names; a file may name them although no question is of them."""
BERT_MODELS = {"en": "roberta-large", "zh": "bert-base-chinese"}
"""What BERTScore takes in ColossalAI, where no model is named."""
_SHOWN = 5
_TOLD = {"reference": "target (a reference answer)", "context": "context (a field of the question)"}
"""What may be missing in a question for a metric, as a text."""


@dataclass(frozen=True, slots=True)
class Category:
    """A file's settings of one category; the names are the file's."""

    GPT: tuple[str, ...] = ()
    Metrics: tuple[str, ...] = ()
    UniEval: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _File:
    language: str
    category: Mapping[str, Category]
    path_for_UniEval: Mapping[str, str] = field(default_factory=dict)  # noqa: N815


@dataclass(frozen=True, slots=True)
class Planned:
    """A file's plan for a benchmark."""

    questions: tuple[Question, ...]
    """Those whose category the file names."""
    criteria: Mapping[str, tuple[str, ...]]
    """The judge set's criteria of each category."""
    metrics: list[Metric]
    """Each for its categories only."""
    notices: list[str]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A file's settings, in our names."""

    path: pathlib.Path
    language: str
    criteria: Mapping[str, tuple[str, ...]]
    """Of every category that the file names; and likewise."""
    metrics: Mapping[str, tuple[str, ...]]
    dimensions: Mapping[str, tuple[str, ...]]
    """Of UniEval, such as `dialogue/naturalness`."""
    checkpoints: Mapping[str, str]
    """The model of each of its tasks."""

    def judges(self, mode: Mode | None) -> bool:
        """Return whether there is anything to judge: of grades, if any category has criteria."""
        return mode is not None and (mode != "single" or any(self.criteria.values()))

    def planned(
        self,
        bench: Bench,
        questions: Sequence[Question],
        *,
        mode: Mode | None = "single",
        judge_set: str | None = None,
        given: Setup = Setup(),  # noqa: B008
        reference: str | None = None,
    ) -> Planned:
        """Return the file's plan for these questions, after all problems have been checked.

        Args:
            bench: the benchmark.
            questions: those to judge and measure.
            mode: whether answers are graded or compared; None: they are measured only.
            judge_set: by name or path (default: `usual_judge_set`).
            given: how metrics are computed, for what the file leaves open.
            reference: whose answers are the references that metrics compare with.

        Raises:
            DataError: something in the file is invalid; one message lists everything.
        """
        faults: list[str] = []
        faults += self._unknown_categories(questions)
        if mode is not None and self.judges(mode):
            faults += self._unjudged(mode, judge_set or usual_judge_set(self.language, mode), bench)
        loaded, failed = self._loaded(given)
        faults += failed
        chosen = tuple(question for question in questions if question.category in self.criteria)
        if not chosen:
            faults.append(f"no question has a category that it names ({', '.join(self.criteria)})")
        faults += self._untargeted(chosen, loaded, bench, reference)
        if faults:
            many = "; ".join(f"({at}) {fault}" for at, fault in enumerate(faults, 1)) if len(faults) > 1 else faults[0]
            raise DataError(f"{len(faults)} problems: {many}" if len(faults) > 1 else many, path=self.path)
        return Planned(chosen, self.criteria, loaded, list(self._notices(questions)))

    def _unknown_categories(self, questions: Sequence[Question]) -> Iterator[str]:
        there = list(dict.fromkeys(question.category for question in questions))
        for name in self.criteria:
            if name not in there and name not in CATEGORIES:
                yield f"no question has the category {name!r}; {nearest(name, there)}"

    def _unjudged(self, mode: Mode, name: str, bench: Bench) -> Iterator[str]:
        """Yield the criteria for which the judge set has no prompt."""
        try:
            judge_set = load_judge_set(name, bench.folder)
        except TurnbenchError as error:
            yield f"{error}; name one for {self.language!r} with --judge-set"
            return
        for category, criteria in self.criteria.items() if mode == "single" else ():
            for criterion in criteria:
                if not _has_prompt(judge_set, category, criterion):
                    known = nearest(criterion, judge_set.categories.get(category) or judge_set.criteria)
                    yield f"{category}: the judge set {judge_set.name} has no prompt for {criterion!r}; {known}"

    def _loaded(self, given: Setup) -> tuple[list[Metric], list[str]]:
        """Return the metrics, each for its categories, and why some cannot be computed.

        The user's settings of models take precedence over the file's.
        """
        setup = replace(
            given,
            language=self.language,
            bert_model=given.bert_model or BERT_MODELS.get(self.language),
            unieval_models=given.unieval_models or self.checkpoints,
            unieval_categories=self.dimensions,
        )
        wanted: dict[str, list[str]] = {}
        faults = []
        for category, names in self.metrics.items():
            for name in dict.fromkeys(names):
                if name in METRICS and name != "unieval":
                    wanted.setdefault(name, []).append(category)
                else:
                    known = [own for own in METRICS if own != "unieval"] + list(NAMES)
                    faults.append(f"{category}: no metric {name!r}; {nearest(name, known)}")
        if any(self.dimensions.values()):
            wanted["unieval"] = [category for category, names in self.dimensions.items() if names]
        loaded = []
        for name, categories in wanted.items():
            try:
                loaded.append(_only_for(load_metric(name, setup), frozenset(categories)))
            except TurnbenchError as error:
                faults.append(f"{', '.join(categories[:_SHOWN])}: {error}")
        return loaded, faults

    def _untargeted(
        self, questions: Sequence[Question], metrics: Sequence[Metric], bench: Bench, reference: str | None
    ) -> Iterator[str]:
        """Yield what is missing in questions for the metrics of their category: a target to compare answers with, or a
        context."""
        wanting = [metric for metric in metrics if metric.needs_reference or metric.lacks is not None]
        if not wanting:
            return
        compares = any(metric.needs_reference or metric.reads_reference for metric in wanting)
        try:
            there = bench.reference_answers(reference) if compares else {}
        except TurnbenchError as error:
            yield str(error)
            return
        for category in self.criteria:
            own = [question for question in questions if question.category == category]
            lacking: dict[tuple[str, tuple[QuestionId, ...]], list[str]] = {}
            for metric in wanting:
                for what, ids in _lacking(metric, own, there).items():
                    lacking.setdefault((what, tuple(ids)), []).append(metric.name)
            for (what, without), names in lacking.items():
                shown = listed(list(map(str, without)), _SHOWN)
                yield f"{category}: no {_TOLD[what]} for question {shown}, required by {', '.join(names)}"

    def _notices(self, questions: Sequence[Question]) -> Iterator[str]:
        there = [question.category for question in questions]
        for name in dict.fromkeys(there):
            if name not in self.criteria:
                yield f"left out: {there.count(name)} questions of the category {name}, not in {self.path.name}"
        unused = [name for name in self.criteria if name not in there]
        if unused:
            yield f"no question has the category {', '.join(unused)}"


def planned_metrics(
    names: Sequence[str],
    bench: Bench,
    questions: Sequence[Question],
    *,
    given: Setup,
    reference: str | None,
    evaluation: Evaluation | None = None,
    mode: Mode | None = None,
    judge_set: str | None = None,
) -> Planned:
    """Return the metrics of these names and an evaluation's plan, checked before any call.

    Raises:
        TurnbenchError: see `load_metrics` and `Evaluation.planned`.
    """
    named = load_metrics(names, given)
    if evaluation is None:
        return Planned(tuple(questions), {}, named, [])
    planned = evaluation.planned(bench, questions, mode=mode, judge_set=judge_set, given=given, reference=reference)
    known = {metric.name for metric in named}
    return replace(planned, metrics=[*named, *(metric for metric in planned.metrics if metric.name not in known)])


def usual_judge_set(language: str, mode: Mode) -> str:
    """Return the name of the judge set for ColossalAI's evaluation in a language: of grades, or of pairs."""
    return f"{'metrics' if mode == 'single' else 'battle'}_{LANGUAGES.get(language, language)}"


def read_evaluation(path: pathlib.Path | str) -> Evaluation:
    """Return the contents of a file: JSON in ColossalAI's form, or the same as TOML.

    Raises:
        DataError: it cannot be read, or does not have that form; the message lists all problems.
    """
    path = pathlib.Path(path)
    value = read_toml(path) if path.suffix.lower() == ".toml" else read_json(path)
    faults = faults_of(value, _File, path)
    if len(faults) > 1:
        said = "; ".join(str(fault).removeprefix(f"{path}: ") for fault in faults)
        raise DataError(f"{len(faults)} problems: {said}", path=path)
    file = decoded(value, _File, path)
    return Evaluation(
        path,
        LANGUAGES.get(file.language, file.language),
        _each(file.category, lambda own: [_folded(name) for name in own.GPT]),
        _each(file.category, lambda own: [NAMES.get(_folded(name), _folded(name)) for name in own.Metrics]),
        _each(file.category, lambda own: [name.replace("-", "/", 1) for name in own.UniEval]),
        {task: _beside(path, place) for task, place in file.path_for_UniEval.items()},
    )


def _each(categories: Mapping[str, Category], names: Callable[[Category], Sequence[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(dict.fromkeys(names(own))) for name, own in categories.items()}


def _folded(name: str) -> str:
    """Return a name of theirs as ours are written: `language organization` is `language_organization`."""
    return "_".join(name.lower().split())


def _beside(path: pathlib.Path, place: str) -> str:
    """Return a checkpoint's folder, looked for next to the file first; else as the file states."""
    own = path.parent / place
    return str(own) if own.is_dir() else place


def _has_prompt(judge_set: JudgeSet, category: str, criterion: str) -> bool:
    """Return whether the set defines a criterion for a category.

    A set of our form does so with the criterion's default text. ColossalAI's prompt file has an entry for each
    category, and one for all others.
    """
    if criterion not in judge_set.criteria:
        return False
    listed = judge_set.categories.get(category, judge_set.categories.get("default", ()))
    return judge_set.path.suffix.lower() != ".json" or criterion in listed


def _lacking(
    metric: Metric, questions: Sequence[Question], references: Mapping[QuestionId, Sequence[str]]
) -> dict[str, list[QuestionId]]:
    """Return the questions in which something is missing for a metric, by what is missing; any turn's reference
    counts."""
    found: dict[str, list[QuestionId]] = {}
    for question in questions:
        reference = next(filter(None, references.get(question.question_id, ())), None)
        for what in metric.lacking(question, reference) if metric.applies(question, 1) else ():
            found.setdefault(what, []).append(question.question_id)
    return found


def _only_for(metric: Metric, categories: frozenset[str]) -> Metric:
    """Return the metric for questions of these categories only."""
    applies = metric.applies
    return replace(metric, applies=lambda question, turn: question.category in categories and applies(question, turn))
