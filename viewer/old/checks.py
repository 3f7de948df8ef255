"""Which checks an answer's turn meets, as `auto_checks` wrote them, with the places that break one marked."""

from collections.abc import Mapping
from typing import Any

import msgspec

from harness.old.bench import Bench
from harness.old.errors import DataError
from harness.old.jsonl import is_there
from harness.old.jsonl.lines import taken_as
from harness.old.judging.extraction import extracted
from harness.old.records import Choice, Measurement, QuestionId, content_hash
from harness.old.rows import measurement_from_row
from viewer.old import markup
from viewer.old.questions import scrolling, show_all
from viewer.old.state import State
from viewer.old.store import Store
from viewer.old.text import escaped, marked_html

_MOST_CHECKS = 200
_MOST_SPANS = 500
_MOST_WORDS = 500
"""The most characters of a check's requirement and finding."""
_CHIPS: Mapping[tuple[bool | None, bool | None], tuple[str, str]] = {
    (True, True): ("met", "win"),
    (False, True): ("met loosely only", "warn"),
    (False, False): ("not met", "loss"),
}


class Ticked(msgspec.Struct):
    """One check for display; a row with other contents has none."""

    text: str = ""
    strict: bool | None = None
    loose: bool | None = None
    found: str | None = None
    spans: list[tuple[int, int]] = []


def checked_turns(store: Store, bench: Bench, model: str, key: QuestionId) -> dict[tuple[int, int], Measurement]:
    """Return the rows of a model's checks on a question, by turn and choice; none where nothing was checked.

    Raises:
        NotYet: the file is still being indexed.
        DataError: it cannot be read, or a row is not what it must be.
    """
    path = bench.metric_file("checks")
    found: dict[tuple[int, int], Measurement] = {}
    if not is_there(path):
        return found
    for row in store.places(path).rows(key):
        if isinstance(row, DataError):
            raise row
        if row.value.get("model") == model:
            one = measurement_from_row(row.value, path, row.line)
            found[one.turn, one.choice] = one
    return found


def checks_html(state: State, bench: Bench, choice: Choice, turn: int, row: Measurement) -> str:
    """Return the checks of one turn: how many are met, each with its tick, and the reply with the places marked."""
    ticked = _ticked(row.extra)
    if not ticked:
        return ""
    decided = [one for one in ticked if one.strict is not None]
    strict, loose = sum(bool(one.strict) for one in decided), sum(bool(one.loose) for one in decided)
    more = f", {loose} loosely" if loose > strict else ""
    kind = "win" if strict == len(decided) else "loss"
    head = markup.chip(f"{strict} of {len(decided)} met{more}", kind if decided else "none")
    lines = "".join(_line(one) for one in ticked)
    inside = f'<ul class="tb-checks">{lines}</ul>{_places(state, bench, choice, turn, row, ticked)}'
    name = f"tb-checks-{turn}"
    return f'<details class="tb-judged" id="{name}" open><summary>Checks {head}</summary>{inside}</details>'


def _ticked(row: Mapping[str, Any]) -> list[Ticked]:
    """Return the checks of a row; anything invalid is skipped."""
    listed = row.get("checks")
    ticked = (taken_as(check, Ticked) for check in (listed[:_MOST_CHECKS] if isinstance(listed, list) else ()))
    return [one for one in ticked if one is not None]


def _line(one: Ticked) -> str:
    told, kind = _CHIPS.get((one.strict, one.loose), ("not decided", "none"))
    found = f' <span class="tb-quiet">{escaped(one.found[:_MOST_WORDS])}</span>' if one.found else ""
    return f"<li>{markup.chip(told, kind)} <span>{escaped(one.text[:_MOST_WORDS])}{found}</span></li>"


def _places(state: State, bench: Bench, choice: Choice, turn: int, row: Measurement, ticked: list[Ticked]) -> str:
    """Return the reply as it was written with the places that break a check marked."""
    field = bench.settings.answer_field
    turns = choice.turns if field is None else tuple(extracted(text, field).answer for text in choice.turns)
    if row.made_from is not None and row.made_from.conversation != content_hash(*turns[:turn]):
        line = f"auto_checks --bench-name {bench.name}"
        return markup.notice("The answer has changed since it was checked; check it again:", then=markup.command(line))
    spans = [span for one in ticked for span in one.spans]
    if not spans:
        return ""
    text = marked_html(turns[turn - 1], spans[:_MOST_SPANS], whole=state.whole, more=show_all(state))
    shown = scrolling(text, f"places-{turn}")
    return markup.details("The places that break a check", shown, name=f"tb-places-{turn}", opened=True)
