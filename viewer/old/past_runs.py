"""The runs that wrote a benchmark's files: when, with which settings; the latest rows; and how two runs differ.

Rows say when they were written. Rows between two pauses of ten minutes are a run, and its first row says with which
settings: a run keeps the settings that it began with.
"""

import contextlib
import datetime
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from harness.old.bench import Bench
from harness.old.errors import DataError, TurnbenchError
from harness.old.jsonl import Row, files_of, row_of, value_of
from harness.old.jsonl.files import lines_in
from harness.old.judgments.case import winner
from harness.old.judgments.line import sampling_text
from harness.old.judgments.row import judged_row
from harness.old.names import name_of
from harness.old.results.cost import CostRows, Prices, add_answer, add_judgment
from harness.old.results.runs import ALLOWED
from harness.old.rows import reply_from_row
from harness.old.showing import Table
from harness.old.showing.html import table_html
from harness.old.showing.show_result import result_page
from harness.old.showing.values import ABSENT, dollars
from viewer.old import markup
from viewer.old.context import Context
from viewer.old.growth import PAUSE, last_lines, written_at
from viewer.old.later import apart
from viewer.old.markup import Html
from viewer.old.state import State
from viewer.old.store import JudgmentFile, mode_of
from viewer.old.text import escaped

if TYPE_CHECKING:
    from harness.old.results.result import Result

_TOKENS = b'"completion_tokens"'
_MOST_RUNS = 100
_LAST = 8
"""Rows that are shown of what came last."""
_WORDS = 120


@dataclass(slots=True)
class Run:
    """Rows of a file that came without a long pause."""

    path: pathlib.Path
    began: float
    ended: float
    first: bytes
    """The line of its first row."""
    rows: int = 0
    cost: CostRows = field(default_factory=dict)
    """Of the calls behind its rows that state their tokens."""
    without: int = 0
    """Rows that state none."""


def runs_in(paths: Sequence[pathlib.Path]) -> list[Run]:
    """Return the runs that wrote these files, the latest first; rows that do not say when they came are in none."""
    prices = Prices(None)
    found = [run for path in paths for run in _runs_of(path, prices)]
    return sorted(found, key=lambda run: -run.began)[:_MOST_RUNS]


def _runs_of(path: pathlib.Path, prices: Prices) -> Iterator[Run]:
    run: Run | None = None
    with contextlib.suppress(DataError):  # whoever shows the rows says so
        for line in (line for file in files_of(path) for line in lines_in(file)):
            if (now := written_at(line)) is None or not line.rstrip().endswith(b"}"):  # a torn line is no row
                continue
            if run is None or abs(now - run.ended) > PAUSE:
                if run is not None:
                    yield run
                run = Run(path, now, now, line)
            run.ended = max(now, run.ended)
            run.rows += 1
            if _TOKENS not in line:
                run.without += 1
            elif (row := _row(path, line)) is not None:
                with contextlib.suppress(TurnbenchError, LookupError, TypeError, AttributeError):
                    if _kind(path) == "answers":
                        add_answer(run.cost, prices, name_of(path.stem), row.value)
                    else:
                        add_judgment(run.cost, prices, judged_row(row.value, path, 1))
    if run is not None:
        yield run


def past_runs_html(runs: Sequence[Run]) -> str:
    """Return the runs with their settings; nothing where no row says when it came."""
    rows = [
        {
            "began (UTC)": _date(run.began),
            "took": markup.duration(run.ended - run.began),
            "wrote": _kind(run.path),
            "file": markup.named(name_of(run.path.stem)),
            "rows": run.rows,
            "cost": _cost(run),
            "with": _settings(run),
        }
        for run in runs
    ]
    note = "Rows written without a pause of ten minutes, what their stored tokens cost at today's prices, and the "
    note += "settings of the first of them."
    return markup.section("Runs so far", markup.table(rows, label="runs so far"), note=note) if rows else ""


def _cost(run: Run) -> str:
    """Return the dollars of a run; a sign where no call states its tokens."""
    stated = [row for row in run.cost.values() if row.calls > row.unstated]
    if not stated:
        return ABSENT
    if any(row.cost is None for row in stated):
        return "unknown price"
    without = f"; rows without tokens: {run.without:,}" if run.without else ""
    return dollars(sum(row.cost or 0.0 for row in stated)) + without


def _date(seconds: float) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC).strftime("%Y-%m-%d %H:%M")


def _kind(path: pathlib.Path) -> str:
    return "answers" if path.parent.name == "model_answer" else "judgments"


def _row(path: pathlib.Path, line: bytes) -> Row | None:
    try:
        return row_of(path, 1, value_of(path, 1, line))
    except DataError:
        return None


