"""Judging in five looks: `gen_judgment --until DIFFERENCE` as a series of plans.

    for plan in stages(whole, options, plan_at):     on a fifth of the questions, on two fifths, …
        running.run(plan.jobs(), …)                  models that are decided are in no later plan

Nothing is kept but the judgments: the order of the questions follows from their ids, and a run that
goes on after a kill makes the same decisions again from the rows that are there.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from harness.bench import alternate
from harness.judging.plan import JudgePlan
from harness.options import GenJudgment
from harness.results.compare import find_undecided
from harness.results.looks import LOOKS
from harness.results.panels import panels
from harness.results.reading import read
from harness.results.scores import Scores
from harness.types import Question, QuestionId, content_hash


def shuffled(questions: Sequence[Question]) -> list[Question]:
    """Return questions in a random order that is always the same, one of each category by turns."""

    def chance(question: Question) -> str:
        return content_hash("order of looks", question.question_id)

    return alternate(sorted(questions, key=chance))


def look_of(questions: Sequence[Question]) -> dict[QuestionId, int]:
    """Return at which look each question is judged, from 1."""
    ordered = shuffled(questions)
    return {q.question_id: at * LOOKS // len(ordered) + 1 for at, q in enumerate(ordered)}


def stages(
    whole: JudgePlan, options: GenJudgment, plan_at: Callable[..., JudgePlan]
) -> Iterator[JudgePlan]:
    """Yield the plan of each look; each must be carried out before the next one is asked for.

    Args:
        whole: the plan of everything.
        options: the command's, with `until`.
        plan_at: `plan_judgments` of a benchmark, with options, `questions` and `looks`.
    """
    assert options.until is not None
    looks = look_of(whole.questions)
    baseline = {whole.judge_set.baseline} if whole.mode == "pairwise-baseline" else set()
    models = tuple(model for model in whole.models if model not in baseline)
    for look in sorted(set(looks.values())):
        part = [q for q in whole.questions if looks[q.question_id] <= look]
        further = replace(options, slice=replace(options.slice, model_list=models))
        plan = plan_at(further, questions=part, looks=looks)
        yield plan
        column = _column(plan)
        look_of_question = np.array([looks.get(q.question_id, 1) for q in column.questions])
        active = (*models, *(name for name in whole.models if name in baseline))
        going_on = find_undecided(column, whole.models, options.until, look_of_question, active)
        models = tuple(model for model in models if model in going_on)
        if not models:
            return


def _column(plan: JudgePlan) -> Scores:
    """Return the judgments on the questions of a plan that was carried out, of the main metric."""
    judges = [task.name for task in plan.tasks]
    scores = read(plan.bench, kind="single" if plan.mode == "single" else "pair").of(judges=judges)
    name, questions = plan.judge_set.name, [q.question_id for q in plan.questions]
    panel = next(panel for panel in panels(scores, named=judges) if panel.judge_set == name)
    return panel.combined.of(metric=panel.metrics[0], questions=questions)
