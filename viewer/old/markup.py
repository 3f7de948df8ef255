"""The parts that the tabs' pages are made of. Each takes plain values, escapes them, and returns HTML.

Content that is inserted unescaped (`inside`, `content`, cells) must be HTML from one of these functions or
`viewer.old.text`.
"""

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, ParamSpec

from harness.old.errors import TurnbenchError
from harness.old.records import Mode
from harness.old.showing import Column, Table
from harness.old.showing import Html as Html
from harness.old.showing.html import chart_html, table_html
from harness.old.showing.values import ABSENT, rounded
from viewer.old.later import NotYet
from viewer.old.state import JUDGE_AND_SET, State
from viewer.old.store import kind_of
from viewer.old.text import escaped, exact

if TYPE_CHECKING:
    from viewer.old.context import Context

Given = ParamSpec("Given")
_BREAKS = re.compile(r"(?<=\w)([/_.:@-])(?=\w)")
_MOST_FAULTS = 5
_MOST_COPIED = 60_000
"""Characters of a text that a button copies; it stands in the page a second time."""
_SNIPPET = 90
PAGE = 50
"""Rows of a table on one page."""


def link(state: State, text: str, *, key: str = "", label: str = "", current: bool = False, kind: str = "") -> str:
    """Return a link to a view.

    Args:
        state: the view.
        text: what is read.
        key: keys that follow it, as `ArrowRight j`.
        label: what it says to those who cannot see it, where the text is not enough.
        current: whether it is the view that is open.
        kind: `button` to look like one.
    """
    more = f' data-key="{escaped(key)}"' if key else ""
    more += f' aria-label="{escaped(label)}" title="{escaped(label)}"' if label else ""
    more += ' aria-current="true"' if current else ""
    more += f' class="tb-{kind}"' if kind else ""
    return f'<a href="{escaped(state.query())}"{more}>{escaped(text)}</a>'


def step(there: State | None, sign: str, *, key: str, label: str) -> str:
    """Return the button to what is next to this, which the last of the keys is named for; off where nothing is."""
    if there is None:
        return f'<span class="tb-button tb-off" aria-hidden="true">{sign}</span>'
    return link(there, sign, key=key, label=f"{label} ({key.split()[-1]})", kind="button")


def switch(label: str, links: Iterable[str], *, seen: bool = True) -> str:
    """Return links to the same view with another choice, of which one is open."""
    before = f"<span>{escaped(label)}</span>" if seen else ""
    return f'<nav class="tb-field tb-switch" aria-label="{escaped(label)}">{before}<span>{"".join(links)}</span></nav>'


def form(state: State, inside: str, *, names: Iterable[str], label: str, act: bool = False) -> str:
    """Return a form that leads to the view with its fields changed, as soon as one of them is.

    Args:
        state: the view to start from.
        inside: HTML of the fields.
        names: those of the fields in the address, such as `judge`, `model`, `f.category`.
        label: what the form is for.
        act: whether it is sent to the tab's `act`, by a button, with the names and values of all its fields.
    """
    own = set(names)
    kept = "".join(_hidden(name, value) for name, value in state.pairs() if name not in own)
    which = ' data-act="1"' if act else ' data-go="1"'
    return f'<form class="tb-form"{which} aria-label="{escaped(label)}">{kept}{inside}</form>'


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{escaped(name)}" value="{exact(value)}">'


def select(name: str, label: str, options: Mapping[str, str] | Sequence[str], value: str) -> str:
    """Return a field that chooses one of some values (by value, what is read)."""
    texts = options if isinstance(options, Mapping) else {option: option for option in options}
    inside = "".join(
        f'<option value="{exact(option)}"{" selected" if option == value else ""}>{escaped(text)}</option>'
        for option, text in texts.items()
    )
    control = f'<select id="tb-{escaped(name)}" name="{escaped(name)}">{inside}</select>'
    return f'<label class="tb-field"><span>{escaped(label)}</span>{control}</label>'


def field(name: str, label: str, value: str, *, hint: str = "", kind: str = "text", width: str = "") -> str:
    """Return a field to write in; `kind` is a type of HTML's input: text, search, number."""
    style = f' style="width: {escaped(width)}"' if width else ""
    control = (
        f'<input id="tb-{escaped(name)}" type="{escaped(kind)}" name="{escaped(name)}" value="{exact(value)}" '
        f'placeholder="{escaped(hint)}" maxlength="400" autocomplete="off" spellcheck="false"{style}>'
    )
    return f'<label class="tb-field"><span>{escaped(label)}</span>{control}</label>'


