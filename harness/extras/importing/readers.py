"""Fetched files in another project's format → files in ours, in the same folder.

    prometheus      upstream/prompts.py                          → four templates
    husimpleqa      upstream/HuSimpleQA.py                       → a template
    alpaca_eval     upstream/*.txt, upstream/*_outputs.json      → two templates, questions, answers
    unieval         upstream/utils.py                            → unieval.toml

Each returns the texts to write by path. A Python file is parsed, never run: only literals are used.

UniEval's questions are in nested ifs of a function, added up of texts and variables:

    if task == 'summarization':
        if dimension == 'relevance':
            cur_input = 'question: ...? </s> summary: ' + output[i] + ' </s> reference: ' + ref[i]

becomes relevance = "question: ...? </s> summary: {answer} </s> reference: {reference}".
"""

import ast
import json
import pathlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from harness import store
from harness.errors import DataError

Texts: TypeAlias = dict[str, str]
"""By path in the folder."""
_PROMETHEUS = {
    "instruction": "question",
    "response": "answer",
    "response_A": "answer_a",
    "response_B": "answer_b",
    "reference_answer": "reference",
    "rubric": "rubric",
}
_RUBRICS = ("helpfulness", "harmlessness", "honesty", "factual_validity", "reasoning")
_UNIEVAL = {"output": "answer", "src": "source", "ref": "reference", "context": "context"}
_BY_SENTENCE = {
    ("summarization", "fluency"): "mean",
    ("summarization", "consistency"): "mean",
    ("dialogue", "engagingness"): "sum",
    ("fact", "consistency"): "mean",
}
"""Dimensions asked of each sentence, and how the numbers are put together: elsewhere upstream."""


def prometheus(folder: pathlib.Path, made: Mapping[str, str]) -> Texts:
    """Return Prometheus's four templates, and a judge set with its rubrics as criteria."""
    texts = literals(folder / "upstream" / "prompts.py")
    settings = [made["judge_set.toml"]]
    for name in _RUBRICS:
        rubric = texts[f"{name.upper()}_RUBRIC"]
        first = rubric.partition("\n")[0]
        lines = [f"[criteria.{name}]", "default = false", f"definition = {toml_text(first)}"]
        settings.append("\n".join([*lines, f"rubric = {toml_text(rubric)}", ""]))
    files: Texts = {"judge_set.toml": "\n".join(settings)}
    for kind, verdict, name in (
        ("grade", "[RESULT] n", "absolute"),
        ("compare", "[RESULT] A|B", "relative"),
    ):
        # Of a rubric, a comparison is shown the first line alone.
        names = _PROMETHEUS | ({"rubric": "criterion"} if kind == "compare" else {})
        system = texts[f"{name[:3].upper()}_SYSTEM_PROMPT"]
        for suffix, constant in (("_reference", ""), ("", "_WO_REF")):
            user = renamed(texts[f"{name.upper()}_PROMPT{constant}"], names)
            files[f"{name}{suffix}.toml"] = template(kind, verdict, user, braces(system))
    return files


def husimpleqa(folder: pathlib.Path, made: Mapping[str, str]) -> Texts:
    """Return HuSimpleQA's judge prompt, which is sent as one message."""
    prompt = literals(folder / "upstream" / "HuSimpleQA.py")["JUDGE_PROMPT"]
    names = {"question": "question", "answer": "reference", "prediction": "answer"}
    user = braces(prompt["system_prompt"]) + renamed(prompt["user_prompt"], names)
    return {"label.toml": template("label", "label", user, "")}


def alpaca_eval(folder: pathlib.Path, made: Mapping[str, str]) -> Texts:
    """Return the templates of two annotators; write the questions and the baselines' answers."""
    from harness.extras.importing.judge_files import PAIR, chat_messages
    from harness.extras.importing.reading import import_data

    upstream = folder / "upstream"
    if not (folder / "question.jsonl").exists():
        # The baseline of version 2 first.
        outputs = sorted(upstream.glob("*_outputs.json"), key=lambda p: "gpt4_1106" not in p.name)
        report = import_data("alpaca_eval", outputs, folder.name, data_dir=folder.parent)
        if report.bad:
            raise DataError(f"{len(report.bad)} records are invalid; the first: {report.bad[0]}")
        store.write_file(folder / "bench.toml", made["bench.toml"])
    files: Texts = {}
    for name, verdict, sides, file in (
        ("alpaca_eval_gpt4", "ranking", ("model_1", "model_2"), "alpaca_eval.txt"),
        ("alpaca_eval_clf_cot", "preference", ("m", "M"), "alpaca_eval_clf_cot.txt"),
    ):
        messages = chat_messages((upstream / file).read_text(encoding="utf-8"))
        system, user = (renamed(text, PAIR) for text in messages)
        text = template("compare", verdict, user, system, sides)
        files[f"{name}/prompt.toml"] = text
    return files


