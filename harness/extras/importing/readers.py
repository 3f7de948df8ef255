"""Fetched files of another project → files in our format, in the same folder.

Where a text of ours in `originals.toml` says `user = @ABSOLUTE_PROMPT`, the constant of that name in
a file of `upstream/` is put in, with its placeholders as ours. What needs more has a reader:

    alpaca_eval     upstream/*_outputs.json     → questions and answers
    unieval         upstream/utils.py           → unieval.toml

A Python file is parsed, never run: only literals are used.
"""

import ast
import json
import pathlib
import re
from collections.abc import Callable, Mapping

from harness import store

_UNIEVAL = {"output": "answer", "src": "source", "ref": "reference", "context": "context"}
_BY_SENTENCE = ("summarization.fluency", "summarization.consistency", "fact.consistency")
"""Dimensions asked of each sentence, of which the mean is taken: elsewhere upstream."""
_SUMMED = "dialogue.engagingness"
"""The one of which the sum is taken."""


def constants(folder: pathlib.Path) -> dict[str, str]:
    """Return the texts in the files of a folder, by name.

    `PROMPT` is what a Python file assigns to that name at its top level, `PROMPT.user` an entry of
    a dictionary, `prompt.user` the user's message of `prompt.txt`; `NAME.first` the first line.
    """
    from harness.extras.importing.judge_files import chat_messages

    texts: dict[str, str] = {}
    for path in folder.glob("*.txt"):
        messages = chat_messages(path.read_text(encoding="utf-8"))
        texts[f"{path.stem}.system"], texts[f"{path.stem}.user"] = messages
    for path in folder.glob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            match node:
                case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(value, "strip"), [])):
                    strip = str.strip
                case ast.Assign([ast.Name(name)], value):
                    strip = str
                case _:
                    continue
            try:
                literal = ast.literal_eval(value)
            except ValueError:
                continue
            entries = literal if isinstance(literal, dict) else {"": literal}
            for key, text in entries.items():
                if isinstance(text, str):
                    texts[f"{name}.{key}".rstrip(".")] = strip(text)
    return texts | {f"{name}.first": text.partition("\n")[0] for name, text in texts.items()}


def filled(text: str, texts: Mapping[str, str], names: Mapping[str, str]) -> str:
    """Return one of our TOML files with the constants that it refers to.

    `names` are ours for the placeholders in them; `@NAME{theirs=ours}` has another one.
    """

    def value(line: re.Match[str]) -> str:
        constant = ""
        for name, theirs, ours in re.findall(r"@([\w.]+)(?:\{(\w+)=(\w+)\})?", line[2]):
            constant += renamed(texts[name], {**names, theirs: ours} if theirs else names)
        return f"{line[1]} = {toml_text(constant)}"

    return re.sub(r"^(\w+) = (@.+)$", value, text, flags=re.MULTILINE)


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


def alpaca_eval(folder: pathlib.Path) -> list[pathlib.Path]:
    """Write the questions, and the answers of both baselines; return the files."""
    from harness.extras.importing.reading import import_data

    # The baseline of version 2 first.
    outputs = sorted(folder.glob("upstream/*.json"), key=lambda p: "gpt4_1106" not in p.name)
    return import_data("alpaca_eval", outputs, folder.name, data_dir=folder.parent).written


def unieval(folder: pathlib.Path) -> list[pathlib.Path]:
    """Write UniEval's questions by task and dimension; return the file.

    They are in nested ifs of a function, added up of texts and variables:

        if task == 'summarization':
            if dimension == 'relevance':
                cur_input = 'question: ...? </s> summary: ' + output[i] + ' </s> reference: ' + ref[i]

    becomes relevance = "question: ...? </s> summary: {answer} </s> reference: {reference}".
    """
    path = folder / "unieval.toml"
    if path.exists():
        return []
    source = (folder / "upstream" / "utils.py").read_text(encoding="utf-8").replace("\\\n", "")
    lines = ["# Made by fetch_bench from upstream/utils.py, whose words these are (MIT)."]
    lines.append('name = "unieval"')
    task = dimension = ""
    for match in re.finditer(r"if (task|dimension) == '(\w+)'|cur_input = (.+)", source):
        if match[1] == "task":
            task = match[2]
            lines += ["", f"[tasks.{task}]"]
        elif match[1] == "dimension":
            dimension = match[2]
        else:
            name = f"{task}.{dimension}"
            answer = "sentence" if name in (*_BY_SENTENCE, _SUMMED) else "answer"
            question = ""
            for text, variable in re.findall(r"'([^']*)'|(\w+)\[i\]", match[3]):
                placeholder = answer if variable == "output" else _UNIEVAL.get(variable)
                question += text or f"{{{placeholder}}}"
            value = toml_text(question)
            if name == _SUMMED:
                value = f'{{ ask = {value}, sentences = "sum" }}'
            lines.append(f"{dimension} = {value}")
    store.write_file(path, "\n".join([*lines, ""]))
    return [path]


READERS: Mapping[str, Callable[[pathlib.Path], list[pathlib.Path]]] = {
    "alpaca_eval": alpaca_eval,
    "unieval": unieval,
}
