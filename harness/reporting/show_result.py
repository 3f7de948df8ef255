"""`show_result`: from the judgments of a benchmark to the page that says who is better."""

import fnmatch
import functools
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.judging import sets
from harness.models.endpoint import ModelConfig
from harness.models.prices import Price
from harness.models.resolving import resolve
from harness.options import ShowResult, build, option
from harness.reporting.boards import with_board
from harness.reporting.columns import Section, View
from harness.reporting.formats import frame, text
from harness.reporting.html import fragment
from harness.reporting.other_pages import (
    against_page,
    cost_page,
    efficiency_page,
    first_turn_page,
    style_page,
)
from harness.reporting.page import Note, Page, Row, listed
from harness.reporting.results_page import results_page, sections_of
from harness.results import Panel, Scores, common, panels, read
from harness.results.board import Origin, added, board_rows, check_board, write_board
from harness.results.gate import gate
from harness.results.length_control import Controlled, length_controlled, read_gamed
from harness.results.scores import WIN
from harness.results.spent import Cost
from harness.results.summarize import Aggregate
from harness.store import failures, looks_like
from harness.types import FAILED_SCORE, UNSTATED, Detail, Vote, split_variant


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


def results_of(options: ShowResult, cost: Cost | None = None) -> Result:
    """Return the results that an options record asks for.

    Args:
        options: the flags.
        cost: the price of a reply, for --cost and --efficiency (default: the list's).
    """
    instead = [name for name in INSTEAD if getattr(options, name)]
    if len(instead) > 1:
        raise UsageError(f"{' and '.join(map(option, instead))} exclude each other")
    bench = _bench(options)
    if options.cost:
        models, judges = options.slice.model_list, options.select.judge_model
        return Result(cost_page(_needed(bench, "--cost"), cost or price_of(), models, judges))
    everything = _selected(_read(options, bench), options, bench)
    view = _view(options, bench, everything)
    scores = _of_models(everything, view)
    if options.common or options.efficiency:
        scores = common(scores, options.slice.model_list or None)
    if options.count_failed:
        scores = replace(scores, value=np.where(scores.valid, scores.value, FAILED_SCORE))
    groups = panels(scores, named=options.select.judge_model)
    if options.style:
        return Result(style_page(_pairs(groups).combined, _needed(bench, "--style"), options.style))
    if options.first_turn_effect:
        home = _needed(bench, "--first-turn-effect")
        return Result(first_turn_page(_grades(groups), home))
    if options.efficiency:
        home = _needed(bench, "--efficiency")
        models = options.slice.model_list
        return Result(efficiency_page(groups[0], home, cost or price_of(), models))
    if view.baseline is not None and bench is not None:
        view = replace(view, controlled=_controlled(options, scores, bench, view.baseline))
    sections = sections_of(groups, view)
    if options.common:
        sections = [_complete(own) for own in sections]
    page = results_page(sections, view, _causes(bench, groups))
    if options.against is not None:
        return _against(options, bench, groups[0], page)
    if options.board.board is not None:
        home = _needed(bench, "--board")
        return Result(_on_board(options, home, groups, view, page), 0, sections)
    incomplete = any(own.ranking.incomplete for own in sections)
    return Result(page, int(incomplete), sections)


INSTEAD = ("cost", "efficiency", "style", "first_turn_effect")
"""Flags that show something in place of results."""


def _needed(bench: Bench | None, flag: str) -> Bench:
    if bench is None:
        raise UsageError(f"{flag} needs the benchmark's folder: --bench-name, --data-dir")
    return bench


def _pairs(groups: Sequence[Panel]) -> Panel:
    found = next((panel for panel in groups if panel.form in ("pair", "vote")), None)
    if found is None:
        raise MissingError("--style needs pairs; there are only grades")
    return found


def _grades(groups: Sequence[Panel]) -> Panel:
    found = next((panel for panel in groups if panel.form == "grade"), None)
    if found is None:
        raise MissingError("--first-turn-effect needs grades; there are none")
    return found


def _against(options: ShowResult, bench: Bench | None, panel: Panel, page: Page) -> Result:
    """Return this run compared with the one of --against."""
    path = options.against
    assert path is not None
    others = panels(read(bench, files=[path]))
    same = [other for other in others if other.form == panel.form] or others
    alike = [other for other in same if other.judge_set == panel.judge_set] or same
    renamed = {}
    for pair in options.compare:
        new, mark, old = pair.partition("=")
        if not mark:
            raise UsageError(f"--compare {pair}: write NEW=OLD")
        renamed[new] = old
    gated = gate(
        panel,
        alike[0],
        margin=options.margin,
        renamed=renamed or None,
        models=options.slice.model_list or None,
        allow=options.board.allow,
        max_missing=options.max_missing,
    )
    name = bench.name if bench is not None else path.stem
    gating = options.fail_if_worse or options.margin is not None
    made = against_page(gated, panel, name, page.all_rows, options.margin, gating=gating)
    made = replace(made, facts=page.facts)
    return Result(made, int(options.fail_if_worse and not gated.passes))


