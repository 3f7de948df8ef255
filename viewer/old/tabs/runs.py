"""The tab Runs: what is done, missing and failed, how fast it goes and what it cost; it looks again while files grow.

The numbers are those of `status` and `show_result --cost`. They are worked out beside the page: while that takes, the
page shows the ones before, with the rows that have come since.
"""

import pathlib
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from harness.old.bench import Bench
from harness.old.errors import DataError, MissingError, TurnbenchError
from harness.old.jsonl import has_lock, holder_of, logical_files, size_of
from harness.old.names import name_of
from harness.old.showing import Table
from harness.old.showing.costs import NOT_IN_IT, cost_page, estimate_page
from harness.old.showing.html import table_html
from harness.old.showing.status import filled, status_page
from viewer.old import markup
from viewer.old.context import Context, Tab
from viewer.old.growth import Growth, counted_on, growth_of, reasons_in
from viewer.old.later import NotYet, Work, apart
from viewer.old.markup import Html
from viewer.old.past_runs import difference_html, last_html, past_runs_html, runs_in
from viewer.old.places import End, ends_of
from viewer.old.state import State
from viewer.old.store import kind_of, mode_of
from viewer.old.text import escaped

if TYPE_CHECKING:
    from harness.old.results.cost import CostRow
    from harness.old.status import BenchStatus, JudgeStatus, ModelStatus

Made = TypeVar("Made")
Told: TypeAlias = Callable[[float], None]
_WHILE_GROWING = 2_000
_OTHERWISE = 10_000
_FLAGS = {"length": "cut at the token limit", "refused": "refused", "empty": "empty"}
_MOST_REASONS = 8
_ALWAYS = (
    "model",
    "judge",
    "judge set",
    "mode",
    "answered",
    "judged",
    "missing",
    "file",
    "holds",
    "MB",
    "a minute",
    "last row",
)


def _latest(
    context: Context,
    key: Hashable,
    what: str,
    make: Callable[..., Made],
    paths: Sequence[pathlib.Path],
    *,
    tells: bool = False,
) -> tuple[Made, Work[Made] | None]:
    """Return what `make` returns, or returned last if the files have changed since, and then when that was.

    Raises:
        NotYet: it is made for the first time.
    """
    try:
        return context.store.later.get(key, what, make, of=paths, tells=tells, rests=True, lane="whole"), None
    except NotYet as wait:
        if wait.before is None:
            raise
        return wait.before.value, wait.before


def tab(context: Context) -> Tab:
    """Return the tab."""
    return Tab("runs", "Runs", partial(_show, context))


def _show(context: Context, state: State) -> str:
    bench = context.store.bench(state.bench)
    answers = logical_files(bench.folder / "model_answer")
    judgments = logical_files(bench.folder / "model_judgment")
    paths = [*answers, *judgments]
    head = markup.choices(context, state, "bench")
    holders = {path: _holder(bench, path) for path in paths}
    grown = {
        path: replace(growth_of(path), ended=holders[path] is None and has_lock(path, _state_of(bench, path)))
        for path in paths
    }
    active = any(holders.values()) or any(growth.recent for growth in grown.values())
    parts = [head, f'<h2 class="tb-title">{escaped(bench.name)} {_state_chip(active)}</h2>']
    if not paths:
        line = markup.command(f"gen_answer --bench-name {bench.name} --model NAME")
        parts.append(markup.notice("Nothing has been run here yet. Let a model answer with:", then=line))
        return _refreshed("".join(parts), _OTHERWISE)
    again = _WHILE_GROWING if active else _OTHERWISE
    try:
        status, note = _counted(context, bench, paths)
        parts += _standing(state, bench, status, grown, holders)
        parts.append(_reasons(context, bench, status))
        parts.append(note)
    except NotYet as pending:
        again = pending.again
        parts.append(markup.notice(f"One moment: {pending} …", kind="wait"))
        parts.append(_plain(paths, grown, holders))
    except TurnbenchError as error:
        parts.append(markup.notice(str(error), kind="fault"))
        parts.append(_plain(paths, grown, holders))
    parts.append(_cost(context, bench, paths))
    parts.append(last_html(state, paths))
    parts.append(_past_runs(context, bench, paths))
    parts.append(difference_html(context, state, bench, context.store.judgment_files(bench)))
    return _refreshed("".join(parts), again)


