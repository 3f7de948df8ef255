"""AlpacaEval's evaluators and ColossalAI's prompt files are judge sets as they stand."""

import json
import pathlib
from typing import Any

import pytest
import yaml

from harness.errors import DataError
from harness.judging import sets
from harness.judging.sets import JudgeSet

CHAT = (
    "<|im_start|>system\nJudge.\n<|im_end|>\n<|im_start|>user\n"
    '{instruction} {"a": {output_1}} {output_2}\n<|im_end|>'
)


def evaluator(
    folder: pathlib.Path, prompt: str = CHAT, kwargs: dict[str, Any] | None = None, **config: Any
) -> JudgeSet:
    """Load an evaluator of this prompt and configuration, laid out as upstream does."""
    home = folder / "my_judge"
    home.mkdir(exist_ok=True)
    (home / "prompt.txt").write_text(prompt, encoding="utf-8")
    config = {"prompt_template": "my_judge/prompt.txt", "completions_kwargs": kwargs or {}} | config
    (home / "configs.yaml").write_text(yaml.safe_dump({"my_judge": config}, sort_keys=False))
    return sets.load(str(home))


REGEX: dict[str, Any] = {
    "completion_parser_kwargs": {"outputs_to_match": {1: r"\n? ?Output \(a\)", 2: "b"}}
}


def test_an_evaluator_without_a_parser_has_upstreams_regex_parser(tmp_path: pathlib.Path) -> None:
    judge_set = evaluator(tmp_path, kwargs={"model_name": "gpt-4", "max_tokens": 50}, **REGEX)
    (template,) = judge_set.templates.values()
    assert (template.form.format, template.form.patterns[1]) == ("patterns", "b")
    assert (judge_set.name, judge_set.judge, judge_set.order, judge_set.fence) == (
        "my_judge",
        "gpt-4",
        "random",
        False,
    )
    assert judge_set.sampling.stated() == {"max_tokens": 50}
    assert template.system is not None
    filled = template.user.fill({"question": "{answer_b}", "answer_a": "x", "answer_b": "y"})
    assert (template.system.fill({}), filled) == ("Judge.", '{answer_b} {"a": x} y')


PIPELINE = {"json_parser": {}, "ranking_parser": {"model_1_name": "m"}}


@pytest.mark.parametrize(
    ("parser", "kwargs", "form", "sides"),
    [
        pytest.param("lmsys_parser", {}, "two_scores", ("A", "B"), id="lmsys"),
        pytest.param("ranking_parser", {}, "ranking", ("model_1", "model_2"), id="ranking"),
        pytest.param(
            "pipeline_meta_parser",
            {"parsers_to_kwargs": PIPELINE},
            "ranking",
            ("m", "M"),
            id="pipeline",
        ),
    ],
)
def test_each_parser_is_a_form(
    tmp_path: pathlib.Path, parser: str, kwargs: dict[str, Any], form: str, sides: tuple[str, str]
) -> None:
    config: dict[str, Any] = {"fn_completion_parser": parser, "completion_parser_kwargs": kwargs}
    (template,) = evaluator(tmp_path, **config).templates.values()
    assert (template.form.format, template.form.sides) == (form, sides)


@pytest.mark.parametrize("binarize", [True, False])
def test_the_likelier_of_two_tokens_is_what_a_judge_writes_at_temperature_0(
    tmp_path: pathlib.Path, binarize: bool
) -> None:
    tokens = {"numerator_token": "m", "denominator_tokens": ["m", "M"], "is_binarize": binarize}
    judge_set = evaluator(
        tmp_path,
        kwargs={"temperature": 1, "max_tokens": 1},
        fn_completion_parser="logprob_parser",
        completion_parser_kwargs=tokens,
    )
    (template,) = judge_set.templates.values()
    assert (template.form.format, template.form.sides) == ("preference", ("m", "M"))
    assert template.form.by_logprobs is not binarize
    assert judge_set.sampling.temperature == (0.0 if binarize else 1.0)


def test_a_function_to_call_is_the_schema_of_the_reply(tmp_path: pathlib.Path) -> None:
    parameters = {
        "type": "object",
        "properties": {"why": {"type": "string"}, "best": {"type": "string"}},
        "required": ["best"],
    }
    tools = [{"type": "function", "function": {"name": "f", "parameters": parameters}}]
    (template,) = evaluator(tmp_path, kwargs={"tools": tools}, **REGEX).templates.values()
    assert template.form.schema == parameters | {"required": ["why", "best"]}


def test_a_prompt_for_a_batch_is_sent_for_one_pair(tmp_path: pathlib.Path) -> None:
    block = "{instruction} | {output_1} | {output_2}\n"
    (template,) = evaluator(tmp_path, block * 3, batch_size=3, **REGEX).templates.values()
    values = {"question": "q", "answer_a": "a", "answer_b": "b"}
    assert template.user.fill(values) == "q | a | b\n1+1= | 2 | 3\n1+1= | 2 | 3"


