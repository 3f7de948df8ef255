"""What is right is known from checks: of an answer whose result a program can decide.

A turn's result is stated by its checks of the kinds number, choice, equals, contains and code, and
by those of data that must equal something, where the turn has a reference. An answer is wrong if
it breaks one of them even by the loose reading, right if it passes them all.
"""

from collections.abc import Iterator

from harness import store
from harness.errors import UsageError
from harness.extras.judges.data import Data, RaterVerdict
from harness.results.agreement import RatedItem
from harness.types import Measurement, Question, QuestionId

STATES_RESULT = frozenset({"number", "choice", "equals", "contains", "code"})


def list_checked(data: Data) -> Iterator[tuple[RatedItem, Question, Measurement]]:
    """Yield what `auto_checks` found of each answer to a question that has not changed since.

    Raises:
        UsageError: it has not been run.
    """
    bench = data.bench
    rows = store.latest(bench.metric_file("checks"), Measurement)
    if not rows:
        raise UsageError(f"no answer has been checked; run turnbench auto_checks {bench.flags}")
    for row in rows.values():
        question = bench.by_id.get(row.question_id)
        made_from = row.made_from.question if row.made_from is not None else None
        if question is not None and made_from in (None, question.hash):
            yield RatedItem(row.question_id, row.turn, (row.model,), row.choice), question, row


def right_answers(data: Data) -> dict[RatedItem, bool]:
    """Return which answers are right, of those of which it is known."""
    turns: dict[QuestionId, int] = {}
    for author in data.bench.reference_files():
        references = data.bench.references(author)
        for key, texts in references.turns.items() if references is not None else ():
            turns[key] = max(len(texts), turns.get(key, 0))
    right = {}
    for item, question, row in list_checked(data):
        if item.turn > turns.get(item.question, 0) or not question.checks:
            continue
        results = [
            outcome.get("loose")
            for outcome, check in zip(row.checks, question.checks[item.turn - 1], strict=False)
            if outcome.get("kind") in STATES_RESULT or "equals" in check
        ]
        if results and (None not in results or False in results):
            right[item] = False not in results
    return right


def accepts(v: RaterVerdict, threshold: float | None = None) -> bool:
    """Return whether a grade accepts its answer: one in the upper third of the scale."""
    low, high = v.scale
    return v.number >= (low + (high - low) * 2 / 3 if threshold is None else threshold)
