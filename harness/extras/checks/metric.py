"""Checks as a metric: which of a turn's checks its reply passes, a row of `checks.jsonl`.

    value   share of the checks that pass, strictly            0.5
    values  {"strict": 0.5, "loose": 1, "strict_all": 0, "loose_all": 1}
    checks  [{"kind": "count", "name": "count", "text": "at most 60 words", "strict": false,
              "loose": true, "found": "63 words"}, ...]

Checks that are not decided (their code was not run) are null, and no share counts them.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from harness.extras.checks.kinds import CheckResult, check_turn, read_check
from harness.extras.checks.sandbox import check_sandbox
from harness.metrics import Measured, MeasuredTurn, Metric, Setup
from harness.types import Question

VERSION = 3
"""Raised when the meaning of a check changes: rows are then computed again."""


def metric(setup: Setup) -> Metric:
    """Return the checks as a metric.

    Raises:
        UsageError: code is to be run, and bubblewrap is not there.
    """
    if setup.run_code:
        check_sandbox()

    def measure(items: Sequence[MeasuredTurn]) -> Iterable[Measured]:
        for item in items:
            verdicts = check_turn(
                item.answer,
                _checks(item.question, item.turn),
                questions=item.question.turns[: item.turn],
                earlier=item.answers[:-1],
                run_code=setup.run_code,
            )
            yield summed(verdicts)

    def shaped_by(question: Question, turn: int) -> Any:
        checks = _checks(question, turn)
        return [checks, setup.run_code and any(read_check(c).RUNS_CODE for c in checks)]

    return Metric(
        "checks",
        measure,
        parameters={"version": VERSION},
        applies=lambda question, turn: bool(_checks(question, turn)),
        shaped_by=shaped_by,
    )


def summed(verdicts: Sequence[CheckResult]) -> Measured:
    """Return the shares of the checks that pass, and each check with what was found."""
    rows = [_row(verdict) for verdict in verdicts]
    decided = [v for v in verdicts if v.outcome.passed is not None]
    note = None
    if undecided := [v.outcome.reason for v in verdicts if v.outcome.passed is None]:
        note = f"{len(undecided)} of {len(verdicts)} checks not decided: {undecided[0]}"
    if not decided:
        return Measured(None, {}, note, rows)
    strict = sum(1 for v in decided if v.outcome.passed) / len(decided)
    loose = sum(1 for v in decided if v.loose) / len(decided)
    values = {"strict": strict, "loose": loose}
    values |= {"strict_all": float(strict == 1), "loose_all": float(loose == 1)}
    return Measured(strict, values, note, rows)


def _checks(question: Question, turn: int) -> list[dict[str, Any]]:
    return question.checks[turn - 1] if question.checks else []


def _row(verdict: CheckResult) -> dict[str, Any]:
    check, outcome = verdict.check, verdict.outcome
    row: dict[str, Any] = {"kind": check.kind, "name": check.name or check.kind}
    row |= {"text": check.statement, "strict": outcome.passed, "loose": verdict.loose}
    if outcome.passed is not True:
        row["found"] = outcome.reason
    return row
