"""A command's parser, made from its options record; the text under a field is its help."""

import argparse
import ast
import functools
import inspect
import pathlib
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from harness.errors import UsageError
from harness.options import Field, Project, build, fields, option

T = TypeVar("T", bound=Struct)
CODES = "exit codes: 0 done, 1 finished with failures listed, 2 wrong use, 130 interrupted"


class Parsed(msgspec.Struct):
    """What a command line says."""

    options: Any
    """The command's record."""
    typed: frozenset[str]
    """The names of the options that were typed."""
    project: Project
    quiet: bool
    verbose: bool


def parse(name: str, record: type[Struct], argv: Sequence[str] | None = None) -> Parsed:
    """Return a command line as a record: what is typed, else turnbench.toml, else the default.

    `--help` and `--version` print and exit.

    Raises:
        UsageError: a flag is unknown or its value cannot be.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    known = fields(record)
    parser = _parser(name, record, known, with_help=bool({"-h", "--help"} & set(words)))
    found = vars(parser.parse_args(words))
    quiet, verbose = found.pop("quiet", False), found.pop("verbose", False)
    project = read_project()
    options = build(record, found, project)
    return Parsed(options, frozenset(found), project, quiet, verbose)


def read_project(folder: pathlib.Path | str = ".") -> Project:
    """Return `turnbench.toml` of a folder, empty where there is none.

    Raises:
        DataError: it is not what it must be.
        UsageError: there is a `models.toml`, which is not read, and no turnbench.toml.
    """
    from harness.store import read_toml

    path = pathlib.Path(folder) / "turnbench.toml"
    if path.exists():
        return read_toml(path, Project)
    if path.with_name("models.toml").exists():
        raise UsageError("models.toml is not read; put its tables under [models] in turnbench.toml")
    return Project()


class _Parser(argparse.ArgumentParser):
    known: Sequence[Field] = ()

    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong, with the nearest flag where one is unknown."""
        unknown = re.match(r"unrecognized arguments: (--[^ =]+)", message)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings]
            near = get_close_matches(unknown[1], flags, 3, 0.6)
            advice = f"; did you mean {' or '.join(near)}?" if near else f"; see {self.prog} --help"
            raise UsageError(f"there is no flag {unknown[1]}{advice}")
        raise UsageError(f"{message.removeprefix('argument ')}; see {self.prog} --help")


def _parser(name: str, record: type[Struct], known: list[Field], *, with_help: bool) -> _Parser:
    texts = help_texts(inspect.getfile(record)) if with_help else {}
    purpose, _, examples = inspect.cleandoc(record.__doc__ or "").partition("\n\n")
    usage = f"{name} [--FLAG VALUE ...]"
    parser = _Parser(
        prog=name,
        usage=usage,
        description=f"{purpose}\n\nexamples:\n{_indented(examples)}",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    groups: dict[type, Any] = {}
    for field in known:
        if field.owner not in groups:
            title = name if field.owner is record else _title(field.owner)
            groups[field.owner] = parser.add_argument_group(title)
        _add(groups[field.owner], field, texts.get((field.owner.__name__, field.path[-1]), ""))
    from harness import __version__

    general = parser.add_argument_group("general")
    general.add_argument("--version", action="version", version=f"turnbench {__version__}")
    general.add_argument("-q", "--quiet", action="store_true", help="print results and errors only")
    general.add_argument("-v", "--verbose", action="store_true", help="print more, and tracebacks")
    return parser


def _add(group: Any, field: Field, text: str) -> None:
    flag, kind = field.flag, field.kind
    names = [option(field.name), *flag.aliases]
    if (field.name == "imports" and not flag.positional) or field.name.endswith("_"):
        names = list(flag.aliases)
    if "(default" not in text and field.default not in (None, (), False, ""):
        text = f"{text} (default: {field.default})"
    common: dict[str, Any] = {"help": text.replace("%", "%%"), "dest": field.name}
    if kind is bool:
        group.add_argument(*names, action="store_true", **common)
        return
    literal = choices(kind)
    metavar = flag.metavar or ("{" + ",".join(literal) + "}" if literal else "VALUE")
    common["metavar"] = metavar
    if flag.positional:
        nargs = "*" if field.many else "?"
        group.add_argument(
            field.name, nargs=nargs, **{k: v for k, v in common.items() if k != "dest"}
        )
        names = list(flag.aliases)
        if not names:
            return
    if flag.const is not None:
        group.add_argument(*names, nargs="?", const=flag.const, **common)
    else:
        group.add_argument(*names, nargs="+" if field.many else None, **common)


def choices(kind: Any) -> list[str]:
    """Return the words that a value of a type may be; empty: any.

    >>> choices(tuple[Literal["length", "lists"], ...] | None)
    ['length', 'lists']
    """
    if get_origin(kind) is Literal:
        return [value for value in get_args(kind) if isinstance(value, str)]
    return [word for part in get_args(kind) if not isinstance(part, str) for word in choices(part)]


@functools.cache
def help_texts(path: str) -> dict[tuple[str, str], str]:
    """Return the text under each field of the classes in a module, by class and field."""
    tree = ast.parse(pathlib.Path(path).read_text(encoding="utf-8"))
    texts: dict[tuple[str, str], str] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for before, after in zip(node.body, node.body[1:], strict=False):
            if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr):
                text = ast.literal_eval(after.value)
                texts[node.name, ast.unparse(before.target)] = " ".join(text.split())
    return texts


def _title(group: type) -> str:
    title = inspect.cleandoc(group.__doc__ or group.__name__).rstrip(".")
    return title[:1].lower() + title[1:]


def _indented(text: str) -> str:
    return "\n".join(f"  {line.strip()}" for line in text.splitlines())
