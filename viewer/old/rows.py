"""The rows behind a page about one question, as stored in the files."""

import json
import pathlib
from collections.abc import Iterable

from harness.old.bench import Bench
from harness.old.errors import DataError
from harness.old.jsonl import is_there, logical_files
from harness.old.judgments.row import judged_row
from harness.old.records import QuestionId
from viewer.old import markup
from viewer.old.context import Context
from viewer.old.later import NotYet
from viewer.old.questions import scrolling
from viewer.old.state import State
from viewer.old.text import escaped, plain_html

_MOST_ROWS = 60
ALL = "rows"
"""In the address, that the rows are shown; or the name of a file and the number of a line, to go there."""


def place_of(path: pathlib.Path, line: int) -> str:
    """Return what in an address leads to a row."""
    return f"{path.name}:{line}"


def row_link(state: State, path: pathlib.Path, line: int) -> str:
    """Return the link to the row behind a judgment."""
    return markup.link(
        state.where(show=place_of(path, line)), "Row as JSON", label=f"Row {place_of(path, line)} as JSON"
    )


def rows_html(context: Context, state: State, bench: Bench, key: QuestionId, models: Iterable[str]) -> str:
    """Return the rows about a question and some models, or the link that shows them."""
    show = state.looked_for("show")
    if show != ALL and ":" not in show:
        return f"<p>{markup.link(state.where(show=ALL), 'Rows of this page as JSON')}</p>"
    wanted = set(models)
    answered = bench.answered_models()
    own = [bench.source / "question.jsonl", *(bench.answer_file(model) for model in models if model in answered)]
    own += logical_files(bench.folder / "reference_answer")
    judged = [file.path for file in context.store.judgment_files(bench)]
    parts: list[str] = []
    left_out = 0
    for path in (*own, *judged):
        try:
            for row in context.store.places(path).rows(key) if is_there(path) else ():
                if isinstance(row, DataError) or (path in judged and not _is_about(row.value, wanted)):
                    continue
                if len(parts) >= _MOST_ROWS and place_of(path, row.line) != show:
                    left_out += 1
                    continue
                parts.append(_row(state, path, row.line, row.value, at=show == place_of(path, row.line)))
        except NotYet as wait:
            parts.append(markup.waiting(wait))
        except DataError as error:
            parts.append(markup.notice(str(error), kind="fault"))
    more = f'<p class="tb-cut">{left_out} more rows are not shown.</p>' if left_out else ""
    close = markup.link(state.where(show=""), "Hide the rows")
    return markup.section("Rows as stored in the files", close + "".join(parts) + more)


def _is_about(row: dict[str, object], models: set[str]) -> bool:
    """Return whether a judgment is about the model, or about both of two."""
    try:
        named = {*judged_row(row, pathlib.Path(), 0).models}
    except DataError:
        return False
    return bool(named & models) if len(models) < 2 else models <= named


def _row(state: State, path: pathlib.Path, line: int, value: object, *, at: bool) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    name = place_of(path, line)
    here = f' data-here="{escaped(name)}"' if at else ""
    shown = plain_html(text, whole=state.whole, more=markup.link(state.to(whole=True), "Show all"))
    head = f"<h3><bdi>{escaped(name)}</bdi> {markup.copying(text)}</h3>"
    return f'<div class="tb-said"{here}>{head}{scrolling(shown, f"row-{name}")}</div>'
