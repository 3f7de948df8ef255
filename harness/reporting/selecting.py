"""Which judgments `show_result` shows, and how: from its flags to scores and a view."""

import contextlib
import fnmatch
import pathlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.judging import sets
from harness.judging.current import in_words
from harness.options import Select, ShowResult, Slice
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
    votes: Scores | None = None
    """All votes of people, where they are at hand (default: read when they are needed)."""

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
    return select(options, bench, _read(options, bench))


def other_run(bench: Bench, path: pathlib.Path, part: Slice) -> list[Panel]:
    """Return the verdicts of another run on the questions, turns and criteria of a slice.

    `path` is a file of judgments, or the data folder of the other run.

    Raises:
        MissingError: there are none.
        UsageError: the folder has no such benchmark.
    """
    if path.is_dir():
        scores = read(benches.load(bench.name, path, bench.reasoning))
    else:
        scores = read(bench, files=[path])
    return panels(in_slice(scores, bench, part).of(metric=part.criterion or None))


_KINDS: Mapping[str | None, Literal["single", "pair"]] = {
    "single": "single",
    "pairwise-baseline": "pair",
    "pairwise-all": "pair",
}
"""Of `read`, by mode."""


def choose_judgments(options: ShowResult, bench: Bench) -> Scores:
    """Return the judgments of a benchmark that the flags ask for, if any."""
    scores = read(bench, kind=_KINDS.get(options.select.mode), needed=False)
    return _chosen(scores, options, bench)


def _read(options: ShowResult, bench: Bench) -> Scores:
    select = options.select
    kind: Any = _KINDS.get(select.mode)
    if select.votes or any(looks_like(path, Vote) for path in select.input_file):
        kind = "vote"
    files = select.votes or select.input_file
    return read(bench, files=files, kind=kind, metrics=options.metric)


def select(
    options: ShowResult, bench: Bench, scores: Scores, votes: Scores | None = None
) -> Judged:
    """Return those of some verdicts that the flags ask for, and how they are to be shown.

    Raises:
        MissingError: there are none; the message names what there is.
    """
    chosen = _chosen(scores, options, bench)
    if not len(chosen):
        if options.metric:
            names = " ".join(options.metric)
            raise MissingError(f"there are no numbers of {names}; run turnbench auto_metrics first")
        if chosen.left_out:
            causes = "; ".join(in_words(chosen.left_out))
            raise MissingError(f"none of these judgments is current: {causes}")
        there = {(own.judge, own.judge_set) for own in scores.sources_present.values()}
        names = listed(sorted(f"{judge} with judge set {name}" for judge, name in there), 9)
        raise MissingError(f"no such judgments; there are those of {names}")
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
        if set(view.models) <= {*chosen.models_present}:
            raise MissingError(f"no judgments of {listed(view.models)} against each other")
        models = listed(chosen.models_present, 9)
        raise MissingError(f"no judgments of {listed(view.models)}; there are those of {models}")
    if options.common or options.efficiency:
        scores = common(scores, None if view.focus else view.models or None)
        if not len(scores):
            raise MissingError("no question has verdicts on all of the models")
    if options.count_failed:
        grades = np.array([source.form == "grade" for source in scores.sources])[scores.source]
        value = np.where(grades & ~scores.valid, FAILED_SCORE, scores.value)
        scores = replace(scores, value=value)
    groups = panels(scores, named=options.select.judge_model)
    return Judged(bench, scores, view, groups, votes)


def _alone(options: ShowResult, view: View) -> bool:
    """Return whether the results of one model are shown, compared with each of the others."""
    others = options.style, options.first_turn_effect, options.efficiency, options.gate.against
    more = options.metric, options.board.board, options.select.input_file, options.changes
    elsewhere = any((*others, *more))
    return len(view.models) == 1 and view.baseline is None and not elsewhere


def _chosen(scores: Scores, options: ShowResult, bench: Bench) -> Scores:
    """Return the verdicts of the judges, sets, samples, questions and turns of the flags."""
    judged = ("grade", "dimensions", "label") if "score" in options.metric else ()

    def is_shown(source: Source) -> bool:
        if source.form == "metric":
            return options.variant in (None, source.method.partition(" ")[0])
        shown = not options.metric or source.form in judged
        return shown and is_chosen(source, options.select)

    which = np.array([is_shown(source) for source in scores.sources], dtype=bool)
    criteria = options.slice.criterion
    left_out = [
        row
        for row in scores.not_current
        if is_shown(row.source) and (not criteria or row.source.criterion in criteria)
    ]
    scores = replace(scores.take(which[scores.source]), not_current=left_out)
    return in_slice(scores, bench, options.slice).of(metric=criteria or None)


def is_chosen(source: Source, select: Select, judge_set: str | None = None) -> bool:
    """Return whether the flags ask for a source: whose, by which judge set, sample and method.

    `judge_set` stands in place of the flag's.
    """
    if source.form == "vote" and any(fnmatch.fnmatch(source.judge, g) for g in select.exclude):
        return False
    if source.kind != "judge":
        return True
    return (
        (not select.judge_model or source.judge in select.judge_model)
        and (judge_set or select.judge_set) in (None, source.judge_set, source.versioned_set)
        and select.sample in (None, source.sample)
        and source.method.startswith(select.score_method or "")
    )


def in_slice(scores: Scores, bench: Bench, part: Slice) -> Scores:
    """Return the verdicts on the questions and turns of a slice."""
    taken = bench.take(part)
    ids = [q.question_id for q in taken] if len(taken) < len(bench.questions) else None
    return scores.of(questions=ids, turns=part.turns or None)


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
