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
from typing import Any, NamedTuple

from msgspec import Struct, structs

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


class _Evaluator(Struct, frozen=True, kw_only=True):
    """The settings of an evaluator that are of use here."""

    prompt_template: str
    completions_kwargs: dict[str, Any] | None = None
    fn_completion_parser: str | None = "regex_parser"
    completion_parser_kwargs: dict[str, Any] | None = None
    batch_size: int = 1
    is_randomize_output_order: bool = True


def alpaca_eval(path: pathlib.Path) -> JudgeSet:
    """Return the judge set that an evaluator configuration (.yaml) makes.

    Raises:
        DataError: the file or its prompt is not valid, or uses what is not known here.
    """
    name, config = _evaluator(path)
    kwargs = config.completions_kwargs or {}
    try:
        form, greedy = _form(config, path)
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(f"is no evaluator that can be read: {error!r}", path) from None
    text, prompt_path = _prompt(config.prompt_template, path)
    for slot, padding in _PADDING.items():
        first, *others = text.split(f"{{{slot}}}")
        if len(others) != config.batch_size:
            wanted = f"batch_size, {config.batch_size}"
            raise DataError(f"has not as many {{{slot}}} as {wanted}", prompt_path)
        text = f"{first}{{{slot}}}{padding.join(others)}"
    system, user = chat_messages(text)
    template = JudgeTemplate(
        name=prompt_path.stem,
        form=form,
        user=Template.parse_named(user, PAIR),
        system=Template.parse_named(system, PAIR) if system else None,
        top_logprobs=min(kwargs.get("top_logprobs", 5), 20),
    )
    sampling = {ours: kwargs[key] for key, ours in _SAMPLING.items() if kwargs.get(key) is not None}
    settings = {
        "name": name,
        "order": "random" if config.is_randomize_output_order else "as_given",
        "sampling": sampling | ({"temperature": 0.0} if greedy else {}),
        "version": content_hash(shape(template), sampling)[:8],
    }
    return _made(path, settings, [template])


def _evaluator(path: pathlib.Path) -> tuple[str, _Evaluator]:
    """Return the name and settings of the one evaluator in a file."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise DataError(f"is not valid YAML: {error}", path) from None
    evaluators = store.convert(content, dict[str, dict[str, Any]], path)
    if len(evaluators) != 1:
        names = ", ".join(evaluators)
        raise DataError(f"holds {len(evaluators)} evaluators ({names}); give a file with one", path)
    ((name, config),) = evaluators.items()
    return name, store.convert(config, _Evaluator, path)


class _Reading(NamedTuple):
    """How an evaluator's replies are read."""

    form: Form
    greedy: bool = False
    """Whether the judge must write its likeliest token."""


def _form(config: _Evaluator, path: pathlib.Path) -> _Reading:
    parser, own = config.fn_completion_parser, config.completion_parser_kwargs or {}
    schema = _schema((config.completions_kwargs or {}).get("tools"))
    if parser == "pipeline_meta_parser":
        steps = own.get("parsers_to_kwargs")
        if isinstance(steps, dict) and list(steps) == ["json_parser", "ranking_parser"]:
            parser, own = "ranking_parser", steps["ranking_parser"] or {}
    match parser:
        case "ranking_parser":
            first = str(own.get("model_1_name", "model_1"))
            sides = (first, "M" if first == "m" else "model_2")
            return _Reading(Form(format="ranking", kind="compare", sides=sides, schema=schema))
        case "lmsys_parser":
            return _Reading(Form(format="two_scores", kind="compare", schema=schema))
        case "regex_parser":
            table = own.get("outputs_to_match") or {}
            patterns = {str(key): str(pattern) for key, pattern in table.items()}
            if set(patterns) != {"1", "2"}:
                raise DataError("regex_parser: outputs_to_match must have the keys 1 and 2", path)
            both = (patterns["1"], patterns["2"])
            for pattern in both:
                _check_pattern(pattern, path)
            form = Form(format="patterns", kind="compare", patterns=both, schema=schema)
            return _Reading(form)
        case "logprob_parser":
            token, tokens = own.get("numerator_token"), own.get("denominator_tokens") or ()
            others = [other for other in tokens if other != token]
            if token is None or len(others) != 1:
                raise DataError("logprob_parser needs a numerator_token and two tokens", path)
            greedy = own.get("is_binarize", True) is not False
            sides = (token, others[0])
            form = Form(format="preference", kind="compare", by_logprobs=not greedy, sides=sides)
            return _Reading(form, greedy)
    known = "regex_parser, ranking_parser, lmsys_parser, logprob_parser, pipeline_meta_parser"
    raise DataError(f"fn_completion_parser {shown(parser)} is not one of {known}", path)


