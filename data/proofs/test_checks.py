"""Every check of every shipped set accepts a right answer and rejects a plausible wrong one."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from data.proofs.by_hand import EARLIER, EXAMPLES, QUESTIONS
from data.proofs.examples import Key, made
from data.proofs.shipped import DATA
from harness.extras.checks import check


def shipped_checks() -> Iterator[tuple[Key, dict[str, Any]]]:
    """Yield the checks of all sets, those of templates left out (test_templates.py has them)."""
    for path in sorted(DATA.glob("*/question.jsonl")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if row.get("template"):
                continue
            for turn, specs in enumerate(row.get("checks", ()), 1):
                for place, spec in enumerate(specs):
                    yield (row["question_id"], turn, place), spec
            for place, spec in enumerate(row.get("user", {}).get("needs", ())):
                yield (row["question_id"], 0, place), spec


def pattern_of(spec: dict[str, Any]) -> str:
    """Return a check's pattern, several as one text."""
    pattern = spec.get("pattern", "")
    return pattern if isinstance(pattern, str) else " & ".join(pattern)


CHECKS = dict(shipped_checks())
PATTERNS = {(pattern_of(CHECKS[key]), CHECKS[key]["kind"]): EXAMPLES[key] for key in EXAMPLES}
PATTERNS = {found: examples for found, examples in PATTERNS.items() if found[0]}
BY_KEY = pytest.mark.parametrize("key", CHECKS, ids=lambda key: "-".join(map(str, key)))


@BY_KEY
def test_a_right_answer_passes_and_a_wrong_one_fails(key: Key) -> None:
    spec = CHECKS[key]
    if spec["kind"] == "code":
        return
    found = EXAMPLES.get(key) or PATTERNS.get((pattern_of(spec), spec["kind"])) or made(spec)
    assert found is not None, spec
    right, wrong = found
    asked = QUESTIONS.get(key, ["x"])
    said = EARLIER.get(key, ["x"])
    assert right
    assert wrong
    for reply in right:
        outcome = check(reply, spec, questions=asked, earlier=said)
        assert outcome.passed, (reply, outcome.reason, spec)
    for reply in wrong:
        assert not check(reply, spec, questions=asked, earlier=said).passed, (reply, spec)


def test_examples_by_hand_are_for_checks_that_exist() -> None:
    assert set(EXAMPLES) | set(EARLIER) | set(QUESTIONS) <= set(CHECKS)
