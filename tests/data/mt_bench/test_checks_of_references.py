"""The shipped checks, read as the loader reads them: the reference answers meet them."""

import pytest

from harness.old.bench import load_bench
from harness.old.checks.check import Conversation
from harness.old.checks.outcome import outcomes
from tests.data.shipped import DATA, reference

BENCH = load_bench("mt_bench", DATA)
WITH_REFERENCE = {
    number: question
    for number in range(1021, 1061)
    for question in BENCH.questions
    if question.question_id == number
}


@pytest.mark.parametrize("question_id", WITH_REFERENCE)
@pytest.mark.parametrize("turn", [1, 2])
def test_the_reference_meets_every_check_but_those_that_run_code(
    question_id: int, turn: int
) -> None:
    question, replies = WITH_REFERENCE[question_id], reference(question_id)
    before = Conversation(question.turns[:turn], tuple(replies[: turn - 1]))
    for outcome in outcomes(question.checks[turn - 1], replies[turn - 1], before):
        assert outcome.strict or outcome.check.needs_code(), (outcome.check, outcome.found)
