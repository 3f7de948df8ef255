"""Questions × models → answers: conversations as jobs, and what is done already.

plan = plan_answers(bench, options)     resolves names and keys; calls nothing
running.run(plan.jobs(), options.limits, state=bench.state, total=plan.total)

plan.py          what is done, what is left     sampling.py   with what it is sampled
conversation.py  one conversation               users.py      who plays the user
"""

from harness.answering.answer import estimate_answers
from harness.answering.plan import AnswerPlan, ModelPlan, plan_answers

__all__ = [
    "AnswerPlan",
    "ModelPlan",
    "estimate_answers",
    "plan_answers",
]