def _check_pattern(pattern: str, path: pathlib.Path) -> None:
    with warnings.catch_warnings():  # of `[[A]]`, a set of letters in their files too
        warnings.simplefilter("ignore", FutureWarning)
        try:
            re.compile(pattern)
        except re.error as error:
            raise DataError(f"{pattern!r} is not a regular expression: {error}", path) from None


def _schema(tools: Any) -> dict[str, Any] | None:
    """Return the arguments of the function that the judge is made to call, all of them required."""
    if not tools:
        return None
    parameters: dict[str, Any] = tools[0]["function"]["parameters"]
    return {**parameters, "required": list(parameters["properties"])}


def _prompt(name: str, path: pathlib.Path) -> tuple[str, pathlib.Path]:
    """Return the prompt and its file, in the folder above the evaluator's or beside it."""
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


def _made(path: pathlib.Path, settings: dict[str, Any], templates: list[JudgeTemplate]) -> JudgeSet:
    """Return the judge set of these settings; a published prompt has no fence."""
    for template in templates:
        if fault := prompt_fault(template):
            raise DataError(f"{template.name}: {fault}", path)
    return made(path, store.convert({"fence": False, **settings}, Settings, path), templates)


# ColossalAI

_BATTLE = {"question": "question", "answer_1": "answer_a", "answer_2": "answer_b"}
_GRADING = {"question": "question", "answer": "answer", "metric": "criterion", "steps": "steps"}
_GENERAL = "general"


class _Battle(Struct, frozen=True):
    system_prompt: str
    prompt_template: str
    prompt: str


class _Grading(Struct, frozen=True):
    metrics: dict[str, str]
    CoT: dict[str, str]
    prompt: str


def colossalai(path: pathlib.Path) -> JudgeSet:
    """Return the judge set that a battle or grading file (.json) makes, named after the file.

    Raises:
        DataError: it is neither.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise DataError(f"is not valid JSON: {error}", path) from None
    if isinstance(content, list):
        battles = store.convert(content, list[_Battle], path)
        if len(battles) != 1:
            raise DataError(f"holds {len(battles)} prompts; a battle has one", path)
        settings, templates = _battle(battles[0])
    else:
        settings, templates = _grading(store.convert(content, dict[str, _Grading], path))
    version = content_hash([shape(template) for template in templates], settings)[:8]
    return _made(path, {"name": path.stem, "version": version, **settings}, templates)


def _battle(battle: _Battle) -> tuple[dict[str, Any], list[JudgeTemplate]]:
    names = _BATTLE | {"prompt": "prompt"}
    template = JudgeTemplate(
        name="battle",
        form=Form(format="two_scores", kind="compare"),
        user=Template.parse_named(battle.prompt_template, names).bound({"prompt": battle.prompt}),
        system=Template(((battle.system_prompt, None),)) if battle.system_prompt else None,
    )
    settings = {"scale": [1, 10], "sampling": {"temperature": 0.2, "max_tokens": 2048}}
    return settings, [template]


def _grading(entries: Mapping[str, _Grading]) -> tuple[dict[str, Any], list[JudgeTemplate]]:
    templates: list[JudgeTemplate] = []
    categories: dict[str, list[str]] = {DEFAULT: []}
    criteria: dict[str, dict[str, Any]] = {}
    for category, entry in entries.items():
        template = JudgeTemplate(
            name=category,
            form=Form(format="grade", kind="grade"),
            user=Template.parse_named(entry.prompt, _GRADING),
        )
        if category != _GENERAL:
            template = structs.replace(template, questions={"category": category})
        templates.append(template)
        categories[category] = [folded(name) for name in entry.metrics]
        if category == _GENERAL:
            categories[DEFAULT] = categories[category]
        for name, definition in entry.metrics.items():
            words = {"definition": definition, "steps": entry.CoT.get(name, "")}
            criterion = criteria.setdefault(folded(name), {"by_category": {}, **words})
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
