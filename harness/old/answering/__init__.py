"""Questions × chat model → answers: the conversations, and the file that stores them.

    plan = plan_answers(["gpt-4o", "builtin/eliza"], load_bench("mt_bench"))    # resolves names and keys; calls nothing
    report = run_answers(plan)                                                  # calls, writes model_answer/*.jsonl

- `options.py`: the options of answering, and the sampling that they give for one model and question
- `plan.py`: what is done, and what is left to do
- `conversation.py`: one conversation, as a job; `simulation.py`: a chat model that plays the user in it
- `work.py`: the plan's jobs with their files open; complete answers become rows
"""

from harness.old.answering.conversation import planned_jobs
from harness.old.answering.options import AnswerOptions
from harness.old.answering.plan import AnswerPlan, ModelPlan, Todo, plan_answers
from harness.old.answering.work import AnswerReport, AnswerWork, run_answers

__all__ = [
    "AnswerOptions",
    "AnswerPlan",
    "AnswerReport",
    "AnswerWork",
    "ModelPlan",
    "Todo",
    "plan_answers",
    "planned_jobs",
    "run_answers",
]
