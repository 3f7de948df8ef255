"""The documentation is current, its links lead somewhere, and its commands do what it says."""

import ast
import importlib.util
import pathlib
import re
import shlex
import subprocess
import sys

import pytest

from docs.generate import pages as generated
from harness.cli import COMMANDS, SCRIPTS
from harness.cli.parser import parse
from tests.docs.pages import DOCS, ROOT, blocks, follow, lines, pages, toy
from tests.servers import Rule, Server

RUN = [path for path in pages() if any(b.mark.startswith("run") for b in blocks(path))]


def name(path: pathlib.Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", RUN, ids=name)
def test_a_page_does_what_it_says(
    path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    with Server(Rule(toy)) as server:
        follow(path, tmp_path, server.url)


@pytest.mark.parametrize("path", list(generated()), ids=name)
def test_a_page_made_from_code_is_current(path: pathlib.Path) -> None:
    assert path.read_text(encoding="utf-8") == generated()[path], "run python -m docs.generate"


@pytest.mark.parametrize("path", pages(), ids=name)
def test_every_command_of_a_page_parses(
    path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(path):
        for line in lines(block.text) if block.language == "sh" else ():
            words = shlex.split(line)
            named = words[0] == "turnbench" and len(words) > 1
            assert named or words[0] in SCRIPTS or words[0] not in COMMANDS, f"turnbench {line}"
            words = words[1:] if named else words
            if words[0] in COMMANDS:
                words = words[
                    : next((n for n, w in enumerate(words) if w in (">", "|", "&&")), None)
                ]
                parse(words[0], words[1:])


@pytest.mark.parametrize("path", pages(), ids=name)
def test_every_link_of_a_page_leads_to_a_file(path: pathlib.Path) -> None:
    text = path.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http", "#", "mailto:")):
            assert (path.parent / target.partition("#")[0]).exists(), target


def columns() -> list[str]:
    """Return the keys and titles of the columns that tables of results and commands have."""
    found = []
    for room in ("reporting", "cli"):
        for path in (ROOT / "harness" / room).glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Column":
                    words = [a.value for a in node.args[:2] if isinstance(a, ast.Constant)]
                    found += (
                        [str(words[1] if len(words) > 1 and words[1] else words[0])]
                        if words
                        else []
                    )
    return sorted(set(found) - {""})


@pytest.mark.parametrize("column", columns())
def test_the_glossary_has_every_column(column: str) -> None:
    glossary = (DOCS / "reference" / "glossary.md").read_text(encoding="utf-8")
    assert column in glossary or column.replace("_", " ") in glossary


def test_every_room_is_in_the_tour() -> None:
    tour = (DOCS / "tour.md").read_text(encoding="utf-8")
    rooms = [p.parent for p in (ROOT / "harness").rglob("__init__.py") if "old" not in p.parts]
    for room in rooms:
        if room.name not in ("harness", "extras"):
            assert f"`{room.relative_to(ROOT)}/`" in tour


@pytest.mark.parametrize("named", [*re.findall(r"`([\w/]+\.py)`", (DOCS / "tour.md").read_text())])
def test_a_file_that_the_tour_names_exists(named: str) -> None:
    assert any((ROOT / place / named).exists() for place in ("", "harness", "tests", "docs"))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < 1300


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("material") is None, reason="extra [docs] is not there"
)
def test_the_site_is_built_without_warnings_and_loads_nothing_from_elsewhere(
    tmp_path: pathlib.Path,
) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path)]
    subprocess.run(words, cwd=ROOT, check=True)
    for page in tmp_path.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        loaded = re.findall(
            r"<(?:script|img|link|iframe)\b[^>]*(?:src|href)=\"?(https?://[^\" >]+)", text
        )
        assert not loaded, page