def checkbox(name: str, label: str, value: str, *, checked: bool) -> str:
    """Return a box to tick; several of one name give several values."""
    state = " checked" if checked else ""
    own = f'id="tb-{escaped(name)}-{escaped(value)}" name="{escaped(name)}" value="{exact(value)}"'
    control = f'<input type="checkbox" {own}{state}>'
    return f'<label class="tb-check">{control}<span>{escaped(label)}</span></label>'


def button(text: str, *, name: str = "", value: str = "", key: str = "", primary: bool = False) -> str:
    """Return the button that sends a form, and a name and value with it."""
    more = f' name="{escaped(name)}" value="{escaped(value)}"' if name else ""
    more += f' data-key="{escaped(key)}"' if key else ""
    return f'<button type="submit" class="tb-button{" tb-primary" if primary else ""}"{more}>{escaped(text)}</button>'


def notice(text: str, *, kind: str = "note", then: str = "") -> str:
    """Return a message in place: `note`, `wait` or `fault`; `then` is HTML that follows the text."""
    role = "alert" if kind == "fault" else "status"
    return f'<div class="tb-notice tb-{kind}" role="{role}"><p>{escaped(text)}</p>{then}</div>'


def faults(lines: Sequence[str]) -> str:
    """Return what is wrong with some files, a message each; the first few, and how many more there are."""
    shown = "".join(notice(line, kind="fault") for line in lines[:_MOST_FAULTS])
    left = len(lines) - _MOST_FAULTS
    return shown + (
        notice(f"{left:,} more lines are damaged; check_bench lists them", kind="fault") if left > 0 else ""
    )


def waiting(wait: NotYet) -> str:
    """Return the message that something is being made, after which the page looks again by itself."""
    return f'<div data-refresh="{wait.again}">{notice(f"One moment: {wait} …", kind="wait")}</div>'


def in_place(make: Callable[Given, str]) -> Callable[Given, str]:
    """Return what makes a part of a page and, where it cannot yet or at all, says in its place why."""

    @functools.wraps(make)
    def made(*args: Given.args, **words: Given.kwargs) -> str:
        try:
            return make(*args, **words)
        except NotYet as wait:
            return waiting(wait)
        except TurnbenchError as error:
            return notice(str(error), kind="fault")

    return made


def notes(lines: Sequence[str]) -> str:
    """Return what a reader must know, a line each; nothing if there is nothing."""
    return f'<ul class="tb-notes">{"".join(f"<li>{escaped(line)}</li>" for line in lines)}</ul>' if lines else ""


def named(text: str) -> Html:
    """Return the name of a model or a judge for a cell, in its own writing direction, which may break at its signs."""
    broken = _BREAKS.sub(r"\1<wbr>", escaped(text))
    return Html(f"<bdi>{broken}</bdi>")


def command(text: str) -> str:
    """Return a command line to type."""
    return f'<pre class="tb-command" tabindex="0"><code>{escaped(text)}</code></pre>'


def chip(text: str, kind: str = "plain", *, tip: str = "") -> str:
    """Return a short mark: `plain`, `win`, `loss`, `tie`, `score`, `warn` or `none`; never told by colour alone."""
    title = f' title="{escaped(tip)}"' if tip else ""
    return f'<span class="tb-chip tb-chip-{kind}"{title}>{escaped(text)}</span>'


def copying(text: str) -> str:
    """Return a button that copies a text as it is, with the text, hidden; nothing for a text that is very long."""
    if not text or len(text) > _MOST_COPIED:
        return ""
    return f'<button type="button" class="tb-copy" data-copy="1">Copy</button><pre hidden>{exact(text)}</pre>'


def section(title: str, content: str, *, note: str = "", level: int = 2) -> str:
    """Return a part of the page with its heading."""
    below = f'<p class="tb-quiet">{escaped(note)}</p>' if note else ""
    return f'<section class="tb-section"><h{level}>{escaped(title)}</h{level}>{below}{content}</section>'


def details(summary: str, content: str, *, name: str = "", opened: bool = False) -> str:
    """Return a part that opens with a click; with a name it stays open when the view changes."""
    more = f' id="{escaped(name)}"' if name else ""
    return f"<details{more}{' open' if opened else ''}><summary>{escaped(summary)}</summary>{content}</details>"


def chart(svg: str, label: str) -> str:
    """Return a picture of `harness.old.showing.charts` in a box that scrolls sideways where it must."""
    return chart_html(svg, label)


