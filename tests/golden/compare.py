"""Commands compared with their stored expectations: numbers to 1e-9, fields and messages as text.

    python -m tests.golden.compare NAME ...            the differences of commands (`*`: anything)
    python -m tests.golden.compare                     of all
    python -m tests.golden.compare --accept NAME ...   store what the command says now
    python -m tests.golden.compare --strict            report what CHANGED.md permits as well

A difference is (command, key, column, old, new). CHANGED.md lists what may differ, an item each:

    - `COMMAND` / `COLUMN`: reason                   a column, in every row
    - `COMMAND` / `KEY | COLUMN`: reason             a column in some rows

`*` and `?` are wildcards in both. Messages are columns too: their key is `notes`, `out` or `err`,
their column is the text.
"""

import argparse
import functools
import json
import math
import pathlib
import re
import shutil
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tests.golden import data, extract
from tests.golden.extract import Table, Value
from tests.golden.running import REFERENCE, ROOT, run

HERE = pathlib.Path(__file__).resolve().parent
EXPECTED = HERE / "expected"
CHANGED = HERE / "CHANGED.md"
ITEM = re.compile(r"- `(?P<command>[^`]+)` / `(?P<pattern>[^`]+)`: (?P<reason>\S.*)")
ABSENT = "(absent)"


class Command(NamedTuple):
    """A command line, the data folders beside which it runs, and the files that it writes."""

    name: str
    run: str
    data: Sequence[str] = ()
    before: Sequence[str] = ()
    """Commands that run first."""
    files: Sequence[str] = ()
    """Patterns of files whose contents are compared as well."""

    @property
    def published(self) -> bool:
        """Whether it needs the published data."""
        return any(name in data.PUBLISHED for name in self.data)

    @property
    def runs_code(self) -> bool:
        """Whether it needs the sandbox."""
        return "--run-code" in self.run


class Difference(NamedTuple):
    """A number or text that isn't what it was."""

    command: str
    key: str
    column: str
    old: Value
    new: Value

    def __str__(self) -> str:
        old, new = (
            _cut(str(value), str(other))
            for value, other in ((self.old, self.new), (self.new, self.old))
        )
        return f"{self.command} / {self.key} | {_cut(self.column)}: {old} -> {new}"


class Change(NamedTuple):
    """A line of CHANGED.md."""

    command: str
    pattern: str
    reason: str

    def covers(self, difference: Difference) -> bool:
        """Say whether the difference is one of those that the line permits."""
        addresses = (difference.column, f"{difference.key} | {difference.column}")
        return _like(self.command, difference.command) and any(
            _like(self.pattern, one) for one in addresses
        )


def commands() -> dict[str, Command]:
    """Return the golden commands by name."""
    rows = tomllib.loads((HERE / "commands.toml").read_text(encoding="utf-8"))["command"]
    found = {row["name"]: Command(**row) for row in rows}
    assert len(found) == len(rows), "two commands have the same name"
    return found


def changes() -> list[Change]:
    """Return the lines of CHANGED.md."""
    lines = [
        line for line in CHANGED.read_text(encoding="utf-8").splitlines() if line.startswith("- ")
    ]
    wrong = [line for line in lines if not ITEM.fullmatch(line)]
    assert not wrong, f"CHANGED.md: not of the form - `COMMAND` / `PATTERN`: reason: {wrong}"
    return [Change(**match.groupdict()) for line in lines if (match := ITEM.fullmatch(line))]


class Folders:
    """The data folders, each made when it is first asked for; a context manager."""

    def __enter__(self) -> "Folders":
        self._temporary = tempfile.TemporaryDirectory(prefix="golden-")
        self.root = pathlib.Path(self._temporary.name).resolve()
        return self

    def __exit__(self, *_: object) -> None:
        self._temporary.cleanup()

    @functools.cache  # noqa: B019 - lives as long as the folders
    def made(self, name: str) -> pathlib.Path:
        """Return the data folder of a name."""
        folder = self.root / name
        (data.BUILT | data.PUBLISHED)[name](folder)
        return folder

    def table(self, command: Command) -> Table:
        """Run a command on copies of its data folders and return what it wrote."""
        sources = [self.made(name) for name in command.data]
        with tempfile.TemporaryDirectory(prefix="golden-", dir=self.root) as work:
            place = pathlib.Path(work)
            for source in sources:
                shutil.copytree(source, place / source.name)
            for line in command.before:
                done = run(line, place)
                assert done.exit in (0, 1), (line, done.err)
            return _table(command, place)


