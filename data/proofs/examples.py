"""For every check of a shipped set a right answer and a plausible wrong one.

`made` gives them for kinds whose arguments say it all; patterns are in `EXAMPLES`: for each one
replies in natural wording that are right, and wrong ones: the answer that gives in, the value of
the trap, the boundary.
"""

import copy
import json
from collections.abc import Callable
from typing import Any

Examples = tuple[list[str], list[str]]
Key = tuple[int, int, int]
"""Question id, turn from 1, and place of the check from 0; for a played user turn 0."""


def made(check: dict[str, Any]) -> Examples | None:
    """Return right and wrong replies for a check; None for kinds that need examples by hand."""
    kind = check["kind"]
    if "pattern" in check or kind in {"keeps", "quotes", "shorter", "code"}:
        return None
    if kind == "order":
        texts = check.get("text") or check["words"]
        return ["\n".join(f"{text} so" for text in texts)], ["\n".join(texts[::-1])]
    if kind == "table":
        columns = check.get("columns") or (check.get("equals") or [["a", "b"]])[0]
        rows = [list(map(str, row)) for row in (check.get("equals") or [])[1:]]
        rows = rows or [["x"] * len(columns)] * check.get("rows", 1)
        return [_table(columns, rows)], [_table(columns, rows[:-1]), "Six things, no table."]
    if kind == "count":
        return _counted(check)
    if kind in {"contains", "not_contains", "starts", "ends"}:
        texts = check.get("words") or check["text"]
        texts = [text.strip("*") for text in ([texts] if isinstance(texts, str) else texts)]
        if kind == "not_contains":
            return [_placed(check, "Fine then.")], [
                _placed(check, f"Well, {t} now.") for t in texts
            ]
        if kind == "contains":
            most = check.get("exactly") or check.get("at_most") or (check.get("between") or [1])[0]
            wrong = [] if check.get("any") else [" and ".join(texts[1:]) or "Nothing of it."]
            both = " and ".join(texts * most)
            return [_placed(check, f"So: {both} it is.")], [
                _placed(check, one) for one in wrong
            ] + [_placed(check, "I don't know.")]
        edge = f"{texts[0]} it is" if kind == "starts" else f"That is it, {texts[0]}"
        return [_placed(check, edge)], [_placed(check, f"I think {texts[0]} would be best here.")]
    if kind == "equals":
        texts = check["text"]
        texts = [texts] if isinstance(texts, str) else texts
        right = [_placed(check, form) for text in texts for form in (text, f"**{text}**")]
        return right, [_placed(check, f"Perhaps {texts[0]}, perhaps not")]
    if kind == "json":
        return _json(check)
    if kind == "csv" and "equals" in check:
        return _csv(check)
    if kind == "number":
        value = check["equals"]
        off = max(check.get("tolerance", 0) * 3, 1)
        return [f"That makes **{value:g}**."], [f"That makes {value + off:g}."]
    if kind == "choice":
        other = next(one for one in check["options"] if one != check["equals"])
        return [f"The answer is {check['equals']}."], [f"The answer is {other}."]
    if kind in {"sorted", "distinct"}:
        return _ordered(check)
    return None


def _table(columns: list[str], rows: list[list[str]]) -> str:
    return "\n".join(
        "| " + " | ".join(row) + " |" for row in (columns, ["---"] * len(columns), *rows)
    )


_UNITS: dict[str, Callable[[int], str]] = {
    "word": lambda n: " ".join(["word"] * n),
    "character": lambda n: "a" * n,
    "letter": lambda n: "a" * n,
    "sentence": lambda n: " ".join(["It is so."] * n),
    "line": lambda n: "\n".join(["a line"] * n),
    "item": lambda n: "\n".join(f"{k}. so" for k in range(1, n + 1)) or "none",
    "highlight": lambda n: " and ".join(["**so**"] * n) or "none",
    "bullet": lambda n: "\n".join(["- so"] * n) or "none",
    "paragraph": lambda n: "\n\n".join(["So it is."] * n),
    "heading": lambda n: "\n\n".join(["# So"] * n) or "none",
    "quote": lambda n: " and ".join(["“so”"] * n) or "none",
    "code": lambda n: "\n".join(["```\nx\n```"] * n) or "none",
}
"""A text with so many of a unit."""


