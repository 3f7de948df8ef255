"""Many calls at once: limits, retries, budget, cache, resume. Knows no benchmark.

outcome = run(jobs, Limits(parallel=32), state=folder / ".turnbench")
outcome.done, outcome.failures, outcome.cost

jobs.py     what a job is             worker.py   who may call, what is tried again
loop.py     one loop over jobs         pace.py     calls at once and per minute
budget.py   what it may cost          cache.py    completions by content
signs.py    what many replies show
bar.py      progress on a terminal    estimate.py calls, tokens and dollars of a plan
"""

from harness.running.jobs import Engine, Job, Outcome, Progress, Steps, limits_after, uncut
from harness.running.loop import check_limits, run

__all__ = [
    "Engine",
    "Job",
    "Outcome",
    "Progress",
    "Steps",
    "check_limits",
    "limits_after",
    "run",
    "uncut",
]
