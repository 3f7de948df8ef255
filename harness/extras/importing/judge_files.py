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

    battle:   {"id": 1, "system_prompt": "...", "prompt": "...",
               "prompt_template": "{question} {answer_1} {answer_2} {prompt}"}
    grading:  {"chat": {"id": 1, "category": "chat", "metrics": {"fidelity": "..."},
                        "CoT": {"fidelity": "..."},
                        "prompt": "{question} {answer} {metric} {steps}"}}

A battle file compares, here in both orders: two scores from 1 to 10 on one line. A grading file
makes a criterion of each metric and a template of each category; `general` is for categories that
the file does not name. It has no prompt with reference, so nothing is judged with one.
"""

import glob
import json
import pathlib
import re
from typing import Any

from msgspec import Struct

from harness import store
from harness.errors import DataError
from harness.extras.importing.items import folded
from harness.judging import sets
from harness.judging.forms import Form
from harness.judging.sets import JudgeSet, JudgeTemplate
from harness.judging.templates import Template
from harness.types import content_hash

_PAIR = {"instruction": "question", "output_1": "answer_a", "output_2": "answer_b"}
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
    completions_kwargs: dict[str, Any] = {}
    fn_completion_parser: str = "regex_parser"
    completion_parser_kwargs: dict[str, Any] = {}
    batch_size: int = 1
    is_randomize_output_order: bool = True


def alpaca_eval(path: pathlib.Path) -> JudgeSet:
    """Return the judge set that an evaluator configuration (.yaml) makes.

    Raises:
        DataError: the file or its prompt is not valid, or uses what is not known here.
    """
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (ValueError, yaml.YAMLError) as error:  # a date that there is not is a ValueError
        raise DataError(f"is not valid YAML: {error}", path) from None
    evaluators = store.convert(content, dict[str, _Evaluator], path)
    if len(evaluators) != 1:
        models = ", ".join(dict.fromkeys(_model_of(one) for one in evaluators.values()))
        beside = path.parent.parent.glob(f"{glob.escape(path.parent.name)}?*/{path.name}")
        near = "".join(f", such as {other}" for other in sorted(beside)[:1])
        fault = f"is a pool of {len(evaluators)} annotators ({models}); give a file with one{near}"
        raise DataError(f"{fault}, or copy one of them into a file of its own", path)
    ((name, config),) = evaluators.items()
    try:
        form = _form(config)
    except (AttributeError, LookupError, TypeError, ValueError, re.error) as error:
        raise DataError(f"is no evaluator that can be read: {error}", path) from None
    kwargs = config.completions_kwargs
    sampling = {ours: kwargs[key] for key, ours in _SAMPLING.items() if kwargs.get(key) is not None}
    prompt = pathlib.PurePath(config.prompt_template)
    places = (path.parent.parent / prompt, path.parent / prompt.name)
    prompt_path = next((place for place in places if place.is_file()), None)
    if prompt_path is None:
        raise DataError(f"{prompt} is not there; put it beside this file", path)
    text = prompt_path.read_text(encoding="utf-8")
    for slot, padding in _PADDING.items():
        first, *others = text.split(f"{{{slot}}}")
        if len(others) != config.batch_size:
            count = f"batch_size, {config.batch_size}"
            raise DataError(f"has not as many {{{slot}}} as {count}", prompt_path)
        text = f"{first}{{{slot}}}{padding.join(others)}"
    system, user = chat_messages(text)
    template = JudgeTemplate(
        name=prompt_path.stem,
        form=form,
        user=Template.parse_named(user, _PAIR),
        system=Template.parse_named(system, _PAIR) if system else None,
        top_logprobs=min(kwargs.get("top_logprobs", 5), 20),
    )
    # The likelier of two tokens is what the judge writes at temperature 0.
    greedy = {"temperature": 0.0} if form.format == "preference" and not form.by_logprobs else {}
    settings = {
        "name": name,
        "fence": False,
        "order": "random" if config.is_randomize_output_order else "as_given",
        "sampling": sampling | greedy,
        "version": content_hash(sets.shape(template), sampling)[:8],
        "judge": kwargs.get("model_name"),
    }
    return sets.make_judge_set(path, store.convert(settings, sets.Settings, path), [template])


def _model_of(config: _Evaluator) -> str:
    return str(config.completions_kwargs.get("model_name", "unknown"))


def _form(config: _Evaluator) -> Form:
    """Return how an evaluator's replies are read."""
    parser, kwargs = config.fn_completion_parser, config.completion_parser_kwargs
    schema = None
    if "tools" in config.completions_kwargs:
        # The arguments of the function that the judge is made to call, all of them required.
        parameters = config.completions_kwargs["tools"][0]["function"]["parameters"]
        schema = {**parameters, "required": list(parameters["properties"])}
    steps = kwargs.get("parsers_to_kwargs", {})
    if parser == "pipeline_meta_parser" and list(steps) == ["json_parser", "ranking_parser"]:
        parser, kwargs = "ranking_parser", steps["ranking_parser"] or {}
    match parser:
        case "ranking_parser":
            first = str(kwargs.get("model_1_name", "model_1"))
            sides = (first, "M" if first == "m" else "model_2")
            return Form(format="ranking", kind="compare", sides=sides, schema=schema)
        case "lmsys_parser":
            return Form(format="two_scores", kind="compare", schema=schema)
        case "regex_parser":
            patterns = {str(key): str(value) for key, value in kwargs["outputs_to_match"].items()}
            if patterns.keys() != {"1", "2"}:
                raise ValueError("outputs_to_match must have the keys 1 and 2")
            both = (patterns["1"], patterns["2"])
            for pattern in both:
                re.compile(pattern)
            return Form(format="patterns", kind="compare", patterns=both, schema=schema)
        case "logprob_parser":
            token, tokens = kwargs["numerator_token"], kwargs["denominator_tokens"]
            (second,) = set(tokens) - {token}
            weighed = kwargs.get("is_binarize", True) is False
            sides = (token, second)
            return Form(format="preference", kind="compare", by_logprobs=weighed, sides=sides)
    raise ValueError(f"the parser {parser} is not known here")