def _counted(check: dict[str, Any]) -> Examples | None:
    if not isinstance(check["of"], str):
        return None
    unit = check["of"].rstrip("s")
    make = _UNITS.get(unit)
    if make is None:
        return None
    least, most = check.get("between") or (check.get("at_least", 0), check.get("at_most"))
    if "exactly" in check:
        least = most = check["exactly"]
    wrap = {"line": "{}", "item": "1. {}", "sentence": "{}.", "bullet": "- {}"}.get(
        str(check.get("each", "")).rstrip("s"), "{}"
    )
    sizes = {max(least, 1), most or max(least, 1)} if most != 0 else {0}
    right = [_placed(check, wrap.format(make(n))) for n in sizes]
    wrong = [make(most + 1)] if most is not None else []
    wrong += [make(least - 1)] if least > 1 else []
    return right, [_placed(check, wrap.format(text)) for text in wrong]


def _json(check: dict[str, Any]) -> Examples | None:
    at = check.get("at", "")
    if "equals" in check:
        value = check["equals"]
    elif check.get("keys"):
        value = dict.fromkeys(check["keys"], True)
    else:
        return ['{"a": 1}'], ["no JSON"]
    for step in reversed(at.split("/")[1:]):
        value = [value] * (int(step) + 1) if step.isdecimal() else {step: value}
    other = _changed(copy.deepcopy(value))
    right = [json.dumps(value, ensure_ascii=False), f"```json\n{json.dumps(value, indent=1)}\n```"]
    return right, [json.dumps(other, ensure_ascii=False), "I would rather not say."]


def _changed(value: Any) -> Any:
    """Return a value with its last part another one."""
    if isinstance(value, dict) and value:
        key = list(value)[-1]
        if value[key] is True:
            del value[key]
        else:
            value[key] = _changed(value[key])
        return value
    if isinstance(value, list) and value:
        return [*value[:-1], _changed(value[-1])]
    return "another"


def _csv(check: dict[str, Any]) -> Examples:
    rows = [[str(cell) for cell in row] for row in check["equals"]]
    text = "\n".join(",".join(row) for row in rows)
    less = "\n".join(",".join(row) for row in rows[:-1])
    return [f"```csv\n{text}\n```"], [f"```csv\n{less}\n```"]


def _ordered(check: dict[str, Any]) -> Examples:
    parts = ["2:00 b", "10:00 c"] if check.get("by") == "time" else ["1 apple", "2 bread"]
    if check.get("by") == "alphabet" or "by" not in check:
        parts = ["apple", "bread"]
    parts = parts[::-1] if check.get("descending") else parts
    other = parts[::-1] if check["kind"] == "sorted" else [parts[0], parts[0]]
    if check["of"] in {"sentence", "sentences"}:
        parts = ["Apples are red and round.", "Bread is new."]
        other = parts[::-1] if check["kind"] == "sorted" else [parts[0], parts[0]]
    mark = {"item": "{}. {}", "bullet": "- {1}"}.get(str(check["of"]).rstrip("s"), "{1}")
    texts = ["\n".join(mark.format(n, p) for n, p in enumerate(ps, 1)) for ps in (parts, other)]
    return [texts[0]], [texts[1]]


def _placed(check: dict[str, Any], text: str) -> str:
    """Return a text at the place where a check looks."""
    steps = check.get("in") or []
    for step in [steps] if isinstance(steps, dict) else steps:
        ((name, place),) = step.items()
        if name == "after":
            text = f"{place} {text}"
        elif name == "before":
            text = f"{text} {place}"
        elif name == "between":
            text = f"{place[0]} {text} {place[1]}"
        elif name in {"line", "paragraph", "sentence"} and place == -1:
            text = f"First this.\n\n{text}"
        elif name == "item" and isinstance(place, int):
            before = "".join(f"{n}. this\n" for n in range(1, place))
            text = f"{before}{place}. {text}"
        elif name == "line" and isinstance(place, int) and place > 1:
            text = "First this.\n" * (place - 1) + text
    if check.get("each") in {"item", "items"} and check["kind"] != "count":
        text = f"1. {text}"
    if check.get("each") in {"bullet", "bullets"} and check["kind"] != "count":
        text = f"- {text}"
    return text
