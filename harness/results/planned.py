"""A plan of a comparison, written before it is made, and what became of it.

    plan = make_plan(options)        models, judges, judge set, questions by hash, margin; no calls
    check_plan(plan, bench, panels)  point by point what was planned, what is there, if it is so

The smallest visible difference is what 80% of such comparisons would show:

    (t + 0.84) · spread / √questions      t at 5% / comparisons; Holm's first step

spread is the standard deviation of two models' difference from question to question: the median
over the models that this benchmark has judgments of; else 2.02 points, that of two close models on
MT-Bench's grades by GPT-4, or 0.5, the most that a win rate can vary.
"""

import json
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from harness import store
from harness.bench import Bench, load_named
from harness.errors import UsageError
from harness.judging.sets import load_for
from harness.options import Plan
from harness.results.compare import compare
from harness.results.estimate import LEAST, LEVEL, POWER, t_critical
from harness.results.panels import Panel, panels
from harness.results.provenance import judgments_made
from harness.results.reading import read
from harness.types import QuestionId
from harness.words import counted

GRADES, RATES = 2.02, 0.5
"""Spreads where the benchmark has no judgments to take them from."""
MOST_PAIRS = 300
"""Of models, whose spreads are looked at."""


class Planned(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """What `plan.toml` says."""

    made: str
    """When, in UTC."""
    bench: str
    version: str = ""
    models: list[str] = []
    mode: str = "single"
    baseline: str = ""
    judges: list[str] = []
    judge_set: str = ""
    judge_set_version: str = ""
    samples: int = 1
    turns: list[int] = []
    """Empty: all."""
    margin: float | None = None
    """By how much a model may be worse than another and still count as not worse."""
    comparisons: int = 1
    smallest_visible: float | None = None
    """None: fewer than five questions."""
    spread: float = GRADES
    spread_from: str = ""
    prompts: dict[str, str] = {}
    """The hash of each template of the judge set."""
    questions: dict[str, str] = {}
    """The hash of each question, by its id."""

    def __repr__(self) -> str:
        models = ", ".join(self.models)[:100]
        return (
            f"<Planned {self.bench[:60]}: {models} on {counted(len(self.questions), 'question')}>"
        )


class Point(NamedTuple):
    """One point of a plan."""

    name: str
    planned: str
    found: str
    kept: bool


def make_plan(options: Plan) -> Planned:
    """Return the plan of a comparison.

    Raises:
        UsageError: a model or judge is missing, or the judge set cannot be used so.
    """
    models = options.slice.model_list
    if len(models) < 2:
        raise UsageError("name the models to compare: --model A B")
    if not options.judge_model:
        raise UsageError("name the judges: --judge-model J")
    bench = load_named(options.bench)
    judge_set = load_for(bench, options.judge_set)
    questions = bench.take(options.slice)
    mode = options.mode or judge_set.mode or "single"
    baseline = (options.baseline_model or judge_set.baseline or "") if "base" in mode else ""
    if "base" in mode and not baseline:
        raise UsageError("name the baseline of pairwise-baseline: --baseline-model NAME")
    against = [model for model in models if model != baseline]
    tests = len(against) if baseline else len(models) * (len(models) - 1) // 2
    spread, source = _spread(bench, options.judge_model, mode)
    visible = smallest_visible(spread, len(questions), tests)
    return Planned(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        bench=bench.name,
        version=bench.settings.version or "",
        models=list(models),
        mode=mode,
        baseline=baseline,
        judges=list(options.judge_model),
        judge_set=judge_set.name,
        judge_set_version=judge_set.version,
        samples=options.samples,
        turns=list(options.slice.turns),
        margin=options.margin,
        comparisons=tests,
        smallest_visible=None if visible is None else round(visible, 4),
        spread=round(spread, 4),
        spread_from=source,
        prompts=dict(judge_set.contents),
        questions={str(question.question_id): question.hash for question in questions},
    )


def smallest_visible(spread: float, questions: int, tests: int = 1) -> float | None:
    """Return the smallest true difference that 80% of comparisons show; None: too few questions.

    >>> round(smallest_visible(2.02, 80) or 0, 2), round(smallest_visible(2.02, 80, 6) or 0, 2)
    (0.64, 0.8)
    """
    if questions < LEAST:
        return None
    return (t_critical(LEVEL / tests, questions - 1) + POWER) * spread / math.sqrt(questions)


def _spread(bench: Bench, judges: Sequence[str], mode: str) -> tuple[float, str]:
    """Return how much the difference of two models varies over questions, and how that is known."""
    usual, half = (GRADES, "MT-Bench's grades by GPT-4"), 1.0
    if mode != "single":
        usual, half = (RATES, "the most that a rate can vary"), 0.5  # of a difference, the rate
    scores = read(bench, kind="single" if mode == "single" else "pair", needed=False)
    found = panels(scores.of(judges=judges), named=judges)
    if not found:
        return usual
    compared = compare(found[0].combined.of(metric=found[0].metrics[0]))
    spreads = [
        half * pair.difference.se * math.sqrt(pair.difference.n)
        for pair in compared.pairs[:MOST_PAIRS]
        if pair.difference.n >= LEAST and pair.difference.se > 0
    ]
    if not spreads:
        return usual
    pairs = counted(len(spreads), "pair")
    import statistics  # costs more to import than most tables to make

    return statistics.median(spreads), f"{pairs} of models judged before"


def to_toml(plan: Planned) -> str:
    """Return the text of `plan.toml`."""
    values = msgspec.to_builtins(plan)
    tables = {name: value for name, value in values.items() if isinstance(value, dict)}
    lines = ["# What is to be compared, written before it is judged: turnbench plan"]
    lines += [
        f"{name} = {_toml(value)}"
        for name, value in values.items()
        if name not in tables and value not in (None, "", [])
    ]
    for name, table in tables.items():
        lines += ["", f"[{name}]"]
        lines += [f"{_toml(key)} = {_toml(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    """Return a value as TOML, which numbers, texts and lists of them have in common with JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_plan(path: Path) -> Planned:
    """Return a plan.

    Raises:
        DataError: the file is none.
    """
    return store.read_toml(path, Planned)


def check_plan(plan: Planned, bench: Bench, groups: Sequence[Panel]) -> list[Point]:
    """Return what became of a plan, point by point; `groups` are what is shown."""
    paired = plan.mode != "single"
    named = [panel for panel in groups if panel.judge_set == plan.judge_set]
    panel = next((p for p in named if (p.form == "pair") == paired), groups[0])
    made = judgments_made(panel)
    first = min((m.first for m in made.values() if m.first is not None), default=None)
    present = panel.scores.models_present
    further = [name for name in present if name not in (*plan.models, plan.baseline)]
    version = ", ".join(panel.versions) or "unknown"
    prompts = {prompt for of_judge in made.values() for prompt in of_judge.prompts}
    today = {str(q.question_id): q.hash for q in bench.questions}
    changed = [key for key, wording in plan.questions.items() if today.get(key) != wording]
    judged = _judged(plan, panel)
    shown_mode, planned_mode = (
        "pairs" if in_pairs else "grades" for in_pairs in (panel.form == "pair", paired)
    )
    baseline = f" against {plan.baseline}" if plan.baseline else ""
    begun = "unknown" if first is None else datetime.fromtimestamp(first, UTC).isoformat()[:19]
    written = datetime.fromisoformat(plan.made).timestamp()
    return [
        Point("benchmark", plan.bench, bench.name, plan.bench == bench.name),
        _same("models", plan.models, [m for m in present if m in plan.models] + further),
        _same("judges", plan.judges, panel.judges),
        Point(
            "judge set",
            f"{plan.judge_set} {plan.judge_set_version}".strip(),
            f"{panel.judge_set} {version}",
            (panel.judge_set, version) == (plan.judge_set, plan.judge_set_version),
        ),
        Point(
            "prompts",
            f"{len(plan.prompts)} by hash",
            "unknown" if not prompts else f"{len(prompts)} used",
            bool(prompts) and prompts <= set(plan.prompts.values()),
        ),
        Point("judged as", f"{planned_mode}{baseline}", shown_mode, shown_mode == planned_mode),
        Point(
            "wording of questions",
            f"{len(plan.questions)} by hash",
            f"{len(changed)} changed" if changed else "the same",
            not changed,
        ),
        Point(
            "questions judged",
            f"{len(plan.questions)}",
            f"{judged} on all planned models",
            judged == len(plan.questions),
        ),
        Point(
            "written before judging",
            plan.made[:19],
            f"first judgment {begun}",
            first is not None and written <= first + 1,
        ),
    ]


def _same(name: str, planned: Sequence[str], found: Sequence[str]) -> Point:
    same = sorted(planned) == sorted(found)
    return Point(name, ", ".join(sorted(planned)), ", ".join(sorted(found)), same)


def _judged(plan: Planned, panel: Panel) -> int:
    """Return how many of the planned questions have a verdict on each of the planned models."""
    scores = panel.combined.mirrored()
    by_question: dict[QuestionId, set[str]] = {}
    valid = scores.take(scores.valid)
    for question, model in zip(valid.question.tolist(), valid.model.tolist(), strict=True):
        key = str(scores.questions[question].question_id)
        by_question.setdefault(key, set()).add(scores.models[model])
    wanted = {model for model in plan.models if model != plan.baseline}
    return sum(wanted <= by_question.get(key, set()) for key in plan.questions)
