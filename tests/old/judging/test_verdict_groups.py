"""Verdicts read from many written texts: the groups of `verdict_groups.toml`, each with one verdict and one reason."""

import pathlib
import tomllib
from typing import Any

import pytest

from harness.old.judging.forms import VerdictForm
from harness.old.judging.parse import read_verdict
from harness.old.judgments.judgment import Label, Score, Scores, Verdict, Winner
from harness.old.records import Reply

FORMS = {
    "single": VerdictForm("[[rating]]"),
    "pair": VerdictForm("[[A]]", "compare"),
    "two": VerdictForm("[[rating_a,rating_b]]", "compare"),
    "result": VerdictForm("[RESULT] n", scale=(1, 5)),
    "side": VerdictForm("[RESULT] A|B", "compare"),
    "grade": VerdictForm("grade", scale=(1, 5)),
    "label": VerdictForm("label", "label", labels={"CORRECT": 1, "INCORRECT": 0, "NOT_ATTEMPTED": 0}),
    "dimensions": VerdictForm("dimensions", "dimensions", dimensions=("Factuality", "Overall")),
    "ranking": VerdictForm("ranking", "compare", sides=("model_1", "model_2")),
    "battle": VerdictForm("two_scores", "compare"),
}
GROUPS: dict[str, dict[str, Any]] = tomllib.loads(
    pathlib.Path(__file__).with_name("verdict_groups.toml").read_text(encoding="utf-8")
)
CASES = [
    pytest.param(group, text, id=f"{name} {number}")
    for name, group in GROUPS.items()
    for number, text in enumerate(group["texts"], 1)
]


def plain(verdict: Verdict | None) -> Any:
    """Return a verdict as the table writes it."""
    match verdict:
        case Score(value):
            return value
        case Winner(side):
            return side
        case Label(label):
            return label
        case Scores(values):
            return dict(values)
    return None


@pytest.mark.parametrize(("group", "text"), CASES)
def test_text_of_a_group_gives_its_verdict(group: dict[str, Any], text: str) -> None:
    parsed = read_verdict(Reply(text), FORMS[group["format"]], group.get("answers", ()))
    assert plain(parsed.verdict) == group.get("verdict"), parsed.reason
    assert parsed.reason


def test_groups_are_complete() -> None:
    assert len(CASES) >= 300
    assert {group["format"] for group in GROUPS.values()} == set(FORMS)
    for name, group in GROUPS.items():
        assert set(group) <= {"format", "verdict", "answers", "texts", "why"}, name
        assert group["why"].endswith("."), name
        assert len(set(group["texts"])) == len(group["texts"]), name
