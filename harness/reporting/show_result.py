"""`show_result`: from the judgments of a benchmark to the page that says who is better."""

import contextlib
import functools
import glob
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Any

import msgspec
from msgspec.structs import replace

from harness import bench as benches
from harness.bench import Bench
from harness.errors import MissingError, TurnbenchError, UsageError
from harness.judging.current import in_words
from harness.judging.judged import read_judged, together
from harness.models.endpoint import ModelConfig
from harness.models.prices import Price
from harness.models.resolving import resolve
from harness.options import GenJudgment, ShowResult, Slice, build, command_line, option
from harness.reporting import other_pages, selecting
from harness.reporting.formats import frame, text
from harness.reporting.html import fragment
from harness.reporting.page import Note, Page, Row, counted, listed
from harness.reporting.results_page import incomplete_of, results_page, sections_of
from harness.reporting.section import Section, View
from harness.results import Panel, missing, panels
from harness.results.length_control import length_controlled, read_gamed
from harness.results.spent import Cost
from harness.store import failures
from harness.types import UNSTATED, split_variant

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
    return results_of(build(ShowResult, options if mode is None else {"mode": mode, **options}))


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
            view = with_changes(view, controlled={rate.model: rate for rate in rates})
    sections = sections_of(groups, view)
    _add_caveats(sections, bench, options, view)
    incomplete = bool(incomplete_of(sections))
    left_out = bool(scores.left_out)
    causes = _causes(bench, groups, options.slice) if incomplete or left_out else []
    page = results_page(sections, view, causes)
    if options.against is not None:
        page, passes = other_pages.against_page(options, bench, groups[0], view, page)
        return Result(page, int(options.fail_if_worse and not passes))
    if options.board.board is not None:
        pairs = _panel(groups, ("pair",), "--board needs pairs")
        return Result(other_pages.board_page(options.board, bench, pairs, view, page))
    return Result(page, int(incomplete))


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


def _causes(bench: Bench, groups: Sequence[Panel], part: Slice) -> list[Note]:
    """Return why judgments are missing, each with the command that helps."""
    judges = list(dict.fromkeys(judge for panel in groups for judge in panel.judges))
    left_out = groups[0].scores.left_out
    causes: list[tuple[str, str | None]] = [(text, None) for text in in_words(left_out)]
    outputs = [f"model_judgment/{glob.escape(benches.file_stem(judge))}*" for judge in judges]
    failed = [failure for output in outputs for failure in failures(bench.folder, output)]
    if failed:
        last = max(failed, key=lambda failure: failure.time)
        status = f"HTTP {last.status}, " if last.status else ""
        causes.append((f"{counted(len(failed), 'call')} failed (last: {status}{last.kind})", None))
    redo: str | None = "failed"
    if unread := sum(int((~panel.combined.valid).sum()) for panel in groups):
        causes.append((f"{counted(unread, 'reply', 'replies')} without a verdict", redo))
    mains = (panel.combined.of(metric=panel.metrics[0]) for panel in groups)
    lost = sum(part.absent for main in mains for part in missing(main))
    lost -= len(failed) + left_out.total()
    if lost > 0:
        causes.append((f"{counted(lost, 'judgment')} never made", None))
    commands = {redo: judging_commands(bench, groups, part, redo) for _, redo in causes}
    # One command makes all that is missing: it stands once, below the last of its causes.
    last_of = {redo: text for text, redo in causes}
    return [Note(text, commands[redo] if last_of[redo] == text else "") for text, redo in causes]


def judging_commands(
    bench: Bench, groups: Sequence[Panel], part: Slice, redo: str | None = None
) -> str:
    """Return the commands that go on with the judgments of some panels, each on its line."""
    sources = {source for panel in groups for source in panel.scores.sources_present.values()}
    shown = {(source.judge, source.judge_set, source.form == "pair") for source in sources}
    records: dict[GenJudgment, list[str]] = {}
    for judged in together(read_judged(bench)):
        names = judged.judge_set, UNSTATED
        if any((judged.judge, name, judged.paired) in shown for name in names):
            record = judged.record(bench, part, redo)
            anybody = replace(record, judging=replace(record.judging, judge_model=()))
            records.setdefault(anybody, []).append(judged.judge)
    return "\n".join(
        command_line(replace(record, judging=replace(record.judging, judge_model=tuple(judges))))
        for record, judges in records.items()
    )
