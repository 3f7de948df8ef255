"""Downloaded files in another project's format → a judge set or a benchmark in ours, in the same folder.

    prometheus      upstream/prompts.py                          → judge_set.toml and four templates
    alpaca_eval     upstream/*.txt, upstream/*_outputs.json      → two judge sets, question.jsonl, model_answer/
    unieval         upstream/utils.py                            → unieval.toml

UniEval's questions are inside nested ifs of a function, added up of texts and variables:

    if task == 'summarization':
        if dimension == 'relevance':
            cur_input = 'question: ...? </s> summary: ' + output[i] + ' </s> reference: ' + ref[i]

becomes relevance = "question: ...? </s> summary: {answer} </s> reference: {reference}".

A Python file is parsed, never run: only literal texts are used. The result depends only on
the pinned files, so making it again gives the same bytes; another file in its place is kept, and is an error.
"""

import ast
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping

from harness.old.errors import DataError, StorageError
from harness.old.jsonl import put_text
from harness.old.written import toml_value

PROMETHEUS_NAMES = {
    "instruction": "question",
    "response": "answer",
    "response_A": "answer_a",
    "response_B": "answer_b",
    "reference_answer": "reference",
    "rubric": "rubric",
}
_RUBRICS = ("helpfulness", "harmlessness", "honesty", "factual_validity", "reasoning")
_ALPACA_NAMES = {"instruction": "question", "output_1": "answer_a", "output_2": "answer_b"}
_FUNCTION = "add_question"
_PLACEHOLDERS = {"output": "answer", "src": "source", "ref": "reference", "context": "context"}
_BY_SENTENCE = {
    ("summarization", "fluency"): "mean",
    ("summarization", "consistency"): "mean",
    ("dialogue", "engagingness"): "sum",
    ("fact", "consistency"): "mean",
}
"""Dimensions that are asked about each sentence, and how the numbers are combined: stated elsewhere in the original."""
_CHAT = re.compile(r"<\|im_start\|>(system|user)\n(.*?)\n?<\|im_end\|>", re.S)


def _prometheus(folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    texts = texts_in(folder / "upstream" / "prompts.py")
    templates = {
        "absolute": ("grade", "[RESULT] n", "ABS_SYSTEM_PROMPT", "ABSOLUTE_PROMPT_WO_REF"),
        "absolute_reference": ("grade", "[RESULT] n", "ABS_SYSTEM_PROMPT", "ABSOLUTE_PROMPT"),
        "relative": ("compare", "[RESULT] A|B", "REL_SYSTEM_PROMPT", "RELATIVE_PROMPT_WO_REF"),
        "relative_reference": ("compare", "[RESULT] A|B", "REL_SYSTEM_PROMPT", "RELATIVE_PROMPT"),
    }
    rubrics = {name: f"{name.upper()}_RUBRIC" for name in _RUBRICS}
    needed = {*rubrics.values(), *(name for form in templates.values() for name in form[2:])}
    if absent := sorted(needed - texts.keys()):
        raise DataError(f"contains no text named {', '.join(absent)}", path=folder / "upstream" / "prompts.py")
    parts = [_set("prometheus_original")]
    for name, constant in rubrics.items():
        rubric = texts[constant]
        head = rubric.split("\n")[0]
        parts.append(f"[criteria.{name}]\ndefault = false\ndefinition = {toml(head)}\nrubric = {toml(rubric)}\n")
    made = {"judge_set.toml": "\n".join(parts)}
    for name, (kind, verdict, system, user) in templates.items():
        # Of a rubric, a comparison is shown the first line alone.
        names = PROMETHEUS_NAMES | ({"rubric": "criterion"} if kind == "compare" else {})
        made[f"{name}.toml"] = template_toml(kind, verdict, renamed(texts[user], names), texts[system])
    return _put(folder, made)


def _alpaca_eval(folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    from harness.old.importing.run import import_data

    upstream = folder / "upstream"
    # What the published annotators say; of the weighted one, configs.yaml beside it says the rest.
    names = ("alpaca_eval_gpt4", "alpaca_eval_clf_cot", "weighted_alpaca_eval_gpt4_turbo")
    made = {f"{name}/judge_set.toml": _set(name) for name in names}
    for name, verdict, sides, attempt in (
        ("alpaca_eval_gpt4", "ranking", ("model_1", "model_2"), "alpaca_eval.txt"),
        ("alpaca_eval_clf_cot", "preference", ("m", "M"), "alpaca_eval_clf_cot.txt"),
    ):
        messages = dict(_CHAT.findall(_text(upstream / attempt)))
        if set(messages) != {"system", "user"}:
            raise DataError("holds no system and user message", path=upstream / attempt)
        user, system = (renamed(messages[role], _ALPACA_NAMES) for role in ("user", "system"))
        made[f"{name}/prompt.toml"] = template_toml("compare", verdict, user, system, sides=sides)
    put = _put(folder, made)
    outputs = sorted(upstream.glob("*_outputs.json"), key=lambda path: "gpt4_1106" not in path.name)
    if (folder / "question.jsonl").exists():
        return put
    report = import_data("alpaca_eval", outputs, folder.name, data_dir=folder.parent)
    if report.bad:
        raise DataError(f"{len(report.bad)} records are invalid; the first is {report.bad[0]}", path=folder)
    return (*put, *report.added)


def _unieval(folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    path = folder / "upstream" / "utils.py"
    return _put(folder, {"unieval.toml": questions_toml(parsed(path), path)})


def _set(name: str) -> str:
    """Return the judge set of that name, without the original's texts."""
    return (pathlib.Path(__file__).with_name("sets") / f"{name}.toml").read_text(encoding="utf-8")


READERS: Mapping[str, Callable[[pathlib.Path], tuple[pathlib.Path, ...]]] = {
    "prometheus": _prometheus,
    "alpaca_eval": _alpaca_eval,
    "unieval": _unieval,
}
"""By name, the function that converts the downloaded files of a folder to ours, and returns the new ones.

Each raises `DataError` if those are invalid, and `StorageError` if another file is in the way or
the folder cannot be written.
"""


def texts_in(path: pathlib.Path) -> dict[str, str]:
    """Return the texts that a Python file assigns to names at its top level, literal or stripped.

    Nothing in the file is run; anything but a literal text, or `"...".strip()`, is skipped.
    """
    found: dict[str, str] = {}
    for node in parsed(path).body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Constant(str(text))):
                found[name] = text
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(ast.Constant(str(text)), "strip"), [])):
                found[name] = text.strip()
    return found


