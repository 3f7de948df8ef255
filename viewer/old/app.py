"""The app with all tabs: one hidden field holds the URL's query, and a change of it shows another view.

    a link is clicked ─▶ page.js: address ─▶ go(address) ─▶ parse ─▶ settle ─▶ show ─▶ HTML, and the address bar

The server keeps no state of a page, so a view depends on its URL, the files, and the logged-in user.
"""

import json
import logging
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from harness import __version__
from harness.old.errors import TurnbenchError
from viewer.old import markup
from viewer.old.context import Context, Tab
from viewer.old.later import NotYet
from viewer.old.state import State, parse
from viewer.old.tabs import answers, compare, find, judge, leaderboard, runs, vote
from viewer.old.text import time_of_view

log = logging.getLogger("turnbench")

_TABS = (leaderboard.tab, answers.tab, compare.tab, find.tab, judge.tab, vote.tab, runs.tab)
_MOST_FIELDS = 100
_MOST_ACTION = 20_000
_PICKERS = {"leaderboard": ("bench", "mode", "judge"), "judge": ("bench", "mode", "judge"), "runs": ("bench", "mode")}
"""What can be chosen on a tab that cannot be shown, such as another judge than one with a damaged file."""


def tabs_of(context: Context) -> list[Tab]:
    """Return the tabs in their order; without those that write where nothing may be written."""
    tabs = [make(context) for make in _TABS]
    return [tab for tab in tabs if tab.act is None or not context.read_only]


class Views:
    """From addresses to HTML: what the page shows, without a page."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.tabs = tabs_of(context)
        self.named = {tab.name: tab for tab in self.tabs}

    def view(self, query: object, who: str = "") -> tuple[State, str]:
        """Return the view of a URL, in its final form for the address bar, and its HTML.

        Args:
            query: the address from the question mark on.
            who: the name of the logged-in user; empty without passwords.
        """
        state = parse(query).to(who=who)
        if state.tab not in self.named:
            state = state.to(tab=self.tabs[0].name)
        return self._shown(state)

    def acted(self, query: object, action: object, who: str = "") -> tuple[State, str]:
        """Return the next view after a form was sent, and its HTML; the same view if there is an error."""
        fields = _fields(action)
        state = parse("?" + urlencode(fields, errors="replace")).to(who=who)
        tab = self.named.get(state.tab)
        if tab is None or tab.act is None or not fields:
            return self.view(query, who)
        try:
            return self._shown(tab.act(state, dict(fields)))
        except TurnbenchError as error:
            state, html = self._shown(state)
            return state, markup.notice(str(error), kind="fault") + html

    def _shown(self, state: State) -> tuple[State, str]:
        """Return the settled view and its HTML; errors are shown in place."""
        tab = self.named[state.tab]
        try:
            bench = self.context.store.bench(state.bench)
            state = tab.settle(state.to(bench=bench.name))
            with time_of_view():
                shown = tab.show(state)
            self.context.store.look_ahead(bench)
            return state, shown
        except NotYet as wait:
            return state, markup.waiting(wait)
        except TurnbenchError as error:
            return state, self._instead(state, markup.notice(str(error), kind="fault"))
        except OSError as error:  # a file was taken away while it was read, or may not be read
            text = f"{error.filename or 'a file'}: cannot be read ({error.strerror or error})"
            return state, self._instead(state, markup.notice(text, kind="fault"))
        except Exception as error:  # a file may hold what no room foresaw; the other tabs go on
            log.exception("the tab %s cannot be shown", state.tab)
            text = f"this view cannot be shown ({type(error).__name__}: {error}); the others can"
            return state, self._instead(state, markup.notice(text, kind="fault"))

    def _instead(self, state: State, message: str) -> str:
        """Return the message with what is needed to get somewhere else."""
        try:
            bench = markup.choices(self.context, state, "bench")
        except TurnbenchError:
            return message
        try:
            return markup.choices(self.context, state, *_PICKERS.get(state.tab, ("bench",))) + message
        except TurnbenchError:
            return bench + message


def _fields(action: object) -> list[tuple[str, str]]:
    """Return the fields of a form that was sent; none if it is not one."""
    if not isinstance(action, str) or len(action) > _MOST_ACTION:
        return []
    try:
        pairs = json.loads(action)
    except (ValueError, RecursionError):
        return []
    if not isinstance(pairs, list) or len(pairs) > _MOST_FIELDS:
        return []
    good = [p for p in pairs if isinstance(p, list) and len(p) == 2 and all(isinstance(part, str) for part in p)]
    return [(name, value) for name, value in good]


def build(views: Views) -> Any:
    """Return the Gradio app, not yet served; `gradio` is imported here and not before."""
    import gradio as gr

    with gr.Blocks(title="turnbench", analytics_enabled=False, fill_width=True) as app:
        gr.HTML(_top(), elem_classes="tb-top", apply_default_css=False, padding=False)
        query = gr.Textbox(label="address", elem_id="tb-query", visible="hidden")
        action = gr.Textbox(label="action", elem_id="tb-action", visible="hidden")
        go = gr.Button("go", elem_id="tb-go", elem_classes="tb-hidden")
        act = gr.Button("act", elem_id="tb-act", elem_classes="tb-hidden")
        panes = []
        plain: dict[str, Any] = {"elem_classes": "tb-view", "apply_default_css": False, "padding": False}
        with gr.Tabs(selected=views.tabs[0].name, elem_id="tb-tabs", overflow_behavior="wrap") as bar:
            for tab in views.tabs:
                with gr.Tab(tab.title, id=tab.name, elem_id=f"tb-tab-{tab.name}", render_children=True):
                    panes.append(gr.HTML("", elem_id=f"tb-pane-{tab.name}", **plain))

        def outcome(state: State, html: str) -> Sequence[Any]:
            # The other tabs are emptied: each is rendered again when opened, and an id must be unique on the page.
            shown = [html if tab.name == state.tab else "" for tab in views.tabs]
            return [state.query(), gr.Tabs(selected=state.tab), *shown]

        def at(address: str, request: gr.Request) -> Sequence[Any]:
            return outcome(*views.view(address, request.username or ""))

        def done(address: str, fields: str, request: gr.Request) -> Sequence[Any]:
            return outcome(*views.acted(address, fields, request.username or ""))

        outputs = [query, bar, *panes]
        quiet: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
        tell = {"fn": None, "inputs": query, "js": "(query) => { turnbench.shown_now(query); }"}
        opening = app.load(at, query, outputs, js="() => turnbench.open()", **quiet)
        going = go.click(at, query, outputs, js="() => turnbench.open()", trigger_mode="once", **quiet)
        acting = act.click(done, [query, action], outputs, js="() => turnbench.sent()", trigger_mode="once", **quiet)
        for event in (opening, going, acting):
            event.then(**tell)
    return app


def opening(views: Views, query: str) -> str:
    """Return the static page of a URL, shown until Gradio's scripts have rendered theirs, which looks the same."""
    state, shown = views.view(query)
    links = "".join(markup.link(state.to(tab=t.name), t.title, current=t.name == state.tab) for t in views.tabs)
    top = f'<div class="tb-top">{_top()}</div><nav aria-label="Tabs">{links}</nav>'
    return f'{top}<div class="tb-view">{shown}</div>'


def _top() -> str:
    return f'<header><h1>turnbench</h1><span class="tb-quiet">{__version__}</span></header>'