def _controlled(
    options: ShowResult, scores: Scores, bench: Bench, baseline: str
) -> dict[str, Controlled]:
    """Return the win rates at equal length: as asked, else where the benchmark has df_gamed.csv."""
    wanted = options.board.length_control
    gamed = None if wanted == "off" else read_gamed(bench)
    if wanted == "off" or (wanted is None and gamed is None):
        return {}
    found = length_controlled(scores, bench, baseline, gamed)
    return {own.model: own for own in found}


def _on_board(
    options: ShowResult, bench: Bench, groups: Sequence[Panel], view: View, page: Page
) -> Page:
    """Write the board and return the page with the rows around one's own."""
    path = options.board.board
    assert path is not None
    if view.baseline is None:
        raise UsageError("--board is for pairs with a baseline: --mode pairwise-baseline")
    panel = _pairs(groups)
    version = f" {panel.versions[-1]}" if panel.versions else ""
    origin = Origin(panel.judges[0], f"{panel.judge_set}{version}", view.baseline)
    rows = board_rows(panel.combined, bench, origin, list(view.controlled.values()))
    models = [row["model"] for row in rows]
    more = {"overwrite": options.board.overwrite, "sort": options.board.sort}
    board = check_board(path, origin, models, allow=options.board.allow, **more)  # type: ignore[arg-type]
    board = added(board, rows, options.board.sort)
    write_board(path, board)
    return with_board(page, board, path, models, bench, view.baseline)


def price_of(models: Mapping[str, Any] | None = None) -> Cost:
    """Return the price of replies: by the tables of turnbench.toml, else by the list."""

    known_models = msgspec.convert(models or {}, dict[str, ModelConfig])

    @functools.cache
    def price(model: str) -> Price | None:
        try:
            return resolve(split_variant(model)[0], models=known_models, key_needed=False).price
        except TurnbenchError:  # a name that no provider has
            return None

    def cost(model: str, detail: Detail) -> float | None:
        known = price(model)
        return None if known is None else known.cost(detail)

    return cost


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
    kind: Any = kinds.get(select.mode or "")
    if select.votes or any(looks_like(path, Vote) for path in select.input_file):
        kind = "vote"
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
    wanted = ("metric", *(("grade", "dimensions", "label") if "score" in options.metric else ()))
    for at, source in enumerate(scores.sources):
        keep[at] = (
            (not select.judge_model or source.judge in select.judge_model or source.kind != "judge")
            and (
                select.judge_set is None
                or select.judge_set in (source.judge_set, f"{source.judge_set} {source.version}")
                or source.kind != "judge"
            )
            and (select.sample is None or source.sample == select.sample)
            and (select.score_method is None or source.method.startswith(select.score_method))
            and (not options.metric or source.form in wanted)
            and (
                options.variant is None
                or source.form != "metric"
                or source.method.split()[0] == options.variant
            )
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
    if not len(found):
        judges = listed(sorted({source.judge for source in scores.sources}), 9)
        raise MissingError(f"no such judgments; there are those of {judges}")
    return found


def _view(options: ShowResult, bench: Bench | None, scores: Scores) -> View:
    by = tuple({"question": "question_id"}.get(name, name) for name in options.by)
    used = {source.judge_set for source in scores.sources} if options.aggregate is None else set()
    name = bench.name if bench is not None else options.select.input_file[0].stem
    return View(
        bench=name,
        by=by,
        models=options.slice.model_list,
        baseline=_baseline(options, scores),
        aggregate=options.aggregate if options.aggregate != "pooled" else None,
        aggregates=_aggregates(used, bench),
        sort=options.board.sort,
        details=options.details,
        noun="instruction" if name.startswith("alpaca_eval") else "question",
    )


def _aggregates(judge_sets: AbstractSet[str], bench: Bench | None) -> dict[str, Aggregate]:
    """Return how the grades of a conversation are combined, of the sets that say it."""
    found: dict[str, Aggregate] = {}
    for name in judge_sets - {UNSTATED}:
        try:
            judge_set = sets.load(name, None if bench is None else bench.folder)
        except TurnbenchError:  # a set of somebody else's, which is not here
            continue
        if judge_set.aggregate is not None:
            found[name] = judge_set.aggregate
    return found


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


def _of_models(scores: Scores, view: View) -> Scores:
    """Return the verdicts on the models asked for; with a baseline the pairs with it.

    Raises:
        MissingError: there is none; the message names the models there are.
    """
    found = scores
    if view.baseline is not None:
        code = scores.models.index(view.baseline)
        pairs = scores.opponent >= 0
        found = scores.take(~pairs | (scores.model == code) | (scores.opponent == code))
    if view.models:
        baseline = [view.baseline] if view.baseline else []
        found = found.of(models=[*view.models, *baseline])
    if not len(found):
        raise MissingError(
            f"no judgments of {listed(view.models)}; there are those of {listed(scores.models, 9)}"
        )
    return found


def _complete(own: Section) -> Section:
    """Return a section whose missing judgments do not count: those of --common."""
    ranking = replace(own.ranking, missing=())
    own.evidence[0] = replace(own.evidence[0], ranking=ranking)
    return own


# Why judgments are missing


def _causes(bench: Bench | None, groups: Sequence[Panel]) -> list[Note]:
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