def chat_messages(text: str) -> tuple[str, str]:
    """Return the system and the user message of a prompt written with a model's own marks.

    >>> chat_messages("Human: Which is best? Assistant:")
    ('', 'Which is best?')
    """
    messages = {match[1] or match[3]: match[2] or match[4] for match in _MESSAGES.finditer(text)}
    if "user" in messages:
        return messages.get("system", ""), messages["user"]
    speakers = _SPEAKERS.match(text)
    return ((speakers[1] or "").strip(), speakers[2]) if speakers else ("", text.strip())


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
    except ValueError as error:
        raise DataError(f"is not valid JSON: {error}", path) from None
    settings: dict[str, Any]
    if isinstance(content, dict) and "prompt_template" in content:
        settings, templates = _battle(store.convert(content, _Battle, path))
    else:
        settings, templates = _grading(store.convert(content, dict[str, _Grading], path))
    version = content_hash([sets.shape(template) for template in templates], settings)[:8]
    settings |= {"name": path.stem, "version": version, "fence": False}
    return sets.make_judge_set(path, store.convert(settings, sets.Settings, path), templates)


def _battle(battle: _Battle) -> tuple[dict[str, Any], list[JudgeTemplate]]:
    names = _BATTLE | {"prompt": "prompt"}
    template = JudgeTemplate(
        name="battle",
        form=Form(format="two_scores", kind="compare"),
        user=Template.parse_named(battle.prompt_template, names).bound({"prompt": battle.prompt}),
        system=Template(((battle.system_prompt, None),)) if battle.system_prompt else None,
    )
    sampling = {"temperature": 0.2, "max_tokens": 2048}
    return {"scale": [1, 10], "sampling": sampling}, [template]


def _grading(entries: dict[str, _Grading]) -> tuple[dict[str, Any], list[JudgeTemplate]]:
    templates: list[JudgeTemplate] = []
    categories: dict[str, list[str]] = {}
    criteria: dict[str, dict[str, Any]] = {}
    for category, entry in entries.items():
        general = category == _GENERAL
        template = JudgeTemplate(
            name=category,
            form=Form(format="grade", kind="grade"),
            user=Template.parse_named(entry.prompt, _GRADING),
            questions={} if general else {"category": (category,)},
        )
        templates.append(template)
        categories[category] = [folded(name) for name in entry.metrics]
        for name, definition in entry.metrics.items():
            words = {"definition": definition, "steps": entry.CoT.get(name, "")}
            criterion = criteria.setdefault(folded(name), {"by_category": {}, **words})
            criterion["by_category"][category] = words
            if general:
                criterion.update(words)
    settings = {
        "scale": [1, 5],
        "sampling": {"temperature": 0.0, "max_tokens": 64},
        "criteria": criteria,
        "categories": {**categories, sets.DEFAULT: categories.get(_GENERAL, [])},
    }
    return settings, templates
