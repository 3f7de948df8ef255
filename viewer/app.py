"""The app: one hidden field holds the address, and a change of it shows another view.

    a link is clicked ─▶ page.js ─▶ Views.show(address) ─▶ the final address, HTML, what to choose

The server keeps nothing of a page: a view follows from its address, the files, and who is logged
in. Tabs, controls and buttons are Gradio's; what models wrote is HTML of ours, in one pane.
"""

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, NamedTuple

from harness.bench import Bench
from harness.errors import TurnbenchError
from harness.reporting.html import asset
from viewer import board, judges, notes, pages, questions, verdicts, vote
from viewer.controls import FILES, QUIET, Controls, Fields
from viewer.data import Data, Home
from viewer.pages import Site
from viewer.state import View, parse

log = logging.getLogger("turnbench")


class Tab(NamedTuple):
    """What a tab shows."""

    show: Callable[[Data, View, Site], str]
    fields: Callable[[Data, View], Fields] = lambda data, view: Fields(view)
    """What can be chosen."""
    file: Callable[[Data, View, str], str] = lambda data, view, kind: ""
    """What is downloaded."""


TABS = {
    "board": Tab(board.show, board.fields, board.file),
    "questions": Tab(questions.show, questions.fields),
    "verdicts": Tab(verdicts.show, verdicts.fields, verdicts.file),
    "judges": Tab(judges.show),
    "vote": Tab(vote.show, vote.fields),
}
SITE, READ_ONLY = Site(View.query, writes=True), Site(View.query)
MOST_KEPT = 32
"""Views that are kept of a benchmark."""
EVERY, MINUTE, RARELY = 5.0, 60.0, 20
"""Seconds after which a page asks how far a run is; it is computed in a twentieth of the time."""
PATIENCE = 1.0
"""Seconds after which a page says what is going on, and asks again."""
STYLES = ("table.css", "chart.css")
"""Sheets of `harness.reporting` that the pages use too."""


class Shown(NamedTuple):
    """A view as it is shown."""

    view: View
    page: str
    fields: Fields | None
    """What can be chosen; None: it is being made."""


class State(NamedTuple):
    """How far a benchmark is."""

    version: str
    words: str
    made: float
    """When, by the clock."""
    seconds: float
    """How long it took."""


class Views:
    """From addresses to HTML."""

    def __init__(
        self,
        home: Home,
        *,
        read_only: bool = False,
        patience: float | None = None,
        state: Callable[[Bench], str] = lambda bench: "",
    ) -> None:
        """Show the benchmarks of a folder.

        Args:
            home: the folder.
            read_only: whether no vote and no note is written.
            patience: seconds after which a view that takes longer says what is going on.
            state: how far the judging of a benchmark is, in words.
        """
        self.home, self.patience, self._state = home, patience, state
        self._states: dict[str, State] = {}
        self._site = READ_ONLY if read_only else SITE
        self.tabs = [name for name in TABS if name != "vote" or not read_only]
        self._making: dict[View, Future[Shown]] = {}
        self._lock = threading.Lock()

    def show(self, query: str, who: str = "") -> Shown:
        """Return the view of an address as it is; what is wrong is on the page."""
        view = parse(query)
        if view.tab not in self.tabs:
            view = replace(view, tab="board")
        if view.tab == "vote":
            view = vote.blind(view, who)
        elif view.question and who:
            view = replace(view, voter=who)  # notes are written under that name
        return self._waited_for(view)

    def _waited_for(self, view: View) -> Shown:
        """Return a view, or that it is being made, what with, and to ask again."""
        if self.patience is None:
            return self._shown(view)
        with self._lock:
            future = self._making.get(view)
            if future is None:
                future = self._making[view] = Future()
                threading.Thread(target=self._make, args=(view, future), daemon=True).start()
        try:
            return future.result(self.patience)
        except TimeoutError:
            doing = self.home.progress or "computing"
            page = pages.render("waiting.html", title=self._title(view), doing=doing)
            return Shown(view, page, None)

    def _make(self, view: View, future: Future[Shown]) -> None:
        try:
            future.set_result(self._shown(view))
        finally:
            with self._lock:
                del self._making[view]

    def state(self, query: str) -> str:
        """Return how far the judging of a view's benchmark is, and the version of its files."""
        try:
            data = self.home.data(parse(query).bench)
            name, now = data.bench.name, time.monotonic()
            last = self._states.get(name)
            # Of much data it takes long, and a run changes its files all the time.
            is_old = last is None or last.version != data.version or now > last.made + MINUTE
            if last is None or (is_old and now > last.made + RARELY * last.seconds):
                words = self._state(data.bench)
                last = State(data.version, words, now, time.monotonic() - now)
                self._states[name] = last
        except (TurnbenchError, OSError):
            return ""
        return pages.render("state.html", words=last.words, version=data.version)

    def act(self, action: str, who: str = "") -> Shown:
        """Return what follows a form that was sent: a vote, or a note."""
        try:
            sent = dict(json.loads(action)) if len(action) < 10_000 else {}
            fields = {str(name): str(value) for name, value in sent.items()}
        except (ValueError, TypeError):
            fields = {}
        view, message, act = parse(fields.get("view", "")), "", vote.act
        if "note" in fields:
            view, act = replace(view, voter=who or fields.get("voter", "")), notes.act
        else:
            view = vote.blind(view, who)
        if "vote" not in self.tabs:
            return self.show("", who)
        try:
            view = act(self.home.data(view.bench), view, fields)
        except TurnbenchError as error:
            message = pages.notice(self._without_path(error))
        return self._shown(view, message)

    def file(self, query: str, kind: str) -> str:
        """Return what a view has as a file."""
        view = parse(query)
        try:
            return TABS[view.tab].file(self.home.data(view.bench), view, kind)
        except (KeyError, TurnbenchError):  # the page says what is wrong
            return ""

    def _shown(self, view: View, message: str = "") -> Shown:
        version, fields, names = "", Fields(view), self.home.names()
        try:
            data = self.home.data(view.bench)
            body, fields = self._body(data, view)
            faults, version = data.faults, data.version
        except TurnbenchError as error:
            body, faults = pages.notice(self._without_path(error)), []
        except Exception as error:  # a file may hold what nobody foresaw; the other views go on
            log.exception("the view %s cannot be shown", view.query())
            body, faults = pages.notice(f"this cannot be shown ({type(error).__name__})"), []
        options = {"bench": {name: name for name in names}, **fields.options}
        page = pages.render(
            "view.html",
            title=self._title(view),
            faults=faults,
            version=version,
            message=message,
            body=body,
        )
        return Shown(view, page, replace(fields, options=options))

    def _body(self, data: Data, view: View) -> tuple[str, Fields]:
        """Return a tab's HTML and fields: those made before, as long as no file has changed."""
        own = replace(view, bench=data.bench.name)
        tab = TABS[view.tab]
        if view.tab == "vote":
            return tab.show(data, own, self._site), tab.fields(data, own)
        made = data.kept.pop(own, None) or (tab.show(data, own, self._site), tab.fields(data, own))
        data.kept[own] = made
        while len(data.kept) > MOST_KEPT:
            del data.kept[next(iter(data.kept))]
        return made

    def _without_path(self, error: TurnbenchError) -> str:
        """Return a message without the data folder, which readers of the page need not know."""
        return str(error).replace(f"{self.home.data_dir}/", "")

    def _title(self, view: View) -> str:
        parts = [view.question and f"question {view.question}", view.tab.capitalize(), view.bench]
        return " · ".join([part for part in parts if part] + ["turnbench"])