@pytest.mark.parametrize(
    "marks",
    [
        pytest.param("<|im_start|>user\n{}\n<|im_end|>", id="chatml"),
        pytest.param("\n\nHuman: {}\n\nAssistant:", id="claude"),
        pytest.param("### Human: {}\n### Assistant:", id="guanaco"),
        pytest.param("<|prompter|>{}<|endoftext|><|assistant|>", id="oasst"),
        pytest.param(
            "<|start_header_id|>user<|end_header_id|>\n\n{}<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
            id="llama",
        ),
    ],
)
def test_a_models_own_marks_are_no_part_of_the_prompt(tmp_path: pathlib.Path, marks: str) -> None:
    prompt = marks.replace("{}", "{instruction} {output_1} {output_2}?")
    (template,) = evaluator(tmp_path, prompt, **REGEX).templates.values()
    values = {"question": "q", "answer_a": "a", "answer_b": "b"}
    assert (template.user.fill(values), template.system) == ("q a b?", None)


@pytest.mark.parametrize(
    ("prompt", "config", "fault"),
    [
        pytest.param("{instruction} {output_1}", REGEX, "has not as many {output_2}", id="slot"),
        pytest.param(CHAT, {}, "can be read: 'outputs_to_match'", id="keys"),
        pytest.param(CHAT, {"fn_completion_parser": "eval_parser"}, "is not known", id="parser"),
        pytest.param(CHAT, REGEX | {"prompt_template": "no.txt"}, "no.txt is not there", id="file"),
        pytest.param(
            CHAT,
            {"completion_parser_kwargs": {"outputs_to_match": {1: "a", 2: "b", 3: "c"}}},
            "must have the keys 1 and 2",
            id="patterns",
        ),
    ],
)
def test_what_cannot_be_used_says_why(
    tmp_path: pathlib.Path, prompt: str, config: dict[str, Any], fault: str
) -> None:
    with pytest.raises(DataError, match=fault):
        evaluator(tmp_path, prompt, **config)


def test_a_pool_of_evaluators_is_refused(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "pool.yaml"
    path.write_text("one: {prompt_template: a}\ntwo: {prompt_template: b}\n")
    with pytest.raises(DataError, match=r"pool of 2 annotators .*give a file with one"):
        sets.load(str(path))


# ColossalAI


def test_a_grading_file_is_criteria_by_category(tmp_path: pathlib.Path) -> None:
    entry = {
        "metrics": {"Language organization": "fluent (1-5)", "fidelity": "keeps the role"},
        "CoT": {"Language organization": "1. Read.\nScore:", "fidelity": "1. Look."},
        "prompt": "{question} / {answer} / {metric} / {steps} {x}",
    }
    general = {**entry, "metrics": {"fidelity": "general"}, "CoT": {}}
    path = tmp_path / "grading.json"
    path.write_text(json.dumps({"chat": {"id": 1, **entry}, "general": {"id": 2, **general}}))
    judge_set = sets.load(str(path))
    assert (judge_set.name, judge_set.scale, judge_set.fence) == ("grading", (1, 5), False)
    assert judge_set.categories == {
        "default": ["fidelity"],
        "chat": ["language_organization", "fidelity"],
        "general": ["fidelity"],
    }
    assert judge_set.words("fidelity", "chat").definition == "keeps the role"
    assert judge_set.words("fidelity", "other").definition == "general"
    values = {"question": "q", "answer": "a", "criterion": "c", "steps": "s"}
    assert judge_set.templates["chat"].user.fill(values) == "q / a / c / s {x}"


def test_a_battle_file_is_two_scores_in_both_orders(tmp_path: pathlib.Path) -> None:
    entry = {
        "id": 1,
        "system_prompt": "Fair.",
        "prompt_template": "{question} {answer_1} {answer_2} {prompt}",
        "prompt": "Rate {both}.",
    }
    path = tmp_path / "battle.json"
    path.write_text(json.dumps(entry))
    judge_set = sets.load(str(path))
    (template,) = judge_set.templates.values()
    assert (judge_set.order, template.form.format) == ("both", "two_scores")
    values = {"question": "q", "answer_a": "a", "answer_b": "b"}
    assert template.user.fill(values) == "q a b Rate {both}."


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        pytest.param("{", "not valid JSON", id="json"),
        pytest.param('{"prompt_template": 5}', "expected a text", id="battle"),
    ],
)
def test_another_json_file_is_no_judge(tmp_path: pathlib.Path, content: str, fault: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(DataError, match=fault):
        sets.load(str(tmp_path / "x.json"))
