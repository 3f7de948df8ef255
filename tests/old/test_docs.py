"""The documents name what there is: commands, flags, exit codes, rooms."""

import pathlib
import re
import shlex

import pytest

from harness.old.cli.command import EXIT_CODES
from harness.old.cli.main import COMMANDS
from harness.old.cli.manual import manual, options_of, parser_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_manual_is_the_help() -> None:
    there = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    assert there == manual(), "run: python -m harness.old.cli.manual > docs/commands.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_manual_has_every_flag(name: str) -> None:
    chapter = manual().partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    for group in parser_of(name)._action_groups:
        for action in options_of(group):
            assert all(f"`{flag}" in chapter for flag in action.option_strings)
            assert str(action.help).replace("|", "\\|").replace("%%", "%") in chapter


@pytest.mark.parametrize("name", COMMANDS)
def test_the_readme_lists_every_command(name: str) -> None:
    assert f"| `{name}` |" in README


def test_the_readme_has_the_exit_codes() -> None:
    assert all(re.search(rf"\b{code}\b", README) for code in EXIT_CODES)


def test_the_readme_has_every_room() -> None:
    rooms = {
        f"harness/{path.name}{'/' if path.is_dir() else ''}"
        for path in (ROOT / "harness").iterdir()
        if (path.is_dir() and any(path.glob("*.py"))) or (path.suffix == ".py" and path.stem != "__init__")
    }
    missing = {room for room in rooms if f"| `{room}` |" not in README}
    assert not missing


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "judge_prompts/README.md",
        "benchmarks/README.md",
        "docs/commands.md",
        "docs/metrics.md",
        "docs/models.md",
        "docs/batch.md",
        "docs/checks.md",
        "docs/extending.md",
        "docs/scale.md",
        "docs/decisions.md",
    ],
)
def test_links_inside_the_repository_lead_somewhere(document: str) -> None:
    path = ROOT / document
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_commands_in_the_documents_have_flags_that_there_are() -> None:
    checked = 0
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for block in re.findall(r"^```sh\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
            for line in block.replace("\\\n", " ").splitlines():
                words = shlex.split(line, comments=True)
                if words and words[0] in COMMANDS and words[0] != "turnbench":
                    parser_of(words[0]).parse_args(words[1:])
                    checked += 1
    assert checked > 90
