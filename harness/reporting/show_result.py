"""`show_result`: from the judgments of a benchmark to the page that says who is better."""

import contextlib
import functools
import glob
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec
import numpy as np

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.models.endpoint import ModelConfig
from harness.models.prices import Price
from harness.models.resolving import resolve
from harness.options import ShowResult, build, option
from harness.reporting import other_pages, selecting
from harness.reporting.formats import frame, text
from harness.reporting.html import fragment
from harness.reporting.page import Note, Page, Row, counted, listed
from harness.reporting.results_page import incomplete_of, results_page, sections_of
from harness.reporting.section import Section, View
from harness.results import Panel, Scores, common, missing, panels, read
from harness.results.board import Origin, added, board_rows, check_board, write_board
from harness.results.gate import gate
from harness.results.length_control import Controlled, length_controlled, read_gamed
from harness.results.spent import Cost
from harness.store import failures
from harness.types import FAILED_SCORE, split_variant


@dataclass(frozen=True)
class Result:
    """What `show_result` returns: the page, its rows, and the exit code of the command."""

    page: Page
    exit_code: int = 0

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
    bench, cost = selecting.load_bench(options), cost or price_of()
    if options.cost:
        models, judges = options.slice.model_list, options.select.judge_model
        return Result(other_pages.cost_page(_needed(bench, "--cost"), cost, models, judges))
    everything = selecting.selected(selecting.read_scores(options, bench), options, bench)
    view = selecting.view_of(options, bench, everything)
    scores = selecting.of_models(everything, view)
    if options.common or options.efficiency:
        scores = common(scores, options.slice.model_list or None)
    if options.count_failed:
        scores = replace(scores, value=np.where(scores.valid, scores.value, FAILED_SCORE))
    groups = panels(scores, named=options.select.judge_model)
    if instead:
        home = _needed(bench, option(instead[0]))
        return Result(_instead(options, home, groups, cost))
    if view.baseline is not None and bench is not None:
        view = replace(view, controlled=_controlled(options, scores, bench, view.baseline))
    sections = sections_of(groups, view)
    if view.controlled and bench is not None:
        for model in filter(functools.partial(other_pages.repeats_itself, bench), view.controlled):
            caveat = f"{model} gives mostly one and the same answer; its rate says nothing."
            sections[0].caveats.insert(0, caveat)
    if options.common:
        sections = [_complete(section) for section in sections]
    elif bench is not None and not (options.select.input_file or options.select.votes):
        _say_part(sections, bench, options, view.baseline)
    page = results_page(sections, view, _causes(bench, groups))
    if options.against is not None:
        return _against(options, bench, groups[0], page)
    if options.board.board is not None:
        home = _needed(bench, "--board")
        return Result(_on_board(options, home, groups, view, page))
    return Result(page, int(bool(incomplete_of(sections))))


def _instead(options: ShowResult, bench: Bench, groups: Sequence[Panel], cost: Cost) -> Page:
    """Return the page of a flag that shows something in place of results."""
    if options.style:
        pairs = _panel(groups, ("pair", "vote"), "--style")
        return other_pages.style_page(pairs.combined, bench, options.style)
    if options.first_turn_effect:
        return other_pages.first_turn_page(_panel(groups, ("grade",), "--first-turn-effect"), bench)
    return other_pages.efficiency_page(groups[0], bench, cost, options.slice.model_list)


INSTEAD = ("cost", "efficiency", "style", "first_turn_effect")
"""Flags that show something in place of results."""


def _needed(bench: Bench | None, flag: str) -> Bench:
    if bench is None:
        raise UsageError(f"{flag} needs the benchmark's folder: --bench-name, --data-dir")
    return bench


def _panel(groups: Sequence[Panel], forms: tuple[str, ...], flag: str) -> Panel:
    """Return the largest panel of some forms."""
    for panel in groups:
        if panel.form in forms:
            return panel
    raise MissingError(f"{flag} needs {'pairs' if 'pair' in forms else 'grades'}; there are none")


def _against(options: ShowResult, bench: Bench | None, panel: Panel, page: Page) -> Result:
    """Return this run compared with the one of --against."""
    path = options.against
    assert path is not None
    others = panels(read(bench, files=[path]))
    same = [other for other in others if other.form == panel.form] or others
    alike = [other for other in same if other.judge_set == panel.judge_set] or same
    if wrong := [pair for pair in options.compare if "=" not in pair]:
        raise UsageError(f"--compare {wrong[0]}: write NEW=OLD")
    gated = gate(
        panel,
        alike[0],
        margin=options.margin,
        renamed=dict(pair.split("=", 1) for pair in options.compare) or None,
        models=options.slice.model_list or None,
        allow=options.board.allow,
        max_missing=options.max_missing,
    )
    gating = options.fail_if_worse or options.margin is not None
    compared = other_pages.against_page(gated, panel, page, options.margin, gating=gating)
    return Result(compared, int(options.fail_if_worse and not gated.passes))


