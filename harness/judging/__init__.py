"""From answers to judgments: plan matches, render prompts, ask judges, read verdicts.

    plan = plan_judgments(bench, options)     resolves names and keys; calls nothing
    running.run(plan.jobs(), options.limits, state=bench.state, total=plan.total)

sets.py         judge sets of TOML, and the rule that picks a template
fastchat.py     FastChat's prompt files
forms.py        the form of a verdict; a scale and its words
templates.py    placeholders, the fence around answers
prompts.py      what a judge is sent about a match, and its hashes; preview.py: without sending
plan.py         what is done, what is left; run.py: all of it together
judge.py        one match as a job
verdicts.py     what a reply says: objects.py in JSON, likelihood.py by likely tokens
extraction.py   the answer in a JSON reply
builtin.py      judges that need no model; overlap.py: what one of them counts
"""

from harness.judging.forms import Form, Scale
from harness.judging.plan import (
    JudgePlan,
    JudgeTask,
    family,
    plan_judgments,
)
from harness.judging.preview import JudgePrompt, described, judge_prompts
from harness.judging.prompts import Match, Prompts
from harness.judging.run import (
    JudgmentReport,
    estimate_judgments,
    gen_judgment,
    stages,
)
from harness.judging.sets import JudgeSet, load, shipped_sets
from harness.judging.verdicts import Verdict, read

load_judge_set = load
"""The name of `load` where the room is not named: `harness.load_judge_set`."""

__all__ = [
    "Form",
    "JudgePlan",
    "JudgePrompt",
    "JudgeSet",
    "JudgeTask",
    "JudgmentReport",
    "Match",
    "Prompts",
    "Scale",
    "Verdict",
    "described",
    "estimate_judgments",
    "family",
    "gen_judgment",
    "judge_prompts",
    "load",
    "load_judge_set",
    "plan_judgments",
    "read",
    "shipped_sets",
    "stages",
]
