"""Grades of turns -> one number for each conversation: the mean, the lowest, or the last of its turns.

    mean_of_turns   the mean of the turns' grades        8, 5, 6 -> 6.33
    min_of_turns    the lowest of them                    8, 5, 6 -> 5     (the rule of MT-Bench-101)
    last_turn       that of the last turn                8, 5, 6 -> 6

A table of aggregates counts each conversation once, while FastChat's average pools the grades of all turns, so that
long conversations weigh more. If a turn has no grade, its conversation has no aggregate: the lowest of the rest would
be too high. The turns of a conversation are those that its question lets the model write; for unknown questions, and
for metrics that apply to some turns only, those on which any model was graded.

Source: Bai et al. (2024), MT-Bench-101, arXiv 2402.14762, section 3.4, for the least.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, TypeAlias

from harness.old.errors import UsageError
from harness.old.judgments.case import Asked, Case
from harness.old.judgments.observations import Observations
from harness.old.records import Question, QuestionId
from harness.old.results.table import Line

Aggregate: TypeAlias = Literal["mean", "min", "last", "pooled"]
WHOLE = 0
"""The turn of an observation that is about a conversation as a whole."""
_RULES: Mapping[str, tuple[str, Callable[[Sequence[float]], float]]] = {
    "mean": ("mean_of_turns", lambda grades: math.fsum(grades) / len(grades)),
    "min": ("min_of_turns", min),
    "last": ("last_turn", lambda grades: grades[-1]),
}
AGGREGATES = tuple(_RULES)
POOLED = "average"
"""The column of FastChat's mean over the grades of all turns."""
NONE = "pooled"
"""Asks for that mean where a judge set has another rule."""


def column_of(aggregate: str | None) -> str:
    """Return the column of the aggregate.

    Raises:
        UsageError: there is no such aggregate.
    """
    if aggregate not in {None, NONE, *_RULES}:
        raise UsageError(f"no aggregate {aggregate!r} over turns; there are: {', '.join(AGGREGATES)}, {NONE}")
    return POOLED if aggregate is None or aggregate == NONE else _RULES[aggregate][0]


def aggregated(
    grades: Observations,
    aggregate: str,
    questions: Sequence[Question] = (),
    turns: Collection[int] | None = None,
    *,
    judged: bool = True,
) -> Observations:
    """Return one observation for each conversation, without a value if one of its turns has none.

    Args:
        grades: of turns; each criterion or metric is aggregated separately.
        aggregate: `mean`, `min` or `last`.
        questions: the known questions, with their turns.
        turns: which of the turns count (default: all).
        judged: whether a judge graded them; metrics may apply to some turns only.
    """
    rule = _RULES[aggregate][1]
    known = {question.question_id: question for question in questions if judged}
    found: dict[tuple[Case, Asked], dict[int, float]] = defaultdict(dict)
    graded: dict[tuple[QuestionId, str], set[int]] = defaultdict(set)
    for case, asked, value in grades.rows():
        whole = case._replace(turn=WHOLE), asked._replace(template=None)
        found[whole][case.turn] = value
        graded[asked.question_id, case.metric].add(case.turn)
    if not any(_whole(known.get(asked.question_id), case, own) for (case, asked), own in found.items()):
        known = {}  # of no conversation every turn was judged: the judge set is for some turns, or it was told so

    def due(case: Case, question_id: QuestionId) -> list[int]:
        question = known.get(question_id)
        own = graded[question_id, case.metric] if question is None else question.written_by(case.models[0])
        return sorted(turn for turn in own if turns is None or turn in turns)

    rows = []
    for (case, asked), own in found.items():
        grade = [own.get(turn, math.nan) for turn in due(case, asked.question_id)]
        rows.append((case, asked, math.nan if not grade or any(map(math.isnan, grade)) else rule(grade)))
    return Observations.from_rows(rows)


def _whole(question: Question | None, case: Case, graded: Mapping[int, float]) -> bool:
    """Return whether a judge graded every one of several turns that the model wrote."""
    written = () if question is None else question.written_by(case.models[0])
    return len(written) > 1 and graded.keys() >= set(written)


def with_turns(line: Line, of_turns: Line) -> Line:
    """Return the line of an aggregate, which is of no turn, with the turns and the drop of the model's own line."""
    own = {name: line.fields[name] for name in of_turns.fields if not name.startswith("turn_") and name != "drop"}
    return line._replace(fields={**of_turns.fields, **own})
