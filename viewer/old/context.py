"""The interface of a tab: a function from a view to HTML, without state beyond a page.

    def tab(context: Context) -> Tab:
        return Tab("find", "Find", show=lambda state: ..., settle=lambda state: ..., act=...)

`show(state)` returns the tab's HTML, made with `markup` and `text`. Everything clickable is a link or a form whose
target is another `State` (`markup.link`, `markup.form`); page.js fetches it without reloading the page, and puts it
into the address bar. A `TurnbenchError` that it raises is shown in place, as is `NotYet`, after which the page
refreshes by itself. In the HTML

    data-refresh="2000"     the view is fetched again after this many milliseconds, while it is open
    data-key="j ArrowRight" these keys, pressed outside fields, click the element
    <form data-act>         is sent to `act(state, fields)` of the tab, which may write, and returns the next view
    id="..."                the element keeps focus and scroll position when the view changes
    data-top="..."          the page goes to its top when this becomes another one
    data-here="..."         the page goes there when this becomes another one
    data-copy               a button that copies the text of the hidden element after it
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from viewer.old.index import Indexes
from viewer.old.state import State
from viewer.old.store import Store

Fields: TypeAlias = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Context:
    """What every tab is given."""

    store: Store
    read_only: bool = False
    """Whether writing, and so voting, is disabled."""
    indexes: Indexes = field(default_factory=Indexes)
    """All judgments as columns of numbers."""


def _as_it_is(state: State) -> State:
    return state


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab."""

    name: str
    """As in the address, and that of its module."""
    title: str
    """As people read it."""
    show: Callable[[State], str]
    """Return the HTML of the view."""
    settle: Callable[[State], State] = field(default=_as_it_is)
    """Return the view with the choices made that the address left open, which then go into the address bar."""
    act: Callable[[State, Fields], State] | None = None
    """Carry out the action of a form with `data-act`, and return the next view."""