def _settings(run: Run) -> str:
    """Return with what the first row of a run was made, as far as it says."""
    row = _row(run.path, run.first)
    if row is None:
        return ""
    try:
        if _kind(run.path) == "judgments":
            source = judged_row(row.value, run.path, 1).source
            version = f" {source.version}" if source.version else ""
            return f"judge set {source.judge_set}{version}; sampling {source.sampling}"
        asked = row.value.get("sampling")
        told = [f"sampling {sampling_text(asked if isinstance(asked, dict) else None)}"]
        details = row.value["choices"][0].get("details")
        model = reply_from_row("", details[0]).model if details else None
        told += [f"answered as {model}"] if model else []
        return "; ".join([*told, *(["a system prompt"] if row.value.get("system_prompt") else [])])
    except (TurnbenchError, LookupError, TypeError, AttributeError):
        return "unstated"


def last_html(state: State, paths: Sequence[pathlib.Path]) -> str:
    """Return the rows that came last, each with the way to its question."""
    latest: list[tuple[float, pathlib.Path, bytes]] = []
    for path in paths:
        for line in last_lines(path)[-_LAST:]:
            if (at := written_at(line)) is not None:
                latest.append((at, path, line))
    rows = []
    for seconds, path, line in sorted(latest, key=lambda one: one[0])[: -_LAST - 1 : -1]:
        row = _row(path, line)
        if row is not None:
            came, there = _came(state, path, row)
            link = markup.link(there, str(row.value.get("question_id", ""))[:40])
            rows.append(
                {
                    "question": Html(link),
                    "came (UTC)": _date(seconds),
                    "in": markup.named(name_of(path.stem)),
                    "what": came,
                }
            )
    return markup.section("Came last", markup.table(rows, label="came last")) if rows else ""


def _came(state: State, path: pathlib.Path, row: Row) -> tuple[str, State]:
    """Return in a few words what a row says, and the page that shows it."""
    there = State("answers", state.bench, question=str(row.value.get("question_id", "")))
    try:
        if _kind(path) == "answers":
            there = there.to(models=(name_of(path.stem),))
            return " ".join(str(row.value["choices"][0]["turns"][0])[: 2 * _WORDS].split())[:_WORDS], there
        judged = judged_row(row.value, path, 1)
        if len(judged.models) > 1:
            won = winner(judged.games)
            name = {1.0: judged.models[0], 0.0: judged.models[1]}.get(-1.0 if won is None else won)
            said = f"{name} wins" if name else "no verdict" if won is None else "tie"
            return f"turn {judged.turn}, {' and '.join(judged.models)}: {said}", there.to(
                tab="compare", models=judged.models
            )
        numbers = ", ".join(f"{name} {value:g}" for name, value in judged.numbers.items() if value is not None)
        return f"turn {judged.turn}, {judged.models[0]}: {numbers or 'no verdict'}", there.to(models=judged.models)
    except (TurnbenchError, LookupError, TypeError):
        return "a row that is neither an answer nor a judgment", there


def difference_html(context: Context, state: State, bench: Bench, files: Sequence[JudgmentFile]) -> str:
    """Return the fields that choose two judgment files, and how their models differ, question by question."""
    if len(files) < 2:
        return ""
    named = {file.path.name: file for file in files}
    run, against = (named.get(state.looked_for(name)) for name in ("run", "against"))
    options = {"": "choose", **{name: name_of(file.path.stem) for name, file in named.items()}}
    inside = markup.select("f.run", "This run", options, run.path.name if run else "")
    inside += markup.select("f.against", "less the other", options, against.path.name if against else "")
    found = markup.form(state, inside, names={"f.run", "f.against"}, label="Two runs to compare")
    if run is not None and against is not None:
        found += _difference(context, bench, run, against)
    return markup.section("Difference of two runs", found, note="On the verdicts that both have, by model.")


@markup.in_place
def _difference(context: Context, bench: Bench, run: JudgmentFile, against: JudgmentFile) -> str:
    key, paths = ("runs", run.path, against.path), [run.path, against.path]
    make = partial(_compared, bench, run, against)
    result = context.store.later.get(key, "comparing two runs", make, of=paths, lane="whole")
    tables = [item for item in result_page(result).items if isinstance(item, Table)]
    own = [table for table in tables if table.title.startswith("This run")]
    shown = "".join(table_html(table, label="this run less the other") for table in own)
    return markup.notes(result.notes) + (shown or f'<p class="tb-quiet">{escaped("No model is in both.")}</p>')


def _compared(bench: Bench, run: JudgmentFile, against: JudgmentFile) -> "Result":
    from harness.old.results.show import show_result

    where: dict[str, Any] = {"bench_name": bench.name, "data_dir": bench.folder.parent, "input_file": run.path}
    make = partial(show_result, mode_of(run.kind), intervals=False, **where)
    return apart(partial(make, against=against.path, allow=ALLOWED), of=[run.path, against.path])