def table(
    rows: Sequence[Mapping[str, object]],
    *,
    label: str,
    places: int = 2,
    heads: Mapping[str, str | Html] | None = None,
) -> str:
    """Return rows as a table that scrolls sideways in itself; the first column names the row.

    Args:
        rows: values by column; `Html` goes in as it is, all else is escaped, numbers are rounded, None is a dash.
        label: what the table shows.
        places: decimal places of numbers that are not whole.
        heads: what stands over a column, where it is not its name.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = [Column(name, (heads or {}).get(name, name.replace("_", " "))) for name in names]
    return table_html(Table("", rows, columns, places=places), label=label)


def pages(state: State, total: int, *, size: int = PAGE) -> str:
    """Return links to the other pages of a table of so many rows; nothing if it has one page only."""
    last = max(1, -(-total // size))
    page = min(state.page, last)
    if last == 1:
        return ""
    to, kind = state.where, "button"
    before = link(to(page=page - 1), "Previous page", key="k ArrowLeft", kind=kind) if page > 1 else ""
    after = link(to(page=page + 1), "Next page", key="j ArrowRight", kind=kind) if page < last else ""
    first, end = (page - 1) * size + 1, min(total, page * size)
    told = f'<span class="tb-quiet">{first:,} to {end:,} of {total:,}</span>'
    return f'<nav class="tb-pages" aria-label="Pages">{before}{told}{after}</nav>'


def of_page(state: State, total: int, *, size: int = PAGE) -> slice:
    """Return which of so many rows stand on the view's page."""
    page = min(state.page, max(1, -(-total // size)))
    return slice((page - 1) * size, page * size)


def snippet(text: str) -> str:
    """Return the beginning of a text in one line."""
    plain = " ".join(text[: 4 * _SNIPPET].split())
    cut = plain if len(plain) <= _SNIPPET else plain[:_SNIPPET].rstrip() + "…"
    return f'<span class="tb-snippet" dir="auto">{escaped(cut)}</span>'


def number(value: float | None, places: int = 2) -> str:
    """Return a number as every table shows it."""
    return ABSENT if value is None else rounded(value, places)


def duration(seconds: float) -> str:
    """Return a time in its largest unit of which there are two or more."""
    for size, name in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


MODE_NAMES: Mapping[Mode, str] = {
    "single": "grades",
    "pairwise-baseline": "pairs with a baseline",
    "pairwise-all": "all pairs",
}


def choices(context: "Context", state: State, *what: str, more: str = "") -> str:
    """Return the row with which a tab chooses its benchmark, mode and judge.

    Args:
        context: what the tab was given.
        state: the view.
        what: some of `bench`, `mode`, `judge`.
        more: HTML of further forms.
    """
    parts = []
    store = context.store
    benches = store.benches()
    if "bench" in what and len(benches) > 1:
        names = {"bench", "question", "model", "judge", "set", *(f"f.{name}" for name, _ in state.filter)}
        parts.append(form(state, select("bench", "Benchmark", benches, state.bench), names=names, label="Benchmark"))
    if "mode" in what:
        parts.append(modes(context, state, MODE_NAMES, "Mode"))
    if "judge" in what:
        parts.append(_judges(context, state))
    inside = "".join(parts) + more
    return f'<div class="tb-choices">{inside}</div>' if inside else ""


def modes(
    context: "Context", state: State, names: Mapping[Mode, str], label: str, *, leave: Iterable[str] = ("page",)
) -> str:
    """Return a link for each mode, without the filters to `leave`; the judge stays where it has judged there too."""
    bench = context.store.bench(state.bench)
    links = []
    for mode, name in names.items():
        there = {(f.judge, f.judge_set) for f in context.store.judgment_files(bench, kind_of(mode))}
        same = {} if (state.judge, state.judge_set) in there else {"judge": "", "judge_set": ""}
        other = state.to(mode=mode, **same).where(**dict.fromkeys(leave))
        links.append(link(other, name, current=mode == state.mode))
    return switch(label, links)


def _judges(context: "Context", state: State) -> str:
    """Return the field that chooses a judge, with its set where that is not the usual one."""
    files = context.store.judgment_files(context.store.bench(state.bench), kind_of(state.mode))
    options = {judge_value(file.judge, file.judge_set): file.label for file in files}
    if not options:
        return ""
    inside = select("judge", "Judge", options, judge_value(state.judge, state.judge_set))
    return form(state, inside, names={"judge", "set", "f.page"}, label="Judge")


def judge_value(judge: str, judge_set: str) -> str:
    """Return what stands for a judge and its set in the field of a form that chooses both."""
    return f"{judge}{JUDGE_AND_SET}{judge_set}" if judge_set else judge
