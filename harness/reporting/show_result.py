"""`show_result`: from the judgments of a benchmark to the page that says who is better."""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, UsageError
from harness.options import ShowResult, build
from harness.reporting.columns import Section, View
from harness.reporting.formats import frame, text
from harness.reporting.html import fragment
from harness.reporting.page import Note, Page, Row, listed
from harness.reporting.results_page import results_page, sections_of
from harness.results import Panel, Scores, common, panels, read
from harness.results.scores import WIN
from harness.store import failures


@dataclass(frozen=True)
class Result:
    """What `show_result` returns: the page, its rows, and the exit code of the command."""

    page: Page
    exit_code: int = 0
    sections: Sequence[Section] = field(default=(), repr=False)

    def rows(self) -> Sequence[Row]:
        """Return the rows as dictionaries, unrounded."""
        return self.page.all_rows

    def frame(self) -> Any:
        """Return the rows as a pandas DataFrame."""
        return frame(self.page)

    def __str__(self) -> str:
        return text(self.page)

    def _repr_html_(self) -> str:
        return fragment(self.page)


def show_result(mode: str | None = None, **options: Any) -> Result:
    """Return the results of a benchmark; keywords are the flags of the command `show_result`.

    >>> show_result("single", bench_name="mt_bench", judge_model="gpt-4.1").rows()  # doctest: +SKIP

    Raises:
        UsageError: an option is unknown or cannot be.
        MissingError: there are no such judgments.
        DataError: a row is invalid; with file and line.
    """
    given = options if mode is None else {"mode": mode, **options}
    return results_of(build(ShowResult, given))


def results_of(options: ShowResult) -> Result:
    """Return the results that an options record asks for."""
    bench = _bench(options)
    scores = _selected(_read(options, bench), options, bench)
    view = _view(options, bench, scores)
    if view.baseline is not None:
        scores = _with_baseline(scores, view.baseline)
    if options.common:
        scores = common(scores, options.slice.model_list or None)
    groups = panels(scores, named=options.select.judge_model)
    sections = sections_of(groups, view)
    if options.common:
        sections = [_complete(own) for own in sections]
    causes = _causes(bench, groups, options)
    page = results_page(sections, view, causes)
    incomplete = any(own.ranking.incomplete for own in sections)
    return Result(page, int(incomplete), sections)


# Which judgments


def _bench(options: ShowResult) -> Bench | None:
    """Return the benchmark; with --input-file it may be missing."""
    try:
        return benches.load(options.bench.bench_name, options.bench.data_dir)
    except UsageError:
        if options.select.input_file:
            return None
        raise


def _read(options: ShowResult, bench: Bench | None) -> Scores:
    select = options.select
    kinds = {"single": "single", "pairwise-baseline": "pair", "pairwise-all": "pair"}
    kind: Any = "vote" if select.votes else kinds.get(select.mode or "")
    if not select.input_file and not select.votes and bench is not None:
        return read(bench, kind=kind, metrics=options.metric)
    return read(bench, files=select.votes or select.input_file, kind=kind, metrics=options.metric)


def _selected(scores: Scores, options: ShowResult, bench: Bench | None) -> Scores:
    """Return the verdicts that the flags ask for.

    Raises:
        MissingError: none is left; the message names what there is.
    """
    select, slices = options.select, options.slice
    keep = np.ones(len(scores.sources), dtype=bool)
    for at, source in enumerate(scores.sources):
        keep[at] = (
            (not select.judge_model or source.judge in select.judge_model)
            and (
                select.judge_set is None
                or select.judge_set in (source.judge_set, f"{source.judge_set} {source.version}")
                or source.kind != "judge"
            )
            and (select.sample is None or source.sample == select.sample)
            and (select.score_method is None or source.method == select.score_method)
            and (not options.metric or source.form == "metric" or "score" in options.metric)
            and (options.variant is None or source.method.split()[0] == options.variant)
            and not any(fnmatch.fnmatch(source.judge, glob) for glob in select.exclude)
        )
    found = scores.take(keep[scores.source])
    if slices.criterion:
        found = found.of(metric=slices.criterion)
    if slices.turns:
        found = found.of(turns=slices.turns)
    if bench is not None and slices != type(slices)(
        turns=slices.turns, criterion=slices.criterion, model_list=slices.model_list
    ):
        ends = slices.question_begin, slices.question_end
        taken = benches.take(bench.questions, *ends, slices.first_n, slices.sample_n)
        found = found.of(questions=[question.question_id for question in taken])
    if slices.model_list:
        models = {*slices.model_list, *([select.baseline_model] if select.baseline_model else [])}
        found = found.of(models=models)
    if not len(found):
        judges = listed(sorted({source.judge for source in scores.sources}), 9)
        names = listed(sorted(scores.models), 9)
        raise MissingError(f"no such judgments; there are those of {judges} on {names}")
    return found


