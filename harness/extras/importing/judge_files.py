"""Judges of other projects as judge sets: AlpacaEval's evaluators, ColossalAI's prompt files.

    weighted_alpaca_eval_gpt4_turbo:
      prompt_template: "alpaca_eval_clf_gpt4_turbo/alpaca_eval_clf.txt"
      completions_kwargs: {model_name: "...", max_tokens: 1, temperature: 1, top_logprobs: 5}
      fn_completion_parser: "logprob_parser"
      completion_parser_kwargs: {numerator_token: "m", denominator_tokens: ["m", "M"],
                                 is_binarize: false}

An evaluator judges each pair in one order, which depends on the instruction and the seed 0 as in
alpaca_eval. What differs: a prompt for a batch is sent for one pair, the rest of it filled with
upstream's padding; `is_binarize`, the likelier of two tokens, is what the judge writes at
temperature 0; the function of a function call is the JSON schema of the reply.

    battle:   [{"id": 1, "system_prompt": "...", "prompt": "...",
                "prompt_template": "{question} {answer_1} {answer_2} {prompt}"}]
    grading:  {"chat": {"id": 1, "category": "chat", "metrics": {"fidelity": "..."},
                        "CoT": {"fidelity": "..."},
                        "prompt": "{question} {answer} {metric} {steps}"}}

A battle file compares, here in both orders: two scores from 1 to 10 on one line. A grading file
makes a criterion of each metric and a template of each category; `general` is for categories that
the file does not name. It has no prompt with reference, so nothing is judged with one.
"""

import json
import pathlib
import re
import warnings
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from msgspec import structs

from harness import store
from harness.errors import DataError
from harness.extras.importing.items import folded, shown
from harness.judging.forms import Form
from harness.judging.sets import (
    DEFAULT,
    JudgeSet,
    JudgeTemplate,
    Settings,
    made,
    prompt_fault,
    shape,
)
from harness.judging.templates import Template
from harness.types import content_hash

T = TypeVar("T")
PAIR = {"instruction": "question", "output_1": "answer_a", "output_2": "answer_b"}
_PADDING = {"instruction": "1+1=", "output_1": "2", "output_2": "3"}
"""Source: alpaca_eval 0.6.6, `processors.py`."""
_SAMPLING = {
    "temperature": "temperature",
    "top_p": "top_p",
    "max_tokens": "max_tokens",
    "max_tokens_to_sample": "max_tokens",
    "max_new_tokens": "max_tokens",
}
_MESSAGES = re.compile(
    r"<\|im_start\|>(system|user)\n(.*?)\n?<\|im_end\|>"
    r"|<\|start_header_id\|>(system|user)<\|end_header_id\|>\n\n(.*?)<\|eot_id\|>",
    re.DOTALL,
)
_SPEAKERS = re.compile(
    r"\A(?:(.*?)\s*(?:### )?Human: |<\|prompter\|>)(.*?)"
    r"(?:\s*(?:### )?Assistant:|<\|endoftext\|><\|assistant\|>)\s*\Z",
    re.DOTALL,
)


def alpaca_eval(path: pathlib.Path) -> JudgeSet:
    """Return the judge set that an evaluator configuration (.yaml) makes.

    Raises:
        DataError: the file or its prompt is not valid, or uses what is not known here.
    """
    name, config = _evaluator(path)
    kwargs = _table(config, "completions_kwargs", path)
    parser = _parser(config, kwargs, path)
    text, prompt_path = _prompt(config, path)
    size = config.get("batch_size", 1)
    for slot, padding in _PADDING.items():
        first, *others = text.split(f"{{{slot}}}")
        if len(others) != size:
            raise DataError(f"has not as many {{{slot}}} as batch_size, {size}", prompt_path)
        text = f"{first}{{{slot}}}{padding.join(others)}"
    system, user = chat_messages(text)
    template = JudgeTemplate(
        name=prompt_path.stem,
        form=parser.form,
        user=Template.parse_named(user, PAIR),
        system=Template.parse_named(system, PAIR) if system else None,
        top_logprobs=min(kwargs.get("top_logprobs", 5), 20),
    )
    if fault := prompt_fault(template):
        raise DataError(fault, prompt_path)
    sampling = {ours: kwargs[key] for key, ours in _SAMPLING.items() if kwargs.get(key) is not None}
    settings = {
        "name": name,
        "fence": False,
        "order": "as_given" if config.get("is_randomize_output_order") is False else "random",
        "sampling": sampling | ({"temperature": 0.0} if parser.greedy else {}),
        "version": content_hash(shape(template), sampling)[:8],
    }
    if isinstance(kwargs.get("model_name"), str):
        settings["judge"] = kwargs["model_name"]
    return made(path, store.convert(settings, Settings, path), [template])