def unieval(folder: pathlib.Path, made: Mapping[str, str]) -> Texts:
    """Return UniEval's questions by task and dimension."""
    path = folder / "upstream" / "utils.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    function = next(node for node in functions if node.name == "add_question")
    questions = dict(_questions(function.body, {}, path))
    lines = ["# Made by fetch_bench from upstream/utils.py, whose words these are (MIT)."]
    lines.append('name = "unieval"')
    for task in dict.fromkeys(task for task, _ in questions):
        lines += ["", f"[tasks.{task}]"]
        for (of, name), text in questions.items():
            if of == task:
                sentences = _BY_SENTENCE.get((task, name))
                text = text.replace("{answer}", "{sentence}") if sentences else text
                quoted = toml_text(text)
                with_sum = f'{{ ask = {quoted}, sentences = "sum" }}'
                lines.append(f"{name} = {with_sum if sentences == 'sum' else quoted}")
    return {"unieval.toml": "\n".join([*lines, ""])}


def literals(path: pathlib.Path) -> dict[str, Any]:
    """Return what a Python file assigns to names at its top level, where it is a literal.

    `"...".strip()` counts as one. Nothing is run; anything else is passed over.
    """
    found: dict[str, Any] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign([ast.Name(name)], ast.Call(ast.Attribute(value, "strip"), [])):
                stripped = True
            case ast.Assign([ast.Name(name)], value):
                stripped = False
            case _:
                continue
        try:
            literal = ast.literal_eval(value)
        except ValueError:
            continue
        found[name] = literal.strip() if stripped else literal
    return found


def _questions(
    body: Sequence[ast.stmt], known: Mapping[str, str], path: pathlib.Path
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield task, dimension and text of each question; `known` is what the ifs around it say."""
    for node in body:
        match node:
            case ast.For():
                yield from _questions(node.body, known, path)
            case ast.If(ast.Compare(ast.Name(name), [ast.Eq()], [ast.Constant(value)])):
                yield from _questions(node.body, {**known, name: str(value)}, path)
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
        case ast.Subscript(ast.Name(name)) if name in _UNIEVAL:
            yield f"{{{_UNIEVAL[name]}}}"
        case _:
            why = f"a question is built in an unknown way: {ast.unparse(node)[:60]}"
            raise DataError(why, path, node.lineno)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a prompt with another project's placeholders as ours; every other brace is text.

    >>> renamed('{"a": {output_1}}', {"output_1": "answer_a"})
    '{"a": {answer_a}}'
    """
    pieces, place = [], 0
    for match in re.finditer("|".join(rf"\{{{re.escape(name)}\}}" for name in names), text):
        # A literal that ends with a brace would begin a doubled one with the placeholder's.
        pieces += [braces(text[place : match.start()] + "{")[:-1], f"{{{names[match[0][1:-1]]}}}"]
        place = match.end()
    return "".join([*pieces, braces(text[place:])])


def braces(text: str) -> str:
    """Return a text as our templates write it: a brace before a name or a brace is doubled."""
    return re.sub(r"\{(?=[{A-Za-z])", "{{", text)


def template(kind: str, verdict: str, user: str, system: str, sides: Sequence[str] = ()) -> str:
    """Return the file of a template."""
    lines = [f'kind = "{kind}"', f'verdict = "{verdict}"']
    lines += [f"sides = {json.dumps(list(sides))}"] if sides else []
    lines += ["", f"system = {toml_text(system)}"] if system else []
    return "\n".join([*lines, "", f"user = {toml_text(user)}", ""])


def toml_text(text: str) -> str:
    """Return a text as TOML writes it, on as many lines as it has."""
    if "\n" not in text:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    inside = text.replace("\\", "\\\\").replace('"""', '""\\"')
    inside = f'{inside[:-1]}\\"' if inside.endswith('"') else inside
    return f'"""\n{inside}"""'


READERS: Mapping[str, Callable[[pathlib.Path, Mapping[str, str]], Texts]] = {
    "prometheus": prometheus,
    "husimpleqa": husimpleqa,
    "alpaca_eval": alpaca_eval,
    "unieval": unieval,
}
"""By name; each takes the folder and the texts of ours that go with the fetched files."""