def _view(options: ShowResult, bench: Bench | None, scores: Scores) -> View:
    by = tuple({"question": "question_id"}.get(name, name) for name in options.by)
    pooled = options.aggregate in (None, "pooled")
    name = bench.name if bench is not None else options.select.input_file[0].stem
    return View(
        bench=name,
        by=by,
        models=options.slice.model_list,
        baseline=_baseline(options, scores),
        aggregate=None if pooled else options.aggregate,  # type: ignore[arg-type]
        sort=options.board.sort,
        details=options.details,
    )


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
    if not len(pairs):
        return None
    codes = np.unique(np.concatenate([pairs.model, pairs.opponent])).tolist()
    for code in codes:
        in_all = bool(((pairs.model == code) | (pairs.opponent == code)).all())
        if in_all and (len(codes) > 2):
            found: str = scores.models[code]
            return found
    if select.mode == "pairwise-baseline" and len(codes) > 2:
        raise UsageError("no model is in every pair; name one with --baseline-model")
    return None


def _with_baseline(scores: Scores, baseline: str) -> Scores:
    """Return the pairs with the baseline, and everything that is no pair."""
    code = scores.models.index(baseline)
    pairs = scores.opponent >= 0
    return scores.take(~pairs | (scores.model == code) | (scores.opponent == code))


def _complete(own: Section) -> Section:
    """Return a section whose missing judgments do not count: those of --common."""
    ranking = replace(own.ranking, missing=())
    own.evidence[0] = replace(own.evidence[0], ranking=ranking)
    return own


# Why judgments are missing


def _causes(bench: Bench | None, groups: Sequence[Panel], options: ShowResult) -> list[Note]:
    """Return the causes of missing judgments, each with the command that helps."""
    if bench is None:
        return []
    judges = " ".join(dict.fromkeys(judge for panel in groups for judge in panel.judges))
    modes = {panel.form for panel in groups}
    mode = " --mode pairwise-all" if modes == {"pair"} else ""
    command = f"gen_judgment --judge-model {judges}{mode}"
    command += f" {bench.flags}".replace(" --bench-name mt_bench", "")
    found = []
    failed = failures(bench.folder, "model_judgment/*")
    if failed:
        last = max(failed, key=lambda failure: failure.time)
        status = f"HTTP {last.status}, " if last.status else ""
        calls = "1 call" if len(failed) == 1 else f"{len(failed)} calls"
        found.append(Note(f"{calls} failed (last: {status}{last.kind})", command))
    unread = sum(int((~panel.combined.valid).sum()) for panel in groups)
    if unread:
        replies = "1 reply holds" if unread == 1 else f"{unread} replies hold"
        found.append(Note(f"{replies} no verdict", f"{command} --redo failed"))
    lost = sum(own.absent for panel in groups for own in _absent(panel))
    if lost > len(failed):
        number = lost - len(failed)
        were = "1 judgment was" if number == 1 else f"{number} judgments were"
        found.append(Note(f"{were} never made", command))
    return found


def _absent(panel: Panel) -> list[Any]:
    from harness.results import missing

    return missing(panel.combined.of(metric=panel.metrics[0]))
