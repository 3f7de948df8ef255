"""What is right is known from checks: of an answer whose result a program can decide.

A turn's result is stated by its checks of the kinds number, choice, equals, contains and code, and
by those of data that must equal something, where the turn has a reference. An answer is wrong if
it breaks one of them even by the loose reading, right if it passes them all.
"""

from typing import Any

from harness import store
from harness.errors import UsageError
from harness.extras.judges.data import Data, Item, Verdict
from harness.types import Measurement

STATES_RESULT = frozenset({"number", "choice", "equals", "contains", "code"})


def checked(data: Data) -> dict[Item, Measurement]:
    """Return what `auto_checks` found, by answer.

    Raises:
        UsageError: it has not been run, or there is no benchmark.
    """
    if data.bench is None:
        raise UsageError("this report needs the benchmark: --bench-name and --data-dir")
    rows = store.latest(data.bench.metric_file("checks"), Measurement)
    if not rows:
        raise UsageError(f"no answer has been checked; run auto_checks {data.bench.flags}")
    return {Item(row.question_id, row.turn, (row.model,), row.choice): row for row in rows.values()}


def right_answers(data: Data) -> dict[Item, bool]:
    """Return which answers are right, of those of which it is known."""
    assert data.bench is not None or checked(data)
    bench = data.bench
    assert bench is not None
    referenced: dict[Any, int] = {}
    for author in bench.reference_files():
        references = bench.references(author)
        for key, turns in references.turns.items() if references is not None else ():
            referenced[key] = max(len(turns), referenced.get(key, 0))
    found = {}
    for item, row in checked(data).items():
        question = bench.by_id.get(item.question)
        if question is None or item.turn > referenced.get(item.question, 0):
            continue
        made = row.made_from
        if made is not None and made.question not in (None, question.hash):
            continue
        specs = question.checks[item.turn - 1] if question.checks else []
        results = [
            outcome.get("loose")
            for outcome, spec in zip(row.checks, specs, strict=False)
            if _states_result(outcome, spec)
        ]
        if results and (None not in results or False in results):
            found[item] = False not in results
    return found


def _states_result(outcome: dict[str, Any], spec: dict[str, Any]) -> bool:
    return outcome.get("kind") in STATES_RESULT or "equals" in spec


def upper_third(v: Verdict) -> float | None:
    """Return the grade from which the upper third of a verdict's scale begins; 7 of 1 to 10."""
    low, high = v.scale or (1.0, 10.0)
    return low + (high - low) * 2 / 3


def accepted(v: Verdict, threshold: float | None = None) -> float | None:
    """Return 1 if a grade accepts its answer, 0 if not; None for another kind of verdict."""
    if not isinstance(v.value, int | float):
        return None
    least = upper_third(v) if threshold is None else threshold
    return float(v.value >= (least or 0.0))
