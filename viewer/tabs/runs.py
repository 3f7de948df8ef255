"""The tab Runs: what is done, missing and failed, how fast it goes and what it cost; it looks again while files grow.

The numbers are those of `status` and `show_result --cost`. They are worked out beside the page: while that takes, the
page shows the ones before, with the rows that have come since.
"""

import pathlib
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from harness.bench import Bench
from harness.errors import DataError, MissingError, TurnbenchError
from harness.jsonl import holder_of, logical_files, size_of
from harness.names import name_of
from harness.showing import Table
from harness.showing.costs import NOT_IN_IT, cost_page, estimate_page
from harness.showing.html import table_html
from viewer import markup
from viewer.context import Context, Tab
from viewer.growth import Growth, counted_on, growth_of, reasons_in
from viewer.later import NotYet, apart, patience
from viewer.markup import Html
from viewer.past_runs import Run, difference_html, last_html, past_runs_html, runs_in
from viewer.places import End, ends_of, stamp
from viewer.state import State
from viewer.text import escaped

if TYPE_CHECKING:
    from harness.results.cost import CostRow
    from harness.status import BenchStatus, JudgeStatus, ModelStatus

Made = TypeVar("Made")
Told: TypeAlias = Callable[[float], None]
_PAUSES = 9
"""Files that grow are counted anew after so many times as long as counting took: that is a tenth of a core."""
_WHILE_GROWING = 2_000
_OTHERWISE = 10_000
_FLAGS = {"length": "cut at the token limit", "refused": "refused", "empty": "empty"}
_MOST_REASONS = 8


class _Counted(NamedTuple):
    """What was made last."""

    made: Any
    ends: Mapping[pathlib.Path, End]
    """Where the files ended when it was begun, or as far as what came has been added."""
    marks: Sequence[Hashable]
    """What the files were known by when it was begun."""
    at: float
    took: float


