"""ColossalAI's configuration: criteria and metrics by category, checked before anything runs."""

import json
import pathlib
from typing import Any

import pytest

from harness import registry
from harness.errors import DataError
from harness.judging import sets
from harness.types import Question

CONFIG = {
    "language": "cn",
    "path_for_UniEval": {"dialogue": "./weights"},
    "category": {
        "chat": {
            "GPT": ["relevance", "language organization"],
            "Metrics": ["Distinct", "F1 score", "Recall"],
            "UniEval": ["dialogue-naturalness"],
        },
        "brainstorming": {"GPT": ["creativity"]},
    },
}


def read(tmp_path: pathlib.Path, config: Any) -> Any:
    path = tmp_path / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return registry.find("judge_file", "colossalai_config")(path)


def question(category: str) -> Question:
    return Question(question_id=1, category=category, turns=["Q"])


def test_its_names_become_ours(tmp_path: pathlib.Path) -> None:
    (tmp_path / "weights").mkdir()
    made = read(tmp_path, CONFIG)
    assert made.language == "zh"
    assert made.criteria["chat"] == ("relevance", "language_organization")
    assert made.metrics == {"chat": ("distinct", "token_f1"), "brainstorming": ()}
    assert made.dimensions["chat"] == ("dialogue/naturalness",)
    assert made.checkpoints == {"dialogue": str(tmp_path / "weights")}
    assert (made.judge_set(), made.judge_set(pairs=True)) == ("metrics_zh", "battle_zh")


def test_toml_says_the_same(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('language = "en"\n[category.chat]\nGPT = ["Relevance"]\n')
    assert registry.find("judge_file", "colossalai_config")(path).criteria == {
        "chat": ("relevance",)
    }


def test_questions_of_other_categories_are_left_out_with_a_notice(tmp_path: pathlib.Path) -> None:
    made = read(tmp_path, {"language": "en", "category": {"chat": {"GPT": ["relevance"]}}})
    notices = made.check([question("chat"), question("poem")], sets.load("metrics_en"))
    assert notices == ["left out: 1 questions of the category poem"]


def test_all_faults_are_in_one_message(tmp_path: pathlib.Path) -> None:
    category = {"chat": {"GPT": ["relevanse"], "Metrics": ["BLUE"]}}
    made = read(tmp_path, {"language": "en", "category": category})
    with pytest.raises(DataError) as error:
        made.check([question("chat")], sets.load("metrics_en"))
    text = str(error.value)
    assert "chat: the judge set metrics_en has no prompt for 'relevanse'; did you mean" in text
    assert "chat: there is no metric 'blue'" in text


def test_a_prompt_file_has_only_the_criteria_that_it_lists(tmp_path: pathlib.Path) -> None:
    entry = {
        "metrics": {"relevance": "r", "language organization": "l"},
        "CoT": {},
        "prompt": "{question} {answer} {metric} {steps}",
    }
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps({"general": {"id": 1, **entry}}))
    made = read(tmp_path, {**CONFIG, "path_for_UniEval": {}})
    with pytest.raises(DataError, match=r"brainstorming: .* no prompt for 'creativity'"):
        made.check([question("chat")], sets.load(str(path)))


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        pytest.param("{", "not valid JSON", id="json"),
        pytest.param({"language": "en"}, "the key 'category' is missing", id="missing"),
        pytest.param(
            {"language": "en", "category": {"chat": {"Metric": []}}},
            "unknown key 'Metric' in category.*did you mean 'Metrics'",
            id="unknown",
        ),
    ],
)
def test_a_wrong_configuration_says_why(tmp_path: pathlib.Path, config: Any, fault: str) -> None:
    with pytest.raises(DataError, match=fault):
        read(tmp_path, config)