def _evaluator(path: pathlib.Path) -> tuple[str, Mapping[str, Any]]:
    """Return the name and settings of the one evaluator in a file."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"is not valid YAML: {error}", path) from None
    if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
        raise DataError("must hold an evaluator: its name, and under it its settings", path)
    if len(content) != 1:
        names = ", ".join(map(str, content))
        raise DataError(f"holds {len(content)} evaluators ({names}); give a file with one", path)
    ((name, config),) = content.items()
    return str(name), config


class _Parser(NamedTuple):
    """How an evaluator's replies are read."""

    form: Form
    greedy: bool = False
    """Whether the judge must write its likeliest token."""


def _parser(config: Mapping[str, Any], kwargs: Mapping[str, Any], path: pathlib.Path) -> _Parser:
    parser = config.get("fn_completion_parser", "regex_parser")
    own = _table(config, "completion_parser_kwargs", path)
    schema = _schema(kwargs)
    if parser == "pipeline_meta_parser":
        steps = own.get("parsers_to_kwargs")
        if isinstance(steps, dict) and list(steps) == ["json_parser", "ranking_parser"]:
            parser, own = "ranking_parser", steps["ranking_parser"] or {}
    if parser == "ranking_parser":
        first = str(own.get("model_1_name", "model_1"))
        sides = (first, "M" if first == "m" else "model_2")
        return _Parser(Form(format="ranking", kind="compare", sides=sides, schema=schema))
    if parser == "lmsys_parser":
        return _Parser(Form(format="two_scores", kind="compare", schema=schema))
    if parser == "regex_parser":
        table = _table(own, "outputs_to_match", path)
        patterns = {str(key): str(pattern) for key, pattern in table.items()}
        if set(patterns) != {"1", "2"}:
            raise DataError("regex_parser: outputs_to_match must have the keys 1 and 2", path)
        for pattern in patterns.values():
            try:
                with warnings.catch_warnings():  # `[[A]]`, which is a set of letters
                    warnings.simplefilter("ignore", FutureWarning)
                    re.compile(pattern)
            except re.error as error:
                raise DataError(f"{pattern!r} is not a regular expression: {error}", path) from None
        both = (patterns["1"], patterns["2"])
        return _Parser(Form(format="patterns", kind="compare", patterns=both, schema=schema))
    if parser == "logprob_parser":
        token, tokens = own.get("numerator_token"), own.get("denominator_tokens")
        others = [other for other in tokens if other != token] if isinstance(tokens, list) else []
        if not isinstance(token, str) or len(others) != 1:
            raise DataError("logprob_parser needs a numerator_token and two tokens in all", path)
        greedy = own.get("is_binarize", True) is not False
        form = Form(
            format="preference",
            kind="compare",
            by_logprobs=not greedy,
            sides=(token, str(others[0])),
        )
        return _Parser(form, greedy)
    known = "regex_parser, ranking_parser, lmsys_parser, logprob_parser, pipeline_meta_parser"
    raise DataError(f"fn_completion_parser {shown(parser)} is not one of {known}", path)


