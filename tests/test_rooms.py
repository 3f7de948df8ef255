"""The house: a room imports only rooms above it, and extras only by name."""

import ast
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOMES = ("harness", "turnbench_questions", "viewer")
ROOMS = (
    *(
        "errors",
        "words",
        "types",
        "reasoning",
        "registry",
        "options",
        "store",
        "bench",
        "models",
        "running",
        "answering",
    ),
    *("judging", "metrics", "results", "reporting", "cli", "extras"),
)


def modules() -> list[pathlib.Path]:
    return sorted(path for home in HOMES for path in (ROOT / home).rglob("*.py"))


def imports(path: pathlib.Path) -> set[str]:
    """Return the modules of this project that a module imports, at the top or later."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            inside = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= inside if node.module in HOMES else {node.module}
    return {name for name in found if name.split(".")[0] in HOMES}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_imports_only_rooms_above_it(path: pathlib.Path) -> None:
    home, room = path.relative_to(ROOT).with_suffix("").parts[:2]
    for name in imports(path):
        package, _, rest = name.partition(".")
        other = rest.split(".")[0]
        if home == "turnbench_questions":
            assert package == home or other in ("errors", "types", "registry"), name
        if home == "harness" and room in ROOMS:
            assert package != "turnbench_questions", f"{name}: through the registry"
            if package == "viewer":
                assert room == "cli", f"{name}: only its command may use the viewer"
            elif other in ROOMS:
                assert ROOMS.index(other) <= ROOMS.index(room), f"{name} is below {room}"


@pytest.mark.parametrize("name", ["Verdict", "Item", "Place", "Estimate", "Limits", "Endpoint"])
def test_a_word_of_the_field_names_one_class(name: str) -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in modules()}
    named = [
        str(path.relative_to(ROOT))
        for path, tree in trees.items()
        if any(isinstance(node, ast.ClassDef) and node.name == name for node in tree.body)
    ]
    assert len(named) == 1, named
