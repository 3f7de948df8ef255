"""The state in a URL's query: which view is open. Every tab reads it, and every link and form leads to another one.

    ?tab=compare&bench=mt_bench&mode=pairwise-all&judge=gpt-4&question=81&model=a&model=b&f.category=math

A URL may come from anywhere. Malformed parts are ignored; a name is kept unchanged, so that the page shows
what was requested, or an error. Nothing in a URL is ever used as a path.
"""

from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

from harness.old.records import MODES, Mode

FILTERS = (
    "category",
    "field",
    "value",
    "choice",
    "min",
    "max",
    "winner",
    "flag",
    "text",
    "sort",
    "page",
    "column",
    "differences",
    "show",
    "voter",
    "with",
    "baseline",
    "run",
    "against",
)
"""What a filter may be about; in the address with `f.` before it. Find, and the tables of other tabs, use it.

category, winner: as the records name them. field, value: any other field of the questions. choice: which of several
answers. min, max: scores. flag: changed, disagree, humans, failed. text: a text to search. sort: a column, with - in
front for the greatest first. page: of a table, from 1. column, show: what a table or a chart is about. voter: a chosen
name. baseline: a model. run, against: names of judgment files.
"""
JUDGE_AND_SET = " @"
"""Between a judge and its set where one field of a form chooses both."""
_MOST_CHARACTERS = 8_000
_MOST_VALUE = 400
_MOST_MODELS = 24
_MOST_PAGE = 1_000_000


@dataclass(frozen=True, slots=True)
class State:
    """One view. An empty text or None leaves a choice to the viewer."""

    tab: str = "leaderboard"
    bench: str = ""
    mode: Mode = "single"
    judge: str = ""
    judge_set: str = ""
    """The judge set where it is not the usual one, and `#n` for the n-th further sample, as the file names say it."""
    question: str = ""
    turn: int | None = None
    models: tuple[str, ...] = ()
    """One is the model that is looked at, two are a pair; a chart may show more."""
    whole: bool = False
    """Whether long texts are shown to their end."""
    filter: tuple[tuple[str, str], ...] = ()
    """What is looked for, by the names in `FILTERS`; at most one value each."""
    found: str = ""
    """The address of the list in Find that led here; empty if none did."""
    at: int | None = None
    """Where in that list this is, from 0."""
    who: str = ""
    """The logged-in user. It comes from the server, and is never part of a URL."""

    def to(self, **changes: Any) -> Self:
        """Return the view with some things changed; `filter` may be a mapping."""
        if isinstance(changes.get("filter"), dict):
            changes["filter"] = _filter(changes["filter"].items())
        return replace(self, **changes)

    def looked_for(self, name: str) -> str:
        """Return the filter of that name, or an empty text."""
        return dict(self.filter).get(name, "")

    def where(self, **filters: object) -> Self:
        """Return the view with these filters set, or taken out where the value is empty or None."""
        wanted = {**dict(self.filter), **{name: "" if v is None else str(v) for name, v in filters.items()}}
        return replace(self, filter=_filter(wanted.items()))

    @property
    def page(self) -> int:
        """The page of a table, from 1."""
        text = self.looked_for("page")
        return min(_MOST_PAGE, max(1, int(text))) if text.isascii() and text.isdigit() and len(text) < 9 else 1

    def pairs(self) -> list[tuple[str, str]]:
        """Return names and values as they stand in the address, without those that say nothing."""
        plain = {
            "tab": self.tab,
            "bench": self.bench,
            "mode": self.mode,
            "judge": self.judge,
            "set": self.judge_set,
            "question": self.question,
            "turn": str(self.turn or ""),
            "whole": "1" if self.whole else "",
            "found": self.found,
            "at": "" if self.at is None else str(self.at),
        }
        found = [(name, value) for name, value in plain.items() if value]
        return found + [("model", m) for m in self.models] + [(f"f.{name}", value) for name, value in self.filter]

    def query(self) -> str:
        """Return the address's part from the question mark on; `parse` gives the same view back."""
        return "?" + urlencode(self.pairs(), errors="replace")


def parse(query: object) -> State:
    """Return the view that an address names; whatever is wrong in it is as if it were not there."""
    if not isinstance(query, str) or len(query) > _MOST_CHARACTERS:
        return State()
    try:
        found = parse_qsl(query.partition("#")[0].lstrip("?"), errors="replace", max_num_fields=100)
    except ValueError:
        return State()
    said: dict[str, str] = {}
    for name, value in found:
        if value:
            said.setdefault(name, value if name == "found" else _short(value))
    mode = said.get("mode", "")
    turn, at = _whole_number(said.get("turn", "")), _whole_number(said.get("at", ""))
    judge, judge_set = said.get("judge", ""), said.get("set", "")
    if not judge_set and JUDGE_AND_SET in judge:
        judge, _, judge_set = judge.rpartition(JUDGE_AND_SET)
    models = dict.fromkeys(_short(value) for name, value in found if name == "model" and value)
    return State(
        tab=said.get("tab", "leaderboard"),
        bench=said.get("bench", ""),
        mode=mode if mode in MODES else "single",
        judge=judge,
        judge_set=judge_set,
        question=said.get("question", ""),
        turn=turn if turn and turn < 1_000 else None,
        models=tuple(models)[:_MOST_MODELS],
        whole=said.get("whole") == "1",
        found=said.get("found", ""),
        at=at,
        filter=_filter((name[2:], value) for name, value in said.items() if name.startswith("f.")),
    )


def _filter(pairs: Any) -> tuple[tuple[str, str], ...]:
    """Return the filters that are known and say something, in one order."""
    found = {name: value for name, value in pairs if name in FILTERS and value}
    return tuple((name, found[name]) for name in FILTERS if name in found)


def _whole_number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None


def _short(text: str) -> str:
    """Return a value, shortened if it is longer than any existing name."""
    return text if len(text) <= _MOST_VALUE else text[:_MOST_VALUE] + "\u2026"
