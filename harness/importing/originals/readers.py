"""What was fetched, in another project's form → a judge set or a benchmark in ours, beside it in the same folder.

    prometheus      upstream/prompts.py                          → judge_set.toml and four templates
    alpaca_eval     upstream/*.txt, upstream/*_outputs.json      → two judge sets, question.jsonl, model_answer/
    unieval         upstream/utils.py                            → unieval.toml

A Python file is parsed, never run: only texts that stand in it as they are, are taken. What is made depends on nothing
but the pinned files, so making it again gives the same bytes; something else in its place stays, and is an error.
"""

import ast
import pathlib
import re
from collections.abc import Callable, Mapping

from harness.errors import DataError, StorageError
from harness.importing.originals.templates import renamed, template_toml, toml
from harness.importing.originals.unieval import questions_toml
from harness.jsonl import put_text

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
_CHAT = re.compile(r"<\|im_start\|>(system|user)\n(.*?)\n?<\|im_end\|>", re.S)


def make_ours(reader: str, folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    """Return the files that were made of what was fetched into a folder; none that were there before.

    Raises:
        DataError: what was fetched does not hold what it must.
        StorageError: something else is in the way, or the folder cannot be written.
    """
    return READERS[reader](folder)


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
        raise DataError(f"holds no text called {', '.join(absent)}", path=folder / "upstream" / "prompts.py")
    parts = [
        "# Made by fetch_bench from upstream/prompts.py, whose words these are (Apache-2.0).",
        'name = "prometheus_original"\nversion = "0.1.20"',
        'title = "Prometheus as published, for checkpoints that were tuned on its wording"',
        "# A published prompt, so answers stand in it without marks around them.\nfence = false",
        '# The prompts know no conversation.\nturns = "first"\nattempts = 10\nscale = [1, 5]',
        "[sampling]\ntemperature = 1.0\ntop_p = 0.9\nmax_tokens = 1024",
        '[references]\nif_any = ["*"]',
    ]
    for name, constant in rubrics.items():
        rubric = texts[constant]
        head = rubric.split("\n")[0]
        parts.append(f"[criteria.{name}]\ndefault = false\ndefinition = {toml(head)}\nrubric = {toml(rubric)}")
    made = {"judge_set.toml": "\n\n".join(parts) + "\n"}
    for name, (kind, verdict, system, user) in templates.items():
        # Of a rubric, a comparison is shown the first line alone.
        names = PROMETHEUS_NAMES | ({"rubric": "criterion"} if kind == "compare" else {})
        made[f"{name}.toml"] = template_toml(kind, verdict, renamed(texts[user], names), texts[system])
    return _put(folder, made)


def _alpaca_eval(folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    from harness.importing.run import import_data

    upstream = folder / "upstream"
    made = {}
    for name, verdict, sides, baseline, attempt in (
        ("alpaca_eval_gpt4", "ranking", ("model_1", "model_2"), "text_davinci_003", "alpaca_eval.txt"),
        ("alpaca_eval_clf_cot", "preference", ("m", "M"), "gpt4_1106_preview", "alpaca_eval_clf_cot.txt"),
    ):
        messages = dict(_CHAT.findall(_text(upstream / attempt)))
        if set(messages) != {"system", "user"}:
            raise DataError("holds no system and user message", path=upstream / attempt)
        made[f"{name}/judge_set.toml"] = "\n".join(
            [
                f"# Made by fetch_bench from upstream/{attempt}, whose words these are (Apache-2.0).",
                f'name = "{name}"\nversion = "cd543a14"\nfence = false\nturns = "first"',
                'order = "random"\norder_seed = 0',
                f'mode = "pairwise-baseline"\nbaseline = "{baseline}"\nboard = "win_rate"',
                *(['judge = "gpt-4"'] if name == "alpaca_eval_gpt4" else []),
                "\n[sampling]\ntemperature = 0.0",
                "",
            ]
        )
        user, system = (renamed(messages[role], _ALPACA_NAMES) for role in ("user", "system"))
        made[f"{name}/prompt.toml"] = template_toml("compare", verdict, user, system, sides=sides)
    # What the published file says, and what of the published board no annotator file says.
    made["weighted_alpaca_eval_gpt4_turbo/judge_set.toml"] = """\
# Made by fetch_bench. configs.yaml beside it is the published annotator.
name = "weighted_alpaca_eval_gpt4_turbo"
version = "cd543a14"
extends = "configs.yaml"
mode = "pairwise-baseline"
baseline = "gpt4_1106_preview"
board = "length_controlled_winrate"
# Probabilities of the bare tokens m and M, as published.
compatible = true
"""
    put = _put(folder, made)
    outputs = sorted(upstream.glob("*_outputs.json"), key=lambda path: "gpt4_1106" not in path.name)
    if (folder / "question.jsonl").exists():
        return put
    report = import_data("alpaca_eval", outputs, folder.name, data_dir=folder.parent)
    if report.bad:
        raise DataError(f"{len(report.bad)} records are bad; the first is {report.bad[0]}", path=folder)
    return (*put, *report.added)


def _unieval(folder: pathlib.Path) -> tuple[pathlib.Path, ...]:
    path = folder / "upstream" / "utils.py"
    return _put(folder, {"unieval.toml": questions_toml(parsed(path), path)})


READERS: Mapping[str, Callable[[pathlib.Path], tuple[pathlib.Path, ...]]] = {
    "prometheus": _prometheus,
    "alpaca_eval": _alpaca_eval,
    "unieval": _unieval,
}


def texts_in(path: pathlib.Path) -> dict[str, str]:
    """Return the texts that a Python file assigns to names at its top level, as they stand or stripped.

    Nothing in the file is run; whatever is not a plain text, or `"...".strip()`, is passed over.
    """
    found: dict[str, str] = {}
    for node in parsed(path).body:
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        text, stripped = node.value, False
        if isinstance(text, ast.Call) and not text.args and isinstance(text.func, ast.Attribute):
            stripped = text.func.attr == "strip"
            text = text.func.value if stripped else text
        if isinstance(text, ast.Constant) and isinstance(text.value, str):
            found[node.targets[0].id] = text.value.strip() if stripped else text.value
    return found


def parsed(path: pathlib.Path) -> ast.Module:
    """Return what a Python file says, without running it."""
    try:
        return ast.parse(_text(path))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"is no Python: {error}", path=path) from None


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
            raise StorageError(f"{path}: something else is there already, and stays; move it away")
    made = []
    for name, text in files.items():
        path = folder / name
        if path.exists():
            continue
        put_text(path, text)
        made.append(path)
    return tuple(made)
