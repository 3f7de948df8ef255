"""Rooms import only rooms above them in the README's table."""

import ast
import pathlib
import re
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROOMS = re.findall(
    r"^\| `((?:harness|viewer)/[^`]*)` \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
)


def place(module: str) -> int:
    """Return where a module's room stands in the table."""
    path = module.replace(".", "/")
    fitting = [room for room in ROOMS if f"{path}/".startswith(f"{room.removesuffix('/').removesuffix('.py')}/")]
    assert fitting, f"{module} is in no room of the README's table"
    return ROOMS.index(max(fitting, key=len))


def imported(path: pathlib.Path) -> Iterator[str]:
    """Yield the modules of the project that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        yield from (name for name in names if re.match(r"(harness\.|viewer\b)", name))


def test_rooms_import_only_rooms_above_them() -> None:
    below = []
    for path in [*ROOT.glob("harness/*/**/*.py"), *ROOT.glob("harness/[a-z]*.py"), *ROOT.glob("viewer/**/*.py")]:
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        below += [f"{module} imports {other}" for other in imported(path) if place(other) > place(module)]
    assert below == []


def test_packages_name_modules_that_are_there() -> None:
    gone = []
    for path in [*ROOT.glob("harness/**/__init__.py"), *ROOT.glob("viewer/**/__init__.py")]:
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        there = {module.name for module in path.parent.rglob("*.py")}
        gone += [f"{path.parent.name}: {name}" for name in re.findall(r"\b[a-z_]+\.py\b", doc) if name not in there]
    assert gone == []
