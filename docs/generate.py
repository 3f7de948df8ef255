"""Writes the pages that code knows best: `python -m docs.generate`.

reference/commands.md   from the options records: the text of every --help
reference/rows.md       from harness/types.py
reference/python.md     from harness/__init__.pyi: every public function with its first sentence
reference/judge-reports.md   from the docstrings of harness/extras/judges
reference/modules.md    every module with the first sentence of its docstring
*.schema.json           JSON schemas of bench.toml, judge_set.toml, turnbench.toml and questions,
                        beside the shipped files, whose first lines name them for editors
"""

import ast
import importlib
import inspect
import json
import pathlib
import re
import typing
from collections.abc import Iterable

import msgspec
from msgspec import Struct
from msgspec.structs import fields as struct_fields

from harness import options, types
from harness.bench import bench
from harness.cli import COMMANDS, SCRIPTS
from harness.cli.parser import CODES, help_text, help_texts, value_name
from harness.judging import sets
from harness.options import Field, Project, fields, option, record_of
from harness.registry import TABLE

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = pathlib.Path(__file__).resolve().parent / "reference"
RECORDS = {name: record_of(name) for name in COMMANDS}
ROWS = (
    *("Question", "Point", "User", "Answer", "Choice", "Detail", "Usage"),
    *("MadeFrom", "Judgment", "Vote", "Note", "Measurement"),
)


