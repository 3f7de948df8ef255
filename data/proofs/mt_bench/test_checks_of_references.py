"""The reference answers meet the checks of their questions."""

import pytest

from data.proofs.shipped import question, references
from harness.extras.checks import check_turn

IDS = [number for number in references() if 1001 <= number <= 1080]


@pytest.mark.parametrize("question_id", IDS)
@pytest.mark.parametrize("turn", [1, 2])
def test_the_reference_meets_every_check_but_those_that_run_code(
    question_id: int, turn: int
) -> None:
    row, replies = question(question_id), references()[question_id]
    specs = [spec for spec in row["checks"][turn - 1] if spec["kind"] != "code"]
    for verdict in check_turn(
        replies[turn - 1], specs, questions=row["turns"][:turn], earlier=replies[: turn - 1]
    ):
        assert verdict.outcome.passed, (verdict.check, verdict.outcome)
