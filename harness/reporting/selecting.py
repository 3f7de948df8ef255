"""Which judgments `show_result` shows, and how: from its flags to scores and a view."""

import contextlib
import fnmatch
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.judging import sets
from harness.options import ShowResult
from harness.reporting.section import View
from harness.results import Panel, Scores, Source, baseline_of, common, panels, read
from harness.results.scores import WIN, present
from harness.results.summarize import Aggregate
from harness.store import looks_like
from harness.types import FAILED_SCORE, RESERVED, Vote
from harness.words import listed


@dataclass(frozen=True)
class Judged:
    """The judgments that the flags ask for."""

    bench: Bench
    scores: Scores
    view: View
    groups: list[Panel]
    """The largest first."""

    def panel(self, *forms: str, need: str) -> Panel:
        """Return the largest panel of some forms.

        Raises:
            MissingError: there is none; `need` says what for.
        """
        for panel in self.groups:
            if panel.form in forms:
                return panel
        raise MissingError(f"{need}; there are none")


def read_judged(options: ShowResult) -> Judged:
    """Return the judgments that the flags ask for, and how they are to be shown."""
    bench = benches.load_named(options.bench.first)
    scores, view = select(options, bench)
    return Judged(bench, scores, view, panels(scores, named=options.select.judge_model))


def select(options: ShowResult, bench: Bench) -> tuple[Scores, View]:
    """Return the verdicts that the flags ask for, and how they are to be shown.

    Raises:
        MissingError: there are none; the message names what there is.
    """
    select = options.select
    kinds = {"single": "single", "pairwise-baseline": "pair", "pairwise-all": "pair"}
    kind: Any = kinds.get(select.mode or "")
    if select.votes or any(looks_like(path, Vote) for path in select.input_file):
        kind = "vote"
    files = select.votes or select.input_file
    chosen = _chosen(read(bench, files=files, kind=kind, metrics=options.metric), options, bench)
    view = _view(options, bench, chosen)
    scores = chosen
    if view.baseline is not None:
        code = scores.models.index(view.baseline)
        pairs = scores.opponent >= 0
        scores = scores.take(~pairs | (scores.model == code) | (scores.opponent == code))
    if _alone(options, view) and view.models[0] in scores.models_present:
        view = replace(view, focus=view.models[0])
    elif view.models:
        scores = scores.of(models=[*view.models, *([view.baseline] if view.baseline else [])])
    if not len(scores):
        models = listed(chosen.models, 9)
        raise MissingError(f"no judgments of {listed(view.models)}; there are those of {models}")
    if options.common or options.efficiency:
        scores = common(scores, None if view.focus else view.models or None)
        if not len(scores):
            raise MissingError("no question has verdicts on all of the models")
    if options.count_failed:
        grades = np.array([source.form == "grade" for source in scores.sources])[scores.source]
        value = np.where(grades & ~scores.valid, FAILED_SCORE, scores.value)
        scores = replace(scores, value=value)
    return scores, view


def _alone(options: ShowResult, view: View) -> bool:
    """Return whether the results of one model are shown, compared with each of the others."""
    others = options.style, options.first_turn_effect, options.efficiency, options.gate.against
    elsewhere = any((*others, options.metric, options.board.board, options.select.input_file))
    return len(view.models) == 1 and view.baseline is None and not elsewhere


def _chosen(scores: Scores, options: ShowResult, bench: Bench) -> Scores:
    """Return the verdicts of the judges, sets, samples, questions and turns of the flags."""
    select = options.select
    judged = ("grade", "dimensions", "label") if "score" in options.metric else ()

    def is_chosen(source: Source) -> bool:
        if source.kind == "judge":
            names = source.judge_set, f"{source.judge_set} {source.version}"
            if select.judge_model and source.judge not in select.judge_model:
                return False
            if select.judge_set not in (None, *names):
                return False
        if source.form == "metric":
            chosen = options.variant in (None, source.method.partition(" ")[0])
        else:
            chosen = not options.metric or source.form in judged
        return (
            chosen
            and select.sample in (None, source.sample)
            and source.method.startswith(select.score_method or "")
            and not any(fnmatch.fnmatch(source.judge, glob) for glob in select.exclude)
        )

    which = np.array([is_chosen(source) for source in scores.sources], dtype=bool)
    chosen = scores.take(which[scores.source])
    chosen = chosen.of(metric=options.slice.criterion or None, turns=options.slice.turns or None)
    taken = bench.take(options.slice)
    if len(taken) < len(bench.questions):
        chosen = chosen.of(questions=[question.question_id for question in taken])
    if not len(chosen):
        if options.metric:
            names = " ".join(options.metric)
            raise MissingError(f"there are no numbers of {names}; run turnbench auto_metrics first")
        judges = listed(sorted({source.judge for source in scores.sources}), 9)
        raise MissingError(f"no such judgments; there are those of {judges}")
    return chosen


def check_by(options: ShowResult) -> None:
    """Raise UsageError unless --by names one field, and none that rows have anyway."""
    if len(options.by) > 1:
        raise UsageError(f"--by takes one field; here are {listed(options.by)}")
    if wrong := set(options.by) & RESERVED:
        raise UsageError(f"--by {wrong.pop()}: every row has a field of this name already")


def _view(options: ShowResult, bench: Bench, scores: Scores) -> View:
    by = options.by[0] if options.by else None
    files = *options.select.input_file, *options.select.votes
    questions = [scores.questions[code] for code in present(scores.question)]
    others = files and not any(question.category for question in questions)  # of another benchmark
    return View(
        bench=files[0].stem if others else bench.name,
        by="question_id" if by == "question" else by,
        models=options.slice.model_list,
        baseline=_baseline(options, scores),
        aggregates=_aggregates(options, scores, bench),
        sort=options.board.sort,
        details=options.details,
        common=options.common,
    )


def _aggregates(options: ShowResult, scores: Scores, bench: Bench) -> dict[str, Aggregate]:
    """Return how the turns of a conversation are one number: by the flag, else by judge set."""
    names, rule = {source.judge_set for source in scores.sources}, options.aggregate
    if rule is not None:
        return {} if rule == "pooled" else dict.fromkeys(names, rule)
    aggregates: dict[str, Aggregate] = {}
    for name in names:
        with contextlib.suppress(TurnbenchError):  # a set of somebody else's, which is not here
            if aggregate := sets.load(name, bench.folder).aggregate:
                aggregates[name] = aggregate
    return aggregates


def _baseline(options: ShowResult, scores: Scores) -> str | None:
    """Return the baseline: the one named, or the model that is in every pair of three or more."""
    select = options.select
    if select.mode == "pairwise-all":
        return None
    if (name := select.baseline_model) is not None:
        if name not in scores.models:
            raise MissingError(f"no pairs with {name} (--baseline-model)")
        return name
    baseline = baseline_of(scores)
    if baseline is None and select.mode == "pairwise-baseline":
        pairs = scores.take(scores.opponent >= 0).of(metric=WIN)
        if len(pairs.models_present) > 2:
            raise UsageError("no model is in every pair; name one with --baseline-model")
    return baseline