def _refreshed(inside: str, every: int) -> str:
    return f'<div data-refresh="{every}">{inside}</div>'


def _state_chip(active: bool) -> str:
    return markup.chip("running", "win") if active else markup.chip("nothing is running")


def _holder(bench: Bench, path: pathlib.Path) -> str | None:
    return holder_of(path, _state_of(bench, path))


def _state_of(bench: Bench, path: pathlib.Path) -> pathlib.Path:
    """Return the folder of what belongs to the writing of a file."""
    return bench.answer_state if path.parent.name == "model_answer" else bench.judgment_state


def _counted(context: Context, bench: Bench, paths: Sequence[pathlib.Path]) -> tuple["BenchStatus", str]:
    """Return what is there, and how old the numbers are where that is worth a word.

    Raises:
        NotYet: it is counted for the first time.
    """
    key, make = ("status", bench.folder), partial(_status, bench, paths)
    (status, ends), before = _latest(context, key, "counting rows", make, paths, tells=True)
    if before is None:
        return status, ""
    spent = f"{time.monotonic() - before.begun:.0f} seconds ago"
    more = counted_on(*(before.more or (status, ends)))
    if more is None:
        return status, f'<p class="tb-quiet">Counted {spent}; the files have changed and are being counted again.</p>'
    before.more = more
    return more[0], f'<p class="tb-quiet">Counted {spent}; new rows are added.</p>'


def _status(
    bench: Bench, paths: Sequence[pathlib.Path], told: Told
) -> tuple["BenchStatus", Mapping[pathlib.Path, End]]:
    """Return what is there, and where the files ended when it was counted."""
    from harness.old.status import bench_status

    ends = ends_of(paths)
    return _told(bench, lambda: apart(bench_status, bench, of=paths, told=told)), ends


def _told(bench: Bench, make: Callable[[], Made]) -> Made:
    """Return what `make` returns; a row that no room foresaw becomes an error that names the folder."""
    try:
        return make()
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        text = f"a row has a value that answers and judgments cannot have ({type(error).__name__}: {error})"
        raise DataError(text, path=bench.folder) from error


def _standing(
    state: State,
    bench: Bench,
    status: "BenchStatus",
    grown: Mapping[pathlib.Path, Growth],
    holders: Mapping[pathlib.Path, str | None],
) -> list[str]:
    """Return the tables of answers and judgments, as `status` has them, what is left to do, and notes."""
    parts = []
    if status.models:
        rows = [
            _model_row(one, status.questions) | _pace(one.path, len(one.missing), grown, holders)
            for one in status.models
        ]
        parts.append(markup.section("Answers", _table(rows, "answers"), note="Questions by model."))
    if status.judges:
        rows = [_judge_row(state, one) | _pace(one.path, one.missing, grown, holders) for one in status.judges]
        parts.append(
            markup.section("Judgments", _table(rows, "judgments"), note="A pair's two games are one judgment.")
        )
    elif status.models:
        line = markup.command(f"gen_judgment --bench-name {bench.name} --judge-model NAME")
        parts.append(markup.notice("There are no judgments yet. Create them with:", then=line))
    if status.rest:
        note = "What is missing or out of date, as far as is known before any call."
        rest = [
            table_html(each, label="left to do") for each in estimate_page(status.rest).items if isinstance(each, Table)
        ]
        parts.append(markup.section("Left to do", "".join(rest), note=note))
    return [*parts, markup.notes(status_page(status).notes)]


def _table(rows: Sequence[Mapping[str, object]], label: str) -> str:
    """Return rows as a table, without columns that hold nothing, but for the main ones."""
    return table_html(Table("", rows, filled(rows, _ALWAYS)), label=label)


def _model_row(model: "ModelStatus", questions: int) -> dict[str, object]:
    flagged = ", ".join(f"{n} {_FLAGS.get(kind, kind)}" for kind, n in model.flagged.items())
    done = _meter(model.answered, questions)
    return model.row() | {"model": markup.named(model.model), "answered": done, "not whole": flagged}


