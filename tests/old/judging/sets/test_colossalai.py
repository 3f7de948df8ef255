"""ColossalAI's battle and grading files, as they stand."""

import json
import pathlib
from typing import Any

import pytest

from harness.old.errors import DataError
from harness.old.judging.sets import load_judge_set
from tests.old.judging.sets.written import answered, asked, judged
from tests.old.protocol_server import ProtocolServer
from tests.old.small_bench import question, rows

BATTLE = {
    "id": 1,
    "system_prompt": "Be just.",
    "prompt_template": "[Question]\n{question}\n[1]\n{answer_1}\n[2]\n{answer_2}\n{prompt}\n",
    "prompt": "Give two scores, {first} second.",
}


def grading(category: str, *metrics: str) -> dict[str, Any]:
    return {
        "id": 1,
        "category": category,
        "metrics": {name: f"{name} in {category} (1-5)" for name in metrics},
        "CoT": {name: f"1. Think of {name} in {category}.\n\n{name}:" for name in metrics},
        "prompt": "Q: {question}\nA: {answer}\nM: {metric}\nS: {steps}\n",
    }


def stored(path: pathlib.Path, content: Any) -> pathlib.Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("content", [BATTLE, [BATTLE]], ids=["one", "a list of one"])
def test_a_battle_file_compares_by_two_scores_in_both_orders(tmp_path: pathlib.Path, content: Any) -> None:
    bench = answered(tmp_path)
    with ProtocolServer(lambda asked: "8 3\nThe first is better.") as server:
        (path,) = judged(server, bench, stored(tmp_path / "battle.json", content), "pairwise-all").paths
        first = server.requests[0].texts
    assert first == ["Be just.", "[Question]\nWhy?\n[1]\na1.1\n[2]\nb1.1\nGive two scores, {first} second.\n"]
    (row,) = rows(path)
    assert path.name == "j@battle_pair.jsonl"
    assert (row["g1_winner"], row["g2_winner"]) == ("model_1", "model_2")
    assert (row["g1_scores"], row["g2_scores"]) == ([8, 3], [3, 8])


@pytest.mark.parametrize("by_category", [True, False], ids=["a table", "a list"])
def test_a_grading_file_makes_a_judgment_of_each_metric(tmp_path: pathlib.Path, by_category: bool) -> None:
    entries = [grading("chat", "fidelity", "relevance"), grading("general", "relevance")]
    content: Any = {entry["category"]: entry for entry in entries} if by_category else entries
    path = stored(tmp_path / "eval_en.json", content)
    bench = answered(tmp_path, question(1, "chat", ["Hi."]), question(2, "other", ["Ho."]), models="a")
    with ProtocolServer(lambda asked: "4") as server:
        report = judged(server, bench, path)
        sent = {asked.texts[-1] for asked in server.requests}
    assert sent == {
        "Q: Hi.\nA: a1.1\nM: fidelity in chat (1-5)\nS: 1. Think of fidelity in chat.\n\nfidelity:\n",
        "Q: Hi.\nA: a1.1\nM: relevance in chat (1-5)\nS: 1. Think of relevance in chat.\n\nrelevance:\n",
        "Q: Ho.\nA: a2.1\nM: relevance in general (1-5)\nS: 1. Think of relevance in general.\n\nrelevance:\n",
    }
    found = {(row["question_id"], row["criterion"], row["judge"][1], row["score"]) for row in rows(report.paths[0])}
    assert found == {(1, "fidelity", "chat", 4), (1, "relevance", "chat", 4), (2, "relevance", "general", 4)}


def test_without_a_general_entry_other_categories_are_left_out(tmp_path: pathlib.Path) -> None:
    made = load_judge_set(str(stored(tmp_path / "e.json", {"chat": grading("chat", "fidelity")})))
    assert (made.criteria_of(asked("chat"), 1), made.criteria_of(asked("math"), 1)) == (("fidelity",), ())
    assert (made.scale, made.fence) == ((1, 5), False)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        pytest.param([], "contains no judge prompts", id="nothing"),
        pytest.param({"a": 1}, "contains no judge prompts", id="no entries"),
        pytest.param([BATTLE, BATTLE], "holds 2 prompts; a battle has one", id="two battles"),
        pytest.param({**BATTLE, "prompt": 1}, "prompt must be a text, this is 1", id="no prompt"),
        pytest.param(
            {**BATTLE, "prompt_template": "{answer_1}"},
            "battle: a prompt to compare must contain {answer_a}",
            id="half",
        ),
        pytest.param([{**grading("chat"), "category": 1}], "category must be a text", id="no category"),
        pytest.param([{**grading("chat"), "CoT": []}], "CoT of chat must be a table", id="no steps"),
        pytest.param([{**grading("chat"), "metrics": {"a": 1}}], "metrics.a of chat must be a text", id="no metric"),
        pytest.param(
            [{**grading("chat"), "prompt": "{question}"}], "chat: a prompt to grade must contain", id="no answer"
        ),
    ],
)
def test_what_is_wrong_is_told_with_the_file(tmp_path: pathlib.Path, content: Any, words: str) -> None:
    with pytest.raises(DataError, match=f"p.json: {words}"):
        load_judge_set(str(stored(tmp_path / "p.json", content)))


def test_what_is_no_json_is_told(tmp_path: pathlib.Path) -> None:
    (tmp_path / "p.json").write_text("{", encoding="utf-8")
    with pytest.raises(DataError, match=r"p\.json:1: not valid JSON"):
        load_judge_set(str(tmp_path / "p.json"))