def _table(command: Command, place: pathlib.Path) -> Table:
    folders = (place, ROOT, REFERENCE)
    done = run(command.run, place)
    table: Table = {"end": {"exit": done.exit}}
    if "--format csv" in command.run:
        table |= extract.from_csv(done.out)
    elif done.out.lstrip().startswith(("{", "[{")) or done.out.lstrip().startswith("[\n"):
        table |= extract.from_json(done.out, folders)
    else:
        table |= extract.from_text(done.out, "out", folders)
    table |= extract.from_text(done.err, "err", folders)
    for pattern in command.files:
        paths = sorted(path for path in place.glob(pattern) if path.is_file())
        table[f"files {pattern}"] = {str(path.relative_to(place)): True for path in paths}
        for path in paths:
            text = path.read_text(encoding="utf-8")
            read = {
                ".jsonl": extract.from_rows,
                ".json": extract.from_json,
                ".csv": extract.from_csv,
            }.get(path.suffix)
            if read:
                prefix = path.relative_to(place)
                table |= {f"{prefix} {key}": columns for key, columns in read(text).items()}
    return table


def stored(name: str) -> Table:
    """Return the expectation of a command; an empty one if none is stored yet."""
    path = EXPECTED / f"{name}.json"
    table: Table = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return table


def store(name: str, table: Table) -> None:
    """Write the expectation of a command, a row on each line."""
    EXPECTED.mkdir(exist_ok=True)
    rows = (
        f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(own, ensure_ascii=False)}"
        for key, own in table.items()
    )
    (EXPECTED / f"{name}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def differences(name: str, old: Table, new: Table) -> list[Difference]:
    """Return where two tables differ; what only one of them has is `(absent)` in the other.

    In a file of rows a field that is null, or 0 in a row's identity, may as well be left out.
    """
    found = []
    old, new = _without_zeros(old), _without_zeros(new)
    for key in dict.fromkeys([*old, *new]):
        was, now = old.get(key, {}), new.get(key, {})
        for column in dict.fromkeys([*was, *now]):
            before, after = was.get(column, ABSENT), now.get(column, ABSENT)
            left_out = {before, after} <= {None, ABSENT} and ".jsonl rows" in key
            if not _same(before, after) and not left_out:
                found.append(Difference(name, key, column, before, after))
    return found


def _without_zeros(table: Table) -> Table:
    """Return a table whose rows of files are called the same with or without fields of 0."""
    return {
        re.sub(r", (?:sample|choice)=0(?=[, ]|$)", "", key) if ".jsonl rows" in key else key: row
        for key, row in table.items()
    }


def sorted_out(
    found: Iterable[Difference], allowed: Sequence[Change]
) -> tuple[list[Difference], Counter[Change]]:
    """Return the differences that no line of CHANGED.md covers, and how many each line covers."""
    unknown, skipped = [], Counter[Change]()
    for one in found:
        by = next((change for change in allowed if change.covers(one)), None)
        if by:
            skipped[by] += 1
        else:
            unknown.append(one)
    return unknown, skipped


def _same(old: Value, new: Value) -> bool:
    if (
        isinstance(old, int | float)
        and isinstance(new, int | float)
        and isinstance(old, bool) == isinstance(new, bool)
    ):
        return math.isclose(old, new, rel_tol=1e-9, abs_tol=1e-9)
    return old == new and type(old) is type(new)


@functools.cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.escape(text).replace(r"\*", ".*").replace(r"\?", "."), re.DOTALL)


def _like(pattern: str, text: str) -> bool:
    return bool(_pattern(pattern).fullmatch(text))


def _cut(text: str, other: str = "") -> str:
    """Return a text, of a long one what stands around the first character that differs."""
    at = next((at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), 0)
    start = max(0, at - 30)
    return text if len(text) <= 100 else ("…" if start else "") + text[start : start + 100] + "…"


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, or accept."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.golden.compare", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", default=["*"])
    parser.add_argument("--accept", action="store_true", help="store what the commands say now")
    parser.add_argument(
        "--strict", action="store_true", help="report what CHANGED.md permits as well"
    )
    options = parser.parse_args(argv)
    chosen = [
        one
        for name, one in commands().items()
        if any(_like(pattern, name) for pattern in options.names)
    ]
    if not chosen:
        parser.error(f"no command of that name; there are: {', '.join(commands())}")
    failed, covered = 0, Counter[Change]()
    with Folders() as folders:
        for command in chosen:
            if command.published and not REFERENCE.is_dir():
                print(f"{command.name}: left out, the published data is not there", file=sys.stderr)
                continue
            if command.runs_code and not shutil.which("bwrap"):
                print(f"{command.name}: left out, bubblewrap is not installed", file=sys.stderr)
                continue
            table = folders.table(command)
            if options.accept:
                store(command.name, table)
                continue
            found = differences(command.name, stored(command.name), table)
            unknown, skipped = sorted_out(found, [] if options.strict else changes())
            covered += skipped
            failed += bool(unknown)
            print(*unknown, sep="\n", end="\n" if unknown else "")
    for change, count in covered.items():
        print(
            f"skipped {count}: `{change.command}` / `{change.pattern}`: {change.reason}",
            file=sys.stderr,
        )
    if not options.accept:
        print(f"{len(chosen) - failed} of {len(chosen)} commands as expected", file=sys.stderr)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
