"""The checks of the questions without a seed: right answers pass, plausible wrong ones don't.

`answers.toml` has, for each turn, right answers in natural wording and wrong ones: the answer that
gives in, the trap's value, the boundary.
"""

import pathlib
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from harness.extras.checks import check_turn, read_check
from harness.extras.checks.sandbox import Sandbox
from tests.data.shipped import question, references

ANSWERS = tomllib.loads(
    (pathlib.Path(__file__).parent / "answers.toml").read_text(encoding="utf-8")
)


def runs_code(check: dict[str, Any]) -> bool:
    return read_check(check).runs_code()


def verdicts(question_id: int, turn: int, reply: str, earlier: list[str]) -> dict[str, bool]:
    """Return for each check of a turn that needs no code whether a reply passes."""
    row = question(question_id)
    specs = [check for check in row["checks"][turn - 1] if not runs_code(check)]
    found = check_turn(reply, specs, questions=row["turns"][:turn], earlier=earlier)
    return {f"{n} {v.check.statement}": v.outcome.passed is True for n, v in enumerate(found)}


def cases(sort: str) -> Iterator[Any]:
    for name, turns in ANSWERS.items():
        for number, reply in enumerate(turns.get(sort, ())):
            yield pytest.param(
                int(name[:4]), int(name[-1]), reply, turns, id=f"{name}-{number}"
            )


def before(question_id: int, turns: dict[str, Any]) -> list[str]:
    return turns.get("earlier") or references().get(question_id, [])[:1]


@pytest.mark.parametrize("question_id", [i for i in references() if 1000 < i < 2000])
def test_a_reference_meets_its_checks(question_id: int) -> None:
    replies = references()[question_id]
    for turn in (1, 2):
        found = verdicts(question_id, turn, replies[turn - 1], replies[: turn - 1])
        assert all(found.values()), (turn, found)


@pytest.mark.parametrize(("question_id", "turn", "reply", "turns"), cases("right"))
def test_a_right_answer_passes(
    question_id: int, turn: int, reply: str, turns: dict[str, Any]
) -> None:
    found = verdicts(question_id, turn, reply, before(question_id, turns)[: turn - 1])
    ignored = turns.get("part", False)  # an excerpt: lengths are not checked
    assert all(passed for name, passed in found.items() if not (ignored and "exactly" in name)), (
        found
    )


@pytest.mark.parametrize(("question_id", "turn", "reply", "turns"), cases("wrong"))
def test_a_wrong_answer_fails(
    question_id: int, turn: int, reply: str, turns: dict[str, Any]
) -> None:
    found = verdicts(question_id, turn, reply, before(question_id, turns)[: turn - 1])
    assert not all(found.values())
