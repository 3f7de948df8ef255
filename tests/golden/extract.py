"""What a command wrote, as one flat table: the key of a row -> column -> number or text.

This is the one place that knows how results are laid out. Where JSON output gets another shape,
adapt this file: rows and columns of the stored expectations keep their names.

    {"rows": [{"model": "a", "turn_1": 8.1}], "notes": ["a note"]}

    rows: model=a      turn_1   8.1
    notes              a note   true
"""

import csv
import hashlib
import io
import json
import pathlib
import re
from collections.abc import Iterable, Mapping
from typing import Any

Value = float | str | bool | None
Table = dict[str, dict[str, Value]]

IDENTITY = (
    *(
        "question_id",
        "model",
        "model_id",
        "model_1",
        "model_2",
        "judge",
        "judge1",
        "judge2",
        "judge_set",
        "mode",
        "sample",
    ),
    *(
        "choice",
        "criterion",
        "category",
        "by",
        "group",
        "turn",
        "setup",
        "measure",
        "facet",
        "difficulty",
        "what",
        "attack",
        "kind",
    ),
    *(
        "metric",
        "field",
        "name",
        "game",
        "template",
        "history",
        "first_turn",
        "family",
        "label",
        "level",
        "voter",
    ),
)
"""Fields that say which row it is."""
TEXTS = {"notes", "warnings", "messages", "problems"}
"""Lists of sentences: the order says nothing."""
VOLATILE = {"tstamp", "answer_id", "path", "folder"}
VOLATILE_IN_ROWS = {"seconds"}
LONG = 120
MANY = 60
"""In longer files of rows only the verdicts are compared."""
VERDICTS = {"score", "label", "scores", "g1_winner", "g2_winner", "winner", "value", "values"}


def normal(text: str, folders: Iterable[pathlib.Path] = ()) -> str:
    """Return a text without folders, times, durations and versions of programs."""
    for folder in folders:
        text = text.replace(str(folder), ".")
    text = re.sub(r"/tmp/\S*", "TMP", text)
    text = re.sub(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?)?", "DATE", text)
    text = re.sub(r"\b\d+(\.\d+)? (ms|s|seconds?|minutes?|hours?|days?)\b( ago)?", r"N \2", text)
    return re.sub(r"\bturnbench \d+\.\d+\.\d+\S*", "turnbench VERSION", text)


def from_json(text: str, folders: Iterable[pathlib.Path] = ()) -> Table:
    """Return the table of a JSON text."""
    table: Table = {}
    value = json.loads(text)
    _add(table, "rows" if isinstance(value, list) else "", value, tuple(folders))
    return _with_categories(table)


def _with_categories(table: Table) -> Table:
    """Return a table in which a model's numbers by category have their own key."""
    found: Table = {}
    for key, columns in table.items():
        if key.startswith("rows: ") and "model=" in key:  # the page says the judge set
            key = re.sub(r", judge_set=[^,]*", "", key)
        model = re.match(r"rows: (model=[^,]*)", key)
        own = {
            name.removeprefix("category_"): value
            for name, value in columns.items()
            if name.startswith("category_") and model
        }
        found[key] = {n: v for n, v in columns.items() if not (model and n.startswith("category_"))}
        if own and model:
            found[f"categories: {model[1]}"] = own
    return found


def from_csv(text: str) -> Table:
    """Return the table of a CSV text; a nameless first column holds the model."""
    rows = [
        {name or "model": _number(value) for name, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]
    table: Table = {}
    _add(table, "rows", rows, ())
    return table


def from_rows(text: str, folders: Iterable[pathlib.Path] = ()) -> Table:
    """Return the table of a JSON Lines text; long texts as their hash."""
    rows = [json.loads(line) for line in text.splitlines()]
    if len(rows) > MANY:
        kept = VERDICTS | set(IDENTITY)
        rows = [{name: value for name, value in row.items() if name in kept} for row in rows]
    table: Table = {}
    _add(table, "rows", rows, tuple(folders))
    return {
        key: {
            column: _short(value)
            for column, value in columns.items()
            if column.rpartition(".")[2] not in VOLATILE_IN_ROWS
        }
        for key, columns in table.items()
    }


def from_text(text: str, section: str, folders: Iterable[pathlib.Path] = ()) -> Table:
    """Return the lines of a text, but for progress bars; lines that are there twice count twice."""
    lines: dict[str, Value] = {}
    for line in text.splitlines():
        words = " ".join(normal(line, folders).split())
        if words and "%|" not in line:
            lines[words] = int(lines.get(words) or 0) + 1
    return {section: lines} if lines else {}


def _number(text: str | None) -> Value:
    try:
        return None if text in ("", None) else float(str(text))
    except ValueError:
        return text


def _short(value: Value) -> Value:
    if isinstance(value, str) and len(value) > LONG:
        return f"{len(value)} characters, sha256 {hashlib.sha256(value.encode()).hexdigest()[:12]}"
    return value


def _add(table: Table, section: str, value: Any, folders: tuple[pathlib.Path, ...]) -> None:
    if isinstance(value, Mapping):
        names = [name for name in IDENTITY if section and _names(value.get(name))]
        key = ", ".join(f"{name}={value[name]}" for name in names)
        key = ": ".join(part for part in (section, key) if part) or "page"
        whole, number = key, 1
        while key in table:
            number += 1
            key = f"{whole} #{number}"
        table[key] = {}
        _columns(
            table, key, "", {name: own for name, own in value.items() if name not in names}, folders
        )
        if not table[key]:
            del table[key]
    elif isinstance(value, list):
        for item in value:
            _add(table, section, item, folders)
    else:
        table.setdefault(section, {})[str(value)] = True


def _names(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _columns(
    table: Table, key: str, prefix: str, value: Mapping[str, Any], folders: tuple[pathlib.Path, ...]
) -> None:
    for name, own in value.items():
        column = f"{prefix}{name}"
        below = column if key == "page" else f"{key} > {column}"
        if name in VOLATILE or own in ([], {}):
            continue
        if isinstance(own, Mapping):
            _columns(table, key, f"{column}.", own, folders)
        elif isinstance(own, list) and any(isinstance(item, Mapping) for item in own):
            _add(table, below, own, folders)
        elif name in TEXTS and isinstance(own, list | str):
            texts = [own] if isinstance(own, str) else own
            table.setdefault(below, {}).update({normal(str(text), folders): True for text in texts})
        elif isinstance(own, list) and any(isinstance(item, float) for item in own):
            table[key] |= {f"{column}.{at}": item for at, item in enumerate(own)}
        elif isinstance(own, list):
            table[key][column] = normal(", ".join(map(str, own)), folders)
        else:
            table[key][column] = normal(own, folders) if isinstance(own, str) else own
