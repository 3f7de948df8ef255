"""A command's parser, made from its options record; the text under a field is its help."""

import argparse
import ast
import inspect
import pathlib
import re
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NoReturn, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from harness.cli import command_words
from harness.errors import UsageError, near
from harness.options import Field, Project, build, fields, option, record_of

T = TypeVar("T", bound=Struct)
CODES = "exit codes: 0 done, 1 finished with failures listed, 2 wrong use, 130 interrupted"


class Parsed(msgspec.Struct):
    """What a command line says."""

    options: Any
    """The command's record."""
    quiet: bool
    verbose: bool


def parse(name: str, argv: Sequence[str] | None = None) -> Parsed:
    """Return a command line as a record: what is typed, else turnbench.toml, else the default.

    `--help` and `--version` print and exit.

    Raises:
        UsageError: a flag is unknown or its value cannot be.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    for word in words:
        if not _is_text(word):
            raise UsageError(f"the argument {word[:40]!r} is not UTF-8")
    record = record_of(name)
    parser = _parser(name, record, with_help=bool({"-h", "--help"} & set(words)))
    values = vars(parser.parse_args(words))
    quiet, verbose = values.pop("quiet", False), values.pop("verbose", False)
    return Parsed(build(record, values, read_project()), quiet, verbose)


def record_from(kind: type[T], **values: Any) -> T:
    """Return a command's record from Python keywords: what is given, turnbench.toml, the defaults.

    Raises:
        UsageError: a name is unknown or its value cannot be.
    """
    return build(kind, values, read_project())


def _is_text(word: str) -> bool:
    """Return whether an argument can be written: bytes that are not UTF-8 come in as surrogates."""
    try:
        word.encode()
    except UnicodeEncodeError:
        return False
    return True


def read_project() -> Project:
    """Return `turnbench.toml` of the working folder, empty where there is none.

    Raises:
        DataError: it is not what it must be.
    """
    from harness.store import read_toml

    path = pathlib.Path("turnbench.toml")
    return read_toml(path, Project) if path.exists() else Project()


def is_bench_named(record: Any) -> bool:
    """Return whether the command line or `turnbench.toml` names a benchmark."""
    return "bench_name" in record.typed or read_project().bench_name is not None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise what argparse found wrong, with the nearest flag where one is unknown."""
        unknown = re.match(r"unrecognized arguments: (--[^ =]+)", message)
        if unknown:
            flags = [flag for action in self._actions for flag in action.option_strings]
            advice = near(unknown[1], flags, every=False) or f"; see {self.prog} --help"
            raise UsageError(f"there is no flag {unknown[1]}{advice}")
        raise UsageError(f"{message.removeprefix('argument ')}; see {self.prog} --help")


def _parser(name: str, record: type[Struct], *, with_help: bool) -> _Parser:
    texts = help_texts(inspect.getfile(record)) if with_help else {}
    purpose, _, examples = inspect.cleandoc(record.__doc__ or "").partition("\n\n")
    parser = _Parser(
        prog=command_words(name),
        usage=f"{command_words(name)} [--FLAG VALUE ...]",
        description=f"{purpose}\n\nexamples:\n{textwrap.indent(examples, '  ')}",
        epilog=CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        argument_default=argparse.SUPPRESS,
    )
    groups: dict[type, Any] = {}
    for field in fields(record):
        if field.owner not in groups:
            title = (field.owner.__doc__ or "").rstrip(".") if field.owner is not record else name
            groups[field.owner] = parser.add_argument_group(title[:1].lower() + title[1:])
        _add(groups[field.owner], field, help_text(field, texts))
    from harness import __version__

    general = parser.add_argument_group("general")
    general.add_argument("--version", action="version", version=f"turnbench {__version__}")
    general.add_argument("-q", "--quiet", action="store_true", help="print results and errors only")
    general.add_argument("-v", "--verbose", action="store_true", help="print more, and tracebacks")
    return parser


def _add(group: Any, field: Field, text: str) -> None:
    flag, names = field.flag, [option(field.name), *field.flag.aliases]
    common: dict[str, Any] = {"help": text.replace("%", "%%")}
    if field.kind is bool:
        group.add_argument(*names, action="store_true", dest=field.name, **common)
        return
    common["metavar"] = value_name(field)
    if flag.positional:
        group.add_argument(field.name, nargs="*" if field.many else "?", **common)
        names = list(flag.aliases)
    if flag.const is not None:
        common |= {"nargs": "?", "const": flag.const}
    elif field.many:
        common["nargs"] = "+"
    if names:
        group.add_argument(*names, dest=field.name, **common)


def value_name(field: Field) -> str:
    """Return what stands for the value of a flag: VALUE, or the values that it may have."""
    values = choices(field.kind)
    return field.flag.metavar or ("{" + ",".join(values) + "}" if values else "VALUE")


def help_text(field: Field, texts: Mapping[tuple[str, str], str]) -> str:
    """Return the help of a field, with its default."""
    text = texts.get((field.owner.__name__, field.path[-1]), "")
    if "(default" in text or field.default in (None, (), False, "", msgspec.NODEFAULT):
        return text
    return f"{text} (default: {field.default})"


def choices(kind: Any) -> list[str]:
    """Return the words that a value of a type may be; empty: any.

    >>> choices(tuple[Literal["length", "lists"], ...] | None)
    ['length', 'lists']
    """
    if get_origin(kind) is Literal:
        return [value for value in get_args(kind) if isinstance(value, str)]
    return [word for part in get_args(kind) if not isinstance(part, str) for word in choices(part)]


def help_texts(path: str) -> dict[tuple[str, str], str]:
    """Return the text under each field of the classes in a module, by class and field."""
    tree = ast.parse(pathlib.Path(path).read_text(encoding="utf-8"))
    texts: dict[tuple[str, str], str] = {}
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        for before, after in zip(node.body, node.body[1:], strict=False):
            match before, after:
                case ast.AnnAssign(ast.Name(field)), ast.Expr(ast.Constant(str(text))):
                    texts[node.name, field] = " ".join(text.split())
        for base in map(ast.unparse, node.bases):  # a class has the texts of what it extends
            inherited = {name: text for (owner, name), text in texts.items() if owner == base}
            texts |= {
                (node.name, n): t for n, t in inherited.items() if (node.name, n) not in texts
            }
    return texts
