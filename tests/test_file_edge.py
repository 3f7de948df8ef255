"""Dictionaries stop at the file's edge: the fields of judgments and votes are looked up where they are decoded."""

import ast
import pathlib
from collections.abc import Iterator
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
EDGE = ("harness/judgments/", "harness/rows.py")
FIELDS = {
    *("model_1", "model_2", "model_a", "model_b", "shown_first"),
    *("user_prompt", "judgment", "judge_set_version", "made_from"),
    *(f"g{game}_{name}" for game in (1, 2) for name in ("winner", "judgment", "user_prompt", "preference", "scores")),
}
"""The fields that nothing but a judgment or a vote has; `score` and others are columns of tables as well."""
OTHER_ROWS = {("harness/cli/certainty.py", "pairs_told")}
"""Who looks up such a key in a row of a table, which has the models of a pair under the same names."""


def constants(node: ast.AST) -> Iterator[str]:
    """Yield the texts in an expression."""
    yield from (one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and isinstance(one.value, str))


def looked_up(tree: ast.AST) -> Iterator[str]:
    """Yield the keys that are looked up, as `row["x"]`, `row.get("x")`, `"x" in row` or `itemgetter("x")`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            yield from () if getattr(node.value, "id", None) == "Literal" else constants(node.slice)
        elif isinstance(node, ast.Call):
            called: Any = getattr(node.func, "attr", getattr(node.func, "id", None))
            keys = {"get": 1, "pop": 1, "setdefault": 1, "itemgetter": None}.get(called, 0)
            yield from (text for argument in node.args[:keys] for text in constants(argument))
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            yield from constants(node.left)


def fields_looked_up(path: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yield each function of a file, the outermost, with each field of judgments that it looks up."""
    for part in ast.iter_child_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        for name in FIELDS & set(looked_up(part)):
            yield getattr(part, "name", "the module"), name


def test_fields_of_judgments_are_looked_up_where_they_are_decoded_and_nowhere_else() -> None:
    found = []
    for path in sorted([*ROOT.glob("harness/**/*.py"), *ROOT.glob("viewer/**/*.py")]):
        place = path.relative_to(ROOT).as_posix()
        if not place.startswith(EDGE):
            looked = {one for one in fields_looked_up(path) if (place, one[0]) not in OTHER_ROWS}
            found += [f"{place}: {function} looks up {name!r}" for function, name in sorted(looked)]
    assert found == []


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ('row["g1_winner"]', {"g1_winner"}),
        ('row.get("model_1", "model_2")', {"model_1"}),
        ('"made_from" not in row', {"made_from"}),
        ('itemgetter("model_a", "model_b")', {"model_a", "model_b"}),
        ('row[f"g{n}_winner" if n else "judgment"]', {"judgment"}),
        ('{"model_1": one, "model_2": other}', set()),
        ('row["model_1"] = one', set()),
        ('Literal["model_1"]', set()),
    ],
)
def test_looking_up_is_found_and_building_rows_is_allowed(code: str, names: set[str]) -> None:
    assert FIELDS & set(looked_up(ast.parse(code))) == names
