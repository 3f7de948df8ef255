"""Each kind of check: a right answer in natural wording passes, a plausible wrong one does not."""

import json
import pathlib
from typing import Any

import pytest

from harness.extras.checks import KINDS, check

LINES = pathlib.Path(__file__).with_name("kinds.jsonl").read_text(encoding="utf-8").splitlines()
CASES: list[dict[str, Any]] = [json.loads(line) for line in LINES]
EARLIER = ["The sea is calm. The boats are in."]
"""The reply before, for the kinds that compare with it."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_a_right_answer_passes_and_a_wrong_one_does_not(case: dict[str, Any]) -> None:
    outcome = check(case["right"], case["check"], earlier=EARLIER)
    assert outcome.passed is True, outcome.reason
    assert check(case["wrong"], case["check"], earlier=EARLIER).passed is False


def test_every_kind_has_a_case() -> None:
    kinds = {case["check"]["kind"] for case in CASES}
    assert kinds == set(KINDS) - {"code", "ifeval"}  # test_code.py, test_ifeval.py


def test_an_empty_reply_passes_nothing() -> None:
    assert check(" \n", {"kind": "not_contains", "text": "!"}).passed is False
