"""Texts in fetched files, and our TOML files that refer to them.

A file of ours in `originals.toml` says `user = @ABSOLUTE_PROMPT`; the text of that name in a file
of `upstream/` is put in, with its placeholders as ours. A Python file is parsed, never run.
"""

import ast
import json
import pathlib
import re
from collections.abc import Iterator, Mapping

from harness.extras.importing.judge_files import chat_messages


def constants(folder: pathlib.Path) -> dict[str, str]:
    """Return the texts in the files of a folder, by name; with `.first` their first lines.

    prompt.txt                          prompt.system, prompt.user: the messages
    PROMPT = "..."                      PROMPT
    PROMPT = {"user": "..."}            PROMPT.user
    if task == 'fact': if ... cur_input = 'question: ' + src[i]       fact.consistency, {src} in it
    """
    texts: dict[str, str] = {}
    for path in folder.glob("*.txt"):
        messages = chat_messages(path.read_text(encoding="utf-8"))
        texts |= zip((f"{path.stem}.system", f"{path.stem}.user"), messages, strict=True)
    for path in folder.glob("*.py"):
        source = path.read_text(encoding="utf-8")
        texts |= dict(_literals(source)) | dict(_questions(source))
    return texts | {f"{name}.first": text.partition("\n")[0] for name, text in texts.items()}


def _literals(source: str) -> Iterator[tuple[str, str]]:
    """Yield the texts that are assigned to names at the top level; `"...".strip()` is one."""
    for node in ast.parse(source).body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(value, "strip"), [])):
                strip = True
            case ast.Assign([ast.Name(name)], value):
                strip = False
            case _:
                continue
        try:
            literal = ast.literal_eval(value)
        except ValueError:
            continue
        if isinstance(literal, str):
            yield name, literal.strip() if strip else literal
        elif isinstance(literal, dict):
            yield from ((f"{name}.{key}", str(text)) for key, text in literal.items())


def _questions(source: str) -> Iterator[tuple[str, str]]:
    """Yield the questions of UniEval, which nested ifs add up of texts and variables."""
    place = {}
    pattern = r"if (task|dimension) == '(\w+)'|cur_input = (.+)"
    for key, name, expression in re.findall(pattern, source.replace("\\\n", "")):
        if key:
            place[key] = name
        else:
            pieces = re.findall(r"'([^']*)'|(\w+)\[i\]", expression)
            question = "".join(text or f"{{{variable}}}" for text, variable in pieces)
            yield f"{place['task']}.{place['dimension']}", question


def fill(text: str, texts: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return a TOML file of ours with the texts that it refers to: `@ONE`, `@ONE+TWO`.

    `names` are ours for the placeholders in them; `@ONE{theirs=ours}` has another one.
    """

    def value(match: re.Match[str]) -> str:
        constant = "".join(texts[name] for name in match[1].split("+"))
        special = {match[2]: match[3]} if match[2] else {}
        return toml_text(renamed(constant, {**names, **special}))

    return re.sub(r"@([\w.+]+)(?:\{(\w+)=(\w+)\})?", value, text)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a prompt with another project's placeholders as ours; every other brace is text.

    >>> renamed('{"a": {output_1}}', {"output_1": "answer_a"})
    '{"a": {answer_a}}'
    """
    pieces, place = [], 0
    for match in re.finditer("|".join(rf"\{{{re.escape(name)}\}}" for name in names), text):
        # A literal that ends with a brace would begin a doubled one with the placeholder's.
        pieces += [_braces(text[place : match.start()] + "{")[:-1], f"{{{names[match[0][1:-1]]}}}"]
        place = match.end()
    return "".join([*pieces, _braces(text[place:])])


def _braces(text: str) -> str:
    """Return a text as our templates write it: a brace before a name or a brace is doubled."""
    return re.sub(r"\{(?=[{A-Za-z])", "{{", text)


def toml_text(text: str) -> str:
    """Return a text as TOML writes it, on as many lines as it has."""
    if "\n" not in text:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    inside = text.replace("\\", "\\\\").replace('"""', '""\\"')
    inside = f'{inside[:-1]}\\"' if inside.endswith('"') else inside
    return f'"""\n{inside}"""'
