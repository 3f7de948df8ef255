"""The manual of all commands, made from their parsers: `python -m harness.cli.manual > docs/commands.md`."""

import argparse
import importlib
from collections.abc import Sequence

from harness.cli.command import EXIT_CODES, Parser
from harness.cli.main import COMMANDS, PURPOSE
from harness.cli.main import EXAMPLES as OVERVIEW_EXAMPLES
from harness.cli.messages import results

INTRODUCTION = """# Commands

{purpose} This page holds the same
text as `COMMAND --help`; it is made by `python -m harness.cli.manual`.

{commands}

Each stands alone under its own name (`gen_answer`), under one name for all (`turnbench gen_answer`, `turnbench help
gen_answer`), and as a module (`python -m harness.cli.gen_answer`).

```sh
{examples}
```

Results go to stdout, everything else to stderr. Nothing is asked unless stdin, stdout and stderr are a terminal. Where
an option takes several values, give them at once (`--model-list a b`) or one by one (`--model-list a --model-list b`).

| exit code | meaning |
| --- | --- |
{codes}"""


def manual() -> str:
    """Return the text of `docs/commands.md`."""
    commands = "\n".join(f"- [`{name}`](#{name}): {purpose}" for name, purpose in COMMANDS.items())
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items())
    parts = [
        INTRODUCTION.format(purpose=PURPOSE, commands=commands, codes=codes, examples="\n".join(OVERVIEW_EXAMPLES))
    ]
    parts += [_chapter(parser, level) for name in COMMANDS for level, parser in _parsers_of(name)]
    return "\n\n".join(parts) + "\n"


def parser_of(name: str) -> Parser:
    """Return the parser of the command of that name."""
    parser: Parser = importlib.import_module(f"harness.cli.{name}").parser()
    return parser


def _parsers_of(name: str) -> list[tuple[int, Parser]]:
    """Return a command's parser and those of its parts, with the level of their headings."""
    parts: dict[str, Parser] = getattr(importlib.import_module(f"harness.cli.{name}"), "parsers", dict)()
    return [(2, parser_of(name)), *((3, parser) for parser in parts.values())]


def options_of(group: argparse._ArgumentGroup) -> list[argparse.Action]:
    """Return the options of a group, without --help and --version, which every command has."""
    return [a for a in group._group_actions if not isinstance(a, argparse._HelpAction | argparse._VersionAction)]


def _chapter(parser: Parser, level: int) -> str:
    examples = "\n".join(parser.examples)
    parts = [f"{'#' * level} {parser.prog}", str(parser.description), f"```sh\n{examples}\n```"]
    shared, *own = [group for group in parser._action_groups if options_of(group)]
    for group in (*own, *([shared] if level == 2 else [])):
        rows = "\n".join(f"| {_flags(action)} | {_cell(str(action.help))} |" for action in options_of(group))
        rows = rows.replace("%%", "%")  # as argparse shows it
        about = f"{group.description}\n\n" if group.description else ""
        title = "every command" if group is shared else group.title
        parts.append(f"{about}| {title} | |\n| --- | --- |\n{rows}")
    return "\n\n".join(parts)


def _flags(action: argparse.Action) -> str:
    """Return how an option is written, such as `--model NAME ...`."""
    value = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or "")
    value = f" {value}{' ...' if action.nargs == '+' else ''}" if action.nargs != 0 else ""
    names = [f"`{_cell(name + value)}`" for name in action.option_strings]
    return ", ".join(names) or f"`{action.metavar}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(argv: Sequence[str] | None = None) -> int:
    """Print the manual."""
    results(manual().rstrip("\n"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