class _Latest:
    """What was made last, while newer numbers are being worked out."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._made: dict[Hashable, _Counted] = {}
        self._busy: dict[Hashable, Sequence[Hashable]] = {}
        """What is being made, with what its files were known by when it was begun."""

    def get(
        self, key: Hashable, what: str, make: Callable[[Told], Made], paths: Sequence[pathlib.Path]
    ) -> tuple[Made, _Counted | None]:
        """Return what `make` returns and, if the files have changed since, when that was.

        Raises:
            NotYet: it is made for the first time.
        """
        now, before = tuple(stamp(path) for path in paths), self._made.get(key)
        # One at a time and with pauses, or files that grow would start one with every look and keep a core busy.
        if before is not None and (key in self._busy or time.monotonic() - before.at < _PAUSES * before.took):
            return before.made, before if now != before.marks else None
        marks = self._busy.get(key, now)

        def run(told: Told) -> Made:
            self._busy[key] = marks
            told(0.0)
            try:
                begun, ends = time.monotonic(), ends_of(paths)
                made = make(told)
                self._made[key] = _Counted(made, ends, marks, begun, time.monotonic() - begun)
            finally:
                self._busy.pop(key, None)
            return made

        try:
            get = partial(self._context.store.later.get, patience=patience(paths), tells=True, lane="whole")
            return get((key, marks), what, run), None
        except NotYet:
            if before is None:
                raise
            return before.made, before

    def add(self, key: Hashable, before: _Counted, made: Any, ends: Mapping[pathlib.Path, End]) -> None:
        """Keep what was made last with what has come since."""
        if self._made.get(key) is before:
            self._made[key] = before._replace(made=made, ends=ends)


def tab(context: Context) -> Tab:
    """Return the tab."""
    return Tab("runs", "Runs", partial(_show, context, _Latest(context)))


def _show(context: Context, latest: _Latest, state: State) -> str:
    bench = context.store.bench(state.bench)
    answers = logical_files(bench.folder / "model_answer")
    judgments = logical_files(bench.folder / "model_judgment")
    paths = [*answers, *judgments]
    head = markup.choices(context, state, "bench")
    grown = {path: growth_of(path) for path in paths}
    holders = {path: _holder(bench, path) for path in paths}
    active = any(holders.values()) or any(growth.recent for growth in grown.values())
    parts = [head, f'<h2 class="tb-title">{escaped(bench.name)} {_state_chip(active)}</h2>', _writers(holders)]
    if not paths:
        line = markup.command(f"gen_answer --bench-name {bench.name} --model NAME")
        parts.append(markup.notice("Nothing has been run here yet. Let a model answer:", then=line))
        return _refreshed("".join(parts), _OTHERWISE)
    again = _WHILE_GROWING if active else _OTHERWISE
    try:
        status, note = _counted(latest, bench, paths)
        parts += _standing(state, bench, status, grown, holders)
        parts.append(_reasons(latest, bench, status))
        parts.append(note)
    except NotYet as pending:
        again = pending.again
        parts.append(markup.notice(f"One moment: {pending} …", kind="wait"))
        parts.append(_plain(paths, grown, holders))
    except TurnbenchError as error:
        parts.append(markup.notice(str(error), kind="fault"))
        parts.append(_plain(paths, grown, holders))
    parts.append(_cost(latest, bench, paths))
    parts.append(last_html(state, paths))
    parts.append(_past_runs(latest, bench, paths))
    parts.append(difference_html(context, state, bench, context.store.judgment_files(bench)))
    return _refreshed("".join(parts), again)


def _refreshed(inside: str, every: int) -> str:
    return f'<div data-refresh="{every}">{inside}</div>'


def _state_chip(active: bool) -> str:
    return markup.chip("running", "win") if active else markup.chip("nothing is running")


def _holder(bench: Bench, path: pathlib.Path) -> str | None:
    state = bench.answer_state if path.parent.name == "model_answer" else bench.judgment_state
    return holder_of(path, state)


def _writers(holders: Mapping[pathlib.Path, str | None]) -> str:
    found: dict[str, list[str]] = {}
    for path, who in holders.items():
        if who:
            found.setdefault(who, []).append(path.name)
    return markup.notes([f"{who} writes {', '.join(names)}" for who, names in found.items()])


def _counted(latest: _Latest, bench: Bench, paths: Sequence[pathlib.Path]) -> tuple["BenchStatus", str]:
    """Return what is there, and how old the numbers are where that is worth a word.

    Raises:
        NotYet: it is counted for the first time.
    """
    key = ("status", bench.folder)
    status, before = latest.get(key, "counting what is there", partial(_status, bench, paths), paths)
    if before is None:
        return status, ""
    spent = f"{time.monotonic() - before.at:.0f} seconds ago"
    more = counted_on(status, before.ends)
    if more is None:
        return status, f'<p class="tb-quiet">Counted {spent}; the files have changed, and are counted again.</p>'
    latest.add(key, before, *more)
    return more[0], f'<p class="tb-quiet">Counted {spent}; what has come since is added.</p>'


def _status(bench: Bench, paths: Sequence[pathlib.Path], told: "Told") -> "BenchStatus":
    from harness.status import bench_status

    return _told(bench, lambda: apart(bench_status, bench, of=paths, told=told))


def _told(bench: Bench, make: Callable[[], Made]) -> Made:
    """Return what `make` returns; a row that no room foresaw becomes an error that names the folder."""
    try:
        return make()
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        text = f"a row holds something that answers and judgments do not ({type(error).__name__}: {error})"
        raise DataError(text, path=bench.folder) from error


def _standing(
    state: State,
    bench: Bench,
    status: "BenchStatus",
    grown: Mapping[pathlib.Path, Growth],
    holders: Mapping[pathlib.Path, str | None],
) -> list[str]:
    """Return the tables of answers and judgments, what is left to do, and notes."""
    parts = []
    if status.models:
        rows = [_model_row(model, status.questions, grown, holders) for model in status.models]
        parts.append(markup.section("Answers", markup.table(_bare(rows), label="answers"), note="Questions by model."))
    if status.judges:
        judged = [_judge_row(state, judge, grown, holders) for judge in status.judges]
        note = "A pair's two games are one judgment."
        parts.append(markup.section("Judgments", markup.table(_bare(judged), label="judgments"), note=note))
    elif status.models:
        line = markup.command(f"gen_judgment --bench-name {bench.name} --judge-model NAME")
        parts.append(markup.notice("Nothing is judged yet. Let a judge:", then=line))
    if status.rest:
        note = "What is missing or out of date, as far as it can be told before it is asked."
        rest = [
            table_html(each, label="left to do") for each in estimate_page(status.rest).items if isinstance(each, Table)
        ]
        parts.append(markup.section("Left to do", "".join(rest), note=note))
    notes = [f"{j.path.name}: what is missing is unknown: {j.note}" for j in status.judges if j.note]
    notes += [f"{name}: {count:,} failed: {why}" for name, all_ in status.causes.items() for why, count in all_.items()]
    notes += [f"{name}: {count} torn line{'s' if count > 1 else ''} set aside" for name, count in status.torn.items()]
    notes += [f"{name}: {count:,} rows out of date kept in .turnbench/" for name, count in status.set_aside.items()]
    return [*parts, markup.notes(notes)]


def _model_row(
    model: "ModelStatus",
    questions: int,
    grown: Mapping[pathlib.Path, Growth],
    holders: Mapping[pathlib.Path, str | None],
) -> dict[str, object]:
    missing = len(model.missing)
    flagged = ", ".join(f"{n} {_FLAGS.get(kind, kind)}" for kind, n in model.flagged.items())
    return {
        "model": markup.named(model.model),
        "done": _meter(model.answered, questions),
        "missing": missing,
        "out of date": len(model.superseded),
        "failed": model.failed,
        "not whole": flagged or None,
        "replies kept": model.pending,
        **_pace(grown.get(model.path, Growth()), missing, holders.get(model.path)),
    }


def _judge_row(
    state: State,
    judge: "JudgeStatus",
    grown: Mapping[pathlib.Path, Growth],
    holders: Mapping[pathlib.Path, str | None],
) -> dict[str, object]:
    of = judge.judged + judge.missing + judge.superseded + judge.waiting
    bad = judge.unparsed + judge.failed
    find = State("find", state.bench, "single" if judge.mode == "single" else "pairwise-all").where(flag="failed")
    return {
        "judge": markup.named(judge.judge + (f" #{judge.sample}" if judge.sample else "")),
        "judge set": judge.judge_set,
        "mode": markup.MODE_NAMES[judge.mode],
        "done": Html(f"{judge.judged:,}", number=True) if judge.note else _meter(judge.judged, of),
        "missing": None if judge.note else judge.missing,
        "answers awaited": judge.waiting,
        "out of date": judge.superseded,
        "unparsed or failed": Html(markup.link(find, f"{bad:,}"), number=True) if bad else 0,
        "replies kept": judge.pending,
        **_pace(grown.get(judge.path, Growth()), judge.missing, holders.get(judge.path)),
    }


def _meter(done: int, of: int) -> Html:
    share = 100 * done / of if of else 100
    return Html(
        f'<div class="tb-meter"><span style="width: {share:.1f}%"></span></div> {done:,} of {of:,}', number=True
    )


def _pace(growth: Growth, missing: int, holder: str | None) -> dict[str, object]:
    """Return how fast rows come, when the rest will be there at that pace, and when the last one came."""
    pace = growth.per_minute
    left = None
    if pace and missing and (holder or growth.recent):
        left = markup.duration(60 * missing / pace)
    return {
        "a minute": None if pace is None else Html(f"{pace:,.1f}" if pace < 100 else f"{pace:,.0f}", number=True),
        "left": left,
        "last row": None if growth.last is None else f"{markup.duration(max(0.0, time.time() - growth.last))} ago",
    }


_ALWAYS = {"model", "judge", "mode", "done", "missing", "a minute", "last row"}


def _bare(rows: Sequence[Mapping[str, object]]) -> list[dict[str, object]]:
    """Return the rows without columns that hold nothing, but for the main ones."""
    kept = [name for name in rows[0] if name in _ALWAYS or any(row[name] for row in rows)]
    return [{name: row[name] for name in kept} for row in rows]


def _plain(
    paths: Sequence[pathlib.Path], grown: Mapping[pathlib.Path, Growth], holders: Mapping[pathlib.Path, str | None]
) -> str:
    """Return the files with their sizes: what can be said without reading them."""
    rows = []
    for path in paths:
        kind = "answers" if path.parent.name == "model_answer" else "judgments"
        pace = _pace(grown[path], 0, holders[path])
        row = {"file": markup.named(name_of(path.stem)), "holds": kind, "MB": size_of(path) / 1e6, **pace}
        rows.append({name: value for name, value in row.items() if name != "left"})
    return markup.section("Files", markup.table(rows, label="files"))


def _reasons(latest: _Latest, bench: Bench, status: "BenchStatus") -> str:
    """Return why verdicts are missing, by judge."""
    parts = []
    for judge in status.judges:
        if not judge.unparsed:
            continue
        try:
            key, what = ("reasons", bench.folder, judge.path), f"looking why in {judge.path.name}"
            found, _ = latest.get(key, what, partial(_reasons_in, judge.path), [judge.path])
        except NotYet as wait:
            parts.append(markup.notice(f"One moment: {wait} …", kind="wait"))
            continue
        rows = [{"why": Html(escaped(why[:200])), "judgments": n} for why, n in found.most_common(_MOST_REASONS)]
        name = f"{judge.judge}, judge set {judge.judge_set}, {markup.MODE_NAMES[judge.mode]}"
        parts.append(f"<h3>{escaped(name)}</h3>{markup.table(rows, label=name)}")
    return markup.section("No verdict", "".join(parts)) if parts else ""


def _reasons_in(path: pathlib.Path, _: Told) -> "Counter[str]":
    return reasons_in(path)


def _past_runs(latest: _Latest, bench: Bench, paths: Sequence[pathlib.Path]) -> str:
    """Return the runs that made the files."""
    try:
        found, _ = latest.get(("runs", bench.folder), "looking for runs", partial(_runs_in, paths), paths)
    except NotYet as wait:
        return markup.waiting(wait)
    return past_runs_html(found)


def _runs_in(paths: Sequence[pathlib.Path], _: Told) -> list[Run]:
    return apart(runs_in, paths, of=paths)


def _cost(latest: _Latest, bench: Bench, paths: Sequence[pathlib.Path]) -> str:
    """Return tokens and dollars so far."""
    try:
        key, what = ("cost", bench.folder), "adding up the tokens"
        found, _ = latest.get(key, what, partial(_costs, bench, paths), paths)
    except NotYet as wait:
        return markup.waiting(wait)
    except MissingError:
        return ""
    except TurnbenchError as error:
        return markup.notice(f"No cost: {error}", kind="fault")
    table = cost_page(found).items[0]
    assert isinstance(table, Table)
    note = f"Stored tokens at today's prices; {NOT_IN_IT}."
    return markup.section("Tokens and cost so far", table_html(table, label="tokens and cost"), note=note)


def _costs(bench: Bench, paths: Sequence[pathlib.Path], _: Told) -> "list[CostRow]":
    from harness.results.cost import show_cost

    added = partial(show_cost, bench_name=bench.name, data_dir=bench.folder.parent)
    return _told(bench, lambda: apart(added, of=paths))
