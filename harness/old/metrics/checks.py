"""Checks as a metric: which of a turn's checks its reply meets, as a row of `model_metric/checks.jsonl`.

    value   share of the checks that are met, strictly            0.5
    values  {"strict": 0.5, "loose": 1, "strict_all": 0, "loose_all": 1}
    checks  [{"kind": "count", "name": "count", "text": "at most 60 words", "strict": false, "loose": true,
              "found": "63 words", "spans": [[201, 214]]}, ...]

`spans` are the places in the reply that break a check, in characters. Checks that could not be decided (their code was
not run) are null, and no share counts them.
"""

from collections.abc import Sequence
from typing import Any

from harness.old.bench import Bench
from harness.old.checks import Conversation, Outcome, outcomes
from harness.old.checks.check import as_json
from harness.old.checks.sandbox import Sandbox
from harness.old.errors import MissingError
from harness.old.metrics.metric import Item, Measured, Metric, each
from harness.old.metrics.run import MetricPlan, plan_metrics
from harness.old.records import Question

NAME = "checks"
VERSION = 1
"""Raised when the meaning of a check changes: rows are then computed again."""


def plan_checks(
    bench: Bench,
    *,
    models: Sequence[str] | None = None,
    questions: Sequence[Question] | None = None,
    sandbox: Sandbox | None = None,
    redo: bool = False,
) -> MetricPlan:
    """Return what has to be done so that every turn with checks of every choice of every answer is checked.

    `models` and `questions` narrow it (default: all that are answered, all there are). Checks that run a
    model's code are decided only with a `sandbox`.

    Raises:
        MissingError: no question has checks, or there is no answer.
    """
    checked = [question for question in (questions or bench.questions) if any(question.checks)]
    if not checked:
        raise MissingError(f"no question of {bench.name} has checks; docs/checks.md describes how to write them")
    plan = plan_metrics([metric(sandbox)], bench, models=models, questions=checked, every_choice=True, redo=redo)
    code = sum(check.needs_code() for question in checked for checks in question.checks for check in checks)
    if code and sandbox is None:
        plan.notices.append(f"{code} checks run a model's code; they are left undecided without --run-code")
    return plan


def metric(sandbox: Sandbox | None = None) -> Metric:
    """Return the checks as a metric; a model's code is run only in a sandbox."""

    def measured(item: Item) -> Measured:
        conversation = Conversation(item.question.turns[: item.turn], item.answers[:-1])
        return summed(outcomes(item.question.checks_of(item.turn), item.answer, conversation, sandbox))

    def shaped_by(question: Question, turn: int) -> Any:
        checks = question.checks_of(turn)
        runs = any(check.needs_code() for check in checks)
        return [[as_json(check) for check in checks], sandbox is not None and runs]

    return Metric(
        NAME,
        each(measured),
        parameters={"version": VERSION},
        applies=lambda question, turn: bool(question.checks_of(turn)),
        shaped_by=shaped_by,
    )


def summed(found: Sequence[Outcome]) -> Measured:
    """Return the shares of the checks that are met, and each check with what was found."""
    strict = [outcome.strict for outcome in found if outcome.strict is not None]
    loose = [outcome.loose for outcome in found if outcome.loose is not None]
    decided = len(strict)
    extra = {"checks": [_row(outcome) for outcome in found]}
    note = None
    if decided < len(found):
        why = next(outcome.found for outcome in found if outcome.strict is None)
        note = f"{len(found) - decided} of {len(found)} checks not decided: {why}"
    if not decided:
        return Measured(None, {}, note, extra)
    values = {"strict": sum(strict) / decided, "loose": sum(loose) / decided}
    values |= {"strict_all": float(all(strict)), "loose_all": float(all(loose))}
    return Measured(values["strict"], values, note, extra)


def _row(outcome: Outcome) -> dict[str, Any]:
    check = outcome.check
    row: dict[str, Any] = {"kind": check.kind, "name": check.label, "text": check.statement}
    row |= {"strict": outcome.strict, "loose": outcome.loose}
    if outcome.strict is not True:
        row |= {"found": outcome.found, "spans": [list(span) for span in outcome.spans]}
    return row
