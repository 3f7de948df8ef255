"""What the rows of a file of judged answers hold: one grade, a label, or a grade for each of several dimensions.

The first row says it: only judgments of a label set have `label`, only those of dimensions have `scores`, with a
verdict or without.
"""

import json
import pathlib
from typing import Any, Literal, TypeAlias

RowKind: TypeAlias = Literal["grades", "labels", "dimensions"]


def row_kind(path: pathlib.Path) -> RowKind:
    """Return what the rows of a file are; a file that cannot be read is for others to tell."""
    row = _first_row(path)
    if "model" not in row:
        return "grades"
    if "label" in row:
        return "labels"
    return "dimensions" if isinstance(row.get("scores"), dict) or row.get("scores", 0) is None else "grades"


def has_criteria(path: pathlib.Path) -> bool:
    """Return whether the rows of a file say by which criterion they were made."""
    return _first_row(path).get("criterion") is not None


def _first_row(path: pathlib.Path) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8") as file:
            row = json.loads(next((line for line in file if line.strip()), ""))
    except (OSError, ValueError):
        return {}
    return row if isinstance(row, dict) else {}