def parsed(path: pathlib.Path) -> ast.Module:
    """Return the syntax tree of a Python file."""
    try:
        return ast.parse(_text(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"is not valid Python: {error}", path=path) from None


def _text(path: pathlib.Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None


def _put(folder: pathlib.Path, files: Mapping[str, str]) -> tuple[pathlib.Path, ...]:
    """Write the files that are not there yet; an equal one is left, another one stays and is an error."""
    for name, text in files.items():
        path = folder / name
        if path.exists() and (not path.is_file() or path.read_bytes() != text.encode()):
            raise StorageError(f"{path}: another file is already there and is kept; move it away")
    made = []
    for name, text in files.items():
        path = folder / name
        if path.exists():
            continue
        put_text(path, text)
        made.append(path)
    return tuple(made)


def questions_toml(tree: ast.Module, path: pathlib.Path) -> str:
    """Return the file of questions that a source makes.

    Raises:
        DataError: the source has no such function, or a question in it is built in another way.
    """
    function = next((n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == _FUNCTION), None)
    found = {} if function is None else dict(_questions(function.body, {}, path))
    if not found:
        raise DataError(f"holds no function {_FUNCTION} with questions", path=path)
    lines = ["# Made by fetch_bench from upstream/utils.py, whose words these are (MIT).", 'name = "unieval"']
    for task in dict.fromkeys(task for task, _ in found):
        lines += ["", f"[tasks.{task}]"]
        for (of, name), ask in found.items():
            if of != task:
                continue
            sentences = _BY_SENTENCE.get((task, name))
            said = toml(ask if sentences is None else ask.replace("{answer}", "{sentence}"))
            lines.append(f"{name} = " + (f'{{ ask = {said}, sentences = "sum" }}' if sentences == "sum" else said))
    return "\n".join([*lines, ""])


def _questions(
    body: list[ast.stmt], known: dict[str, str], path: pathlib.Path
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield task, dimension and text of each question below; `known` is known from the enclosing ifs."""
    for node in body:
        match node:
            case ast.For():
                yield from _questions(node.body, known, path)
            case ast.If(ast.Compare(ast.Name(asked), [ast.Eq()], [ast.Constant(value)])):
                yield from _questions(node.body, known | {asked: str(value)}, path)
                yield from _questions(node.orelse, known, path)
            case ast.If():
                yield from _questions([*node.body, *node.orelse], known, path)
            case ast.Assign() if {"task", "dimension"} <= known.keys():
                yield (known["task"], known["dimension"]), "".join(_pieces(node.value, path))


def _pieces(node: ast.expr, path: pathlib.Path) -> Iterator[str]:
    """Yield the texts and placeholders of which a question is added up."""
    match node:
        case ast.BinOp(left, ast.Add(), right):
            yield from _pieces(left, path)
            yield from _pieces(right, path)
        case ast.Constant(str(text)):
            yield braces(text)
        case ast.Subscript(ast.Name(name)) if name in _PLACEHOLDERS:
            yield f"{{{_PLACEHOLDERS[name]}}}"
        case _:
            why = f"a question is built in an unknown way: {ast.unparse(node)[:60]}"
            raise DataError(why, path=path, line=node.lineno)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a prompt with another project's placeholders in our words; every other brace stays text."""
    pieces, place = [], 0
    for found in re.finditer("|".join(rf"\{{{re.escape(name)}\}}" for name in names), text):
        # What ends with a brace would begin a doubled one with the placeholder's.
        pieces += [braces(text[place : found.start()] + "{")[:-1], f"{{{names[found[0][1:-1]]}}}"]
        place = found.end()
    return "".join([*pieces, braces(text[place:])])


def braces(text: str) -> str:
    """Return a text such that our template says it: an open brace before a name or another one means something."""
    return re.sub(r"\{(?=[{A-Za-z])", "{{", text)


def template_toml(kind: str, verdict: str, user: str, system: str, *, sides: tuple[str, str] | None = None) -> str:
    """Return a template's file."""
    lines = [f'kind = "{kind}"', f'verdict = "{verdict}"']
    lines += [f"sides = {toml_value(sides)}"] if sides else []
    return "\n".join([*lines, "", f"system = {toml(system)}", "", f"user = {toml(user)}", ""])


def toml(text: str) -> str:
    """Return a text as TOML writes it, on as many lines as it has."""
    if "\n" not in text:
        return toml_value(text)
    inside = text.replace("\\", "\\\\").replace('"""', '""\\"')
    return f'"""\n{inside}"""' if not inside.endswith('"') else f'"""\n{inside[:-1]}\\""""'
