"""`show_result`: from the judgments of a benchmark to the page that says who is better."""

import contextlib
import functools
import glob
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.models.endpoint import ModelConfig
from harness.models.prices import Price
from harness.models.resolving import resolve
from harness.options import ShowResult, option
from harness.reporting import other_pages, selecting
from harness.reporting.formats import frame, text
from harness.reporting.html import fragment
from harness.reporting.page import Note, Page, Row
from harness.reporting.results_page import incomplete_of, results_page, sections_of
from harness.reporting.section import Section, View
from harness.results import Panel, missing, panels
from harness.results.length_control import length_controlled, read_gamed
from harness.results.spent import Cost
from harness.store import failures
from harness.types import split_variant
from harness.words import counted, listed

INSTEAD = ("cost", "efficiency", "style", "first_turn_effect")
"""Flags that show something in place of results."""


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

    def __repr__(self) -> str:
        return f"<Result of {counted(len(self.page.all_rows), 'row')}: print() shows it>"

    def _repr_html_(self) -> str:
        return fragment(self.page)


def results_of(options: ShowResult, cost: Cost | None = None) -> Result:
    """Return the results that an options record asks for.

    Args:
        options: the flags.
        cost: the price of a reply, for --cost and --efficiency (default: the list's).
    """
    instead = [name for name in INSTEAD if getattr(options, name)]
    if len(instead) > 1:
        raise UsageError(f"{' and '.join(map(option, instead))} exclude each other")
    bench = benches.load(options.bench.bench_name, options.bench.data_dir)
    models, judges, cost = options.slice.model_list, options.select.judge_model, cost or price_of()
    if options.cost:
        return Result(other_pages.cost_page(bench, cost, models, judges))
    scores, view = selecting.select(options, bench)
    groups = panels(scores, named=judges)
    if options.style:
        pairs = _panel(groups, ("pair", "vote"), "--style needs pairs")
        return Result(other_pages.style_page(pairs.combined, bench, options.style))
    if options.first_turn_effect:
        grades = _panel(groups, ("grade",), "--first-turn-effect needs grades")
        return Result(other_pages.first_turn_page(grades, bench))
    if options.efficiency:
        return Result(other_pages.efficiency_page(groups[0], bench, cost, models))
    if view.baseline is not None and options.board.length_control != "off":
        gamed = read_gamed(bench)
        if gamed is not None or options.board.length_control is not None:
            rates = length_controlled(scores, bench, view.baseline, gamed)
            view = replace(view, controlled={rate.model: rate for rate in rates})
    sections = sections_of(groups, view)
    _add_caveats(sections, bench, options, view)
    page = results_page(sections, view, _causes(bench, groups))
    if options.against is not None:
        page, passes = other_pages.against_page(options, bench, groups[0], view, page)
        return Result(page, int(options.fail_if_worse and not passes))
    if options.board.board is not None:
        pairs = _panel(groups, ("pair",), "--board needs pairs")
        return Result(other_pages.board_page(options.board, bench, pairs, view, page))
    return Result(page, int(bool(incomplete_of(sections))))


def _panel(groups: Sequence[Panel], forms: tuple[str, ...], need: str) -> Panel:
    """Return the largest panel of some forms."""
    for panel in groups:
        if panel.form in forms:
            return panel
    raise MissingError(f"{need}; there are none")


def price_of(models: Mapping[str, Any] | None = None) -> Cost:
    """Return the price of replies: by the tables of turnbench.toml, else by the list."""
    configured = msgspec.convert(models or {}, dict[str, ModelConfig])

    @functools.cache
    def price(model: str) -> Price | None:
        with contextlib.suppress(TurnbenchError):  # a name that no provider has
            return resolve(split_variant(model)[0], models=configured, key_needed=False).price
        return None

    return lambda model, detail: None if (p := price(model)) is None else p.cost(detail)


def _add_caveats(
    sections: Sequence[Section], bench: Bench, options: ShowResult, view: View
) -> None:
    """Add which models and questions are not judged, such as by a run that was stopped."""
    first = sections[0].caveats
    for model in view.controlled:
        if other_pages.repeats_itself(bench, model):
            first.insert(0, f"{model} gives mostly one and the same answer; its rate says nothing.")
    if options.common or options.select.input_file or options.select.votes:
        return
    names = {view.baseline, *(name for section in sections for name in section.ranking.names)}
    absent = [name for name in view.models or bench.answered_models() if name not in names]
    if absent:
        first.insert(0 if view.models else len(first), f"Not judged: {listed(absent)}.")
    total = len(bench.take(options.slice))
    for section in sections:
        judged = max(evidence.questions for evidence in section.evidence)
        if judged < total and section.panel.form != "metric":
            part = f"{judged} of the {total} questions of {bench.name} are judged."
            section.caveats.insert(0, part)


def _causes(bench: Bench, groups: Sequence[Panel]) -> list[Note]:
    """Return why judgments are missing, each with the command that helps."""
    judges = list(dict.fromkeys(judge for panel in groups for judge in panel.judges))
    mode = " --mode pairwise-all" if {panel.form for panel in groups} == {"pair"} else ""
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
    if unread := sum(int((~panel.combined.valid).sum()) for panel in groups):
        replies = counted(unread, "reply", "replies")
        causes.append(Note(f"{replies} without a verdict", f"{command} --redo failed"))
    mains = (panel.combined.of(metric=panel.metrics[0]) for panel in groups)
    lost = sum(part.absent for main in mains for part in missing(main)) - len(failed)
    if lost > 0:
        causes.append(Note(f"{counted(lost, 'judgment')} never made", command))
    return causes
