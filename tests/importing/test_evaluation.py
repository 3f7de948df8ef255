"""ColossalAI's configuration: criteria and metrics by category, checked before anything runs."""

import json
import pathlib
from typing import Any

import pytest

from harness import registry
from harness.errors import DataError
from harness.metrics import Setup
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


def test_its_names_become_ours(tmp_path: pathlib.Path) -> None:
    (tmp_path / "weights").mkdir()
    evaluation = read(tmp_path, CONFIG)
    assert evaluation.language == "zh"
    assert evaluation.criteria["chat"] == ("relevance", "language_organization")
    assert {name: set(categories) for name, categories in evaluation.metrics.items()} == {
        "distinct": {"chat"},
        "token_f1": {"chat"},
        "unieval": {"chat"},
    }
    assert evaluation.dimensions["chat"] == ("dialogue/naturalness",)
    assert evaluation.checkpoints == (f"dialogue={tmp_path / 'weights'}",)


def test_each_metric_is_for_its_categories(tmp_path: pathlib.Path) -> None:
    category = {"chat": {"Metrics": ["Distinct"]}, "open_qa": {"Metrics": ["Distinct", "CHRF"]}}
    read(tmp_path, {"language": "en", "category": category})
    questions = [
        Question(question_id=1, category=name, turns=["Q"]) for name in ("chat", "open_qa", "poem")
    ]
    metrics_of = registry.find("judge_file", "colossalai_metrics")
    metrics, notices = metrics_of(tmp_path / "config.json", Setup(), questions)
    applied = {
        metric.name: [question.category for question in questions if metric.applies(question, 1)]
        for metric in metrics
    }
    assert applied == {"distinct": ["chat", "open_qa"], "chrf": ["open_qa"]}
    assert notices == ["left out: the questions of poem"]


@pytest.mark.parametrize(
    ("config", "fault"),
    [
        pytest.param("{", "cannot be read as JSON", id="json"),
        pytest.param(
            {"language": "en", "category": {"chat": {"Metrics": ["BLUE"]}}},
            "there is no metric blue; there are .*bleu",
            id="metric",
        ),
        pytest.param(
            {"language": "en", "category": {"chat": {"Metric": []}}},
            "unknown key 'Metric' in category.*did you mean Metrics",
            id="unknown",
        ),
    ],
)
def test_a_wrong_configuration_says_why(tmp_path: pathlib.Path, config: Any, fault: str) -> None:
    with pytest.raises(DataError, match=fault):
        read(tmp_path, config)