def _schema(kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the arguments of the function that the judge is made to call, all of them required."""
    tools = kwargs.get("tools")
    if not isinstance(tools, list) or not tools:
        return None
    parameters: dict[str, Any] = tools[0]["function"]["parameters"]
    return {**parameters, "required": list(parameters["properties"])}


def _prompt(config: Mapping[str, Any], path: pathlib.Path) -> tuple[str, pathlib.Path]:
    """Return the prompt and its file, in the folder above the evaluator's or beside it."""
    name = config.get("prompt_template")
    if not isinstance(name, str) or not name:
        raise DataError("the key 'prompt_template', a path, is missing", path)
    beside = path.parent / pathlib.PurePath(name).name
    for place in (path.parent.parent / name, path.parent / name, beside):
        if place.is_file():
            return place.read_text(encoding="utf-8"), place
    raise DataError(f"prompt_template {name!r} is not there; put it beside this file", path)


def chat_messages(text: str) -> tuple[str, str]:
    """Return the system and the user message of a prompt written with a model's own marks.

    >>> chat_messages("Human: Which is best? Assistant:")
    ('', 'Which is best?')
    """
    messages = {found[1] or found[3]: found[2] or found[4] for found in _MESSAGES.finditer(text)}
    if "user" in messages:
        return messages.get("system", ""), messages["user"]
    speakers = _SPEAKERS.match(text)
    return ((speakers[1] or "").strip(), speakers[2]) if speakers else ("", text.strip())


def _table(config: Mapping[str, Any], key: str, path: pathlib.Path) -> Mapping[str, Any]:
    value = config.get(key) or {}
    if not isinstance(value, dict):
        raise DataError(f"{key} must be a table, this is {shown(value)}", path)
    return value


# ColossalAI

_BATTLE = {"question": "question", "answer_1": "answer_a", "answer_2": "answer_b"}
_GRADING = {"question": "question", "answer": "answer", "metric": "criterion", "steps": "steps"}
_GENERAL = "general"


def colossalai(path: pathlib.Path) -> JudgeSet:
    """Return the judge set that a battle or grading file (.json) makes, named after the file.

    Raises:
        DataError: it is neither.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise DataError(f"is not valid JSON: {error}", path) from None
    if isinstance(content, dict) and not {"prompt_template", "metrics"} & content.keys():
        content = [
            {"category": name, **entry} if isinstance(entry, dict) else entry
            for name, entry in content.items()
        ]
    entries = content if isinstance(content, list) else [content]
    for field, make in (("prompt_template", _battle), ("metrics", _grading)):
        if entries and all(isinstance(entry, dict) and field in entry for entry in entries):
            settings, templates = make(entries, path)
            for template in templates:
                if fault := prompt_fault(template):
                    raise DataError(f"{template.name}: {fault}", path)
            version = content_hash([shape(template) for template in templates], settings)[:8]
            settings |= {"name": path.stem, "fence": False, "version": version}
            return made(path, store.convert(settings, Settings, path), templates)
    raise DataError(
        "holds no judge prompts: a battle has system_prompt, prompt_template and prompt, "
        "grading by category metrics, CoT and prompt",
        path,
    )


def _battle(
    entries: list[dict[str, Any]], path: pathlib.Path
) -> tuple[dict[str, Any], list[JudgeTemplate]]:
    if len(entries) > 1:
        raise DataError(f"holds {len(entries)} prompts; a battle has one", path)
    fields = ("system_prompt", "prompt_template", "prompt")
    system, text, prompt = (_need(entries[0], field, str, path) for field in fields)
    user = Template.parse_named(text, _BATTLE | {"prompt": "prompt"}).bound({"prompt": prompt})
    template = JudgeTemplate(
        name="battle",
        form=Form(format="two_scores", kind="compare"),
        user=user,
        system=Template(((system, None),)) if system else None,
    )
    settings = {"scale": [1, 10], "sampling": {"temperature": 0.2, "max_tokens": 2048}}
    return settings, [template]


def _grading(
    entries: list[dict[str, Any]], path: pathlib.Path
) -> tuple[dict[str, Any], list[JudgeTemplate]]:
    templates: list[JudgeTemplate] = []
    categories: dict[str, list[str]] = {DEFAULT: []}
    criteria: dict[str, dict[str, Any]] = {}
    for entry in entries:
        category = _need(entry, "category", str, path)
        metrics, steps = (_texts(entry, field, path) for field in ("metrics", "CoT"))
        template = JudgeTemplate(
            name=category,
            form=Form(format="grade", kind="grade"),
            user=Template.parse_named(_need(entry, "prompt", str, path), _GRADING),
        )
        if category != _GENERAL:
            template = structs.replace(template, questions={"category": (category,)})
        templates.append(template)
        categories[category] = list(metrics)
        if category == _GENERAL:
            categories[DEFAULT] = list(metrics)
        for name, definition in metrics.items():
            words = {"definition": definition, "steps": steps.get(name, "")}
            criterion = criteria.setdefault(name, {"by_category": {}, **words})
            criterion["by_category"][category] = words
            if category == _GENERAL:
                criterion.update(words)
    settings = {
        "scale": [1, 5],
        "sampling": {"temperature": 0.0, "max_tokens": 64},
        "criteria": criteria,
        "categories": categories,
    }
    return settings, templates


def _need(entry: Mapping[str, Any], field: str, kind: type[T], path: pathlib.Path) -> T:
    value = entry.get(field)
    if not isinstance(value, kind):
        wanted = "a text" if kind is str else "a table"
        where = entry.get("category", "the entry")
        raise DataError(f"{where}: {field} must be {wanted}, this is {shown(value)}", path)
    return value


def _texts(entry: Mapping[str, Any], field: str, path: pathlib.Path) -> dict[str, str]:
    table: dict[str, Any] = _need(entry, field, dict, path)
    return {folded(name): _need(table, name, str, path) for name in table}
