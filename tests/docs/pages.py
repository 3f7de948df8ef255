"""What the documentation says to do, done: its files written, its commands run.

A comment before a block of a page says what it is: `<!-- file: PATH -->` a file to write,
`<!-- package: DIR -->` a pyproject.toml whose entry points count as installed, `<!-- run -->`
commands to run (`<!-- run: 1 -->`: that end with 1), `<!-- copy: A B -->` a file to copy,
`<!-- prints -->` lines that the commands before it printed, numbers aside.
"""

import pathlib
import re
import shlex
import shutil
import tomllib
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from tests.golden.running import run
from tests.servers import Call

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
SERVER = "http://localhost:8000"
BLOCK = re.compile(
    r"(?:^<!-- ([^\n]*?) -->\n)?^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


class Block(NamedTuple):
    """A fenced block of a page."""

    mark: str
    language: str
    text: str


def blocks(path: pathlib.Path) -> list[Block]:
    """Return the blocks of a page."""
    return [Block(*found) for found in BLOCK.findall(path.read_text(encoding="utf-8"))]


def pages() -> list[pathlib.Path]:
    """Return the pages of the documentation, the README first."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def lines(text: str) -> Iterator[str]:
    """Yield the commands of a block, without comments; lines that end in a backslash joined."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield shlex.join(words)


def follow(path: pathlib.Path, folder: pathlib.Path, server: str) -> str:
    """Do what a page says, in a folder; return all that was printed."""
    printed = since = ""
    for mark, _, text in blocks(path):
        kind, _, rest = mark.partition(":")
        if kind == "file":
            target = folder / rest.strip()
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text.replace(SERVER, server), encoding="utf-8")
        elif kind == "package":
            install(text, folder)
        elif kind == "run":
            since = ""
            for line in lines(text.replace(SERVER, server)):
                done = run(line, folder)
                assert done.exit == int(rest or 0), f"{line}\n{done.out}{done.err}"
                since += done.out + done.err
            printed += since
        elif kind == "copy":
            shutil.copy(*(folder / word for word in rest.split()))
        elif kind == "prints":
            said = {shape(line) for line in since.splitlines()}
            for line in text.splitlines():
                assert shape(line) in said, f"{line!r} is not in\n{since}"
    return printed


def install(project: str, folder: pathlib.Path) -> None:
    """Put the entry points of a pyproject.toml into a folder on the path, as pip would."""
    table = tomllib.loads(project)["project"]
    name = table["name"].replace("-", "_")
    lines = [f"Metadata-Version: 2.1\nName: {table['name']}\nVersion: {table['version']}\n"]
    points = [
        "\n".join([f"[{group}]", *(f"{key} = {value}" for key, value in found.items())])
        for group, found in table["entry-points"].items()
    ]
    info = folder / f"{name}-{table['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("".join(lines), encoding="utf-8")
    (info / "entry_points.txt").write_text("\n".join(points) + "\n", encoding="utf-8")


def shape(line: str) -> str:
    """Return a line without its spaces and numbers."""
    return " ".join(re.sub(r"\d+", "9", line).split())


def toy(call: Call) -> str:
    """Answer as a model by its name, or judge: what begins with "First" is mostly better."""
    prompt = "\n".join(text for _, text in call.messages)
    number = zlib.crc32(call.text.encode()) % 8
    if "Rating: [[" in prompt:
        return f"It could say more.\n\nRating: [[{(6 if 'First,' in prompt else 4) + number % 3}]]"
    if "[RESULT]" in prompt:
        return "It is right, if brief. [RESULT] 4"
    if "NOT_ATTEMPTED" in prompt:
        return '{"label": "INCORRECT"}'
    if '"rank"' in prompt or "'rank'" in prompt:
        return str([{"model": "model_1", "rank": 1}, {"model": "model_2", "rank": 2}])
    if "[[A]]" in prompt:
        one, other = prompt.find("First,"), prompt.find("Well,")
        first = "A" if one < other else "B"
        verdict = "A" if number == 0 else "C" if number == 1 else first
        return f"One answer is more concrete.\n\n[[{verdict}]]"
    start = "First," if call.body["model"].endswith(("dpo", "b")) else "Well,"
    return f"{start} that depends ({number}). Look at the plant, then at the soil."
