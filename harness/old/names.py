"""Names of models and benchmarks as file names, reversibly, and as harmless text for display.

A model's name may hold any printable text; in file names `/ \\ % :`, a leading dot, the dot of `.part-` and control
characters become `%XX`.
Decoding undoes only what encoding writes, so a file `a%20b.jsonl` from another tool is the model `a%20b`.

>>> file_stem("org/model:latest")
'org%2Fmodel%3Alatest'
>>> name_of("org%2Fmodel%3Alatest")
'org/model:latest'
>>> name_of("org%2Fmodel%20latest")
'org%2Fmodel%20latest'
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from harness.old.errors import UsageError

_UNSAFE = re.compile(r"[/\\%:\x00-\x1f\x7f-\x9f]|^\.|\.(?=part-)")
"""The last: `x.part-1.jsonl` holds rows of `x.jsonl` (`harness/jsonl/files.py`)."""
_ESCAPED = re.compile(r"%([0-9A-F]{2})")
MOST_BYTES = 200
HISTORY = "+history="
"""The part of a variant's name between the model and the author of its earlier turns."""
_MOST_STEM_BYTES = 220
"""File systems allow 255; the rest is for `_single.jsonl`, a judge set's name, and the ending of a lock."""

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""What a spreadsheet takes for the start of a formula (OWASP, CSV injection), the full-width signs included."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?%?")


def printable(text: str) -> str:
    """Return the text with every character escaped that could move the cursor, hide something or turn it round.

    >>> printable("a\\x1b[2J\\u202eb")
    'a\\\\x1b[2J\\\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: `1 call`, `2 calls`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def counted_are(number: int, one: str) -> str:
    """Return a number with its noun and verb: `1 row is`, `2 rows are`."""
    return f"{counted(number, one)} {'is' if number == 1 else 'are'}"


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return the first names of a list, and how many more there are.

    >>> listed(["a", "b", "c", "d"])
    'a, b, c and 1 more'
    """
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def questions_listed(ids: Sequence[int | str], most: int = 5) -> str:
    """Return the first ids of questions, and how many more there are.

    >>> questions_listed([81]), questions_listed([81, 82, 83], 2)
    ('question 81', 'questions 81, 82 and 1 more')
    """
    return f"question{'' if len(ids) == 1 else 's'} {listed(list(map(str, ids)), most)}"


def json_text(text: str) -> str:
    """Return equal JSON with such characters escaped; line breaks are kept."""
    if text.isascii():
        return text
    shown = (c if c.isprintable() or c in "\n\t" else json.dumps(c)[1:-1] for c in text)
    return "".join(shown)


def csv_cell(value: Any) -> Any:
    """Return the value of a csv cell; a text is printable, and no spreadsheet takes it for a formula.

    >>> csv_cell("=1+1"), csv_cell("-0.5"), csv_cell(-0.5), csv_cell("gpt-4")
    ("'=1+1", '-0.5', -0.5, 'gpt-4')
    """
    if not isinstance(value, str):
        return value
    risky = value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return ("'" if risky else "") + printable(value)


def history_variant(model: str, history: str) -> str:
    """Return the name of a model that continues from another author's earlier turns.

    >>> history_variant("gpt-4o", "reference")
    'gpt-4o+history=reference'
    """
    return f"{model}{HISTORY}{history}"


def plain_model(name: str) -> str:
    """Return the model of a variant with given history; any other name is the model itself."""
    return name.partition(HISTORY)[0] if history_of(name) else name


def history_of(name: str) -> str | None:
    """Return whose earlier turns a variant is given; None: its own.

    >>> history_of("gpt-4o+history=reference"), history_of("gpt-4o")
    ('reference', None)
    """
    model, _, history = name.partition(HISTORY)
    return history if model and history else None


def check_model_name(name: str) -> str:
    """Return the name, or raise `UsageError` if no model can be called that."""
    if not name.strip():
        raise UsageError("a model's name is empty; give one")
    if "\0" in name:
        raise UsageError(f"the model name {name!r} holds a NUL character; leave it out")
    _need_short_text(name, "model name")
    if len(_escaped(name).encode()) > _MOST_STEM_BYTES:
        raise UsageError(
            f"the model name {name[:40]!r}… is over {_MOST_STEM_BYTES} bytes long as a file name, "
            "in which / \\ % : and control characters take three each; give a shorter one"
        )
    return name


def file_stem(name: str) -> str:
    """Return the file name, without its ending, under which a model's rows are kept."""
    return _escaped(check_model_name(name))


def name_of(stem: str) -> str:
    """Return the model's name of a file name; the inverse of `file_stem`.

    A file name that `file_stem` never writes is the name itself.
    """
    name = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), stem)
    try:
        return name if file_stem(name) == stem else stem
    except UsageError:
        return stem


def check_bench_name(name: str) -> str:
    """Return the name, or raise `UsageError` if it is not a plain folder name."""
    if not name.strip() or _UNSAFE.search(name):
        raise UsageError(
            f"the benchmark name {name!r} is not a plain folder name; use --data-dir for the folder that holds it"
        )
    _need_short_text(name, "benchmark name")
    return name


def _escaped(name: str) -> str:
    return _UNSAFE.sub(lambda found: f"%{ord(found[0]):02X}", name)


def _need_short_text(name: str, what: str) -> None:
    """Raise `UsageError` if a name is too long, or has unpaired surrogates: bytes of a command that are not UTF-8."""
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise UsageError(f"the {what} {name[:40]!r} is not valid UTF-8 text; type it again") from None
    if length > MOST_BYTES:
        raise UsageError(f"the {what} {name[:40]!r}… is over {MOST_BYTES} bytes long; give a shorter one")
