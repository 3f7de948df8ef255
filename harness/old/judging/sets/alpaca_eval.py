"""AlpacaEval's annotator files (`configs.yaml` and the prompt that it names) as judge sets, unchanged.

    weighted_alpaca_eval_gpt4_turbo:
      prompt_template: "alpaca_eval_clf_gpt4_turbo/alpaca_eval_clf.txt"
      completions_kwargs: {model_name: "...", max_tokens: 1, temperature: 1, logprobs: true, top_logprobs: 5}
      fn_completion_parser: "logprob_parser"
      completion_parser_kwargs: {numerator_token: "m", denominator_tokens: ["m", "M"], is_binarize: false}

`--judge-model` names the judge; the judge in the file is the one of the published numbers. Each pair is judged
in one order, which depends on the instruction and the seed 0 exactly as in alpaca_eval. An unknown setting that would
change a verdict is an error.
"""

import os
import pathlib
import re
from collections.abc import Mapping
from typing import Any

from harness.old.errors import DataError
from harness.old.judging.forms import VerdictForm
from harness.old.judging.sets.judge_set import JudgeTemplate
from harness.old.judging.sets.placeholders import fault_of
from harness.old.judging.sets.settings import Source
from harness.old.judging.template import Template
from harness.old.records import content_hash
from harness.old.written import read_text, read_yaml, shown

_NAMES = {"instruction": "question", "output_1": "answer_a", "output_2": "answer_b"}
_MESSAGE = re.compile(r"<\|im_start\|>(\w+)\n(.*?)\n?<\|im_end\|>", re.S)
_SAMPLING = ("temperature", "max_tokens", "top_p")
_TOP_LOGPROBS = 5


def source_from_alpaca_eval(path: pathlib.Path) -> Source:
    """Return the judge set that an annotator file makes, named as in it.

    Raises:
        DataError: the file or its prompt is invalid, or uses a feature that is not known here.
    """
    name, config = _config(path)
    form, top = _form(config, path)
    text, prompt_path = _prompt(config, path)
    system, user = _messages(text, prompt_path)
    template = JudgeTemplate(
        prompt_path.stem,
        form,
        "every",
        Template.parse_named(user, _NAMES),
        Template.parse_named(system, _NAMES) if system else None,
        top_logprobs=top,
    )
    fault = fault_of(template)
    if fault:
        raise DataError(fault, path=prompt_path)
    if config.get("batch_size", 1) != 1:
        raise DataError(f"{name}: batch_size must be 1, this is {shown(config['batch_size'])}", path=path)
    given = _table(config, "completions_kwargs", path)
    random = config.get("is_randomize_output_order", True) is not False
    settings: dict[str, Any] = {
        "fence": False,
        "order": "random" if random else "as_given",
        "order_seed": 0,
        "sampling": {key: given[key] for key in _SAMPLING if given.get(key) is not None},
    }
    version = content_hash(text, settings, form.format, form.sides, form.patterns)[:8]
    if isinstance(given.get("model_name"), str):
        settings["judge"] = given["model_name"]
    return Source(name, path, settings, {template.name: template}, version)


def _config(path: pathlib.Path) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the annotator in a file and its settings."""
    content = read_yaml(path)
    if not isinstance(content, dict) or len(content) != 1:
        raise DataError("must hold one annotator: its name, and under it prompt_template and the rest", path=path)
    ((name, config),) = content.items()
    if not isinstance(config, dict):
        raise DataError(f"{name} must be a table", path=path)
    return str(name), config


def _form(config: Mapping[str, Any], path: pathlib.Path) -> tuple[VerdictForm, int]:
    """Return the verdict that an annotator gives, and how many likely tokens to ask for."""
    parser = config.get("fn_completion_parser")
    more = _table(config, "completion_parser_kwargs", path)
    top = _table(config, "completions_kwargs", path).get("top_logprobs", _TOP_LOGPROBS)
    if parser == "logprob_parser":
        first, tokens = more.get("numerator_token"), more.get("denominator_tokens", [])
        others = [token for token in tokens if token != first] if isinstance(tokens, list) else []
        if not isinstance(first, str) or len(others) != 1 or more.get("is_binarize"):
            raise DataError("logprob_parser needs a numerator_token, two denominator_tokens, no is_binarize", path=path)
        form = VerdictForm("preference", "compare", score_method="logprobs", sides=(first, str(others[0])))
        return form, top if isinstance(top, int) and 1 <= top <= 20 else _TOP_LOGPROBS
    if parser == "pipeline_meta_parser":
        steps = more.get("parsers_to_kwargs")
        if isinstance(steps, dict) and "ranking_parser" in steps and set(steps) <= {"json_parser", "ranking_parser"}:
            parser, more = "ranking_parser", steps["ranking_parser"] or {}
    if parser == "ranking_parser":
        first = str(more.get("model_1_name", "model_1"))
        return VerdictForm("ranking", "compare", sides=(first, {"m": "M"}.get(first, "model_2"))), top
    if parser == "lmsys_parser":
        return VerdictForm("two_scores", "compare"), top
    if parser == "regex_parser":
        patterns = more.get("outputs_to_match")
        if not isinstance(patterns, dict) or {str(key) for key in patterns} != {"1", "2"}:
            raise DataError("regex_parser needs outputs_to_match with a pattern for 1 and one for 2", path=path)
        one, other = (str(patterns[key]) for key in sorted(patterns, key=str))
        for pattern in (one, other):
            try:
                re.compile(pattern)
            except re.error as error:
                raise DataError(
                    f"outputs_to_match: {pattern!r} is not a regular expression: {error}", path=path
                ) from None
        return VerdictForm("patterns", "compare", patterns=(one, other)), top
    known = "logprob_parser, ranking_parser, lmsys_parser, regex_parser, pipeline_meta_parser of JSON and ranking"
    raise DataError(f"fn_completion_parser {shown(parser)} is not known here; known: {known}", path=path)


def _prompt(config: Mapping[str, Any], path: pathlib.Path) -> tuple[str, pathlib.Path]:
    """Return the prompt and its file: in the annotator's folder, in the one above, or there under its own name."""
    named = config.get("prompt_template")
    if not isinstance(named, str) or not named:
        raise DataError("the key 'prompt_template', a path, is missing", path=path)
    relative = pathlib.PurePath(named)
    for place in (path.parent.parent / relative, path.parent / relative, path.parent / relative.name):
        if os.path.isfile(place):
            return read_text(place), place
    raise DataError(f"prompt_template {named!r} does not exist; put it in {path.parent} or the folder above", path=path)


def _messages(text: str, path: pathlib.Path) -> tuple[str, str]:
    """Return the system message, which may be empty, and the user's."""
    found = _MESSAGE.findall(text)
    if not found:
        return "", text.strip()
    roles = [role for role, _ in found]
    if roles not in (["user"], ["system", "user"]):
        raise DataError(f"must hold a user message, with or without a system message before, not {roles}", path=path)
    return ("", *(said for _, said in found))[-2:][0], found[-1][1]


def _table(config: Mapping[str, Any], key: str, path: pathlib.Path) -> Mapping[str, Any]:
    value = config.get(key) or {}
    if not isinstance(value, dict):
        raise DataError(f"{key} must be a table, this is {shown(value)}", path=path)
    return value
