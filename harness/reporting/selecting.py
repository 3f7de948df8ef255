"""Which judgments `show_result` shows, and how: from its flags to scores and a view."""

import contextlib
import fnmatch
from collections.abc import Sequence
from typing import Any

import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.judging import sets
from harness.options import ShowResult
from harness.reporting.page import listed
from harness.reporting.section import View
from harness.results import Scores, Source, read
from harness.results.scores import WIN
from harness.results.summarize import Aggregate
from harness.store import looks_like
from harness.types import UNSTATED, Question, Vote


def load_bench(options: ShowResult) -> Bench | None:
    """Return the benchmark; with --input-file it may be missing."""
    try:
        return benches.load(options.bench.bench_name, options.bench.data_dir)
    except UsageError:
        if options.select.input_file:
            return None
        raise


def read_scores(options: ShowResult, bench: Bench | None) -> Scores:
    """Return every verdict in the files that the flags name."""
    select = options.select
    kinds = {"single": "single", "pairwise-baseline": "pair", "pairwise-all": "pair"}
    kind: Any = kinds.get(select.mode or "")
    if select.votes or any(looks_like(path, Vote) for path in select.input_file):
        kind = "vote"
    if not select.input_file and not select.votes and bench is not None:
        return read(bench, kind=kind, metrics=options.metric)
    return read(bench, files=select.votes or select.input_file, kind=kind, metrics=options.metric)


def selected(scores: Scores, options: ShowResult, bench: Bench | None) -> Scores:
    """Return the verdicts that the flags ask for.

    Raises:
        MissingError: none is left; the message names what there is.
    """
    select, slices = options.select, options.slice
    forms = ("metric", *(("grade", "dimensions", "label") if "score" in options.metric else ()))

    def asked_for(source: Source) -> bool:
        names = source.judge_set, f"{source.judge_set} {source.version}"
        if source.kind == "judge" and not (
            source.judge in (select.judge_model or [source.judge])
            and (select.judge_set is None or select.judge_set in names)
        ):
            return False
        variant = source.method.partition(" ")[0] if source.form == "metric" else None
        return (
            select.sample in (None, source.sample)
            and source.method.startswith(select.score_method or "")
            and (not options.metric or source.form in forms)
            and (variant is None or options.variant in (None, variant))
            and not any(fnmatch.fnmatch(source.judge, glob) for glob in select.exclude)
        )

    keep = np.array([asked_for(source) for source in scores.sources], dtype=bool)
    kept = scores.take(keep[scores.source])
    if slices.criterion:
        kept = kept.of(metric=slices.criterion)
    if slices.turns:
        kept = kept.of(turns=slices.turns)
    if bench is not None:
        taken = questions_taken(options, bench)
        if len(taken) < len(bench.questions):
            kept = kept.of(questions=[question.question_id for question in taken])
    if not len(kept):
        judges = listed(sorted({source.judge for source in scores.sources}), 9)
        raise MissingError(f"no such judgments; there are those of {judges}")
    return kept


def questions_taken(options: ShowResult, bench: Bench) -> Sequence[Question]:
    """Return the questions that --question-begin, --first-n and the like leave."""
    part = options.slice
    ends = part.question_begin, part.question_end
    return benches.take(bench.questions, *ends, part.first_n, part.sample_n)


def view_of(options: ShowResult, bench: Bench | None, scores: Scores) -> View:
    """Return how the judgments are to be shown."""
    if len(options.by) > 1:
        raise UsageError(f"--by takes one field; here are {listed(options.by)}")
    by = next(iter(options.by), None)
    questions = [scores.questions[code] for code in np.unique(scores.question).tolist()]
    if bench is not None and any(question.category for question in questions):
        name = bench.name
    else:  # somebody's file, about other questions
        name = (*options.select.input_file, *options.select.votes)[0].stem
    return View(
        bench=name,
        by="question_id" if by == "question" else by,
        models=options.slice.model_list,
        baseline=_baseline(options, scores),
        aggregate=options.aggregate if options.aggregate != "pooled" else None,
        aggregates={} if options.aggregate else _aggregates(scores, bench),
        sort=options.board.sort,
        details=options.details,
        noun="instruction" if name.startswith("alpaca_eval") else "question",
    )


def _aggregates(scores: Scores, bench: Bench | None) -> dict[str, Aggregate]:
    """Return how the grades of a conversation are combined, of the sets that say it."""
    aggregates: dict[str, Aggregate] = {}
    for name in {source.judge_set for source in scores.sources} - {UNSTATED}:
        with contextlib.suppress(TurnbenchError):  # a set of somebody else's, which is not here
            judge_set = sets.load(name, None if bench is None else bench.folder)
            aggregates |= {name: judge_set.aggregate} if judge_set.aggregate else {}
    return aggregates


def _baseline(options: ShowResult, scores: Scores) -> str | None:
    """Return the baseline: the one named, or the model that is in every pair of three or more."""
    select = options.select
    if select.mode == "pairwise-all":
        return None
    if select.baseline_model is not None:
        if select.baseline_model not in scores.models:
            raise MissingError(f"no pairs with {select.baseline_model} (--baseline-model)")
        return select.baseline_model
    pairs = scores.take(scores.opponent >= 0).of(metric=WIN)
    models = pairs.models_present
    if len(models) < 3:
        return None
    for name in models:
        if len(pairs.of(models=[name])) == len(pairs):
            return name
    if select.mode == "pairwise-baseline":
        raise UsageError("no model is in every pair; name one with --baseline-model")
    return None


def of_models(scores: Scores, view: View) -> Scores:
    """Return the verdicts on the models asked for; with a baseline the pairs with it.

    Raises:
        MissingError: there is none; the message names the models there are.
    """
    kept = scores
    if view.baseline is not None:
        code = scores.models.index(view.baseline)
        pairs = scores.opponent >= 0
        kept = scores.take(~pairs | (scores.model == code) | (scores.opponent == code))
    if view.models:
        baseline = [view.baseline] if view.baseline else []
        kept = kept.of(models=[*view.models, *baseline])
    if not len(kept):
        raise MissingError(
            f"no judgments of {listed(view.models)}; there are those of {listed(scores.models, 9)}"
        )
    return kept