def _controlled(
    options: ShowResult, scores: Scores, bench: Bench, baseline: str
) -> dict[str, Controlled]:
    """Return the win rates at equal length: as asked, else where the benchmark has df_gamed.csv."""
    mode = options.board.length_control
    gamed = None if mode == "off" else read_gamed(bench)
    if mode == "off" or (mode is None and gamed is None):
        return {}
    rates = length_controlled(scores, bench, baseline, gamed)
    return {rate.model: rate for rate in rates}


def _on_board(
    options: ShowResult, bench: Bench, groups: Sequence[Panel], view: View, page: Page
) -> Page:
    """Write the board and return the page with the rows around one's own."""
    path = options.board.board
    assert path is not None
    if view.baseline is None:
        raise UsageError("--board is for pairs with a baseline: --mode pairwise-baseline")
    panel = _panel(groups, ("pair",), "--board")
    version = f" {panel.versions[-1]}" if panel.versions else ""
    origin = Origin(panel.judges[0], f"{panel.judge_set}{version}", view.baseline)
    rows = board_rows(panel.combined, bench, origin, list(view.controlled.values()))
    models = [row["model"] for row in rows]
    given = options.board
    board = check_board(
        path, origin, models, overwrite=given.overwrite, sort=given.sort, allow=given.allow
    )
    board = added(board, rows, given.sort)
    write_board(path, board)
    return other_pages.with_board(page, board, path, models, bench, view.baseline)


def price_of(models: Mapping[str, Any] | None = None) -> Cost:
    """Return the price of replies: by the tables of turnbench.toml, else by the list."""
    known_models = msgspec.convert(models or {}, dict[str, ModelConfig])

    @functools.cache
    def price(model: str) -> Price | None:
        with contextlib.suppress(TurnbenchError):  # a name that no provider has
            return resolve(split_variant(model)[0], models=known_models, key_needed=False).price
        return None

    return lambda model, detail: None if (p := price(model)) is None else p.cost(detail)


def _complete(section: Section) -> Section:
    """Return a section whose missing judgments do not count: those of --common."""
    ranking = replace(section.ranking, missing=())
    section.evidence[0] = replace(section.evidence[0], ranking=ranking)
    return section


def _say_part(
    sections: Sequence[Section], bench: Bench, options: ShowResult, baseline: str | None
) -> None:
    """Add that not everything is judged, such as by a run that was stopped."""
    names = {baseline, *(name for section in sections for name in section.ranking.names)}
    asked = options.slice.model_list
    absent = [name for name in asked or bench.answered_models() if name not in names]
    if absent:
        said = f"Not judged: {listed(absent)}."
        sections[0].caveats.insert(0 if asked else len(sections[0].caveats), said)
    total = len(selecting.questions_taken(options, bench))
    for section in sections:
        judged = max(evidence.questions for evidence in section.evidence)
        if judged < total and section.panel.form != "metric":
            said = f"{judged} of the {total} questions of {bench.name} are judged."
            section.caveats.insert(0, said)


# Why judgments are missing


def _causes(bench: Bench | None, groups: Sequence[Panel]) -> list[Note]:
    """Return the causes of missing judgments, each with the command that helps."""
    if bench is None:
        return []
    judges = list(dict.fromkeys(judge for panel in groups for judge in panel.judges))
    modes = {panel.form for panel in groups}
    mode = " --mode pairwise-all" if modes == {"pair"} else ""
    command = f"gen_judgment --judge-model {' '.join(map(shlex.quote, judges))}{mode}"
    command += f" {bench.flags}".replace(" --bench-name mt_bench", "")
    causes = []
    outputs = [f"model_judgment/{glob.escape(benches.file_stem(judge))}*" for judge in judges]
    failed = [failure for output in outputs for failure in failures(bench.folder, output)]
    if failed:
        last = max(failed, key=lambda failure: failure.time)
        status = f"HTTP {last.status}, " if last.status else ""
        calls = counted(len(failed), "call")
        causes.append(Note(f"{calls} failed (last: {status}{last.kind})", command))
    unread = sum(int((~panel.combined.valid).sum()) for panel in groups)
    if unread:
        replies = counted(unread, "reply", "replies")
        causes.append(Note(f"{replies} without a verdict", f"{command} --redo failed"))
    columns = [panel.combined.of(metric=panel.metrics[0]) for panel in groups]
    lost = sum(part.absent for column in columns for part in missing(column)) - len(failed)
    if lost > 0:
        causes.append(Note(f"{counted(lost, 'judgment')} never made", command))
    return causes