def commands() -> str:
    """Return every command with its flags; what several share stands once, at the end."""
    texts = help_texts(inspect.getfile(options))
    known = {name: fields(record) for name, record in RECORDS.items()}
    users: dict[type, list[str]] = {}
    for name, found in known.items():
        for owner in dict.fromkeys(field.owner for field in found):
            users.setdefault(owner, []).append(name)
    shared = [owner for owner, names in users.items() if len(names) > 1]
    parts = [
        "# Commands",
        f"Each command is `turnbench NAME` (or `python -m turnbench NAME`); {_listed(SCRIPTS)} are "
        "also there by their own names. A flag `--first-n` is `first_n=` in Python; what a "
        "project always says may stand in `turnbench.toml`. Every command has `--quiet`, "
        f"`--verbose`, `--version` and `--help`; {CODES}.",
    ]
    for name, found in known.items():
        record = RECORDS[name]
        purpose, _, examples = inspect.cleandoc(record.__doc__ or "").partition("\n\n")
        parts += [f"## {name}", purpose]
        parts.append("```text\n" + examples + "\n```")
        own = [field for field in found if field.owner not in shared]
        if own:
            parts.append(_table(own, texts))
        others = list(dict.fromkeys(f.owner for f in found if f.owner in shared))
        if others:
            links = ", ".join(f"[{_title(owner)}](#{_anchor(owner)})" for owner in others)
            parts.append(f"And: {links}.")
        if name == "run_bench":
            parts.append(
                "The judge's own address and sampling have `--judge-` in front: "
                "`--judge-base-url`, `--judge-api-key-env`, `--judge-temperature`, "
                "`--judge-max-tokens`, `--judge-param`."
            )
    parts.append("## Shared options")
    for owner in shared:
        found = [f for name in users[owner] for f in known[name] if f.owner is owner]
        plain = {field.path[-1]: field for field in reversed(found)}
        rows = [plain[info.name] for info in struct_fields(owner) if info.name in plain]
        names = ", ".join(f"`{name}`" for name in users[owner])
        parts += [f"### {_title(owner)}", f"Of {names}.", _table(rows, texts)]
    return "\n\n".join(parts) + "\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def rows() -> str:
    """Return every kind of row with its fields."""
    texts = help_texts(inspect.getfile(types))
    _, _, rest = inspect.cleandoc(types.__doc__ or "").partition("\n\n")
    _, _, prose = rest.partition("\n\n")
    parts = ["# Rows", prose.replace("\n", " ")]
    for name in ROWS:
        record = getattr(types, name)
        hints = typing.get_type_hints(record)
        lines = ["| field | type | meaning |", "| --- | --- | --- |"]
        for info in struct_fields(record):
            kind = _kind(hints[info.name])
            lines.append(f"| `{info.name}` | {kind} | {_cell(texts.get((name, info.name), ''))} |")
        parts += [f"## {name}", inspect.cleandoc(record.__doc__ or ""), "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def python() -> str:
    """Return the public functions and classes with their first sentences."""
    stub = pathlib.Path(inspect.getfile(types)).with_name("__init__.pyi").read_text("utf-8")
    lines = ["| name | what it is |", "| --- | --- |"]
    for module, name in sorted(re.findall(r"^from (\S+) import (\w+) as", stub, re.M), key=_by):
        found = getattr(importlib.import_module(module), name)
        sentence = " ".join((inspect.getdoc(found) or "").partition("\n\n")[0].split())
        call = f"{name}(…)" if not inspect.isclass(found) else name
        lines.append(f"| `{call}` | {_cell(sentence)} |")
    return PYTHON + "\n".join(lines) + "\n"


def modules() -> str:
    """Return every module of the house, room by room."""
    parts = [
        "# Modules",
        "Every file with the first sentence of its docstring; [the tour](../tour.md) has the rooms.",
    ]
    folders = [ROOT / "harness", *(ROOT / f for f in _rooms()), ROOT / "turnbench_questions"]
    folders.append(ROOT / "viewer")
    for folder in folders:
        lines = ["| file | what it is |", "| --- | --- |"]
        for path in sorted(folder.glob("*.py")):
            doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            sentence = " ".join(doc.partition("\n\n")[0].split())
            if sentence and path.name != "__main__.py":
                lines.append(f"| `{path.name}` | {_cell(sentence)} |")
        parts += [f"## {folder.relative_to(ROOT)}/", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def reports() -> str:
    """Return every report of judge_report with its formula."""
    lines = [
        "# Reports on judges",
        "`turnbench judge_report NAME`: how good a judge is. Errors are over questions.",
    ]
    for name, target in TABLE["report"].items():
        module, _, _ = target.partition(":")
        lines += [f"## {name}", inspect.getdoc(importlib.import_module(module)) or ""]
    return "\n\n".join(lines) + "\n"


def _rooms() -> list[str]:
    inner = ["store", "bench", "models", "running", "answering", "judging", "metrics", "results"]
    extras = sorted(path.parent.name for path in (ROOT / "harness/extras").glob("*/__init__.py"))
    rooms = [f"harness/{name}" for name in (*inner, "reporting", "cli")]
    return rooms + [f"harness/extras/{name}" for name in extras]


PYTHON = """\
# Python

Everything that the commands do, with the same words: a flag `--first-n 8` is `first_n=8`.

```python
import harness

harness.gen_answer(["builtin/reference", "builtin/eliza"], first_n=8)
harness.gen_judgment("builtin/overlap")
result = harness.show_result()
print(result.page.outcome)  # who is better, in words
for row in result.rows():  # a dictionary for each model
    print(row["model"], row["average"])
result.frame()  # the same as a pandas frame
```

`turnbench.toml` is read by commands only. Errors are a small tree below `harness.TurnbenchError`,
each with a text of one line. In a notebook a result shows itself as a table; `str(result)` is what the
command prints.

"""


def pages() -> dict[pathlib.Path, str]:
    """Return every generated page by its path."""
    return {
        FOLDER / "commands.md": commands(),
        FOLDER / "rows.md": rows(),
        FOLDER / "python.md": python(),
        FOLDER / "judge-reports.md": reports(),
        FOLDER / "modules.md": modules(),
        ROOT / "data" / "bench.schema.json": schema(bench.Settings, "bench.toml"),
        ROOT / "data" / "question.schema.json": schema(types.Question, "a line of question.jsonl"),
        ROOT / "judge_prompts" / "judge_set.schema.json": schema(sets.Settings, "judge_set.toml"),
        ROOT / "harness" / "cli" / "turnbench.schema.json": schema(Project, "turnbench.toml"),
    }


def schema(record: type[Struct], title: str) -> str:
    """Return the JSON schema of a file, with the texts under its fields as descriptions."""
    found = msgspec.json.schema(record)
    texts = help_texts(inspect.getfile(record))
    for name, definition in found["$defs"].items():
        for key, value in definition.get("properties", {}).items():
            if text := texts.get((name, key)):
                value["description"] = text
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps(head | found, indent=1, ensure_ascii=False) + "\n"


def _by(pair: tuple[str, str]) -> tuple[bool, str]:
    return pair[1][0].isupper(), pair[1]


def _table(found: list[Field], texts: dict[tuple[str, str], str]) -> str:
    lines = ["| flag | meaning |", "| --- | --- |"]
    for field in found:
        names = [option(field.name), *field.flag.aliases]
        if field.flag.positional:
            names = [field.flag.metavar or field.name.upper(), *field.flag.aliases]
        text = help_text(field, texts)
        value = "" if field.flag.positional or field.kind is bool else _value(field)
        first = f"`{names[0]}{value}`"
        rest = "".join(f", `{name}`" for name in names[1:])
        lines.append(f"| {first}{rest} | {_cell(text)} |")
    return "\n".join(lines)


def _value(field: Field) -> str:
    name = value_name(field)
    name = f"{name} ..." if field.many else name
    return f" [{name}]" if field.flag.const is not None else f" {name}"


def _kind(hint: typing.Any) -> str:
    text = hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)
    text = re.sub(r"(harness\.types|typing|msgspec)\.", "", text)
    text = text.replace(" | UnsetType", "").replace("NoneType", "None")
    return f"`{text}`".replace("|", "\\|")


def _title(owner: type[Struct]) -> str:
    text = inspect.cleandoc(owner.__doc__ or owner.__name__).rstrip(".")
    return re.sub(r" \(.*\)", "", text)


def _anchor(owner: type[Struct]) -> str:
    return re.sub(r"[^\w\s-]", "", _title(owner).lower()).replace(" ", "-")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("[", "\\[")


def main() -> None:
    """Write the pages."""
    for path, text in pages().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