def build(views: Views) -> Any:
    """Return the Gradio app."""
    import gradio as gr

    plain: dict[str, Any] = {"apply_default_css": False, "padding": False}
    with gr.Blocks(title="turnbench", analytics_enabled=False, fill_width=True) as app:
        gr.HTML("<h1>turnbench</h1>", elem_classes="tb-top", **plain)
        query = gr.Textbox(label="address", elem_id="tb-query", visible="hidden")
        action = gr.Textbox(label="action", elem_id="tb-action", visible="hidden")
        file = gr.JSON(visible=False)
        state = gr.HTML("", elem_classes="tb-state", **plain)
        timer = gr.Timer(EVERY)
        go = gr.Button("go", elem_id="tb-go", elem_classes="tb-hidden")
        act = gr.Button("act", elem_id="tb-act", elem_classes="tb-hidden")
        with gr.Tabs(selected="board", elem_id="tb-tabs") as bar:
            for name in views.tabs:
                gr.Tab(name.capitalize(), id=name)
        controls = Controls()
        pane = gr.HTML("", elem_classes="tb-view", **plain)

        def outcome(shown: Shown) -> Sequence[Any]:
            tab = gr.Tabs(selected=shown.view.tab)
            return [shown.view.query(), tab, shown.page, *controls.updates(shown.fields)]

        def at(address: str, request: gr.Request) -> Sequence[Any]:
            return outcome(views.show(address, request.username or ""))

        def first(address: str, request: gr.Request) -> Sequence[Any]:
            return at(address, request)[:3]

        def choices(address: str, request: gr.Request) -> Sequence[Any]:
            return controls.updates(views.show(address, request.username or "").fields)

        def done(fields: str, request: gr.Request) -> Sequence[Any]:
            return outcome(views.act(fields, request.username or ""))

        def now(address: str) -> str:
            return views.state(address)

        outputs = [query, bar, pane, *controls.outputs]
        once = {**QUIET, "trigger_mode": "once"}
        address = "() => turnbench.asked()"
        # The first page does not wait until the browser has fetched what draws the controls.
        loaded = app.load(first, query, outputs[:3], js=address, **QUIET)
        ticked = timer.tick(now, query, state, js="() => [turnbench.query]", **QUIET)
        ticked.then(fn=None, js="() => { turnbench.follow(); }")
        for event in (
            loaded.then(choices, query, controls.outputs, js=address, **QUIET),
            go.click(at, query, outputs, js=address, **once),
            act.click(done, action, outputs, js="() => turnbench.sent()", **once),
        ):
            event.then(fn=None, inputs=query, js="(query) => { turnbench.shown(query); }")
        for kind in FILES:

            def made(address: str, kind: str = kind) -> list[str]:
                return [f"{parse(address).tab}.{kind}", views.file(address, kind)]

            click = controls.parts[kind].click
            made_it = click(made, query, file, js="() => [turnbench.query]", **QUIET)
            made_it.then(fn=None, inputs=file, js="(file) => { turnbench.save(file); }")
    return app


def head() -> str:
    """Return style and script of the pages, for the head of Gradio's."""
    colours = asset("colours.css")  # Gradio says by a class whether it is dark, not by the system
    dark = "@media screen and (prefers-color-scheme: dark) {\n  :root"
    colours = colours.replace(dark, ".dark {\n  &").replace("color-scheme: light dark;", "")
    style = "".join(
        [colours, *map(asset, STYLES), *map(pages.own_file, ("style.css", "gradio.css"))]
    )
    script = asset("sort.js") + pages.own_file("keys.js") + pages.own_file("page.js")
    return f"<style>{style}</style><script>{script}</script>"