def _judge_row(state: State, judge: "JudgeStatus") -> dict[str, object]:
    of = judge.judged + judge.missing + judge.superseded + judge.waiting
    find = State("find", state.bench, mode_of(kind_of(judge.mode))).where(flag="failed")
    row = judge.row() | {"judge": markup.named(judge.judge), "mode": markup.MODE_NAMES[judge.mode]}
    row["judged"] = Html(f"{judge.judged:,}", number=True) if judge.note else _meter(judge.judged, of)
    for name in ("unparsed", "failed"):
        row[name] = row[name] and Html(markup.link(find, f"{row[name]:,}"), number=True)
    return row


def _meter(done: int, of: int) -> Html:
    share = 100 * done / of if of else 100
    return Html(
        f'<div class="tb-meter"><span style="width: {share:.1f}%"></span></div> {done:,} of {of:,}', number=True
    )


def _pace(
    path: pathlib.Path, missing: int, grown: Mapping[pathlib.Path, Growth], holders: Mapping[pathlib.Path, str | None]
) -> dict[str, object]:
    """Return who writes a file, how fast rows come, when at that pace all will be there, and when one came last."""
    growth, holder = grown.get(path, Growth()), holders.get(path)
    pace = growth.per_minute
    left = None
    if pace and missing and (holder or growth.recent):
        left = markup.duration(60 * missing / pace)
    return {
        "written by": holder,
        "a minute": None if pace is None else Html(f"{pace:,.1f}" if pace < 100 else f"{pace:,.0f}", number=True),
        "left": left,
        "last row": None if growth.last is None else f"{markup.duration(max(0.0, time.time() - growth.last))} ago",
    }


def _plain(
    paths: Sequence[pathlib.Path], grown: Mapping[pathlib.Path, Growth], holders: Mapping[pathlib.Path, str | None]
) -> str:
    """Return the files with their sizes: what can be said without reading them."""
    rows = []
    for path in paths:
        kind = "answers" if path.parent.name == "model_answer" else "judgments"
        row = {"file": markup.named(name_of(path.stem)), "holds": kind, "MB": size_of(path) / 1e6}
        rows.append(row | _pace(path, 0, grown, holders))
    return markup.section("Files", _table(rows, "files"))


def _reasons(context: Context, bench: Bench, status: "BenchStatus") -> str:
    """Return why verdicts are missing, by judge."""
    parts = [_reasons_of(context, bench, judge) for judge in status.judges if judge.unparsed]
    return markup.section("No verdict", "".join(parts)) if parts else ""


@markup.in_place
def _reasons_of(context: Context, bench: Bench, judge: "JudgeStatus") -> str:
    key, what = ("reasons", bench.folder, judge.path), f"looking for causes in {judge.path.name}"
    found, _ = _latest(context, key, what, partial(apart, reasons_in, judge.path, of=[judge.path]), [judge.path])
    rows = [{"why": Html(escaped(why[:200])), "judgments": n} for why, n in found.most_common(_MOST_REASONS)]
    name = f"{judge.judge}, judge set {judge.judge_set}, {markup.MODE_NAMES[judge.mode]}"
    return f"<h3>{escaped(name)}</h3>{markup.table(rows, label=name)}"


@markup.in_place
def _past_runs(context: Context, bench: Bench, paths: Sequence[pathlib.Path]) -> str:
    """Return the runs that made the files."""
    make = partial(apart, runs_in, paths, of=paths)
    return past_runs_html(_latest(context, ("runs", bench.folder), "looking for runs", make, paths)[0])


@markup.in_place
def _cost(context: Context, bench: Bench, paths: Sequence[pathlib.Path]) -> str:
    """Return tokens and dollars so far."""
    try:
        key, what = ("cost", bench.folder), "adding up the tokens"
        found, _ = _latest(context, key, what, partial(_costs, bench, paths), paths)
    except MissingError:
        return ""
    except TurnbenchError as error:
        return markup.notice(f"No cost: {error}", kind="fault")
    table = cost_page(found).items[0]
    assert isinstance(table, Table)
    note = f"Stored tokens at today's prices; {NOT_IN_IT}."
    return markup.section("Tokens and cost so far", table_html(table, label="tokens and cost"), note=note)


def _costs(bench: Bench, paths: Sequence[pathlib.Path]) -> "list[CostRow]":
    from harness.old.results.cost import show_cost

    added = partial(show_cost, bench_name=bench.name, data_dir=bench.folder.parent)
    return _told(bench, lambda: apart(added, of=paths))
